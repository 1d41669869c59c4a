"""fio in a pair: whether its run may be stopped and go on, and the options of one that does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from iogate.engines.fio.jobs import jobs
from iogate.units import parse_size, size_text

_COUNTED = frozenset({"libaio", "io_uring", "posixaio", "psync", "sync", "vsync", "pvsync", "pvsync2"})
"""The ioengines whose direct I/O the kernel counts for the process that submits it."""
_SYNCHRONOUS = _COUNTED - {"libaio", "io_uring", "posixaio"}
_ONE_THREAD = _COUNTED - {"posixaio"}
"""The ioengines that start no threads: io_uring's workers belong to the kernel, and keep to no affinity."""
_PLACED = ("cpus_allowed", "cpumask", "numa_", "sqthread_poll", "mem", "iomem", "hugepage")
_PACED = (
    "rate",
    "thinktime",
    "flow",
    "latency_",
    "io_submit_mode",
    "steadystate",
    "zone",
    "read_iolog",
    "replay",
)
_SYNCS, _OFF = ("fsync", "fdatasync", "sync"), ("0", "none")
_BOUNDED = ("io_size", "number_ios", "loops", "verify", "do_verify", "write_barrier", "stonewall", "wait_for")
_SEEDED = ("randseed", "randrepeat", "allrandrepeat")
_OWN_PLACE = ("offset", "offset_increment", "offset_align", "fileoffset")
_ALIGNED = 2**20


def indivisible(options: Mapping[str, Any], gating: Sequence[str]) -> str:
    """Return why a run may not be stopped and go on; see `iogate.engines.protocol.Alternates`."""
    for name in gating:
        direction, _, figure = name.partition(".")
        if name.endswith((".read.iops", ".write.iops", ".read.bandwidth", ".write.bandwidth")):
            return f"the kernel does not tell {direction} from the other jobs"
        if direction not in ("read", "write") or figure not in ("iops", "bandwidth"):
            return f"{name} would contain the stops"
    for job in jobs(options).values():
        passed = job.get("fio", {})
        if not job["direct"]:
            return "buffered I/O goes on while its process is stopped"
        if job["ioengine"] not in _COUNTED:
            return f"the kernel does not count the I/O of ioengine {job['ioengine']} for its process"
        if job["ioengine"] == "io_uring":  # to 3.42 at least: it looks for EINTR in errno, which it never set
            return "fio's io_uring ends where a stop interrupts its wait"
        if "trim" in job["rw"]:
            return "the kernel does not count trims for a process"
        paced = next((key for key in passed if key.startswith(_PACED)), None)
        if paced:
            return f"{paced} would catch up after each stop"
        syncs = next((key for key in passed if key.startswith(_SYNCS) and passed[key] not in _OFF), None)
        if syncs:
            return f"what {syncs} writes beside the data counts for the process on some file systems"
        bounded = next((key for key in passed if key in _BOUNDED), None)
        if bounded:
            return f"{bounded} bounds the run"
    return ""


def lasting(options: Mapping[str, Any], seconds: float, seed: int, half: int | None) -> dict[str, Any]:
    """Return options for the same I/O going on for so long; see `iogate.engines.protocol.Alternates`."""
    return _each(options, lambda job: _lasting(job, seconds, seed, half))


def shortened(options: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """Return options for the same I/O, for so long at most where it is bounded by time, without a rest."""

    def shorter(job: Mapping[str, Any]) -> dict[str, Any]:
        found = {**job, "startdelay": 0}
        if job.get("runtime"):
            found["runtime"] = min(float(job["runtime"]), seconds)
            found["ramp_time"] = min(float(job["ramp_time"]), seconds / 2)
        return found

    return _each(options, shorter)


def halves(options: Mapping[str, Any]) -> bool:
    """Return whether two such runs on the same data each need a half; see
    `iogate.engines.protocol.Alternates`.
    """
    each = jobs(options).values()
    in_order = any(not str(job["rw"]).startswith("rand") for job in each)
    return in_order and "mix" not in options and all(map(_divisible, each))


def processes(options: Mapping[str, Any]) -> int:
    """Return the number of processes: fio itself, and one for each job that is no thread."""
    each = jobs(options).values()
    return 1 + sum(0 if _flag(job, "thread") else int(job["numjobs"]) for job in each)


def in_flight(options: Mapping[str, Any]) -> int:
    """Return how many I/Os are in flight at most: iodepth x numjobs, of synchronous ioengines one each."""
    each = jobs(options).values()
    return sum(
        int(job["numjobs"]) * (1 if job["ioengine"] in _SYNCHRONOUS else int(job["iodepth"])) for job in each
    )


def processors(options: Mapping[str, Any]) -> int:
    """Return how many processors a run can keep busy; see `iogate.engines.protocol.Alternates`."""
    each = jobs(options).values()
    for job in each:
        if job["ioengine"] not in _ONE_THREAD or any(key.startswith(_PLACED) for key in job.get("fio", {})):
            return 0
    return sum(int(job["numjobs"]) for job in each)


def _each(options: Mapping[str, Any], change: Any) -> dict[str, Any]:
    if "jobs" in options:
        return {**options, "jobs": {name: change(job) for name, job in options["jobs"].items()}}
    found: dict[str, Any] = change(options)
    return found


def _lasting(job: Mapping[str, Any], seconds: float, seed: int, half: int | None) -> dict[str, Any]:
    passed = dict(job.get("fio", {}))
    found = {
        **job,
        "runtime": math.ceil(seconds * 1000) / 1000,
        "time_based": True,
        "ramp_time": 0,
        "startdelay": 0,
    }
    if not any(key in passed for key in _SEEDED):
        passed["randseed"] = str(seed)
    if half is not None:
        each = parse_size(job["size"]) // 2 // _ALIGNED * _ALIGNED
        found["size"] = size_text(each)
        passed["offset"] = str(half * each)
    if passed:
        found["fio"] = passed
    return found


def _divisible(job: Mapping[str, Any]) -> bool:
    placed = any(key in job.get("fio", {}) for key in _OWN_PLACE)
    one = int(job.get("nrfiles", 1)) == 1  # an offset is one within each file
    return one and not placed and parse_size(job["size"]) >= 2 * _ALIGNED


def _flag(job: Mapping[str, Any], name: str) -> bool:
    return str(job.get("fio", {}).get(name, "0")) in ("", "1")
