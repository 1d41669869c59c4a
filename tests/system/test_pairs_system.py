"""Pairs with real engines on real targets: measured by turns, ended in every way, and nothing left behind."""

import contextlib
import os
import signal
from pathlib import Path

import pytest

import loops
from images import format_image, traces
from iogate.plugin.status import STATUSES
from loops import MIB, Loops, need
from projects import SCRATCH, everywhere, need_fio, plain, refused
from waiting import eventually

pytestmark = pytest.mark.system

SLICE = "--io-slice=40ms"
READING = """\
workloads:
  reading: {rw: randread, bs: 4k, iodepth: 8, ioengine: libaio, direct: true, size: 8M}
"""
KNOWN = ("--io-alpha=0.3", "--io-beta=0.2", "--io-max-blocks=6", "--io-tolerance=8%")
"""What lets few blocks see a great difference."""
CUT = "import pytest\ndef pytest_runtest_teardown(): pytest.exit('enough', returncode=2)\n"
"""A conftest.py that ends a run after its first test."""


@pytest.fixture(autouse=True)
def fio():
    need_fio()


@pytest.fixture
def disks(tmp_path):
    """Makes file systems in memory, or what is next to it: their noise is small, and they are apart."""
    need("mkfs.ext4")
    with Loops(tmp_path / "disks") as made:
        made.folder.mkdir()
        made.into_memory()
        yield made


def quiet(project, result=None):
    """Nobody is left, stopped or not; nor data. What was said is plain."""
    eventually(lambda: not project.processes())
    assert not project.leftovers
    if result:
        plain(result.text)


def engines(project):
    """The process ids of fio and its jobs, arm A's and arm B's."""
    found = ([], [])
    for line in project.processes():
        words = line.split()
        with contextlib.suppress(OSError):
            arm = Path(os.readlink(f"/proc/{words[0]}/cwd")).name
            if arm in ("A", "B"):
                found["AB".index(arm)].append(int(words[0]))
    return found


def state(pid):
    """The state of a process, as proc(5) has it: T is stopped; empty if it is gone."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return ""


def alternating(project):
    """Wait until a job of one arm is stopped and none of the other; the process ids of both arms."""

    def look():
        arms = engines(project)
        stopped = [["T" in state(pid) for pid in arm] for arm in arms]
        return arms if all(len(arm) == 2 for arm in arms) and list(map(all, stopped)).count(True) == 1 else ()

    return eventually(look)


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
    """Copies change places in half of the blocks; options are held against each other on the same data."""
    project.suite(
        READING
        + "  ordered: {rw: read, bs: 64k, iodepth: 4, ioengine: libaio, direct: true, size: 8M}\n"
        + "  depth: {rw: read, bs: 64k, iodepth: 4, ioengine: libaio, direct: true, size: 8M,"
        " against: {iodepth: 2}}\n"
    )
    result = project.run("suites", "--io-against=same", "--io-max-blocks=2", SLICE)
    assert result.status in (0, STATUSES["inconclusive"]), result.text
    quiet(project, result)
    for name in ("reading", "ordered", "depth"):
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
    }
    assert result.workload("depth")["pair"]["places"] == "one"
    assert "the same data with iodepth: 2" in result.text
    [*offsets] = {
        line
        for job in project.path.glob(".iogate/results/*/depth-*/*/[AB]/job.fio")
        for line in job.read_text().splitlines()
        if line.startswith("offset=")
    }
    assert sorted(offsets) == ["offset=0", "offset=4194304"], "each arm reads its own half"


def test_a_handicap_is_found(project, disks):
    """An arm that is stopped for 40% of each of its slices loses as much, or less on a busy machine."""
    _, point = disks.formatted("ext4", 64 * MIB)
    project.suite(READING.replace("}", ", against: {iodepth: 7}}"))
    project.conftest(
        "from iogate.measure.local_bench import LocalBench\n"
        "assert LocalBench.__init__.__defaults__ == ((0.0, 0.0),)\n"
        "LocalBench.__init__.__defaults__ = ((0.0, 0.4),)\n"
    )
    result = project.run("suites", f"--io-target={point}", SLICE, *KNOWN)
    assert result.verdicts == {"reading": "regressed"}, result.text
    assert -0.7 < result.workload("reading")["metrics"]["read.iops"]["change"] < 0
    quiet(project, result)
    assert not list(point.glob(SCRATCH))


def test_two_targets_of_unlike_speed(project, throttled):
    """One throttle for both: A gets twice as many I/Os per second as B."""
    base, candidate = throttled("ext4"), throttled("ext4")
    base.throttle.limit(2000)
    base.throttle.number = candidate.throttle.number
    base.throttle.limit(1000)
    project.suite(READING)
    arguments = (f"--io-target={candidate.point}", f"--io-against={base.point}", "--io-slice=100ms")
    result = project.run("suites", *arguments, "--io-max-blocks=2", wrapper=base.throttle.inside)
    assert result.verdicts == {"reading": "inconclusive"}, result.text
    for block in result.workload("reading")["measured"]:
        assert not block["swapped"]
        assert 0.3 < block["metrics"]["read.iops"] / block["base"]["metrics"]["read.iops"] < 0.8
    assert f"A is {base.point}" in result.text
    assert "their places are a part of what is compared" in result.text
    quiet(project, result)
    assert not [*base.point.glob(SCRATCH), *candidate.point.glob(SCRATCH)]


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
    )
    result = project.run("suites", "--io-against=same", "--io-max-blocks=2")
    assert set(result.verdicts.values()) == {"inconclusive"}, result.text
    quiet(project, result)
    for name, why in {
        "shared": "a run of reader is a whole",
        "latency": "read.clat.p99 would contain the stops",
        "buffered": "buffered I/O goes on while its process is stopped",
    }.items():
        assert f"by whole runs, not slices: {name}: {why}" in result.text, result.text
        blocks = result.workload(name)["measured"]
        assert [block["slices"] for block in blocks] == [[], []]
        assert all(block["base"]["metrics"] for block in blocks)


# ------------------------------------------------------------ images


@pytest.fixture
def images(project, disks):
    """The options that compare two images, in slots below the project's folder."""
    (project.path / "slots").mkdir()
    project.device("local", f"target: {project.path / 'slots'}\n")
    project.suite(READING.replace("8M", "2M"))
    old, new = (format_image("ext4", project.path / f"{name}.img") for name in ("old", "new"))
    return f"--io-against={old}", f"--io-target={new}", SLICE


