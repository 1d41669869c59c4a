"""Lines of a table that head what is below them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from iogate.offline.published.cells import ABSENT
from iogate.offline.published.columns import heads_figures
from iogate.offline.published.forms import SPACED, Form, cut
from iogate.offline.published.raw_table import MOST_CELLS

DOUBLE = re.compile(r"(\d+ ?[km]i?b?)\s*\(IOPS\)", re.IGNORECASE)
"""A block size, below which bandwidth and IOPS stand in one cell."""
OF_ROWS = re.compile(r"metrics?|parameters?|measure(?:ment)?s?|statistics?|stats?", re.IGNORECASE)
"""The heading of names, by which rows say what figures are."""


def headings_in(line: str, form: Form) -> list[str]:
    """Return the cells of a line of headings of figures; none if it is something else, as YAML or prose."""
    cells = cut(form.split(line), 0)
    if any(cell.endswith(":") for cell in cells):
        return []
    heads = heads_figures(cells) or (form is not SPACED and heads_rows(cells))
    return cells if 2 <= len(cells) <= MOST_CELLS and heads else []


def heads_rows(cells: Sequence[str]) -> bool:
    """Return whether cells are headings of a table whose rows say what figures are."""
    return bool(cells) and OF_ROWS.fullmatch(cells[0]) is not None


def is_group(cells: Sequence[str]) -> bool:
    """Return whether a row is the name of those below it."""
    return bool(cells[0]) and not any(cells[1:])


def are_double(headings: Sequence[str]) -> bool:
    """Return whether two figures stand in a cell below one of these headings: they are those of a table, or
    of another one within it.
    """
    return any(map(DOUBLE.fullmatch, headings))


def repeats(cells: Sequence[str], header: Sequence[Sequence[str]]) -> bool:
    """Return whether cells are headings that are repeated among the rows, in full or with marks for some."""
    if not header or len(cells) != len(header[0]) or not any(cells):
        return False
    return all(
        cell.lower() == heading.lower() or (index and ABSENT.fullmatch(cell))
        for index, (cell, heading) in enumerate(zip(cells, header[0], strict=True))
    )
