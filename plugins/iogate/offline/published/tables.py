"""Tables of figures, in whatever form they stand, as rows of quantities."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from iogate.offline.published.beside_headings import bear_rates, of_cells, of_row, of_title
from iogate.offline.published.blocks import block_of_test, block_of_title, may_have_own_block
from iogate.offline.published.cells import (
    Quantity,
    are_pointed_thousands,
    bears_figure,
    has_decimal_commas,
    has_decimal_points,
    is_figure,
    may_be_pointed_thousands,
    quantities,
    size_of,
    starts_number,
    unit_factor,
    unit_in,
)
from iogate.offline.published.columns import Column, column_of
from iogate.offline.published.depths import parallel_of_test
from iogate.offline.published.double_cells import taken_apart
from iogate.offline.published.forms import LONGEST_CELL, SEMICOLONS, TABS
from iogate.offline.published.headings import MEASURED
from iogate.offline.published.left_out import left_out
from iogate.offline.published.lines import plain
from iogate.offline.published.raw import MOST_CELLS, RawTable, raw_tables
from iogate.offline.published.row import Row
from iogate.offline.published.subjects import (
    block_in,
    by_subject,
    flying_in,
    has_vague_latency,
    subject_of,
    unambiguous,
)
from iogate.offline.published.turned import turned

_OF_DISKSPD = frozenset({"I/O per s", "AvgLat"})  # whose latencies are in ms, says its documentation
_IN_IOPS = re.compile(r"[(\[] ?iops ?[)\]]|\biops\W*$", re.IGNORECASE)
_LOOKED_AT = 16  # rows, for the unit of a column that has none in its heading
_LABELLED = re.compile(r"(threads?|jobs?|processes)\s*[-:=]?\s*(\d+)", re.IGNORECASE)
_MIXED = re.compile(
    r"(?<![^\W_])(?:rand)?rw(?![^\W_])|\bmix|\d{1,2} ?/ ?\d{1,2}(?!\d)|\boltp\b", re.IGNORECASE
)
_BITS = re.compile(r"[kKmMgGtT]i?b(?:/s|/sec|ps)|[KMGT]BPS")
_OF_BOTH = re.compile(r"total|all|mix|overall|combined|sum", re.IGNORECASE)
_NAMED = re.compile(r"[:=]\s*\d")
_NO_FIGURE = re.compile(r"n/?a\b|none\b|[-–—]+(?:\s|$)", re.IGNORECASE)
_NEAR = 0.1  # as far as a bandwidth may be from IOPS x block size
_IMPOSSIBLE = 1e11  # B/s: no disk, and few memories
_LONGEST_NAME = 60  # characters of a row that nobody can read
_MOST_LABELS = 24  # cells of a row that its findings begin with


@dataclass(frozen=True)
class Table:
    """A table with figures of storage; `title` is the line above it. It has `count` rows, of which each is
    several `rows` if it has the figures of several systems, or runs. It is `unclear` if its points may part
    thousands.
    """

    line: int
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    count: int
    unclear: bool = False

    @property
    def tells(self) -> bool:
        """Whether it is one of storage, as its figures are, or what is there in place of them."""
        return any(row.figures or row.unread or row.odd for row in self.rows)


def tables(lines: Sequence[str], more: Iterable[RawTable] = ()) -> list[Table]:
    """Return all tables with figures of storage in a text's lines, and of `more` that were found otherwise,
    with what is like their rows and could not be read.
    """
    text = plain(lines)
    raws = [*raw_tables(text), *more]
    legend: dict[str, str] = {}
    for raw in raws:
        for _, cells in raw.rows:
            unit = cells[-1] if cells else ""
            if unit and any(unit_factor(kind, unit) for kind in ("bandwidth", "lat")):
                legend[cells[0].lower()] = unit
    found = [(raw, _parts(raw, legend)) for raw in raws]
    odd: dict[int, list[Row]] = {}
    for raw, number, line in left_out(text, [raw for raw, parts in found if parts]):
        odd.setdefault(id(raw), []).append(_odd_row(number, line))
    whole = (
        _with_odd(table, odd.get(id(raw), ()) if table is parts[-1] else ())
        for raw, parts in found
        for table in parts
    )
    return [table for table in whole if table.rows]


def _parts(raw: RawTable, legend: Mapping[str, str]) -> list[Table]:
    """Return the tables of figures that one is: as it stands, or turned, where that cannot all be read, or
    only so has rates to hold against each other, as rows say what figures are, and headings at the most in
    which direction.
    """
    parts = [table for part in taken_apart(raw) if (table := _table(part, legend))]
    if parts and any(column_of(header, {}).kind in MEASURED for header in _headings(raw)):
        return parts
    other, alike = turned(raw)
    table = _table(other, legend) if other.rows else None
    unread = any(row.unread for part in parts for row in part.rows)
    more = table and (_names_metrics(table) or (_has_pairs(table) and not any(map(_has_pairs, parts))))
    if parts and not (table and (unread or more)):
        return parts
    odd = [_odd_row(line, " ".join(cells)) for line, cells in raw.rows if line in alike]
    if table or odd:
        return [_with_odd(table or Table(raw.line, raw.title, (), (), 0), odd)]
    if unknown := _bearing_rates(raw):
        return [Table(raw.line, raw.title, (), (Row(raw.rows[0][0], "", unknown=unknown),), len(raw.rows))]
    return []


def _names_metrics(table: Table) -> bool:
    """Return whether the headings of a table name metrics, two at least, each once, and nothing of which test
    or part they are of.
    """
    measured = [column for column in table.columns if column.kind in MEASURED]
    kinds = {(one.kind, one.part) for one in measured}
    return 1 < len(kinds) == len(measured) and not any(one.subject or one.apart for one in measured)


def _has_pairs(table: Table) -> bool:
    """Return whether a row of a table has IOPS and a bandwidth of one direction."""
    return any(any(row.pairs(direction)) for row in table.rows for direction in row.directions)


def _bearing_rates(raw: RawTable) -> tuple[str, ...]:
    """Return the headings of columns whose cells bear units of rates, in a table none of whose headings says
    that it is one of storage: a network has rates, too.
    """
    return tuple(
        header
        for index, header in enumerate(_headings(raw))
        if header and not column_of(header, {}).kind and bear_rates(_below(raw, index))
    )


def _headings(raw: RawTable) -> list[str]:
    """Return the heading of each column, in one line."""
    width = min(MOST_CELLS, max([raw.width, *(len(cells) for _, cells in raw.rows)]))
    return [
        " ".join(cells[index] for cells in raw.header if index < len(cells)).strip()[:LONGEST_CELL]
        for index in range(width)
    ]


def _odd_row(number: int, text: str) -> Row:
    return Row(number, text.strip()[:_LONGEST_NAME], odd=True)


def _with_odd(table: Table, odd: Sequence[Row]) -> Table:
    rows = sorted((*table.rows, *odd), key=lambda row: row.line)
    return replace(table, rows=tuple(rows), count=table.count + len(odd))


def _table(raw: RawTable, legend: Mapping[str, str]) -> Table | None:
    raw = _with_index(raw)
    headings = _headings(raw)
    if _OF_DISKSPD.issubset(headings):
        legend = {**legend, "lat": "ms"}
    columns = [
        of_title(column_of(header, legend), raw.title, _below(raw, index)[:_LOOKED_AT])
        for index, header in enumerate(headings)
    ]
    named = unit_in(raw.title) or (("iops", "") if _IN_IOPS.search(raw.title) else None)
    if not any(column.kind in MEASURED for column in columns) and named:
        columns = columns[:1] + [
            replace(column, kind=named[0], unit=named[1]) if not column.kind else column
            for column in columns[1:]
        ]
    if not any(column.kind in MEASURED or column.direction for column in columns):
        return None
    columns = [of_cells(column, _below(raw, index)) for index, column in enumerate(columns)]
    by_column = [
        _below(raw, index)
        for index, column in enumerate(columns)
        if column.kind in MEASURED or column.kind == "time" or column.direction
    ]
    figures = [cell for cells in by_column for cell in cells]
    pointed = raw.form is SEMICOLONS and may_be_pointed_thousands(figures) and not has_decimal_points(figures)
    commas = has_decimal_commas(figures) or (pointed and any(map(are_pointed_thousands, by_column)))
    form = _Form(unambiguous(columns), block_of_title(raw.title), commas)
    found = _read(raw, form)
    if any(map(_is_impossible, found)) and not has_decimal_points(figures):
        found = _read(raw, replace(form, commas=True))
    rows = tuple(row for rows in found for row in rows)
    if (raw.rows and not rows) or _is_list(raw):
        return None
    unknown = tuple(_unknown(raw, columns))
    rows = (*(replace(row, unknown=unknown) for row in rows[:1]), *rows[1:])
    return Table(raw.line, raw.title, tuple(columns), rows, len(found), pointed and not commas)


def _is_list(raw: RawTable) -> bool:
    """Return whether what has tabs is but a list of settings (`thread count:`), as DiskSpd has it."""
    several = any(sum(map(bool, cells)) > 1 for cells in raw.header)
    return raw.form is TABS and not several and all(cells[0].endswith(":") for _, cells in raw.rows)


def _unknown(raw: RawTable, columns: Sequence[Column]) -> Iterator[str]:
    """Yield the headings that name figures and are not understood, where most of what is below is one."""
    for index, column in enumerate(columns):
        if column.unknown and not column.kind:
            cells = _below(raw, index)
            if sum(map(is_figure, cells)) > len(cells) / 2:
                yield column.header


def _below(raw: RawTable, index: int) -> list[str]:
    """Return the cells of a column."""
    return [cells[index] for _, cells in raw.rows if index < len(cells)]


def _with_index(raw: RawTable) -> RawTable:
    """Return a table with tabs with a heading for its first column where that alone has none, as R has it."""
    more = raw.form is TABS and raw.header and all(len(cells) == raw.width + 1 for _, cells in raw.rows)
    if not more or not any(starts_number(cells[-1]) for _, cells in raw.rows):
        return raw
    return replace(raw, header=[["", *cells] for cells in raw.header])


def _read(raw: RawTable, form: _Form) -> list[list[Row]]:
    width = raw.width
    read = (
        [_odd_row(line, " ".join(cells))] if _is_odd(cells, width, form.columns) else _rows(line, cells, form)
        for line, cells in raw.rows
    )
    return [rows for rows in read if rows]


def _is_odd(cells: Sequence[str], width: int, columns: Sequence[Column]) -> bool:
    """Return whether it is not known which cells of a row are below which headings: it has figures beyond
    them, or fewer cells than there are headings that are understood.
    """
    if cells[0].startswith(("# ", "//")):
        return False
    missing = any(column.kind or column.direction for column in columns[len(cells) : width])
    return any(map(starts_number, cells[width:] or (cells[1:] if missing else ())))


def _is_impossible(rows: Sequence[Row]) -> bool:
    """Return whether a comma was taken for one of thousands, and cannot be one."""
    rates = (figure for row in rows for figure in row.figures if figure.kind == "bandwidth")
    return any(figure.value > _IMPOSSIBLE and re.search(r"\d,\d{3}\b", figure.text) for figure in rates)


@dataclass(frozen=True)
class _Form:
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


def _rows(line: int, cells: Sequence[str], form: _Form) -> list[Row]:
    """Return the rows that one row of a table is: one for each system, or run, that it has figures of."""
    columns = _of_row(cells, form.columns)
    said, subjects = _said(cells, columns), by_subject(columns)
    several = len(subjects) > 1
    rows = []
    for own in subjects:
        named = ", ".join(filter(None, [said.label, *(subject_of(own.values()) if several else ())]))
        if row := _row(Row(line, named), cells, own, said, form):
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
    if "depth" not in stated:
        stated = {**parallel_of_test(cells, columns), **stated}
    is_test = any(column.kind in ("block", "depth") for column in columns)
    own_block = may_have_own_block(cells, columns)
    return _Said(", ".join(labels[:_MOST_LABELS]), block_of_test(cells, columns), stated, is_test, own_block)


def _row(begun: Row, cells: Sequence[str], own: Mapping[int, Column], said: _Said, form: _Form) -> Row | None:
    """Return a row with the figures in its `own` columns; None if there are headings in them."""
    figures: list[Quantity] = []
    unread: list[str] = []
    for index, column in own.items():
        cell = cells[index] if index < len(cells) else ""
        found = quantities(cell, column.kind, column.part, column.unit, commas=form.commas)
        figures += [replace(one, direction=one.direction or column.direction) for one in found or ()]
        if found is None and any(map(str.isdigit, cell)) and not _NO_FIGURE.match(cell):
            unread.append(cell)
    if not figures and all(map(_may_be_heading, unread)):
        return None
    measured = list(own.values())
    named = {column.direction for column in measured} - {""}
    if direction := _of_all(measured) if said.is_test else "":
        figures = [replace(one, direction=one.direction or direction) for one in figures]
    of_title = None if said.own_block else form.block
    row = replace(
        begun,
        figures=tuple(figures),
        unread=tuple(unread),
        apart=len(named) > 1,
        vague=has_vague_latency(measured),
        **{"block": block_in(measured) or said.block or of_title, **flying_in(measured), **said.stated},
    )
    return _with_bits(row)


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


def _with_bits(row: Row) -> Row:
    """Return a row whose `Mb/s` are bits where its IOPS and block size say so; people write that of both."""
    pairs = (pair for direction in row.directions for pair in row.pairs(direction) if may_be_bits(pair[1]))
    bits = [abs(shown.value / 8 / expected - 1) <= _NEAR for _, shown, expected in pairs]
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
    `Seq 1M Q8 (MB/s)` does, or else their cells.
    """
    if all(column.kind in MEASURED or not column.direction for column in columns):
        return columns
    labels = [cell for cell, column in zip(cells, columns, strict=False) if not column.direction]
    named = next((found for label in labels if (found := _named(label))), None)
    if not named:
        filled = [*cells, *[""] * len(columns)]
        return [
            of_row(one, cell) if one.direction and not one.kind else one
            for one, cell in zip(columns, filled, strict=False)
        ]
    kind, part, unit = named
    return [
        replace(one, kind=kind, part=part, unit=unit) if one.direction and not one.kind else one
        for one in columns
    ]


def _named(label: str) -> tuple[str, str, str] | None:
    """Return the kind, part and unit of figures that a row's label names."""
    found = column_of(label, {})
    if found.kind == "iops":
        return found.kind, found.part, ""
    return (found.kind, found.part, found.unit) if found.kind in MEASURED and found.unit else None