@everywhere
def test_two_images_change_places(project, images):
    """Half-way, each of them into the slot of the other, and nothing is mounted or attached afterwards."""
    files = [project.path / name for name in ("old.img", "new.img")]
    before = [loops.digest(file) for file in files]
    result = project.run("suites", *images, "--io-max-blocks=7")
    assert result.status in (0, STATUSES["inconclusive"]), result.text
    swapped = [block["swapped"] for block in result.workload("reading")["measured"]]
    assert swapped == [False] * 6 + [True], result.text
    assert traces(project.path / "slots") == []
    assert [loops.digest(file) for file in files] == before
    quiet(project, result)


# ------------------------------------------------------------ ends that come too early


@pytest.mark.parametrize("number", ["SIGTERM", "SIGKILL"])
def test_the_run_is_ended_in_a_slice(project, number):
    """Nobody is left, stopped or not, and the next run is as ever."""
    project.suite(READING)
    arguments = ("suites", "--io-against=same", SLICE)
    process = project.start(*arguments)
    alternating(project)
    ended(project, process, number)
    if number == "SIGKILL":
        assert project.leftovers
        assert project.run(*arguments, "--io-max-blocks=2").verdicts == {"reading": "inconclusive"}
    quiet(project)


def test_a_run_with_images_is_killed(project, images):
    """What it mounted goes with it; the next one removes the folder that is left, and is as ever."""
    process = project.start("suites", *images)
    alternating(project)
    ended(project, process, "SIGKILL")
    assert eventually(lambda: len(traces(project.path / "slots")) == 1), traces(project.path / "slots")
    result = project.run("suites", *images, "--io-max-blocks=2")
    assert result.verdicts == {"reading": "inconclusive"}, result.text
    assert traces(project.path / "slots") == []
    quiet(project, result)


def test_a_new_image_by_the_name_of_one_is_not_gone_on_with(project, images):
    """As a pipeline calls each image alike: what was decided is not so of the new one."""
    reading = READING.replace("8M", "2M")
    project.suite(reading + reading.splitlines()[1].replace("reading", "again") + "\n")
    arguments = ("suites", *images, "--io-max-blocks=2")
    conftest = project.path / "conftest.py"
    conftest.write_text(CUT)
    first = project.run(*arguments)
    assert first.status == 2, first.text
    conftest.unlink()
    plan = project.run(*arguments, "--io-resume", "--io-plan")
    assert "going on with session" in plan.text and "1 of 2 workloads are decided" in plan.text
    format_image("ext4", project.path / "new.img")
    result = project.run(*arguments, "--io-resume")
    assert "is of other images of these names: all are measured anew" in result.text
    quiet(project, result)


