"""fio's JSON output, of fio 2.2 to 3.42, as metrics.

Nothing in an output is believed before it was checked: fio's exit status does not say whether a run was
whole, so what was done decides (I/O, runtime, errors), and figures that contradict each other are refused.
The fields: fio(1), section JSON OUTPUT; and stat.c of fio.
"""

from __future__ import annotations

import os
import re
import signal
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iogate.engines.fio import figures
from iogate.engines.fio.jobs import part_name, unlike
from iogate.engines.fio.json_reader import UNKNOWN_TIME_LEFT, FioReport, read_report
from iogate.errors import ApartError, OutputError
from iogate.host.process import Completed
from iogate.model import Histogram, Output, Part, Traffic
from iogate.units import format_duration, one_line, parse_duration, printable

DIRECTIONS = ("read", "write", "trim")
_ALL_CLIENTS = "All clients"
_SUMS_GROUPS = (3, 13)
OF_EACH = ("iops", "bandwidth", "lat.mean", "clat.p50", "clat.p99", "clat.p99.9")
"""The figures that are told of each of several jobs or clients, beside those of all."""
_TOGETHER = 1.25
"""How much longer than the shortest the longest of jobs may run, so that they still ran together."""
_MOST_JOBS = 2**16
"""More than fio has, which is 4096 (REAL_MAX_JOBS in fio.h) for each of its clients."""
_EDGE = 1.0  # s
_CLOCK = 0.01  # s: how much earlier than its runtime a job may end by fio's clock
_SHOWN = 600
_WORD = re.compile(r"[A-Za-z]{2}")
_MANY_BLOCKS = ("bsrange", "blocksize_range", "bssplit")
_DEFAULT_IOENGINE = "psync"  # on Linux: fio(1), I/O engine


@dataclass(frozen=True)
class _Job:
    """One entry of `jobs` or `client_stats`, what messages call it, and whether it `alone` has that name."""

    label: str
    data: Mapping[str, Any]
    alone: bool


def parse(text: str, *, name: str, completed: Completed | None = None) -> Output:
    """Return the metrics of a whole output, all jobs together. Raises OutputError."""
    report, jobs = _whole(text, name, completed)
    return _output(report, _apart(jobs), completed)


def _whole(text: str, name: str, completed: Completed | None) -> tuple[FioReport, list[_Job]]:
    """Return a whole output, whose jobs are sound. Raises OutputError."""
    _check_end(text, name, completed)
    try:
        report = read_report(text, name)
    except OutputError as error:
        if completed and completed.status:
            said = _messages(text, completed)
            raise OutputError(f"{name}: fio ended with status {completed.status}{said}") from error
        raise
    jobs = _jobs(report)
    _check_jobs(report, jobs, completed)
    if len({str(job.data.get("groupid")) for job in jobs}) > 1:
        raise ApartError(
            f"{name}: holds groups of jobs that may have run one after another: their rates do not add up",
            remedy="look at the jobs one by one: iogate show FILE",
        )
    _check_sum(report, jobs)
    return report, jobs


@dataclass(frozen=True)
class ByClient:
    """The output of fio's clients together, and of each by its name."""

    whole: Output
    each: Mapping[str, Output]


def by_client(text: str, *, name: str, completed: Completed | None = None) -> ByClient:
    """Return the metrics of each client of fio and of all, however long each ran. Raises OutputError."""
    report, jobs = _whole(text, name, completed)
    hosts: dict[str, list[_Job]] = {}
    for job in _apart(jobs):
        hosts.setdefault(one_line(str(job.data.get("hostname"))), []).append(job)
    for host, own in hosts.items():
        if not _did_something(own, name):
            raise OutputError(f"{name}: {host} did no I/O{_messages(report.said, completed)}")
    apart = _apart_in(report, _apart(jobs))
    return ByClient(
        _output(report, _apart(jobs), completed, together=False, apart=apart),
        {host: _output(report, own, completed, apart=apart) for host, own in hosts.items()},
    )


