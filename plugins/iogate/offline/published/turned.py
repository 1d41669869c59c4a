"""Tables whose rows, and not their columns, say what figures are, as `Metric | Value` has it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from iogate.offline.published.beside_headings import unit_of
from iogate.offline.published.cells import LATENCIES, bears_figure, plain_number
from iogate.offline.published.columns import column_of
from iogate.offline.published.forms import LONGEST_CELL
from iogate.offline.published.headings import MEASURED
from iogate.offline.published.raw_headings import heads_rows, is_group
from iogate.offline.published.raw_table import MOST_CELLS, RawTable

_UNITS = frozenset({"unit", "units"})
_SMALLER, _TINY = 0.25, 0.02
_LEAST = 2  # rows that say what figures are, where no heading says that they do: one may by chance


def turned(raw: RawTable) -> tuple[RawTable, list[int]]:
    """Return a table with a row for each of its columns of figures, which has its names of rows as headings,
    each with the group that it is in, and its unit; and the lines of the rows that say what their figures are
    and are not in it, as others are called the same. Both are empty if no rows say so.
    """
    empty = replace(raw, rows=[])
    if len(raw.header) != 1 or raw.width < 2:
        return empty, []
    heading = raw.header[0]
    unit = next((index for index, cell in enumerate(heading) if cell.lower() in _UNITS), 0)
    named = list(_named(raw, unit))
    names = [name for _, name, _ in named]
    measured = [(line, cells) for line, name, cells in named if column_of(name, {}).kind in MEASURED]
    others = {0, unit} | derived_in(raw)
    columns = [index for index in range(raw.width) if index not in others and _has_figures(measured, index)]
    if len(measured) < (1 if heads_rows(heading) else _LEAST) or not columns:
        return empty, []
    if not len({*names}) == len(names) < MOST_CELLS:
        return empty, [line for line, _ in measured]
    rows = [(raw.rows[0][0], [heading[index], *(cells[index] for *_, cells in named)]) for index in columns]
    of_columns = heading[0] if column_of(heading[0], {}).kind else ""  # else it says what rows are
    return replace(raw, header=[[of_columns, *names]], rows=rows), []


def derived_in(raw: RawTable) -> frozenset[int]:
    """Return which columns are made of the others, where rows say what figures are: shares, differences,
    deviations, ranks. All that they have is far smaller than what the first one has, rates and latencies:
    what does less takes longer.
    """
    rows = [
        (column_of(name, {}).kind in LATENCIES, [plain_number(cell) for cell in cells])
        for _, name, cells in _named(raw, 0)
        if column_of(name, {}).kind in MEASURED
    ]
    found: dict[int, list[tuple[bool, float]]] = {}
    for takes, numbers in rows:
        known = [(index, number) for index, number in enumerate(numbers) if index and number is not None]
        for index, number in known[1:]:
            if 0 < known[0][1] < math.inf:
                found.setdefault(index, []).append((takes, number / known[0][1]))
    return frozenset(
        index
        for index, shares in found.items()
        if max(share for _, share in shares)
        < (_SMALLER if len({takes for takes, _ in shares}) > 1 else _TINY)
    )


def _named(raw: RawTable, unit: int) -> Iterator[tuple[int, str, Sequence[str]]]:
    """Yield the line of each row of figures with its name in full, and its cells, filled up to the table's
    width.
    """
    groups = [*reversed(raw.groups)]
    group = ""
    for line, cells in raw.rows:
        while groups and groups[-1][0] < line:
            _, group = groups.pop()
        if is_group(cells):
            group = cells[0]
            continue
        cells = [*cells, *[""] * (raw.width - len(cells))]
        behind = f"({cells[unit]})" if unit and cells[unit] else _unit_borne(cells)
        yield line, " ".join(filter(None, [group, cells[0], behind]))[:LONGEST_CELL], cells


def _unit_borne(cells: Sequence[str]) -> str:
    """Return the unit that the cells of a row bear whose name has a direction alone; empty if it has not, or
    they bear units of several kinds.
    """
    name = column_of(cells[0], {})
    borne = [unit_of(cell) for cell in cells[1:] if bears_figure(cell)]
    if name.kind or not name.direction or not borne or len({named and named[0] for named in borne}) > 1:
        return ""
    kind, unit = borne[0] or ("", "")
    return "IOPS" if kind == "iops" else f"({unit})" if unit else ""


def _has_figures(rows: Sequence[tuple[int, Sequence[str]]], index: int) -> bool:
    return 2 * sum(bears_figure(cells[index]) for _, cells in rows) >= len(rows)
