"""What may never come to an end is done in a copy of this process."""

import errno
import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

import iogate
from iogate.host.patience import StandsStill, patiently


def test_what_ends_in_time_is_done(tmp_path):
    patiently(lambda tell: (tmp_path / "made").touch(), 60)
    assert (tmp_path / "made").exists()


FORKS = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from iogate.host.interrupts import Interrupts
from iogate.host.patience import patiently
interrupts = Interrupts()
interrupts.watch()
os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.SIGINT))
try:
    patiently(lambda tell: None, 60)
except KeyboardInterrupt:
    print("interrupted", interrupts.came)
"""


def test_an_interrupt_amid_the_copying_is_heard():
    """It was lost, as all errors of hooks at a fork are, and so was every later one."""
    plugins = Path(iogate.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", FORKS, plugins], capture_output=True, text=True, check=True)
    assert done.stdout == "interrupted True\n" and not done.stderr


GOES_ON = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from iogate.host.interrupts import Interrupts
from iogate.host.patience import patiently
Interrupts().watch()
own = os.getpid()
os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.SIGINT))
try:
    patiently(lambda tell: None, 60)
except BaseException as error:
    print(type(error).__name__, os.getpid() == own)
"""


def test_a_copy_that_is_interrupted_ends_and_goes_on_as_nobody():
    """Ctrl-C of a terminal is for both: the copy unwound the run as if it were that."""
    plugins = Path(iogate.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", GOES_ON, plugins], capture_output=True, text=True, check=True
    )
    assert done.stdout == "OSError True\n"


def test_its_error_is_told():
    def fail(tell):
        raise ValueError("a defect")

    with pytest.raises(FileNotFoundError):
        patiently(lambda tell: os.unlink("/nonexistent/file"), 60)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        patiently(fail, 60)


def test_an_error_that_speaks_of_time_is_an_error_as_any_other():
    def fail(tell):
        raise OSError(errno.ETIMEDOUT, "a disk of a network")

    with pytest.raises(TimeoutError):
        patiently(fail, 60)


def test_what_it_tells_is_heard_and_keeps_it_from_standing_still():
    def tell_slowly(tell):
        for number in range(20):
            tell(number)
            select.select([], [], [], 0.05)

    heard = []
    patiently(tell_slowly, 0.8, heard=heard.append)
    assert heard == sorted(heard) and heard[-1] == 19


@pytest.fixture
def copies(monkeypatch):
    """The copies of this process that are made, to be waited for: one that was given up is in others' way."""
    fork, made = os.fork, []
    monkeypatch.setattr(os, "fork", lambda: made.append(fork()) or made[-1])
    return made


def test_what_was_given_up_ends_when_it_tells_something(tmp_path, copies):
    go = tmp_path / "go"
    os.mkfifo(go)

    def write_on(tell):
        with go.open():
            tell(1)
            (tmp_path / "done").touch()

    with pytest.raises(StandsStill):
        patiently(write_on, 0.1)
    with go.open("w"):
        pass
    _, status = os.waitpid(copies[0], 0)
    assert os.waitstatus_to_exitcode(status) == errno.EPIPE
    assert not (tmp_path / "done").exists()


def test_what_takes_too_long_goes_on_alone_and_holds_nothing_open(tmp_path, copies):
    """Who reads what this process says, and waits for its end, is not kept waiting."""
    (tmp_path / "held").touch()
    needed = os.open(tmp_path / "held", os.O_RDONLY)
    go, others, end = tmp_path / "go", *os.pipe()
    os.mkfifo(go)

    def wait(tell):
        with go.open():
            os.fstat(needed)
            (tmp_path / "done").touch()

    with pytest.raises(StandsStill):
        patiently(wait, 0.1, (needed,))
    os.close(end)
    assert os.read(others, 1) == b""
    os.close(others)
    with go.open("w"):
        pass
    os.close(needed)
    _, status = os.waitpid(copies[0], 0)
    assert status == 0 and (tmp_path / "done").exists()
