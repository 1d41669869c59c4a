"""A device elsewhere, for real: through a plain process, through ssh to a real sshd, into a network
namespace; with what befalls connections.
"""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hosts import far_processes, far_python, name, parent, popen, ssh_client, sshd
from iogate.plugin.status import STATUSES
from projects import need_fio, plain, refused
from waiting import eventually

pytestmark = pytest.mark.system

SUITE = """\
defaults: {direct: false, size: 1M}
workloads:
  reading: {rw: randread, bs: 4k, runtime: 0.1, time_based: true, gate: {read.iops: 90%}}
  reader: {engine: reader, rw: randread, bs: 4k, gate: {wall_time: 90%}}
"""
LONG = """\
defaults: {engine: fio, direct: false, size: 1M, time_based: true, repetitions: 1}
workloads:
  short: {rw: randread, bs: 4k, runtime: 0.1}
  long: {rw: randread, bs: 4k, runtime: 50}
"""


@pytest.fixture(autouse=True)
def fio():
    need_fio()


@pytest.fixture
def tmp(tmp_path):
    """The far machine's folder for temporary files."""
    (tmp_path / "far").mkdir()
    return tmp_path / "far"


@pytest.fixture
def target(tmp_path):
    (tmp_path / "drive").mkdir()
    return tmp_path / "drive"


@pytest.fixture
def ssh(tmp_path):
    with sshd(tmp_path / "ssh") as server:
        yield server


def nothing_left(project, target, tmp):
    """No scratch folder, no private folder, no process."""
    eventually(lambda: not far_processes(tmp))
    eventually(lambda: not list(tmp.glob("iogate-" + "[0-9a-f]" * 16)))
    assert not list(target.iterdir())
    eventually(lambda: not project.processes())


def raw_files(project):
    return sorted(
        path.relative_to(folder).parts[1:]
        for folder in project.path.glob(".iogate/results/*")
        for path in folder.rglob("*")
        if path.is_file() and len(path.relative_to(folder).parts) > 2
    )


def test_a_profile_says_where_the_device_is_and_nothing_else_changes(project, ssh, tmp, target):
    project.suite(SUITE)
    project.device("orin", f"target: {target}\nlearn: true\nhost: {ssh.spec(tmp)}\n")
    recorded = project.run("suites", "--device=orin", "--update-baselines")
    assert set(recorded.verdicts.values()) == {"recorded"}, recorded.text
    judged = project.run("suites", "--device=orin", "--io-max-repetitions=3")
    plain(judged.text)
    assert set(judged.verdicts) == {"reading", "reader"}
    assert not {"invalid", "no_baseline"} & set(judged.verdicts.values()), judged.text
    assert judged.results["device"] == "orin"
    assert project.baseline("orin").exists()
    for repetition in judged.workload("reading")["measured"]:
        folder = project.path / repetition["folder"]
        assert {"job.fio", "output.json", "stdout", "stderr"} == {path.name for path in folder.iterdir()}
    nothing_left(project, target, tmp)


def test_a_host_for_once_keeps_the_same_files_as_at_home(project, tmp, target):
    project.suite(SUITE.partition("  reader:")[0])
    home = project.run("suites", f"--io-target={target}", "--io-max-repetitions=2")
    files = {parts[0].split("-")[0]: parts[-1] for parts in raw_files(project)}
    host = f"--io-host={popen(tmp)}"
    there = project.run("suites", f"--io-target={target}", host, "--io-max-repetitions=2")
    assert home.verdicts.keys() == there.verdicts.keys()
    assert not {"invalid", "no_baseline"} & set(there.verdicts.values()), there.text
    assert {parts[0].split("-")[0]: parts[-1] for parts in raw_files(project)} == files
    assert home.results["environment"]["identity"] == there.results["environment"]["identity"]
    nothing_left(project, target, tmp)


def start_long(project, host, target):
    """A run in its long workload, whose short one is decided."""
    project.suite(LONG)
    run = project.start("suites", f"--io-host={host}", f"--io-target={target}")
    eventually(lambda: far_job(target))
    return run


