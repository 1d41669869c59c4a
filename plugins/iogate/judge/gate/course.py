"""How a device's speed goes within each of its sessions: it warms up, or slows down as it gets hot or as a
cache fills.

Values of different places in a session are then not those of one speed: the mean of two repetitions is not to
be held against that of five. What places differ by is told from noise by all sessions together (two-way
layout without interaction; Scheffé, The Analysis of Variance, 1959, ch. 4), and taken out where it is beyond
chance.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from iogate.judge.gate.distributions import variance_ratio_bound
from iogate.judge.gate.noise import NOISE_FLOOR, YOUNG
from iogate.judge.gate.robust import rough_scale
from iogate.judge.gate.values import BaselineValues, Unusable, read_sessions

_CHANCE = 0.01
_REST = 0.01
_BEGINNING = 0.125
_STALLED, _FAR = math.log(0.75), 8.0  # times the noise
_NORMAL = 0.6745  # of the standard deviation: the median distance from the middle


@dataclass(frozen=True)
class Course:
    """By how much each place in a session differs from its mean: `steps`, logarithms whose sum is 0. It is
    `settled` where those behind the first differ by no more than chance makes.
    """

    steps: tuple[float, ...]
    settled: bool = False

    @property
    def span(self) -> float:
        """How much faster or slower the fastest place is than the slowest, relative."""
        return math.expm1(max(self.steps) - min(self.steps))

    @property
    def falls(self) -> float:
        """How much slower a place is than one before it at the most, relative: of what warms up nothing."""
        pairs = zip(itertools.accumulate(self.steps, max), self.steps, strict=True)
        return math.expm1(max((fastest - step for fastest, step in pairs), default=0.0))

    @property
    def rises(self) -> float:
        """How much faster a place is than one before it at the most, relative."""
        pairs = zip(itertools.accumulate(self.steps, min), self.steps, strict=True)
        return math.expm1(max((step - slowest for slowest, step in pairs), default=0.0))

    @property
    def begins_slowly(self) -> bool:
        """Whether its first place alone is slower, by an eighth at most, so that others differ by no more
        than chance makes, or by less than a third of that: it is how each run begins, as behind a pause, and
        nothing that work makes of the device.
        """
        first, *behind = self.steps
        alike = self.settled or max(self.falls, Course(tuple(behind)).rises) < self.span / 3
        slower = math.expm1(statistics.fmean(behind) - first)
        return first == min(self.steps) and slower <= _BEGINNING and alike

    def first(self, places: int) -> Course:
        """Return the course of the first so many places."""
        return Course(tuple(_centred(self.steps[:places])))

    def without(self, values: Sequence[float]) -> tuple[float, ...]:
        """Return the values of a session as if all its places were alike, so that one of fewer repetitions is
        as fast as if it had all; it ends with the last place that is known.
        """
        return tuple(value / math.exp(step) for value, step in zip(values, self.steps, strict=False))


def course_of(baseline: BaselineValues, most: int, chance: float = _CHANCE) -> Course | None:
    """Return the course of the first `most` repetitions, or of fewer, which half of the sessions have, and
    three at least; None
    where sessions show none, which chance does in a part of `chance`, or are too few to show one.
    """
    try:
        sessions = read_sessions(baseline)
    except Unusable:
        return None
    lengths = sorted(map(len, sessions))
    needed = max(YOUNG, len(lengths) // 2 + 1)
    places = min(most, lengths[-needed]) if len(lengths) >= needed else 0
    if places < 2:
        return None
    whole = [session for session in sessions if len(session) >= places]
    measured = [[math.log(value) for value in session[:places]] for session in whole]
    logs = undisturbed(measured)
    stalls = sum(
        a != b for row, own in zip(measured, logs, strict=True) for a, b in zip(row, own, strict=True)
    )
    if (steps := _steps(logs, chance, stalls)) is None:
        return None
    return Course(steps, settled=places > 2 and _steps([row[1:] for row in logs], _REST, stalls) is None)


def undisturbed(logs: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return sessions of equal length, in logarithms of rates, without their stalls: the one repetition of a
    session that is slower by a quarter, and by far more than others differ, than its place and the others of
    its session have it (by medians, which it moves little: Tukey, Exploratory Data Analysis, 1977, ch. 11).
    """
    middles = [statistics.median(row) for row in logs]
    places = [
        statistics.median(value - middle for value, middle in zip(column, middles, strict=True))
        for column in zip(*logs, strict=True)
    ]
    fits = [[middle + place for place in places] for middle in middles]
    apart = [
        [value - fit for value, fit in zip(row, own, strict=True)]
        for row, own in zip(logs, fits, strict=True)
    ]
    noise = max(statistics.median(abs(value) for row in apart for value in row) / _NORMAL, NOISE_FLOOR)
    found = [list(row) for row in logs]
    for row, fit, far in zip(found, fits, apart, strict=True):
        beyond = [place for place, value in enumerate(far) if abs(value) > _FAR * noise]
        if len(beyond) == 1 and far[beyond[0]] < _STALLED:
            row[beyond[0]] = fit[beyond[0]]
    return found


