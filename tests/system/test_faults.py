"""Faults survived, with nothing lost: the right verdict, and never a pass; results and baselines that were
there are whole; no process and, after the next run, no scratch file is left.
"""

import contextlib
import json
import os
import shutil
import signal
import time
from pathlib import Path

import pytest

import loops
from clock import clock_of
from control_groups import limited
from faults import FaultyDevice
from iogate.judge.baseline import load_baselines
from iogate.plugin.status import STATUSES
from loops import MIB, Loops, need
from projects import BRIEF, SCRATCH, Project, everywhere, need_fio, plain
from waiting import eventually

pytestmark = pytest.mark.system

FILE = """\
defaults: {direct: true, size: 8M, repetitions: 2}
workloads:
  reading: {rw: randread, bs: 4k, iodepth: 4, runtime: 0.4, time_based: true, gate: {read.iops: 90%}}
  writing: {rw: randwrite, bs: 4k, iodepth: 4, runtime: 0.4, time_based: true, gate: {write.iops: 90%}}
  shared: {engine: reader, rw: randread, bs: 512, threads: 2}
"""
NETWORK = """\
defaults: {{engine: fio, ioengine: nbd, direct: false, size: 16M, repetitions: 2}}
workloads:
  reading: {{rw: randread, bs: 4k, iodepth: 4, runtime: 0.3, time_based: true, fio: {{uri: "{uri}"{more}}}}}
"""
CACHED = f"""\
defaults: {{engine: fio, direct: false, size: 1M{BRIEF}}}
workloads:
  first: {{rw: randread, bs: 4k}}
  second: {{rw: randread, bs: 8k}}
"""


HELD = """
import pathlib, time
from iogate.measure import local_bench
from iogate.target import layout
flush, source = local_bench.flush, layout._source
def held(action):
    def act(*arguments):
        pathlib.Path("begun").touch()
        while not pathlib.Path("go").exists():
            time.sleep(0.01)
        return action(*arguments)
    return act
"""
FLUSH_HELD = HELD + "local_bench.flush = held(flush)"
LAYOUT_HELD = HELD + "layout._source = lambda size: held(source(size))"


@pytest.fixture(autouse=True)
def fio():
    need_fio()


@pytest.fixture
def faulty(tmp_path):
    """Makes devices with faults; `faulty(rate)`."""
    with contextlib.ExitStack() as stack:
        yield lambda **options: stack.enter_context(FaultyDevice(tmp_path, **options))


def survived(project, result, *words, verdict="invalid", target=None):
    """No workload passed, the reason is told in words, and nothing is left."""
    assert result.status == STATUSES[verdict], result.text
    assert set(result.verdicts.values()) == {verdict}, result.text
    for word in words:
        assert word in result.text, result.text
    quiet(project, result)
    assert not list((target or project.path).glob(SCRATCH))


def quiet(project, result):
    plain(result.text)
    eventually(lambda: not project.processes())


def repeating(project, number=1):
    """Wait until the repetition of that number begins."""
    eventually(lambda: list(project.path.rglob(f"{number}/stdout")))


def working(project):
    """Wait until a job has read or written a megabyte; its process id."""
    busy = []

    def look():
        for pid in engines(project):
            with contextlib.suppress(OSError):
                done = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text().splitlines())
                if max(int(done["read_bytes"]), int(done["write_bytes"])) > MIB:
                    busy.append(pid)
        return busy

    eventually(look)
    return busy[0]


def engines(project):
    """The processes of fio, its own first and then those of its jobs; or that of the reader."""
    found = [line.split() for line in project.processes()]
    return sorted(int(words[0]) for words in found if "--output=output.json" in words or "reader" in words[1])


# ------------------------------------------------------------ errors of the device


@pytest.mark.parametrize("more", ["", ", continue_on_error: all"], ids=["", "continued"])
@pytest.mark.parametrize("rate", ["0.1%", "100%"])
def test_some_ios_fail(project, faulty, rate, more):
    device = faulty(rate=rate)
    project.suite(NETWORK.format(uri=device.uri, more=more))
    with device.failing():
        survived(project, project.run("suites", "--update-baselines"), "Input/output error")
    assert not (project.path / "baselines/local/demo.yaml").exists()


