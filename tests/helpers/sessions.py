"""Results documents for tests of what reads them."""

from __future__ import annotations

from typing import Any

from iogate.model import Environment, Finding
from iogate.report.results import MetricRecord, Results, WorkloadRecord

SESSION = "2026-11-21T02:11:47Z-b132"


def metric(*values: float, unit: str = "IOPS", **known: Any) -> MetricRecord:
    """A gating metric; its value is the middle of these."""
    known = {"direction": "higher", "gating": True, "verdict": "pass", **known}
    return MetricRecord(unit=unit, values=values, value=sorted(values)[len(values) // 2], **known)


REGRESSED = metric(
    900.0,
    910.0,
    905.0,
    baseline=1000.0,
    change=-0.095,
    interval=(-0.1, -0.09),
    tolerance=0.05,
    bound=950.0,
    verdict="regressed",
)
LATENCY = metric(2e6, 3e6, 4e6, unit="ns", direction="lower", gating=False)


def workload(name: str = "reads", suite: str = "demo", **known: Any) -> WorkloadRecord:
    """A workload that regressed, unless more is said."""
    metrics = known.pop("metrics", {"read.iops": REGRESSED, "read.clat.p99": LATENCY})
    known = {
        "verdict": "regressed",
        "reason": "read.iops is slower",
        "findings": (Finding("cached", "note", "buffered I/O"),),
        "device_seconds": 3.5,
        **known,
    }
    return WorkloadRecord(
        id=f"suites/{suite}.yaml::{name}",
        suite=suite,
        workload=name,
        engine="fio",
        definition={},
        repetitions=max((len(item.values) for item in metrics.values()), default=0),
        metrics=metrics,
        **known,
    )


def session(*workloads: WorkloadRecord, device: str = "lab", name: str = SESSION, **known: Any) -> Results:
    """A session of one workload that regressed, unless others are given."""
    known = {"environment": Environment({"machine": "x86_64"}, {"kernel": "6.1"}, {"load": "0.1"}), **known}
    return Results(1, device, name, workloads or (workload(),), **known)
