"""What is written into as it is: pipes, terminals, /dev/null, and nothing else."""

import os
from pathlib import Path

import pytest

from iogate.errors import InputError
from iogate.formats.streams import Stream, is_stream

DEVICE = Path("/dev/urandom")  # one that everybody may write to


def test_what_leads_to_a_device_by_now_is_not_written_to(tmp_path):
    """Another user, whose folder it is, exchanged the pipe that somebody looked at for a link."""
    path = tmp_path / "report"
    os.mkfifo(path)
    assert is_stream(path)
    path.unlink()
    path.symlink_to(DEVICE)
    with pytest.raises(InputError, match="it is a character device"):
        Stream(path)


def test_what_is_a_file_by_now_is_not_written_into(tmp_path):
    path = tmp_path / "report"
    path.write_text("of somebody")
    with pytest.raises(InputError, match="became a file"):
        Stream(path)
    assert path.read_text() == "of somebody"


def test_a_pipe_is_written_into(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(InputError, match="nobody reads from it"):
        Stream(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    Stream(path).finish("text")
    assert os.read(reader, 100) == b"text"
    os.close(reader)
