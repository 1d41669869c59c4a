"""The verdict on one metric: non-inferiority against a tolerance, looked at after each repetition.

PASS excludes a loss of the tolerance with error rate beta, REGRESSED excludes no loss with error rate alpha,
both over all looks together. The bounds are non-binding: looking on after a verdict keeps the error rates.
Source: Wellek (2010), "Testing Statistical Hypotheses of Equivalence and Noninferiority"; spending.py.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from iogate.judge.gate.difference import Difference, difference, own_difference
from iogate.judge.gate.looks import (
    LARGEST_TOLERANCE,
    LookPlan,
    applied_margin,
    minimum_detectable,
    plan_looks,
    suited_looks,
)
from iogate.judge.gate.noise import Noise, baseline_noise
from iogate.judge.gate.remedy import Remedy, remedy
from iogate.judge.gate.values import (
    FIRST_LOOK,
    BaselineValues,
    Scale,
    Unusable,
    check_options,
    check_value,
    read_candidate,
    read_sessions,
    reference_of,
)
from iogate.units import format_share, plural

if TYPE_CHECKING:
    from iogate.judge.borrowed import Borrowed
    from iogate.model import Direction

DecisionVerdict = Literal["continue", "pass", "improved", "drift", "regressed", "inconclusive"]
PASSING: frozenset[str] = frozenset({"pass", "improved", "drift"})
IMPLAUSIBLE = math.log(5)  # bits against bytes is 8; no firmware makes the same device five times faster
RARE = 0.0025  # an error rate near that of two stalls in two repetitions (3% each: 0.1%)
STALLED = 0.5  # the part of an error rate that stalls may have where a baseline has them: noise has the rest
MIXED = 100.0  # the same for values of one baseline, which may scatter widely
_FARTHEST = 100.0  # e^100 times worse: bounds beyond are no floats
HOPELESS = 3.0  # standard deviations: a verdict further away than this will not come


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


def decide(
    baseline: BaselineValues,
    candidate: object,
    *,
    direction: Direction,
    tolerance: float | None = None,
    alpha: float = 0.01,
    beta: float = 0.05,
    first_look: int = FIRST_LOOK,
    max_repetitions: int = 12,
    metrics: int = 1,
    assumed_session_noise: float | None = None,
    borrowed: Borrowed | None = None,
    means: tuple[float, float] | None = None,
    resolution: float = 0.0,
) -> Decision:
    """Judge this session's values of one metric, after each repetition.

    `baseline` is a sequence of sessions, each a sequence of repetition values, or a single number for a
    published one. `candidate` is a sequence of this session's values so far, in order. `direction` is the
    better one. `tolerance` is relative (0.05: a throughput 5% lower, a latency 5% higher); None takes it from
    the data. `alpha` bounds false alarms, shared by `metrics` gating metrics; `beta` bounds missed losses of
    the tolerance. After `first_look` repetitions it may be decided: a fixed number of them has that and
    `max_repetitions` alike, and all of the error rates for its only look. `assumed_session_noise` (relative)
    stands in while there are fewer than three sessions. Where each value is the only one of its place in the
    session, an outlier is no accident that others outvote: `means` are then those of the baseline's sessions
    and of this one, with what places differ by, so that each weighs as much as it is. `resolution` is how far
    apart (relative) neighbouring values are, as those of percentiles from a histogram.

    Values that are no measurements give `inconclusive` with a reason; only options that say nothing raise
    (InputError). Once the verdict is not `continue`, it is final.
    """
    check_options(
        direction, tolerance, alpha, beta, first_look, max_repetitions, metrics, assumed_session_noise
    )
    measured = len(candidate) if hasattr(candidate, "__len__") else 0
    looks = plan_looks(alpha, beta, metrics, first_look, max_repetitions, measured)
    try:
        values = read_candidate(candidate)
        if hasattr(baseline, "__iter__"):
            sessions = read_sessions(baseline)
            return _decide_measured(
                sessions,
                values,
                direction,
                tolerance,
                looks,
                assumed_session_noise,
                borrowed,
                means,
                resolution,
            )
        published = check_value(baseline, "the published baseline")
        return _decide_published(
            published, values, direction, tolerance, looks, assumed_session_noise, resolution
        )
    except Unusable as problem:
        return Decision("inconclusive", f"cannot be judged: {problem}", measured)


def _decide_measured(
    sessions: tuple[tuple[float, ...], ...],
    values: tuple[float, ...],
    direction: Direction,
    tolerance: float | None,
    looks: LookPlan,
    assumed: float | None,
    borrowed: Borrowed | None,
    means: tuple[float, float] | None,
    resolution: float,
) -> Decision:
    known = [value for session in sessions for value in session]
    if max(known) > MIXED * min(known):
        raise Unusable(
            f"the baseline's own values go from {min(known):g} to {max(known):g}, which is more than noise: "
            f"another unit or another set-up is among them"
        )
    scale = Scale(reference_of(sessions), direction)
    noise = baseline_noise(scale.sessions(sessions), assumed, borrowed, resolution)
    margin = applied_margin(noise, looks, scale, tolerance)
    looks = suited_looks(noise, looks, margin)
    detectable = minimum_detectable(noise, looks)
    logs = [scale.worse(value) for value in values]
    found = difference(noise, logs, assumed=assumed, chance=looks.alpha * STALLED)
    passing = difference(noise.passing, logs, assumed=assumed)
    usual = math.fsum(map(statistics.fmean, sessions)) / len(sessions)
    mean = max(
        scale.worse(now) - scale.worse(then)
        for then, now in ((usual, statistics.fmean(values)), *([means] if means else []))
    )
    placed = means is not None
    case = Case(
        scale, noise.centre, found, passing, len(values), mean, margin, 0.0, looks, detectable, noise, placed
    )
    if case.n < looks.first:
        return case.decision("continue", case.too_few)
    notes = []
    if tolerance is None:
        capped = detectable > margin
        most = f"the tolerance is the largest that is taken from the data, {LARGEST_TOLERANCE:.0%}"
        notes.append(most if capped else "the tolerance is what this baseline can resolve")
    if noise.assumed:
        assumption = f"session noise is assumed to be {math.sqrt(found.session):.1%}, as "
        notes.append(assumption + plural(noise.sessions, "baseline session") + " cannot tell")
    elif noise.learnt:
        notes.append(noise.learnt)
    well_known = noise.repetition_degrees >= 8 and not found.noisier
    return _judge(case, notes, hopeless=well_known and case.hopeless)


def _decide_published(
    published: float,
    values: tuple[float, ...],
    direction: Direction,
    tolerance: float | None,
    looks: LookPlan,
    assumed: float | None,
    resolution: float,
) -> Decision:
    """Compare a published number by the tolerance alone: how it scatters was not published."""
    scale = Scale(published, direction)
    noise = baseline_noise(((0.0,),), assumed)
    margin = applied_margin(noise, looks, scale, tolerance)
    found = own_difference(tuple(map(scale.worse, values)), resolution)
    mean = scale.worse(statistics.fmean(values))
    case = Case(scale, 0.0, found, found, len(values), mean, margin, margin, looks, None)
    note = "a baseline of one number, as a published one, is judged by the tolerance alone"
    if case.n < looks.first:
        return case.decision("continue", case.too_few)
    if case.n >= 2:
        return _judge(case, [note])
    verdict: DecisionVerdict = "pass" if found.worse < margin else "regressed"
    if found.worse < -IMPLAUSIBLE:
        verdict = "inconclusive"
    return case.decision(verdict, f"{case.said}; {note}, and one run has no error rates", interval=False)


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
        still = HOPELESS * math.sqrt(max(0.0, self.found.error(self.n) ** 2 - error**2))
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
        two = self.n == 2 < self.looks.last and self.looks.alpha < RARE
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


def _judge(case: Case, notes: list[str], *, hopeless: bool = False) -> Decision:
    least, most = case.bounds
    between = f"between {case.words(least)} and {case.words(most)}"
    notes = notes + _remarks(case)
    verdict: DecisionVerdict
    if case.found.worse < -IMPLAUSIBLE:
        verdict, said = "inconclusive", "too good to be believed: another unit, or another set-up"
    elif most < case.margin and case.withheld:
        verdict, said = "continue", f"still open, {between}, as too many repetitions lost more than that"
    elif most < case.margin and case.contradicted:
        verdict = "inconclusive"
        said = f"{between} without outliers, but their mean is {case.words(case.mean)} with them"
    elif most < 0:
        verdict, said = "improved", f"better, {between}"
    elif most < case.margin:
        verdict = "drift" if least > 0 else "pass"
        said = f"{between}, so within the tolerance" + (" but not unchanged" if least > 0 else "")
    elif least > case.threshold and not case.doubtful:
        verdict, said = "regressed", f"worse beyond doubt, {between}"
    elif case.n < case.looks.last and not hopeless:
        verdict, said = "continue", f"still open, {between}"
    else:
        verdict = "inconclusive"
        said = f"{plural(case.n, 'repetition')} cannot tell, {between}"
        if hopeless and case.n < case.looks.last:
            said += ", and more would not help"
        if case.detectable is not None and case.detectable > case.margin:
            notes.append(f"this baseline resolves {percent(case.scale.tolerance(case.detectable))}")
    return case.decision(verdict, "; ".join([f"{case.said}: {said}", *notes]))


def _remarks(case: Case) -> list[str]:
    remarks = []
    if case.found.outliers:
        be = "is an outlier" if case.found.outliers == 1 else "are outliers"
        remarks.append(f"{case.found.outliers} of {plural(case.n, 'repetition')} {be}")
    if case.explained and case.noise:
        share = f"{len(case.noise.stalls)} of the baseline's {plural(case.noise.values, 'repetition')}"
        remarks.append(f"as many stalls come by chance, by {share}")
    if case.found.noisier:
        remarks.append("the repetitions scatter more than those of the baseline")
    if case.found.worse > IMPLAUSIBLE:
        remarks.append("so far off that another unit or set-up is likely")
    return remarks


def percent(change: float) -> str:
    """Return a relative change for people, without its sign."""
    return format_share(abs(change))
