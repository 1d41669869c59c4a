"""All workloads moved together: the machine, not the workload."""

from dataclasses import replace

import pytest

from iogate.model import PairFacts
from iogate.report.results import MetricRecord, Results, WorkloadRecord
from iogate.report.together import moved_together


def record(index, change, half, direction):
    interval = (change - half, change + half)
    item = MetricRecord("IOPS", direction, True, (1.0,), change=change, interval=interval)
    return WorkloadRecord(str(index), "s", str(index), "fio", {}, "pass", "", 2, {"read.iops": item})


def results(*changes, direction="higher"):
    return Results(1, "lab", "s", tuple(record(i, *change, direction) for i, change in enumerate(changes)))


def test_all_faster():
    said = moved_together(results((0.11, 0.02), (0.23, 0.05), (0.15, 0.1)))
    assert said == "all 3 are 11 to 23% faster than the baseline: the machine, not the workload"


def test_a_higher_latency_is_slower():
    assert "slower" in moved_together(results((0.11, 0.02), (0.23, 0.05), (0.15, 0.1), direction="lower"))


@pytest.mark.parametrize(
    "changes",
    [
        [(0.11, 0.02), (0.23, 0.05), (-0.15, 0.1)],
        [(0.11, 0.02), (0.23, 0.05), (0.15, 0.2)],
        [(0.11, 0.02), (0.23, 0.05)],
        [],
    ],
)
def test_nothing_is_said_of_few_or_of_what_is_in_doubt(changes):
    assert moved_together(results(*changes)) == ""


def test_pairs_do_not_count():
    """What the machine does befalls both arms."""
    found = results((0.11, 0.02), (0.23, 0.05), (0.15, 0.1))
    facts = PairFacts("a second copy of the same data", "copies", "")
    pairs = replace(found, workloads=tuple(replace(item, pair=facts) for item in found.workloads))
    assert moved_together(found) and moved_together(pairs) == ""
