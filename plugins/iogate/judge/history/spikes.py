"""Sessions that stand out alone: they are no change, and must not hide one."""

from __future__ import annotations

import math

import numpy as np

from iogate.judge.history.scan import SHORTEST, Array

FLOOR = 0.001
"""Nobody measures storage better than 0.1%, in logarithms."""
_ROUNDS = 8
_ALONE = 3.0  # standard deviations beyond what three sessions in a row reach


def scale_of(values: Array, errors: Array) -> float:
    """Return the standard deviation of a session by the differences of neighbours, which few changes and
    spikes do not move.
    """
    least = max(FLOOR, float(np.median(errors)))
    if len(values) < SHORTEST:
        return least
    return max(least, float(np.median(np.abs(np.diff(values)))) / (0.6745 * math.sqrt(2)))


def without_spikes(values: Array, scale: float) -> tuple[Array, tuple[int, ...]]:
    """Return the values, and which of them were drawn in, as they stand out for less than three sessions.

    Such a value becomes what three sessions in a row reach, one of which it is: the opening, or the closing,
    of mathematical morphology, Serra (1982). Once more, as one between two spikes looks like one itself.
    """
    calm = values
    for _ in range(_ROUNDS if len(values) >= SHORTEST else 0):
        before, calm = calm, _drawn_in(calm, scale)
        if (calm == before).all():
            break
    return calm, tuple(int(index) for index in np.flatnonzero(calm != values))


def _drawn_in(values: Array, scale: float) -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(values, SHORTEST)
    reached, kept = _best_of_windows(windows.min(axis=1)), -_best_of_windows(-windows.max(axis=1))
    above, below = values > reached + _ALONE * scale, values < kept - _ALONE * scale
    calm: Array = np.select([above & below, above, below], [(reached + kept) / 2, reached, kept], values)
    return calm


def _best_of_windows(bounds: Array) -> Array:
    """Return the greatest of the bounds of the windows that each session is in."""
    padded = np.pad(bounds, SHORTEST - 1, constant_values=-np.inf)
    best: Array = np.lib.stride_tricks.sliding_window_view(padded, SHORTEST).max(axis=1)
    return best