def _steps(logs: Sequence[Sequence[float]], chance: float, stalls: int) -> tuple[float, ...] | None:
    """Return by how much each place of sessions of equal length differs from their mean, in logarithms; None
    if chance makes so much in a part of `chance`. What stands in for `stalls` tells nothing of noise.
    """
    count, places = len(logs), len(logs[0])
    rows = [_centred(row) for row in logs]
    steps = [math.fsum(column) / count for column in zip(*rows, strict=True)]
    rest = math.fsum((value - step) ** 2 for row in rows for value, step in zip(row, steps, strict=True))
    degrees, known = places - 1, max((places - 1) * (count - 1) - stalls, 1)
    between = count * math.fsum(step**2 for step in steps) / degrees
    noise = max(rest / known, NOISE_FLOOR**2)
    beyond = between > noise * variance_ratio_bound(degrees, known, 1 - chance)
    return tuple(steps) if beyond else None


class Step(NamedTuple):
    """That a session's repetitions from a `place` on (from 0) are by `change` faster or slower than those
    before, relative.
    """

    place: int
    change: float


class SpreadWithin(NamedTuple):
    """How much repetitions of one session differ: the sum of squares of their logarithms about their means,
    and the degrees of freedom that it has.
    """

    squares: float
    degrees: int


NOTHING_KNOWN = SpreadWithin(0.0, 0)


def spread_within(sessions: Sequence[Sequence[float]]) -> SpreadWithin:
    """Return how much the repetitions of each of these sessions differ from one another, blind to those that
    something disturbed.
    """
    rows = [[math.log(value) for value in session] for session in sessions if session]
    degrees = sum(len(row) - 1 for row in rows)
    return SpreadWithin(rough_scale(rows) ** 2 * degrees if degrees else 0.0, degrees)


def step_of(
    values: Sequence[float],
    places: Sequence[int],
    *,
    before: int = 2,
    behind: int = 2,
    chance: float = _CHANCE,
    known: SpreadWithin = NOTHING_KNOWN,
) -> Step | None:
    """Return the largest step within a session at one of these places, with so many repetitions `before` it
    and `behind` it. None if there is none beyond what chance makes of a part of `chance` of all sessions
    without one (one-way layout of two groups, the places sharing the chance). What other sessions are `known`
    to differ within adds to what is known of this one's noise.
    """
    possible = [place for place in places if before <= place <= len(values) - behind]
    degrees = len(values) - 2 + known.degrees
    if not possible or degrees < 1 or not all(0 < value < math.inf for value in values):
        return None
    logs = _centred([math.log(value) for value in values])
    bound = variance_ratio_bound(1, degrees, 1 - chance / len(possible))
    count, squares = len(logs), math.fsum(value**2 for value in logs)
    sums = [0.0, *itertools.accumulate(logs)]  # the mean of all is 0
    found = []
    for place in possible:
        change = -sums[place] / (count - place) - sums[place] / place
        between = change**2 * place * (count - place) / count
        noise = max((squares - between + known.squares) / degrees, NOISE_FLOOR**2)
        if between > noise * bound:
            found.append(Step(place, math.expm1(change)))
    return max(found, key=lambda step: abs(step.change), default=None)


def level(sessions: Sequence[Sequence[float]], course: Course) -> tuple[tuple[float, ...], ...]:
    """Return the sessions of a baseline without the course that was learnt from them.

    What it was learnt from lies closer to it than what comes: values are drawn apart by as much, so that
    their noise is not told too small.
    """
    count = len(sessions)
    wider = math.sqrt(count / (count - 1))
    found = []
    for session in sessions:
        logs = [math.log(value) for value in course.without(session)]
        mean = math.fsum(logs) / len(logs)
        found.append(tuple(math.exp(mean + wider * (value - mean)) for value in logs))
    return tuple(found)


def _centred(values: Sequence[float]) -> list[float]:
    mean = math.fsum(values) / len(values)
    return [value - mean for value in values]
