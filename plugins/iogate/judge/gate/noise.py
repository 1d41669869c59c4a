"""What a baseline and a candidate say about the noise: one-way random effects on a logarithmic scale.

Sessions differ (session noise) and so do the repetitions of one session (repetition noise). Stalls must not
decide: session values are Huber's M-estimates, which move with every value but never far for a single one,
and variances are computed from values pulled in to a few standard deviations (winsorised).
Sources: Searle, Casella & McCulloch (1992), "Variance Components"; Huber & Ronchetti (2009), "Robust
Statistics"; Satterthwaite (1946), Biometrics Bulletin 2.
"""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from iogate.judge.borrowed import Borrowed
from iogate.judge.gate.distributions import student_bound, variance_ratio_bound

YOUNG = 3  # a baseline with fewer sessions cannot know its session noise
ASSUMED_SESSION_NOISE = 0.01
ASSUMED_DEGREES = 4.0  # an assumption is worth as much as five sessions, not infinitely many
NOISE_FLOOR = 0.001  # nobody measures storage better than 0.1%: identical values have this noise
_HUBER = 1.345  # 95% efficient on normal noise
_USUAL = 0.98  # confidence up to which a workload's session noise may be that of others
_TRUSTED = 16.0  # degrees of freedom that the others' sessions can give a workload: they differ from it
_DOUBTED = 6.0  # the most where they differ wildly; far out in the tail more would not hold
DOUBTED_SHARE = 0.25  # of devices whose workloads differ more than they seem to
_NOISIER = 0.999  # confidence at which a candidate counts as noisier than its baseline,
_NOISIER_ALONE = 0.95  # one with single repetitions, which cannot tell how those differ,
_DISAGREE = 0.99  # and at which two repetitions do: one of them is a stall, and neither outvotes the other


@dataclass(frozen=True)
class Noise:
    """The noise of a baseline, in natural logarithms (0.01 is 1%).

    `centre` is the mean over sessions, `spread` the variance of the session values, `sessions` their number
    K and `repetitions` the harmonic mean m of the repetitions in each. `session` and `repetition` are the
    variances of the two components with their degrees of freedom; `resolution` is the step between
    neighbouring values if the metric is quantised, else 0. `assumed` says that `session` is a guess, of which
    `lenient` is the smaller one; `learnt` says what it was learnt from, where that is more than it. `stalls`
    are how much worse than their sessions outliers of the baseline were, of so many `values`.
    """

    centre: float
    spread: float
    sessions: int
    repetitions: float
    session: float
    session_degrees: float
    repetition: float
    repetition_degrees: float
    resolution: float
    assumed: bool
    lenient: float
    doubted_degrees: float
    learnt: str = ""
    stalls: tuple[float, ...] = ()
    values: int = 1

    @property
    def passing(self) -> Noise:
        """The noise to pass by, where the session noise is assumed: a failure asks for the larger guess."""
        return self if self.lenient == self.session else replace(self, session=self.lenient)

    @property
    def unreduced(self) -> float:
        """The part of the variance of the difference that more repetitions of the candidate do not reduce."""
        inverse = 1 / self.sessions
        return self.session * (1 + inverse) + self.repetition * inverse / self.repetitions


@dataclass(frozen=True)
class Difference:
    """How much worse (positive) the candidate is, in logarithms, and what the noise says about it.

    `unreduced` and `repetition` make the squared standard error `unreduced + repetition / n`; `session` is
    the variance between sessions that it contains. `noisier` says that the repetitions scatter more than the
    baseline's, `doubted_degrees` are those if the device's workloads differ more than they seem to (0: the
    same). If a third of the repetitions or more are outliers on the better side, `kept` is how much worse
    than the baseline the best third is at most; if a quarter or more are on the worse side, `lost` is how
    much worse the worst quarter is at least. `unexplained` is how much worse those repetitions are which
    the baseline's stalls do not explain; None: no stalls explain any.
    """

    worse: float
    unreduced: float
    repetition: float
    degrees: float
    outliers: int = 0
    noisier: bool = False
    session: float = 0.0
    kept: float = math.inf
    doubted_degrees: float = 0.0
    lost: float = -math.inf
    unexplained: tuple[float, ...] | None = None

    def error(self, repetitions: int) -> float:
        """Return standard error of the difference after so many repetitions."""
        return math.sqrt(self.unreduced + self.repetition / repetitions)


