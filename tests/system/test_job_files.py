"""Job files as people write them, run by real fio on a directory."""

import json

import pytest

from iogate.model import Device
from iogate.target import resolve
from loops import MIB, Loops, need
from projects import everywhere, need_fio, refused

pytestmark = pytest.mark.system

IN_TURN = """\
[global]
ioengine=libaio
iodepth=4
size=100%
direct=0
directory=/mount-point-of-ssd
filename=ssd.test.file

[seq-read]
rw=read
bs=${BLOCK}
stonewall

[rand-write]
rw=randwrite
stonewall
"""
SEVERAL = "[job]\nfilename=/mnt/a:/mnt/b:/mnt/c\nsize=6m\nbs=64k\nrw=read\nwrite_bw_log=out\n"
SUITE = """\
variables: {BLOCK: 64k}
defaults: {repetitions: 1, size: 8M}
workloads:
  ssd: {jobfile: ssd.fio}
  files: {jobfile: several.fio, size: 6M}
"""


@pytest.fixture
def files(project):
    """A project with job files in its suites' folder."""
    need_fio()
    (project.path / "suites" / "ssd.fio").write_text(IN_TURN)
    (project.path / "suites" / "several.fio").write_text(SEVERAL)
    project.suite(SUITE)
    project.record_at_once()
    return project


def test_many_files_are_all_read_and_a_name_like_global_is_a_job(project):
    need_fio()
    project.record_at_once()
    project.suite("workloads:\n  global_read: {rw: read, bs: 4k, size: 600k, nrfiles: 150, repetitions: 1}\n")
    result = project.run("suites")
    assert result.status == 0, result.text
    (path,) = project.path.glob(".iogate/results/*/global_read-*/1/output.json")
    (job,) = json.loads(path.read_text())["jobs"]
    assert job["read"]["io_bytes"] == 150 * 4096


@everywhere
def test_job_files_of_others_run_as_they_are(files):
    result = files.run("suites", "-v")
    assert result.status == 0, result.text
    assert set(result.verdicts) == {"ssd[seq-read]", "ssd[rand-write]", "files"}
    assert "write.iops" not in result.workload("ssd[seq-read]")["metrics"]
    said = " ".join(result.text.split())
    assert "(ssd[seq-read], ssd[rand-write]): ssd.fio:6: directory=/mount-point-of-ssd has no effect" in said
    left_out = [item for item in result.workload("files")["findings"] if item["check"] == "left_out"]
    assert "several.fio:2: filename=/mnt/a:/mnt/b:/mnt/c has no effect" in left_out[0]["message"]
    (job,) = files.path.glob(".iogate/results/*/files-*/1/job.fio")
    (names,) = (line for line in job.read_text().splitlines() if line.startswith("filename="))
    assert [name.rpartition("/")[2] for name in names.split(":")] == [
        f"data-{2 * MIB}", f"data-{2 * MIB}-1", f"data-{2 * MIB}-2",
    ]  # fmt: skip
    assert not files.leftovers and not list(files.path.rglob("*_bw*.log"))


DATABASE = """\
[global]
direct=1
runtime=0.3
time_based
rw=randwrite
[data]
ioengine=libaio
bs=8k
iodepth=16
[log]
numjobs=2
rw=write
bs=4k
fdatasync=1
[reports]
rw=read
bs=256k
rate=4m
"""


def test_unlike_sections_side_by_side_are_judged_each_by_itself(project):
    need_fio()
    project.record_at_once()
    (project.path / "suites" / "database.fio").write_text(DATABASE)
    project.suite("workloads:\n  db: {jobfile: database.fio, size: 4M, repetitions: 1}\n")
    result = project.run("suites", "--update-baselines")
    assert result.status == 0, result.text
    workload = result.workload("db")
    gating = {name for name, metric in workload["metrics"].items() if metric["gating"]}
    assert gating == {"write.iops", "data.write.iops", "log.write.iops", "read.lat.mean"}
    (path,) = project.path.glob(".iogate/results/*/db-*/1/output.json")
    jobs, metrics = json.loads(path.read_text())["jobs"], workload["measured"][0]["metrics"]
    parts = {"": ("data", "log"), "data.": ("data",), "log.": ("log",)}
    for part, names in parts.items():
        sides = [job["write"] for job in jobs if job["jobname"] in names]
        rate = sum(side["total_ios"] for side in sides) / max(side["runtime"] for side in sides) * 1000
        assert metrics[f"{part}write.iops"] == pytest.approx(rate, rel=0.01)
    assert not any(name.startswith("reports.") for name in metrics)  # the only one that reads


def test_sections_side_by_side_that_begin_a_new_group_are_measured_together(project):
    need_fio()
    project.record_at_once()
    content = (
        "[global]\nioengine=libaio\ndirect=1\nsize=1m\ngroup_reporting\n[r]\nrw=read\nnumjobs=2\nnew_group\n"
    )
    (project.path / "suites" / "groups.fio").write_text(content + "[w]\nrw=write\nnew_group\n")
    project.suite("workloads:\n  groups: {jobfile: groups.fio, repetitions: 1}\n")
    result = project.run("suites")
    assert result.status == 0, result.text
    assert {"read.iops", "write.iops"} <= set(result.workload("groups")["metrics"])


def test_offsets_in_per_cent_are_of_data_that_hold_what_is_behind_them(project):
    """fio would lengthen data that are too short, which it may not."""
    need_fio()
    project.record_at_once()
    options = "rw: read, bs: 64k, size: 1M, numjobs: 4, group_reporting: false, repetitions: 1"
    project.suite(f"workloads:\n  quarters: {{{options}, fio: {{offset_increment: 25%}}}}\n")
    result = project.run("suites")
    assert result.status == 0, result.text
    (path,) = project.path.glob(".iogate/results/*/quarters-*/1/output.json")
    assert [job["read"]["io_bytes"] for job in json.loads(path.read_text())["jobs"]] == 4 * [MIB]


def test_the_plan_says_what_has_no_effect(files):
    result = files.run("suites", "--io-plan")
    assert "note: ssd.fio:7: filename=ssd.test.file has no effect here" in result.text
    shared = resolve(Device("local", str(files.path)), files.path).in_place  # else writes have their own
    assert f"space: {'14.00 MiB in 4' if shared else '22.00 MiB in 5'} data files" in result.text


def test_several_files_are_not_on_a_block_device(files, tmp_path):
    need()
    with Loops(tmp_path) as loops:
        target = f"--io-target={loops.device(16 * MIB)}"
        refused(files.run("suites", target, "-k", "files"), "is a block device, and the workload has several")
