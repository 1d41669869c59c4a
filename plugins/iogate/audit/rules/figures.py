"""Checks of an output against itself: figures that contradict each other, or say too little."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise

from iogate.audit.evidence import Check, Evidence, Findings, finding
from iogate.model import Traffic, metric
from iogate.units import format_duration, format_quantity

SYNCHRONOUS = frozenset({"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice"})
"""The ioengines of fio that have one I/O in flight per job, whatever iodepth says."""
_PERCENTILE = re.compile(r"(?P<series>.+)\.p(?P<percent>\d+(?:\.\d+)?)")
_TAIL_OPERATIONS = 10
_BIN_ERROR = 0.03
_SHORTEST_SECONDS = 1.0
_LATENCIES_PER_RUN = 20
_REMARKS = 5
_STALL_SECONDS = 1.0
_STALL_LIMIT = 10.0  # an I/O longer than that is a fault anywhere: Linux gives up on SCSI and NVMe after 30 s


def finite(evidence: Evidence) -> Findings:
    """Check that every figure is a number, and none that has a unit negative."""
    for name, value in evidence.output.metrics.items():
        if not math.isfinite(value) or (value < 0 and _has_unit(name)):
            yield finding("invalid", f"{name} is {value}", "run it again; if it stays, the engine is broken")


def _has_unit(name: str) -> bool:
    """Return whether a metric is a quantity; a ratio such as the serial fraction may well be negative."""
    try:
        return bool(metric(name).unit)
    except KeyError:
        return False


def zero_io(evidence: Evidence) -> Findings:
    """Check that the engine did the I/O that it was asked for (a status of 0 does not say so)."""
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
    """Find operations that moved fewer bytes than asked for, or none: they are counted, yet cost nothing."""
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

    With a ramp, fio counts the I/Os in flight at its end and not their bytes.
    """
    if not evidence.block:
        return 0
    counted_alone = math.ceil(evidence.possible or 1) if evidence.given("ramp_time") else 0
    return max(0, traffic.operations - math.ceil(traffic.bytes / evidence.block) - counted_alone)


def ended_early(evidence: Evidence) -> Findings:
    """Find a run by time that ended before its time."""
    asked = evidence.number("runtime")
    ends_by_itself = evidence.given("steadystate*", "ss", "number_ios", "io_size", "io_limit", "exitall")
    if not asked or not evidence.flag("time_based") or ends_by_itself or not evidence.traffic:
        return
    if evidence.duration < 0.95 * asked:
        yield finding(
            "invalid" if evidence.duration < 0.9 * asked else "suspect",
            f"ran for {format_duration(evidence.duration)} instead of {format_duration(asked)}",
            "something stopped the engine: read its messages in the raw output",
        )


def stalled(evidence: Evidence) -> Findings:
    """Find a device that stood still: one I/O that took ages, or a run long past its time."""
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
        and evidence.duration > 1.5 * asked + _STALL_SECONDS
    ):
        yield finding(
            "invalid",
            f"ran for {format_duration(evidence.duration)} instead of {format_duration(asked)}: its last "
            "I/Os did not come to an end",
            "see what the kernel says of the device: dmesg; or a longer runtime, or fewer I/Os in flight",
        )


def _usual(evidence: Evidence, series: str) -> float | None:
    """Return the median of a latency series, in ns; fio has that of the completion latency alone."""
    names = (f"{series}.p50", f"{series.removesuffix('.lat')}.clat.p50", f"{series}.mean")
    return next((evidence.output.metrics[name] for name in names if name in evidence.output.metrics), None)


