"""Steady state: has a device come to rest, so that its figures are its own and not its history's?

Source: SNIA Solid State Storage Performance Test Specification 2.0.2, definition 2.1.24: over the
measurement window (the last 5 rounds) the largest excursion of the tracked value is within 20% of its mean,
and the excursion of the line fitted to it is within 10% of its mean; at most 25 rounds.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Criterion:
    """When a device is steady: `rounds` in a row whose `range` and `slope` stay within these fractions of
    the mean.

    `limit` is the most rounds to wait for it.
    """

    rounds: int = 5
    range: float = 0.20
    slope: float = 0.10
    limit: int = 25


@dataclass(frozen=True)
class Steadiness:
    """How steady the last rounds were, as fractions of their mean; `reached` if that is steady."""

    reached: bool
    range: float
    slope: float

    def text(self, criterion: Criterion) -> str:
        """Return how far off it is, in words."""
        return (
            f"the last {criterion.rounds} rounds range over {self.range:.1%} ({criterion.range:.0%} allowed) "
            f"and their trend over {self.slope:.1%} ({criterion.slope:.0%} allowed)"
        )


def steadiness(values: Sequence[float], criterion: Criterion) -> Steadiness | None:
    """Return how steady the last rounds of these values are; None before there are enough of them."""
    window = values[-criterion.rounds :]
    if len(window) < criterion.rounds:
        return None
    mean = statistics.fmean(window)
    if mean <= 0:
        return Steadiness(False, float("inf"), float("inf"))
    slope = statistics.linear_regression(range(len(window)), window).slope
    spread = (max(window) - min(window)) / mean
    trend = abs(slope) * (len(window) - 1) / mean
    return Steadiness(spread <= criterion.range and trend <= criterion.slope, spread, trend)