def huber(values: Sequence[float], scale: float) -> float:
    """Return huber's location of `values` with a known `scale`: no value moves it by more than 1.345 scale /
    n.
    """
    centre = math.fsum(values) / len(values)
    reach = _HUBER * scale
    if len(values) < 3 or all(abs(value - centre) <= reach for value in values):
        return centre
    centre = statistics.median(values)
    for _ in range(200):
        moved = math.fsum(min(max(v, centre - reach), centre + reach) for v in values) / len(values)
        if abs(moved - centre) <= 1e-12 * scale:
            break
        centre = moved
    return centre


def outlier_limit(degrees: float) -> float:
    """From how many standard deviations on a value is an outlier: 3 where the noise is well known."""
    return student_bound(max(1.0, degrees), 0.00135)


def winsorise(values: Sequence[float], centre: float, reach: float) -> list[float]:
    """Return `values`, those further than `reach` from `centre` moved to that distance."""
    return [min(max(value, centre - reach), centre + reach) for value in values]


def sum_of_squares(values: Sequence[float]) -> float:
    """Return sum of squared distances from the mean."""
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values)


def rough_scale(sessions: Sequence[Sequence[float]]) -> float:
    """Return standard deviation from the median difference of two repetitions of a session: blind to
    stalls.
    """
    pairs = [abs(a - b) for session in sessions for a, b in itertools.combinations(session, 2)]
    return statistics.median(pairs) / (0.6745 * math.sqrt(2)) if pairs else 0.0


def _resolution(values: Sequence[float]) -> float:
    """Return the smallest step between different values if at least half of them repeat, as fio's bins do."""
    distinct = sorted(set(values))
    if len(values) < 6 or not 2 <= len(distinct) <= len(values) / 2:
        return 0.0
    return min(b - a for a, b in itertools.pairwise(distinct))


@dataclass(frozen=True)
class Components:
    """What the values of a baseline say by themselves; the names are those of `Noise`.

    `centres` are the values of the sessions, in their order.
    """

    centres: tuple[float, ...]
    centre: float
    spread: float
    repetitions: float
    repetition: float
    repetition_degrees: float
    resolution: float
    stalls: tuple[float, ...]
    values: int

    @property
    def sessions(self) -> int:
        """How many sessions there are."""
        return len(self.centres)


@functools.lru_cache(maxsize=512)
def components(sessions: tuple[tuple[float, ...], ...]) -> Components:
    """Return what the sessions' values (logarithms) say about their noise."""
    count = len(sessions)
    degrees = float(sum(map(len, sessions)) - count)
    resolution = _resolution([value for session in sessions for value in session])
    rough = max(rough_scale(sessions), resolution / math.sqrt(12))
    reach = rough * outlier_limit(degrees / 2) if rough > 0 else math.inf
    within = 0.0
    centres = []
    stalls: list[float] = []
    for session in sessions:
        centre = huber(session, rough if rough > 0 else math.inf)
        centres.append(centre)
        within += sum_of_squares(winsorise(session, centre, reach))
        stalls += [value - centre for value in session if value - centre > reach]
    repetition = within / degrees if degrees else 0.0
    harmonic = count / math.fsum(1 / len(session) for session in sessions)
    spread = sum_of_squares(centres) / (count - 1) if count > 1 else 0.0
    return Components(
        centres=tuple(centres),
        centre=math.fsum(centres) / count,
        spread=spread,
        repetitions=harmonic,
        repetition=repetition,
        repetition_degrees=degrees,
        resolution=resolution,
        stalls=tuple(stalls),
        values=sum(map(len, sessions)),
    )


