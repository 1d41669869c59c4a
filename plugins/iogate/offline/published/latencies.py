"""Checks of the latencies of a table's rows: by Little's law, by their parts, and by nature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from iogate.audit.evidence import RINGS, ring_depth
from iogate.audit.rules.figures import SYNCHRONOUS
from iogate.engines.sections import DescribedJob
from iogate.offline.published.cells import Quantity, unit_factor
from iogate.offline.published.context import ALL, BOTH_RATES, LATENCY, Context, finding_of
from iogate.offline.published.findings import FigureFindings
from iogate.offline.published.heading_subjects import is_memory
from iogate.offline.published.row import Row
from iogate.offline.published.thousands import meant
from iogate.units import format_quantity

_NOTHING = 1e-4
"""I/Os in flight, of a run that does nothing else in so much of its time; in another unit there are more."""


def little_law(row: Row, context: Context) -> FigureFindings:
    """Check that rate x latency = I/Os in flight, which the row's depth x jobs bounds.

    `suspect`: fewer than a third of them were in flight, so that the depth was ignored, or, of one, rate
    and latency are of different runs (not asked of one direction of a mix, nor beside times of flushing); or
    more than 1.15 times as many, so that there were more jobs than is said.

    Take the row for what was in flight, not for the depth that it names.
    """
    flying, depth = _at_least_in_flight(row), depth_of(row)
    if flying is None or not depth or row.vague:
        return
    if _latency_factor(flying / depth) or _rounded(row, flying, depth):
        return
    if flying / depth < 1 / 3:
        if _is_part(row) or row.flushes:
            return
        ignored = "the depth was ignored, as by a synchronous ioengine or the page cache"
        why = ignored if depth > 1 else "are rate and latency of one run?"
        message = f"{flying:.2f} I/Os were in flight, not {depth}: {why}"
        yield finding_of(row, "little_law", "suspect", ALL, message)
    elif flying / depth > 1.15:
        yield finding_of(
            row,
            "little_law",
            "suspect",
            ALL,
            f"{flying:.4g} I/Os were in flight, more than the depth of {depth}: were there several jobs?",
        )


def latency_unit(row: Row, context: Context) -> FigureFindings:
    """Find latencies that fit the queue depth if they are read in another unit.

    `invalid`: rate x latency is a thousand or a million times the depth, or a thousandth of it (Little's
    law). Of completion alone it is what was in flight at least: that may be a thousandth.

    Read them in the unit that the finding names.
    """
    flying, depth = _at_least_in_flight(row), depth_of(row)
    factor = _latency_factor(flying / depth) if flying is not None and depth else None
    if flying is not None and factor and not _rounded(row, flying, depth):
        wrong, right = _units(waited(row)[0].unit, factor)
        in_flight_so = f"{flying:.0f}" if flying >= 1 else f"{flying:.2g}"
        yield finding_of(
            row,
            "latency_unit",
            "invalid",
            LATENCY,
            f"as {wrong} the latency means {in_flight_so} I/Os in flight, the depth is {depth}; read as "
            f"{right} it is {flying / factor:.3g}",
        )


def _units(shown: str, factor: float) -> tuple[str, str]:
    """Return the unit in which a latency is shown, and the one that is smaller by a factor."""
    scales = {1.0: "ns", 1e3: "µs", 1e6: "ms", 1e9: "s"}
    scale = unit_factor("lat", shown) or 0.0
    return scales.get(scale, "shown"), scales.get(scale / factor, f"{1 / factor:g} times as long")


def description(row: Row, context: Context) -> FigureFindings:
    """Hold a row that names no queue depth against the one job that the text describes.

    `suspect`: not 0.7 to 1.3 times the I/Os were in flight that the job asks for, nor those of one of several
    jobs, or of a synchronous ioengine where it may have one: another command made the row.

    Do not repeat that command and expect the same figures.
    """
    job = context.job
    if row.depth or row.vague or is_copied(row) or job is None or not job.in_flight:
        return
    flying, together, asked = in_flight(row), sum(_of_directions(row, "lat")), _possible(row, job)
    if flying is None or (flying < max(asked) and (_is_half(row, job) or _is_limited(job))):
        return
    if not any(
        0.7 < seen / one < 1.3 or _rounded(row, seen, one) for seen, one in product((flying, together), asked)
    ):
        yield finding_of(
            row,
            "description",
            "suspect",
            frozenset({"description"}),
            f"{flying:.0f} I/Os were in flight, the command in line {job.line} asks for {max(asked)} "
            "(iodepth x numjobs): not that command made this row",
        )


def _possible(row: Row, job: DescribedJob) -> set[int]:
    """Return how many I/Os a row of a job may have had in flight: those of all its jobs, of which the row may
    name another number, or of each one where they are not said to be reported as a group; one of each where
    its ioengine is, or may be, synchronous.
    """
    depth, jobs = job.number("iodepth") or 1, row.jobs or job.number("numjobs") or 1
    ioengine = job.options.get("ioengine", "")
    depths = {1} if ioengine in SYNCHRONOUS else {depth} if ioengine else {1, depth}
    if ioengine in RINGS:
        depths.add(ring_depth(depth))
    counts = {jobs} if "group_reporting" in job.options else {1, jobs}
    return {one * count for one in depths for count in counts}


def _is_limited(job: DescribedJob) -> bool:
    """Return whether a job may leave its queue empty, as its rate is limited, or it pauses."""
    return any(name.startswith(("rate", "thinktime", "latency_target")) for name in job.options)


def _is_half(row: Row, job: DescribedJob) -> bool:
    """Return whether a row has one direction alone of a job that reads and writes."""
    return job.mixed and len(row.directions) == 1 and row.directions != ("",)


def _is_part(row: Row) -> bool:
    """Return whether a row has one direction of a mix, by its name: the other one had the rest in flight."""
    return row.mixed and len(row.directions) == 1


def in_flight(row: Row, kind: str = "lat") -> float | None:
    """Return I/Os in flight by Little's law, both directions together; rates may come from bandwidth and
    block. Of latencies of completion (`clat`) it is what was in flight at least.

    Of directions with columns of their own it is not said whether they ran together: then it is the most that
    one of them had in flight, unless all together fit the depth. IOPS are taken for thousands where that fits
    the bandwidth beside them and the depth, which they do not fit as they are.
    """
    said = _of_directions(row, kind)
    if not said:
        return None
    return _together(row, _as_thousands(row, said) or said)


def _fits_depth(row: Row, each: Sequence[float]) -> bool:
    """Return whether what was in flight, of each direction, is what the row asks for."""
    depth = depth_of(row)
    return bool(each and depth and 1 / 3 <= _together(row, each) / depth <= 1.15)


def as_said(row: Row) -> Sequence[float]:
    """Return what was in flight of each direction by the rates as they are said; nothing if one has none."""
    return _of_directions(row, "lat") or _of_directions(row, "clat")


def are_thousands(row: Row) -> bool | None:
    """Return whether IOPS are thousands that are not said to be: by the depth, which they fit so, or as they
    are said; None if it does not tell.
    """
    said = as_said(row)
    if _fits_depth(row, said):
        return False
    return True if _as_thousands(row, said) else None


def _as_thousands(row: Row, said: Sequence[float]) -> list[float]:
    """Return what was in flight if the IOPS are thousands, as bandwidths beside them say; nothing if depth
    says otherwise.
    """
    factors = [found[1] if (found := meant(row, direction)) else 1.0 for direction in row.directions]
    each = [flying * factor for flying, factor in zip(said, factors, strict=False)]
    return each if not _fits_depth(row, said) and _fits_depth(row, each) else []


def _of_directions(row: Row, kind: str) -> Sequence[float]:
    """Return what was in flight of each direction by the rates as they are said; nothing if one has none."""
    each = []
    for direction in row.directions:
        rate, latency = row.first("iops", "", direction), row.first(kind, "", direction)
        shown = row.first("bandwidth", "", direction)
        if not (rate or shown or latency):
            continue  # percentiles alone
        value = rate.value if rate else shown.value / row.block if shown and row.block else None
        if value is None or latency is None:
            return []
        each.append(value * latency.value / 1e9)
    return each


def _together(row: Row, each: Sequence[float]) -> float:
    depth, total = depth_of(row), sum(each)
    together = not row.apart or (depth and 0.7 <= total / depth <= 1.15)
    return total if together else max(each)


def _at_least_in_flight(row: Row) -> float | None:
    """Return I/Os in flight; where the latency of completion alone is known, which is a part of the whole,
    only if they are more than the depth.
    """
    completing = in_flight(row, "clat")
    whole = in_flight(row)
    return whole if whole is not None or not completing or completing <= depth_of(row) else completing


def waited(row: Row) -> list[Quantity]:
    """Return the mean latencies of the directions that did something."""
    busy = {figure.direction for figure in row.figures if figure.kind in BOTH_RATES and figure.value}
    means = (figure for figure in row.figures if figure.kind in ("lat", "clat") and not figure.part)
    return [figure for figure in means if figure.direction in busy]


def _rounded(row: Row, flying: float, depth: float) -> bool:
    """Return whether as many I/Os as the depth may have been in flight if latencies are only rounded, or cut
    off: 0.1 ms may be anything up to 0.2 ms.
    """
    shown = waited(row)
    steps = [figure.step / figure.value for figure in shown if figure.value]
    if len(steps) < len(shown):
        return True
    coarse = max(steps, default=0.0)
    return flying * (1 - coarse) <= depth <= flying * (1 + coarse)


def with_jobs(row: Row, context: Context) -> Row:
    """Return a row that names its depth as one of so many jobs as the text names elsewhere, if it names none
    itself, or of so many on each client, if its depth alone does not explain what was in flight, and those
    do.
    """
    flying, depth = in_flight(row), depth_of(row)
    if flying is None or not depth or flying <= 1.15 * depth:
        return row
    named = context.clients if row.jobs else context.jobs | context.clients
    fitting = [count for count in sorted(named) if 0.7 <= flying / (depth * count) <= 1.15]
    return replace(row, jobs=fitting[0] * (row.jobs or 1)) if fitting else row


def depth_of(row: Row) -> int:
    """Return the I/Os in flight that a row asks for; 0 if it does not say."""
    return 0 if is_copied(row) else (row.depth or 0) * (1 if row.shared else row.jobs or 1)


def is_copied(row: Row) -> bool:
    """Return whether several drives, or nodes, did it: of how many I/Os each, the row does not say."""
    return row.copies not in (None, 1)


def _latency_factor(ratio: float) -> float | None:
    """Return the factor by which latencies, in another unit, fit the queue depth where `ratio` times as many
    I/Os as that were in flight; None if no other unit makes them fit.
    """
    return next((factor for factor in (1e3, 1e6, 1e-3) if 0.7 <= ratio / factor <= 1.15), None)


def tiny_latency(row: Row, context: Context) -> FigureFindings:
    """Find latencies shorter than a way through the kernel to a device and back.

    `invalid` below 1 µs, `suspect` below 3 µs, and of a percentile from the median on below 1 µs: a way to
    memory.

    Take the row for one of the page cache, or of a buffer in the process. Rows called memory, or `L2`, are
    left alone.
    """
    if is_memory(row.label):
        return
    if (flying := in_flight(row)) is not None and flying < _NOTHING:
        return  # a ratio, a rank: no run does so little
    for shown in sorted(row.figures, key=lambda figure: (figure.part != "", figure.value)):
        if shown.value and shown.kind in ("lat", "clat") and shown.value < _shortest(shown):
            yield finding_of(
                row,
                "tiny_latency",
                "invalid" if shown.value < 1000 and not shown.part else "suspect",
                LATENCY,
                f"{shown.text} is {format_quantity(shown.value, 'ns')}: a way to memory, not to a device",
            )
            return


def _shortest(shown: Quantity) -> float:
    """Return how many ns a mean of a device, or a percentile from the median on, takes at least."""
    if not shown.part:
        return 3000.0 if shown.kind == "lat" else 0.0
    return 1000.0 if shown.part.startswith("p") and float(shown.part[1:]) >= 50 else 0.0


def latency_sum(row: Row, context: Context) -> FigureFindings:
    """Check that total latency = submission + completion latency.

    `suspect`: they differ by more than 2% and the last digit.

    Look for figures of another run, or in another unit.
    """
    for direction in row.directions:
        submission, completion, total = (row.first(kind, "", direction) for kind in ("slat", "clat", "lat"))
        if not (submission and completion and total):
            continue
        parts = submission.value + completion.value
        if abs(parts - total.value) > 0.02 * total.value + total.step:
            yield finding_of(
                row,
                "latency_sum",
                "suspect",
                LATENCY,
                f"{submission.text} + {completion.text} is not {total.text}",
            )