def clock(evidence: Evidence) -> Findings:
    """Compare the engine's clock with ours, and find clocks of whole seconds."""
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
    """Find a run too short to stand for anything."""
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
    """Find a percentile that too few I/Os decide (99.99 needs 100,000 of them)."""
    for direction, traffic in evidence.traffic.items():
        unresolved = []
        for name in evidence.gating if evidence.declared else evidence.output.metrics:
            match = _PERCENTILE.fullmatch(name)
            if match and name.startswith(f"{direction}.") and name in evidence.output.metrics:
                beyond = traffic.operations * (1 - float(match["percent"]) / 100)
                if beyond < _TAIL_OPERATIONS * (1 - 1e-9):
                    unresolved.append((float(match["percent"]), beyond))
        for percent, beyond in sorted(set(unresolved))[: None if evidence.declared else 1]:
            needed = math.ceil(round(_TAIL_OPERATIONS / (1 - percent / 100), 3))
            yield finding(
                "suspect" if evidence.declared else "note",
                f"p{percent:g} of {traffic.operations} {direction} operations is decided by {beyond:.1f} of "
                f"them; it takes {needed}" + ("" if evidence.declared else ", and higher percentiles more"),
                "a longer runtime, or gate a lower percentile",
            )


def synchronous_engine(evidence: Evidence) -> Findings:
    """Find a synchronous ioengine, which ignores iodepth."""
    ioengine = str(evidence.options.get("ioengine", evidence.output.synchronous))
    depth = evidence.number("iodepth")
    if ioengine in SYNCHRONOUS and depth and depth > 1:
        seen = f" ({evidence.in_flight:.1f} in flight)" if evidence.in_flight else ""
        yield finding(
            "suspect",
            f"ioengine {ioengine} is synchronous: one I/O per job, not iodepth {depth:.0f}{seen}",
            "ioengine: libaio or io_uring, or say iodepth: 1",
        )


def little_law(evidence: Evidence) -> Findings:
    """Check that rate x latency = I/Os in flight, which iodepth x jobs bounds."""
    if not evidence.possible or evidence.in_flight is None or evidence.duration <= 0:
        return
    # I/Os that began before the counted time (ramp) are counted with all of their latency.
    edge = 1 + (evidence.longest + 0.002) / evidence.duration
    queued_outside = evidence.given("io_submit_mode") and evidence.given("rate*")
    seen, asked = evidence.in_flight, evidence.possible
    figures = f"{seen:.1f} I/Os were in flight by Little's law, {asked:.0f} were asked for"
    if evidence.in_flight > evidence.possible * 1.1 * edge and not queued_outside:
        yield finding(
            "invalid",
            f"more than possible: {figures}",
            "rate and latency do not belong together: is the latency's unit right, are all jobs counted?",
        )
    throttled = evidence.given(
        "rate*", "thinktime", "iodepth_low", "iodepth_batch*", "latency_target", "flow"
    )
    enough = sum(traffic.operations for traffic in evidence.traffic.values()) >= 10 * evidence.possible
    synchronous = any(True for _ in synchronous_engine(evidence))
    if evidence.in_flight < evidence.possible / 3 and enough and not throttled and not synchronous:
        yield finding(
            "suspect",
            f"the queue was not filled: {figures}",
            "a synchronous or buffered engine ignores iodepth; or the CPU cannot submit fast enough",
        )


def bandwidth(evidence: Evidence) -> Findings:
    """Check that bandwidth = IOPS x block size."""
    for direction, traffic in evidence.traffic.items():
        rate, shown = evidence.metric(direction, "iops"), evidence.metric(direction, "bandwidth")
        if not rate or shown is None:
            continue
        block = evidence.block or traffic.bytes / traffic.operations
        yield from _identity(evidence, direction, rate, shown, block)


def _identity(evidence: Evidence, direction: str, rate: float, shown: float, block: float) -> Findings:
    expected = rate * block
    slack = 1024 + block / max(evidence.duration, 1e-3)  # fio rounds to KiB/s, and counts the I/O at the edge
    error = max(0.0, abs(shown - expected) - slack) / expected
    edge = evidence.longest / evidence.duration if evidence.duration else 0.0
    if error < 0.01:
        return
    yield finding(
        "invalid" if error > 0.5 + edge else "suspect" if error > 0.05 + edge else "note",
        f"{direction} bandwidth {format_quantity(shown, 'B/s')} is {abs(shown / expected - 1):.1%} "
        f"{'above' if shown > expected else 'below'} "
        f"{format_quantity(rate, 'IOPS')} x {block:.0f} B = {format_quantity(expected, 'B/s')}",
        "I/Os of seconds at the end of a ramp do that; a longer runtime makes it small"
        if error < 0.05 + edge
        else "another block size or unit than said",
    )


