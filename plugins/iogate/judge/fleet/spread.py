"""How devices of one model differ, and how the sessions of one device do: one-way random effects.

Unbalanced data are taken as they are: the sum of squares between devices is that of their unweighted means.
Sources: Searle, Casella & McCulloch (1992), "Variance Components", ch. 3; Thomas & Hultquist (1978), Annals
of Statistics 6, for unweighted means; Ting, Burdick, Graybill, Jeyaratnam & Lu (1990), J. Stat. Comput.
Simul. 35, and Burdick & Graybill (1992), "Confidence Intervals on Variance Components", for the modified
large-sample interval of the variance between.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from iogate.judge.gate.distributions import WELL_KNOWN, variance_ratio_bound
from iogate.judge.gate.robust import sum_of_squares

_TAIL = 0.025  # on each side of a 95% interval

Interval = tuple[float, float]


@dataclass(frozen=True)
class Spread:
    """How sessions of several devices differ: standard deviations of logarithms (0.01 is 1%), with 95%
    intervals.

    `between` is that of devices, `within` that of the sessions of one device; None where no device has two
    sessions, which cannot tell them apart. `together` is that of one session of any device, whose interval is
    known in that case only. `centre` is the unweighted mean of the devices.
    """

    centre: float
    devices: int
    sessions: int
    together: float
    together_interval: Interval | None = None
    between: float | None = None
    between_interval: Interval | None = None
    within: float | None = None
    within_interval: Interval | None = None


def spread_of(devices: Sequence[Sequence[float]]) -> Spread:
    """Return how sessions (logarithms) of at least two devices differ."""
    count, sessions = len(devices), sum(map(len, devices))
    means = [math.fsum(values) / len(values) for values in devices]
    centre = math.fsum(means) / count
    scatter = sum_of_squares(means) / (count - 1)
    degrees, free = count - 1.0, float(sessions - count)
    if not free:
        interval = _roots(scatter / _bound(degrees, _TAIL), scatter / _bound(degrees, 1 - _TAIL))
        return Spread(centre, count, sessions, math.sqrt(scatter), interval)
    harmonic = count / math.fsum(1 / len(values) for values in devices)
    inner = math.fsum(map(sum_of_squares, devices)) / free
    between = max(0.0, scatter - inner / harmonic)
    low, high = _between(scatter * harmonic, degrees, inner, free)
    return Spread(
        centre,
        count,
        sessions,
        math.sqrt(between + inner),
        None,
        math.sqrt(between),
        _roots(low / harmonic, high / harmonic),
        math.sqrt(inner),
        _roots(inner / _bound(free, _TAIL), inner / _bound(free, 1 - _TAIL)),
    )


def _between(outer: float, degrees: float, inner: float, free: float) -> Interval:
    """Return the modified large-sample interval of the difference of two mean squares, `outer` and `inner`,
    with their degrees of freedom.
    """
    g1, g2 = (1 - 1 / _bound(each, _TAIL) for each in (degrees, free))
    h1, h2 = (1 / _bound(each, 1 - _TAIL) - 1 for each in (degrees, free))
    high, low = _bound(degrees, _TAIL, free), _bound(degrees, 1 - _TAIL, free)
    g12 = ((high - 1) ** 2 - (g1 * high) ** 2 - h2**2) / high
    h12 = ((1 - low) ** 2 - (h1 * low) ** 2 - g2**2) / low
    below = (g1 * outer) ** 2 + (h2 * inner) ** 2 + g12 * outer * inner
    above = (h1 * outer) ** 2 + (g2 * inner) ** 2 + h12 * outer * inner
    least = outer - inner - math.sqrt(max(0.0, below))
    return least, outer - inner + math.sqrt(max(0.0, above))


def _bound(degrees: float, tail: float, known: float = WELL_KNOWN) -> float:
    """Return the ratio of two mean squares that is exceeded with probability `tail`."""
    return variance_ratio_bound(degrees, known, 1 - tail)


def _roots(low: float, high: float) -> Interval:
    return math.sqrt(max(0.0, low)), math.sqrt(max(0.0, high))
