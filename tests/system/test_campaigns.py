"""The shipped campaigns run with their real engines, scaled down to a small machine: a few points of each."""

import shutil

import pytest

from iogate.declare.suite import load_suite
from iogate.judge.baseline import load_baselines, update
from iogate.model import Environment
from places import ROOT
from projects import Project, everywhere

pytestmark = pytest.mark.system

SUITES = ROOT / "suites"
SCALED = ("--io-size=16M", "--io-runtime=0.2")


DEVICE = """\
target: "."
overrides:
  shared_storage: {ramp_time: 0}
  memory: {buffer_size: 32M, cached: true, delays: [0, 500, 20000], runtime: 0.02}
"""
"""What the command line cannot scale down: seconds, gigabytes and curves of 19 points."""


@pytest.fixture
def campaign(project):
    """Runs workloads of a shipped suite, scaled; `changes` are of its text."""

    def run(name, *workloads, more=("--update-baselines",), changes=()):
        text = (SUITES / f"{name}.yaml").read_text()
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        project.suite(text, name)
        project.device("local", DEVICE)
        project.record_at_once()
        result = project.run(*(f"suites/{name}.yaml::{item}" for item in workloads), *SCALED, *more)
        if "had their processors for themselves in only" in result.text or "not idle" in result.text:
            pytest.skip("the machine is too busy to tell what its memory does")
        assert result.status == 0, result.text
        assert not project.leftovers and not project.processes()
        return result

    return run


def need(program):
    if not shutil.which(program):
        pytest.skip(f"needs {program}")


def test_the_nvme_sweep_measures_every_ratio(campaign, project):
    need("fio")
    ratios = ("100_0", "75_25", "50_50", "0_100")
    result = campaign("nvme_sweep", *(f"ratio_{ratio}[bs=16k,iodepth=32]" for ratio in ratios))
    directions = {
        name: {figure.partition(".")[0] for figure in result.workload(name)["metrics"]}
        for name in result.verdicts
    }
    assert directions == {
        "ratio_100_0[bs=16k,iodepth=32]": {"read"},
        "ratio_75_25[bs=16k,iodepth=32]": {"read", "write"},
        "ratio_50_50[bs=16k,iodepth=32]": {"read", "write"},
        "ratio_0_100[bs=16k,iodepth=32]": {"write"},
    }
    assert set(result.verdicts.values()) == {"recorded"}
    known = load_baselines(project.path / "baselines/local/nvme_sweep.yaml")
    assert known["ratio_75_25[bs=16k,iodepth=32]"].definition["mix"] == {"readers": 3, "writers": 1}


def test_shared_storage_reads_with_eight_jobs(campaign):
    need("fio")
    result = campaign("shared_storage", "read_throughput", "write_iops")
    assert set(result.verdicts.values()) == {"recorded"}
    throughput = result.workload("read_throughput")["metrics"]
    assert throughput["read.bandwidth"]["value"] == pytest.approx(
        throughput["read.iops"]["value"] * 2**20, rel=0.05
    )


def test_mixed_70_30_reads_seven_of_ten(campaign):
    need("fio")
    result = campaign("mixed_70_30", "mixed_70_30[iodepth=128,bs=4k]", "random_write[iodepth=256,bs=128k]")
    assert set(result.verdicts.values()) == {"recorded"}
    mixed = result.workload("mixed_70_30[iodepth=128,bs=4k]")["metrics"]
    share = mixed["read.iops"]["value"] / (mixed["read.iops"]["value"] + mixed["write.iops"]["value"])
    assert 0.65 < share < 0.75


def test_acceptance_runs_by_its_protocol_scaled_down(campaign):
    need("fio")
    result = campaign("acceptance", "random_read_8k")
    metrics = result.workload("random_read_8k")["metrics"]
    assert {"read.bandwidth", "read.slat.mean", "read.clat.p99.99", "read.lat.max"} <= set(metrics)


@everywhere
def test_strong_scaling_gives_the_curve_of_one_to_eight_threads(campaign):
    need("cc")
    smaller = [("min_size: 640M", "min_size: 64M"), ("bs: [8k, 8M, 80M]", "bs: [8k, 8M]")]
    result = campaign("strong_scaling", "throughput[bs=8M,rw=read]", changes=smaller)
    metrics = result.workload("throughput[bs=8M,rw=read]")["metrics"]
    assert {f"threads_{count}.wall_time" for count in (1, 2, 4, 8)} <= set(metrics)
    assert {"threads_8.speedup", "threads_8.efficiency", "serial_fraction"} <= set(metrics)


def test_iozone_and_the_reader_do_the_same_work_in_the_same_unit(campaign, project):
    """iozone sleeps for seconds between its tests: it runs once."""
    need("iozone")
    need("cc")
    suite = load_suite(SUITES / "iozone.yaml", cli_overrides={"size": "16M", "runtime": 0.2}).workloads
    (direct,) = (item for item in suite if item.name == "direct")
    figures = tuple(direct.gate)
    update(
        project.path / "baselines/local/iozone.yaml",
        *("local", "iozone", "published", Environment(), ""),
        {"direct": (direct.definition, {figure: [20e9] for figure in figures})},
        "replace",
        source="a device that is faster than this one",
    )
    judged = ("--io-missing=record", "--io-tolerance=99.999%")
    once = [
        ("    direct: true\n    retest: false\n", "    direct: true\n    retest: false\n    repetitions: 1\n")
    ]
    result = campaign("iozone", "direct", "reader[rw=read]", more=judged, changes=once)
    assert result.verdicts["direct"] in ("pass", "drift")  # slower, by less than the tolerance
    assert result.verdicts["reader[rw=read]"] == "recorded"
    one = result.workload("direct")["metrics"]["read.bandwidth.parent"]
    other = result.workload("reader[rw=read]")["metrics"]["read.bandwidth"]
    assert one["unit"] == other["unit"] == "B/s"
    assert 1 / 30 < one["value"] / other["value"] < 30  # a unit taken for another makes a factor of 1000


@everywhere
def test_memory_gives_the_curve_of_latency_over_bandwidth(campaign, project):
    need("cc")
    names = ("reads_1_writes_1[stride=256]",) if project.host else ("reads[stride=64]",)
    result = campaign("memory", *names, more=("--io-missing=record", "--io-runtime=0.02"))
    assert result.verdicts == dict.fromkeys(names, "recorded")
    for name in names:
        metrics = result.workload(name)["metrics"]
        idle, peak = metrics["latency.idle"], metrics["bandwidth.peak"]
        assert (idle["unit"], peak["unit"], peak["gating"]) == ("ns", "B/s", True)
        assert idle["value"] > 0
        loaded = metrics["bandwidth.delay_0"]["value"]
        assert peak["value"] >= loaded > 2 * metrics["bandwidth.delay_20000"]["value"]


def test_a_job_file_is_a_workload(project: Project):
    need("fio")
    (project.path / "suites" / "mine.fio").write_text(
        "[global]\nioengine=libaio\ndirect=1\nsize=4m\n[one]\nrw=randread\niodepth=4\n"
        "[two]\nrw=randwrite\noffset=4m\nbs=16k\n"
    )
    project.suite("workloads:\n  mine: {jobfile: mine.fio}\n")
    result = project.run("suites", "--update-baselines")
    assert result.status == 0, result.text
    metrics = result.workload("mine")["metrics"]
    assert metrics["read.iops"]["gating"] and metrics["write.iops"]["gating"]
    assert not project.leftovers
