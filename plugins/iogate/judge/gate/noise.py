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

from iogate.judge.gate.distributions import student_bound, variance_ratio_bound

YOUNG = 3  # a baseline with fewer sessions cannot know its session noise
ASSUMED_SESSION_NOISE = 0.01
ASSUMED_DEGREES = 4.0  # an assumption is worth as much as five sessions, not infinitely many
NOISE_FLOOR = 0.001  # nobody measures storage better than 0.1%: identical values have this noise
_HUBER = 1.345  # 95% efficient on normal noise
_NOISIER = 0.999  # confidence at which a candidate counts as noisier than its baseline,
_DISAGREE = 0.99  # and at which two repetitions do: one of them is a stall, and neither outvotes the other


@dataclass(frozen=True)
class Noise:
    """The noise of a baseline, in natural logarithms (0.01 is 1%).

    `centre` is the mean over sessions, `spread` the variance of the session values, `sessions` their number
    K and `repetitions` the harmonic mean m of the repetitions in each. `session` and `repetition` are the
    variances of the two components with their degrees of freedom; `resolution` is the step between
    neighbouring values if the metric is quantised, else 0.
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

    @property
    def young(self) -> bool:
        """Whether the session noise is assumed and not measured."""
        return self.sessions < YOUNG

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
    baseline's, `contradicted` that a third of them or more are outliers on the better side.
    """

    worse: float
    unreduced: float
    repetition: float
    degrees: float
    outliers: int = 0
    noisier: bool = False
    session: float = 0.0
    contradicted: bool = False

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


@functools.lru_cache(maxsize=512)
def baseline_noise(sessions: tuple[tuple[float, ...], ...], assumed: float | None) -> Noise:
    """Estimate the noise of a baseline from its sessions' values (logarithms).

    `assumed` is the relative session noise to assume if there are fewer than three sessions; without it, it
    is assumed to be at least 1% and at least the repetition noise.
    """
    count = len(sessions)
    degrees = float(sum(map(len, sessions)) - count)
    resolution = _resolution([value for session in sessions for value in session])
    rough = max(rough_scale(sessions), resolution / math.sqrt(12))
    reach = rough * outlier_limit(degrees / 2) if rough > 0 else math.inf
    within = 0.0
    centres = []
    for session in sessions:
        centre = huber(session, rough if rough > 0 else math.inf)
        centres.append(centre)
        within += sum_of_squares(winsorise(session, centre, reach))
    repetition = within / degrees if degrees else 0.0
    harmonic = count / math.fsum(1 / len(session) for session in sessions)
    spread = sum_of_squares(centres) / (count - 1) if count > 1 else 0.0
    between = spread - repetition / harmonic
    session_degrees = float(count - 1)
    if count < YOUNG:
        guess = max(ASSUMED_SESSION_NOISE**2, repetition) if assumed is None else assumed**2
        between = max(guess, between)
        session_degrees = ASSUMED_DEGREES if assumed is None else 1e6
    between = max(between, NOISE_FLOOR**2, resolution**2 / 12)
    centre = math.fsum(centres) / count
    return Noise(centre, spread, count, harmonic, between, session_degrees, repetition, degrees, resolution)


def difference(noise: Noise, candidate: Sequence[float], *, assumed: float | None = None) -> Difference:
    """Compare a candidate session's values (logarithms, larger is worse) with a baseline's noise."""
    if noise.repetition_degrees == 0:
        return _without_replication(noise, candidate, assumed)
    n = len(candidate)
    scale = max(math.sqrt(noise.repetition), noise.resolution / math.sqrt(12), NOISE_FLOOR / 10)
    centre = huber(candidate, scale)
    reach = scale * outlier_limit(noise.repetition_degrees)
    better = sum(value < centre - reach for value in candidate)
    found = Difference(
        worse=centre - noise.centre,
        unreduced=noise.unreduced,
        repetition=noise.repetition,
        degrees=noise.session_degrees,
        outliers=better + sum(value > centre + reach for value in candidate),
        session=noise.session,
        contradicted=3 * better >= n,
    )
    squares = sum_of_squares(winsorise(candidate, centre, reach))
    if n > 1 and _noisier(squares / (n - 1), n - 1, scale**2, noise.repetition_degrees):
        own = sum_of_squares(candidate) / (n - 1)
        degrees = satterthwaite([(noise.unreduced, noise.session_degrees), (own / n, n - 1.0)])
        return replace(found, repetition=own, degrees=degrees, noisier=True)
    return _pool(noise, found, squares, n)