def test_a_disk_begins_to_fail(project, faulty):
    """In the middle of a session, below a file system."""
    device = faulty(rate="1%")
    point = device.mounted()
    project.suite(
        FILE.replace("runtime: 0.4", "runtime: 0.2")
        .replace(", repetitions: 2", "")
        .replace("bs: 512", "bs: 4k")
    )
    update = ("suites", f"--io-target={point}", "--update-baselines")
    recorded = project.run(*update)
    assert (recorded.status, set(recorded.verdicts.values())) == (0, {"recorded"}), recorded.text
    before = (project.path / "baselines/local/demo.yaml").read_bytes()
    process = project.start(*update)
    eventually(lambda: len(list(project.path.glob(".iogate/results/*/*/2/stdout"))) == 2 * 3)
    with device.failing():
        result = project.finish(process)
    # The scratch folder may stay: where the file system gave up, nobody can remove it.
    survived(project, result, "Input/output error")
    assert (project.path / "baselines/local/demo.yaml").read_bytes() == before


@pytest.mark.parametrize(
    ("name", "size"),
    [("reading", 4 * MIB), ("reading", 0), ("shared", 4 * MIB + 1024), ("shared", 0)],
)
def test_reads_are_short(project, name, size):
    """Somebody truncates the data: fio counts reads behind the end as I/Os, and very fast ones they are."""
    project.suite(FILE)
    process = project.start("suites", "-k", name)
    working(project) if name == "reading" else repeating(project)
    [data] = project.path.glob(f"{SCRATCH}/data-*")
    os.truncate(data, size)
    survived(project, project.finish(process))


# ------------------------------------------------------------ a device that stands still


def test_a_device_stands_still_and_goes_on(project, faulty):
    """For longer than half of a repetition; the other repetitions are as ever, and so is their median."""
    device = faulty()
    project.suite(NETWORK.format(uri=device.uri, more=", rate_iops: 500"))
    process = project.start("suites")
    repeating(project, 3)
    time.sleep(0.1)
    with device.still():
        time.sleep(2.5)
    survived(project, project.finish(process), "instead of")
    assert project.run().verdicts == {"reading": "recorded"}
    process = project.start("suites")
    eventually(lambda: len(list(project.path.glob(".iogate/results/*/*/1/stdout"))) == 3)
    time.sleep(0.1)
    with device.still():
        time.sleep(2.5)
    survived(project, project.finish(process), "instead of")


def test_a_device_stands_still_for_good(project, faulty):
    """The engine's patience is a second here instead of a minute."""
    device = faulty()
    project.suite(NETWORK.format(uri=device.uri, more=""))
    project.lose_patience()
    with device.still():
        result = project.run()
    survived(project, result, "fio hung", "dmesg")


def test_the_disk_of_a_file_system_stands_still_for_good(project, faulty):
    """No signal ends what waits for it: the run ends all the same, and is over once it has ended."""
    device = faulty()
    point = device.mounted()
    project.suite(FILE)
    project.lose_patience()
    process = project.start("suites", "-k", "writing or shared", f"--io-target={point}", "--update-baselines")
    working(project)
    with device.still():
        eventually(lambda: process.poll() is not None)
    result = project.finish(process)
    assert result.status == STATUSES["invalid"], result.text
    assert "what was given up does not end" in result.text
    assert result.verdicts == {"writing": "invalid", "shared": "invalid"}
    quiet(project, result)
    eventually(lambda: not list(point.glob(SCRATCH)))  # as soon as it answered


