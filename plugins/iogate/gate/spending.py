"""How much of the allowed error each look at the data may spend (group-sequential boundaries).

Lan & DeMets (1983), Biometrika 70: with information fraction t (0..1) at a look, the error spent so far is a
function of t fixed beforehand. The boundaries follow by the recursive integration of Armitage, McPherson &
Rowe (1969), J. R. Stat. Soc. A 132; see Jennison & Turnbull (2000), "Group Sequential Methods", ch. 19.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from iogate.gate.distributions import normal_bound, normal_cdf, normal_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST_INFORMATION = 0.003  # looks closer together than this cannot be integrated and teach nothing
_REACH = 6.0  # standard deviations of the integration range away from the boundary


@functools.lru_cache(maxsize=32)
def _quadrature(nodes: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Points and weights of Gauss-Legendre quadrature on [-1, 1], by Newton's method (Press et al. (2007),
    "Numerical Recipes", ch. 4.6). numpy finds them as eigenvalues, and wakes the threads of its BLAS for it.
    """
    import numpy as np

    points = -np.cos(np.pi * (np.arange(1, nodes + 1) - 0.25) / (nodes + 0.5))
    for _ in range(5):  # quadratic convergence from a guess that is good to 1 / nodes**4
        value, before = points, np.ones(nodes)
        for degree in range(2, nodes + 1):
            value, before = ((2 * degree - 1) * points * value - (degree - 1) * before) / degree, value
        slope = nodes * (points * value - before) / (points**2 - 1)
        points = points - value / slope
    return points, 2 / ((1 - points**2) * slope**2)


def power_spending(error: float, power: float) -> Callable[[float], float]:
    """The spending function `error * t ** power`."""
    return lambda information: error * min(1.0, information) ** power


def boundaries(information: Sequence[float], spending: Callable[[float], float]) -> list[float]:
    """One-sided z boundaries c_k such that the chance of Z_k > c_k at any look up to k is spending(t_k).

    `information` is the increasing sequence of fractions t_k in (0, 1].
    """
    import numpy as np

    bounds: list[float] = []
    spent = before = 0.0
    points = density = np.empty(0)  # sub-density of S = Z sqrt(t) over the paths that have not crossed
    for t, following in itertools.zip_longest(information, information[1:]):
        share = max(spending(t) - spent, 1e-300)
        step = math.sqrt(t - before)
        limit = _crossing(points, density, step, share) if bounds else normal_bound(share) * step
        bounds.append(limit / math.sqrt(t))
        if following is None:
            break
        bottom = min(-_REACH * math.sqrt(t), limit - 1.0)
        half = (limit - bottom) / 2
        finest = min(step, math.sqrt(following - t))
        nodes, weights = _quadrature(32 * math.ceil((1 + 4 * half / finest) / 32))
        fresh = half * (nodes + 1) + bottom
        origins, masses = (points, density) if len(bounds) > 1 else (np.zeros(1), np.ones(1))
        kernel = np.exp(-((fresh[:, None] - origins[None, :]) ** 2) / (2 * step**2))
        density = half * weights * (kernel @ masses) / (step * math.sqrt(2 * math.pi))
        points, spent, before = fresh, spending(t), t
    return bounds


def _crossing(points: NDArray[Any], density: NDArray[Any], step: float, share: float) -> float:
    """The limit that a step with this standard deviation crosses with probability `share`."""
    low, high = -_REACH, 40.0
    while high - low > 1e-8:
        limit = (low + high) / 2
        crossed = float((density * normal_cdf((points - limit) / step)).sum())
        low, high = (limit, high) if crossed > share else (low, limit)
    return (low + high) / 2


def nominal_levels(error: float, power: float, ratio: float, first: int, last: int) -> tuple[float, ...]:
    """The one-sided p value that the looks after `first`, first + 1, ..., `last` repetitions may use.

    `ratio` is the variance that repetitions cannot reduce over the variance of one repetition, so the
    information at n repetitions is (ratio + 1/last) / (ratio + 1/n). It is rounded to 5% of itself:
    the boundaries barely depend on it, and few ratios mean that the cache answers.
    """
    logarithm = math.log(ratio) if ratio > 0 else -math.inf
    rounded = round(min(max(logarithm, -9.0), 9.0) * 10)
    return _nominal_levels(error, power, rounded, first, last)


@functools.lru_cache(maxsize=4096)
def _nominal_levels(error: float, power: float, ratio: int, first: int, last: int) -> tuple[float, ...]:
    unreduced = math.exp(ratio / 10)
    fractions = [(unreduced + 1 / last) / (unreduced + 1 / n) for n in range(first, last + 1)]
    looks: list[float] = []
    position = []  # the look whose boundary serves after each repetition
    for fraction in fractions:
        if not looks or fraction - looks[-1] >= _LEAST_INFORMATION:
            looks.append(fraction)
        position.append(len(looks) - 1)
    looks[-1] = 1.0  # nothing is gained after the last informative look: it may spend all that is left
    levels = [normal_tail(bound) for bound in boundaries(looks, power_spending(error, power))]
    return tuple(levels[index] for index in position)
