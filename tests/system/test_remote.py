"""A device elsewhere, for real: through a plain process, through ssh to a real sshd, into a network
namespace; with what befalls connections.
"""

import fcntl
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from clock import clock_of
from fake_bench import FakeWatcher, reads
from hosts import PLAIN, far_processes, far_python, name, parent, popen, script, ssh_client, sshd
from iogate import engines
from iogate.measure.local_bench import LocalBench
from iogate.measure.settings import Settings
from iogate.model import Device
from iogate.plugin.status import STATUSES
from iogate.remote.bench import RemoteBench
from iogate.remote.parcel import parcel
from loops import need, unmount
from loops import run as call
from projects import BRIEF, RATE_LIMITED, SCRATCH, need_fio, plain, refused
from waiting import eventually

pytestmark = pytest.mark.system

SUITE = f"""\
defaults: {{direct: false, size: 1M}}
workloads:
  reading: {{rw: randread, bs: 4k{BRIEF}}}
  reader: {{engine: reader, rw: randread, bs: 4k, size: 32M, gate: {{wall_time: 90%}}}}
"""
LONG = f"""\
defaults: {{engine: fio, direct: false, size: 1M, time_based: true, repetitions: 1{RATE_LIMITED}}}
workloads:
  short: {{rw: randread, bs: 4k, runtime: 0.1}}
  long: {{rw: randread, bs: 4k, runtime: 50}}
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


def start_long(project, host, target, suite=LONG):
    """A run in its long workload, whose short one is decided."""
    project.suite(suite)
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


def test_what_a_lost_connection_left_undecided_is_gone_on_with(project, tmp, target):
    """As the message says: what was decided is not measured a second time, a regression neither."""
    run = start_long(project, popen(tmp), target, LONG.replace("runtime: 50", "runtime: 2"))
    os.kill(far_python(tmp), signal.SIGKILL)
    lost = project.finish(run)
    assert lost.verdicts == {"short": "recorded", "long": "invalid"}, lost.text
    assert "1 workload not decided, 1 of them begun" in lost.text
    assert "--io-resume goes on from there" in lost.text
    measured = lost.workload("short")["measured"]
    result = project.run("suites", f"--io-host={popen(tmp)}", f"--io-target={target}", "--io-resume")
    assert result.verdicts == {"short": "recorded", "long": "recorded"}, result.text
    assert "1 of 2 workloads are decided" in result.text
    assert result.results["session"] == lost.results["session"]
    assert result.workload("short")["measured"] == measured
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


def test_a_connection_that_is_silent_for_a_while_goes_on(project, ssh, tmp, target):
    project.suite(LONG.replace("runtime: 50", "runtime: 1"))
    run = project.start("suites", f"--io-host={ssh.spec(tmp)}", f"--io-target={target}")
    eventually(lambda: far_job(target))
    client = ssh_client(ssh)
    os.kill(client, signal.SIGSTOP)
    time.sleep(2.5)
    os.kill(client, signal.SIGCONT)
    result = project.finish(run)
    assert result.verdicts == {"short": "recorded", "long": "recorded"}, result.text
    nothing_left(project, target, tmp)


def test_what_a_reboot_leaves_the_next_run_removes(project, tmp, target):
    """All processes there are gone at once, the guard too: they are those of a process namespace."""
    need("unshare")
    inside = "unshare --pid --fork --kill-child --mount-proc"
    host = f"popen//python={inside} env TMPDIR={tmp} {sys.executable}"
    run = start_long(project, host, target)
    os.kill(far_python(tmp), signal.SIGKILL)
    result = project.finish(run)
    assert result.verdicts == {"short": "recorded", "long": "invalid"}, result.text
    assert "broke" in result.text
    plain(result.text)
    assert result.seconds < 40
    assert not far_processes(tmp)
    assert list(target.glob(SCRATCH)) and list(tmp.iterdir())
    project.suite(LONG.replace("runtime: 50", "runtime: 0.1"))
    again = project.run("suites", f"--io-host={host}", f"--io-target={target}")
    assert not {"invalid"} & set(again.verdicts.values()), again.text
    nothing_left(project, target, tmp)


@pytest.mark.parametrize("more", [-(2**20), 8192], ids=["at once", "in the middle"])
def test_the_disk_for_temporary_files_is_full_there(project, tmp, target, more):
    need()
    with zipfile.ZipFile(io.BytesIO(parcel())) as sent:
        unpacked = sum(-(-each.file_size // 4096) * 4096 for each in sent.infolist())
    call("mount", "-t", "tmpfs", "-o", f"size={unpacked + more}", "tmpfs", tmp)
    try:
        project.suite(LONG.replace("runtime: 50", "runtime: 0.1"))
        result = project.run("suites", f"--io-host={popen(tmp)}", f"--io-target={target}")
        if more < 0:
            refused(result, "cannot begin there: ", "No space left on device", status=4)
        else:
            refused(result, status=STATUSES["invalid"])
            assert set(result.verdicts.values()) == {"invalid"}, result.text
            assert "//env:TMPDIR=DIR" in result.text or "did not finish it" in result.text, result.text
        nothing_left(project, target, tmp)
    finally:
        unmount(tmp)


# ------------------------------------------------------------ the machine there


def test_a_user_without_root_measures_there(project):
    """Where it may, and nowhere else. The folder is one that every user reaches, unlike pytest's own."""
    need("unshare", "setpriv")
    with tempfile.TemporaryDirectory(prefix="far-") as folder:
        os.chmod(folder, 0o755)
        with sshd(Path(folder) / "ssh", plain=True) as server:
            tmp, target = (Path(folder) / name for name in ("tmp", "drive"))
            for own in (tmp, target):
                own.mkdir()
                os.chown(own, PLAIN, PLAIN)
            python = ["setpriv", f"--reuid={PLAIN}", "--clear-groups", "python3", "-c", "zip(strict=True)"]
            if subprocess.run(python, env={"PATH": "/usr/bin:/bin"}, check=False).returncode:
                pytest.skip("needs a python3 of 3.10 that every user can run")
            project.suite(SUITE)
            host = f"--io-host={server.spec(tmp, 'plain')}"
            result = project.run("suites", host, f"--io-target={target}")
            assert set(result.verdicts.values()) == {"recorded"}, result.text
            nothing_left(project, target, tmp)
            (Path(folder) / "root").mkdir()
            foreign = project.run("suites", host, f"--io-target={folder}/root")
            refused(foreign, "plain: ", "this user may not write to it", status=STATUSES["invalid"])


