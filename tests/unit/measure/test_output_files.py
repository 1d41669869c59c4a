"""Output files of engines: what is none, never ends or is too large."""

import os

import pytest

from iogate.errors import EngineError
from iogate.measure import local_bench


def test_what_an_engine_wrote_is_read_and_what_never_ends_is_not_waited_for(tmp_path):
    file = tmp_path / "output.json"
    assert local_bench._read(file) == ""
    file.write_bytes(b'{"a": "\xff"}')
    assert local_bench._read(file) == '{"a": "\ufffd"}'
    os.mkfifo(tmp_path / "pipe")
    assert local_bench._read(tmp_path / "pipe") == ""
    (tmp_path / "zeros").symlink_to("/dev/zero")
    assert len(local_bench._read(tmp_path / "zeros")) < 2**20


def test_an_absurdly_large_file_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(local_bench, "_OUTPUT_LIMIT", 2**20)
    (tmp_path / "large").write_bytes(bytes(2**20 + 1))
    with pytest.raises(EngineError, match="is larger than 1 MiB"):
        local_bench._read(tmp_path / "large")