@pytest.mark.parametrize(
    ("held", "words"),
    [(LAYOUT_HELD, "nothing was written for"), (FLUSH_HELD, "was not flushed within")],
    ids=["laying-out", "flushing"],
)
def test_the_disk_stands_still_before_an_engine_begins(project, faulty, held, words):
    """Nothing can interrupt what lays out data, or flushes them: the run ends all the same."""
    device = faulty()
    point = device.mounted()
    project.suite(FILE)
    project.lose_patience()
    project.conftest((project.path / "conftest.py").read_text() + held)
    process = project.start("suites", f"--io-target={point}", "--update-baselines")
    eventually((project.path / "begun").exists)
    (point / "others").write_bytes(bytes(MIB))
    with device.still():
        (project.path / "go").touch()
        eventually(lambda: process.poll() is not None)
    result = project.finish(process)
    assert result.status == STATUSES["invalid"], result.text
    assert words in result.text and "what was given up does not end" in result.text, result.text
    assert set(result.verdicts.values()) == {"invalid"}
    quiet(project, result)
    eventually(lambda: not list(point.glob(SCRATCH)))


# ------------------------------------------------------------ a full disk


@everywhere
def test_a_disk_turns_full_while_data_are_laid_out(project, tmp_path):
    """A disk that promises more than there is, as thin provisioning does."""
    need("mkfs.ext4")
    with Loops(tmp_path) as made:
        thin = made.mount(thin_device(made))
        project.suite(FILE)
        result = project.run("suites", "-k", "reading", f"--io-target={thin}", "--io-size=40M")
        survived(project, result, "cannot lay out 40.00 MiB", target=thin)


@everywhere
def test_a_disk_turns_full_in_the_middle_of_a_run(project, tmp_path):
    need("mkfs.ext4")
    with Loops(tmp_path) as made:
        device = thin_device(made, file_system=False)
        backing = next(tmp_path.rglob("thin.img"))
        project.device("lab", f"target: {device}\ntarget_id: {{backing_file: {backing}}}\nmissing: record\n")
        project.suite("workloads:\n  writing: {rw: randwrite, bs: 64k, iodepth: 4, size: 48M}\n")
        result = project.run("suites", "--device=lab", f"--io-destroy={device}")
        survived(project, result, "No space left on device")


def thin_device(made, file_system=True):
    """A block device of 96 MiB on a file system of 32 MiB."""
    _, point = made.formatted("ext4", 32 * MIB)
    backing = point / "thin.img"
    with backing.open("wb") as stream:
        stream.truncate(96 * MIB)
    device = made.attach(backing)
    if file_system:
        loops.format_device("ext4", device)
    return device


@pytest.fixture
def tiny(project):
    """A file system that holds `size`, and is full or nearly so."""
    need()
    with contextlib.ExitStack() as stack:

        def make(size, filled=0):
            point = project.path / "tiny"
            point.mkdir()
            loops.run("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", point)
            stack.callback(loops.unmount, point)
            (point / "filler").write_bytes(b"x" * filled)
            return point

        yield make


def test_the_results_file_cannot_be_written(project, tiny):
    """What was measured becomes a baseline all the same, and the run does not end well."""
    project.suite(CACHED)
    results = tiny("8k", filled=4096) / "results.json"
    earlier = '{"schema": 1, "device": "d", "session": "earlier", "workloads": []}'
    results.write_text(earlier)
    result = project.run("suites", f"--io-json={results}")
    assert result.status == 3, result.text
    assert f"cannot write {results}: No space left on device" in result.text
    assert results.read_text() == earlier
    assert set(load_baselines(project.path / "baselines/local/demo.yaml")) == {"first", "second"}
    quiet(project, result)
    assert project.leftovers == []


def test_a_results_disk_that_is_full_for_a_while_loses_nothing(project, tiny):
    project.suite(CACHED + "  third: {rw: randread, bs: 16k}\n")
    point = tiny("256k", filled=262144)
    results = point / "results.json"
    process = project.start("suites", f"--io-json={results}", "-v", "--io-budget=1000s")
    eventually(lambda: "PASSED" in process.stdout.readline())
    (point / "filler").unlink()
    result = project.finish(process)
    assert result.status == 0, result.text
    assert len(json.loads(results.read_text())["workloads"]) == 3


