"""Checks of a table's rows: figures of one row that contradict each other, or nature."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from iogate.audit.snapshot.link import FASTEST
from iogate.engines.sections import DescribedJob, Description
from iogate.model import Severity
from iogate.offline.published.cells import RATES, Quantity
from iogate.offline.published.findings import FigureFinding, FigureFindings
from iogate.offline.published.tables import Row
from iogate.units import format_duration, format_quantity, size_text

_UNITS: Mapping[str, float] = {**RATES, "1000 KiB/s": 1024e3, "1000 MiB/s": 1024e3 * 1024}
_LATENCY = frozenset({"lat", "clat", "slat"})
_ALL = frozenset({"iops", "bandwidth"}) | _LATENCY
_TAIL = 10
_SECTOR = 512


@dataclass(frozen=True)
class Context:
    """What a text says beside its tables: the jobs it describes, and the limit of the link in B/s."""

    described: tuple[Description, ...] = ()
    link: float | None = None

    @property
    def job(self) -> DescribedJob | None:
        """The one job that the text describes with its queue depth, if it is one only."""
        jobs = [job for description in self.described for job in description.jobs if job.in_flight]
        return jobs[0] if len(jobs) == 1 else None

    @property
    def size(self) -> int | None:
        """The bytes of a run, if all descriptions that end by size agree."""
        return _common_value(description.size for description in self.described)


RowCheck: TypeAlias = "Callable[[Row, Context], FigureFindings]"


def findings(row: Row, context: Context) -> FigureFindings:
    """Return all findings about a row."""
    for check in CHECKS:
        yield from check(row, context)


def _finding(row: Row, check: str, severity: Severity, kinds: frozenset[str], message: str) -> FigureFinding:
    label = f"{row.label}: " if row.label else ""
    return FigureFinding(row.line, check, severity, kinds, label + message)


def bandwidth_unit(row: Row, context: Context) -> FigureFindings:
    """Return bandwidth = IOPS x block size, in the unit that is said"""
    for direction in row.directions:
        rate, shown = row.first("iops", "", direction), row.first("bandwidth", "", direction)
        if not (rate and shown and row.block and rate.value and shown.value):
            continue
        expected = rate.value * row.block
        allowed = 0.01 + rate.step / rate.value + shown.step / shown.value
        error = shown.value / expected - 1
        if abs(error) <= allowed:
            continue
        fits = [
            name for name, factor in _UNITS.items() if abs(shown.number * factor / expected - 1) <= allowed
        ]
        meant = f"; it fits if the unit is {fits[0]}" if fits else ""
        yield _finding(
            row,
            "bandwidth_unit",
            "invalid" if fits or abs(error) > 0.1 else "suspect",
            frozenset({"bandwidth"}),
            f"{shown.text} is {abs(error):.1%} {'above' if error > 0 else 'below'} {rate.text} IOPS x "
            f"{size_text(row.block)} = {format_quantity(expected, 'B/s')}{meant}",
        )


def little_law(row: Row, context: Context) -> FigureFindings:
    """Return rate x latency = I/Os in flight: the latency's unit, and whether the queue depth was there at
    all
    """
    flying = in_flight(row)
    if flying is None:
        return
    if row.depth:
        yield from _against_depth(row, flying, row.depth * (row.jobs or 1))
    elif context.job and context.job.in_flight:
        asked = context.job.in_flight
        if not 0.7 < flying / asked < 1.3:
            yield _finding(
                row,
                "description",
                "suspect",
                frozenset({"description"}),
                f"{flying:.0f} I/Os were in flight, the command in line {context.job.line} asks for "
                f"{asked} (iodepth x numjobs): not that command made this row",
            )


def in_flight(row: Row) -> float | None:
    """Return I/Os in flight by Little's law, both directions together; rates may come from bandwidth and
    block.
    """
    total = 0.0
    for direction in row.directions:
        rate, latency = row.first("iops", "", direction), row.first("lat", "", direction)
        shown = row.first("bandwidth", "", direction)
        value = rate.value if rate else shown.value / row.block if shown and row.block else None
        if value is None or latency is None:
            return None
        total += value * latency.value / 1e9
    return total


def _against_depth(row: Row, flying: float, depth: int) -> FigureFindings:
    ratio = flying / depth
    for factor, wrong, right in ((1e3, "ms", "µs"), (1e6, "ms", "ns"), (1e-3, "µs", "ms")):
        if 0.7 <= ratio / factor <= 1.15:
            yield _finding(
                row,
                "latency_unit",
                "invalid",
                _LATENCY,
                f"as {wrong} the latency means {flying:.0f} I/Os in flight, the depth is {depth}; read as "
                f"{right} it is {flying / factor:.3g}",
            )
            return
    if ratio < 1 / 3:
        yield _finding(
            row,
            "little_law",
            "suspect",
            _ALL,
            f"{flying:.2f} I/Os were in flight, not {depth}: the depth was ignored, as by a synchronous "
            "ioengine or the page cache",
        )
    elif ratio > 1.15:
        yield _finding(
            row,
            "little_law",
            "suspect",
            _ALL,
            f"{flying:.4g} I/Os were in flight, more than the depth of {depth}: were there several jobs?",
        )


def link_limit(row: Row, context: Context) -> FigureFindings:
    """Return faster than the link, or than any link that a disk has"""
    limit = context.link or FASTEST.limit
    name = "the link" if context.link else FASTEST.name
    for shown in row.figures:
        if shown.kind == "bandwidth" and shown.value > limit * 1.01:
            yield _finding(
                row,
                "link_limit",
                "invalid",
                _ALL,
                f"{shown.text} is faster than {name} ({limit / 1e9:.3g} GB/s): memory, not storage",
            )
            return


def tiny_latency(row: Row, context: Context) -> FigureFindings:
    """Return latencies shorter than a way through the kernel to a device and back"""
    for shown in row.figures:
        if shown.kind == "lat" and not shown.part and 0 < shown.value < 3000:
            yield _finding(
                row,
                "tiny_latency",
                "invalid" if shown.value < 1000 else "suspect",
                _LATENCY,
                f"{shown.text} is {format_quantity(shown.value, 'ns')}: a way to memory, not to a device",
            )
            return


def below_sector(row: Row, context: Context) -> FigureFindings:
    """Return blocks smaller than a sector, which only a cache can serve"""
    if row.block and row.block < _SECTOR:
        yield _finding(
            row,
            "below_sector",
            "suspect",
            _ALL,
            f"blocks of {row.block} B are less than a sector ({_SECTOR} B): buffers in memory serve them",
        )


def order(row: Row, context: Context) -> FigureFindings:
    """Return min <= mean <= max, percentiles in order"""
    for kind in ("bandwidth", *sorted(_LATENCY)):
        for direction in row.directions:
            series = [
                figure for figure in row.figures if (figure.kind, figure.direction) == (kind, direction)
            ]
            if len({figure.part for figure in series}) < len(series):
                continue  # several columns of one kind: not one series
            by_part = {figure.part: figure for figure in series}
            percentiles = sorted(
                (part for part in by_part if part.startswith("p")), key=lambda p: float(p[1:])
            )
            for parts in (["min", "", "max"], ["min", *percentiles, "max"]):
                yield from _falling(row, kind, [by_part[part] for part in parts if part in by_part])


def _falling(row: Row, kind: str, series: Sequence[Quantity]) -> FigureFindings:
    for lower, higher in pairwise(series):
        if lower.value > higher.value * 1.03 + higher.step:
            names = lower.part or "mean", higher.part or "mean"
            yield _finding(
                row,
                "order",
                "invalid",
                frozenset({kind}),
                f"{kind} {names[0]} {lower.text} is above {names[1]} {higher.text}",
            )


def latency_sum(row: Row, context: Context) -> FigureFindings:
    """Return total latency = submission + completion latency"""
    submission, completion, total = (row.first(kind) for kind in ("slat", "clat", "lat"))
    if submission and completion and total:
        parts = submission.value + completion.value
        if abs(parts - total.value) > 0.02 * total.value + total.step:
            yield _finding(
                row,
                "latency_sum",
                "suspect",
                _LATENCY,
                f"{submission.text} + {completion.text} is not {total.text}",
            )


def few_operations(row: Row, context: Context) -> FigureFindings:
    """Return percentiles that too few I/Os decide"""
    parts = {figure.part for figure in row.figures if figure.part.startswith("p")}
    highest = max((float(part[1:]) for part in parts), default=0.0)
    job, shown, flying = context.job, row.first("bandwidth"), in_flight(row)
    if not (highest and row.size and row.block and job and shown and flying):
        return
    jobs = max(1, round(flying / (job.number("iodepth") or 1)))
    moved = row.size * jobs
    if job.runtime and "time_based" not in job.options:
        moved = min(moved, int(shown.value * job.runtime))
    count = moved // row.block
    beyond = count * (1 - highest / 100)
    if beyond < _TAIL * (1 - 1e-9):
        yield _finding(
            row,
            "few_operations",
            "suspect",
            frozenset({"percentiles"}),
            f"p{highest:g} is decided by {beyond:.1f} of {count} I/Os ({jobs} x {size_text(row.size)} in "
            f"blocks of {size_text(row.block)}); it takes {math.ceil(round(_TAIL / (1 - highest / 100)))}",
        )


def short_run(row: Row, context: Context) -> FigureFindings:
    """Return runs that were over in a moment"""
    rate = sum(filter(None, (_bandwidth(row, direction) for direction in row.directions)))
    size = row.size or context.size
    if rate and size and not row.size and size / rate < 1:
        yield _finding(
            row,
            "short_run",
            "suspect",
            _ALL,
            f"{format_quantity(size, 'B')} at {format_quantity(rate, 'B/s')} took "
            f"{format_quantity(size / rate, 's')}",
        )
    elif rate and size and not row.size and size / rate < 5:
        yield _finding(
            row,
            "short_run",
            "note",
            _ALL,
            f"{format_quantity(size, 'B')} at {format_quantity(rate, 'B/s')} took "
            f"{format_duration(size / rate)}",
        )


def _common_value(values: Iterable[int | None]) -> int | None:
    """Return the value that all who say one agree on."""
    known = {value for value in values if value is not None}
    return known.pop() if len(known) == 1 else None


def _bandwidth(row: Row, direction: str) -> float | None:
    """Return bytes/s of a direction: by IOPS and block size, whose units are rarely wrong, or as stated."""
    rate, shown = row.first("iops", "", direction), row.first("bandwidth", "", direction)
    return rate.value * row.block if rate and row.block else shown.value if shown else None


def unreadable(row: Row, context: Context) -> FigureFindings:
    """Return cells that hold no figure, and decimal commas"""
    for cell in row.unread:
        yield _finding(row, "unreadable", "suspect", frozenset({"cell"}), f"{cell!r} is not a figure")
    commas = [figure.text for figure in row.figures if figure.comma]
    if commas:
        yield _finding(
            row,
            "decimal_comma",
            "note",
            frozenset({"bandwidth"}),
            f"decimal commas among decimal points: {', '.join(commas)}",
        )


CHECKS: tuple[RowCheck, ...] = (
    bandwidth_unit,
    little_law,
    link_limit,
    tiny_latency,
    below_sector,
    order,
    latency_sum,
    few_operations,
    short_run,
    unreadable,
)
