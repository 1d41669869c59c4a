"""How much worse the candidate is, from the logarithms of its blocks' ratios: Hodges and Lehmann.

Where the arms never change places: the median of the means of any two blocks, with bounds from signed ranks,
exact for noise that is symmetric. Where they do: the median of the means of a block of one arrangement and
one of the other, in which the place effect cancels, with bounds from rank sums. (With the signs of the
swapped blocks turned, the difference is half the shift between two samples that both contain the place
effect, and under no difference any noise will do.) Both arrangements weigh equally, however many blocks they
have.
Source: Hodges & Lehmann (1963), Ann. Math. Stat. 34.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from iogate.judge.gate.distributions import student_bound
from iogate.judge.gate.robust import outlier_limit, rough_scale
from iogate.judge.pair.ranks import rank_sum_count, signed_rank_count

_EFFICIENCY = 3 / math.pi  # of ranks against means, where the noise is normal


@dataclass(frozen=True)
class Shift:
    """What the blocks say, in logarithms, larger is worse: `plain` as declared, `swapped` with the arms in
    each other's place (None: they never change).
    """

    plain: tuple[float, ...]
    swapped: tuple[float, ...] | None

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return len(self.plain) + len(self.swapped or ())

    @property
    def known(self) -> bool:
        """Whether there is a difference to be estimated: every arrangement was measured."""
        return bool(self.plain) and self.swapped != ()

    @property
    def balanced(self) -> bool:
        """Whether both arrangements, if there are two, were measured equally often."""
        return self.swapped is None or len(self.swapped) == len(self.plain)

    @cached_property
    def pairs(self) -> list[float]:
        """The estimates by two blocks each, sorted."""
        if self.swapped is None:
            return sorted((a + b) / 2 for a, b in itertools.combinations_with_replacement(self.plain, 2))
        return sorted((a + b) / 2 for a in self.plain for b in self.swapped)

    @property
    def worse(self) -> float:
        """How much worse the candidate is."""
        return statistics.median(self.pairs)

    @property
    def place(self) -> float | None:
        """How much worse the candidate's own place is than the base's; None where places never change."""
        if not self.swapped:
            return None
        return statistics.median((a - b) / 2 for a in self.plain for b in self.swapped)

    def bound(self, level: float, side: int) -> float:
        """Return what the candidate is worse by at least (`side` -1) or at most (1), wrong with a probability
        of `level`; infinite if the blocks are too few to say.
        """
        count = self._count(level)
        if not count:
            return side * math.inf
        return self.pairs[count - 1] if side < 0 else self.pairs[-count]

    def _count(self, level: float) -> int:
        if self.swapped is None:
            return signed_rank_count(len(self.plain), level)
        return rank_sum_count(len(self.plain), len(self.swapped), level)

    @cached_property
    def noise(self) -> float | None:
        """The standard deviation of a block, blind to outliers; None for a single block of each kind."""
        if max(len(self.plain), len(self.swapped or ())) < 2:
            return None
        return rough_scale([self.plain, self.swapped or ()])

    def detectable(self, alpha: float, beta: float, more: int = 0) -> float | None:
        """Return the loss that a single look finds with probability 1 - beta at false alarms of alpha, with
        so many blocks `more`.
        """
        n = self._worth * (self.blocks + more) / self.blocks
        degrees = self.blocks + more - (1 if self.swapped is None else 2)
        if self.noise is None or degrees < 1 or not n:
            return None
        quantiles = student_bound(degrees, alpha) + student_bound(degrees, beta)
        return quantiles * self.noise / math.sqrt(_EFFICIENCY * n)

    @property
    def _worth(self) -> float:
        """How many blocks of a balanced trial tell as much as these."""
        if not self.swapped:
            return self.blocks
        return 4 * len(self.plain) * len(self.swapped) / self.blocks

    @property
    def outliers(self) -> tuple[int, int]:
        """How many blocks lie far off on the better and on the worse side."""
        if not self.noise:
            return 0, 0
        reach = self.noise * outlier_limit(self.blocks / 2)
        place = self.place or 0.0
        errors = [value - self.worse - place for value in self.plain]
        errors += [value - self.worse + place for value in self.swapped or ()]
        return sum(error < -reach for error in errors), sum(error > reach for error in errors)


def read_shift(values: Sequence[float], swapped: Sequence[bool] | None) -> Shift:
    """Return the blocks by their arrangement, sorted: their order must not matter."""
    if swapped is None:
        return Shift(tuple(sorted(values)), None)
    kinds = tuple(zip(values, swapped, strict=True))
    return Shift(
        tuple(sorted(value for value, turned in kinds if not turned)),
        tuple(sorted(value for value, turned in kinds if turned)),
    )
