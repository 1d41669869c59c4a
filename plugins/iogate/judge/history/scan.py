"""The stretch of a series that differs most from the rest of it.

A stretch that begins or ends the series is a step; one amid it is a change that was taken back. Looking for
both at once is circular binary segmentation: Olshen, Venkatraman, Lucito & Wigler (2004), Biostatistics 5.
Lengths of stretches amid the series are tried on a geometric grid, so that the time grows as n log n:
Kovács, Bühlmann, Li & Munk (2023), "Seeded binary segmentation", Biometrika 110.
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


def most_different(values: Array, weights: Array) -> Stretch:
    """Return the stretch of one series that differs most from the rest."""
    count = len(values)
    sums, shares, deviations = _sums(values[:, None], weights)
    best = Stretch(0, count, 0.0)
    if deviations[0] <= 0:
        return best
    for start, stop, length in _families(count):
        explained = _explained(sums, shares, start, stop, length)[:, 0]
        place = int(np.argmax(explained))
        share = float(explained[place] / deviations[0])
        if share > best.share:
            begin = 0 if start is None else start + place
            end = SHORTEST + place if start is None else begin + length
            best = Stretch(begin, end, min(share, 1.0))
    return best


def largest_shares(values: Array, weights: Array) -> Array:
    """Return the share of the most different stretch of each series; `values` are [session][series]."""
    sums, shares, deviations = _sums(values, weights)
    best: Array = np.zeros(values.shape[1])
    for start, stop, length in _families(len(values)):
        np.maximum(best, _explained(sums, shares, start, stop, length).max(axis=0), out=best)
    share: Array = best / np.maximum(deviations, 1e-300)
    return share


def _sums(values: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Return weighted running sums of the deviations from the mean, running shares of the weight, and the
    weighted squares of the deviations.
    """
    shares = np.concatenate([[0.0], np.cumsum(weights / weights.sum())])
    each = (weights / weights.sum())[:, None]
    deviations = values - (values * each).sum(axis=0)
    weighted = deviations * each
    sums = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(weighted, axis=0)])
    return sums, shares, (weighted * deviations).sum(axis=0)


def _families(count: int) -> list[tuple[int | None, int, int]]:
    """Return families of stretches: (None, last, 0) are those from the beginning on; (first, last, length)
    those of one length. `last` is the greatest end.
    """
    last = count - SHORTEST
    return [(None, last, 0), *((SHORTEST, last, length) for length in _lengths(count))]


def _explained(sums: Array, shares: Array, start: int | None, stop: int, length: int) -> Array:
    """Return the squares that each stretch of a family explains, [stretch][series]."""
    if start is None:
        part, weight = sums[SHORTEST : stop + 1], shares[SHORTEST : stop + 1]
    else:
        ends, begins = slice(start + length, stop + 1), slice(start, stop - length + 1)
        part, weight = sums[ends] - sums[begins], shares[ends] - shares[begins]
    explained: Array = part**2 / (weight * (1 - weight))[:, None]
    return explained
