"""The rows of a table of figures, each read below its columns: one for each system, or run, that it has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from iogate.offline.published.beside_headings import of_row
from iogate.offline.published.blocks import block_of_test, may_have_own_block
from iogate.offline.published.cells import Quantity, bears_figure, quantities, size_of, starts_number
from iogate.offline.published.columns import Column, column_of
from iogate.offline.published.depths import parallel_of_test
from iogate.offline.published.headings import MEASURED
from iogate.offline.published.row import Row
from iogate.offline.published.subjects import block_in, by_subject, flying_in, has_vague_latency, subject_of
from iogate.offline.published.thousands import tolerated

_LABELLED = re.compile(r"(threads?|jobs?|processes)\s*[-:=]?\s*(\d+)", re.IGNORECASE)
_MEAN = re.compile(r"(?<![a-z])mean(?![a-z])", re.IGNORECASE)
_MIXED = re.compile(
    r"(?<![^\W_])(?:rand)?rw(?![^\W_])|\bmix|\d{1,2} ?/ ?\d{1,2}(?!\d)|\boltp\b", re.IGNORECASE
)
_BITS = re.compile(r"[kKmMgGtT]i?b(?:/s|/sec|ps)|[KMGT]BPS")
_FLUSH = re.compile(r"(?<![a-z_])f?(?:data)?sync(?!hr)|flush|commit", re.IGNORECASE)
_OF_BOTH = re.compile(r"total|all|mix|overall|combined|sum", re.IGNORECASE)
_NAMED = re.compile(r"[:=]\s*\d")
_NO_FIGURE = re.compile(r"n/?a\b|none\b|[-–—]+(?:\s|$)", re.IGNORECASE)
NEAR = 0.1
"""As far as a bandwidth may be from IOPS x block size that is said so."""
_LONGEST_NAME = 60  # characters of a row that nobody can read
_MOST_LABELS = 24  # cells of a row that its findings begin with


@dataclass(frozen=True)
class Layout:
    """How the rows of a table are read: by its columns, the block size of its title, and decimal commas."""

    columns: Sequence[Column]
    block: int | None
    commas: bool


@dataclass(frozen=True)
class _Said:
    """What a row says beside its figures, of all subjects: its label, the block size that is named there,
    facts of the workload that have columns, and whether it is of one test, with a block size or depth, and
    `own_block`: whether it may have a block size of its own.
    """

    label: str
    block: int | None
    stated: Mapping[str, Any]
    is_test: bool
    own_block: bool


def odd_row(number: int, text: str) -> Row:
    """Return a row of line `number` that nobody can read."""
    return Row(number, text.strip()[:_LONGEST_NAME], odd=True)


def aside_row(number: int, cells: Sequence[str]) -> Row:
    """Return a row of line `number` that is of how much others differ."""
    return Row(number, cells[0][:_LONGEST_NAME], aside=True)


def is_odd(cells: Sequence[str], width: int, columns: Sequence[Column]) -> bool:
    """Return whether it is not known which cells of a row are below which headings: it has figures beyond
    them, or fewer cells than there are headings that are understood.
    """
    if cells[0].startswith(("# ", "//")):
        return False
    missing = any(column.kind or column.direction for column in columns[len(cells) : width])
    return any(map(starts_number, cells[width:] or (cells[1:] if missing else ())))


def rows_of(line: int, cells: Sequence[str], layout: Layout) -> list[Row]:
    """Return the rows that one row of a table is: one for each system, or run, that it has figures of."""
    columns = _of_row(cells, layout.columns)
    said, subjects = _said(cells, columns), by_subject(columns)
    several = len(subjects) > 1
    rows = []
    for own in subjects:
        named = ", ".join(filter(None, [said.label, *(subject_of(own.values()) if several else ())]))
        if row := _row(Row(line, named), cells, own, said, layout):
            rows.append(row)
    return [row for row in rows if row.figures or row.unread] if len(rows) > 1 else rows


def _said(cells: Sequence[str], columns: Sequence[Column]) -> _Said:
    labels: list[str] = []
    stated: dict[str, Any] = {}
    for cell, column in zip(cells, columns, strict=False):
        if column.kind in ("block", "size"):
            stated[column.kind] = size_of(cell + column.unit if cell.isdecimal() else cell)
        elif column.kind in ("depth", "jobs", "copies") and cell.isdecimal() and len(cell) < 10:
            stated[column.kind] = int(cell)
            if column.unit == "total":
                stated["shared"] = True
            elif column.unit == "disks":
                stated["disks"] = max(1, int(cell))
        label = _LABELLED.fullmatch(cell)
        if label:
            stated["jobs"] = int(label[2][:9])
        if not column.kind and _MIXED.search(cell):
            stated["mixed"] = True
        if column.kind not in MEASURED and 0 < len(cell) <= 24 and cell != "=>":
            labels.append(cell)
    if _times_flushes(columns):
        stated["flushes"] = True
    if "depth" not in stated:
        stated = {**parallel_of_test(cells, columns), **stated}
    is_test = any(column.kind in ("block", "depth") for column in columns)
    own_block = may_have_own_block(cells, columns)
    return _Said(", ".join(labels[:_MOST_LABELS]), block_of_test(cells, columns), stated, is_test, own_block)


def _times_flushes(columns: Sequence[Column]) -> bool:
    """Return whether a column is of the time that flushes took, and not of the I/Os themselves: there is
    another one of these, and no rate bears such a name, as of `sync writes`.
    """
    times = [column for column in columns if column.kind in ("time", "lat")]
    flushes = [column for column in times if _FLUSH.search(column.header)]
    rates = (column.header for column in columns if column.kind in ("iops", "bandwidth"))
    return 0 < len(flushes) < len(times) and not any(map(_FLUSH.search, rates))


def _row(
    begun: Row, cells: Sequence[str], own: Mapping[int, Column], said: _Said, layout: Layout
) -> Row | None:
    """Return a row with the figures in its `own` columns; None if there are headings in them."""
    figures: list[Quantity] = []
    unread: list[str] = []
    for index, column in own.items():
        cell = cells[index] if index < len(cells) else ""
        found = quantities(cell, column.kind, column.part, column.unit, commas=layout.commas)
        direction, place = column.direction, column.place
        figures += [replace(one, direction=one.direction or direction, place=place) for one in found or ()]
        if found is None and any(map(str.isdigit, cell)) and not _NO_FIGURE.match(cell):
            unread.append(cell)
    if not figures and all(map(_may_be_heading, unread)):
        return None
    measured = list(own.values())
    named = {column.direction for column in measured} - {""}
    if of_all := _of_all(measured) if said.is_test else "":
        figures = [replace(one, direction=one.direction or of_all) for one in figures]
    of_heading, of_title = block_in(measured), None if said.own_block else layout.block
    row = replace(
        begun,
        figures=tuple(figures),
        unread=tuple(unread),
        apart=len(named) > 1,
        vague=has_vague_latency(measured),
        sampled=any(column.kind == "iops" and _MEAN.search(column.header) for column in measured),
        **{"block": of_heading or said.block or of_title, **flying_in(measured), **said.stated},
    )
    return _with_bits(_with_its_block(row, (of_heading, said.block, layout.block)))


def _may_be_heading(cell: str) -> bool:
    """Return whether a cell that is no figure begins as a heading does."""
    return cell[:1].isalpha() and not _NAMED.search(cell) and not bears_figure(cell)


def _of_all(measured: Sequence[Column]) -> str:
    """Return the direction that one heading names, and that is of the whole row of one test: where other
    kinds of figures name none, nor are they of all directions. IOPS beside `Sequential read (MB/s)` are of
    another test.
    """
    named = {(column.direction, column.kind) for column in measured if column.direction}
    unnamed = [column for column in measured if not column.direction]
    directions, kinds = {direction for direction, _ in named}, {kind for _, kind in named}
    if len(directions) != 1:
        return ""
    (direction,) = directions
    shared = any(column.kind in kinds or _OF_BOTH.search(column.header) for column in unnamed)
    another = " " in direction and kinds != {"iops"}
    others = any(column.subject for column in unnamed)
    return "" if shared or another or others else direction


def _with_its_block(row: Row, others: Iterable[int | None]) -> Row:
    """Return a row with the block size that most of its IOPS and bandwidths have, its own or one of `others`,
    heading, test and title: a column of block sizes may be that of a file system or volume.
    """
    rows = (row, *(replace(row, block=block) for block in others if block and row.block))
    return max(rows, key=_bearing_out_its_block)


def _bearing_out_its_block(row: Row) -> int:
    pairs = (pair for direction in row.directions for pair in row.pairs(direction))
    return sum(abs(shown.value / expected - 1) <= tolerated(rate, shown) for rate, shown, expected in pairs)


def _with_bits(row: Row) -> Row:
    """Return a row whose `Mb/s` are bits where its IOPS and block size say so; people write that of both."""
    pairs = (pair for direction in row.directions for pair in row.pairs(direction) if may_be_bits(pair[1]))
    bits = [abs(shown.value / 8 / expected - 1) <= NEAR for _, shown, expected in pairs]
    if not bits or not all(bits):
        return row
    figures = (
        replace(one, value=one.value / 8, step=one.step / 8) if may_be_bits(one) else one
        for one in row.figures
    )
    return replace(row, figures=tuple(figures))


def may_be_bits(figure: Quantity) -> bool:
    """Return whether a figure's unit, as `Mb/s`, is written for bytes and for bits."""
    return figure.kind == "bandwidth" and _BITS.fullmatch(figure.unit.replace(" ", "")) is not None


