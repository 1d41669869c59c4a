"""What may never come to an end is done in a copy of this process."""

import errno
import os

import pytest

from iogate.host.patience import patiently
from waiting import eventually


def test_what_ends_in_time_is_done(tmp_path):
    patiently((tmp_path / "made").touch, 60)
    assert (tmp_path / "made").exists()


def test_its_error_is_told():
    def fail():
        raise ValueError("a defect")

    with pytest.raises(FileNotFoundError):
        patiently(lambda: os.unlink("/nonexistent/file"), 60)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        patiently(fail, 60)


def test_what_takes_too_long_goes_on_alone_and_holds_nothing_open(tmp_path):
    """Who reads what this process says, and waits for its end, is not kept waiting."""
    (tmp_path / "held").touch()
    needed = os.open(tmp_path / "held", os.O_RDONLY)
    go, others, end = tmp_path / "go", *os.pipe()
    os.mkfifo(go)

    def wait():
        with go.open():
            os.fstat(needed)
            (tmp_path / "done").touch()

    with pytest.raises(TimeoutError):
        patiently(wait, 0.1, (needed,))
    os.close(end)
    assert os.read(others, 1) == b""
    os.close(others)
    with go.open("w"):
        pass
    os.close(needed)
    eventually((tmp_path / "done").exists)
