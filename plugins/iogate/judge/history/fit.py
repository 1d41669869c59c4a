"""The levels that fit a series best, for a price each: what is left of it is its noise.

Potts' functional by dynamic programming: Jackson et al. (2005), IEEE Signal Processing Letters 12. The price
is that of a difference of four to five standard errors, as much as chance may make, so that what is left is
noise alone. Which levels are named is for `chance` to say.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from iogate.judge.history.scan import SHORTEST, Array

PRICE = 20.0


def price_to_describe(count: int) -> float:
    """Return the price of a level of so many sessions where it is known that they differ: that of Schwarz'
    criterion for a level and its place, with some to spare.
    """
    return min(PRICE, 3 * math.log(max(count, 2)))


def noise_of(values: Array, weights: Array, edges: Sequence[int]) -> Array:
    """Return a series without its levels."""
    left: Array = values.copy()
    for start, stop in itertools.pairwise(edges):
        left[start:stop] -= np.average(values[start:stop], weights=weights[start:stop])
    return left


def best_edges(values: Array, weights: Array, price: float) -> list[int]:
    """Return where the levels begin, and the end; `price` is that of a level, in squares."""
    count = len(values)
    if count < SHORTEST:
        return [0, count]
    weight = np.concatenate([[0.0], np.cumsum(weights)])
    first = np.concatenate([[0.0], np.cumsum(weights * values)])
    second = np.concatenate([[0.0], np.cumsum(weights * values**2)])
    cost = np.full(count + 1, np.inf)
    cost[0] = -price
    origin = np.zeros(count + 1, dtype=int)
    for stop in range(SHORTEST, count + 1):
        starts = slice(0, stop - SHORTEST + 1)
        mass, sums = weight[stop] - weight[starts], first[stop] - first[starts]
        squares = second[stop] - second[starts] - sums**2 / mass
        whole = cost[starts] + np.maximum(squares, 0.0) + price
        origin[stop] = int(np.argmin(whole))
        cost[stop] = whole[origin[stop]]
    edges = [count]
    while edges[-1] > 0:
        edges.append(int(origin[edges[-1]]))
    return edges[::-1]
