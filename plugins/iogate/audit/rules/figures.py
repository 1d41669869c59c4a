"""Checks of an output against itself: figures that contradict each other, or what was asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from iogate.audit.evidence import PERCENTILE, Check, Evidence, Findings, finding
from iogate.model import MOST, metric
from iogate.units import format_duration, format_quantity

_OF_A_RAMP, _TOLD_OF_A_RAMP = 0.1, 0.05
"""By how much what is in flight at the end of a ramp may put a rate off that decides, and without a word."""
SYNCHRONOUS = frozenset({"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice"})
"""The ioengines of fio that have one I/O in flight per job, whatever iodepth says."""
_BIN_ERROR = 0.03
_MOST_UNCOUNTED, _NEAR = 64, 0.03  # jobs that nobody counts, and how near to as many times as much


def finite(evidence: Evidence) -> Findings:
    """Check that every figure is a number that may be measured, and that none which has a unit is negative.

    `invalid`: the output is damaged or the engine's arithmetic went wrong, and no figure beside that one can
    be trusted either.

    Run it again; if it stays, the engine is broken: look at its raw output.
    """
    for name, value in evidence.output.metrics.items():
        if not abs(value) <= MOST or (value < 0 and _has_unit(name)):
            yield finding("invalid", f"{name} is {value}", "run it again; if it stays, the engine is broken")


def _has_unit(name: str) -> bool:
    """Return whether a metric is a quantity; a ratio such as the serial fraction may well be negative."""
    try:
        return bool(metric(name).unit)
    except KeyError:
        return False


def synchronous_engine(evidence: Evidence) -> Findings:
    """Find a synchronous ioengine, which ignores iodepth.

    `suspect`: the workload asks for several I/Os in flight, and `sync`, `psync`, `vsync`, `mmap` and the like
    have one per job: the figures are those of iodepth 1.

    Take `ioengine: libaio` or `io_uring`, or say `iodepth: 1`.
    """
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
    """Check that rate x latency = I/Os in flight, which iodepth x jobs bounds (of io_uring the power of two
    at which fio makes the ring).

    `invalid` if more than 1.1 times that number were in flight (somewhat more in a short run with long
    latencies): rate and latency do not belong together. `suspect` if fewer than a third of it were: the
    queue depth was ignored, or the processor could not fill the queue. The second is not asked of workloads
    with a limited rate or pauses, be it of one of their jobs, that sync, whose time goes by in the syncs, of
    buffered writes whose time includes their flush, nor of fewer I/Os than ten times the depth. Of several
    clients it is asked one by one: the rates of all are those of the time when all ran, and their latencies
    are not. The first is not asked where reads may verify what was written before: in fio's text, which does
    not state `verify`, where a job that writes has read as well, or its directions ran for different times.
    Nor of as many times the depth as jobs may be in one entry of fio's JSON before 3.8, which does not tell.

    If there are too many, see whether the latency's unit is right and all jobs are counted; if too few,
    whether the ioengine is asynchronous and the I/O direct, or use more jobs.
    """
    if not evidence.possible or evidence.in_flight is None or evidence.duration <= 0:
        return
    if len(evidence.clients) > 1:
        return
    # I/Os that began before the counted time (ramp) are counted with all of their latency.
    edge = 1 + (evidence.longest + 0.002) / evidence.duration
    queued_outside = evidence.given("io_submit_mode") and evidence.given("rate*")
    seen, asked = evidence.in_flight, evidence.possible
    figures = f"{seen:.1f} I/Os were in flight by Little's law, {asked:.0f} are possible"
    apart = queued_outside or evidence.may_read_back
    apart = apart or (evidence.output.uncounted and _is_of_several(seen / asked))
    if evidence.in_flight > evidence.possible * 1.1 * edge and not apart:
        yield finding(
            "invalid",
            f"more than possible: {figures}",
            "rate and latency do not belong together: is the latency's unit right, are all jobs counted?",
        )
    throttled = evidence.given_to_any(
        "rate*", "thinktime", "iodepth_low", "iodepth_batch*", "latency_target", "flow"
    )
    flushes = evidence.given("end_fsync") and not evidence.needs.direct  # for long, with nothing in flight
    enough = sum(traffic.operations for traffic in evidence.traffic.values()) >= 10 * evidence.possible
    synchronous = any(True for _ in synchronous_engine(evidence))
    syncs = evidence.given("fsync", "fdatasync", "sync_file_range") or evidence.metric("sync", "lat", "mean")
    excused = throttled or synchronous or flushes or syncs
    if evidence.in_flight < evidence.possible / 3 and enough and not excused:
        yield finding(
            "suspect",
            f"the queue was not filled: {figures}",
            "a synchronous or buffered engine ignores iodepth; or the CPU cannot submit fast enough",
        )


def bandwidth(evidence: Evidence) -> Findings:
    """Check that bandwidth = IOPS x block size, or lies between those of the least and the largest block.

    `invalid` if it is more than 50% off, `suspect` above 5%, `note` above 1%; for the first two the share
    that the longest I/O has of the run is allowed on top, for what is in flight at the end of a ramp
    (`ramp_time`) is counted by fio as bytes, and not as I/Os. Where that decides on a workload, `invalid`
    above 10%, and `suspect` above 5%: one of the two is off by as much, and which one depends on how the
    queue comes to its end. Bandwidth is right where the run was longer than asked for by what was in flight:
    where it alone decides, that is `suspect`. Of blocks of several sizes as much as was in flight is taken.

    Find the block size or the unit that was meant; behind a ramp, take a longer `runtime`, fewer I/Os in
    flight, or no `ramp_time`.
    """
    for direction, traffic in evidence.traffic.items():
        rate, shown = evidence.metric(direction, "iops"), evidence.metric(direction, "bandwidth")
        if not rate or shown is None:
            continue
        mean = traffic.bytes / traffic.operations
        least, most = evidence.blocks or (mean, mean)
        in_flight = _in_flight_share(evidence, direction)
        if least != most and in_flight > _TOLD_OF_A_RAMP and _decides_behind_a_ramp(evidence, direction):
            yield finding(
                "invalid" if in_flight > _OF_A_RAMP else "suspect",
                f"{in_flight:.1%} of the I/Os were in flight when the ramp ended: bytes to fio, and no I/Os",
                _longer(evidence, in_flight),
            )
            continue
        block = min(max(shown / rate, least), most)
        yield from _identity(evidence, direction, rate, shown, block)


def _identity(evidence: Evidence, direction: str, rate: float, shown: float, block: float) -> Findings:
    if not block:
        words = f"{direction} bandwidth is {format_quantity(shown, 'B/s')} at {format_quantity(rate, 'IOPS')}"
        yield finding("invalid", words, "so few digits say nothing (fio's significant_figures)")
        return
    expected = rate * block
    slack = 1024 + block / max(evidence.duration, 1e-3)  # fio rounds to KiB/s, and counts the I/O at the edge
    error = max(0.0, abs(shown - expected) - slack) / expected
    edge = evidence.longest / evidence.duration if evidence.duration else 0.0
    if error < 0.01:
        return
    remedy = "another block size or unit than said"
    if error < 0.05 + edge / max(1 - edge, 0.1):  # what began in the ramp is counted of what ended
        remedy = "I/Os of seconds at the end of a ramp do that: a longer runtime makes it small"
    least, most, ramp = 0.05 + edge, 0.5 + edge, ""
    if error > _TOLD_OF_A_RAMP and _decides_behind_a_ramp(evidence, direction):
        least = _TOLD_OF_A_RAMP
        if shown < expected or not _bandwidth_holds(evidence, direction, error):
            most = _OF_A_RAMP
        ramp = ": what is in flight at the end of a ramp is bytes to fio, and no I/Os"
        remedy = _longer(evidence, error)
    yield finding(
        "invalid" if error > most else "suspect" if error > least else "note",
        f"{direction} bandwidth {format_quantity(shown, 'B/s')} is {abs(shown / expected - 1):.1%} "
        f"{'above' if shown > expected else 'below'} "
        f"{format_quantity(rate, 'IOPS')} x {block:.0f} B = {format_quantity(expected, 'B/s')}{ramp}",
        remedy,
    )


def _longer(evidence: Evidence, error: float) -> str:
    """Return how long a run has to be so that an error of its ramp is small."""
    small = _TOLD_OF_A_RAMP
    enough = format_duration(math.ceil(evidence.duration * error / small))
    return f"a runtime of {enough} makes it {small:.0%}; or keep fewer I/Os in flight, or leave out ramp_time"


def _in_flight_share(evidence: Evidence, direction: str) -> float:
    """Return what share of the I/Os of a direction is in flight at a time, as far as that is known; none of
    them is left behind a ramp where each is begun and ended in one call.
    """
    if evidence.options.get("ioengine") in SYNCHRONOUS:
        return 0.0
    rate, latency = evidence.metric(direction, "iops"), evidence.latency(direction)
    flying = rate * latency / 1e9 if rate and latency else None
    known = [count for count in (evidence.possible, flying) if count is not None]
    return min(known, default=0.0) / evidence.traffic[direction].operations


def _bandwidth_holds(evidence: Evidence, direction: str, error: float) -> bool:
    """Return whether bandwidth alone decides, and is right: what was in flight came to its end in the time
    that counts, by which the run was longer than asked for.
    """
    asked = evidence.number("runtime")
    alone = not any(name.endswith(f"{direction}.iops") for name in evidence.gating)
    ending = evidence.duration * error / (1 + error)
    return alone and asked is not None and evidence.duration - asked > ending / 2


def _decides_behind_a_ramp(evidence: Evidence, direction: str) -> bool:
    """Return whether a rate of this direction decides on a workload whose figures begin behind a ramp."""
    rates = (f"{direction}.iops", f"{direction}.bandwidth")
    decides = any(name.endswith(rates) for name in evidence.gating)
    return decides and evidence.declared and evidence.given_to_any("ramp_time")


def _is_of_several(share: float) -> bool:
    """Return whether so many times what one job may have in flight is what several jobs have."""
    return 1.5 < share < _MOST_UNCOUNTED and abs(share / round(share) - 1) < _NEAR


def latency_order(evidence: Evidence) -> Findings:
    """Check that min <= mean <= max, with percentiles in order and between them.

    `invalid`: two of them are in the wrong order by more than 3%, which is the width of a histogram's bin;
    figures of different runs or units are mixed.

    Look at the raw output; an output that was edited or put together from several is no evidence.
    """
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
        match = PERCENTILE.fullmatch(name)
        if match and match["series"] == series and value > 0:
            found.append((float(match["percent"]), value))
    return [(f"p{percent:g}", value) for percent, value in sorted(found)]


def _falling(evidence: Evidence, series: str, steps: Sequence[tuple[str, float]]) -> Findings:
    """Find the first two neighbours that are out of order by more than a histogram's bin, and the step in
    which they are printed.
    """
    unit = "ns" if "lat" in series else "B/s" if "bandwidth" in series else "IOPS"
    step = max(evidence.output.latency_step if unit == "ns" else 0.0, 1.0)
    for (left, lower), (right, higher) in pairwise(steps):
        if lower > higher * (1 + _BIN_ERROR) + step:
            yield finding(
                "invalid",
                f"{series}: {left} {format_quantity(lower, unit)} is above "
                f"{right} {format_quantity(higher, unit)}",
                "figures of different runs or units are mixed",
            )
            return


def latency_sum(evidence: Evidence) -> Findings:
    """Check that total latency = submission + completion latency.

    `suspect`: the means differ by more than 5% and 1 µs; figures of different runs or units are mixed. The
    total may be more where there is no submission latency, as of synchronous engines.

    Look at the raw output, and at the units.
    """
    for direction in evidence.traffic:
        submission = evidence.metric(direction, "slat", "mean") or 0.0
        completion, total = (evidence.metric(direction, kind, "mean") for kind in ("clat", "lat"))
        if not completion or not total:
            continue
        parts = submission + completion
        more = total - parts if submission else 0.0  # without it, the time of a check sum is in `lat` alone
        if max(parts - total, more) > 0.05 * total + 1000:
            yield finding(
                "suspect",
                f"{direction}: lat {format_quantity(total, 'ns')} is not slat + clat = "
                f"{format_quantity(parts, 'ns')}",
                "figures of different runs or units are mixed",
            )


def two_units(evidence: Evidence) -> Findings:
    """Find figures of one line that say different things.

    `suspect`: an output gives a figure twice, such as in MiB/s and in MB/s, and they are not the same.

    Believe neither; let the engine write JSON.
    """
    for contradiction in evidence.output.contradictions:
        yield finding("suspect", contradiction, "believe neither; let the engine write JSON")


CHECKS: tuple[Check, ...] = (
    finite,
    synchronous_engine,
    little_law,
    bandwidth,
    latency_order,
    latency_sum,
    two_units,
)