@functools.lru_cache(maxsize=512)
def baseline_noise(
    sessions: tuple[tuple[float, ...], ...], assumed: float | None, borrowed: Borrowed | None = None
) -> Noise:
    """Estimate the noise of a baseline from its sessions' values (logarithms).

    `assumed` is the relative session noise to assume if there are fewer than three sessions; without it, it
    is assumed to be at least 1% and at least the repetition noise. What is `borrowed` from other workloads
    moderates both components.
    """
    found = components(sessions)
    count, inverse = found.sessions, 1 / found.repetitions
    repetition, degrees, spread = found.repetition, found.repetition_degrees, found.spread
    session_degrees = doubted_degrees = float(count - 1)
    learnt = borrowed is not None and assumed is None and _usual(found, repetition, borrowed)
    if borrowed and learnt:
        usual = borrowed.repetition, borrowed.repetition_degrees
        repetition, degrees = _moderate((repetition, degrees), usual)
        prior = borrowed.session + repetition * inverse, borrowed.session_degrees
        spread, session_degrees = _moderate((spread, session_degrees), prior)
        session_degrees = max(count - 1.0, min(session_degrees, borrowed.evidence, _TRUSTED))
        doubted_degrees = max(count - 1.0, min(count - 1.0 + borrowed.doubted_degrees, _DOUBTED))
        doubted_degrees = min(session_degrees, doubted_degrees)
    between = lenient = spread - repetition * inverse
    if count < YOUNG and not learnt:
        cautious = max(ASSUMED_SESSION_NOISE**2, repetition)
        mild = max(ASSUMED_SESSION_NOISE**2, repetition / 9)
        if assumed is not None:
            cautious = mild = assumed**2
        lenient = max(mild, between)
        between = max(cautious, between)
        session_degrees = doubted_degrees = ASSUMED_DEGREES if assumed is None else 1e6
    least = max(NOISE_FLOOR**2, found.resolution**2 / 12)
    return Noise(
        found.centre,
        spread,
        count,
        found.repetitions,
        max(between, least),
        session_degrees,
        repetition,
        degrees,
        found.resolution,
        assumed=count < YOUNG and not learnt,
        lenient=max(lenient, least),
        doubted_degrees=doubted_degrees,
        learnt=borrowed.text if borrowed and learnt else "",
        stalls=found.stalls,
        values=found.values,
    )


def _usual(found: Components, repetition: float, borrowed: Borrowed) -> bool:
    """Return whether the sessions of a workload differ as those of others may, and it can learn from them."""
    if not (borrowed.session_degrees and found.repetition_degrees):
        return False
    usual = borrowed.session + repetition / found.repetitions
    own = found.sessions - 1.0
    return not own or found.spread <= usual * variance_ratio_bound(own, borrowed.session_degrees, _USUAL)


def _moderate(own: tuple[float, float], prior: tuple[float, float]) -> tuple[float, float]:
    """Return a variance moderated by its prior, with the degrees of freedom of both (Smyth 2004, 3)."""
    degrees = own[1] + prior[1]
    return (own[0] * own[1] + prior[0] * prior[1]) / degrees, degrees


def difference(
    noise: Noise, candidate: Sequence[float], *, assumed: float | None = None, chance: float = 1.0
) -> Difference:
    """Compare a candidate session's values (logarithms, larger is worse) with a baseline's noise. Stalls may
    be called a change by `chance`.
    """
    if noise.repetition_degrees == 0:
        return _without_replication(noise, candidate, assumed)
    n = len(candidate)
    scale = max(math.sqrt(noise.repetition), noise.resolution / math.sqrt(12), NOISE_FLOOR / 10)
    centre = huber(candidate, scale)
    reach = scale * outlier_limit(noise.repetition_degrees)
    found = Difference(
        worse=centre - noise.centre,
        unreduced=noise.unreduced,
        repetition=noise.repetition,
        degrees=noise.session_degrees,
        session=noise.session,
    )
    worse = [value - noise.centre for value in candidate]
    unexplained = _unexplained(noise, worse, reach, chance)
    found = replace(_with_outliers(found, worse, reach), unexplained=unexplained)
    squares = sum_of_squares(winsorise(candidate, centre, reach))
    if n > 1 and _noisier(squares / (n - 1), n - 1, scale**2, noise.repetition_degrees):
        own = sum_of_squares(candidate) / (n - 1)
        degrees = satterthwaite([(noise.unreduced, noise.session_degrees), (own / n, n - 1.0)])
        return replace(found, repetition=own, degrees=degrees, noisier=True)
    return _pool(noise, found, squares, n)


def _with_outliers(found: Difference, worse: Sequence[float], reach: float) -> Difference:
    """Return `found` with what it says of outliers: those repetitions whose distance from the baseline is
    further than `reach` from what was found.
    """
    better = sorted(value for value in worse if value < found.worse - reach)
    lost = sorted((value for value in worse if value > found.worse + reach), reverse=True)
    third, quarter = math.ceil(len(worse) / 3), math.ceil(len(worse) / 4)
    return replace(
        found,
        outliers=len(better) + len(lost),
        kept=better[third - 1] if len(better) >= third else math.inf,
        lost=lost[quarter - 1] if len(lost) >= quarter else -math.inf,
    )