@everywhere
@pytest.mark.parametrize("size", ["4k", "48k"], ids=["at once", "in the middle"])
def test_the_raw_outputs_do_not_fit(project, tiny, size):
    project.suite(CACHED)
    folder = tiny(size, filled=4096) / "raw"
    result = project.run("suites", f"--io-results={folder}")
    survived(project, result)
    assert "--io-results=DIR" in result.text or "fio did not finish it" in result.text
    assert not (project.path / "baselines/local/demo.yaml").exists()


def test_the_baseline_cannot_be_written(project, tiny):
    project.suite(CACHED)
    folder = tiny("16k") / "baselines"
    arguments = ("suites", "-k", "first", f"--io-baselines={folder}")
    assert project.run(*arguments).status == 0
    before = (folder / "local/demo.yaml").read_bytes()
    (folder.parent / "more").write_bytes(b"x" * (16384 - 2 * 4096 - len(before) // 4096 * 4096))
    with contextlib.suppress(OSError), (folder.parent / "rest").open("wb") as rest:
        rest.write(b"x" * 16384)
    result = project.run(*arguments, "--update-baselines")
    assert result.status == 3, result.text
    assert "No space left on device" in result.text
    assert (folder / "local/demo.yaml").read_bytes() == before
    assert set(result.verdicts.values()) == {"recorded"}  # the figures are in the results file
    quiet(project, result)


# ------------------------------------------------------------ the engine


@pytest.mark.parametrize(
    ("who", "number"),
    [("fio", "SIGKILL"), ("fio", "SIGTERM"), ("a job of fio", "SIGKILL"), ("a job of fio", "SIGSEGV")],
)
def test_the_engine_is_killed(project, who, number):
    project.suite(FILE.replace("runtime: 0.4", "runtime: 5"))
    process = project.start("suites", "-k", "reading")
    job = working(project)
    os.kill(engines(project)[0] if who == "fio" else job, getattr(signal, number))
    survived(project, project.finish(process))


@everywhere
def test_the_engine_is_killed_while_it_starts(project):
    """Its jobs wait for a word that never comes."""
    project.suite(FILE)
    process = project.start("suites", "-k", "reading")
    eventually(lambda: len(engines(project)) == 2)
    with contextlib.suppress(ProcessLookupError):
        os.kill(engines(project)[0], signal.SIGKILL)
    survived(project, project.finish(process), "fio died of SIGKILL")


def test_the_engine_is_stopped_for_a_while(project):
    """As by a debugger, or a container that is frozen: fio counts the time, and says nothing."""
    project.suite(FILE)
    process = project.start("suites", "-k", "reading")
    job = working(project)
    os.kill(job, signal.SIGSTOP)
    time.sleep(2.5)
    os.kill(job, signal.SIGCONT)
    survived(project, project.finish(process), "instead of")


def test_the_engine_runs_out_of_memory(project, memory):
    """A group of processes that may have 24 MiB, for buffers of 128 MiB."""
    program = project.path / "bin/fio"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\ncase "$*" in *--output=*) echo $$ > {memory}/cgroup.procs ;; esac\n'
        f'exec {shutil.which("fio")} "$@"\n'
    )
    program.chmod(0o755)
    project.environment["PATH"] = f"{program.parent}:{os.environ['PATH']}"
    project.suite(FILE.replace("bs: 4k, iodepth: 4", "bs: 2M, iodepth: 64"))
    survived(project, project.run("suites", "-k", "reading"), "fio")


@pytest.fixture
def memory():
    """A control group with little memory."""
    ways = (("memory", "memory.limit_in_bytes"), ("unified", "memory.max"), (".", "memory.max"))
    with limited((tree, limit, str(24 * MIB)) for tree, limit in ways) as group:
        yield group


# ------------------------------------------------------------ updates at once


