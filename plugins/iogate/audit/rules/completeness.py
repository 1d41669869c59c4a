"""Checks of how the run went: was anything done, for long enough, and to the end?"""

from __future__ import annotations

import math

from iogate.audit.evidence import PERCENTILE, Check, Evidence, Findings, finding
from iogate.model import Traffic
from iogate.units import format_duration, format_quantity

_TAIL_OPERATIONS = 10
_SHORTEST_SECONDS = 1.0
_LATENCIES_PER_RUN = 20
_REMARKS = 5
_STALL_SECONDS = 1.0
_STALL_LIMIT = 10.0  # an I/O longer than that is a fault anywhere: Linux gives up on SCSI and NVMe after 30 s


def zero_io(evidence: Evidence) -> Findings:
    """Check that the engine did the I/O that it was asked for (a status of 0 does not say so).

    `invalid`: there was not one operation in a direction that the workload asks for.

    Look at the engine's own messages in the raw output.
    """
    wanted = [
        name for name, asked in (("read", evidence.needs.reads), ("write", evidence.needs.writes)) if asked
    ]
    done = {"mixed": {"read", "write"}, "trim": {"write"}}
    found = {name for direction in evidence.traffic for name in done.get(direction, {direction})}
    missing = [name for name in wanted if name not in found]
    if not missing:
        return
    yield finding(
        "invalid",
        f"no {' and no '.join(missing)} was done: 0 operations, whatever the engine's exit status",
        "look at the engine's own messages in the raw output",
    )


def short_io(evidence: Evidence) -> Findings:
    """Find operations that moved fewer bytes than asked for, or none: they are counted, yet cost nothing.

    `invalid`: the data ended before the workload did, or the device failed, and the rates are too good.
    `suspect` if less than 1% were short and the size is no multiple of the block size: the last block of each
    pass is short then.

    See whether somebody truncated the file, look for errors in the kernel's log, and make the size a multiple
    of the block size.
    """
    for direction, traffic in evidence.traffic.items():
        short = max(traffic.short, _empty(evidence, traffic))
        if short > 0:
            share = short / traffic.operations
            odd = bool(
                evidence.block and evidence.needs.size % evidence.block
            )  # its last block is short in every pass
            yield finding(
                "suspect" if odd and share < 0.01 else "invalid",
                f"{short} of {traffic.operations} {direction} operations were short ({share:.2%})",
                "did somebody truncate the file? look for errors in the kernel's log; the size should be a "
                "multiple of the block size",
            )


def _empty(evidence: Evidence, traffic: Traffic) -> int:
    """Return how many operations moved nothing, by the bytes: fio counts a read behind the end of a file as
    one.

    With a ramp, fio counts the I/Os in flight at its end and not their bytes; so it does at the end of a
    search for a queue depth. By vsync it counts what is queued when the run ends, and was never sent.
    """
    if not evidence.block:
        return 0
    moved = traffic.bytes + traffic.rounding
    queues = evidence.options.get("ioengine") == "vsync"
    counts_alone = evidence.given("ramp_time") or evidence.seeks_depth or queues
    counted_alone = math.ceil(evidence.possible or 1) if counts_alone else 0
    return max(0, traffic.operations - math.ceil(moved / evidence.block) - counted_alone)


def undeclared_writes(evidence: Evidence) -> Findings:
    """Find writes of a workload that declares to read alone.

    `invalid`: the engine did something else than it was asked for, and to data that nobody agreed to lose.

    See what is left of the data; look for options that make this engine write, and for a newer version of it.
    """
    if not evidence.declared or evidence.needs.writes or not evidence.needs.target:
        return
    for direction in sorted({"write", "trim"} & set(evidence.traffic)):
        traffic = evidence.traffic[direction]
        yield finding(
            "invalid",
            f"{format_quantity(traffic.bytes, 'B')} in {traffic.operations} {direction} operations, of a "
            "workload that declares to read alone",
            "see what is left of the data; a newer version of the engine, or other options",
        )


