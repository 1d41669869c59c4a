"""How often ranks are as extreme as seen: Wilcoxon's two distributions, exactly, in whole numbers.

Hollander, Wolfe & Chicken (2014), "Nonparametric Statistical Methods", ch. 3.1 (signed ranks) and 4.1 (rank
sums). Both count as the coefficients of a product of polynomials.
"""

from __future__ import annotations

import functools
import itertools
import math


def signed_rank_count(n: int, level: float) -> int:
    """Return how many of the n (n + 1) / 2 means of two of n values may be cut off, so that their rest misses
    the centre of a symmetric distribution with a probability of at most `level`; 0 if that needs more values.
    """
    return _count(_signed_ranks(n), 2**n, level)


def rank_sum_count(first: int, second: int, level: float) -> int:
    """Return how many of the `first` x `second` differences of values of two samples may be cut off, so that
    the rest misses the shift between them with a probability of at most `level`; 0 if that needs more values.
    """
    return _count(_rank_sums(first, second), math.comb(first + second, first), level)


def _count(cumulated: tuple[int, ...], total: int, level: float) -> int:
    """Return for how many of the statistic's least values the cumulated chance is at most `level`."""
    return sum(1 for _ in itertools.takewhile(lambda ways: ways <= level * total, cumulated))


@functools.lru_cache(maxsize=256)
def _signed_ranks(n: int) -> tuple[int, ...]:
    """Return the number of sign patterns with a rank sum of at most 0, 1, 2, ... up to the middle."""
    ways = [1] + [0] * (n * (n + 1) // 4)
    for rank in range(1, n + 1):  # times 1 + q^rank
        for total in range(len(ways) - 1, rank - 1, -1):
            ways[total] += ways[total - rank]
    return tuple(itertools.accumulate(ways))


@functools.lru_cache(maxsize=256)
def _rank_sums(first: int, second: int) -> tuple[int, ...]:
    """Return the number of orders with at most 0, 1, 2, ... pairs in the wrong order, up to the middle."""
    ways = [1] + [0] * (first * second // 2)
    for i in range(1, first + 1):  # times (1 - q^(second + i)) / (1 - q^i)
        for total in range(len(ways) - 1, second + i - 1, -1):
            ways[total] -= ways[total - second - i]
        for total in range(i, len(ways)):
            ways[total] += ways[total - i]
    return tuple(itertools.accumulate(ways))
