"""The shipped campaigns are those of the published reports, and their baselines say what the reports say."""

import re
from typing import ClassVar

import pytest

from iogate import engines
from iogate.audit import Evidence, audit
from iogate.declare.device import load_device
from iogate.declare.suite import load_suite
from iogate.engines.fio import runs as _fio_runs
from iogate.engines.fio import text as _fio_text
from iogate.judge.baseline import find, load_baselines
from iogate.model import Needs
from iogate.offline.published import Machine, pieces
from iogate.units import parse_size
from places import ROOT

BASELINES = ROOT / "baselines"
REPORTS = ROOT / "tests/data/published"
PAIRS = {
    ("kxg60znv256g", "nvme_sweep"): 20,
    ("icp-wdc3-glusterfs", "shared_storage"): 4,
    ("strong-scaling-2017", "iozone"): 1,
}


def suite(name):
    return {workload.name: workload for workload in load_suite(ROOT / f"suites/{name}.yaml").workloads}


def baselines(device, name):
    return load_baselines(BASELINES / device / f"{name}.yaml")


def report(name):
    return (REPORTS / name).read_text()


@pytest.mark.parametrize(("device", "name"), PAIRS)
class TestEveryPublishedBaseline:
    def test_it_loads_and_is_marked_as_published(self, device, name):
        found = baselines(device, name)
        assert len(found) == PAIRS[device, name]
        assert all(one.published and one.source.startswith("published") for one in found.values())

    def test_its_definitions_are_those_of_the_suite(self, device, name):
        workloads = suite(name)
        for workload, baseline in baselines(device, name).items():
            assert find({workload: baseline}, workloads[workload]) == (baseline, "")

    def test_the_metrics_that_gate_are_there(self, device, name):
        workloads = suite(name)
        for workload, baseline in baselines(device, name).items():
            assert workloads[workload].gate, "a single number is judged by a tolerance that the suite states"
            assert workloads[workload].gate.keys() <= baseline.metrics.keys()

    def test_the_device_applies_the_suite_and_records_what_is_not_known(self, device, name):
        profile = load_device(device, BASELINES)
        assert name in profile.suites
        assert profile.missing == "record"


class TestNvmeSweep:
    ROWS = re.findall(
        r"\|\s*(\d+k) \|\s*(\d+)\s*\|=>\|\s*([\d.]+) MB/sec \|\s*([\d.]+) k \|\s*([\d.]+) ms\|",
        report("nvme_kxg60_fio_sweep.md"),
    )
    FOUND = baselines("kxg60znv256g", "nvme_sweep")

    def test_the_suite_has_all_points(self):
        sizes, depths = ("4k", "16k", "32k", "128k"), (4, 8, 32, 256, 1024)
        ratios = ("100_0", "75_25", "50_50", "0_100")
        assert set(suite("nvme_sweep")) == {
            f"ratio_{ratio}[bs={bs},iodepth={depth}]" for ratio in ratios for bs in sizes for depth in depths
        }

    def test_75_to_25_is_three_readers_and_one_writer(self):
        jobs = engines.load("fio").needs(suite("nvme_sweep")["ratio_75_25[bs=4k,iodepth=4]"])
        assert (jobs.size, jobs.written) == (512 * 2**20, 128 * 2**20)

    def test_every_row_is_carried_over_in_true_units(self):
        assert len(self.ROWS) == len(self.FOUND) == 20
        for bs, depth, bandwidth, iops, latency in self.ROWS:
            assert self.FOUND[f"ratio_100_0[bs={bs},iodepth={depth}]"].metrics == pytest.approx(
                {
                    "read.bandwidth": float(bandwidth) * 1000 * 1024,
                    "read.iops": float(iops) * 1000,
                    "read.lat.mean": float(latency) * 1000,
                },
                rel=1e-5,
            )

    def test_the_units_are_right_by_littles_law_and_by_the_block_size(self):
        workloads = suite("nvme_sweep")
        for name, baseline in self.FOUND.items():
            options, metrics = workloads[name].options, baseline.metrics
            in_flight = metrics["read.iops"] * metrics["read.lat.mean"] / 1e9
            assert 0.95 * options["iodepth"] < in_flight <= options["iodepth"]
            expected = metrics["read.iops"] * parse_size(options["bs"])
            assert metrics["read.bandwidth"] == pytest.approx(expected, rel=5e-4)

    def test_nothing_is_faster_than_the_link(self):
        link = load_device("kxg60znv256g", BASELINES).link
        assert all(baseline.metrics["read.bandwidth"] < link for baseline in self.FOUND.values())


