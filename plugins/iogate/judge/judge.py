"""From the gate's decisions on single metrics to the verdict on a workload."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypedDict

from iogate.model import (
    Baseline,
    Direction,
    Metric,
    MetricVerdict,
    Repetition,
    Tolerance,
    Verdict,
    VerdictName,
    Workload,
    metric,
)
from iogate.units import format_change, format_quantity

if TYPE_CHECKING:
    from iogate.judge.gate import Decision, Sensitivity

# Worst first: a workload is what its worst gating metric is.
_ORDER: tuple[VerdictName, ...] = ("invalid", "regressed", "inconclusive", "drift", "improved", "pass")
_NO_TOLERANCE = Tolerance()


@dataclass(frozen=True)
class GateOptions:
    """How sure the gate has to be: error gate_options, and the repetitions that it may ask for.

    `tolerance` replaces those of the suites (None: theirs hold). `metrics` counts the gating metrics of the
    whole session, among which a false alarm is shared out.
    """

    alpha: float = 0.01
    beta: float = 0.05
    max_repetitions: int = 12
    tolerance: float | None = None
    metrics: int = 1


class Terms(TypedDict):
    """The terms of `iogate.judge.gate.decide`."""

    direction: Direction
    tolerance: float | None
    alpha: float
    beta: float
    max_repetitions: int
    metrics: int


class Judge:
    """Asks the gate after each repetition of one workload; a metric once decided stays decided."""

    def __init__(
        self, workload: Workload, baseline: Baseline, gating: Sequence[str], gate_options: GateOptions
    ) -> None:
        self.workload = workload
        self.baseline = baseline
        self.gating = tuple(gating)
        self.gate_options = gate_options
        self.decisions: dict[str, Decision] = {}
        self.unmeasured: list[str] = []

    @property
    def maximum(self) -> int:
        """The most repetitions that this workload gets."""
        return self.workload.repetitions or self.workload.max_repetitions or self.gate_options.max_repetitions

    def look(self, repetitions: Sequence[Repetition]) -> bool:
        """Ask the gate about every metric that is not decided yet; True when all are."""
        from iogate.judge.gate import decide

        for name in self.gating:
            known = self.decisions.get(name)
            if known and known.verdict != "continue":
                continue
            values = [item.metrics[name] for item in repetitions if name in item.metrics]
            if len(values) < len(repetitions) or name not in self.baseline.metrics:
                self.unmeasured.append(name)
                return True
            self.decisions[name] = decide(self.baseline.metrics[name], values, **self._terms(name))
        return all(decision.verdict != "continue" for decision in self.decisions.values())

    def tolerance(self, name: str) -> Tolerance:
        """Return the tolerance that applies to a gating metric: the command line's, or the suite's."""
        declared = self.workload.gate.get(name, _NO_TOLERANCE)
        if self.gate_options.tolerance is not None:
            return Tolerance(self.gate_options.tolerance, declared.better)
        return declared

    def typical(self, name: str) -> float | None:
        """Return the baseline's typical value of a metric, or None."""
        return _typical(self.baseline.metrics.get(name))

    @property
    def uncertainty(self) -> float:
        """How far the least certain metric is from a verdict: the width of its interval in tolerances."""
        widths = [
            (item.interval[1] - item.interval[0]) / (item.tolerance or 1.0)
            for item in self.decisions.values()
            if item.verdict == "continue" and item.interval
        ]
        return max(widths, default=math.inf)

    def sensitivities(self) -> dict[str, Sensitivity | None]:
        """Return what the baseline can resolve of each gating metric; None where it has no error
        gate_options.
        """
        from iogate.judge.gate import sensitivity

        known = [name for name in self.gating if name in self.baseline.metrics]
        return {name: sensitivity(self.baseline.metrics[name], **self._terms(name)) for name in known}

    def _terms(self, name: str) -> Terms:
        """On what terms the gate decides about a metric."""
        return {
            "direction": metric(name).direction,
            "tolerance": self.tolerance(name).worse,
            "alpha": self.gate_options.alpha,
            "beta": self.gate_options.beta,
            "max_repetitions": self.maximum,
            "metrics": self.gate_options.metrics,
        }

    def verdict(self, repetitions: Sequence[Repetition], cut_short: str = "") -> Verdict:
        """Return the verdict on what was measured; `cut_short` says why no more repetitions came, if so."""
        if self.unmeasured:
            return self._unmeasured_verdict(repetitions)
        judged = [self._metric(name, repetitions, cut_short) for name in self.gating]
        worst = min((item.verdict for item in judged), key=_ORDER.index)
        guilty = [item for item in judged if item.verdict == worst]
        reasons = [*map(_sentence, guilty), *dict.fromkeys(item.reason for item in guilty if item.reason)]
        others = note_metrics(repetitions, self.baseline.metrics, skip=self.gating)
        return Verdict(worst, "\n".join(reasons), (*judged, *others), repetitions=len(repetitions))

    def _unmeasured_verdict(self, repetitions: Sequence[Repetition]) -> Verdict:
        name = self.unmeasured[0]
        if name in self.baseline.metrics:
            known = ", ".join(sorted(repetitions[-1].metrics)) or "none"
            reason = f"the gating metric {name} was not measured; measured were: {known}"
            return Verdict(
                "invalid",
                reason,
                note_metrics(repetitions, self.baseline.metrics),
                repetitions=len(repetitions),
            )
        reason = f"the baseline has no {name}, which gates this workload: refresh it with --update-baselines"
        return Verdict(
            "no_baseline",
            reason,
            note_metrics(repetitions, self.baseline.metrics),
            repetitions=len(repetitions),
        )

    def _metric(self, name: str, repetitions: Sequence[Repetition], cut_short: str) -> MetricVerdict:
        decision = self.decisions[name]
        named: VerdictName = "inconclusive" if decision.verdict == "continue" else decision.verdict
        reason = decision.reason
        if decision.verdict == "continue":
            reason = f"not decided after {decision.repetitions} repetitions: {cut_short or reason}"
        better = self.tolerance(name).better
        if better is not None and decision.interval and decision.change is not None:
            sign = 1 if metric(name).direction == "higher" else -1
            if min(sign * end for end in decision.interval) > better:
                named, reason = (
                    "invalid",
                    f"better than the suite holds possible (at most {better:.1%}): {reason}",
                )
        values = tuple(item.metrics[name] for item in repetitions)
        return MetricVerdict(
            metric(name),
            named,
            decision.value if decision.value is not None else statistics.median(values),
            values,
            gating=True,
            reason=reason,
            baseline=decision.baseline,
            change=decision.change,
            interval=decision.interval,
            tolerance=decision.tolerance,
            bound=decision.bound,
            minimum_detectable=decision.minimum_detectable,
        )


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
    known = _typical(reference)
    change = value / known - 1 if known else None
    return MetricVerdict(what, "recorded", value, values, gating=gating, baseline=known, change=change)


def _typical(reference: float | tuple[tuple[float, ...], ...] | None) -> float | None:
    """Return the median of a baseline's session medians, or the published number."""
    if reference is None or isinstance(reference, (int, float)):
        return reference
    medians = [statistics.median(session) for session in reference if session]
    return statistics.median(medians) if medians else None


def _sentence(item: MetricVerdict) -> str:
    """Measured against baseline, the change with its interval, and the bound in absolute numbers."""
    unit, name = item.metric.unit, item.metric.name
    if item.baseline is None:
        return f"{name} is {format_quantity(item.value, unit)}"
    text = f"{name} is {format_quantity(item.value, unit)} against {format_quantity(item.baseline, unit)}"
    if item.change is not None:
        text += f", {format_change(item.change)}"
    if item.interval:
        text += f" [{format_change(item.interval[0])}, {format_change(item.interval[1])}]"
    if item.bound is not None and item.tolerance is not None:
        side = "below" if item.metric.direction == "higher" else "above"
        text += f"; fails {side} {format_quantity(item.bound, unit)} (tolerance {item.tolerance:.1%})"
    return text
