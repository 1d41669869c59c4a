"""The session in one sentence, and what a reader wants to see first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from iogate.model import VerdictName
from iogate.report.results import MetricRecord, Results, WorkloadRecord
from iogate.units import format_change, format_duration, plural, printable

WORST_FIRST: tuple[VerdictName, ...] = (
    *("regressed", "invalid", "inconclusive", "no_baseline"),
    *("drift", "improved", "recorded", "pass"),
)
"""The verdicts in the order in which people want to hear of them."""

QUIET: frozenset[str] = frozenset({"pass", "recorded", "improved"})
"""The verdicts of which nothing needs to be done about."""


def worst_first(workloads: Iterable[WorkloadRecord]) -> list[WorkloadRecord]:
    """Return workloads by their verdicts, regressed ones first; those of one verdict as they were."""
    return sorted(workloads, key=lambda workload: WORST_FIRST.index(workload.verdict))


def metrics_worst_first(metrics: dict[str, MetricRecord]) -> list[tuple[str, MetricRecord]]:
    """Return metrics by their verdicts, those that decide before the others."""
    return sorted(metrics.items(), key=lambda one: (not one[1].gating, WORST_FIRST.index(one[1].verdict)))


def headline(results: Results) -> str:
    """Return the verdicts of a session and how many workloads have each, its greatest loss, and whether it
    broke off, in a line.
    """
    text = verdict_counts(results)
    loss = greatest_loss(results)
    text += f" (most: {loss})" if loss else ""
    broke_off = undecided(results)
    return printable(f"{text}; {broke_off}" if broke_off else text)


def undecided(results: Results) -> str:
    """Return that a session broke off, and how many workloads it left undecided; empty if it did not.

    Those of them that were begun are among the verdicts, too, so it says how many they are.
    """
    left = set(results.run.open) if results.run else set()
    begun = sum(workload.id in left for workload in results.workloads)
    tests = [test for test, ended in results.run.tests.items() if not ended] if results.run else []
    if tests and not left:
        return f"the session broke off, {plural(len(tests), 'test')} in Python did not end"
    text = f"the session broke off, {plural(len(left), 'workload')} not decided" if left else ""
    return f"{text}, {begun} of them begun" if begun else text


def verdict_counts(results: Results) -> str:
    """Return how many workloads have each verdict, the worst first: `1 regressed, 3 pass`."""
    counts = Counter(workload.verdict for workload in results.workloads)
    told = [f"{counts[verdict]} {verdict}" for verdict in WORST_FIRST if counts[verdict]]
    return ", ".join(told) or "nothing measured"


def greatest_loss(results: Results) -> str:
    """Return the regressed metric that lost most, `random_read read.iops -10.0%`; empty if none regressed."""
    lost = [
        (-item.change if item.direction == "higher" else item.change, workload.workload, name, item.change)
        for workload in results.workloads
        for name, item in workload.gating.items()
        if item.verdict == "regressed" and item.change is not None
    ]
    if not lost:
        return ""
    _, workload, name, change = max(lost)
    return f"{workload} {name} {format_change(change)}"


def effort(results: Results) -> str:
    """Return what a session took: `20 repetitions, 42 s of device time`."""
    seconds = sum(workload.device_seconds for workload in results.workloads)
    runs = sum(workload.repetitions for workload in results.workloads if not workload.pair)
    blocks = sum(workload.repetitions for workload in results.workloads if workload.pair)
    counts = [plural(runs, "repetition")] if runs or not blocks else []
    counts += [plural(blocks, "block")] if blocks else []
    return f"{', '.join(counts)}, {format_duration(seconds)} of device time"
