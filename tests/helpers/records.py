"""Results documents made by hand."""

from __future__ import annotations

from typing import Any

from iogate.model import VerdictName
from iogate.report.results import SCHEMA, MetricRecord, Results, WorkloadRecord


def workload(
    name: str = "a", verdict: VerdictName = "pass", change: float = -0.1, **more: Any
) -> WorkloadRecord:
    """A workload with a metric that decides, and one that does not."""
    deciding = MetricRecord(
        *("IOPS", "higher", True, (1803.0, 1804.0), 1803.0, 2004.0, change, (change - 0.01, change + 0.01)),
        tolerance=0.05,
        verdict=verdict,
    )
    other = MetricRecord("ns", "lower", False, (10.0, 11.0), 10.0, 9.0, 0.1)
    said = {"metrics": {"read.clat.mean": other, "read.iops": deciding}, "reason": "", **more}
    return WorkloadRecord(
        id=f"{name}.yaml",
        suite="demo",
        workload=name,
        engine="fio",
        definition={},
        verdict=verdict,
        repetitions=2,
        **said,
    )


def results(*workloads: WorkloadRecord, **more: Any) -> Results:
    """A session on the device `lab`."""
    return Results(**{"schema": SCHEMA, "device": "lab", "session": "today", "workloads": workloads, **more})
