"""Cells of two figures: `24.34 MB/s (6.0k)` below `4k (IOPS)`, as YABS prints what fio found, and such as
bear their units: `25339 IOPS@7.6ms`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from iogate.offline.published.beside_headings import unit_of
from iogate.offline.published.cells import starts_number
from iogate.offline.published.columns import column_of
from iogate.offline.published.forms import LONGEST_CELL
from iogate.offline.published.raw_headings import DOUBLE, are_double
from iogate.offline.published.raw_table import RawTable

_CELL = re.compile(r"([^()]+)\(\s*([^()]+)\)")
_PARTED = re.compile(r"([^@;()]+?)(?: ?[@;] ?|, | / | at | [-–—|] )(\d[^@;()]*)", re.IGNORECASE)
_LONGEST = 60  # characters of two figures
_NAMES = {"bandwidth": "bandwidth", "iops": "IOPS", "lat": "latency"}

_Kinds = tuple[str, str]


def taken_apart(raw: RawTable) -> Iterator[RawTable]:
    """Yield a table with a cell for each figure. It is several tables where the headings of others, of other
    block sizes, stand among its rows.
    """
    if len(raw.header) != 1 or not are_double(raw.header[0]):
        yield _divided(raw)
        return
    current = replace(raw, header=[], rows=[])
    rows = [(raw.line, raw.header[0]), *raw.rows]
    sizes: list[str] = []
    for line, cells in rows:
        if are_double(cells):
            if current.rows:
                yield current
            sizes = [found[1] if (found := DOUBLE.fullmatch(cell)) else "" for cell in cells]
            current = replace(raw, line=line, header=[list(_headings(cells, sizes))], rows=[])
        elif any(any(map(str.isdigit, cell)) for cell in cells):
            current.rows.append((line, list(_figures(cells, sizes))))
    if current.rows:
        yield current


def _headings(cells: Sequence[str], sizes: Sequence[str]) -> Iterator[str]:
    """Yield the headings of a row's cells; what says that the other headings are block sizes heads none."""
    for cell, size in zip(cells, sizes, strict=True):
        if size:
            yield from (f"{size} bandwidth", f"{size} IOPS")
        else:
            yield "" if column_of(cell, {}).kind == "block" else cell


def _figures(cells: Sequence[str], sizes: Sequence[str]) -> Iterator[str]:
    """Yield the cells of a row, two where the heading has a size; one that is otherwise stays whole."""
    for index, cell in enumerate(cells):
        if index >= len(sizes) or not sizes[index]:
            yield cell
            continue
        found = _CELL.fullmatch(cell)
        yield from (found[1].strip(), found[2].strip()) if found else (cell, "")


def _divided(raw: RawTable) -> RawTable:
    """Return a table with two columns for each whose cells are two figures, each with its unit, or one of
    them; the heading may say of which kind one of them is.
    """
    double = {index: kinds for index in range(raw.width) if (kinds := _kinds(raw, index))}
    if not (double and raw.header):
        return raw
    *above, last = raw.header
    header = [list(_doubled(cells, double)) for cells in above]
    rows = [(line, list(_parted(cells, double))) for line, cells in raw.rows]
    return replace(raw, header=[*header, list(_doubled(last, double, named=True))], rows=rows)


def _kinds(raw: RawTable, index: int) -> _Kinds | None:
    """Return the kinds of the two figures that a cell of a column has, and no other of its cells another."""
    cells = [cells[index] for _, cells in raw.rows if index < len(cells) and starts_number(cells[index])]
    kinds = next((tuple(kind for kind, _ in two) for cell in cells if (two := _two(cell))), ())
    if len(kinds) != 2 or not all({*_kinds_in(cell)} <= {*kinds} for cell in cells):
        return None
    heading = " ".join(cells[index] for cells in raw.header if index < len(cells))[:LONGEST_CELL]
    return kinds if column_of(heading, {}).kind in ("", *kinds) else None


def _kinds_in(cell: str) -> list[str]:
    """Return the kinds of the figures in a cell that bear their units; an empty one for a figure without."""
    borne = unit_of(cell)
    return [kind for kind, _ in _two(cell) or [borne or ("", cell)]]


def _two(cell: str) -> list[tuple[str, str]] | None:
    """Return the two figures in a cell, each with its kind before it; None if it has no two, of two kinds."""
    match = (_CELL.fullmatch(cell) or _PARTED.fullmatch(cell)) if len(cell) <= _LONGEST else None
    if match is None:
        return None
    parts = [part.strip() for part in match.groups()]
    found = [(named[0], part) for part in parts if (named := unit_of(part))]
    return found if len({kind for kind, _ in found}) == 2 else None


def _doubled(cells: Sequence[str], double: Mapping[int, _Kinds], *, named: bool = False) -> Iterator[str]:
    """Yield the cells of a line of headings, twice where there are two columns for one by now."""
    for index, cell in enumerate(cells):
        column = column_of(cell, {})
        words = f"{column.direction} {column.subject}" if column.kind else cell
        for kind in double.get(index, ("",)):
            yield f"{words} {_NAMES[kind]}".strip() if named and kind else cell


def _parted(cells: Sequence[str], double: Mapping[int, _Kinds]) -> Iterator[str]:
    """Yield the cells of a row, two for one with two figures; of a figure alone the other one is empty."""
    for index, cell in enumerate(cells):
        if index not in double:
            yield cell
            continue
        first, second = double[index]
        known = dict(_two(cell) or [(_kinds_in(cell)[0] or first, cell)])
        yield known.get(first, "")
        yield known.get(second, "")