def ended_early(evidence: Evidence) -> Findings:
    """Find a run by time that ended before its time.

    `invalid` below 90% of the `runtime`, `suspect` below 95%: something stopped the engine. Workloads that
    may end by themselves (`steadystate`, `number_ios`, `io_size`, `exitall`, `latency_target` without
    `latency_run`) are left alone.

    Read the engine's messages in the raw output.
    """
    asked = evidence.number("runtime")
    ends_by_itself = evidence.given("steadystate*", "ss", "number_ios", "io_size", "io_limit", "exitall")
    ends_by_itself = ends_by_itself or evidence.seeks_depth
    if not asked or not evidence.flag("time_based") or ends_by_itself or not evidence.traffic:
        return
    lasted = evidence.duration
    writes_alone = str(evidence.options.get("rw", "")).partition(":")[0] in ("write", "randwrite")
    if writes_alone and evidence.given("verify"):  # which reads when it has written
        lasted = sum(traffic.seconds for traffic in evidence.traffic.values())
    if lasted < 0.95 * asked:
        yield finding(
            "invalid" if lasted < 0.9 * asked else "suspect",
            f"ran for {format_duration(lasted)} instead of {format_duration(asked)}",
            "something stopped the engine: read its messages in the raw output",
        )


def stalled(evidence: Evidence) -> Findings:
    """Find a device that stood still: one I/O that took ages, or a run long past its time.

    An I/O of a second or more is looked at if it took ten times the usual latency or more: `invalid` if it
    took 10 s or half of the run, `suspect` if it took a hundred times the usual. Also `invalid` is a run by
    time that took more than half as long again as asked, a second, and what all that may be in flight takes
    at its rate: its last I/Os did not come to an end (left alone with `fsync` and `verify`).

    See what the kernel says of the device (`dmesg`). If it always does this, take a longer `runtime` or fewer
    I/Os in flight.
    """
    for name, value in evidence.output.metrics.items():
        stem, found, _ = name.rpartition(".max")
        if not found or stem.rpartition(".")[2] not in ("lat", "latency"):
            continue
        longest, usual = value / 1e9, (_usual(evidence, stem) or 0.0) / 1e9
        if longest < _STALL_SECONDS or longest < 10 * usual:
            continue
        ruins = longest >= _STALL_LIMIT or longest >= 0.5 * evidence.duration
        if ruins or longest >= 100 * usual:
            yield finding(
                "invalid" if ruins else "suspect",
                f"the device stood still: {stem} was up to {format_duration(longest)}, usually "
                f"{format_quantity(usual * 1e9, 'ns')}, in a run of {format_duration(evidence.duration)}",
                "see what the kernel says of the device: dmesg; if it always does this, a longer runtime",
            )
    asked = evidence.number("runtime")
    flushes = evidence.given("end_fsync", "fsync*", "fdatasync", "verify*")
    if (
        asked
        and evidence.flag("time_based")
        and not flushes
        and evidence.duration > 1.5 * asked + _STALL_SECONDS + _draining(evidence, asked)
    ):
        yield finding(
            "invalid",
            f"ran for {format_duration(evidence.duration)} instead of {format_duration(asked)}: its last "
            "I/Os did not come to an end",
            "see what the kernel says of the device: dmesg; or a longer runtime, or fewer I/Os in flight",
        )


def _draining(evidence: Evidence, asked: float) -> float:
    """Return how long what may be in flight takes, in seconds, at the rate at which all else was done in the
    time that was `asked` for.
    """
    left = evidence.possible or 0.0
    done = sum(traffic.operations for traffic in evidence.traffic.values()) - left
    return left * asked / done if done > 0 else 0.0


def _usual(evidence: Evidence, series: str) -> float | None:
    """Return the median of a latency series, in ns; fio has that of the completion latency alone."""
    names = (f"{series}.p50", f"{series.removesuffix('.lat')}.clat.p50", f"{series}.mean")
    return next((evidence.output.metrics[name] for name in names if name in evidence.output.metrics), None)


def clock(evidence: Evidence) -> Findings:
    """Compare the engine's clock with ours, and find clocks of whole seconds.

    `invalid` if the engine claims more time than it lived (2% and 0.1 s are allowed): its clock jumped.
    `suspect` if a run without a `runtime` took a whole number of seconds, 30 at most: it may be one more or
    less.

    Check time synchronisation and the clock source; with a clock of whole seconds make the run last for
    minutes, or use another engine.
    """
    if evidence.seconds is not None and evidence.duration > evidence.seconds * 1.02 + 0.1:
        yield finding(
            "invalid",
            f"the engine claims {evidence.duration:.3f} s, yet it lived for {evidence.seconds:.3f} s only",
            "its clock jumped or is not monotonic: check time synchronisation and the clock source",
        )
    whole = evidence.duration == round(evidence.duration) and 0 < evidence.duration <= 30
    if whole and not evidence.given("runtime") and evidence.declared:
        yield finding(
            "suspect",
            f"the engine's clock counts whole seconds: {evidence.duration:.0f} s may be one more or less",
            "make the run last for minutes, or use another engine",
        )


