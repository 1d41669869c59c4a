"""The figures of one direction of a fio job, checked, and those of several jobs together.

Units change here: KiB/s and us of fio become bytes/s and ns. Latencies of several jobs are merged exactly
where fio's output allows it and left out where it does not: percentiles are never averaged.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from iogate.engines.common.histogram import compact
from iogate.engines.fio.json_reader import TWICE, FioReport
from iogate.errors import OutputError
from iogate.model import Histogram
from iogate.units import printable

_LATENCIES = ("slat", "clat", "lat")
_SYNCS = {"fdatasync", "sync_file_range"}
_BYTES_SINCE = (2, 21)
_COUNTS_SINCE = (2, 3)
"""Before, fio does not say how many I/Os it did, and its rate of them is a whole number."""
_DISAGREEMENT = 0.01
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


@dataclass(frozen=True)
class FioSide:
    """What one job did in one direction; `samples` are bandwidth and iops as sampled during the run."""

    bytes: int
    operations: int
    short: int
    seconds: float
    bandwidth: float
    iops: float
    latencies: Mapping[str, FioLatency]
    samples: Mapping[str, float] = field(default_factory=dict)


def number(value: Any, what: str, name: str) -> float:
    """Return a figure that can be a measured one. Raises OutputError for anything but a finite number from 0
    up.
    """
    if value is TWICE:
        raise OutputError(f"{name}: {what} is there twice, with different values")
    try:
        figure = math.nan if isinstance(value, (bool, str)) or value is None else float(value)
    except (TypeError, OverflowError):
        figure = math.nan
    if not math.isfinite(figure) or figure < 0:
        raise OutputError(f"{name}: {what} is {printable(str(value)[:40])}, which nobody can have measured")
    return figure


def whole_number(value: Any, what: str, name: str) -> int:
    """Return a count. Raises OutputError."""
    figure = number(value, what, name)
    if figure != int(figure):
        raise OutputError(f"{name}: {what} is {figure}, which is not a count")
    return int(value)


def busy(job: Mapping[str, Any], direction: str, name: str) -> bool:
    """Return True if a job claims to have done anything in this direction."""
    side = job.get(direction)
    if side is None:
        return False
    if not isinstance(side, dict):
        raise OutputError(f"{name}: {direction} is not an object")
    return any(
        whole_number(side.get(key, 0), f"{direction}: {key}", name) for key in ("total_ios", "io_bytes")
    )


def bytes_moved(job: Mapping[str, Any], direction: str, report: FioReport) -> int:
    """Return the bytes that a job moved in this direction."""
    side = job.get(direction)
    value = side.get("io_bytes", 0) if isinstance(side, dict) else 0
    unit = 1 if report.version >= _BYTES_SINCE else 1024
    return whole_number(value, f"{direction}: io_bytes", report.name) * unit


def rounding(report: FioReport) -> int:
    """Return by how many bytes what a job moved may be off."""
    return 0 if report.version >= _BYTES_SINCE else 1024


def side(
    job: Mapping[str, Any], direction: str, label: str, report: FioReport, *, polled: bool = False
) -> FioSide:
    """Return one direction of one job, whose submissions are `polled` for by the kernel or not. Raises
    OutputError where the figures are none, or contradict each other.
    """
    data, where, name = job[direction], f"{label}: {direction}", report.name

    def figure(key: str) -> float:
        if key not in data:
            raise OutputError(f"{name}: {where}: {key} is missing")
        return number(data[key], f"{where}: {key}", name)

    size, seconds = bytes_moved(job, direction, report), figure("runtime") / 1000
    counted = "total_ios" in data or report.version >= _COUNTS_SINCE
    issued = figure("total_ios") if counted else figure("iops") * seconds
    operations = round(number(issued, f"{where}: operations", name))
    for what, value in (("no bytes", size), ("no operations", operations), ("no time", seconds)):
        if not value:
            raise OutputError(f"{name}: {where}: claims I/O of {what}")
    exact = "bw_bytes" in data
    bandwidth, iops = figure("bw_bytes") if exact else figure("bw") * 1024, figure("iops")
    _check_agreement(bandwidth, size / seconds, 1024, f"{name}: {where}: bandwidth (B/s)")
    _check_agreement(iops, operations / seconds, 1, f"{name}: {where}: iops")
    return FioSide(
        bytes=size,
        operations=operations,
        short=short(job, direction, label, name),
        seconds=seconds,
        bandwidth=bandwidth if bandwidth else size / seconds,
        iops=iops if iops else operations / seconds,
        latencies=_latencies(data, operations, where, name, polled=polled),
        samples=_samples(data, where, name),
    )


def short(job: Mapping[str, Any], direction: str, label: str, name: str) -> int:
    """Return how many operations were short.

    To fio up to 3.42 each fdatasync is a short read, and each sync_file_range a short write, too: its array
    of counts has no place for them. How many there were is known by their latencies alone; what is left over
    is short. Where these were not asked for (gtod_reduce), nothing is known.
    """
    ways = (direction,) if direction == "mixed" else ("read", "write", "trim")
    counts = {
        way: whole_number(job[way].get("short_ios", 0), f"{label}: {way}: short_ios", name)
        for way in ways
        if isinstance(job.get(way), dict)
    }
    sync, given, timed, uncounted = job.get("sync"), job.get("job options"), 0, 0
    if isinstance(sync, dict) and isinstance(sync.get("lat_ns"), dict):
        timed = whole_number(sync["lat_ns"].get("N", 0), f"{label}: sync: N", name)
        uncounted = max(0, timed - whole_number(sync.get("total_ios", 0), f"{label}: sync: total_ios", name))
    if not timed and isinstance(given, dict) and _SYNCS & given.keys():
        return 0
    return min(counts[direction], max(0, sum(counts.values()) - uncounted))


def _check_agreement(stated: float, derived: float, rounding: float, what: str) -> None:
    """Refuse rates that differ by more than rounding: fio computes both from its own counters."""
    if abs(stated - derived) > rounding + _DISAGREEMENT * derived:
        raise OutputError(f"{what} is {stated:.6g}, but the counters beside it give {derived:.6g}")


def _samples(data: Mapping[str, Any], where: str, name: str) -> dict[str, float]:
    """Return bandwidth and iops of the sampling windows; empty for a run too short to be sampled."""
    found: dict[str, float] = {}
    for kind, unit, spread in (("bw", 1024, "dev"), ("iops", 1, "stddev")):
        keys = {"min": f"{kind}_min", "max": f"{kind}_max", "stddev": f"{kind}_{spread}"}
        sampled = data.get(f"{kind}_samples", data.get(f"{kind}_mean", 0))
        if not all(key in data for key in keys.values()) or sampled == 0:
            continue
        number(sampled, f"{where}: {kind}_samples", name)
        values = {part: number(data[key], f"{where}: {key}", name) * unit for part, key in keys.items()}
        if values["min"] > values["max"]:
            raise OutputError(f"{name}: {where}: {kind}_min is more than {kind}_max")
        figure = "bandwidth" if kind == "bw" else kind
        found.update({f"{figure}.{part}": value for part, value in values.items()})
    return found


def _latencies(
    data: Mapping[str, Any], operations: int, where: str, name: str, *, polled: bool = False
) -> dict[str, FioLatency]:
    """Return the latencies that were measured. Where the kernel polls, fio (3.33) may count completion from
    an earlier use of an I/O's place in the queue, or from when the machine was started: it is left out then.
    """
    found = {}
    for kind in _LATENCIES:
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


def merge(sides: Sequence[FioSide], name: str, *, sampled: bool, span: float = 0.0) -> dict[str, float]:
    """Return the metrics of jobs that ran together, in one direction.

    Of several jobs rates are what all did in a `span` of so many seconds, as fio has it of a group: rates of
    each in its own time add up to more than the device did. They are added up where no span is known (0).
    What was sampled in windows does not add up (the windows of jobs differ): it is told only if `sampled`
    says that it belongs to the whole.
    """
    found = {
        "iops": sum(side.iops for side in sides),
        "bandwidth": sum(side.bandwidth for side in sides),
    }
    if span and len(sides) > 1:
        found = {
            "iops": sum(side.operations for side in sides) / span,
            "bandwidth": sum(side.bytes for side in sides) / span,
        }
    if sampled and len(sides) == 1:
        found.update(sides[0].samples)
    for kind in _LATENCIES:
        latencies = [side.latencies[kind] for side in sides if kind in side.latencies]
        if latencies and len(latencies) == len(sides):
            found.update({f"{kind}.{part}": value for part, value in _merge_latencies(latencies).items()})
    for metric, value in found.items():
        number(value, metric, name)
    return found


def _merge_latencies(latencies: Sequence[FioLatency]) -> dict[str, float]:
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


def histograms(sides: Sequence[FioSide]) -> dict[str, Histogram]:
    """Return the latencies of jobs that ran together by kind, where all of them have bins (json+)."""
    found = {}
    for kind in _LATENCIES:
        bins = [side.latencies[kind].bins for side in sides if kind in side.latencies]
        if bins and len(bins) == len(sides) and all(bins):
            found[kind] = compact(bins)
    return found


def sync_latencies(
    jobs: Sequence[Mapping[str, Any]], report: FioReport, untimed: int = 0
) -> dict[str, float]:
    """Return latencies of fsync and its like, of jobs that were asked to sync; those of fdatasync fio 3.33
    counts (`N`) in the distribution alone. What as many as `untimed` of them could falsify is left out.
    """
    found = []
    for job in jobs:
        data = job.get("sync")
        if isinstance(data, dict):
            operations = whole_number(data.get("total_ios", 0), "sync: total_ios", report.name)
            found.append(_latencies(data, operations, "sync", report.name).get("lat"))
    latencies = [latency for latency in found if latency]
    if not latencies:
        return {}
    count = sum(latency.count for latency in latencies)
    return {
        f"sync.lat.{part}": value
        for part, value in _merge_latencies(latencies).items()
        if not untimed or _holds_without(part, untimed, count)
    }


def _holds_without(part: str, largest: int, count: int) -> bool:
    """Return whether a figure of so many latencies is the same whatever the `largest` of them are."""
    if not part.startswith("p"):
        return part == "min"
    return (100 - float(part[1:])) * count >= 100 * largest


def cpu(jobs: Sequence[Mapping[str, Any]], key: str, name: str) -> float | None:
    """Return the mean share of a core that a job used, weighted by how long each ran; None if not told."""
    shares = [number(job[key], key, name) / 100 for job in jobs if key in job]
    if len(shares) < len(jobs):
        return None
    times = [number(job.get("job_runtime", 1), "job_runtime", name) for job in jobs]
    return sum(map(math.prod, zip(shares, times, strict=True))) / sum(times) if sum(times) else None
