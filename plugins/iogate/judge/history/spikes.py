"""Sessions that stand out alone: they are no change, and must not hide one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from iogate.judge.history.scan import SHORTEST, Array

FLOOR = 0.001
"""Nobody measures storage better than 0.1%, in logarithms."""
_ROUNDS = 8
_ALONE = 3.0  # standard deviations beyond what three sessions in a row reach
_FEW = 4.0  # sessions of which it takes twice as many: their standard deviation is told badly


def scale_of(values: Array, errors: Array) -> float:
    """Return the standard deviation of a session by the differences of neighbours, which few changes and
    spikes do not move.
    """
    least = max(FLOOR, float(np.median(errors)))
    if len(values) < SHORTEST:
        return least
    return max(least, float(np.median(np.abs(np.diff(values)))) / (0.6745 * math.sqrt(2)))


def spike_limit(scale: float, count: int) -> float:
    """Return how far beyond three sessions in a row one must lie to stand out, in a series of so many."""
    return _ALONE * scale * (1 + _FEW / max(1, count))


def without_spikes(values: Array, limit: float) -> Array:
    """Return the values, of one series or [session][series], of which those are drawn in that stand out for
    less than three sessions.

    Such a value becomes what three sessions in a row reach, one of which it is: the opening, or the closing,
    of mathematical morphology, Serra (1982). At the ends of a series it becomes what any three in a row
    reach: the first two and the last two sessions may be all that is seen of a level that was there before,
    and what lies beside them the spike. Once more, as one between two spikes looks like one itself.
    """
    calm = values
    for _ in range(_ROUNDS if len(values) >= SHORTEST else 0):
        before, calm = calm, _drawn_in(calm, limit)
        if (calm == before).all():
            break
    return calm


def without_spikes_of_levels(values: Array, calm: Array, points: Sequence[int], limit: float) -> Array:
    """Return the values of a series, of which those are drawn in, as in `calm`, that stand out within their
    level, too; these begin at `points`. Of three sessions that are a level two are no spikes, though they
    lie beyond the third.
    """
    found: Array = calm.copy()
    for start, stop in itertools.pairwise([0, *points, len(values)]):
        level = values[start:stop]
        usual = np.abs(level - np.median(level)) <= limit
        found[start:stop][usual] = level[usual]
    return found


def _drawn_in(values: Array, limit: float) -> Array:
    reached, kept = _reached(values), -_reached(-values)
    above, below = values > reached + limit, values < kept - limit
    calm: Array = np.select([above & below, above, below], [(reached + kept) / 2, reached, kept], values)
    return calm


def _reached(values: Array) -> Array:
    """Return what three sessions in a row reach, one of which each session is; at the ends, any three."""
    lowest = np.minimum(np.minimum(values[:-2], values[1:-1]), values[2:])
    ends = np.repeat(lowest.max(axis=0, keepdims=True), SHORTEST - 1, axis=0)
    padded = np.concatenate([ends, lowest, ends])
    best: Array = np.maximum(np.maximum(padded[:-2], padded[1:-1]), padded[2:])
    return best
