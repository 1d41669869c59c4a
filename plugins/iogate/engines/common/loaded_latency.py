"""What a loaded latency curve says: latency and bandwidth by the delay injected into the load."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from iogate.formats.words import value_text
from iogate.units import parse_size, size_text

DELAYS = (
    *(0, 2, 8, 15, 50, 100, 200, 300, 400, 500, 700),
    *(1000, 1300, 1700, 2500, 3500, 5000, 9000, 20000),
)
"""The delays of Intel's Memory Latency Checker, in cycles."""
_MOST_CYCLES, _MOST_DELAYS = 1_000_000, 256
_FEWEST_FOR_KNEE = 3


@dataclass(frozen=True)
class Point:
    """One point of the curve: `delay` in cycles, `latency` in ns, `bandwidth` in bytes/s."""

    delay: int
    latency: float
    bandwidth: float


def figures(points: Sequence[Point]) -> dict[str, float]:
    """Return the metrics of a curve: `latency` and `bandwidth` of each `delay_N`, of the `knee`, and the
    `peak`.
    """
    found: dict[str, float] = {}
    for point in points:
        found[f"latency.delay_{point.delay}"] = point.latency
        found[f"bandwidth.delay_{point.delay}"] = point.bandwidth
    found["bandwidth.peak"] = max(point.bandwidth for point in points)
    if len(points) >= _FEWEST_FOR_KNEE:
        at = knee(points)
        found["latency.knee"], found["bandwidth.knee"] = at.latency, at.bandwidth
    return found


def knee(points: Iterable[Point]) -> Point:
    """Return the point of a curve beyond which latency grows faster than bandwidth: where bandwidth / latency
    is greatest (Jain, The Art of Computer Systems Performance Analysis, 1991, 3.3; as "power" by Kleinrock,
    ICC 1979).
    """
    return max(points, key=lambda point: point.bandwidth / point.latency)


def ascending(value: Any) -> list[int]:
    """Return one delay in cycles, or several, in ascending order. Raises ValueError."""
    given = value if isinstance(value, list) else [value]
    for cycles in given:
        if isinstance(cycles, bool) or not isinstance(cycles, int) or not 0 <= cycles <= _MOST_CYCLES:
            raise ValueError(f"{value_text(cycles)} is not a delay in cycles from 0 to {_MOST_CYCLES}")
    if not 0 < len(given) <= _MOST_DELAYS or len(set(given)) < len(given):
        raise ValueError(f"delays is a list of 1 to {_MOST_DELAYS} different numbers such as [0, 100, 1000]")
    return sorted(given)


def ratio(value: Any) -> str:
    """Return lines read to lines written, in lowest terms: `75:25` -> `3:1`; `1:0` only reads. Raises
    ValueError.
    """
    match = re.fullmatch(r"\s*(\d{1,3})\s*:\s*(\d{1,3})\s*", value if isinstance(value, str) else "")
    reads, writes = (int(match[1]), int(match[2])) if match else (0, 0)
    if not reads and not writes:
        raise ValueError(f"{value_text(value)} is not a mix of reads and writes such as 1:0, 3:1 or 1:1")
    if writes > reads:
        raise ValueError(
            f"{reads}:{writes} has more writes than reads: a line must be read before a part of it is written"
        )
    divisor = math.gcd(reads, writes)
    return f"{reads // divisor}:{writes // divisor}"


def size_of(text: str) -> int | None:
    """Return bytes of a size; None for `auto`."""
    return None if text == "auto" else parse_size(text)


def auto_size(value: Any) -> str:
    """Return a size, or `auto`. Raises ValueError."""
    if value == "auto":
        return "auto"
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise ValueError(f"{value_text(value)} is not a size such as 4k, 1M or 16G, nor auto")
    return size_text(parse_size(value))
