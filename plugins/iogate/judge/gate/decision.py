"""The verdict on one metric: non-inferiority against a tolerance, looked at after each repetition.

PASS excludes a loss of the tolerance with error rate beta, REGRESSED excludes no loss with error rate alpha,
both over all looks together. The bounds are non-binding: looking on after a verdict keeps the error rates.
Source: Wellek (2010), "Testing Statistical Hypotheses of Equivalence and Noninferiority"; spending.py.
"""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

from iogate.judge.gate.case import IMPLAUSIBLE, Case, Decision, DecisionVerdict, percent
from iogate.judge.gate.difference import difference, own_difference
from iogate.judge.gate.looks import (
    LARGEST_TOLERANCE,
    LookPlan,
    applied_margin,
    minimum_detectable,
    plan_looks,
    suited_looks,
)
from iogate.judge.gate.noise import baseline_noise
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
from iogate.units import plural

if TYPE_CHECKING:
    from iogate.judge.borrowed import Borrowed
    from iogate.model import Direction

_STALLED = 0.5  # the part of an error rate that stalls may have where a baseline has them: noise has the rest
MIXED = 100.0  # how many times apart values of one baseline may be, which may scatter widely


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
    found = difference(noise, logs, assumed=assumed, chance=looks.alpha * _STALLED)
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