def parts(text: str, *, name: str) -> list[Part]:
    """Return each entry that did something and did not fail, under its job's name. Raises OutputError if
    there is none.
    """
    _check_end(text, name, None)
    report = read_report(text, name)
    jobs = _jobs(report)
    sound = [job for job in jobs if not _failure(job, report, None)]
    _check_jobs(report, sound or jobs, None)
    busy = [
        job
        for job in _apart(sound)
        if any(figures.busy(job.data, direction, name) for direction in (*DIRECTIONS, "mixed"))
    ]
    return [
        Part(job.label, _output(report, [job], None), report.line, str(job.data.get("groupid")))
        for job in busy
    ]


def _entries(report: FioReport) -> Any:
    entries = report.data.get("jobs")
    return report.data.get("client_stats") if entries is None else entries


def _jobs(report: FioReport) -> list[_Job]:
    entries = _entries(report)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise OutputError(f"{report.name}: is not fio's output: it lists no jobs")
    if len(entries) > _MOST_JOBS:
        raise OutputError(f"{report.name}: lists {len(entries)} jobs, and fio has {_MOST_JOBS} at most")
    if not entries:
        raise OutputError(f"{report.name}: fio ran no job{_messages(report.said, None)}")
    labels = [_label(entry) for entry in entries]
    count = Counter(labels)
    return [_Job(label, entry, count[label] == 1) for label, entry in zip(labels, entries, strict=True)]


def _label(entry: Mapping[str, Any]) -> str:
    host = entry.get("hostname")
    return one_line(f"{entry.get('jobname', 'job')}" + (f" on {host}" if host else ""))


def _apart(jobs: Sequence[_Job]) -> list[_Job]:
    """Return the jobs without the closing sum that fio adds over its clients."""
    summed = len(jobs) > 1 and jobs[-1].data.get("jobname") == _ALL_CLIENTS and "hostname" in jobs[-1].data
    return list(jobs[:-1]) if summed else list(jobs)


def _check_sum(report: FioReport, jobs: Sequence[_Job]) -> None:
    """Refuse a sum over clients, which fio adds itself, that is not the sum of its jobs."""
    apart = _apart(jobs)
    if len(apart) == len(jobs):
        return
    for direction in DIRECTIONS:
        whole = figures.bytes_moved(jobs[-1].data, direction, report)
        if whole != sum(figures.bytes_moved(job.data, direction, report) for job in apart):
            raise OutputError(f"{report.name}: the sum over all clients is not the sum of its jobs")


def _check_end(text: str, name: str, completed: Completed | None) -> None:
    """Refuse a run that did not come to its own end."""
    if completed and completed.timed_out:
        raise OutputError(
            f"{name}: fio hung: it was ended after {completed.seconds:.0f} s{_messages('', completed)}",
            remedy="look at the kernel's log for a stalled device: dmesg",
        )
    if completed and completed.status < 0:
        number = -completed.status
        try:
            called = signal.Signals(number).name
        except ValueError:
            called = f"signal {number}"
        raise OutputError(f"{name}: fio died of {called}{_messages('', completed)}")
    everything = "\n".join([text, completed.stdout, completed.stderr] if completed else [text])
    stopped = re.search(r"^fio: terminating on signal (\d+)", everything, re.MULTILINE)
    if stopped or (completed and completed.status == 128):
        why = f"by signal {stopped[1]}" if stopped else "(status 128)"
        raise OutputError(f"{name}: the run was aborted {why}; its figures are partial")


def _check_jobs(report: FioReport, jobs: Sequence[_Job], completed: Completed | None) -> None:
    """Refuse jobs that failed, did nothing or had not ended."""
    name = report.name
    for job in jobs:
        if failure := _failure(job, report, completed):
            raise OutputError(f"{name}: {failure}")
        left = job.data.get("eta", 0)
        if completed is None and left != UNKNOWN_TIME_LEFT and figures.whole_number(left, "eta", name):
            raise OutputError(f"{name}: {job.label} had not ended: {left} s were left")
    if completed and completed.status:
        said = _messages(report.said, completed)
        raise OutputError(f"{name}: fio ended with status {completed.status}{said}")
    if not _did_something(jobs, name):
        raise OutputError(
            f"{name}: fio did no I/O{_messages(report.said, completed)}",
            remedy="nothing was measured: did the job end within its ramp_time, or was the target refused?",
        )