def _unexplained(
    noise: Noise, worse: Sequence[float], reach: float, chance: float
) -> tuple[float, ...] | None:
    """Return the repetitions that are no stalls, if so many that are come by more than `chance` where they
    come as often, and as bad, as in the baseline (by Laplace's rule of succession); else None.
    """
    if not noise.stalls:
        return None
    worst = max(noise.stalls) + reach
    stalls = [value for value in worse if reach < value <= worst]
    if not stalls:
        return None
    known = sum(stall > min(stalls) - reach for stall in noise.stalls)
    likely = _at_least(len(stalls), len(worse), (known + 1) / (noise.values + 2)) > chance
    return tuple(value for value in worse if not reach < value <= worst) if likely else None


def _at_least(count: int, of: int, share: float) -> float:
    """Return the chance of `count` or more successes `of` so many (binomial)."""
    return math.fsum(math.comb(of, n) * share**n * (1 - share) ** (of - n) for n in range(count, of + 1))


def _pool(noise: Noise, found: Difference, squares: float, n: int) -> Difference:
    """Return `found` with the repetition noise of baseline and candidate together."""
    pooled_degrees = noise.repetition_degrees + n - 1
    pooled = (noise.repetition * noise.repetition_degrees + squares) / pooled_degrees
    inverse = 1 / noise.sessions
    sessions = noise.session * (1 + inverse)
    unreduced = sessions + pooled * inverse / noise.repetitions
    spread = sessions if noise.assumed else max(noise.spread, noise.session) * (1 + inverse)
    rest = unreduced - sessions + pooled / n if noise.assumed else pooled * (1 / n - 1 / noise.repetitions)

    def degrees(session_degrees: float) -> float:
        both = satterthwaite([(spread, session_degrees), (rest, pooled_degrees)])
        return both if noise.assumed else max(session_degrees, both)

    return replace(
        found,
        unreduced=unreduced,
        repetition=pooled,
        degrees=degrees(noise.session_degrees),
        doubted_degrees=degrees(noise.doubted_degrees),
    )


def _without_replication(noise: Noise, candidate: Sequence[float], assumed: float | None) -> Difference:
    """Return one repetition per session: `noise.session` holds both kinds of noise, and cannot tell them
    apart.
    """
    n = len(candidate)
    own = sum_of_squares(candidate) / (n - 1) if n > 1 else 0.0
    scale = max(rough_scale([candidate]) if n > 2 else 0.0, math.sqrt(noise.session))
    found = Difference(
        worse=huber(candidate, scale) - noise.centre,
        unreduced=noise.unreduced,
        repetition=0.0,
        degrees=noise.session_degrees,
        session=noise.session,
    )
    reach = scale * outlier_limit(n - 1)  # the candidate alone has repetitions that tell them
    found = _with_outliers(found, [value - noise.centre for value in candidate], reach)
    if noise.assumed:
        session = noise.session if assumed is not None else max(noise.session, own)
        unreduced = session * (1 + 1 / noise.sessions) + own / noise.sessions
        degrees = satterthwaite([(unreduced, noise.session_degrees), (own / n, max(1.0, n - 1.0))])
        return replace(found, unreduced=unreduced, repetition=own, degrees=degrees, session=session)
    if n > 1 and _noisier(own, n - 1, noise.session, noise.session_degrees, _NOISIER_ALONE):
        degrees = satterthwaite([(noise.unreduced, noise.session_degrees), (own / n, n - 1.0)])
        return replace(found, repetition=own, degrees=degrees, noisier=True)
    return found


def own_difference(candidate: Sequence[float]) -> Difference:
    """Return a candidate's distance from 0 by its own repetitions alone."""
    n = len(candidate)
    own = max(sum_of_squares(candidate) / (n - 1) if n > 1 else 0.0, NOISE_FLOOR**2)
    scale = rough_scale([candidate]) if n > 2 else 0.0
    centre = huber(candidate, scale) if scale > 0 else math.fsum(candidate) / n
    found = Difference(centre, 0.0, own, max(1.0, n - 1.0))
    return _with_outliers(found, candidate, scale * outlier_limit(n - 1)) if scale > 0 else found


def _noisier(
    variance: float, degrees: float, known: float, known_degrees: float, confidence: float = _NOISIER
) -> bool:
    asked = confidence if degrees > 1 else min(confidence, _DISAGREE)
    return known > 0 and variance / known > variance_ratio_bound(degrees, known_degrees, asked)


def satterthwaite(parts: Sequence[tuple[float, float]]) -> float:
    """Return degrees of freedom of a sum of variances, each given with its own."""
    total = sum(variance for variance, _ in parts)
    return total**2 / max(sum(variance**2 / degrees for variance, degrees in parts), 1e-300)
