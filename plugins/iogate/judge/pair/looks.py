"""How much of the allowed error each look after a block may spend.

Lan and DeMets' spending functions, as the gate's (judge/gate/spending.py). Ranks of few blocks cannot be
extreme enough for a small error rate: spending starts at the first look that can use it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from iogate.judge.gate.spending import nominal_levels

# Spent is alpha t and beta t^0.75 at a share t of the most blocks: early, since most pairs are decided early
# and looks are cheap. docs/paired.md has the comparison.
ALPHA_POWER, BETA_POWER = 1.0, 0.75
EXCESS = 1.06  # ranks of few blocks cross boundaries for normal increments up to so much more often


@dataclass(frozen=True)
class PairLooks:
    """The error rates of one decision after at most `last` blocks; `alpha` is shared between the metrics."""

    alpha: float
    beta: float
    last: int
    crossover: bool

    def levels(self, n: int) -> tuple[float, float]:
        """Return the one-sided p values that the look after `n` blocks may use to fail and to pass."""
        return self._level(*self._failing, n), self._level(*self._passing, n)

    @property
    def first(self) -> int | None:
        """The number of blocks after which a verdict is possible; None if they are too few for any."""
        firsts = (self._first(*self._failing), self._first(*self._passing))
        return min((first for first in firsts if first is not None), default=None)

    @property
    def fails(self) -> bool:
        """Whether a loss can be shown at all."""
        return self._first(*self._failing) is not None

    @property
    def _failing(self) -> tuple[float, float]:
        return self.alpha / EXCESS, ALPHA_POWER

    @property
    def _passing(self) -> tuple[float, float]:
        return self.beta, BETA_POWER

    def _level(self, error: float, power: float, n: int) -> float:
        first = self._first(error, power)
        if first is None or n < first:
            return 0.0
        return nominal_levels(error, power, 0.0, first, self.last)[n - first]

    def _first(self, error: float, power: float) -> int | None:
        """Return the first look whose most extreme ranks are rare enough; both arrangements weigh equally."""
        for n in range(2, self.last + 1, 2 if self.crossover else 1):
            rarest = 1 / math.comb(n, n // 2) if self.crossover else 0.5**n
            if rarest <= error * (n / self.last) ** power:
                return n
        return None


def fewest_blocks(alpha: float, beta: float, max_blocks: int, metrics: int, *, crossover: bool) -> int | None:
    """Return after how many blocks `decide` can come to a verdict, or None if `max_blocks` are too few."""
    return PairLooks(alpha / metrics, beta, max_blocks, crossover).first
