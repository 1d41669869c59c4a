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

from iogate.judge.gate.distributions import normal_bound, normal_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Paths = tuple[NDArray[Any], NDArray[Any]]  # where S = Z sqrt(t) may be, and the probability to be there

_LEAST_INFORMATION = 0.003  # looks closer together than this cannot be integrated and teach nothing
_REACH = 6.0  # standard deviations below zero from which the integration begins
_CLIMB = 8.0  # standard deviations of what is still to come that no path climbs (6e-16)


@functools.lru_cache(maxsize=32)
def _quadrature(nodes: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return Points and weights of Gauss-Legendre quadrature on [-1, 1], by Newton's method (Press et al.
    (2007), "Numerical Recipes", ch. 4.6). numpy finds them as eigenvalues, and wakes the threads of its BLAS
    for it.
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
    """Return the spending function `error * t ** power`."""
    return lambda information: error * min(1.0, information) ** power


def boundaries(information: Sequence[float], spending: Callable[[float], float]) -> list[float]:
    """Return one-sided z boundaries c_k such that the chance of Z_k > c_k at any look up to k is
    spending(t_k).

    `information` is the increasing sequence of fractions t_k in (0, 1].
    """
    bounds: list[float] = []
    paths: Paths | None = None
    spent = before = 0.0
    end = information[-1]
    least = normal_bound(spending(end))  # no boundary is lower: who is above it has crossed by then
    for t, following in itertools.zip_longest(information, information[1:]):
        share = max(spending(t) - spent, 1e-300)
        step = math.sqrt(t - before)
        limit = normal_bound(share) * math.sqrt(t)  # if no path had been stopped
        if paths:
            limit = _crossing(paths, step, share, limit)
        bounds.append(limit / math.sqrt(t))
        if following is None:
            break
        hopeless = least * math.sqrt(following) - _CLIMB * math.sqrt(end - t)
        bottom = min(max(-_REACH * math.sqrt(t), hopeless), limit - step)
        paths = _continue(paths, step, bottom, limit, min(step, math.sqrt(following - t)))
        spent, before = spending(t), t
    return bounds


def _continue(paths: Paths | None, step: float, bottom: float, limit: float, finest: float) -> Paths:
    """Return the paths after one more step that stay below `limit`, in steps of quadrature for the `finest`
    step.
    """
    import numpy as np

    origins, masses = paths or (np.zeros(1), np.ones(1))
    half = (limit - bottom) / 2
    nodes, weights = _quadrature(32 * math.ceil((1 + 4 * half / finest) / 32))
    points = half * (nodes + 1) + bottom
    kernel = np.exp(-((points[:, None] - origins[None, :]) ** 2) / (2 * step**2))
    return points, half * weights * (kernel @ masses) / (step * math.sqrt(2 * math.pi))


def _crossing(paths: Paths, step: float, share: float, above: float) -> float:
    """Return the limit that a step with this standard deviation crosses with probability `share`, if it is no
    higher than `above`.

    The logarithm of that probability is a concave function of the limit (Prekopa (1973), Acta Sci. Math. 34),
    so Newton's iterates come down to the root from above; bisection serves where the probability underflows.
    """
    import numpy as np

    points, masses = paths
    low, limit, high = -_REACH, above, above + 1.0
    while high - low > 1e-9:
        distance = (limit - points) / (step * math.sqrt(2))
        tails = np.fromiter(map(math.erfc, distance.tolist()), float, len(distance))
        crossed = float(masses @ tails) / 2
        density = float(masses @ np.exp(-(distance**2))) / (step * math.sqrt(2 * math.pi))
        low, high = (limit, high) if crossed > share else (low, limit)
        moved = math.inf
        if min(crossed, density) > 0:
            excess = math.log(crossed / share)
            moved = limit + excess * crossed / density
            if abs(excess) < 1e-6:  # what is left is its square
                return moved
        limit = moved if low < moved < high else (low + high) / 2
    return limit


def nominal_levels(error: float, power: float, ratio: float, first: int, last: int) -> tuple[float, ...]:
    """Return the one-sided p value that the looks after `first`, first + 1, ..., `last` repetitions may use.

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