def _of_row(cells: Sequence[str], columns: Sequence[Column]) -> Sequence[Column]:
    """Return the columns, those of a direction alone with the kind and unit that the row's label names, as
    `Seq 1M Q8 (MB/s)` does, or else their cells, and where these bear units of another kind.
    """
    if all(column.kind in MEASURED or not column.direction for column in columns):
        return columns
    labels = [cell for cell, column in zip(cells, columns, strict=False) if not column.direction]
    named = next((found for label in labels if (found := _named(label))), ("", "", ""))
    filled = [*cells, *[""] * len(columns)]
    return [
        _of_cell(one, cell, *named) if one.direction and not one.kind else one
        for one, cell in zip(columns, filled, strict=False)
    ]


def _of_cell(column: Column, cell: str, kind: str, part: str, unit: str) -> Column:
    """Return a column of a direction alone as a row's label names it, if that names any `kind`, and its cell
    is of no other one.
    """
    own = of_row(column, cell)
    if not kind or own.kind not in ("", kind):
        return own
    return replace(column, kind=kind, part=part, unit=unit)


def _named(label: str) -> tuple[str, str, str] | None:
    """Return the kind, part and unit of figures that a row's label names."""
    found = column_of(label, {})
    if found.kind == "iops":
        return found.kind, found.part, ""
    return (found.kind, found.part, found.unit) if found.kind in MEASURED and found.unit else None
