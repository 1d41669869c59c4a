"""Sessions as rows: one for each metric of each workload, and one without a metric for a workload that has
none, so that no verdict is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from iogate.report.junit import findings
from iogate.report.results import MetricRecord, Results, WorkloadRecord
from iogate.units import printable


@dataclass(frozen=True)
class FlatRow:
    """A metric of a workload in a session: units as in the results document (bytes/s, IOPS, ns, s), changes
    and tolerances as fractions. `verdict` and `reason` are the workload's, `metric_verdict` is the metric's.
    """

    device: str
    session: str
    suite: str
    workload: str
    engine: str
    verdict: str
    reason: str
    repetitions: int
    device_seconds: float
    findings: str
    metric: str | None = None
    unit: str | None = None
    direction: str | None = None
    gating: bool | None = None
    value: float | None = None
    baseline: float | None = None
    change: float | None = None
    interval_low: float | None = None
    interval_high: float | None = None
    tolerance: float | None = None
    bound: float | None = None
    metric_verdict: str | None = None
    values: tuple[float | None, ...] = ()


def rows(sessions: Sequence[Results]) -> Iterator[FlatRow]:
    """Yield the rows of sessions, in their order."""
    for session in sessions:
        for workload in session.workloads:
            if not workload.metrics:
                yield _row(session, workload)
            for name, item in workload.metrics.items():
                yield _row(session, workload, name, item)


def _row(
    session: Results, workload: WorkloadRecord, name: str = "", item: MetricRecord | None = None
) -> FlatRow:
    known = (
        printable(session.device),
        printable(session.session),
        printable(workload.suite),
        printable(workload.workload),
        printable(workload.engine),
        workload.verdict,
        printable(workload.reason),
        workload.repetitions,
        workload.device_seconds,
        "; ".join(findings(workload)),
    )
    if item is None:
        return FlatRow(*known)
    low, high = item.interval or (None, None)
    return FlatRow(
        *known,
        metric=printable(name),
        unit=printable(item.unit),
        direction=item.direction,
        gating=item.gating,
        value=item.value,
        baseline=item.baseline,
        change=item.change,
        interval_low=low,
        interval_high=high,
        tolerance=item.tolerance,
        bound=item.bound,
        metric_verdict=item.verdict,
        values=item.values,
    )