def ended(project, process, number):
    """End a run by a signal; nobody works there any more soon afterwards."""
    process.send_signal(getattr(signal, number))
    process.communicate(timeout=60)
    eventually(lambda: not project.processes(), patience=10)


def test_a_pair_goes_on_after_ctrl_c(project):
    """A workload that was not decided begins anew."""
    project.suite(READING)
    arguments = ("suites", "--io-against=same", "--io-max-blocks=2", SLICE)
    process = project.start(*arguments)
    eventually(lambda: list(project.path.rglob("2/A/stdout")))
    alternating(project)
    process.send_signal(signal.SIGINT)
    interrupted = project.finish(process)
    assert interrupted.verdicts == {"reading": "inconclusive"}, interrupted.text
    assert interrupted.status == 2
    quiet(project, interrupted)
    result = project.run(*arguments, "--io-resume")
    blocks = result.workload("reading")["measured"]
    assert len(blocks) == len({block["seed"] for block in blocks}) == 2, result.text
    quiet(project, result)


@pytest.mark.parametrize(("arm", "who"), [("A", "fio"), ("B", "a job of fio")])
def test_an_engine_dies_in_one_arm(project, arm, who):
    """Whether it is at work or stopped; the other one's is ended, too."""
    project.suite(READING)
    process = project.start("suites", "--io-against=same", SLICE)
    fio, job = sorted(alternating(project)["AB".index(arm)])
    os.kill(fio if who == "fio" else job, signal.SIGKILL)
    result = project.finish(process)
    assert result.verdicts == {"reading": "invalid"}, result.text
    assert result.status == STATUSES["invalid"]
    assert f"/1/{arm}/output.json: fio died of " in result.text
    quiet(project, result)


def test_a_target_vanishes_in_one_arm(project, disks):
    """It is unmounted, lazily."""
    points = [disks.formatted("ext4", 64 * MIB)[1] for _ in "AB"]
    project.suite(READING)
    process = project.start("suites", f"--io-against={points[0]}", f"--io-target={points[1]}", SLICE)
    alternating(project)
    loops.run("umount", "--lazy", points[0])
    result = project.finish(process)
    assert result.verdicts == {"reading": "invalid"}, result.text
    assert "unmounted, replaced or removed" in result.text
    assert not [*points[0].glob(SCRATCH), *points[1].glob(SCRATCH)]
    quiet(project, result)


# ------------------------------------------------------------ what is refused


def test_a_base_that_is_too_small(project, disks):
    small, large = (disks.formatted("ext4", size * MIB)[1] for size in (8, 64))
    project.suite(READING)
    result = project.run("suites", f"--io-against={small}", f"--io-target={large}")
    assert result.verdicts == {"reading": "invalid"}, result.text
    assert f"{small} is short of space" in result.text
    quiet(project, result)


def test_a_mounted_device_is_no_base(project, disks):
    """Nor one that is named by nobody: consent is for one device."""
    device, point = disks.formatted("ext4", 64 * MIB)
    other = disks.device()
    before = loops.digest(other)
    project.suite(READING.replace("randread", "randwrite"))
    result = project.run("suites", f"--io-against={device}", f"--io-target={other}", f"--io-destroy={other}")
    refused(result, str(device))
    assert set(result.verdicts.values()) <= {"invalid"}
    assert point.is_mount() and loops.digest(other) == before
    refused(project.run("suites", f"--io-against={point}", f"--io-target={other}"), "that is no comparison")


def test_images_that_cannot_be(project, disks):
    """No partition of that number, no root, the same image twice."""
    old, new = format_image("ext4", project.path / "old.img"), format_image("ext4", project.path / "new.img")
    project.suite(READING.replace("8M", "2M"))
    for base, words in {f"{old}#7": "#7", str(new): "same image"}.items():
        result = project.run("suites", f"--io-against={base}", f"--io-target={new}")
        refused(result, words)
        assert set(result.verdicts.values()) <= {"invalid"}
        quiet(project, result)
        assert not [trace for trace in traces(project.path) if trace.startswith("/")]
    project.conftest("import os\nos.geteuid = lambda: 65534\n")
    result = project.run("suites", f"--io-against={old}", f"--io-target={new}")
    refused(result, "takes root", "run as root; without, compare two directories")
