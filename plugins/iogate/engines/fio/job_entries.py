"""The jobs that an output in JSON lists, the options that they state, and how many they are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iogate.engines.fio.jobs import ALL_CLIENTS, SIDES, stated_count
from iogate.engines.fio.json_reader import FioReport
from iogate.engines.fio.json_values import number, whole_number
from iogate.engines.fio.said import messages
from iogate.errors import OutputError
from iogate.units import one_line

_MOST_JOBS = 2**16
"""More than fio has, which is 4096 (REAL_MAX_JOBS in fio.h) for each of its clients."""
_MOST_OPTIONS = 400
_ROUNDED = 0.25  # of the longest job: what times are off by, as of short jobs
_MANY_BLOCKS = ("bsrange", "blocksize_range", "bssplit")


@dataclass(frozen=True)
class Job:
    """One entry of `jobs` or `client_stats`, what messages call it, and whether it `alone` has that name."""

    label: str
    data: Mapping[str, Any]
    alone: bool


def jobs_of(report: FioReport) -> list[Job]:
    """Return the jobs that an output lists. Raises OutputError if there are none."""
    entries = _entries(report)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise OutputError(f"{report.name}: is not fio's output: it lists no jobs")
    if len(entries) > _MOST_JOBS:
        raise OutputError(f"{report.name}: lists {len(entries)} jobs, and fio has {_MOST_JOBS} at most")
    if not entries:
        raise OutputError(f"{report.name}: fio ran no job{messages(report.said, None)}")
    labels = [_label(entry) for entry in entries]
    count = Counter(labels)
    return [Job(label, entry, count[label] == 1) for label, entry in zip(labels, entries, strict=True)]


def _entries(report: FioReport) -> Any:
    entries = report.data.get("jobs")
    return report.data.get("client_stats") if entries is None else entries


def _label(entry: Mapping[str, Any]) -> str:
    host = entry.get("hostname")
    return one_line(f"{entry.get('jobname', 'job')}" + (f" on {host}" if host else ""))


def without_sum(jobs: Sequence[Job]) -> list[Job]:
    """Return the jobs without the closing sum that fio adds over its clients."""
    summed = len(jobs) > 1 and jobs[-1].data.get("jobname") == ALL_CLIENTS and "hostname" in jobs[-1].data
    return list(jobs[:-1]) if summed else list(jobs)


def shared_options(report: FioReport, jobs: Sequence[Job]) -> dict[str, Any]:
    """Return the options as the output states them, those that all the jobs share: each job's own on top of
    the global ones.

    An entry that stands for several sections has those of the first one alone: then none are known.
    """
    stated = _stated(report, jobs)
    return stated if count_of(report, jobs) == _stated_count(report, jobs) else {}


def _stated(report: FioReport, jobs: Sequence[Job]) -> dict[str, Any]:
    found = stated_by_each(report, jobs)
    shared = {key for key, value in found[0].items() if all(one.get(key) == value for one in found)}
    if any(key in one and key not in shared for one in found for key in _MANY_BLOCKS):
        shared -= {"bs", "blocksize"}  # does not hold for a job that says several sizes
    return {
        one_line(key): one_line(value) if isinstance(value, str) else value
        for key, value in found[0].items()
        if key in shared
    }


def unlike_options(report: FioReport, jobs: Sequence[Job]) -> tuple[str, ...]:
    """Return the names of the options that some jobs state, and not all alike."""
    found = stated_by_each(report, jobs)
    names = dict.fromkeys(key for one in found for key in one)
    return tuple(one_line(key) for key in names if any(one.get(key) != found[0].get(key) for one in found))


def any_states(report: FioReport, jobs: Sequence[Job], key: str) -> bool:
    """Return whether any job states an option, be it another value than the other jobs do."""
    return any(key in one for one in stated_by_each(report, jobs))


def stated_by_each(report: FioReport, jobs: Sequence[Job]) -> list[dict[str, Any]]:
    """Return the options that each job states, its own on top of the global ones. Raises OutputError where
    they are more than fio has: each job has a copy of the global ones.
    """
    shared = report.data.get("global options")
    if isinstance(shared, list):
        shared = shared[0] if shared else None
    if isinstance(shared, dict) and len(shared) > _MOST_OPTIONS:
        raise OutputError(f"{report.name}: states {len(shared)} global options, and fio has some 250")
    found = []
    for job in jobs:
        own = job.data.get("job options")
        found.append(
            {**(shared if isinstance(shared, dict) else {}), **(own if isinstance(own, dict) else {})}
        )
    return found


def untimed_syncs(report: FioReport, jobs: Sequence[Job]) -> int:
    """Return how many syncs may have no time of their own: one a job of libaio that has I/Os in flight.

    There fio (3.33) counts a sync from when its place in the queue was last used, and the
    first one, whose place is new, from when fio or even the machine was started, as its clock has it.
    """
    for one in stated_by_each(report, jobs):
        if one.get("ioengine") == "libaio" and str(one.get("iodepth", "1")).strip() != "1":
            return count_of(report, jobs)
    return 0


def _stated_count(report: FioReport, jobs: Sequence[Job]) -> int:
    """Return how many jobs the options say these are: numjobs of an entry that may stand for a group, else
    one an entry.
    """
    if len(jobs) > 1 or not jobs[0].alone:
        return len(jobs)
    return stated_count(str(_stated(report, jobs).get("numjobs", ""))) or 1


def is_uncounted(report: FioReport, jobs: Sequence[Job]) -> bool:
    """Return whether one entry may stand for more jobs than its options say, and does not tell how many: a
    group of several sections, before 3.8.
    """
    return len(jobs) == 1 and jobs[0].alone and "job_runtime" not in jobs[0].data


def count_of(report: FioReport, jobs: Sequence[Job]) -> int:
    """Return how many jobs these are: what the options say, or what the time of all jobs of one entry
    (`job_runtime`, since 3.8) says, if that is more: several sections are in it, of which none ran for longer
    than the entry says.
    """
    stated = _stated_count(report, jobs)
    if len(jobs) > 1 or not jobs[0].alone:
        return stated
    data = jobs[0].data
    sides = [data[direction] for direction in SIDES if isinstance(data.get(direction), dict)]
    times = [whole_number(side.get("runtime", 0), "runtime", report.name) for side in sides]
    # what verifies reads when it has written
    longest = sum(times) if "verify" in _stated(report, jobs) else max(times)
    together = number(data.get("job_runtime", 0), "job_runtime", report.name)
    return max(stated, math.ceil(together / longest - _ROUNDED) if longest else 1)