def short_run(evidence: Evidence) -> Findings:
    """Find a run too short to stand for anything.

    `suspect`: it took less than a second, or less than 20 times as long as one I/O of it on average, so that
    start and end weigh as much as the rest.

    Say `time_based` with a `runtime` of 10 s or more, a larger `size`, or fewer I/Os in flight.
    """
    if not evidence.traffic:
        return
    mean = max((evidence.latency(direction) or 0.0 for direction in evidence.traffic), default=0.0) / 1e9
    if evidence.duration < _SHORTEST_SECONDS:
        yield finding(
            "suspect",
            f"the run took {format_quantity(evidence.duration, 's')}: start and end weigh as much as "
            "the rest",
            "time_based with a runtime of 10 s or more, or a larger size",
        )
    elif evidence.duration < _LATENCIES_PER_RUN * mean:
        yield finding(
            "suspect",
            f"the run of {format_duration(evidence.duration)} is only {evidence.duration / mean:.1f} times "
            f"as long as one I/O of it ({format_quantity(mean * 1e9, 'ns')})",
            f"runtime: at least {math.ceil(_LATENCIES_PER_RUN * mean)} s, or fewer I/Os in flight",
        )


def few_operations(evidence: Evidence) -> Findings:
    """Find a percentile that too few I/Os decide (99.99 needs 100,000 of them).

    `suspect` if fewer than ten I/Os lie beyond a percentile that gates. `note` in an output of which
    it is not said what gates; it names the lowest such percentile.

    Take a longer `runtime`, or gate a lower percentile.
    """
    for direction, traffic in evidence.traffic.items():
        unresolved = []
        for name in evidence.gating if evidence.declared else evidence.output.metrics:
            match = PERCENTILE.fullmatch(name)
            if match and name.startswith(f"{direction}.") and name in evidence.output.metrics:
                beyond = traffic.operations * (1 - float(match["percent"]) / 100)
                if beyond < _TAIL_OPERATIONS * (1 - 1e-9):
                    unresolved.append((float(match["percent"]), beyond))
        for percent, beyond in sorted(set(unresolved))[: None if evidence.declared else 1]:
            yield finding(
                "suspect" if evidence.declared else "note",
                f"p{percent:g} of {traffic.operations} {direction} operations is "
                + _decided_by(percent, beyond)
                + ("" if evidence.declared or percent >= 100 else ", and higher percentiles more"),
                "a longer runtime, or gate a lower percentile",
            )


def _decided_by(percent: float, beyond: float) -> str:
    """Return how few operations decide a percentile, and how many it takes."""
    if percent >= 100:
        return "the slowest of them alone"
    needed = math.ceil(round(_TAIL_OPERATIONS / (1 - percent / 100), 3))
    return f"decided by {beyond:.1f} of them; it takes {needed}"


def steady_state(evidence: Evidence) -> Findings:
    """Ask whether the steady state came that the engine was asked to wait for.

    `suspect`: it did not, though the engine ends with status 0 all the same; the figures are those of a
    device on its way to somewhere.

    Take a longer `runtime`, or precondition the device.
    """
    if evidence.output.steady is False:
        yield finding(
            "suspect",
            "the steady state was not attained (the engine ends with status 0 all the same)",
            "a longer runtime, or preconditioning",
        )


def engine_remarks(evidence: Evidence) -> Findings:
    """Repeat what the engine itself says about its figures.

    `note`: five remarks at most are shown, all of them are in the raw output.

    Read them; what is wrong with the figures is found by other checks.
    """
    said = evidence.output.remarks
    if said:
        more = f"; and {len(said) - _REMARKS} more" if len(said) > _REMARKS else ""
        yield finding("note", f"{evidence.engine} says: {'; '.join(said[:_REMARKS])}{more}")


CHECKS: tuple[Check, ...] = (
    zero_io,
    short_io,
    undeclared_writes,
    ended_early,
    stalled,
    clock,
    short_run,
    few_operations,
    steady_state,
    engine_remarks,
)
