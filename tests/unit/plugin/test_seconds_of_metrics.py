"""What pytest-benchmark is told of a workload: seconds, and nothing that is no figure."""

import math

import pytest

from iogate.errors import Position
from iogate.model import MetricVerdict, Output, Repetition, Verdict, Workload, WorkloadResult, metric
from iogate.plugin.benchmark import benchmarks


def result(**metrics):
    """A workload whose gating metrics have these values in its repetitions."""
    judged = tuple(
        MetricVerdict(metric(name), "pass", values[0], tuple(values), gating=True)
        for name, values in metrics.items()
    )
    count = max((len(values) for values in metrics.values()), default=0)
    taken = tuple(
        Repetition(Output({name: values[index] for name, values in metrics.items()}, {}), 1.0, "folder")
        for index in range(count)
    )
    workload = Workload("reads", "demo", "fake", {}, Position("demo.yaml"))
    return WorkloadResult("id", workload, Verdict("pass", "", judged, repetitions=count), taken)


def seconds(**metrics):
    """The benchmarks of such a workload: seconds by part."""
    return {item.part: list(item.seconds) for item in benchmarks(result(**metrics))}


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("read.iops", 500.0, 0.002),
        ("read.bandwidth", 2.0**21, 0.5),
        ("read.clat.p99", 2e6, 0.002),
    ],
)
def test_each_unit_has_its_seconds(name, value, expected):
    assert seconds(**{name: [value, value]}) == {"": [expected, expected]}


def test_several_metrics_are_told_apart_by_their_names():
    assert set(seconds(**{"read.iops": [1.0], "write.iops": [2.0]})) == {"read.iops", "write.iops"}


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_what_is_no_figure_is_no_benchmark(value):
    assert seconds(**{"read.iops": [1.0, value]}) == {}


def test_a_ratio_is_no_time():
    assert seconds(**{"write.completed": [0.5]}) == {}


def test_without_a_measurement_there_is_none():
    assert seconds() == {}
