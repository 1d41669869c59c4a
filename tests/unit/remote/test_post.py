"""Messages both ways, over a real pipe to another Python."""

import os
import signal
import sys
import threading

import execnet
import pytest

from iogate.host.interrupts import Interrupts, heard
from iogate.remote import pace, post
from iogate.remote.post import Lost, Post
from waiting import eventually

ECHO = "while True: channel.send(channel.receive())"
DEAF = "channel.receive(); import time; time.sleep(60)"


@pytest.fixture
def channel_of():
    group = execnet.Group()
    gateway = group.makegateway(f"popen//python={sys.executable}")
    yield gateway.remote_exec
    group.terminate(0)


@pytest.fixture
def channel(request, channel_of):
    return channel_of(request.param)


@pytest.mark.parametrize("channel", [ECHO], indirect=True)
def test_what_is_sent_arrives(channel):
    mail = Post(channel)
    mail.send("file", "a", b"\0" * 2**20, True)
    mail.send("call", 1)
    assert mail.receive() == ("file", "a", b"\0" * 2**20, True)
    assert mail.receive() == ("call", 1)
    mail.close()


@pytest.mark.parametrize("channel", [ECHO], indirect=True)
def test_a_message_that_was_heard_is_done_with(channel):
    mail = Post(channel, heard=lambda message: message[0] == "stop")
    mail.send("stop", 1)
    mail.send("call", 1)
    assert mail.receive() == ("call", 1)
    mail.close()


@pytest.mark.parametrize("channel", ["channel.receive()"], indirect=True)
def test_an_end_is_heard_of(channel):
    told = threading.Event()
    mail = Post(channel, lost=told.set)
    mail.send("call")
    for _ in range(2):
        with pytest.raises(Lost):
            mail.receive()
    assert told.wait(10)
    assert mail.lost and not mail.silent


@pytest.mark.parametrize("channel", [DEAF], indirect=True)
def test_silence_is_an_end(channel, monkeypatch):
    monkeypatch.setattr(post, "SILENCE", 0.5)
    mail = Post(channel)
    with pytest.raises(Lost):
        mail.receive()
    assert mail.lost and mail.silent


FLOOD = """
channel.receive()
for _ in range(200):
    channel.send(("file", "a", bytes(2**20)))
channel.receive()
"""


@pytest.mark.parametrize("channel", [FLOOD, FLOOD.replace("bytes(2**20)", "(bytes(2**20),)")], indirect=True)
def test_who_says_more_than_is_kept_is_lost(channel, monkeypatch):
    monkeypatch.setattr(post, "_MOST", 50 * 2**20)
    lost = threading.Event()
    mail = Post(channel, lost=lost.set)
    mail.send("begin")
    assert lost.wait(30)
    heard = 0
    with pytest.raises(Lost):
        while mail.receive(30):
            heard += 1
    assert heard <= 50
    mail.close()


@pytest.mark.parametrize("channel", [FLOOD], indirect=True)
def test_what_is_received_makes_room(channel, monkeypatch):
    monkeypatch.setattr(post, "_MOST", 190 * 2**20)
    mail = Post(channel)
    mail.send("begin")
    for _ in range(2):
        for _ in range(100):
            assert mail.receive(30)[0] == "file"
    assert not mail.lost and mail._waiting == 0
    mail.close()


class Silent:
    """A channel on which nothing comes."""

    def setcallback(self, call, endmarker):
        pass

    def send(self, message):
        pass


def test_one_more_ctrl_c_ends_a_wait_that_nothing_else_would():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupts, mail = Interrupts(), Post(Silent())
    interrupts.watch()
    try:
        interrupts.ignore()  # as after the first
        again = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        again.start()
        with pytest.raises(Lost), heard(mail.drop):
            mail.receive()
        again.join()
        assert not mail.lost
    finally:
        interrupts.restore()
        signal.signal(signal.SIGINT, before)
        mail.close()


SLOW = """
import time
channel.receive()
while True:
    channel.send(("beat", time.monotonic() / 2))
    time.sleep(0.02)
"""


@pytest.mark.parametrize("channel", [SLOW], indirect=True)
def test_beats_tell_how_fast_the_clock_of_the_other_side_runs(channel, monkeypatch):
    monkeypatch.setattr(pace, "_SECONDS", 0.2)
    mail = Post(channel)
    mail.send("begin")
    assert eventually(lambda: mail.pace.ratio is not None)
    assert mail.pace.ratio == pytest.approx(0.5, abs=0.15)
    mail.close()


@pytest.mark.parametrize("said", ['"now"', "float('nan')", "10**400", "1.0, 2.0", ""])
def test_beats_that_say_no_time_are_beats_all_the_same(said, channel_of):
    mail = Post(channel_of(f"channel.receive(); channel.send(('beat', {said})); channel.send(('call', 1))"))
    mail.send("begin")
    assert mail.receive(10) == ("call", 1)
    assert mail.pace.ratio is None
    mail.close()
