"""Location and scale of values among which there may be stalls, and degrees of freedom of sums.

Sources: Huber & Ronchetti (2009), "Robust Statistics"; Satterthwaite (1946), Biometrics Bulletin 2.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from iogate.judge.gate.distributions import student_bound

_HUBER = 1.345  # 95% efficient on normal noise
_APART = 64  # repetitions, between two whose difference counts
_PAIRS = 2**20


def huber(values: Sequence[float], scale: float) -> float:
    """Return huber's location of `values` with a known `scale`: no value moves it by more than 1.345 scale /
    n.
    """
    centre = math.fsum(values) / len(values)
    reach = _HUBER * scale
    if len(values) < 3 or all(abs(value - centre) <= reach for value in values):
        return centre
    centre = statistics.median(values)
    for _ in range(200):
        moved = math.fsum(min(max(v, centre - reach), centre + reach) for v in values) / len(values)
        if abs(moved - centre) <= 1e-12 * scale:
            break
        centre = moved
    return centre


def outlier_limit(degrees: float) -> float:
    """From how many standard deviations on a value is an outlier: 3 where the noise is well known."""
    return student_bound(max(1.0, degrees), 0.00135)


def winsorise(values: Sequence[float], centre: float, reach: float) -> list[float]:
    """Return `values`, those further than `reach` from `centre` moved to that distance."""
    return [min(max(value, centre - reach), centre + reach) for value in values]


def sum_of_squares(values: Sequence[float]) -> float:
    """Return sum of squared distances from the mean."""
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values)


def rough_scale(sessions: Sequence[Sequence[float]]) -> float:
    """Return standard deviation from the median difference of two repetitions of a session: blind to
    stalls. Of those that are many only such count as are near each other.
    """
    values = sum(map(len, sessions))
    apart = max(2, min(_APART, _PAIRS // max(1, values)))
    pairs = [
        abs(a - b)
        for session in sessions
        for n, a in enumerate(session)
        for b in session[n + 1 : n + 1 + apart]
    ]
    return statistics.median(pairs) / (0.6745 * math.sqrt(2)) if pairs else 0.0


def satterthwaite(parts: Sequence[tuple[float, float]]) -> float:
    """Return degrees of freedom of a sum of variances, each given with its own."""
    total = sum(variance for variance, _ in parts)
    return total**2 / max(sum(variance**2 / degrees for variance, degrees in parts), 1e-300)
