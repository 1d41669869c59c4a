"""fio's JSON output, of fio 2.2 to 3.42, as metrics.

Nothing in an output is believed before it was checked: fio's exit status does not say whether a run was
whole, so what was done decides (I/O, runtime, errors), and figures that contradict each other are refused.
The fields: fio(1), section JSON OUTPUT; and stat.c of fio.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iogate.engines.fio import figures
from iogate.engines.fio.job_entries import (
    Job,
    any_states,
    count_of,
    is_uncounted,
    jobs_of,
    shared_options,
    stated_by_each,
    unlike_options,
    untimed_syncs,
    without_sum,
)
from iogate.engines.fio.jobs import DIRECTIONS, SIDES, SUMS_GROUPS, part_name, unlike
from iogate.engines.fio.json_reader import FioReport, read_report
from iogate.engines.fio.said import messages, remarks
from iogate.engines.fio.soundness import check_end, check_jobs, check_sum, did_something, failure
from iogate.errors import ApartError, OutputError
from iogate.host.process import Completed
from iogate.model import Histogram, Output, Part, Traffic
from iogate.units import format_duration, one_line, parse_duration

OF_EACH = ("iops", "bandwidth", "lat.mean", "clat.p50", "clat.p99", "clat.p99.9")
"""The figures that are told of each of several jobs or clients, beside those of all."""
_TOGETHER = 1.25
"""How much longer than the shortest the longest of jobs may run, so that they still ran together."""
_EDGE = 1.0  # s
_CLOCK = 0.01  # s: how much earlier than its runtime a job may end by fio's clock
_DEFAULT_IOENGINE = "psync"  # on Linux: fio(1), I/O engine


def parse(text: str, *, name: str, completed: Completed | None = None) -> Output:
    """Return the metrics of a whole output, all jobs together. Raises OutputError."""
    report, jobs = _whole(text, name, completed)
    return _output(report, without_sum(jobs), completed)


def _whole(text: str, name: str, completed: Completed | None) -> tuple[FioReport, list[Job]]:
    """Return a whole output, whose jobs are sound. Raises OutputError."""
    check_end(text, name, completed)
    try:
        report = read_report(text, name)
    except OutputError as error:
        if completed and completed.status:
            said = messages(text, completed)
            raise OutputError(f"{name}: fio ended with status {completed.status}{said}") from error
        raise
    jobs = jobs_of(report)
    check_jobs(report, jobs, completed)
    if len({str(job.data.get("groupid")) for job in jobs}) > 1:
        raise ApartError(
            f"{name}: holds groups of jobs that may have run one after another: their rates do not add up",
            remedy="look at the jobs one by one: iogate show FILE",
        )
    check_sum(report, jobs)
    return report, jobs


@dataclass(frozen=True)
class ByClient:
    """The output of fio's clients together, and of each by its name."""

    whole: Output
    each: Mapping[str, Output]


def by_client(text: str, *, name: str, completed: Completed | None = None) -> ByClient:
    """Return the metrics of each client of fio and of all, however long each ran. Raises OutputError."""
    report, jobs = _whole(text, name, completed)
    hosts: dict[str, list[Job]] = {}
    for job in without_sum(jobs):
        hosts.setdefault(one_line(str(job.data.get("hostname"))), []).append(job)
    for host, own in hosts.items():
        if not did_something(own, name):
            raise OutputError(f"{name}: {host} did no I/O{messages(report.said, completed)}")
    apart = _apart_in(report, without_sum(jobs))
    return ByClient(
        _output(report, without_sum(jobs), completed, together=False, apart=apart),
        {host: _output(report, own, completed, apart=apart) for host, own in hosts.items()},
    )


def parts(text: str, *, name: str) -> list[Part]:
    """Return each entry that did something and did not fail, under its job's name. Raises OutputError if
    there is none.
    """
    check_end(text, name, None)
    report = read_report(text, name)
    jobs = jobs_of(report)
    sound = [job for job in jobs if not failure(job, report, None)]
    check_jobs(report, sound or jobs, None)
    busy = [job for job in without_sum(sound) if did_something([job], name)]
    return [
        Part(job.label, _output(report, [job], None), report.line, str(job.data.get("groupid")))
        for job in busy
    ]


def _output(
    report: FioReport,
    jobs: Sequence[Job],
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
    options = shared_options(report, jobs)
    count = count_of(report, jobs)
    sampled = count == 1 or report.version >= SUMS_GROUPS
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
    untimed = untimed_syncs(report, jobs)
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
        synchronous=_DEFAULT_IOENGINE if options and not any_states(report, jobs, "ioengine") else "",
        remarks=remarks(report.said, completed.stderr if completed else ""),
        histograms=histograms,
        unlike=unlike_options(report, jobs),
        uncounted=is_uncounted(report, jobs),
    )


def _apart_in(report: FioReport, jobs: Sequence[Job]) -> list[str]:
    """Return the directions in which several unlike jobs did something, and each is told by itself."""
    found = []
    for direction in SIDES:
        own = [job for job in jobs if figures.busy(job.data, direction, report.name)]
        if len({_part(job) for job in own}) > 1 and unlike(stated_by_each(report, own)):
            found.append(direction)
    return found


def _by_part(jobs: Sequence[Job]) -> Mapping[str, Sequence[Job]]:
    found: dict[str, list[Job]] = {}
    for job in jobs:
        found.setdefault(_part(job), []).append(job)
    return found


def _part(job: Job) -> str:
    return part_name(one_line(str(job.data.get("jobname", "job"))))


def _done(
    report: FioReport, jobs: Sequence[Job], direction: str, *, sampled: bool, together: bool
) -> tuple[list[figures.FioSide], dict[str, float]]:
    """Return what each of some jobs did in one direction, and their figures as one."""
    stated = stated_by_each(report, jobs)
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


def _steady(jobs: Sequence[Job]) -> bool | None:
    states = [job.data["steadystate"] for job in jobs if isinstance(job.data.get("steadystate"), dict)]
    return all(state.get("attained") == 1 for state in states) if states else None