def test_two_updates_at_once(tmp_path):
    """Two runs on two targets that record the same device: both sessions are in the baseline."""
    one = Project(tmp_path / "one")
    one.suite(CACHED)
    (one.path / "other").mkdir()
    (one.path / "locks").mkdir()
    first = one.start("suites", "--update-baselines=append", "--io-json=1.json")
    one.environment["TMPDIR"] = str(one.path / "locks")  # otherwise the disk below is taken
    second = one.start("suites", "--update-baselines=append", "--io-target=other", "--io-json=2.json")
    for process in (first, second):
        result = one.finish(process)
        assert result.status == 0, result.text
        quiet(one, result)
    baselines = load_baselines(one.path / "baselines/local/demo.yaml")
    assert [len(item.sessions) for item in baselines.values()] == [2, 2]
    assert one.leftovers == []


def test_a_killed_update_leaves_the_old_baseline_or_the_new(project):
    """SIGKILL at some moments about the end, where the file is written; more of them in benchmarks/."""
    project.suite(CACHED)
    arguments = ("suites", "-k", "first")
    assert project.run(*arguments).status == 0
    file = project.path / "baselines/local/demo.yaml"
    for wait in (0.0, 0.02):
        before = load_baselines(file)["first"]
        process = project.start(*arguments, "--update-baselines=force")
        eventually(lambda: "recorded" in read(project.path / "results.json"))
        time.sleep(wait)
        process.kill()
        process.communicate()
        after = load_baselines(file)["first"]
        assert after.sessions[: len(before.sessions)] == before.sessions
        assert len(after.sessions) - len(before.sessions) in (0, 1)
        eventually(lambda: not project.processes())
    result = project.run(*arguments, "--update-baselines")
    assert result.status == 0, result.text
    assert sorted(path.name for path in file.parent.iterdir()) == ["demo.yaml"]
    assert project.leftovers == []


def read(path):
    with contextlib.suppress(FileNotFoundError):
        return path.read_text()
    return ""


# ------------------------------------------------------------ a clock that jumps


@pytest.fixture
def clock(project):
    """Sets the real-time clock of a project's processes ahead by so many seconds, and of nothing else."""
    variables = clock_of(project.path)
    project.environment |= variables
    return lambda seconds: Path(variables["CLOCK_FILE"]).write_text(str(seconds))


def test_the_clock_jumps_while_measuring(project, clock):
    """20 years ahead, then 400 days back: durations come from the monotonic clock, so the figures stay as
    they were, and sessions are in the order in which they were measured.
    """
    project.suite(FILE)
    measured = []
    for jump in (20 * 365 * 86400, -400 * 86400):
        process = project.start("suites", "-k", "reading", "--update-baselines=force")
        working(project)
        clock(jump)
        result = project.finish(process)
        assert result.status == 0, result.text
        quiet(project, result)
        item = result.workload("reading")
        assert 5 * 0.4 < item["device_seconds"] < 30
        values = item["metrics"]["read.iops"]["values"]
        assert len(values) == 5
        assert max(values) < 1e5 * min(values)  # days make a factor of 1e8, and a busy disk one of 1e3
        measured.append(result.results["session"])
    baseline = load_baselines(project.path / "baselines/local/demo.yaml")["reading"]
    assert list(baseline.sessions) == measured


# ------------------------------------------------------------ a target that goes away


@pytest.mark.parametrize("last", [False, True], ids=["then more", "last repetition"])
@pytest.mark.parametrize("name", ["reading", "shared"])
def test_the_target_is_unmounted(project, tmp_path, name, last):
    """Lazily, in the middle of a repetition, which goes on undisturbed."""
    need("mkfs.ext4")
    with Loops(tmp_path) as made:
        device, point = made.formatted("ext4", 64 * MIB)
        project.suite(FILE)
        process = project.start("suites", "-k", name, f"--io-target={point}", "--update-baselines")
        repeating(project, 5 if last else 1)
        loops.run("umount", "--lazy", point)
        result = project.finish(process)
        survived(project, result, "unmounted, replaced or removed", target=point)
        assert list(point.iterdir()) == [], "nothing was written to what the mount had hidden"
        loops.run("mount", device, point)
        assert [path.name for path in point.iterdir()] == ["lost+found"]
