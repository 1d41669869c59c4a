"""The judge of a pair: arm B against arm A, measured by turns, block by block."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from iogate.judge.judge import Expectation, GateOptions
from iogate.judge.metrics import note_metrics, resolution_of, undecided_metrics, worst_of
from iogate.model import (
    Environment,
    MetricVerdict,
    Repetition,
    Tolerance,
    Verdict,
    VerdictName,
    Workload,
    metric,
)
from iogate.units import format_duration, format_quantity, format_share, plural

if TYPE_CHECKING:
    from iogate.judge.pair import PairDecision

TOLERANCE = 0.05
"""The smallest change that matters where nobody says another: there is no baseline to learn one from."""
_USUAL = 12  # blocks that a pair takes


class PairJudge:
    """Asks after each block whether B is as good as A; a metric once decided stays decided.

    `against` is what A is, in a few words, `crossover` whether the arms change places.
    """

    newest = ""
    runtime = None
    first_run = False

    def __init__(
        self,
        workload: Workload,
        gating: Sequence[str],
        gate_options: GateOptions,
        against: str,
        *,
        crossover: bool,
    ) -> None:
        self.against = against
        self.maximum = gate_options.max_blocks
        self.usual = min(self.maximum, _USUAL)
        self._workload = workload
        self._gating = tuple(gating)
        self._options = gate_options
        self._crossover = crossover
        self._decisions: dict[str, PairDecision] = {}
        self._lacking = ""

    effort = ""

    @property
    def minimum(self) -> int:
        from iogate.judge.pair import fewest_blocks

        options, crossover = self._options, self._crossover
        shared = options.metrics
        fewest = fewest_blocks(options.alpha, options.beta, self.maximum, shared, crossover=crossover)
        return self.maximum if fewest is None else fewest

    @property
    def uncertainty(self) -> float:
        widths = [
            (item.interval[1] - item.interval[0]) / (item.tolerance or TOLERANCE)
            for item in self._decisions.values()
            if item.verdict == "continue" and item.interval
        ]
        return max(widths, default=math.inf)

    def check(self, environment: Environment) -> None:
        """Accept every environment: both arms are in it."""

    def differences(self, environment: Environment) -> Sequence[str]:
        return ()

    def expectations(self) -> Mapping[str, Expectation]:
        return {}

    def look(self, repetitions: Sequence[Repetition]) -> bool:
        from iogate.judge.pair import decide

        swapped = [block.swapped for block in repetitions] if self._crossover else None
        for name in self._gating:
            arms = [arm for block in repetitions for arm in (block, _base(block))]
            if any(name not in arm.metrics for arm in arms):
                self._lacking = name
                return True
            known = self._decisions.get(name)
            if known and known.verdict != "continue":
                continue
            usual = statistics.median(_base(block).metrics[name] for block in repetitions)
            self._decisions[name] = decide(
                [_ratio(block, name) for block in repetitions],
                swapped=swapped,
                direction=metric(name).direction,
                tolerance=self._tolerance(name),
                alpha=self._options.alpha,
                beta=self._options.beta,
                max_blocks=self.maximum,
                metrics=self._options.metrics,
                resolution=resolution_of(self._workload, name, usual),
            )
        return all(item.verdict != "continue" for item in self._decisions.values())

    def verdict(self, repetitions: Sequence[Repetition], cut_short: str = "") -> Verdict:
        if self._lacking:
            known = ", ".join(sorted(repetitions[-1].metrics)) or "none"
            reason = f"the gating metric {self._lacking} was not measured in both arms; there are: {known}"
            return Verdict("invalid", reason, note_metrics(repetitions, {}), repetitions=len(repetitions))
        if not self._decisions.keys() >= set(self._gating):  # none yet, or interrupted within the first look
            return Verdict("inconclusive", cut_short, undecided_metrics(repetitions, {}, self._gating))
        judged = [self._metric(name, repetitions, cut_short) for name in self._gating]
        worst = worst_of(item.verdict for item in judged)
        guilty = [item for item in judged if item.verdict == worst]
        reasons = [*map(_sentence, guilty), self._cost(repetitions)]
        others = note_metrics(repetitions, {}, skip=self._gating)
        return Verdict(worst, "\n".join(reasons), (*judged, *others), repetitions=len(repetitions))

    def _tolerance(self, name: str) -> float:
        given = self._options.tolerance
        declared = self._workload.gate.get(name, Tolerance()).worse
        return given if given is not None else declared if declared is not None else TOLERANCE

    def _metric(self, name: str, repetitions: Sequence[Repetition], cut_short: str) -> MetricVerdict:
        decision = self._decisions[name]
        verdict: VerdictName = "inconclusive" if decision.verdict == "continue" else decision.verdict
        reason = decision.reason
        if decision.verdict == "continue":
            reason = f"not decided after {plural(decision.blocks, 'block')}: {cut_short or reason}"
        better = self._workload.gate.get(name, Tolerance()).better
        if better is not None and decision.interval:
            sign = 1 if metric(name).direction == "higher" else -1
            if min(sign * end for end in decision.interval) > better:
                verdict = "invalid"
                reason = f"better than the suite holds possible (at most {format_share(better)}): {reason}"
        known = [block for block in repetitions if name in block.metrics and name in _base(block).metrics]
        values = tuple(block.metrics[name] for block in known)
        base = _typical([_base(block).metrics[name] for block in known])
        value, base = _apart(_typical(values), base, decision.change)
        return MetricVerdict(
            metric(name),
            verdict,
            value,
            values,
            gating=True,
            reason=reason,
            baseline=base,
            change=decision.change,
            interval=decision.interval,
            tolerance=decision.tolerance,
            minimum_detectable=decision.minimum_detectable,
            place_effect=decision.place_effect,
            noise=decision.noise,
        )

    def _cost(self, repetitions: Sequence[Repetition]) -> str:
        seconds = sum(block.seconds for block in repetitions)
        return f"A is {self.against}; {plural(len(repetitions), 'block')} in {format_duration(seconds)}"


def _base(block: Repetition) -> Repetition:
    """Return arm A of a block."""
    assert block.base
    return block.base


def _ratio(block: Repetition, name: str) -> float:
    """Return B/A; not a number where A is zero, which the decision does not take for a pass."""
    base = _base(block).metrics[name]
    return block.metrics[name] / base if base else math.nan


def _typical(values: Sequence[float]) -> float:
    return statistics.geometric_mean(values) if min(values) > 0 else statistics.fmean(values)


def _apart(value: float, base: float, change: float | None) -> tuple[float, float]:
    """Return figures of B and A that differ by the change, about their middle: it is that of the blocks in
    their middle, the means are those of blocks far off, too.
    """
    if change is None or change <= -1 or min(value, base) <= 0:
        return value, base
    middle, half = math.sqrt(value * base), math.sqrt(1 + change)
    return middle * half, middle / half


def _sentence(item: MetricVerdict) -> str:
    """B against A, what the decision says of the change, and the noise."""
    unit = item.metric.unit
    assert item.baseline is not None
    text = f"{item.metric.name}: B is {format_quantity(item.value, unit)} against"
    text += f" {format_quantity(item.baseline, unit)} of A, {item.reason}"
    if item.noise is not None:
        text += f"; blocks scatter by {item.noise:.1%}"
    return text
