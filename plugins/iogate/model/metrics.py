"""Metrics and tolerances: which number is meant, in which unit, and which way is better."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

Direction = Literal["higher", "lower"]


@dataclass(frozen=True)
class Metric:
    """A named number: `unit` is B/s, IOPS, ns, s or empty (a ratio); `direction` is the better one."""

    name: str
    unit: str
    direction: Direction

    @property
    def resolution(self) -> float:
        """How far apart (relative) neighbouring values are, as a rule: percentiles are of histograms of 64
        bins from each power of two to the next, those of our reader as of fio (stat.h, FIO_IO_U_PLAT_BITS);
        those below 64 ns, or 64 us where fio 2 counts in us, are further apart. 0 of what is no percentile.
        """
        return _BIN if _PERCENTILE.search(self.name) else 0.0


_BIN = 1 / 64
_PERCENTILE = re.compile(r"\.p\d[\d.]*$")
_KINDS: Mapping[str, tuple[str, Direction]] = {
    "iops": ("IOPS", "higher"),
    "bandwidth": ("B/s", "higher"),
    "slat": ("ns", "lower"),
    "clat": ("ns", "lower"),
    "lat": ("ns", "lower"),
    "latency": ("ns", "lower"),
    "wall_time": ("s", "lower"),
    "completed": ("", "higher"),
    "filled": ("", "higher"),
    "speedup": ("", "higher"),
    "efficiency": ("", "higher"),
    "serial_fraction": ("", "lower"),
}

_SPREADS = frozenset({"stddev", "dev"})


@cache
def metric(name: str) -> Metric:
    """Return the metric of that name: one part of it says what it is (`read.iops`, `write.clat.p99.9`,
    `wall_time`).

    A standard deviation is better when lower, of whatever it is. Raises KeyError for a name without a known
    kind.
    """
    parts = name.split(".")
    for part in reversed(parts):
        if part in _KINDS:
            unit, direction = _KINDS[part]
            return Metric(name, unit, "lower" if parts[-1] in _SPREADS else direction)
    raise KeyError(name)


FILLED = "filled"
"""The share of blocks that held data among what was read of a block device, as a sample tells: its speed is
that of these, and of what is answered without a look at the medium.
"""


LEAST, MOST = 1e-9, 1e18
"""Between these is whatever is measured, in each unit: 1e18 are an exabyte a second, and 31 years in ns. Far
beyond them arithmetic ends: of 1e308 there is no sum.
"""


def is_rate(name: str) -> bool:
    """Return whether a metric is a mean rate: others of the same repetitions only repeat what it says."""
    return name.rpartition(".")[2] in ("iops", "bandwidth")


def is_measured(value: object) -> bool:
    """Return whether a value may have been measured and can be judged: a number, and neither 0 nor absurd."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and LEAST <= value <= MOST


@dataclass(frozen=True)
class Tolerance:
    """The smallest change that matters, as fractions: `worse` in the bad direction, `better` in the good one.

    None: `worse` comes from the data; `better` has no bound.
    """

    worse: float | None = None
    better: float | None = None


def is_tolerance(worse: float, direction: Direction) -> bool:
    """Return whether a relative loss says something as a tolerance: more than nothing, and of what is better
    when higher less than all.
    """
    return 0 < worse < (1 if direction == "higher" else math.inf)
