"""fio in a pair: whether its run may be stopped and go on, and the options of one that does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from iogate.engines.fio.jobs import SEEDED, drawn_by, jobs

_COUNTED = frozenset({"libaio", "io_uring", "posixaio", "psync", "sync", "vsync", "pvsync", "pvsync2"})
"""The ioengines whose direct I/O the kernel counts for the process that submits it."""
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


def lasting(options: Mapping[str, Any], seconds: float, seed: int) -> dict[str, Any]:
    """Return options for the same I/O going on for so long; see `iogate.engines.protocol.Alternates`."""
    return _each(options, lambda job: _lasting(job, seconds, seed))


def shortened(options: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """Return options for the same I/O, for so long at most where it is bounded by time, without a rest."""

    def shorter(job: Mapping[str, Any]) -> dict[str, Any]:
        found = {**job, "startdelay": 0}
        if job.get("runtime"):
            found["runtime"] = min(float(job["runtime"]), seconds)
            found["ramp_time"] = min(float(job["ramp_time"]), seconds / 2)
        return found

    return _each(options, shorter)


def processes(options: Mapping[str, Any]) -> int:
    """Return the number of processes: fio itself, and one for each job that is no thread."""
    each = jobs(options).values()
    return 1 + sum(0 if _flag(job, "thread") else int(job["numjobs"]) for job in each)


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


def _lasting(job: Mapping[str, Any], seconds: float, seed: int) -> dict[str, Any]:
    passed = dict(job.get("fio", {}))
    found = {
        **job,
        "runtime": math.ceil(seconds * 1000) / 1000,
        "time_based": True,
        "ramp_time": 0,
        "startdelay": 0,
    }
    if not any(key in passed for key in SEEDED):
        passed |= drawn_by(seed)
    if passed:
        found["fio"] = passed
    return found


def _flag(job: Mapping[str, Any], name: str) -> bool:
    return str(job.get("fio", {}).get(name, "0")) in ("", "1")
