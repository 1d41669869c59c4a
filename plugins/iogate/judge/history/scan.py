"""The stretch of a series that differs most from the rest of it.

A stretch that begins or ends the series is a step; one amid it is a change that was taken back. Looking for
both at once is circular binary segmentation: Olshen, Venkatraman, Lucito & Wigler (2004), Biostatistics 5.
Lengths of stretches amid the series are tried on a geometric grid, so that the time grows as n log n:
Kovács, Bühlmann, Li & Munk (2023), "Seeded binary segmentation", Biometrika 110.

Where neighbours correlate, squares are those of generalised least squares (Aitken 1935): what wanders comes
slowly, and a step at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]

SHORTEST = 3
"""Sessions of the shortest stretch: what is gone after two of them was none."""
_GROWTH = 1.4  # from one length of a stretch to the next


@dataclass(frozen=True)
class Stretch:
    """The sessions from `start` up to `stop`, which differ from the others; `share` is what of the squared
    deviations from the mean that explains.
    """

    start: int
    stop: int
    share: float


@lru_cache(maxsize=256)
def _lengths(count: int) -> tuple[int, ...]:
    """Return the lengths of stretches amid so many sessions."""
    found, length = [], SHORTEST
    while length <= count - 2 * SHORTEST:
        found.append(length)
        length = max(length + 1, int(length * _GROWTH))
    return tuple(found)


def most_different(values: Array, weights: Array, correlation: float = 0.0) -> Stretch:
    """Return the stretch of one series that differs most from the rest; `correlation` is that of
    neighbours.
    """
    count = len(values)
    inverse = _inverse(weights, correlation)
    sums, deviations = _sums(values[:, None], inverse)
    best = Stretch(0, count, 0.0)
    if deviations[0] <= 0:
        return best
    for start, stop, length in _families(count):
        explained = _explained(sums, inverse, start, stop, length)[:, 0]
        place = int(np.argmax(explained))
        share = float(explained[place] / deviations[0])
        if share > best.share:
            begin = 0 if start is None else start + place
            end = SHORTEST + place if start is None else begin + length
            best = Stretch(begin, end, min(share, 1.0))
    return best


def largest_shares(values: Array, weights: Array, correlation: float = 0.0) -> Array:
    """Return the share of the most different stretch of each series; `values` are [session][series]."""
    inverse = _inverse(weights, correlation)
    sums, deviations = _sums(values, inverse)
    best: Array = np.zeros(values.shape[1])
    for start, stop, length in _families(len(values)):
        np.maximum(best, _explained(sums, inverse, start, stop, length).max(axis=0), out=best)
    share: Array = best / np.maximum(deviations, 1e-300)
    return share


@dataclass(frozen=True)
class _Inverse:
    """The inverse of the covariance of sessions each of which correlates with the one before, AR(1): the
    diagonal, what stands `beside` it, all else being zero, and its `rows`. Running sums of them follow.
    """

    diagonal: Array
    beside: Array
    rows: Array
    of_diagonal: Array
    of_beside: Array
    of_rows: Array


def _inverse(weights: Array, correlation: float) -> _Inverse:
    diagonal = weights * (1 + correlation**2)
    diagonal[[0, -1]] = weights[[0, -1]]
    beside = -correlation * np.sqrt(weights[1:] * weights[:-1])
    rows = diagonal.copy()
    rows[1:] += beside
    rows[:-1] += beside
    none = np.zeros(1)
    return _Inverse(
        diagonal,
        beside,
        rows,
        np.concatenate([none, np.cumsum(diagonal)]),
        np.concatenate([none, none, np.cumsum(beside)]),
        np.concatenate([none, np.cumsum(rows)]),
    )


def _sums(values: Array, inverse: _Inverse) -> tuple[Array, Array]:
    """Return running sums of the deviations from the mean, weighted by the inverse, and their squares."""
    deviations = values - (inverse.rows[:, None] * values).sum(axis=0) / inverse.of_rows[-1]
    weighted = inverse.diagonal[:, None] * deviations
    weighted[1:] += inverse.beside[:, None] * deviations[:-1]
    weighted[:-1] += inverse.beside[:, None] * deviations[1:]
    sums = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(weighted, axis=0)])
    return sums, (weighted * deviations).sum(axis=0)


def _families(count: int) -> list[tuple[int | None, int, int]]:
    """Return families of stretches: (None, last, 0) are those from the beginning on; (first, last, length)
    those of one length. `last` is the greatest end.
    """
    last = count - SHORTEST
    return [(None, last, 0), *((SHORTEST, last, length) for length in _lengths(count))]


def _explained(sums: Array, inverse: _Inverse, start: int | None, stop: int, length: int) -> Array:
    """Return the squares that each stretch of a family explains, [stretch][series]."""
    ends = np.arange(SHORTEST if start is None else start + length, stop + 1)
    begins = np.zeros_like(ends) if start is None else ends - length
    rows = inverse.of_rows[ends] - inverse.of_rows[begins]
    own = inverse.of_diagonal[ends] - inverse.of_diagonal[begins]
    own += 2 * (inverse.of_beside[ends] - inverse.of_beside[begins + 1])
    part = sums[ends] - sums[begins]
    explained: Array = part**2 / (own - rows**2 / inverse.of_rows[-1])[:, None]
    return explained