def _did_something(jobs: Sequence[_Job], name: str) -> bool:
    return any(
        figures.busy(job.data, direction, name) for job in jobs for direction in (*DIRECTIONS, "mixed")
    )


def _failure(job: _Job, report: FioReport, completed: Completed | None) -> str:
    """Return why a job failed, with what fio said; empty if it did not. Raises OutputError."""
    for key in ("error", "first_error"):
        code = figures.whole_number(job.data.get(key, 0), f"{job.label}: {key}", report.name)
        if code:
            reason = f"{os.strerror(code)} (error {code})" if code < 4096 else f"error {code}"
            return f"{job.label} failed: {reason}{_messages(report.said, completed)}"
    failed = figures.whole_number(job.data.get("total_err", 0), f"{job.label}: total_err", report.name)
    return f"{job.label}: {failed} I/Os failed{_messages(report.said, completed)}" if failed else ""


def _messages(text: str, completed: Completed | None) -> str:
    """Return what fio said in words, as a tail for a message."""
    parts = [text.partition("\n{")[0], completed.stderr, completed.stdout] if completed else [text]
    lines = [line.strip() for part in parts for line in part.splitlines()]
    words = [line for line in lines if line and not line.startswith("{")]
    shown = printable("; ".join(dict.fromkeys(words)))
    return f": {shown[:_SHOWN]}{'...' if len(shown) > _SHOWN else ''}" if shown else ""


def _output(
    report: FioReport,
    jobs: Sequence[_Job],
    completed: Completed | None,
    *,
    together: bool = True,
    apart: Sequence[str] | None = None,
) -> Output:
    """Return the metrics of jobs, whose rates add up if they ran `together`, and in the directions `apart`
    (None: where they are unlike) those of each, too. Raises OutputError.
    """
    metrics: dict[str, float] = {}
    traffic: dict[str, Traffic] = {}
    histograms: dict[str, Histogram] = {}
    options = _options(report, jobs)
    count = _count(report, jobs)
    sampled = count == 1 or report.version >= _SUMS_GROUPS
    active = [d for d in DIRECTIONS if any(figures.busy(job.data, d, report.name) for job in jobs)]
    apart = _apart_in(report, jobs) if apart is None else apart
    for direction in active or ["mixed"]:
        own = [job for job in jobs if figures.busy(job.data, direction, report.name)]
        sides, values = _done(report, own, direction, sampled=sampled, together=together)
        traffic[direction] = Traffic(
            bytes=sum(side.bytes for side in sides),
            operations=sum(side.operations for side in sides),
            seconds=max(side.seconds for side in sides),
            short=sum(side.short for side in sides),
            rounding=figures.rounding(report) * len(sides),
        )
        metrics.update({f"{direction}.{figure}": value for figure, value in values.items()})
        for name, alone in _by_part(own).items() if direction in apart else ():
            _, values = _done(report, alone, direction, sampled=False, together=together)
            metrics.update({f"{name}.{direction}.{key}": values[key] for key in OF_EACH if key in values})
        counted = figures.histograms(sides)
        histograms.update({f"{direction}.{kind}": histogram for kind, histogram in counted.items()})
    untimed = _untimed_syncs(report, jobs)
    metrics.update(figures.sync_latencies([job.data for job in jobs], report, untimed))
    return Output(
        metrics=metrics,
        traffic=traffic,
        engine_version=report.engine,
        jobs=count,
        user=figures.cpu([job.data for job in jobs], "usr_cpu", report.name),
        system=figures.cpu([job.data for job in jobs], "sys_cpu", report.name),
        options=options,
        steady=_steady(jobs),
        complete=bool(options),
        synchronous=_DEFAULT_IOENGINE if options and not _any_states(report, jobs, "ioengine") else "",
        remarks=_remarks(report.said, completed.stderr if completed else ""),
        histograms=histograms,
    )