def test_mounts_clock_identity_and_wear_are_those_of_the_machine_there(project, tmp, target):
    """A mount namespace, in which a file system is where nothing is here, and another processor is told; its
    clock is set 20 years ahead while an engine works.
    """
    need("unshare")
    told, variables = tmp / "cpuinfo", {**clock_of(tmp), "XDG_STATE_HOME": tmp}
    told.write_text("processor\t: 0\nmodel name\t: Far 9000\n")
    host = script(
        tmp / "python",
        f"mount -t tmpfs tmpfs {target} && mount --bind {told} /proc/cpuinfo && cd {tmp} && "
        f"exec env TMPDIR={tmp} {' '.join(f'{key}={text}' for key, text in variables.items())} "
        f'{sys.executable} "$@"',
        before="unshare --mount sh -c",
    )
    suite = LONG.replace("randread", "randwrite").replace(RATE_LIMITED, "")
    suite = suite.replace("time_based: true, ", "")  # as nobody counts on tmpfs
    suite = suite.replace("runtime: 0.1", "runtime: 9, fio: {rate: 8m}")
    project.suite(suite.replace("runtime: 50", "runtime: 9, fio: {rate: 700k}"))
    project.device("orin", f"target: {target}\nhost: popen//python={host}\nwear: 100G/day\nmissing: record\n")
    run = project.start("suites", "--device=orin")
    eventually(lambda: far_job(target))
    Path(variables["CLOCK_FILE"]).write_text(str(20 * 365 * 86400))
    result = project.finish(run)
    assert result.verdicts == {"short": "recorded", "long": "recorded"}, result.text
    assert result.results["environment"]["identity"]["cpu"] == "Far 9000"
    assert result.results["environment"]["subject"]["file_system"] == "tmpfs"
    assert 1 < result.workload("long")["device_seconds"] < 30
    this_year = time.gmtime().tm_year
    assert result.results["session"].startswith(str(this_year))
    [file] = tmp.glob("iogate/wear-*.json")
    days = json.loads(file.read_text())
    later = int(max(days)[:4])
    assert later >= this_year + 19
    assert {int(day[:4]) for day in days} == {this_year, later}
    assert not list(project.path.rglob("wear-*"))
    assert not list(target.iterdir())


def test_progress_is_as_live_as_at_home(tmp_path, tmp, target):
    options = {"rw": "randread", "size": "1M", "runtime": 1, "time_based": True, "direct": False}
    workload = replace(reads("live"), options=engines.load("fio").options(options))
    seen = []
    for kind, host in ((LocalBench, None), (RemoteBench, popen(tmp))):
        watcher = Seen()
        settings = Settings(tmp_path, target=str(target), host=host, wait=60.0)  # others use the disk
        bench = kind(settings, Device("any", "."), tmp_path / "results", watcher)
        bench.open()
        bench.repeat("suite::live", workload, 1, ())
        bench.close()
        seen.append(watcher)
    here, there = (len(watcher.ticks) for watcher in seen)
    assert there > here / 2 > 1
    assert all(later > 0 for _, later in seen[1].ticks[1:])
    assert seen[0].laid_out[-1] == seen[1].laid_out[-1] == (2**20, 2**20)


class Seen(FakeWatcher):
    """Remembers what it is told of progress."""

    def __init__(self):
        super().__init__()
        self.ticks, self.laid_out = [], []

    def tick(self, elapsed, bandwidth):
        self.ticks.append((bandwidth, elapsed))

    def laying_out(self, done, total):
        self.laid_out.append((done, total))


def test_a_target_that_another_has_there_is_waited_for(project, tmp, target):
    held = os.open(target, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        project.suite(LONG.replace("runtime: 50", "runtime: 0.1"))
        run = project.start("suites", f"--io-host={popen(tmp)}", f"--io-target={target}", "--io-wait=60s")
        said = []
        eventually(lambda: said.append(run.stdout.readline()) or "waiting for at most" in said[-1])
        assert "in use by another run" in said[-1]
    finally:
        os.close(held)
    result = project.finish(run)
    assert set(result.verdicts.values()) == {"recorded"}, result.text
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


def test_an_empty_environment_there_is_enough(project, tmp, target):
    if not shutil.which("python3", path=os.defpath):
        pytest.skip("needs a python3 that is found without PATH")
    project.suite(SUITE.partition("  reader:")[0])
    host = f"popen//python=env -i TMPDIR={tmp} python3"
    result = project.run("suites", f"--io-host={host}", f"--io-target={target}")
    assert set(result.verdicts.values()) == {"recorded"}, result.text
    nothing_left(project, target, tmp)
