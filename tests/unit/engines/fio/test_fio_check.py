"""Where fio is asked about settings."""

import os
import tempfile
from dataclasses import replace

import pytest

from iogate.engines.fio import check
from iogate.model import Tolerance
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


@pytest.mark.parametrize(
    ("gate", "options", "said"),
    [
        ("read.lat.p95", {}, "fio: {lat_percentiles: 1}, or decide on read.clat.p95"),
        (
            "read.slat.p99.9",
            {"lat_percentiles": 1},
            "fio: {slat_percentiles: 1}, or decide on read.clat.p99.9",
        ),
        ("read.lat.p95", {"lat_percentiles": 1}, None),
        ("read.clat.p95", {}, None),
        ("read.lat.mean", {}, None),
    ],
)
def test_a_gate_on_percentiles_that_fio_is_not_asked_for_is_told_before_it_measures(
    monkeypatch, gate, options, said
):
    monkeypatch.setattr(check.shutil, "which", lambda name, path=None: None)
    workload = replace(declared("fio", rw="read", size="1M", fio=options), gate={gate: Tolerance(0.1)})
    assert [error.remedy for error in check.check([workload])] == ([said] if said else [])