def _apart_in(report: FioReport, jobs: Sequence[_Job]) -> list[str]:
    """Return the directions in which several unlike jobs did something, and each is told by itself."""
    found = []
    for direction in (*DIRECTIONS, "mixed"):
        own = [job for job in jobs if figures.busy(job.data, direction, report.name)]
        if len({_part(job) for job in own}) > 1 and unlike(_stated_by_each(report, own)):
            found.append(direction)
    return found


def _by_part(jobs: Sequence[_Job]) -> Mapping[str, Sequence[_Job]]:
    found: dict[str, list[_Job]] = {}
    for job in jobs:
        found.setdefault(_part(job), []).append(job)
    return found


def _part(job: _Job) -> str:
    return part_name(one_line(str(job.data.get("jobname", "job"))))


def _done(
    report: FioReport, jobs: Sequence[_Job], direction: str, *, sampled: bool, together: bool
) -> tuple[list[figures.FioSide], dict[str, float]]:
    """Return what each of some jobs did in one direction, and their figures as one."""
    stated = _stated_by_each(report, jobs)
    sides = [
        figures.side(job.data, direction, job.label, report, polled=_is_polled(one))
        for job, one in zip(jobs, stated, strict=True)
    ]
    span = _span(sides, stated, direction, report.name) if together else 0.0
    return sides, figures.merge(sides, report.name, sampled=sampled, span=span)


def _span(
    sides: Sequence[figures.FioSide], stated: Sequence[Mapping[str, Any]], direction: str, name: str
) -> float:
    """Return the seconds in which jobs did what they did: those of the longest, or from the first start to
    the last end where their times have little in common. Raises ApartError if that is not for being short, or
    for their flushes.
    """
    times, starts = sorted(side.seconds for side in sides), [_start(one) for one in stated]
    ends = [start + side.seconds for start, side in zip(starts, sides, strict=True)]
    whole, apart = max(ends) - min(starts), max(starts) - min(starts)
    if whole <= _TOGETHER * times[0]:
        return times[-1]
    if whole - times[0] > _EDGE and (apart or not _differ_in_their_flush(times[0], stated)):
        began = f" and began up to {format_duration(apart)} apart" if apart else ""
        raise ApartError(
            f"{name}: {direction}: the jobs ran for {format_duration(times[0])} to "
            f"{format_duration(times[-1])}{began}: their rates do not add up",
            remedy="look at the jobs one by one; with time_based, one startdelay, and one runtime much "
            "longer than an I/O takes, they run together",
        )
    return whole