def _pool(noise: Noise, found: Difference, squares: float, n: int) -> Difference:
    """Return `found` with the repetition noise of baseline and candidate together."""
    pooled_degrees = noise.repetition_degrees + n - 1
    pooled = (noise.repetition * noise.repetition_degrees + squares) / pooled_degrees
    inverse = 1 / noise.sessions
    sessions = noise.session * (1 + inverse)
    unreduced = sessions + pooled * inverse / noise.repetitions
    if noise.young:
        rest = unreduced - sessions + pooled / n
        degrees = satterthwaite([(sessions, noise.session_degrees), (rest, pooled_degrees)])
    else:
        spread = max(noise.spread, noise.session) * (1 + inverse)
        rest = pooled * (1 / n - 1 / noise.repetitions)
        degrees = satterthwaite([(spread, noise.session_degrees), (rest, pooled_degrees)])
        degrees = max(noise.session_degrees, degrees)
    return replace(found, unreduced=unreduced, repetition=pooled, degrees=degrees)


def _without_replication(noise: Noise, candidate: Sequence[float], assumed: float | None) -> Difference:
    """Return one repetition per session: `noise.session` holds both kinds of noise, and cannot tell them
    apart.
    """
    n = len(candidate)
    own = sum_of_squares(candidate) / (n - 1) if n > 1 else 0.0
    scale = rough_scale([candidate]) if n > 2 else 0.0
    centre = huber(candidate, max(scale, math.sqrt(noise.session)))
    worse = centre - noise.centre
    if noise.young:
        session = noise.session if assumed is not None else max(noise.session, own)
        unreduced = session * (1 + 1 / noise.sessions) + own / noise.sessions
        parts = [(unreduced, noise.session_degrees), (own / n, max(1.0, n - 1.0))]
        return Difference(worse, unreduced, own, satterthwaite(parts), session=session)
    if n > 1 and _noisier(own, n - 1, noise.session, noise.session_degrees):
        parts = [(noise.unreduced, noise.session_degrees), (own / n, n - 1.0)]
        return Difference(worse, noise.unreduced, own, satterthwaite(parts), 0, True, noise.session)
    return Difference(worse, noise.unreduced, 0.0, noise.session_degrees, session=noise.session)


def own_difference(candidate: Sequence[float]) -> Difference:
    """Return a candidate's distance from 0 by its own repetitions alone."""
    n = len(candidate)
    own = max(sum_of_squares(candidate) / (n - 1) if n > 1 else 0.0, NOISE_FLOOR**2)
    scale = rough_scale([candidate]) if n > 2 else 0.0
    centre = huber(candidate, scale) if scale > 0 else math.fsum(candidate) / n
    return Difference(centre, 0.0, own, max(1.0, n - 1.0))


def _noisier(variance: float, degrees: float, known: float, known_degrees: float) -> bool:
    confidence = _NOISIER if degrees > 1 else _DISAGREE
    return known > 0 and variance / known > variance_ratio_bound(degrees, known_degrees, confidence)


def satterthwaite(parts: Sequence[tuple[float, float]]) -> float:
    """Return degrees of freedom of a sum of variances, each given with its own."""
    total = sum(variance for variance, _ in parts)
    return total**2 / max(sum(variance**2 / degrees for variance, degrees in parts), 1e-300)
