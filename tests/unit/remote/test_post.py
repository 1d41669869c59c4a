"""Messages both ways, over a real pipe to another Python."""

import sys
import threading

import execnet
import pytest

from iogate.remote import post
from iogate.remote.post import Lost, Post

ECHO = "while True: channel.send(channel.receive())"
DEAF = "channel.receive(); import time; time.sleep(60)"


@pytest.fixture
def channel(request):
    group = execnet.Group()
    gateway = group.makegateway(f"popen//python={sys.executable}")
    yield gateway.remote_exec(request.param)
    group.terminate(0)


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
