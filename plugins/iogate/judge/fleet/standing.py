"""Each device against the others: is it slower than they let expect?

The mean of a device is held against a prediction from the means of the others (leave-one-out, which for a
single group is the externally studentised residual): t = (x - m) / (s sqrt(1 + 1/k)) of k others, k - 1
degrees of freedom. Sources: Hahn & Meeker (1991), "Statistical Intervals", ch. 4, for the prediction; Cook &
Weisberg (1982), "Residuals and Influence in Regression", 2.2; Holm (1979), Scand. J. Statistics 6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from iogate.judge.gate.distributions import student_bound
from iogate.judge.gate.noise import NOISE_FLOOR
from iogate.judge.gate.robust import sum_of_squares

FEWEST = 6
"""Devices from which on a test can tell: below, the others know their own spread by three degrees or less."""


@dataclass(frozen=True)
class Standing:
    """How much worse (positive) a device is than the mean of the others, in logarithms; the standard `error`
    of that as the others let expect, with its `degrees` of freedom: 0 where there are too few of them.
    """

    worse: float
    error: float = 0.0
    degrees: float = 0.0

    def beyond(self, chance: float) -> bool:
        """Return whether chance alone makes it this much worse at most so often."""
        return bool(self.degrees) and self.worse > student_bound(self.degrees, chance) * self.error


def standings(devices: Sequence[Sequence[float]], resolution: float = 0.0) -> list[Standing]:
    """Return how each of at least two devices stands, given the values of its sessions as logarithms of which
    larger is worse; values come in steps of `resolution` (0: fine ones).

    A device counts once, however many sessions it has. One with fewer sessions than the others is known less
    well, which their spread does not show: the spread of sessions makes up for it.
    """
    free = sum(map(len, devices)) - len(devices)
    within = math.fsum(map(sum_of_squares, devices)) / free if free else 0.0
    means = [math.fsum(values) / len(values) for values in devices]
    found = []
    for place, mean in enumerate(means):
        others = means[:place] + means[place + 1 :]
        count = len(others)
        worse = mean - math.fsum(others) / count
        if len(means) < FEWEST:
            found.append(Standing(worse))
            continue
        usual = math.fsum(1 / len(values) for at, values in enumerate(devices) if at != place) / count
        spread = max(sum_of_squares(others) / (count - 1), NOISE_FLOOR**2, resolution**2 / 12)
        fewer = within * max(0.0, 1 / len(devices[place]) - usual)
        found.append(Standing(worse, math.sqrt(spread * (1 + 1 / count) + fewer), count - 1.0))
    return found


def beyond_chance(all_standings: Sequence[Standing], alpha: float) -> list[bool]:
    """Return which are slower beyond chance; that any of equal devices is said to be has at most the chance
    `alpha` (Holm's step-down over all that can be tested).
    """
    testable = sum(bool(one.degrees) for one in all_standings)
    found = [False] * len(all_standings)
    rejected = -1
    while rejected < sum(found) < testable:
        rejected = sum(found)
        found = [one.beyond(alpha / (testable - rejected)) for one in all_standings]
    return found