class TestSharedStorage:
    JOBS: ClassVar = {
        job.name: job.output
        for _, block in _fio_runs.blocks(report("glusterfs_fio_report.md"))
        for job in _fio_text.parse(block, name="report")
    }
    FOUND = baselines("icp-wdc3-glusterfs", "shared_storage")

    def test_all_figures_are_those_of_the_output(self):
        assert self.FOUND.keys() == self.JOBS.keys()
        for name, baseline in self.FOUND.items():
            published = {key: self.JOBS[name].metrics[key] for key in baseline.metrics}
            assert baseline.metrics == pytest.approx(published, rel=1e-5)

    def test_no_percentile_is_decided_by_fewer_than_ten_operations(self):
        for name, baseline in self.FOUND.items():
            operations = sum(traffic.operations for traffic in self.JOBS[name].traffic.values())
            for metric in baseline.metrics:
                match = re.search(r"\.p(\d+(?:\.\d+)?)$", metric)
                assert not match or operations * (1 - float(match[1]) / 100) >= 10

    def test_the_misprinted_bandwidth_is_not_carried_over(self):
        figure = self.FOUND["write_throughput"].metrics["write.bandwidth"]
        assert figure == pytest.approx(4277 * 2**20 / 60.248, rel=1e-3)
        assert figure > 1.01 * 70 * 2**20

    def test_the_suite_has_the_queue_of_the_report(self):
        for name, output in self.JOBS.items():
            options = suite("shared_storage")[name].options
            jobs = sum(options.get("mix", {"": 1}).values())
            assert jobs == output.jobs
            assert parse_size(options["size"]) == jobs * 10 * 2**30
            assert options["iodepth"] == 64 and options["runtime"] == 60


class TestIozone:
    OUTPUT = engines.load("iozone").parse(report("strong_scaling_and_iozone.md"), name="report")

    def test_the_suite_has_the_published_command(self):
        options = suite("iozone")["published"].options
        stated = {key: value for key, value in self.OUTPUT.options.items() if key in options}
        assert stated == {key: options[key] for key in stated}
        assert {"size", "record_size", "processes", "direct", "flush", "retest"} <= stated.keys()

    def test_all_figures_are_those_of_the_output(self):
        found = baselines("strong-scaling-2017", "iozone")["published"].metrics
        assert found == pytest.approx(self.OUTPUT.metrics, rel=1e-5)

    def test_they_stand_before_the_audit(self):
        run = Evidence(self.OUTPUT, self.OUTPUT.options, Needs(reads=True, writes=True), "iozone")
        assert {finding.severity for finding in audit(run)} <= {"note"}

    def test_the_reader_does_the_same_work(self):
        workloads = suite("iozone")
        direct, reader = workloads["direct"].options, workloads["reader[rw=read]"].options
        assert parse_size(reader["size"]) == direct["processes"] * parse_size(direct["size"])
        assert (reader["bs"], reader["threads"], reader["direct"]) == (
            direct["record_size"],
            direct["processes"],
            direct["direct"],
        )


class TestMixed7030:
    def test_the_suite_has_the_eighteen_jobs(self):
        jobs = {
            (item.options["rw"], item.options["iodepth"], item.options["bs"], item.options.get("rwmixread"))
            for item in suite("mixed_70_30").values()
        }
        kinds = (("randread", None), ("randwrite", None), ("randrw", 70))
        assert jobs == {
            (kind, depth, bs, share)
            for kind, share in kinds
            for depth in (128, 256)
            for bs in ("4k", "32k", "128k")
        }

    def test_no_published_figure_can_be_the_drives_so_there_is_no_baseline(self):
        link = load_device("ssdpekkf512g8l", BASELINES).link
        (table,) = pieces(report("memory_and_ssd_profiling.md"), "report", Machine(link))
        found = {item.line for item in table.findings if item.check in ("link_limit", "little_law")}
        assert table.rows == len(found) == 18
        assert baselines("ssdpekkf512g8l", "mixed_70_30") == {}
        assert load_device("ssdpekkf512g8l", BASELINES).suites == ("mixed_70_30",)


@pytest.mark.parametrize("name", ["nvme_sweep", "shared_storage", "mixed_70_30", "iozone"])
def test_every_campaign_scales_to_a_small_machine(name):
    full = load_suite(ROOT / f"suites/{name}.yaml").workloads
    scaled = load_suite(ROOT / f"suites/{name}.yaml", cli_overrides={"size": "64M", "runtime": 0.2}).workloads
    assert [item.name for item in scaled] == [item.name for item in full]
    for item in scaled:
        needs = engines.load(item.engine).needs(item)
        assert max(needs.size, needs.space) <= 4 * 64 * 2**20
        assert item.engine != "fio" or needs.seconds <= 3
