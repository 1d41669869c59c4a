"""Checks of a table's rows: figures of one row that contradict each other, or nature."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, product

from iogate.audit.snapshot.link import FASTEST, USUAL
from iogate.model import Severity
from iogate.offline.published import thousands
from iogate.offline.published.cells import RATES, Quantity, quantities
from iogate.offline.published.context import ALL, BOTH_RATES, LATENCY, Context, RowCheck, finding_of
from iogate.offline.published.findings import FigureFinding, FigureFindings
from iogate.offline.published.heading_subjects import is_memory
from iogate.offline.published.latencies import (
    are_thousands,
    description,
    in_flight,
    latency_sum,
    latency_unit,
    little_law,
    tiny_latency,
)
from iogate.offline.published.reading import may_be_bits
from iogate.offline.published.row import SECTOR, Row
from iogate.units import format_duration, format_quantity, size_text

_UNITS: Mapping[str, float] = {**RATES, "1000 KiB/s": 1024e3, "1000 MiB/s": 1024e3 * 1024}
_ORDERED = ("bandwidth", "iops", *sorted(LATENCY))
_TAIL = 10
_MOST_JOBS = 64
_EXACT = 0.0005  # of a unit: samples that were cut down make that by chance alone
_SAMPLED = 0.035
"""By how much a mean that was sampled may differ from what was done; KiB and kB do by 0.024."""


def findings(row: Row, context: Context) -> FigureFindings:
    """Return all findings about a row."""
    for check in CHECKS:
        yield from check(row, context)


def bandwidth_unit(row: Row, context: Context) -> FigureFindings:
    """Check that bandwidth = IOPS x block size, in the unit that is said.

    `invalid` if another unit would fit, or if it is more than 10% off; `suspect` if it is more than 1% off,
    and what rounding explains, if it ends in zeros behind two digits (`2100`), or if it fits where the IOPS
    are thousands, or millions, and are not said to be. `suspect` as well if the IOPS are called a mean, and
    are too few by less than one for each job, up to 64 where it is not said how many: fio (3.33) cuts each
    sample of each job down to a whole number.

    Take IOPS x block size: the unit of IOPS is rarely wrong.
    """
    unlike = [
        (direction, pair)
        for direction in row.directions
        for pair in row.pairs(direction)
        if abs(pair[1].value / pair[2] - 1) > thousands.tolerated(*pair[:2])
    ]
    proven = are_thousands(row) if unlike else None
    meant_in = {
        direction: (proven is not False and thousands.meant(row, direction)) or ("", 0.0)
        for direction in dict(unlike)
    }
    for direction, (rate, shown, expected) in unlike:
        allowed = thousands.tolerated(rate, shown)
        error = min((value / expected for value in _as_bytes(shown)), key=lambda one: abs(math.log(one))) - 1
        fits = [
            name for name, factor in _UNITS.items() if abs(shown.number * factor / expected - 1) <= allowed
        ]
        if shown.unit in context.units and abs(error) < _SAMPLED:
            fits = []
        many, _ = meant_in[direction]
        fits = [] if many and (proven or many == thousands.NO_THOUSANDS) else fits
        exact = any(
            abs(shown.number * factor / expected - 1) <= _EXACT + allowed - 0.01 for factor in _UNITS.values()
        )
        cut = row.sampled and 0 < error * rate.value <= (row.jobs or _MOST_JOBS) and not exact
        fits = [] if cut else fits
        rounded = abs(error) <= allowed + _rounded(shown)
        meant = f"; it fits if the unit is {fits[0]}" if fits else ""
        meant += "; or it is rounded to two digits" if fits and rounded else ""
        meant += f"; it fits if the IOPS are {many}" if many else ""
        meant += "; or the IOPS are a mean of samples that were cut down to whole numbers" if cut else ""
        yield finding_of(
            row,
            "bandwidth_unit",
            "invalid" if (fits and not rounded) or (abs(error) > 0.1 and not (many or cut)) else "suspect",
            frozenset(
                {"iops"} if proven and many else BOTH_RATES if (many and not fits) or cut else {"bandwidth"}
            ),
            f"{shown.text} is {abs(error):.1%} {'above' if error > 0 else 'below'} {rate.text} IOPS x "
            f"{size_text(row.block or 0)} = {format_quantity(expected, 'B/s')}{meant}",
        )


def _rounded(shown: Quantity) -> float:
    """Return by which share a figure may be rounded that ends in zeros behind two digits, as `2100` does."""
    step = 10 ** max(0, len(f"{shown.number:.0f}") - 2)
    return 0.5 * step / shown.number if step > 10 and shown.number % step == 0 else 0.0


def units_of(rows: Iterable[Row]) -> frozenset[str]:
    """Return the units of bandwidth that enough of these rows bear out, so that it is not the unit that is
    wrong in others, which are off by a little.
    """
    right, near = Counter[str](), Counter[str]()
    for row in rows:
        for rate, shown, expected in (pair for direction in row.directions for pair in row.pairs(direction)):
            error, allowed = shown.value / expected - 1, thousands.tolerated(rate, shown)
            right[shown.unit] += abs(error) <= allowed
            near[shown.unit] += allowed < abs(error) < _SAMPLED
    return frozenset(unit for unit, count in right.items() if count > 2 and count >= near[unit] / 4)


def two_units(row: Row, context: Context) -> FigureFindings:
    """Find figures of a row that are given in two units, and are not the same.

    `invalid`: they differ by more than 1%, and what rounding explains. Of columns, where IOPS and block size
    stand beside them, `bandwidth_unit` tells which it is: one may be a mean of samples.

    Find out which is right.
    """
    seen: dict[tuple[str, str, str, frozenset[str]], Quantity] = {}
    for figure in row.figures:
        first = seen.setdefault((figure.kind, figure.part, figure.direction, figure.place), figure)
        if figure.unit == first.unit or not (first.value and figure.value):
            continue
        paired = figure.kind == "bandwidth" and row.pair(figure.direction) is not None
        known = paired and any(one.severity == "invalid" for one in bandwidth_unit(row, context))
        if known or (paired and not figure.again):
            continue  # `bandwidth_unit` says which of them it is
        meant = product(_as_bytes(first), _as_bytes(figure))
        rounding = first.step / first.value + figure.step / figure.value
        rounding += _rounded(first) + _rounded(figure) if paired else 0.0
        if all(abs(other / one - 1) > 0.01 + rounding for one, other in meant):
            message = f"{first.text} and {figure.text} are not the same"
            yield finding_of(row, "two_units", "invalid", frozenset({figure.kind}), message)


def _as_bytes(figure: Quantity) -> tuple[float, ...]:
    """Return what a figure may be: as it is, or an eighth where its unit may be one of bits."""
    return (figure.value, figure.value / 8) if may_be_bits(figure) else (figure.value,)


def link_limit(row: Row, context: Context) -> FigureFindings:
    """Find bandwidths above the link to the device, or above any link that a disk has.

    `invalid`: memory was measured, or the unit is wrong. Where no link is known, `suspect` above PCIe 5.0 x4,
    for it may also be a disk of PCIe 6.0; and above that one as well if the text names anywhere what may be
    several disks (RAID, an array, a cluster; drives, nodes, clients, GPUs). Where a column counts disks, so
    many links are the limit. A row called `Memory write` is one of memory, and passed over.

    Say `--link=3.94GB/s` if the device is known; then more rows are found, or fewer.
    """
    measured = [figure for figure in row.figures if figure.kind == "bandwidth"]
    fastest = max(measured, key=lambda figure: min(_as_bytes(figure)), default=None)
    if fastest is None or is_memory(row.label):
        return
    rate = min(_as_bytes(fastest))
    for severity, limit, name, meant in _limits(context, row.disks):
        if rate > limit * 1.01:
            message = f"{fastest.text} is faster than {name} ({limit / 1e9:.3g} GB/s): {meant}"
            yield finding_of(row, "link_limit", severity, ALL, message)
            return


def _limits(context: Context, disks: int) -> Sequence[tuple[Severity, float, str, str]]:
    """Return how bad it is to pass which limit, what that is called, and what it means; the highest comes
    first.
    """
    memory = "memory, not storage"
    if context.link:
        return [("invalid", context.link, "the link", memory)]
    times = f"{disks} times " if disks > 1 else ""
    above = FASTEST.limit * disks, times + FASTEST.name
    return [
        ("suspect", *above, "memory, or several disks") if context.several else ("invalid", *above, memory),
        ("suspect", USUAL.limit * disks, times + USUAL.name, "memory, several disks, or PCIe 6.0"),
    ]


def below_sector(row: Row, context: Context) -> FigureFindings:
    """Find blocks smaller than a sector, which only a cache can serve.

    `suspect`: no disk transfers less than 512 B.

    Take the row for one of buffers in memory.
    """
    if row.block and row.block < SECTOR:
        yield finding_of(
            row,
            "below_sector",
            "suspect",
            ALL,
            f"blocks of {row.block} B are less than a sector ({SECTOR} B): buffers in memory serve them",
        )


def order(row: Row, context: Context) -> FigureFindings:
    """Check that min <= mean <= max, with percentiles in order and between them.

    `invalid`: two neighbours are in the wrong order by more than 3% and the last digit. `suspect` of rates
    without a minimum: a maximum may be what the disk, or another depth, has at the most; and where a
    percentile of latencies is as many times the mean as none can be, which may be a median: p99 is 100 times
    the mean at the most (Markov's inequality).

    Look for figures of another run, or in another unit.
    """
    for kind in _ORDERED:
        for direction in row.directions:
            series = [
                figure
                for figure in row.figures
                if figure.kind == kind and figure.direction == direction and not figure.again
            ]
            if len(series) < 2 or len({figure.part for figure in series}) < len(series):
                continue  # several columns of one kind: not one series
            by_part = {figure.part: figure for figure in series}
            percentiles = sorted(
                (part for part in by_part if part.startswith("p")), key=lambda p: float(p[1:])
            )
            alone = kind in ("bandwidth", "iops") and "min" not in by_part
            if alone and len({figure.place for figure in series}) > 1:
                continue  # a link's rate is above what its disk has at the most
            severity: Severity = "suspect" if alone else "invalid"
            for parts in (["min", "", "max"], ["min", *percentiles, "max"]):
                known = [by_part[part] for part in parts if part in by_part]
                yield from _falling(row, kind, known, severity)
            if kind in LATENCY and (mean := by_part.get("")):
                yield from _impossible(row, kind, mean, [by_part[part] for part in percentiles])


def _impossible(row: Row, kind: str, mean: Quantity, percentiles: Iterable[Quantity]) -> FigureFindings:
    """Find percentiles above what their mean allows, if it is one: a heading may leave that out."""
    for shown in percentiles:
        beyond = 1 - float(shown.part[1:]) / 100
        most = (mean.value + mean.step) / beyond if beyond > 0 else math.inf
        if shown.place == mean.place and shown.value > most * 1.03 + shown.step:
            message = (
                f"{kind} {shown.part} {shown.text} is more than {1 / beyond:.5g} times the mean {mean.text}"
            )
            yield finding_of(row, "order", "suspect", frozenset({kind}), message)


def _falling(row: Row, kind: str, series: Sequence[Quantity], severity: Severity) -> FigureFindings:
    for lower, higher in pairwise(series):
        elsewhere = lower.place and higher.place and lower.place != higher.place
        if not elsewhere and lower.value > higher.value * 1.03 + higher.step:
            names = lower.part or "mean", higher.part or "mean"
            yield finding_of(
                row,
                "order",
                severity,
                frozenset({kind}),
                f"{kind} {names[0]} {lower.text} is above {names[1]} {higher.text}",
            )


def few_operations(row: Row, context: Context) -> FigureFindings:
    """Find percentiles that too few I/Os decide.

    `suspect`: fewer than ten I/Os lie beyond the highest percentile of the row, by the size and the time that
    the text says.

    Believe lower percentiles only.
    """
    parts = {figure.part for figure in row.figures if figure.part.startswith("p")}
    highest = max((rank for part in parts if (rank := float(part[1:])) < 100), default=0.0)
    job, shown, flying = context.job, row.first("bandwidth"), in_flight(row)
    if not (highest and row.size and row.block and job and shown and flying):
        return
    jobs = max(1, round(flying / (job.number("iodepth") or 1)))
    moved, by = row.size * jobs, f"{jobs} x {size_text(row.size)}"
    if job.time_based and not job.runtime:
        return
    if job.runtime and (job.time_based or shown.value * job.runtime < moved):
        moved, by = int(shown.value * job.runtime), f"{format_duration(job.runtime)} at {shown.text}"
    count = moved // row.block
    beyond = count * (1 - highest / 100)
    if beyond < _TAIL * (1 - 1e-9):
        yield finding_of(
            row,
            "few_operations",
            "suspect",
            frozenset({"percentiles"}),
            f"p{highest:g} is decided by {beyond:.1f} of {count} I/Os ({by} in blocks of "
            f"{size_text(row.block)}); it takes {math.ceil(round(_TAIL / (1 - highest / 100)))}",
        )


def short_run(row: Row, context: Context) -> FigureFindings:
    """Find runs that were over in a moment, by the size that the text says.

    `suspect` below a second, `note` below five: start, end and caches weigh as much as the rest.

    Take the row for an estimate.
    """
    rates = [rate for direction in row.directions if (rate := _bandwidth(row, direction))]
    rate = max(rates, default=0.0) if row.apart else sum(rates)
    size = row.size or context.size
    if rate and size and not row.size and size / rate < 1:
        yield finding_of(
            row,
            "short_run",
            "suspect",
            ALL,
            f"{format_quantity(size, 'B')} at {format_quantity(rate, 'B/s')} took "
            f"{format_quantity(size / rate, 's')}",
        )
    elif rate and size and not row.size and size / rate < 5:
        yield finding_of(
            row,
            "short_run",
            "note",
            ALL,
            f"{format_quantity(size, 'B')} at {format_quantity(rate, 'B/s')} took "
            f"{format_duration(size / rate)}",
        )


def _bandwidth(row: Row, direction: str) -> float | None:
    """Return bytes/s of a direction: by IOPS and block size, whose units are rarely wrong, or as stated."""
    rate, shown = row.first("iops", "", direction), row.first("bandwidth", "", direction)
    return rate.value * row.block if rate and row.block else shown.value if shown else None


def unreadable(row: Row, context: Context) -> FigureFindings:
    """Find cells of measured columns that hold no figure, rows with more or fewer cells than there are
    headings, apart from these, or called as another one, columns of figures whose headings are not
    understood, and outputs with figures missing.

    `suspect`: what could not be read was not audited. `note` of a whole column, and of rows that are of how
    much others differ; an output of iozone that is cut is noted by this name, too.

    Look at the place that it names.
    """
    for cell in row.unread:
        why = "has no unit, nor has its heading" if quantities(cell, "iops", "", "") else "is not a figure"
        yield finding_of(row, "unreadable", "suspect", frozenset({"cell"}), f"{cell!r} {why}")
    for heading in row.unknown:
        message = f"{heading!r} is not understood: this column was not audited"
        yield FigureFinding(row.line, "unreadable", "note", frozenset({"column"}), message)
    if row.aside:
        message = "a row of how much others differ: it was not audited"
        yield finding_of(row, "unreadable", "note", frozenset({"row"}), message)
    if row.odd:
        why = (
            "this row has more or fewer cells than there are headings, something else is between it and "
            "them, or another one is called the same, so that none of its figures was read"
        )
        yield finding_of(row, "unreadable", "suspect", frozenset({"cell"}), why)


def decimal_comma(row: Row, context: Context) -> FigureFindings:
    """Find decimal commas among decimal points.

    `note`: a program that takes the comma for a thousands separator reads ten or a hundred times as much.

    Write points.
    """
    commas = [figure.text for figure in row.figures if figure.comma]
    if commas:
        yield finding_of(
            row,
            "decimal_comma",
            "note",
            frozenset({"bandwidth"}),
            f"decimal commas among decimal points: {', '.join(commas)}",
        )


CHECKS: tuple[RowCheck, ...] = (
    bandwidth_unit,
    two_units,
    latency_unit,
    little_law,
    description,
    link_limit,
    tiny_latency,
    below_sector,
    order,
    latency_sum,
    few_operations,
    short_run,
    unreadable,
    decimal_comma,
)
