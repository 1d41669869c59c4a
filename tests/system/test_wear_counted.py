"""What a run writes is counted as wear: all that the device was given, however the run ends."""

# ruff: noqa: F811 (fixtures are imported, and named by parameters)
import json
import os
import signal
from pathlib import Path

import pytest

from iogate.host.mounts import block_number
from iogate.units import format_quantity
from loops import MIB, made, need, own_locks, run  # noqa: F401 (fixtures)
from projects import Project, need_fio, plain
from waiting import eventually

pytestmark = pytest.mark.system
WRITING = """\
workloads:
  writing: {rw: randwrite, bs: 64k, size: 8M, time_based: true,
            ramp_time: RAMP, runtime: SECONDS, repetitions: 2}
"""


@pytest.fixture
def limited(made, tmp_path, monkeypatch):
    """A project whose device may be written so much a day, and the bytes that the device was given so far."""
    need("mkfs.ext4")
    need_fio()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made.into_memory()
    device, point = made.formatted("ext4", 64 * MIB)
    project = Project(tmp_path / "project")
    project.device("lab", f"target: {point}\nwear: 900G/day\nmissing: record\n")
    stat = f"/sys/dev/block/{block_number(device)}/stat"

    def written():
        with open(stat) as stream:
            return int(stream.read().split()[6]) * 512

    return project, written


def counted(project):
    [file] = project.path.parent.rglob("wear-lab.json")
    return sum(json.loads(file.read_text()).values())


def test_what_is_written_in_a_ramp_is_counted(limited):
    project, written = limited
    project.suite(WRITING.replace("RAMP", "0.4").replace("SECONDS", "0.2"))
    before = written()
    result = project.run("suites", "--device=lab")
    assert result.verdicts == {"writing": "recorded"}, result.text
    assert counted(project) > 0.9 * (written() - before) > 16 * MIB
    plan = project.run("suites", "--device=lab", "--io-plan")
    assert f"\nwritten before: {format_quantity(counted(project), 'B')} of 900.0 GiB a day\n" in plan.text


def test_what_is_written_until_ctrl_c_is_counted(limited):
    project, written = limited
    project.suite(WRITING.replace("RAMP", "0").replace("SECONDS", "50"))
    before = written()
    run = project.start("suites", "--device=lab")
    eventually(lambda: written() - before > 64 * MIB)
    run.send_signal(signal.SIGINT)
    plain(project.finish(run).text)
    assert counted(project) > 0.9 * (written() - before)


@pytest.mark.parametrize("host", ["", "popen"], ids=["here", "there"])
def test_a_session_that_is_gone_on_with_has_its_limit_once(limited, host):
    """Whole, it writes 24M and 312M; what was written of it leaves too little to begin `second` anew."""
    project, _ = limited
    project.host = host
    profile = project.path / "baselines/lab/device.yaml"
    profile.write_text(profile.read_text().replace("900G/day", "350M/session"))
    project.suite("""\
defaults: {rw: write, bs: 64k}
workloads:
  first: {size: 8M, repetitions: 2}
  second: {size: 24M, repetitions: 12}
""")
    run = project.start("suites", "--device=lab")
    eventually(lambda: list(project.path.rglob("results.json")))
    run.kill()
    project.finish(run)
    result = project.run("suites", "--device=lab", "--io-resume")
    assert "1 of 2 workloads are decided" in result.text
    assert result.verdicts == {"first": "recorded", "second": "invalid"}, result.text
    assert "the device lab may be written 350.0 MiB a session" in result.text


@pytest.mark.parametrize("workload", ["writes by time", "is preconditioned"])
def test_what_writes_by_time_is_ended_at_the_limit(limited, workload):
    """Preconditioning wrote five times what a profile allowed, and a random writer thirty times."""
    project, written = limited
    limit = 512 * MIB
    profile = project.path / "baselines/lab/device.yaml"
    profile.write_text(profile.read_text().replace("900G/day", f"{{session: {limit}}}"))
    suite = WRITING.replace("RAMP", "0").replace("SECONDS", "50")
    if workload == "is preconditioned":
        suite = "workloads: {reading: {rw: randread, size: 16M, runtime: 60, precondition: true}}\n"
    project.suite(suite)
    before = written()
    result = project.run("suites", "--device=lab")
    assert set(result.verdicts.values()) == {"invalid"}, result.text
    assert "may be written 512.0 MiB a session: that is reached, and what writes by time" in result.text
    assert 0.9 * limit < written() - before < 4 * limit


def test_what_writes_by_time_is_refused_on_a_btrfs_of_several_devices(made, tmp_path, monkeypatch):
    """Its mount names one of them, and the other was written five times as much as a profile allows."""
    need("mkfs.btrfs")
    need_fio()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made.into_memory()
    devices = [made.device(256 * MIB) for _ in range(2)]
    run("mkfs.btrfs", "-q", "-f", "-d", "single", *devices)
    point = made.mount(devices[0])
    project = Project(tmp_path / "project")
    project.device("lab", f"target: {point}\nwear: 900G/day\nmissing: record\n")
    project.suite(WRITING.replace("RAMP", "0").replace("SECONDS", "5"))
    result = project.run("suites", "--device=lab")
    assert set(result.verdicts.values()) == {"invalid"}, result.text
    assert "nobody counts what is written to" in result.text


def test_what_is_laid_out_counts_as_often_as_the_device_was_given_it(made, tmp_path, monkeypatch):
    """Of 120 MiB on a btrfs that keeps two copies, 240 were written, and 120 counted."""
    need("mkfs.btrfs")
    need_fio()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made.into_memory()
    device = made.device(512 * MIB)
    run("mkfs.btrfs", "-q", "-f", "-d", "dup", "-m", "dup", device)
    project = Project(tmp_path / "project")
    project.device("lab", f"target: {made.mount(device)}\nwear: 900G/day\nmissing: record\n")
    project.suite("workloads: {reading: {rw: randread, size: 32M, runtime: 0.2, time_based: true}}\n")
    result = project.run("suites", "--device=lab")
    assert result.verdicts == {"reading": "recorded"}, result.text
    assert 62 * MIB < counted(project) < 120 * MIB


@pytest.fixture
def uncounted(limited):
    """The project with a device whose counters are off; a loop device keeps that for whoever has it next."""
    project, _ = limited
    profile = project.path / "baselines/lab/device.yaml"
    number = os.stat(profile.read_text().split()[1]).st_dev
    switch = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/queue/iostats")
    switch.write_text("0")
    yield project
    switch.write_text("1")


def test_what_writes_by_time_is_refused_where_the_kernel_does_not_count(uncounted):
    uncounted.suite(WRITING.replace("RAMP", "0").replace("SECONDS", "5"))
    result = uncounted.run("suites", "--device=lab")
    assert set(result.verdicts.values()) == {"invalid"}, result.text
    assert "nobody counts what is written to" in result.text
    assert counted(uncounted) <= 8 * MIB  # the data that are laid out first
