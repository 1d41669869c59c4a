"""iozone itself: both of its modes end to end, and what happens where its files do not fit."""

import shutil
from pathlib import Path

import pytest

from iogate import engines
from iogate.declare.suite import load_suite
from iogate.errors import OutputError
from iogate.host import process
from iogate.judge.baseline import update
from iogate.model import Environment, Place
from loops import MIB, Loops, format_device
from projects import everywhere
from workloads import declared

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(
        not shutil.which("iozone"), reason="needs iozone (Debian: non-free, Ubuntu: multiverse)"
    ),
]

SUITE = """\
defaults: {engine: iozone, size: 16M, record_size: 64k, flush: true}
workloads:
  side_by_side:
    processes: 2
    retest: false
    repetitions: 1
    gate: {write.bandwidth.parent: 99.999%}  # whatever else the machine does
  table: {minimum_size: 8M, minimum_record_size: 32k, report: latency}
"""


@everywhere
def test_processes_side_by_side_are_judged_by_a_published_baseline(project):
    suite = load_suite(project.suite(SUITE))
    definition = next(item.definition for item in suite.workloads if item.name == "side_by_side")
    update(
        project.path / "baselines/local/demo.yaml",
        *("local", "demo", "published", Environment(), ""),
        {"side_by_side": (definition, {"write.bandwidth.parent": [20_000.0 * MIB]})},
        "replace",
        source="a device that is faster than this one",
    )
    result = project.run("suites", "-k", "side_by_side", "--io-missing=fail")
    assert result.status == 0, result.text
    assert result.verdicts == {"side_by_side": "pass"}
    found = result.workload("side_by_side")["metrics"]
    assert {name.partition(".")[0] for name in found} == {"write", "read"}
    assert found["read.bandwidth"]["value"] >= found["read.bandwidth.min"]["value"] >= 0
    assert found["write.bandwidth.parent"]["value"] > 0
    assert not project.leftovers and not project.processes()


def test_a_table_is_recorded_point_by_point(project):
    project.suite(SUITE)
    result = project.run("suites", "-k", "table", "--update-baselines")
    assert result.status == 0, result.text
    table = result.workload("table")["metrics"]
    assert {name.partition("mean.")[2] for name in table} == {"8M/32k", "8M/64k", "16M/32k", "16M/64k"}
    assert all(len(figure["values"]) == 5 for figure in table.values())
    assert not project.leftovers and not project.processes()


def test_files_that_do_not_fit_are_refused_before_the_run(project):
    project.suite(SUITE)
    result = project.run("suites", "--io-size=900T", "--io-missing=record")
    assert result.status != 0
    assert "short of space: 1800 TiB are needed" in result.text
    assert not list(project.path.glob(".iogate/results/*/*/1/stdout"))


def test_a_full_disk_makes_iozone_hang_until_its_time_is_over(tmp_path):
    """Its parent waits for children that died; nothing of it is left when the time is over."""
    given = {"size": "64M", "record_size": "64k", "processes": 2, "timeout": 3, "direct": False}
    workload = declared("iozone", **given)
    with Loops(tmp_path) as loops:
        device = loops.device(16 * MIB)
        format_device("ext4", device)
        point = loops.mount(device)
        engine = engines.load("iozone")
        command = engine.command(workload, Place(point / "data", point, tmp_path))
        done = process.run(command.argv, folder=tmp_path, timeout=command.timeout)
        with pytest.raises(OutputError, match=r"iozone (hung|ended with status)"):
            engine.parse(done.stdout, name="stdout", completed=done)
        assert not _users(point)


def _users(point: Path) -> list[str]:
    """Processes that have files open below a mount point."""
    found = []
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if link.readlink().is_relative_to(point):
                found.append(str(link))
        except OSError:
            continue
    return found
