"""Which bytes of a file are on the device, on whatever file system the tests run."""

import itertools
import os

import pytest

from iogate.host.fiemap import extents, placement, unwritten_bytes

MIB = 2**20


@pytest.fixture
def file(tmp_path):
    """A file of 2 MiB of data; skips on file systems that cannot tell."""
    path = tmp_path / "data"
    path.write_bytes(os.urandom(2 * MIB))
    synced(path)
    if unwritten_bytes(path) is None:
        pytest.skip("this file system has no FIEMAP")
    return path


@pytest.fixture
def scattered(tmp_path, file):
    """A file with a hole behind each block of 4 KiB."""
    path = tmp_path / "scattered"
    with path.open("wb") as stream:
        for index in range(1200):
            stream.seek(index * 8192)
            stream.write(b"x" * 4096)
    synced(path)
    return path


def synced(path):
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())


def test_data_are_written(file):
    assert unwritten_bytes(file) == 0


def test_a_hole_is_not(file):
    with file.open("rb+") as stream:
        stream.truncate(5 * MIB)
    assert unwritten_bytes(file) == 3 * MIB


def test_a_preallocated_extent_is_not(file):
    with file.open("rb+") as stream:
        os.posix_fallocate(stream.fileno(), 2 * MIB, MIB)
    synced(file)
    assert unwritten_bytes(file) == MIB


def test_what_lies_beyond_the_end_does_not_count(file):
    with file.open("rb+") as stream:
        stream.truncate(MIB + 100)
    assert unwritten_bytes(file) == 0


def test_many_extents_are_all_found(scattered):
    with scattered.open("rb") as stream:
        assert len(list(extents(stream.fileno()))) > 600
    assert unwritten_bytes(scattered) == 1199 * 4096


def test_pieces_are_what_does_not_follow_one_another(scattered, file):
    """A file system cuts large runs into extents that do."""
    assert placement(file).pieces < 20
    with scattered.open("rb") as stream:
        found = [extent for extent in extents(stream.fileno()) if extent.written]
    follow = sum(one.place + one.length == other.place for one, other in itertools.pairwise(found))
    assert placement(scattered).pieces == len(found) - follow


def test_an_open_file_may_be_given(file):
    with file.open("rb") as stream:
        assert unwritten_bytes(stream.fileno()) == 0
        stream.read(1)


def test_a_folder_and_a_pipe_are_not_told(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert unwritten_bytes(tmp_path) is None
    assert unwritten_bytes(tmp_path / "pipe") is None


def test_an_empty_file_lacks_nothing(tmp_path, file):
    path = tmp_path / "empty"
    path.touch()
    assert unwritten_bytes(path) == 0
