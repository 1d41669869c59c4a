"""Pairs with real engines on real targets: what is measured by turns, and how."""

import pytest

from iogate.plugin.status import STATUSES
from loops import MIB
from pair_runs import READING, SLICE, quiet
from projects import SCRATCH, everywhere, need_fio

pytestmark = pytest.mark.system

KNOWN = ("--io-alpha=0.3", "--io-beta=0.2", "--io-max-blocks=6", "--io-tolerance=8%")
"""What lets few blocks see a great difference."""


@pytest.fixture(autouse=True)
def fio():
    need_fio()


def check_slices(block):
    """Balanced turns, each of them work of one arm alone."""
    arms = [item["arm"] for item in block["slices"]]
    assert len(arms) >= 12, arms
    fours = {"".join(arms[at : at + 4]) for at in range(0, len(arms), 4)}
    assert fours <= {"ABBA", "BAAB"}
    assert all(item["seconds"] >= 0.04 for item in block["slices"])
    for arm, metrics in (("A", block["base"]["metrics"]), ("B", block["metrics"])):
        own = [item for item in block["slices"] if item["arm"] == arm]
        rate = sum(item["read"] for item in own) / sum(item["seconds"] for item in own)
        assert metrics["read.bandwidth"] == pytest.approx(rate, rel=0.01)
        assert sum(item["other"] for item in own) < 0.1 * sum(item["read"] for item in own)


# ------------------------------------------------------------ by slices


@everywhere
def test_slices_of_fio(project):
    """Copies change places in half of the blocks."""
    project.suite(
        READING + "  ordered: {rw: read, bs: 64k, iodepth: 4, ioengine: libaio, direct: true, size: 8M}\n"
    )
    result = project.run("suites", "--io-against=same", "--io-max-blocks=2", SLICE)
    assert result.status in (0, STATUSES["inconclusive"]), result.text
    quiet(project, result)
    for name in ("reading", "ordered"):
        item = result.workload(name)
        assert len(item["measured"]) == item["repetitions"] == 2, result.text
        assert {block["swapped"] for block in item["measured"]} == {False, True}
        assert len({block["seed"] for block in item["measured"]}) == 2
        for block in item["measured"]:
            check_slices(block)
            assert 0.1 < block["metrics"]["read.iops"] / block["base"]["metrics"]["read.iops"] < 10
    assert result.workload("reading")["pair"] == {
        "base": "a second copy of the same data",
        "places": "copies",
        "why": "",
        "candidate": "",
        "slice": 0.0,
    }


def test_a_handicap_is_found(project, disks):
    """An arm that is stopped for 40% of each of its slices loses as much, or less on a busy machine."""
    _, point = disks.formatted("ext4", 64 * MIB)
    project.suite(READING)
    project.conftest(
        "from iogate.measure.local_bench import LocalBench\n"
        "assert LocalBench.__init__.__defaults__ == ((0.0, 0.0),)\n"
        "LocalBench.__init__.__defaults__ = ((0.0, 0.4),)\n"
    )
    for _ in range(3):  # where others take the processors it is measured by whole runs, without a handicap
        result = project.run("suites", f"--io-target={point}", "--io-against=same", SLICE, *KNOWN)
        if "by whole runs" not in result.text:
            break
    assert result.verdicts == {"reading": "regressed"}, result.text
    assert -0.7 < result.workload("reading")["metrics"]["read.iops"]["change"] < 0
    quiet(project, result)
    assert not list(point.glob(SCRATCH))


def test_two_targets_of_unlike_speed(project, throttled):
    """One throttle for both: A gets twice as many I/Os per second as B; slices are long beside a burst."""
    base, candidate = throttled("ext4"), throttled("ext4")
    base.throttle.limit(2000)
    base.throttle.number = candidate.throttle.number
    base.throttle.limit(1000)
    project.suite(READING)
    arguments = (f"--io-target={candidate.point}", f"--io-against={base.point}", "--io-slice=300ms")
    result = project.run("suites", *arguments, "--io-max-blocks=2", wrapper=base.throttle.inside)
    assert result.verdicts == {"reading": "inconclusive"}, result.text
    for block in result.workload("reading")["measured"]:
        assert not block["swapped"]
        assert 0.3 < block["metrics"]["read.iops"] / block["base"]["metrics"]["read.iops"] < 0.8
    assert f"A is {base.point}" in result.text
    assert "their places are a part of what is compared" in result.text
    quiet(project, result)
    assert not [*base.point.glob(SCRATCH), *candidate.point.glob(SCRATCH)]


def test_slices_hold_whole_bursts_of_a_throttle(project, throttled):
    """Short ones had 0 or 64 I/Os each: equal arms differed by 26% from block to block, and of 17 pairs two
    were improved.
    """
    target = throttled("ext4")
    target.throttle.limit(1000)
    project.suite(READING)
    arguments = (f"--io-target={target.point}", "--io-against=same", "--io-max-blocks=2")
    result = project.run("suites", *arguments, wrapper=target.throttle.inside)
    reading = result.workload("reading")
    assert reading["pair"]["slice"] == 0.2, result.text
    assert "by slices of 200 ms: reading: data move in bursts, which shorter ones cut" in result.text
    assert {item["seconds"] < 0.15 for block in reading["warmup"] for item in block["slices"]} == {True}
    assert len(reading["measured"]) == 2
    for block in reading["measured"]:
        assert 0.85 < block["metrics"]["read.iops"] / block["base"]["metrics"]["read.iops"] < 1.18
    quiet(project, result)


# ------------------------------------------------------------ by whole runs


def test_whole_runs(project):
    """Where slices would lie: what cannot be stopped, latencies, and the page cache."""
    project.suite(
        "defaults: {size: 4M}\n"
        "workloads:\n"
        "  shared: {engine: reader, rw: randread, bs: 4k, direct: true}\n"
        "  latency: {rw: randread, bs: 4k, ioengine: libaio, direct: true, runtime: 0.1, time_based: true,"
        " gate: {read.clat.p99: 20%}}\n"
        "  buffered: {rw: randwrite, bs: 4k, ioengine: psync, direct: false, runtime: 0.1,"
        " time_based: true}\n"
        "  depth: {rw: read, bs: 64k, iodepth: 4, ioengine: libaio, direct: true, runtime: 0.1,"
        " time_based: true, against: {iodepth: 2}}\n"
    )
    result = project.run("suites", "--io-against=same", "--io-max-blocks=2")
    assert set(result.verdicts.values()) == {"inconclusive"}, result.text
    quiet(project, result)
    for name, why in {
        "shared": "a run of reader is a whole",
        "latency": "read.clat.p99 would contain the stops",
        "buffered": "buffered I/O goes on while its process is stopped",
        "depth": "what unlike settings have in flight where they are stopped is not alike",
    }.items():
        assert f"by whole runs, not slices: {name}: {why}" in result.text, result.text
        blocks = result.workload(name)["measured"]
        assert [block["slices"] for block in blocks] == [[], []]
        assert all(block["base"]["metrics"] for block in blocks)
    assert result.workload("depth")["pair"]["places"] == "one"
    assert "the same data with iodepth: 2" in result.text
