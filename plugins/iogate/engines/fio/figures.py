"""The figures of one direction of a fio job, checked, and those of several jobs together.

Units change here: KiB/s and us of fio become bytes/s and ns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from iogate.engines.common.histogram import compact
from iogate.engines.fio.json_reader import FioReport
from iogate.engines.fio.json_values import number, whole_number
from iogate.engines.fio.latencies import KINDS, FioLatency, latencies_of, merge_latencies
from iogate.errors import OutputError
from iogate.model import Histogram

_SYNCS = {"fdatasync", "sync_file_range"}
_BYTES_SINCE = (2, 21)
_COUNTS_SINCE = (2, 3)
"""Before, fio does not say how many I/Os it did, and its rate of them is a whole number."""
_DISAGREEMENT = 0.01


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
        latencies=latencies_of(data, operations, where, name, polled=polled),
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
    for kind in KINDS:
        latencies = [side.latencies[kind] for side in sides if kind in side.latencies]
        if latencies and len(latencies) == len(sides):
            found.update({f"{kind}.{part}": value for part, value in merge_latencies(latencies).items()})
    for metric, value in found.items():
        number(value, metric, name)
    return found


def histograms(sides: Sequence[FioSide]) -> dict[str, Histogram]:
    """Return the latencies of jobs that ran together by kind, where all of them have bins (json+)."""
    found = {}
    for kind in KINDS:
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
            found.append(latencies_of(data, operations, "sync", report.name).get("lat"))
    latencies = [latency for latency in found if latency]
    if not latencies:
        return {}
    count = sum(latency.count for latency in latencies)
    return {
        f"sync.lat.{part}": value
        for part, value in merge_latencies(latencies).items()
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
