"""What a baseline says about the noise: one-way random effects on a logarithmic scale.

Sessions differ (session noise) and so do the repetitions of one session (repetition noise). Stalls must not
decide: session values are Huber's M-estimates, which move with every value but never far for a single one,
and variances are computed from values pulled in to a few standard deviations (winsorised).
Source: Searle, Casella & McCulloch (1992), "Variance Components".
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from iogate.judge.borrowed import Borrowed
from iogate.judge.gate.distributions import WELL_KNOWN, student_bound, variance_ratio_bound
from iogate.judge.gate.robust import huber, outlier_limit, rough_scale, sum_of_squares, winsorise

YOUNG = 3  # a baseline with fewer sessions cannot know its session noise
ASSUMED_SESSION_NOISE = 0.01
ASSUMED_DEGREES = 4.0  # an assumption is worth as much as five sessions, not infinitely many
NOISE_FLOOR = 0.001  # nobody measures storage better than 0.1%: identical values have this noise
_FAR = 0.004  # of sessions, as far as where a failure is doubted that is one of 1000
_USUAL = 0.98  # confidence up to which a workload's session noise may be that of others
_FAR_LESS = 0.999  # confidence beyond which it is another one, as the least of many may be by chance
_TRUSTED = 16.0  # degrees of freedom that the others' sessions can give a workload: they differ from it
_DOUBTED = 6.0  # the most where they differ wildly; far out in the tail more would not hold
DOUBTED_SHARE = 0.25  # of devices whose workloads differ more than they seem to


@dataclass(frozen=True)
class Noise:
    """The noise of a baseline, in natural logarithms (0.01 is 1%).

    `centre` is the mean over sessions, `spread` the variance of the session values, `sessions` their number
    K and `repetitions` the harmonic mean m of the repetitions in each. `session` and `repetition` are the
    variances of the two components with their degrees of freedom; `resolution` is the step between
    neighbouring values if the metric is quantised, else 0. `assumed` says that `session` is a guess, of which
    `lenient` is the smaller one; `learnt` says what was learnt from others, and what is made of it. `stalls`
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
def components(sessions: tuple[tuple[float, ...], ...], resolution: float = 0.0) -> Components:
    """Return what the sessions' values (logarithms) say about their noise; values that never differ do not
    say how far apart their steps are, which is the `resolution` if it is known.
    """
    count = len(sessions)
    degrees = float(sum(map(len, sessions)) - count)
    resolution = max(resolution, _resolution([value for session in sessions for value in session]))
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
    sessions: tuple[tuple[float, ...], ...],
    assumed: float | None,
    borrowed: Borrowed | None = None,
    resolution: float = 0.0,
) -> Noise:
    """Estimate the noise of a baseline from its sessions' values (logarithms).

    `assumed` is the relative session noise to assume if there are fewer than three sessions; without it, it
    is assumed to be at least 1% and at least the repetition noise. What is `borrowed` from other workloads
    moderates both components; one session, which tells nothing of how sessions differ, may be judged by the
    assumption instead, where that is larger, and surer than what was learnt from a few. Values are known to
    come in steps of `resolution` (0: nothing is known).
    """
    found = components(sessions, resolution)
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
    told = borrowed.text if borrowed and learnt else ""
    cautious = max(ASSUMED_SESSION_NOISE**2, found.repetition)
    mild = max(ASSUMED_SESSION_NOISE**2, found.repetition / 9)
    if count < YOUNG and not learnt:
        if assumed is not None:
            cautious = mild = assumed**2
        lenient = max(mild, between)
        between = max(cautious, between)
        session_degrees = doubted_degrees = ASSUMED_DEGREES if assumed is None else WELL_KNOWN
    elif learnt and count == 1 and _is_surer(cautious, between, doubted_degrees):
        lenient = between if session_degrees >= ASSUMED_DEGREES else max(mild, between)
        between = cautious
        session_degrees = max(session_degrees, ASSUMED_DEGREES)
        doubted_degrees = max(doubted_degrees, ASSUMED_DEGREES)
        others = told.removeprefix("session noise ")
        told = f"session noise is taken to be {math.sqrt(cautious):.1%}, as one session cannot tell"
        told += f"; of others it is {others}"
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
        learnt=told,
        stalls=found.stalls,
        values=found.values,
    )


def _is_surer(assumed: float, learnt: float, degrees: float) -> bool:
    """Return whether an assumed session noise is no less than the learnt one, and tells better how far apart
    sessions may be by chance.
    """
    reach = math.sqrt(assumed) * student_bound(ASSUMED_DEGREES, _FAR)
    return learnt <= assumed and reach < math.sqrt(learnt) * student_bound(degrees, _FAR)


def _usual(found: Components, repetition: float, borrowed: Borrowed) -> bool:
    """Return whether the sessions of a workload differ as those of others may, and it can learn from them:
    neither far more, nor, where there are enough to know, far less.
    """
    if not (borrowed.session_degrees and found.repetition_degrees):
        return False
    usual = borrowed.session + repetition / found.repetitions
    own, others = found.sessions - 1.0, borrowed.session_degrees
    if own >= YOUNG and usual > max(found.spread, NOISE_FLOOR**2) * variance_ratio_bound(
        others, own, _FAR_LESS
    ):
        return False
    return not own or found.spread <= usual * variance_ratio_bound(own, others, _USUAL)


def _moderate(own: tuple[float, float], prior: tuple[float, float]) -> tuple[float, float]:
    """Return a variance moderated by its prior, with the degrees of freedom of both (Smyth 2004, 3)."""
    degrees = own[1] + prior[1]
    return (own[0] * own[1] + prior[0] * prior[1]) / degrees, degrees


def _resolution(values: Sequence[float]) -> float:
    """Return the smallest step between different values if at least half of them repeat, as fio's bins do."""
    distinct = sorted(set(values))
    if len(values) < 6 or not 2 <= len(distinct) <= len(values) / 2:
        return 0.0
    return min(b - a for a, b in itertools.pairwise(distinct))
