"""Cells of two figures, as YABS prints what fio found: `24.34 MB/s (6.0k)` below `4k (IOPS)`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from iogate.offline.published.columns import column_of
from iogate.offline.published.raw import DOUBLE, RawTable, are_double

_CELL = re.compile(r"([^()]+)\(\s*([^()]+)\)")


def taken_apart(raw: RawTable) -> Iterator[RawTable]:
    """Yield a table with a cell for each figure. It is several tables where the headings of others, of other
    block sizes, stand among its rows.
    """
    if len(raw.header) != 1 or not are_double(raw.header[0]):
        yield raw
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
