"""Distributions of latencies in fio's JSON, in ns: checked, and those of several jobs together.

Of several jobs they are merged exactly where fio's output allows it and left out where it does not:
percentiles are never averaged.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from iogate.engines.fio.json_values import number, whole_number
from iogate.errors import OutputError
from iogate.units import printable

KINDS = ("slat", "clat", "lat")
_BIN_WIDTH = 1 / 32


@dataclass(frozen=True)
class FioLatency:
    """A distribution of `count` latencies in ns; `percentiles` by fio's key, `bins` of ns to counts."""

    count: int
    minimum: float
    maximum: float
    mean: float
    stddev: float
    percentiles: Mapping[str, float]
    bins: Mapping[int, int]


def latencies_of(
    data: Mapping[str, Any], operations: int, where: str, name: str, *, polled: bool = False
) -> dict[str, FioLatency]:
    """Return the latencies that were measured. Where the kernel polls, fio (3.33) may count completion from
    an earlier use of an I/O's place in the queue, or from when the machine was started: it is left out then.
    """
    found = {}
    for kind in KINDS:
        if (
            kind == "clat"
            and polled
            and _longest(data, "clat", where, name) > _longest(data, "lat", where, name)
        ):
            continue
        for key, unit in ((f"{kind}_ns", 1), (kind, 1000)):
            if isinstance(data.get(key), dict):
                latency = _latency(data[key], unit, operations, f"{where}: {key}", name)
                if latency:
                    found[kind] = latency
                break
    return found


def _longest(data: Mapping[str, Any], kind: str, where: str, name: str) -> float:
    """Return the longest latency of a kind in ns; infinite where there is none."""
    latency = data.get(f"{kind}_ns")
    longest = latency.get("max", 0) if isinstance(latency, dict) else 0
    return number(longest, f"{where}: {kind}_ns: max", name) or math.inf


def _latency(data: Mapping[str, Any], unit: int, operations: int, where: str, name: str) -> FioLatency | None:
    """Return a distribution, or None where fio did not measure it: no samples, or (before 3.18) all zero."""
    figures = {
        key: number(data[key], f"{where}: {key}", name) * unit
        for key in ("min", "max", "mean", "stddev")
        if key in data
    }
    if len(figures) < 4 or not any(figures.values()):
        return None
    count = whole_number(data.get("N", operations), f"{where}: N", name)
    if not count:
        return None
    slack = 1.0 * unit
    if not figures["min"] - slack <= figures["mean"] <= figures["max"] + slack:
        raise OutputError(f"{name}: {where}: the mean is not between minimum and maximum")
    latency = FioLatency(
        count=count,
        minimum=figures["min"],
        maximum=figures["max"],
        mean=figures["mean"],
        stddev=figures["stddev"],
        percentiles=_percentiles(data.get("percentile"), unit, where, name),
        bins=_bins(data.get("bins"), where, name) if unit == 1 else {},
    )
    _check_distribution(latency, f"{name}: {where}")
    return latency


def _percentiles(data: Any, unit: int, where: str, name: str) -> dict[str, float]:
    """Return fio's percentiles in rising order; up to 3.1 the list is filled up with `0.00`."""
    if not isinstance(data, dict):
        return {}
    found = {}
    for key, value in data.items():
        level = _level(key, f"{where}: percentile", name)
        if 0 < level <= 100:
            found[key] = number(value, f"{where}: percentile {key}", name) * unit
    return dict(sorted(found.items(), key=lambda item: float(item[0])))


def _level(key: str, what: str, name: str) -> float:
    try:
        return float(key)
    except ValueError:
        raise OutputError(f"{name}: {what} has the key {printable(key[:40])!r}") from None


def _bins(data: Any, where: str, name: str) -> dict[int, int]:
    if not isinstance(data, dict):
        return {}
    found = {}
    for key, value in data.items():
        level = _level(key, f"{where}: bins", name)
        found[whole_number(level, f"{where}: bins", name)] = whole_number(value, f"{where}: bin {key}", name)
    return found


def _check_distribution(latency: FioLatency, what: str) -> None:
    """Refuse percentiles that fall, or lie beyond the extremes by more than a bin (1/64 of an octave)."""
    values = list(latency.percentiles.values())
    low = latency.minimum * (1 - _BIN_WIDTH) - 1000
    high = latency.maximum * (1 + _BIN_WIDTH) + 1000
    if values != sorted(values) or (values and (values[0] < low or values[-1] > high)):
        raise OutputError(f"{what}: the percentiles are not in order, or beyond minimum and maximum")
    if latency.bins and sum(latency.bins.values()) != latency.count:
        raise OutputError(f"{what}: the bins hold {sum(latency.bins.values())} of {latency.count} samples")


def merge_latencies(latencies: Sequence[FioLatency]) -> dict[str, float]:
    """Return one distribution of several: exact for the moments, and for percentiles where all have bins.

    The variance is that of the union: (sum of (n_i - 1) s_i^2 + n_i (m_i - m)^2) / (n - 1).
    """
    first = latencies[0]
    mean, stddev, percentiles = first.mean, first.stddev, dict(first.percentiles)
    if len(latencies) > 1:
        count = sum(latency.count for latency in latencies)
        mean = sum(latency.mean * latency.count for latency in latencies) / count
        squares = sum(
            (latency.count - 1) * latency.stddev**2 + latency.count * (latency.mean - mean) ** 2
            for latency in latencies
        )
        stddev = math.sqrt(squares / (count - 1))
        percentiles = _percentiles_of(latencies)
    found = {
        "min": min(latency.minimum for latency in latencies),
        "mean": mean,
        "max": max(latency.maximum for latency in latencies),
        "stddev": stddev,
    }
    return found | {f"p{float(key):g}": value for key, value in percentiles.items()}


def _percentiles_of(latencies: Sequence[FioLatency]) -> dict[str, float]:
    if not all(latency.bins for latency in latencies):
        return {}
    bins: Counter[int] = Counter()
    for latency in latencies:
        bins.update(latency.bins)
    keys = [
        key for key in latencies[0].percentiles if all(key in latency.percentiles for latency in latencies)
    ]
    return percentiles_of_bins(bins, keys)


def percentiles_of_bins(bins: Mapping[int, int], keys: Iterable[str]) -> dict[str, float]:
    """Return percentiles by fio's rule: the first bin at which the cumulative count reaches p N (fio's
    stat.c, calc_clat_percentiles). `keys` are percentiles as fio writes them, rising.
    """
    count, reached = sum(bins.values()), 0
    left = list(keys)
    found: dict[str, float] = {}
    for value in sorted(bins):
        reached += bins[value]
        while left and reached * 100 >= Fraction(float(left[0])) * count:
            found[left.pop(0)] = float(value)
    return found
