"""The devices and baselines that iogate ships are sound, and fit the suites that it ships."""

import pytest

from iogate.declare.device import known_devices, load_device
from iogate.declare.suite import load_suite
from iogate.host.environment import identity_mismatch
from iogate.judge.baseline import find, load_baselines
from iogate.units import parse_size
from places import ROOT

BASELINES = ROOT / "baselines"
ORIN = load_baselines(BASELINES / "orin/acceptance.yaml")
ACCEPTANCE = {workload.name: workload for workload in load_suite(ROOT / "suites/acceptance.yaml").workloads}

# The report's rows as printed: min, average and max in MiB/s for bandwidth and in µs for SLAT and CLAT;
# the 95th, 99th and 99.99th percentile of CLAT; TLAT.
TABLE = """
sequential_write 948    1929.80  3740   74 192.35  49057   1327 32960.68  119571   37000 55000 112000   1610 33153.64 119786
sequential_read  3610   3683.47  3720   29 147.19   1189   8342 17219.58   33357   17957 18482  25297   9156 17367.35  33393
random_write_64k 1534   1937.32  2891    9  83.27  16785     92  4042.62   28713    4752  6063  25297    121  4126.30  28748
random_read_64k  3619   3683.59  4097    7  26.46   2016    295  2140.07    9425    2933  3687   5932    308  2166.84   9483
random_write_8k  291,4  511,5     935    5  117.1   6988      3  3786.24   24748    5866  7177  20055    141  3903.65  24805
random_read_8k   1649   1671.51  1689    3   9.75   4676    146  1185.44    9355    1647  2073   3392    171  1195.36   9366
"""  # noqa: E501 (a row of the report is a line)
PUBLISHED = {name: row for name, *row in map(str.split, TABLE.strip().splitlines())}
COLUMNS = [
    *("bandwidth.min", "bandwidth", "bandwidth.max"),
    *("slat.min", "slat.mean", "slat.max"),
    *("clat.min", "clat.mean", "clat.max", "clat.p95", "clat.p99", "clat.p99.99"),
    *("lat.min", "lat.mean", "lat.max"),
]
EVERY_WORKLOAD = pytest.mark.parametrize("name", PUBLISHED)


def values(name):
    """The figures of a workload without the direction in their names."""
    return {metric.partition(".")[2]: value for metric, value in ORIN[name].metrics.items()}


def direction(name):
    return "write" if "write" in name else "read"


def test_the_shipped_devices_load():
    devices = {name: load_device(name, BASELINES) for name in known_devices(BASELINES)}
    assert set(devices) >= {"local", "orin"}
    assert devices["orin"].suites == ("acceptance",)
    assert devices["orin"].link == 7.88e9
    assert (devices["local"].target, devices["local"].suites) == (".", ("quick",))
    assert (devices["local"].missing, devices["orin"].missing) == ("record", "skip")


def test_local_fits_any_machine_and_orin_only_its_own():
    assert load_device("local", BASELINES).identity == {}
    orin = load_device("orin", BASELINES).identity
    assert not identity_mismatch(orin, {"machine": "NVIDIA Jetson AGX Orin Developer Kit"})
    assert not identity_mismatch(orin, {"machine": "Jetson AGX Orin"})
    assert identity_mismatch(orin, {"machine": "NVIDIA Jetson Xavier NX"})
    assert identity_mismatch(orin, {})


def test_the_published_baseline_has_the_six_workloads_of_the_report():
    assert list(ORIN) == list(PUBLISHED)
    assert all(baseline.published and "published" in baseline.source for baseline in ORIN.values())


@EVERY_WORKLOAD
def test_the_suite_runs_what_was_published(name):
    baseline, reason = find(ORIN, ACCEPTANCE[name])
    assert reason == ""
    assert baseline is ORIN[name]


@EVERY_WORKLOAD
def test_the_metrics_that_gate_have_a_baseline(name):
    assert ACCEPTANCE[name].gate.keys() <= ORIN[name].metrics.keys()


@EVERY_WORKLOAD
def test_every_column_is_carried_over_in_bytes_and_nanoseconds(name):
    printed = [float(text.replace(",", ".")) for text in PUBLISHED[name]]
    units = [2**20 if "bandwidth" in column else 1000 for column in COLUMNS]
    expected = {
        f"{direction(name)}.{column}": value * unit
        for column, value, unit in zip(COLUMNS, printed, units, strict=True)
    }
    assert ORIN[name].metrics == pytest.approx(expected, rel=1e-5)


@EVERY_WORKLOAD
def test_littles_law_holds_so_the_units_are_right(name):
    """IOPS x mean latency = I/Os in flight (Little 1961): numjobs x iodepth of the protocol."""
    options = ACCEPTANCE[name].options
    iops = values(name)["bandwidth"] / parse_size(options["bs"])
    in_flight = iops * values(name)["lat.mean"] / 1e9
    assert in_flight == pytest.approx(options["numjobs"] * options["iodepth"], rel=0.01)


@EVERY_WORKLOAD
def test_latencies_add_up_and_are_in_order(name):
    figures = values(name)
    assert figures["slat.mean"] + figures["clat.mean"] == pytest.approx(figures["lat.mean"], rel=0.001)
    order = ["clat.min", "clat.p95", "clat.p99", "clat.p99.99", "clat.max", "lat.max"]
    assert [figures[each] for each in order] == sorted(figures[each] for each in order)
    for kind in ("bandwidth", "slat.mean", "clat.mean", "lat.mean"):
        root = kind.removesuffix(".mean")
        assert figures[f"{root}.min"] < figures[kind] < figures[f"{root}.max"]


@EVERY_WORKLOAD
def test_no_figure_is_faster_than_the_link(name):
    assert values(name)["bandwidth.max"] < (load_device("orin", BASELINES).link or 0)
