"""Queueing for a target that another run has; keeping the newest sessions."""

import errno
import fcntl
import json
import os
import subprocess
import threading
import time

import pytest

from iogate.errors import BaselineError
from iogate.judge.baseline import load_baselines
from iogate.measure.sites import Sites
from iogate.target import leftovers
from iogate.target.marker import MAGIC, MARKER, PREFIX
from projects import refused
from waiting import eventually


def sessions(project):
    return sorted(os.listdir(project.path / ".iogate" / "results"))


@pytest.fixture
def lock(project):
    """An open lock of the target's directory, as another run has it."""
    file = project.path / "target"
    file.mkdir()
    descriptor = os.open(file, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    yield descriptor
    os.close(descriptor)


def test_a_locked_target_is_refused_at_once_with_who_has_it(project, lock):
    project.suite("workloads: {a: {engine: reader, rw: read, size: 64M, bs: 4k, direct: false}}\n")
    result = project.run("suites", "--update-baselines", "--io-target=target")
    refused(result, f"is in use by another run: pid {os.getpid()} (", "--io-wait", status=4)


@pytest.mark.parametrize("flag", ["--io-wait", "--io-wait=5m", "-oio_wait=5m"])
def test_waiting_is_said_and_ends_when_it_is_free(project, lock, flag, monkeypatch):
    """What the other run has heated by then counts, too: it was asked for before that one had ended."""
    project.suite("workloads: {a: {engine: reader, rw: read, size: 64M, bs: 4k, direct: false}}\n")
    work = [0.0]
    monkeypatch.setattr("iogate.target.rest.unrested_work", lambda *asked: work[0])

    def release():
        said = project.path / ".iogate" / "results"
        eventually(said.exists)  # the session has begun
        work[0] = 60.0
        fcntl.flock(lock, fcntl.LOCK_UN)

    helper = threading.Thread(target=release)
    helper.start()
    result = project.run("suites", "--update-baselines", "--io-target=target", flag)
    helper.join()
    result.assert_outcomes(passed=1)
    (baseline,) = load_baselines(project.path / "baselines/local/demo.yaml", "demo").values()
    assert all(row[0] >= 60 for row in baseline.worked.values()) and baseline.worked


@pytest.mark.parametrize("name", ["##vso[task.x]", "x\n::error::y", "\x1b[31m"])
def test_what_others_call_a_folder_that_a_killed_run_left_is_no_command(project, monkeypatch, name):
    """Who owns the target's directory may rename it."""
    project.suite("workloads: {a: {engine: reader, rw: read, size: 64M, bs: 4k, direct: false}}\n")
    monkeypatch.setattr(leftovers, "_DYING", 0)
    left = project.path / "target" / f"{PREFIX}{name}"
    left.mkdir(parents=True)
    marker = left / MARKER
    marker.write_bytes(MAGIC)
    with marker.open() as stream, subprocess.Popen(["sleep", "60"], stdin=stream) as process:
        result = project.run("suites", "--update-baselines", "--io-target=target")
        process.kill()
    refused(result, "of a run that was killed is still in use", status=4)
    text = result.stdout.str() + result.stderr.str()
    assert name not in text and "\n::" not in text


IN_PYTHON = """
import fcntl
READ = dict(engine="reader", rw="read", size="64M", bs="4k", direct=False)
def test_one(measure):
    measure(**READ)
def test_two(measure):
    {between}
    measure(**READ)
"""


def test_what_a_test_in_python_cannot_measure_is_invalid(project):
    """It had the status of a regression, which a bisection takes for `slower`, and a traceback."""
    project.pytester.makepyfile(test_mine=IN_PYTHON.format(between=""))
    result = project.run("test_mine.py", "--update-baselines", "--io-target=absent")
    refused(result, "absent does not exist", "test_mine.py:3: test_one", status=12)
    assert "Traceback" not in result.stdout.str() and "TargetError" not in result.stdout.str()


def test_a_session_begins_behind_what_it_waited_for_in_its_second_test_too(project, lock, monkeypatch):
    project.pytester.makepyfile(test_mine=IN_PYTHON.format(between=f"fcntl.flock({lock}, fcntl.LOCK_UN)"))
    monkeypatch.setattr("iogate.target.rest.unrested_work", lambda *asked: 60.0)
    project.run("test_mine.py", "--update-baselines", "--io-target=target", "--io-wait=10ms").assert_outcomes(
        passed=1, failed=1
    )
    (baseline,) = load_baselines(project.path / "baselines/local/test_mine.yaml", "test_mine").values()
    assert all(row[0] >= 60 for row in baseline.worked.values()) and baseline.worked


@pytest.mark.parametrize("timed", ["", ", func_only=True"])
def test_the_time_of_a_test_does_not_go_by_while_it_waits(project, lock, timed):
    """It failed, and status 1 is read as `slower`, as another job had the device."""
    pytest.importorskip("pytest_timeout")
    project.pytester.makepyfile(
        test_mine=f"""
        import pytest

        @pytest.mark.timeout(8{timed})
        def test_read(measure):
            measure(engine="reader", rw="read", size="64M", bs="4k", direct=False)
        """
    )

    def release():
        eventually((project.path / ".iogate/results").exists)
        time.sleep(8.5)
        fcntl.flock(lock, fcntl.LOCK_UN)

    waiting = threading.Thread(target=release)
    waiting.start()
    arguments = ("test_mine.py", "--update-baselines", "--io-target=target", "--io-wait")
    result = project.run(*arguments)
    waiting.join()
    result.assert_outcomes(passed=1)
    assert "waiting for at most" in result.stdout.str()


def test_waiting_has_an_end(project, lock):
    project.suite("workloads: {a: {engine: reader, rw: read, size: 64M, bs: 4k, direct: false}}\n")
    result = project.run("suites", "--update-baselines", "--io-target=target", "--io-wait=10ms")
    refused(result, "is in use by another run", status=4)
    result.stdout.fnmatch_lines(["waiting for at most *: * is in use by another run: pid *"])


def test_a_workload_without_input_and_output_waits_for_nothing(project, lock):
    project.run("suites", "--update-baselines", "--io-target=target", "--io-wait=10ms").assert_outcomes(
        passed=2
    )


def test_a_path_is_not_taken_for_a_time(project):
    refused(
        project.run("--io-wait", "suites"),
        "write --io-wait=TIME, or put --io-wait behind the paths",
        status=4,
    )


def test_the_newest_sessions_are_kept(project):
    results = project.path / ".iogate" / "results"
    for day in range(1, 6):
        (results / f"2020-01-0{day}T00:00:00Z-0000").mkdir(parents=True)
    (results / "mine").mkdir()
    project.run("suites", "--update-baselines", "-oio_keep=3")
    assert [name[:10] for name in sessions(project)[:2]] == ["2020-01-04", "2020-01-05"]
    assert len(sessions(project)) == 4 and "mine" in sessions(project)


def test_50_of_them_unless_somebody_chose_the_folder(project):
    for folder, kept in ((".iogate/results", 50), ("chosen", 61)):
        for number in range(60):
            (project.path / folder / f"2020-01-01T00:00:{number:02}Z-0000").mkdir(parents=True)
        project.run("suites", "--update-baselines", *([] if kept == 50 else [f"--io-results={folder}"]))
        assert len(os.listdir(project.path / folder)) == kept


@pytest.mark.parametrize("link", [".iogate", ".iogate/results"])
def test_where_a_link_leads_nothing_is_removed_or_ignored(project, link):
    """It may come with a checkout, and lead to the sessions, or the repository, of another project."""
    victim = project.path / "victim"
    for number in range(60):
        (victim / "results" / f"2020-01-01T00:00:{number:02}Z-0000").mkdir(parents=True)
    (project.path / link).parent.mkdir(exist_ok=True)
    (project.path / link).symlink_to(victim if link == ".iogate" else victim / "results")
    project.run("suites", "--update-baselines")
    assert len(os.listdir(victim / "results")) == 61
    assert os.listdir(victim) == ["results"]


def test_results_on_a_mount_that_dies_keep_nothing_else_from_its_end(project, monkeypatch):
    real = os.stat

    def stat(path, *rest, **more):
        if os.path.basename(str(path)) == "chosen" and not more.get("follow_symlinks", True):
            raise OSError(errno.ENOTCONN, os.strerror(errno.ENOTCONN), str(path))
        return real(path, *rest, **more)

    monkeypatch.setattr("os.stat", stat)
    result = project.run("suites", "--update-baselines", "--io-results=chosen")
    assert result.ret == 0, result.stdout.str()


@pytest.mark.parametrize("number", ["0", "-1", "x", "1.5"])
def test_a_number_to_keep_is_one(project, number):
    refused(project.run("suites", f"--io-keep={number}"), "is not a number from 1 on", status=4)


# ------------------------------------------------------------ a clean-up that fails


@pytest.fixture
def dying(monkeypatch):
    """The target's file system dies at the end: it cannot be left as it was."""
    close = Sites.close

    def fail(sites):
        close(sites)
        raise OSError(errno.ENOTCONN, os.strerror(errno.ENOTCONN))

    monkeypatch.setattr(Sites, "close", fail)


def test_a_clean_up_that_fails_loses_nothing_that_was_measured(project, dying):
    result = project.run("suites", "--update-baselines", "--io-json=results.json")
    refused(result, f"ERROR: cannot clean up {project.path}: Transport endpoint is not connected", status=3)
    assert set(load_baselines(project.baseline())) == {"alpha", "beta"}
    document = json.loads((project.path / "results.json").read_text())
    assert [item["verdict"] for item in document["workloads"]] == ["recorded", "recorded"]
    assert document["run"]["ended"] is True


def test_each_failure_at_the_end_is_told(project, dying, monkeypatch):
    def fail(*arguments, **more):
        raise BaselineError("the disk of the baselines is full")

    monkeypatch.setattr("iogate.judge.baseline.update", fail)
    result = project.run("suites", "--update-baselines")
    refused(result, "ERROR: the disk of the baselines is full", "cannot clean up", status=3)
