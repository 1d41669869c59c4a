"""The verdict on one metric of a pair: non-inferiority against a tolerance, looked at after each block.

PASS excludes a loss of the tolerance with error rate beta, REGRESSED excludes no loss with error rate alpha,
both over all looks together and whatever the tails of the noise; the bounds are non-binding. A block, with a
fresh pair of processes, is the replicate, never a slice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from iogate.errors import InputError
from iogate.judge.gate.case import IMPLAUSIBLE, DecisionVerdict, percent
from iogate.judge.gate.values import Scale, Unusable, check_options, check_value
from iogate.judge.pair.looks import PairLooks
from iogate.judge.pair.shift import Shift, read_shift
from iogate.units import plural

if TYPE_CHECKING:
    from iogate.model import Direction

DEFAULT_TOLERANCE = 0.05
MAX_BLOCKS = 60
ROUNDING = 1e-9  # of floating point: less is no change
_MOSTLY = 0.7  # steps that two values, each rounded to the middle of one, are further off in 5% of all cases


@dataclass(frozen=True)
class PairDecision:
    """What the blocks so far say about one metric.

    `change` is the candidate's difference from the base, the place effect removed, and `interval` the bounds
    that the verdict used (1 - alpha towards the better, 1 - beta towards the worse, corrected for looks and
    metrics); where the blocks are too few for such a bound, the furthest value that they show. Both are
    relative and signed as the number moves; None where nothing can be said. `tolerance` is the one applied.
    `place_effect` is what the metric changes by, relative, if the same data lie in the candidate's first
    place instead of the base's (None: the arms never change places). `noise` is the standard deviation of a
    block, relative and blind to outliers, and `outliers` the number of blocks far off.
    `minimum_detectable` is the smallest loss that one look at so many blocks resolves (found with 1 - beta
    at false alarms of alpha / metrics), and `gain` how much smaller another block makes it.
    """

    verdict: DecisionVerdict
    reason: str
    blocks: int
    change: float | None = None
    interval: tuple[float, float] | None = None
    tolerance: float | None = None
    place_effect: float | None = None
    noise: float | None = None
    minimum_detectable: float | None = None
    gain: float | None = None
    outliers: int = 0


def decide(
    ratios: Sequence[float],
    *,
    swapped: Sequence[bool] | None,
    direction: Direction,
    tolerance: float | None = None,
    alpha: float = 0.01,
    beta: float = 0.05,
    max_blocks: int = MAX_BLOCKS,
    metrics: int = 1,
    resolution: float = 0.0,
) -> PairDecision:
    """Judge one metric of a pair, after each block.

    `ratios` has the candidate's value over the base's for each block, in order. `swapped` says in which
    blocks the arms had changed places; None: they never do, and place is part of what is compared.
    `direction` is the better one. `tolerance` is relative (0.05: a throughput 5% lower, a latency 5% higher);
    None is 5%. `alpha` bounds false alarms, shared by `metrics` gating metrics; `beta` bounds missed losses
    of the tolerance. `resolution` is how far apart (relative) neighbouring values of an arm are, as those of
    percentiles from a histogram.

    Ratios that are no measurements give `inconclusive` with a reason; only options that say nothing raise
    (InputError). Once the verdict is not `continue`, it is final.
    """
    tolerance = DEFAULT_TOLERANCE if tolerance is None else tolerance
    if max_blocks < 1:
        raise InputError(f"{max_blocks} blocks at most say nothing", remedy=f"{MAX_BLOCKS} are usual")
    check_options(direction, tolerance, alpha, beta, 1, max_blocks, metrics, None)
    if swapped is not None and len(swapped) != len(ratios):
        raise InputError(f"the arrangement is known of {len(swapped)} blocks, the ratio of {len(ratios)}")
    looks = PairLooks(alpha / metrics, beta, max(max_blocks, len(ratios)), swapped is not None)
    scale = Scale(1.0, direction)
    try:
        values = [scale.worse(check_value(ratio, f"block {i}")) for i, ratio in enumerate(ratios, 1)]
    except Unusable as problem:
        return PairDecision("inconclusive", f"cannot be judged: {problem}", len(ratios), tolerance=tolerance)
    if not values:
        return PairDecision("inconclusive", "cannot be judged: no block was measured", 0, tolerance=tolerance)
    return PairCase(scale, scale.margin(tolerance), looks, read_shift(values, swapped), resolution).judge()


@dataclass(frozen=True)
class PairCase:
    """One comparison: the `shift` found, to pass below `margin` and to fail above 0, of values that come in
    steps of `resolution`.
    """

    scale: Scale
    margin: float
    looks: PairLooks
    shift: Shift
    resolution: float = 0.0

    def judge(self) -> PairDecision:
        """Return the decision."""
        shift = self.shift
        last = shift.blocks >= self.looks.last
        if not shift.known:
            reason = "the arms have not changed places yet, so nothing tells them from their places"
            return self._decision("inconclusive" if last else "continue", reason)
        if not (shift.balanced or last):
            return self._decision("continue", f"{self._said}: the other arrangement has fewer blocks")
        verdict, judged = self._verdict(last)
        return self._decision(verdict, "; ".join([f"{self._said}: {judged}", *self._remarks()]))

    def _verdict(self, last: bool) -> tuple[DecisionVerdict, str]:
        """Return the verdict of this look, and why."""
        least, most = self._bounds
        between = "between {} and {}".format(*map(self._words, self._interval))
        if most < -ROUNDING:
            return "improved", f"better, {between}"
        if most < self.margin:
            if self._interval[0] > ROUNDING:
                return "drift", f"{between}, so within the tolerance but not unchanged"
            return "pass", f"{between}, so within the tolerance"
        if least > ROUNDING:
            return "regressed", f"worse beyond doubt, {between}"
        if not last:
            return "continue", f"still open, {between}"
        few = "" if self.looks.fails else ", and are too few to show any loss at this error rate"
        return "inconclusive", f"{plural(self.shift.blocks, 'block')} cannot tell, {between}{few}"

    @property
    def _bounds(self) -> tuple[float, float]:
        """How much worse at least and at most; infinite where the blocks are too few to say."""
        fail, passed = self.looks.levels(self.shift.blocks)
        rounded = self._rounded
        return self.shift.bound(fail, -1) - rounded, self.shift.bound(passed, 1) + _MOSTLY * rounded

    @property
    def _rounded(self) -> float:
        """How far off a difference may be for what is rounded in each arm: where blocks differ by less than
        half a step, all of them alike, and no number of blocks averages that out.
        """
        noise = self.shift.noise
        return self.resolution if noise is None or noise < self.resolution / 2 else 0.0

    @property
    def _interval(self) -> tuple[float, float]:
        """The same, with the furthest that the blocks show in the place of the infinite."""
        (least, most), pairs = self._bounds, self.shift.pairs
        return pairs[0] if least == -math.inf else least, pairs[-1] if most == math.inf else most

    @property
    def _said(self) -> str:
        tolerance = self.scale.tolerance(self.margin)
        return f"{self._words(self.shift.worse)} than the base (tolerance {tolerance:.1%})"

    def _words(self, worse: float) -> str:
        """Return a difference in words: `7.1% lower`."""
        change = self.scale.change(worse)
        return f"{percent(change)} {'lower' if change < 0 else 'higher'}"

    def _remarks(self) -> list[str]:
        remarks = []
        better, worse = self.shift.outliers
        if better + worse:
            be = "is an outlier" if better + worse == 1 else "are outliers"
            against = f", {worse} of them against the candidate" if better + worse > 1 else ""
            remarks.append(f"{better + worse} of {plural(self.shift.blocks, 'block')} {be}{against}")
        if self.shift.place is not None:
            remarks.append(f"a place effect of {percent(self.scale.change(self.shift.place))} is removed")
        if abs(self.shift.worse) > IMPLAUSIBLE:
            remarks.append("so far off that the arms may not have done the same work")
        return remarks

    def _decision(self, verdict: DecisionVerdict, reason: str) -> PairDecision:
        """Return the decision with all numbers filled in."""
        shift, scale = self.shift, self.scale
        now, then = (shift.detectable(self.looks.alpha, self.looks.beta, more) for more in (0, 1))
        known = None if now is None else scale.tolerance(now)
        numbers = PairDecision(
            verdict,
            reason,
            shift.blocks,
            tolerance=scale.tolerance(self.margin),
            noise=None if shift.noise is None else math.expm1(shift.noise),
            minimum_detectable=known,
            gain=None if known is None or then is None else known - scale.tolerance(then),
        )
        if not shift.known:
            return numbers
        low, high = sorted(map(scale.change, self._interval))
        return replace(
            numbers,
            change=scale.change(shift.worse),
            interval=(low, high),
            place_effect=None if shift.place is None else scale.change(shift.place),
            outliers=sum(shift.outliers),
        )
