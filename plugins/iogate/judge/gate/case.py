"""One comparison of a session with its baseline: what was found, and what speaks against believing it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from iogate.judge.gate.difference import Difference
from iogate.judge.gate.looks import LookPlan
from iogate.judge.gate.noise import Noise
from iogate.judge.gate.remedy import Remedy, remedy
from iogate.judge.gate.values import Scale
from iogate.units import format_share

DecisionVerdict = Literal["continue", "pass", "improved", "drift", "regressed", "inconclusive"]
IMPLAUSIBLE = math.log(5)  # bits against bytes is 8; no firmware makes the same device five times faster
_RARE = 0.0025  # an error rate near that of two stalls in two repetitions (3% each: 0.1%)
_FARTHEST = 100.0  # e^100 times worse: bounds beyond are no floats
_HOPELESS = 3.0  # standard deviations: a verdict further away than this will not come


@dataclass(frozen=True)
class Decision:
    """What the values so far say about one metric.

    `change` is the candidate's difference from the baseline and `interval` the bounds that the verdict used
    (1 - alpha towards the worse, 1 - beta towards the better, corrected for looks and metrics), both relative
    to the baseline and signed as the number moved; None where nothing can be said. `tolerance` is the one
    applied and `bound` the value at which it is exhausted. `minimum_detectable` is the smallest relative loss
    that the baseline resolves (None for a published one). `baseline` and `value` have the metric's unit, and
    so has `mean`, the value if outliers counted in full. `outliers` of the `repetitions` lie far from the
    others; they count, but cannot decide alone. After so many repetitions it passes on the better side of
    `passes` and fails on the worse side of `fails` (None where outliers keep it from deciding). `remedy` is
    what would help where the tolerance is not resolved. How sessions differ may be `assumed`.
    """

    verdict: DecisionVerdict
    reason: str
    repetitions: int
    change: float | None = None
    interval: tuple[float, float] | None = None
    tolerance: float | None = None
    bound: float | None = None
    minimum_detectable: float | None = None
    baseline: float | None = None
    value: float | None = None
    mean: float | None = None
    outliers: int = 0
    passes: float | None = None
    fails: float | None = None
    remedy: Remedy | None = None
    assumed: bool = False


@dataclass(frozen=True)
class Case:
    """One comparison: the `found` difference after `n` repetitions, to fail above `threshold`.

    `passing` is the same difference with the standard error to pass by, `mean` that of plain means, in which
    an outlier counts for as much as any other repetition.
    """

    scale: Scale
    centre: float
    found: Difference
    passing: Difference
    n: int
    mean: float
    margin: float
    threshold: float
    looks: LookPlan
    detectable: float | None
    noise: Noise | None = None
    placed: bool = False

    @property
    def bounds(self) -> tuple[float, float]:
        """How much worse it is at least and at most."""
        fail, passed = self._reach(self.n)
        return self.found.worse - fail, self.found.worse + passed

    def _reach(self, n: int) -> tuple[float, float]:
        """Return how far a failure and a pass after `n` repetitions keep away from what was found."""
        own = self.passing
        _, passed = self.looks.quantiles(own.unreduced, own.repetition, own.degrees, n)
        return self._quantile(n) * self.found.error(n), passed * own.error(n)

    def _quantile(self, n: int) -> float:
        """Return how many standard errors a failure after `n` repetitions keeps away."""
        found = self.found
        return self.looks.quantiles(
            found.unreduced, found.repetition, found.degrees, n, found.doubted_degrees
        )[0]

    @property
    def hopeless(self) -> bool:
        """Whether no number of further repetitions is likely to decide."""
        fail, passed = self._reach(self.looks.last)
        error = self.found.error(self.looks.last)
        still = _HOPELESS * math.sqrt(max(0.0, self.found.error(self.n) ** 2 - error**2))
        return (
            self.found.worse - still > self.margin - passed
            and self.found.worse + still < self.threshold + fail
        )

    @property
    def doubtful(self) -> bool:
        """Whether stalls could make up a loss: a third of the repetitions have not lost the tolerance, or
        there are two and the error rate asked for is smaller than the chance of two stalls, or the baseline's
        stalls explain it.
        """
        two = self.n == 2 < self.looks.last and self.looks.alpha < _RARE
        return self.found.kept <= self.margin or two or self.explained

    @property
    def explained(self) -> bool:
        """Whether it would not fail by those repetitions alone that are no stalls of the baseline's kind."""
        rest = self.found.unexplained
        if not rest:
            return rest is not None
        fail = self._quantile(self.n) * self.found.error(len(rest))
        return math.fsum(rest) / len(rest) - fail <= self.threshold

    @property
    def contradicted(self) -> bool:
        """Whether the mean of all lost the tolerance, by what is taken for outliers: a quarter of the
        repetitions or more, or any place, of which there is but one.
        """
        return self.mean > self.margin and (self.placed or self.found.lost > self.margin)

    @property
    def withheld(self) -> bool:
        """Whether a pass waits for another repetition, as too many that there are lost the tolerance."""
        return self.found.lost > self.margin and self.n < self.looks.last

    @property
    def too_few(self) -> str:
        """Why nothing is decided before the first look."""
        few = "one repetition" if self.n == 1 else f"fewer than {self.looks.first} repetitions"
        return f"{few} cannot be judged"

    @property
    def said(self) -> str:
        """The difference in words."""
        return f"{self.words(self.found.worse)} than the baseline (tolerance {format_share(self.tolerance)})"

    @property
    def tolerance(self) -> float:
        """The tolerance applied, relative."""
        return self.scale.tolerance(self.margin)

    def words(self, worse: float) -> str:
        """Return a difference in words: `7.1% lower`."""
        change = self.scale.change(worse)
        return f"{percent(change)} {'lower' if change < 0 else 'higher'}"

    def decision(self, verdict: DecisionVerdict, reason: str, *, interval: bool = True) -> Decision:
        """Return the decision with all numbers filled in."""
        span = None
        if interval and self.n >= self.looks.first:
            low, high = sorted(self.scale.change(bound) for bound in self.bounds)
            span = (low, high)
        detectable = self.scale.tolerance(self.detectable) if self.detectable is not None else None
        return Decision(
            verdict=verdict,
            reason=reason,
            repetitions=self.n,
            change=self.scale.change(self.found.worse),
            interval=span,
            tolerance=self.tolerance,
            bound=self.scale.value(self.centre + self.margin),
            minimum_detectable=detectable,
            baseline=self.scale.value(self.centre),
            value=self.scale.value(self.centre + self.found.worse),
            mean=self.scale.value(self.centre + self.mean),
            outliers=self.found.outliers,
            passes=self._value(self.margin - self._reach(self.n)[1]) if span else None,
            fails=self._value(self._fails) if span and not self.doubtful else None,
            remedy=self._remedy if verdict == "inconclusive" else None,
            assumed=self.noise is None or self.noise.assumed,
        )

    @property
    def _fails(self) -> float:
        """The difference above which it fails."""
        fail, passed = self._reach(self.n)
        return max(self.threshold + fail, self.margin - passed)

    @property
    def _remedy(self) -> Remedy | None:
        resolved = self.detectable is None or self.detectable <= self.margin
        return None if resolved or self.noise is None else remedy(self.noise, self.looks, self.margin)

    def _value(self, worse: float) -> float:
        return self.scale.value(self.centre + max(-_FARTHEST, min(worse, _FARTHEST)))


def percent(change: float) -> str:
    """Return a relative change for people, without its sign."""
    return format_share(abs(change))
