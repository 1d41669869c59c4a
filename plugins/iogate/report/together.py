"""Whether all workloads of a session moved together: then it is the machine, and not one workload."""

from __future__ import annotations

from iogate.report.results import MetricRecord, Results

_FEWEST = 3  # of fewer it may be chance


def moved_together(results: Results) -> str:
    """Return that all workloads are beyond doubt faster, or slower, than their baselines, in a sentence;
    empty if they are not. No verdict is milder for it. Pairs do not count: both arms are on this machine.
    """
    workloads = [workload for workload in results.workloads if not workload.pair]
    judged = [item for workload in workloads for item in workload.gating.values()]
    sides = {_side(item) for item in judged}
    if len(workloads) < _FEWEST or len(judged) < len(workloads) or sides not in ({1}, {-1}):
        return ""
    changes = sorted(abs(item.change or 0.0) for item in judged)
    side = "faster" if sides == {1} else "slower"
    low, high = f"{changes[0]:.0%}", f"{changes[-1]:.0%}"
    span = low if low == high else f"{low.rstrip('%')} to {high}"
    return f"all {len(judged)} are {span} {side} than the baseline: the machine, not the workload"


def _side(item: MetricRecord) -> int:
    """Return 1 for a metric that is better beyond doubt, -1 for worse, else 0."""
    if item.interval is None or item.change is None:
        return 0
    sign = 1 if item.direction == "higher" else -1
    if min(item.interval) > 0:
        return sign
    return -sign if max(item.interval) < 0 else 0
