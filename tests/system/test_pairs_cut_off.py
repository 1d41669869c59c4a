"""Pairs of images, pairs that end too early in every way, and such as cannot be: nothing is left behind."""

import os
import signal

import pytest

import loops
from images import format_image, traces
from iogate.plugin.status import STATUSES
from loops import MIB
from pair_runs import READING, SLICE, alternating, quiet
from projects import SCRATCH, everywhere, need_fio, refused
from waiting import eventually

pytestmark = pytest.mark.system

CUT = "import pytest\ndef pytest_runtest_teardown(): pytest.exit('enough', returncode=2)\n"
"""A conftest.py that ends a run after its first test."""


@pytest.fixture(autouse=True)
def fio():
    need_fio()


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