def far_job(target):
    """An engine that works in the scratch folder for some time."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
            inside = os.readlink(folder / "cwd")
        except OSError:
            continue
        if line.startswith(b"/usr/bin/fio") and "/long-" in inside and str(target.parent) in inside:
            return int(folder.name)
    return None


@pytest.mark.parametrize("victim", ["ssh", "sshd", "python"])
def test_a_connection_that_is_killed_leaves_nothing(project, ssh, tmp, target, victim):
    run = start_long(project, ssh.spec(tmp), target)
    pid = far_python(tmp)
    if victim == "ssh":
        pid = ssh_client(ssh)
    while victim == "sshd" and not name(pid).startswith("sshd"):
        pid = parent(pid)
    os.kill(pid, signal.SIGKILL)
    result = project.finish(run)
    assert result.status == STATUSES["invalid"], result.text
    assert result.verdicts == {"short": "recorded", "long": "invalid"}
    assert "the connection to bench broke" in result.text
    plain(result.text)
    assert result.seconds < 40
    nothing_left(project, target, tmp)


def test_a_run_that_is_killed_leaves_nothing(project, ssh, tmp, target):
    run = start_long(project, ssh.spec(tmp), target)
    run.kill()
    run.communicate()
    nothing_left(project, target, tmp)


def test_ctrl_c_cleans_up_there(project, tmp, target):
    run = start_long(project, popen(tmp), target)
    os.killpg(run.pid, signal.SIGINT)
    result = project.finish(run)
    assert result.status == 2, result.text
    assert "1 of 2 workloads decided" in result.text
    nothing_left(project, target, tmp)


def test_a_silent_connection_is_given_up(project, ssh, tmp, target):
    project.conftest("from iogate.remote import post\nassert post.SILENCE > 5\npost.SILENCE = 4.0\n")
    run = start_long(project, ssh.spec(tmp), target)
    os.kill(ssh_client(ssh), signal.SIGSTOP)
    result = project.finish(run)
    assert result.verdicts == {"short": "recorded", "long": "invalid"}, result.text
    assert "the connection to bench is silent" in result.text
    nothing_left(project, target, tmp)


def test_a_host_that_cannot_be_had_is_said_before_anything_is_measured(project, ssh):
    project.suite(SUITE)
    said = project.run("suites", f"--io-host=ssh=refused//ssh_config={ssh.config}")
    refused(said, "the host refused cannot be had: it refuses this user's key", status=4)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("//env:PATH=/bin-of-nobody", ["fio is not installed"]),
        ("", ["the target /no/drive does not exist"]),
    ],
)
def test_what_is_missing_there_is_said_with_the_host(project, tmp, target, more, words):
    project.suite(LONG)
    host = f"popen//env:TMPDIR={tmp}{more}"
    where = target if more else "/no/drive"
    said = project.run("suites", f"--io-host={host}", f"--io-target={where}")
    refused(said, f"popen//env:TMPDIR={tmp}", *words, status=4)
    nothing_left(project, target, tmp)


def test_a_network_namespace_is_a_host(project, tmp, target):
    if os.geteuid() or subprocess.run(["ip", "netns", "add", "iogate-test"], check=False).returncode:
        pytest.skip("needs root, and ip netns")
    try:
        project.suite(LONG.replace("runtime: 50", "runtime: 0.1"))
        host = f"popen//python=ip netns exec iogate-test {sys.executable}//env:TMPDIR={tmp}"
        result = project.run("suites", f"--io-host={host}", f"--io-target={target}")
        assert set(result.verdicts.values()) == {"recorded"}, result.text
        nothing_left(project, target, tmp)
    finally:
        subprocess.run(["ip", "netns", "delete", "iogate-test"], check=True)


def test_a_machine_without_a_compiler_is_sent_the_reader(project, tmp_path, tmp, target):
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "fio").symlink_to(shutil.which("fio"))
    project.suite(SUITE)
    python = f"env TMPDIR={tmp} PATH={programs} {sys.executable}"
    result = project.run("suites", f"--io-host=popen//python={python}", f"--io-target={target}")
    assert set(result.verdicts.values()) == {"recorded"}, result.text
    nothing_left(project, target, tmp)
