"""How a device's speed goes within each of its sessions: it warms up, or slows down as it gets hot or as a
cache fills.

Values of different places in a session are then not those of one speed: the mean of two repetitions is not to
be held against that of five. What places differ by is told from noise by all sessions together (two-way
layout without interaction; Scheffé, The Analysis of Variance, 1959, ch. 4), and taken out where it is beyond
chance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from iogate.judge.gate.distributions import variance_ratio_bound
from iogate.judge.gate.noise import NOISE_FLOOR, YOUNG
from iogate.judge.gate.values import BaselineValues, Unusable, read_sessions

_CHANCE = 0.01


@dataclass(frozen=True)
class Course:
    """By how much each place in a session differs from its mean: `steps`, logarithms whose sum is 0."""

    steps: tuple[float, ...]

    @property
    def span(self) -> float:
        """How much faster or slower the fastest place is than the slowest, relative."""
        return math.expm1(max(self.steps) - min(self.steps))

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
    count = len(whole)
    rows = [_centred([math.log(value) for value in session[:places]]) for session in whole]
    steps = [math.fsum(column) / count for column in zip(*rows, strict=True)]
    rest = math.fsum((value - step) ** 2 for row in rows for value, step in zip(row, steps, strict=True))
    degrees, known = places - 1, (places - 1) * (count - 1)
    between = count * math.fsum(step**2 for step in steps) / degrees
    noise = max(rest / known, NOISE_FLOOR**2)
    beyond = between > noise * variance_ratio_bound(degrees, known, 1 - chance)
    return Course(tuple(steps)) if beyond else None


def change_behind(values: Sequence[float], places: int, chance: float) -> float:
    """Return by how much the repetitions of a session behind the first `places` differ from these, relative;
    0 where that may be chance, as it is in a part of `chance` (one-way layout of two groups), or is not
    known.
    """
    known = len(values) - 2
    if known < 1 or not 0 < places < len(values) or not all(0 < value < math.inf for value in values):
        return 0.0
    first, behind = ([math.log(value) for value in part] for part in (values[:places], values[places:]))
    groups = (_centred(first), _centred(behind))
    noise = max(math.fsum(value**2 for group in groups for value in group) / known, NOISE_FLOOR**2)
    change = math.fsum(behind) / len(behind) - math.fsum(first) / len(first)
    between = change**2 * len(first) * len(behind) / len(values)
    return math.expm1(change) if between > noise * variance_ratio_bound(1, known, 1 - chance) else 0.0


def change_within(values: Sequence[float], chance: float) -> float:
    """Return the largest change within a session, wherever it is, as `change_behind` does at one place."""
    places = range(1, len(values))
    found = (change_behind(values, place, chance / len(places)) for place in places)
    return max(found, key=abs, default=0.0)


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
