"""What never ends is not waited for."""

import os
from pathlib import Path

from iogate.formats.reading import read_at_once
from iogate.offline.folders import files_of
from iogate.report.resuming import Selection, last_session


def test_a_pipe_that_nobody_named_holds_nothing(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert read_at_once(tmp_path / "pipe") == b""


def test_a_file_of_the_kernel_is_read_as_far_as_it_is():
    assert read_at_once(Path("/proc/self/stat")).startswith(str(os.getpid()).encode())


def test_a_file_is_read_whole_or_as_far_as_was_asked_for(tmp_path):
    file = tmp_path / "large"
    file.write_bytes(b"x" * 200_000)
    assert len(read_at_once(file)) == 200_000
    assert len(read_at_once(file, 10)) == 10


def test_a_pipe_in_the_place_of_a_sessions_results_is_passed_over(tmp_path):
    session = tmp_path / "2026-01-01T00:00:00Z-abcd"
    session.mkdir()
    os.mkfifo(session / "results.json")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/results.json").write_text("{}")
    assert last_session(tmp_path, Selection("lab", ["a"], ())) is None
    assert files_of(tmp_path) == [tmp_path / "other/results.json"]
