"""What was measured, metric by metric, beside what it is compared with: numbers without a verdict."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from iogate import engines
from iogate.model import Metric, MetricVerdict, Repetition, VerdictName, Workload, metric

_WORST_FIRST: tuple[VerdictName, ...] = ("invalid", "regressed", "inconclusive", "drift", "improved", "pass")


def worst_of(verdicts: Iterable[VerdictName]) -> VerdictName:
    """Return the worst verdict: a workload is what its worst gating metric is."""
    return min(verdicts, key=_WORST_FIRST.index)


def note_metrics(
    repetitions: Sequence[Repetition],
    baseline: Mapping[str, float | tuple[tuple[float, ...], ...]],
    *,
    skip: Sequence[str] = (),
    gating: Sequence[str] = (),
) -> tuple[MetricVerdict, ...]:
    """Return the metrics that were measured and are not judged, beside their baseline where there is one."""
    names = dict.fromkeys(name for item in repetitions for name in item.metrics if name not in skip)
    return tuple(_note(metric(name), repetitions, baseline.get(name), name in gating) for name in names)


def undecided_metrics(
    repetitions: Sequence[Repetition],
    baseline: Mapping[str, float | tuple[tuple[float, ...], ...]],
    gating: Sequence[str],
) -> tuple[MetricVerdict, ...]:
    """Return the metrics that were measured, those that gate without a verdict."""
    items = note_metrics(repetitions, baseline, gating=gating)
    return tuple(replace(item, verdict="inconclusive") if item.gating else item for item in items)


def _note(
    what: Metric,
    repetitions: Sequence[Repetition],
    reference: float | tuple[tuple[float, ...], ...] | None,
    gating: bool,
) -> MetricVerdict:
    values = tuple(item.metrics[what.name] for item in repetitions if what.name in item.metrics)
    value = statistics.median(values)
    known = typical_value(reference)
    change = value / known - 1 if known else None
    return MetricVerdict(what, "recorded", value, values, gating=gating, baseline=known, change=change)


def typical_value(reference: float | tuple[tuple[float, ...], ...] | None) -> float | None:
    """Return the median of a baseline's session medians, or the published number."""
    if reference is None or isinstance(reference, (int, float)):
        return reference
    medians = [statistics.median(session) for session in reference if session]
    return statistics.median(medians) if medians else None


def resolution_of(workload: Workload, name: str, typical: float | None) -> float:
    """Return how far apart (relative) the values of a metric are that its engine can tell, at a `typical`
    one: as bins of a histogram, or as whole numbers that it prints. 0 if they are finer than matters.
    """
    known = metric(name).resolution
    engine = engines.load(workload.engine)
    if not typical or not isinstance(engine, engines.PrintsWholeNumbers):
        return known
    return max(known, engine.step(workload.options, name) / typical)


def are_mixed(values: Sequence[float]) -> bool:
    """Return whether values of one baseline are so far apart that the gate judges nothing by them."""
    from iogate.judge.gate.decision import MIXED

    return max(values) > MIXED * min(values)
