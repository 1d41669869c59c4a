"""Tables of figures, in whatever form they stand, as rows of quantities."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from iogate.offline.published.beside_headings import bear_rates, of_cells, of_title
from iogate.offline.published.blocks import block_of_title
from iogate.offline.published.cells import (
    are_pointed_thousands,
    has_decimal_commas,
    has_decimal_points,
    is_figure,
    may_be_pointed_thousands,
    starts_number,
    unit_factor,
    unit_in,
)
from iogate.offline.published.columns import Column, column_of
from iogate.offline.published.double_cells import taken_apart
from iogate.offline.published.forms import LONGEST_CELL, SEMICOLONS, TABS
from iogate.offline.published.heading_subjects import compared_in
from iogate.offline.published.headings import MEASURED
from iogate.offline.published.left_out import left_out
from iogate.offline.published.lines import plain
from iogate.offline.published.raw import raw_tables
from iogate.offline.published.raw_table import MOST_CELLS, RawTable
from iogate.offline.published.reading import NEAR, Layout, aside_row, is_odd, odd_row, rows_of
from iogate.offline.published.row import SECTOR, Row
from iogate.offline.published.subjects import (
    unambiguous,
)
from iogate.offline.published.turned import derived_in, turned

_OF_DISKSPD = frozenset({"I/O per s", "AvgLat"})  # whose latencies are in ms, says its documentation
_IN_IOPS = re.compile(r"[(\[] ?iops ?[)\]]|\biops\W*$", re.IGNORECASE)
_IN_BYTES = re.compile(r"\b(?:[bB]ytes?|B)\b")
_WORDS, _PAGE = 64, 4096  # bytes: what caches of processors take at the least, and file systems
_IN_MIB = re.compile(r"\bMi?B\b(?! ?/)")
_LOOKED_AT = 16  # rows, for the unit of a column that has none in its heading
_IMPOSSIBLE = 1e11  # B/s: no disk, and few memories


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
        odd.setdefault(id(raw), []).append(odd_row(number, line))
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
    table = _with_unknown(table, _left(raw)) if table else None
    unread = any(row.unread for part in parts for row in part.rows)
    more = table and (_names_metrics(table) or (_has_pairs(table) and not any(map(_has_pairs, parts))))
    if parts and not (table and (unread or more)):
        return parts
    odd = [odd_row(line, " ".join(cells)) for line, cells in raw.rows if line in alike]
    if table or odd:
        return [_with_odd(table or Table(raw.line, raw.title, (), (), 0), odd)]
    if unknown := _bearing_rates(raw):
        return [Table(raw.line, raw.title, (), (Row(raw.rows[0][0], "", unknown=unknown),), len(raw.rows))]
    return []


def _left(raw: RawTable) -> Iterator[str]:
    """Yield the headings of columns that are made of the others, where rows say what figures are."""
    for index in sorted(derived_in(raw)):
        yield raw.header[0][index] if index < len(raw.header[0]) else ""


def _with_unknown(table: Table, headings: Iterable[str]) -> Table:
    first, *others = table.rows
    return replace(table, rows=(replace(first, unknown=(*first.unknown, *headings)), *others))


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
    layout = _sized(raw, Layout(unambiguous(columns), block_of_title(raw.title), commas))
    found = _read(raw, layout)
    if any(map(_is_impossible, found)) and not has_decimal_points(figures):
        found = _read(raw, replace(layout, commas=True))
    rows = tuple(row for rows in found for row in rows)
    if (raw.rows and not rows) or _is_list(raw):
        return None
    aside = (aside_row(*raw.rows[place]) for place in sorted(_spreads(raw, layout)))
    table = Table(raw.line, raw.title, tuple(columns), (*rows, *aside), len(found), pointed and not commas)
    return _with_unknown(table, _unknown(raw, columns)) if rows else table


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


def _sized(raw: RawTable, layout: Layout) -> Layout:
    """Return a layout in which it is known of what block sizes without a unit are, of which one is below a
    sector: of KiB, unless bandwidths are as many times the IOPS as they say in bytes, or, where there are
    none, others have pages of them; of MiB, if the title and bandwidths say so, and of nobody knows what, if
    only bandwidths do, which may be in another unit. `Block` may count what is no size, too.
    """
    for index, column in enumerate(layout.columns):
        sized = column.kind == "block" and not (column.unit or _IN_BYTES.search(column.header))
        bare = [int(cell[:10]) for cell in _below(raw, index) if cell.isdecimal()] if sized else []
        least = min(bare, default=SECTOR)
        if least < SECTOR:
            in_kib, in_mib = (_with(layout, index, replace(column, unit=unit)) for unit in "KM")
            fits, fits_mib = _fit(raw, layout), _fit(raw, in_mib)
            if fits or (fits is None and least >= _WORDS and max(bare) >= _PAGE):
                return layout
            if fits_mib and _IN_MIB.search(raw.title):
                return in_mib
            unknown = (column.header.lower() == "block" or fits_mib) and not _fit(raw, in_kib)
            return _with(layout, index, replace(column, kind="")) if unknown else in_kib
    return layout


def _with(layout: Layout, index: int, column: Column) -> Layout:
    columns = [*layout.columns]
    columns[index] = column
    return replace(layout, columns=columns)


def _fit(raw: RawTable, layout: Layout) -> bool | None:
    """Return whether most bandwidths are IOPS x block size; None if there are none."""
    pairs = [
        pair
        for rows in _read(raw, layout)
        for row in rows
        for direction in row.directions
        for pair in row.pairs(direction)
    ]
    fitting = sum(abs(shown.value / expected - 1) <= NEAR for _, shown, expected in pairs)
    return 2 * fitting > len(pairs) if pairs else None


def _read(raw: RawTable, layout: Layout) -> list[list[Row]]:
    width = raw.width
    spreads = _spreads(raw, layout)
    read = (
        [odd_row(line, " ".join(cells))]
        if is_odd(cells, width, layout.columns)
        else rows_of(line, cells, layout)
        for place, (line, cells) in enumerate(raw.rows)
        if place not in spreads
    )
    return [rows for rows in read if rows]


def _spreads(raw: RawTable, layout: Layout) -> frozenset[int]:
    """Return which rows are of how much the others differ."""
    labels = {0, *(index for index, one in enumerate(layout.columns) if not (one.kind or one.direction))}
    named = ([cells[index] if index < len(cells) else "" for _, cells in raw.rows] for index in labels)
    return frozenset[int]().union(*map(compared_in, named))


def _is_impossible(rows: Sequence[Row]) -> bool:
    """Return whether a comma was taken for one of thousands, and cannot be one."""
    rates = (figure for row in rows for figure in row.figures if figure.kind == "bandwidth")
    return any(figure.value > _IMPOSSIBLE and re.search(r"\d,\d{3}\b", figure.text) for figure in rates)