def latency_order(evidence: Evidence) -> Findings:
    """Check that min <= mean <= max, with percentiles in order and between them."""
    for series in sorted({name.rpartition(".")[0] for name in evidence.output.metrics}):
        yield from _order(evidence, series)


def _order(evidence: Evidence, series: str) -> Findings:
    low, mean, high = (evidence.metric(series, part) for part in ("min", "mean", "max"))
    if not mean:
        return
    steps: list[tuple[str, float]] = [
        (part, value) for part, value in (("min", low), ("mean", mean), ("max", high)) if value is not None
    ]
    yield from _falling(evidence, series, steps)
    percentiles = _percentiles(evidence, series)
    bounds = ([("min", low)] if low is not None else []), ([("max", high)] if high is not None else [])
    yield from _falling(evidence, series, [*bounds[0], *percentiles, *bounds[1]])


def _percentiles(evidence: Evidence, series: str) -> list[tuple[str, float]]:
    found = []
    for name, value in evidence.output.metrics.items():
        match = _PERCENTILE.fullmatch(name)
        if match and match["series"] == series and value > 0:
            found.append((float(match["percent"]), value))
    return [(f"p{percent:g}", value) for percent, value in sorted(found)]


def _falling(evidence: Evidence, series: str, steps: Sequence[tuple[str, float]]) -> Findings:
    """Find the first two neighbours that are out of order by more than a histogram's bin."""
    unit = "ns" if "lat" in series else "B/s" if "bandwidth" in series else "IOPS"
    for (left, lower), (right, higher) in pairwise(steps):
        if lower > higher * (1 + _BIN_ERROR) + 1:
            yield finding(
                "invalid",
                f"{series}: {left} {format_quantity(lower, unit)} is above "
                f"{right} {format_quantity(higher, unit)}",
                "figures of different runs or units are mixed",
            )
            return


def latency_sum(evidence: Evidence) -> Findings:
    """Check that total latency = submission + completion latency."""
    for direction in evidence.traffic:
        submission = evidence.metric(direction, "slat", "mean") or 0.0
        completion, total = (evidence.metric(direction, kind, "mean") for kind in ("clat", "lat"))
        if not completion or not total:
            continue
        parts = submission + completion
        if abs(total - parts) > 0.05 * total + 1000:
            yield finding(
                "suspect",
                f"{direction}: lat {format_quantity(total, 'ns')} is not slat + clat = "
                f"{format_quantity(parts, 'ns')}",
                "figures of different runs or units are mixed",
            )


def steady_state(evidence: Evidence) -> Findings:
    """Ask whether the steady state came that the engine was asked to wait for."""
    if evidence.output.steady is False:
        yield finding(
            "suspect",
            "the steady state was not attained (the engine ends with status 0 all the same)",
            "a longer runtime, or preconditioning",
        )


def two_units(evidence: Evidence) -> Findings:
    """Find figures of one line that say different things."""
    for contradiction in evidence.output.contradictions:
        yield finding("suspect", contradiction, "believe neither; let the engine write JSON")


def engine_remarks(evidence: Evidence) -> Findings:
    """Repeat what the engine itself says about its figures."""
    said = evidence.output.remarks
    if said:
        more = f"; and {len(said) - _REMARKS} more" if len(said) > _REMARKS else ""
        yield finding("note", f"{evidence.engine} says: {'; '.join(said[:_REMARKS])}{more}")


CHECKS: tuple[Check, ...] = (
    finite,
    zero_io,
    short_io,
    ended_early,
    stalled,
    clock,
    short_run,
    few_operations,
    synchronous_engine,
    little_law,
    bandwidth,
    latency_order,
    latency_sum,
    steady_state,
    two_units,
    engine_remarks,
)
