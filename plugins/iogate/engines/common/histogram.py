"""Histograms of latencies, small enough to be kept with every repetition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from iogate.model import Histogram

_MOST = 64
_FINEST = 3  # 2^3 bins an octave: each at most 12.5% wide


def compact(counted: Iterable[Mapping[int, int]]) -> Histogram:
    """Return the sum of histograms, which map latencies in ns to counts, in at most 64 bins.

    There are 8, 4, 2 or 1 bins an octave: as many as that allows. Below as many ns each has a bin of its
    own. A finer bin lies in one of these as a whole, as those of fio and of our reader do.
    """
    whole: Counter[int] = Counter()
    for bins in counted:
        whole.update(bins)
    values = sorted(value for value, count in whole.items() if count)
    for bits in range(_FINEST, -1, -1):
        merged: Counter[int] = Counter()
        for value in values:
            merged[_least(value, bits)] += whole[value]
        if len(merged) <= _MOST:
            break
    return Histogram(1 << bits, dict(merged))


def _least(value: int, bits: int) -> int:
    """Return the least value of the bin that a value is in: its leading one and the `bits` after it."""
    shift = max(0, value.bit_length() - 1 - bits)
    return value >> shift << shift
