"""Whether a run came to its own end, and its jobs did something and did not fail."""

from __future__ import annotations

import errno
import os
import re
import signal
from collections.abc import Mapping, Sequence
from typing import Any

from iogate.engines.fio import figures
from iogate.engines.fio.job_entries import Job, stated_by_each, without_sum
from iogate.engines.fio.jobs import DIRECTIONS, SIDES
from iogate.engines.fio.json_reader import UNKNOWN_TIME_LEFT, FioReport
from iogate.engines.fio.json_values import whole_number
from iogate.engines.fio.said import messages
from iogate.errors import OutputError
from iogate.host.process import Completed

_VERIFIES = {"verify": "none", "do_verify": "1", "verify_backlog": "0"}
"""The options that have a job read again between its writes, and fio's defaults."""


def check_end(text: str, name: str, completed: Completed | None) -> None:
    """Refuse a run that did not come to its own end."""
    if completed and completed.timed_out:
        raise OutputError(
            f"{name}: fio hung: it was ended after {completed.seconds:.0f} s{messages('', completed)}",
            remedy="look at the kernel's log for a stalled device: dmesg",
        )
    if completed and completed.status < 0:
        number = -completed.status
        try:
            called = signal.Signals(number).name
        except ValueError:
            called = f"signal {number}"
        raise OutputError(f"{name}: fio died of {called}{messages('', completed)}")
    everything = "\n".join([text, completed.stdout, completed.stderr] if completed else [text])
    stopped = re.search(r"^fio: terminating on signal (\d+)", everything, re.MULTILINE)
    if stopped or (completed and completed.status == 128):
        why = f"by signal {stopped[1]}" if stopped else "(status 128)"
        raise OutputError(f"{name}: the run was aborted {why}; its figures are partial")


def check_jobs(report: FioReport, jobs: Sequence[Job], completed: Completed | None) -> None:
    """Refuse jobs that failed, did nothing or had not ended."""
    name = report.name
    for job in jobs:
        if failed := failure(job, report, completed):
            raise OutputError(f"{name}: {failed}")
        left = job.data.get("eta", 0)
        if completed is None and left != UNKNOWN_TIME_LEFT and whole_number(left, "eta", name):
            raise OutputError(f"{name}: {job.label} had not ended: {left} s were left")
    if completed and completed.status:
        said = messages(report.said, completed)
        raise OutputError(f"{name}: fio ended with status {completed.status}{said}")
    if not did_something(jobs, name):
        raise OutputError(
            f"{name}: fio did no I/O{messages(report.said, completed)}",
            remedy="nothing was measured: did the job end within its ramp_time, or was the target refused?",
        )


def failure(job: Job, report: FioReport, completed: Completed | None) -> str:
    """Return why a job failed, with what fio said, or why its figures are none; empty if all is well. Raises
    OutputError.
    """
    (stated,) = stated_by_each(report, [job])
    if _reads_again(stated):
        return f"{job.label}: fio counts the time of what it read again (verify_backlog) as that of writes"
    for key in ("error", "first_error"):
        code = whole_number(job.data.get(key, 0), f"{job.label}: {key}", report.name)
        if code:
            return f"{job.label} failed: {_reason(code)}{messages(report.said, completed)}"
    failed = whole_number(job.data.get("total_err", 0), f"{job.label}: total_err", report.name)
    return f"{job.label}: {failed} I/Os failed{messages(report.said, completed)}" if failed else ""


def _reads_again(stated: Mapping[str, Any]) -> bool:
    """Return whether a job of these options reads what it wrote between its writes."""
    given = {key: str(stated.get(key, usual)) for key, usual in _VERIFIES.items()}
    wanted = given["verify"] not in ("none", "0") or "verify_pattern" in stated  # which is enough
    return wanted and given["do_verify"] not in ("0", "false") and bool(given["verify_backlog"].strip("0"))


def _reason(code: int) -> str:
    """Return what an error of fio's means: the kernel's, but for what `verify` finds."""
    if code == errno.EILSEQ:
        return f"what was read is not what was written (verify, error {code})"
    return f"{os.strerror(code)} (error {code})" if code < 4096 else f"error {code}"


def did_something(jobs: Sequence[Job], name: str) -> bool:
    return any(figures.busy(job.data, direction, name) for job in jobs for direction in SIDES)


def check_sum(report: FioReport, jobs: Sequence[Job]) -> None:
    """Refuse a sum over clients, which fio adds itself, that is not the sum of its jobs."""
    apart = without_sum(jobs)
    if len(apart) == len(jobs):
        return
    for direction in DIRECTIONS:
        whole = figures.bytes_moved(jobs[-1].data, direction, report)
        if whole != sum(figures.bytes_moved(job.data, direction, report) for job in apart):
            raise OutputError(f"{report.name}: the sum over all clients is not the sum of its jobs")
