"""How often chance alone puts several sessions side by side that stand out alone elsewhere.

A device of two speeds, which garbage collection or a neighbour slows in one session of five, has three slow
ones in a row now and then: that is no change. What is between its levels is far more than noise, so that
noise (`chance`) tells nothing of how often that happens; how many sessions stand out alone does.
"""

from __future__ import annotations

import math

import numpy as np

from iogate.judge.gate.distributions import at_least
from iogate.judge.history.scan import SHORTEST, Array, Stretch

Marks = np.typing.NDArray[np.bool_]
"""Of each session, whether it is meant."""

_AS_MUCH, _AT_MOST = 2 / 3, 2
"""How much of the change a session has to differ by, to be one of those that chance may put side by side;
what differs by far more is something else.
"""
_APART = 4.0
"""Standard deviations that the levels are apart, at least; else noise alone may do as much."""


def chance_of_several(values: Array, part: tuple[int, int], stretch: Stretch, change: float) -> float:
    """Return an upper bound of how probable it is that as many sessions of a stretch, which differs by
    `change` from the rest of its part of a series, are such as stand out alone elsewhere; 0 if none does.

    Each place of the part may be where a stretch begins (the union bound), and each session be one that
    stands out, as often as others do that stand out alone, and independently of them (a binomial tail). Three
    of those side by side are a level of the series, and do not count.
    """
    inside = np.zeros(len(values), dtype=bool)
    inside[stretch.start : stretch.stop] = True
    sign, centre = math.copysign(1.0, change), float(np.median(values))
    within = np.zeros(len(values), dtype=bool)
    within[part[0] : part[1]] = True
    rest = within & ~inside
    if abs(np.mean(values[rest]) - centre) > abs(np.mean(values[inside]) - centre):  # it is what differs
        inside, sign = rest, -sign
    usual = float(np.median(values[~inside]))
    differs = sign * (values - usual)
    out = differs > _AS_MUCH * abs(change)
    alone = out & ~inside & ~_in_a_row(out & ~inside) & (differs < _AT_MOST * abs(change))
    others = ~inside & ~out
    noise = float(np.std(values[others])) if others.sum() > 1 else 0.0
    if not alone.any() or abs(change) < _APART * noise:
        return 0.0
    share = float(alone.sum()) / float(alone.sum() + others.sum())
    count, hits = int(inside.sum()), int((out & inside).sum())
    return min(1.0, (part[1] - part[0] - count + 1) * at_least(hits, count, share))


def _in_a_row(marked: Marks) -> Marks:
    """Return which of the marked sessions are of three or more in a row."""
    padded = np.concatenate([[False], marked, [False]])
    edges = np.flatnonzero(np.diff(padded.astype(int)))
    found = np.zeros(len(marked), dtype=bool)
    for start, stop in edges.reshape(-1, 2):
        found[start:stop] = stop - start >= SHORTEST
    return found
