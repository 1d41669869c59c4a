"""Checks of an output against itself: figures that contradict each other, or what was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from iogate.audit.evidence import PERCENTILE, Check, Evidence, Findings, finding
from iogate.model import MOST, metric
from iogate.units import format_quantity

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
    are not. The first is asked of each direction by itself where reads may verify what was written before: in
    fio's text, which does not state `verify`, where a job that writes has read as well, or its directions ran
    for different times. It is not asked of as many times the depth as jobs may be in one entry of fio's JSON
    before 3.8, which does not tell.

    If there are too many, see whether the latency's unit is right and all jobs are counted; if too few,
    whether the ioengine is asynchronous and the I/O direct, or use more jobs.
    """
    seen, asked = evidence.in_flight, evidence.possible
    if not asked or seen is None or evidence.duration <= 0:
        return
    if len(evidence.clients) > 1:
        return
    queued_outside = evidence.given("io_submit_mode") and evidence.given("rate*")
    most, edge = _most_in_flight(evidence)
    apart = queued_outside or (evidence.output.uncounted and _is_of_several(most / asked))
    if most > asked * 1.1 * edge and not apart:
        yield finding(
            "invalid",
            f"more than possible: {_against(most, asked)}",
            "rate and latency do not belong together: is the latency's unit right, are all jobs counted?",
        )
    throttled = evidence.given_to_any(
        "rate*", "thinktime", "iodepth_low", "iodepth_batch*", "latency_target", "flow"
    )
    flushes = evidence.given("end_fsync") and not evidence.needs.direct  # for long, with nothing in flight
    enough = sum(traffic.operations for traffic in evidence.traffic.values()) >= 10 * asked
    synchronous = any(True for _ in synchronous_engine(evidence))
    syncs = evidence.given("fsync", "fdatasync", "sync_file_range") or evidence.metric("sync", "lat", "mean")
    excused = throttled or synchronous or flushes or syncs
    if seen < asked / 3 and enough and not excused:
        yield finding(
            "suspect",
            f"the queue was not filled: {_against(seen, asked)}",
            "a synchronous or buffered engine ignores iodepth; or the CPU cannot submit fast enough",
        )


def _against(seen: float, possible: float) -> str:
    return f"{seen:.1f} I/Os were in flight by Little's law, {possible:.0f} are possible"


def _most_in_flight(evidence: Evidence) -> tuple[float, float]:
    """Return how many I/Os were in flight, and how many times that those at the edge of the time may make it:
    such as began before it (a ramp) are counted with all of their latency. Of directions that may have been
    one behind the other it is the one that had most.
    """
    if not evidence.may_read_back:
        return evidence.in_flight or 0.0, _edge(evidence.longest, evidence.duration)
    each = [
        # what is read back begins and ends in its time
        (evidence.in_flight_of(name) or 0.0, min(2.0, _edge(evidence.longest_of(name), one.seconds)))
        for name, one in evidence.traffic.items()
    ]
    return max(each, key=lambda one: one[0] / one[1])


def _edge(longest: float, seconds: float) -> float:
    return 1 + (longest + 0.002) / max(seconds, 1e-3)


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
    latency_order,
    latency_sum,
    two_units,
)
