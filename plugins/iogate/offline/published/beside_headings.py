"""What the title of a table, or the cells of a column, say of figures where the column's heading does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from iogate.offline.published.cells import PER_SECOND, quantities, starts_number, unit_in
from iogate.offline.published.columns import Column, column_of
from iogate.offline.published.headings import MEASURED, kind_in


def of_title(column: Column, title: str, cells: Sequence[str]) -> Column:
    """Return a column of a direction alone with the kind and unit that the title names, or else all cells,
    and where these bear units of another kind.
    """
    if column.kind or not column.direction:
        return column
    borne = {named[0] if named else "" for named in _borne(cells)}
    kind, unit = unit_in(title.rpartition(" ")[2]) or unit_in(title) or (kind_in(title.lower()), "")
    if kind and borne <= {"", kind}:
        return replace(column, kind=kind, unit=unit) if kind in MEASURED else column
    return replace(column, kind=borne.pop()) if len(borne) == 1 else column


def of_row(column: Column, cell: str) -> Column:
    """Return a column of a direction alone with the kind that one of its cells bears."""
    named = unit_of(cell)
    return replace(column, kind=named[0]) if named else column


def of_cells(column: Column, cells: Sequence[str]) -> Column:
    """Return a column whose heading names no kind as if it had the unit that all its figures bear: `p99` over
    `510us` is `p99 (us)`. It is `unknown` if most of them bear units, of several kinds.
    """
    if column.kind or column.direction or column.unknown:
        return column
    borne = _borne(cells)
    known = [named for named in borne if named]
    if 2 * len(known) <= len(borne):
        return column
    if len(known) < len(borne) or len({kind for kind, _ in known}) > 1:
        return replace(column, unknown=True)
    ((_, unit), _), *_ = Counter(known).most_common(1)
    found = column_of(f"{column.header} {unit if unit == 'IOPS' else f'({unit})'}".strip(), {})
    return replace(found, header=column.header) if found.kind in MEASURED else column


def bear_rates(cells: Sequence[str]) -> bool:
    """Return whether most figures bear units, some of them units of rates."""
    known = [named[0] for named in _borne(cells) if named]
    return 2 * len(known) > len(_borne(cells)) and {*known} != {"lat"}


def _borne(cells: Sequence[str]) -> list[tuple[str, str] | None]:
    """Return the kind and unit of each figure that bears its unit; None for another one."""
    return [unit_of(cell) for cell in cells if starts_number(cell)]


def unit_of(cell: str) -> tuple[str, str] | None:
    """Return the kind and unit that a figure bears; None for another one."""
    for kind in ("bandwidth", "lat"):
        if found := quantities(cell, kind, "", ""):
            return kind, found[0].unit
    return ("iops", "IOPS") if PER_SECOND.search(cell) and quantities(cell, "iops", "", "") else None
