"""What a series held between its changes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from iogate.judge.history.scan import SHORTEST, Array
from iogate.judge.history.spikes import FLOOR

_PLAUSIBLE = 3.84  # of a likelihood ratio: 95%


@dataclass(frozen=True)
class Level:
    """Sessions `start` up to `stop` that do not differ: their mean, and its standard error, which allows for
    the correlation of neighbours. `chance` is that of the change with which it begins (the first: 1); where
    that is, is known to be from `earliest` to `latest` only.
    """

    start: int
    stop: int
    mean: float
    error: float
    chance: float
    earliest: int
    latest: int


@dataclass(frozen=True)
class Levels:
    """What a series is made of; `noise` is the standard deviation of a session around its level, and
    `correlation` an upper bound of that of neighbours. `spikes` are sessions that stand out alone.

    `described` are the levels that fit a series best which has changed, or has a `trend` beyond chance: they
    tell what its changes add up to, and no one of them by itself is beyond chance.
    """

    levels: tuple[Level, ...]
    described: tuple[Level, ...] = ()
    noise: float = 0.0
    correlation: float = 0.0
    spikes: tuple[int, ...] = ()
    trend: bool = False

    @property
    def change_points(self) -> tuple[int, ...]:
        """The first session of each level but the first."""
        return tuple(level.start for level in self.levels[1:])


def noise_around(values: Array, weights: Array, points: Sequence[int]) -> float:
    """Return the standard deviation of a session around its level."""
    rest = 0.0
    for start, stop in itertools.pairwise([0, *points, len(values)]):
        part, weight = values[start:stop], weights[start:stop]
        rest += float(weight @ (part - np.average(part, weights=weight)) ** 2)
    return max(math.sqrt(rest / max(1, len(values) - len(points) - 1)), FLOOR)


def levels_between(
    values: Array, weights: Array, points: Mapping[int, float], noise: float, correlation: float
) -> tuple[Level, ...]:
    """Return the levels between change points, each of which has its chance."""
    variance = noise**2 * (1 + correlation) / (1 - correlation)
    edges = [0, *points, len(values)]
    found = []
    for number, (start, stop) in enumerate(itertools.pairwise(edges)):
        part, weight = values[start:stop], weights[start:stop]
        mean = float(np.average(part, weights=weight))
        error = math.sqrt(variance / float(weight.sum()))
        first, last = (0, 0)
        if number:
            before = edges[number - 1]
            where = slice(before, stop)
            first, last = _plausible(values[where], weights[where], start - before, variance)
            first, last = first + before, last + before
        found.append(Level(start, stop, mean, error, points.get(start, 1.0), first, last))
    return tuple(found)


def followed(found: Levels, count: int) -> Levels:
    """Return the levels of a series with `count` sessions behind it that stand out: they belong to its last
    level, and count in no mean.
    """
    stop = found.levels[-1].stop + count
    levels, described = (
        (*each[:-1], replace(each[-1], stop=stop)) if each else () for each in (found.levels, found.described)
    )
    return replace(
        found, levels=levels, described=described, spikes=(*found.spikes, *range(stop - count, stop))
    )


def best_place(values: Array, weights: Array, place: int) -> int:
    """Return where a part is best split in two; `place`, if no other is better."""
    explained = _explained(values, weights)
    if not len(explained) or explained.max() <= explained[place - SHORTEST] * (1 + 1e-9):
        return place
    return int(np.argmax(explained)) + SHORTEST


def _plausible(values: Array, weights: Array, place: int, variance: float) -> tuple[int, int]:
    """Return the first and the last place of a split that is nearly as likely as that at `place`."""
    explained = _explained(values, weights)
    likely = np.flatnonzero(explained >= explained[place - SHORTEST] - _PLAUSIBLE * variance) + SHORTEST
    return int(likely[0]), int(likely[-1])


def _explained(values: Array, weights: Array) -> Array:
    """Return the squares that a split explains, at each place that leaves enough on both sides."""
    total = weights.sum()
    shares = np.cumsum(weights) / total
    sums = np.cumsum((values - np.average(values, weights=weights)) * weights)
    ends = slice(SHORTEST - 1, len(values) - SHORTEST)
    explained: Array = sums[ends] ** 2 / (total * shares[ends] * (1 - shares[ends]))
    return explained