def _differ_in_their_flush(shortest: float, stated: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether jobs wrote for one and the same time, and what they took beyond it is a flush, which is
    longer of a job that left more in the page cache.
    """
    limits = {_seconds(one.get("runtime", one.get("timeout", 0))) for one in stated}
    flushed = all(str(one.get("end_fsync", "0")) != "0" for one in stated)
    return flushed and len(limits) == 1 and 0 < limits.pop() <= shortest + _CLOCK


def _start(stated: Mapping[str, Any]) -> float:
    """Return the seconds until figures are taken of a job with these options."""
    said = (stated.get("startdelay", stated.get("start_delay", 0)), stated.get("ramp_time", 0))
    return sum(map(_seconds, said))


def _is_polled(stated: Mapping[str, Any]) -> bool:
    """Return whether a thread of the kernel polls for what a job with these options submits."""
    return stated.get("ioengine") == "io_uring" and str(stated.get("sqthread_poll", "0")) != "0"


def _seconds(value: Any) -> float:
    """Return a duration as fio has it; 0 of what is none, such as a range of which fio draws one."""
    try:
        return parse_duration(str(value))
    except ValueError:
        return 0.0


def _remarks(*texts: str) -> tuple[str, ...]:
    """Return what fio said beside its figures and its progress, each line once."""
    lines = [line.strip() for text in texts for line in text.splitlines()]
    lines = list(dict.fromkeys(filter(None, lines)))
    if not lines:
        return ()
    from iogate.engines.fio.text_lines import of_report  # has much to compile, and few runs need it

    return tuple(printable(line) for line in lines if _WORD.search(line) and not of_report(line))


def _options(report: FioReport, jobs: Sequence[_Job]) -> dict[str, Any]:
    """Return the options as the output states them, those that all the jobs share: each job's own on top of
    the global ones.

    An entry that stands for several sections has those of the first one alone: then none are known.
    """
    stated = _stated(report, jobs)
    return stated if _count(report, jobs) == _stated_count(report, jobs) else {}


def _stated(report: FioReport, jobs: Sequence[_Job]) -> dict[str, Any]:
    found = _stated_by_each(report, jobs)
    shared = {key for key, value in found[0].items() if all(one.get(key) == value for one in found)}
    if any(key in one and key not in shared for one in found for key in _MANY_BLOCKS):
        shared -= {"bs", "blocksize"}  # does not hold for a job that says several sizes
    return {
        one_line(key): one_line(value) if isinstance(value, str) else value
        for key, value in found[0].items()
        if key in shared
    }


def _any_states(report: FioReport, jobs: Sequence[_Job], key: str) -> bool:
    """Return whether any job states an option, be it another value than the other jobs do."""
    return any(key in one for one in _stated_by_each(report, jobs))


def _stated_by_each(report: FioReport, jobs: Sequence[_Job]) -> list[dict[str, Any]]:
    """Return the options that each job states, its own on top of the global ones."""
    shared = report.data.get("global options")
    if isinstance(shared, list):
        shared = shared[0] if shared else None
    found = []
    for job in jobs:
        own = job.data.get("job options")
        found.append(
            {**(shared if isinstance(shared, dict) else {}), **(own if isinstance(own, dict) else {})}
        )
    return found


def _untimed_syncs(report: FioReport, jobs: Sequence[_Job]) -> int:
    """Return how many syncs may have no time of their own: one a job of libaio that has I/Os in flight.

    There fio (3.33) counts a sync from when its place in the queue was last used, and the
    first one, whose place is new, from when fio or even the machine was started, as its clock has it.
    """
    for one in _stated_by_each(report, jobs):
        if one.get("ioengine") == "libaio" and str(one.get("iodepth", "1")).strip() != "1":
            return _count(report, jobs)
    return 0


def _stated_count(report: FioReport, jobs: Sequence[_Job]) -> int:
    """Return how many jobs the options say these are: numjobs of an entry that may stand for a group, else
    one an entry.
    """
    if len(jobs) > 1 or not jobs[0].alone:
        return len(jobs)
    stated = str(_stated(report, jobs).get("numjobs", ""))
    return int(stated) if stated.isdecimal() and 0 < int(stated) < 2**31 else 1


def _count(report: FioReport, jobs: Sequence[_Job]) -> int:
    """Return how many jobs these are: what the options say, or what the time of all jobs of one entry
    (`job_runtime`, since 3.8) says, if that is more: several sections are in it.
    """
    stated = _stated_count(report, jobs)
    if len(jobs) > 1 or not jobs[0].alone:
        return stated
    data = jobs[0].data
    sides = [data[direction] for direction in (*DIRECTIONS, "mixed") if isinstance(data.get(direction), dict)]
    times = [figures.whole_number(side.get("runtime", 0), "runtime", report.name) for side in sides]
    # what verifies reads when it has written
    longest = sum(times) if "verify" in _stated(report, jobs) else max(times)
    together = figures.number(data.get("job_runtime", 0), "job_runtime", report.name)
    return max(stated, round(together / longest) if longest else 1)


def _steady(jobs: Sequence[_Job]) -> bool | None:
    states = [job.data["steadystate"] for job in jobs if isinstance(job.data.get("steadystate"), dict)]
    return all(state.get("attained") == 1 for state in states) if states else None
