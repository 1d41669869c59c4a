"""Where fio is asked about settings."""

import os
import tempfile

from iogate.engines.fio import check
from workloads import declared


def test_it_is_asked_where_no_other_user_could_put_another_job_file(tmp_path, monkeypatch):
    """`ioengine=/path` in it is a library that fio loads."""
    exposed, programs, seen = tmp_path / "exposed", tmp_path / "bin", tmp_path / "seen"
    exposed.mkdir()
    exposed.chmod(0o777)
    programs.mkdir()
    (programs / "fio").write_text(f"#!/bin/sh\npwd > {seen}\n")
    (programs / "fio").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setattr(tempfile, "tempdir", str(exposed))
    assert not check.check([declared("fio", rw="read", size="1M", ioengine="psync")])
    assert seen.read_text().strip() and not seen.read_text().startswith(str(exposed))
