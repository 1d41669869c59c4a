"""An account of what looks like rows of tables and was not read as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iogate.offline.published.cells import ABSENT, is_figure, starts_number
from iogate.offline.published.columns import names_figures
from iogate.offline.published.forms import LONGEST_LINE, SPACED, UNSURE, Form, cut, is_rule, sure_form
from iogate.offline.published.line_roles import is_comment, is_failed, is_nearly_row, says_failed
from iogate.offline.published.lines import Lines
from iogate.offline.published.raw_headings import repeats
from iogate.offline.published.raw_table import RawTable

_TABLES_ABOVE = 4  # in each form: of which what is not read may be a row


def left_out(lines: Lines, tables: Sequence[RawTable]) -> Iterator[tuple[RawTable, int, str]]:
    """Yield the lines that look like rows of a table above and are none of its rows, nor of another one of
    these tables, each with its number: they have more or fewer cells, or something else is between.

    It knows nothing of how rows are found, so that whatever is not read is told.
    """
    begun = {table.line: table for table in tables}
    read = {number for table in tables for number, _ in table.rows}
    above: dict[Form, list[RawTable]] = {}
    others: dict[Form, int] = {}  # the cells of a row of something else below them
    for number, line in enumerate(lines.texts, 1):
        if (table := begun.get(number)) and table.form:
            above[table.form] = [table, *above.get(table.form, ())][:_TABLES_ABOVE]
            others.pop(table.form, None)
        elif line.strip() and number not in read and not is_rule(line):
            sure = sure_form(line)
            for form in [sure] if sure else UNSURE:
                cells = form.split(line)
                near = above.get(form, ())
                failed = any(is_failed(cells, one) for one in near)
                if near and not failed and _heads_others(lines, number, cells, near[0]):
                    others[form] = len(cells)
                    continue
                found = next((one for one in near if _is_like_rows(cells, one)), None)
                if found and len(cells) != others.get(form):
                    yield found, number, line
                    break


def _heads_others(lines: Lines, number: int, cells: Sequence[str], table: RawTable) -> bool:
    """Return whether a line heads rows of something else: by its marks, or as it stands above figures."""
    if number in lines.heads or len(cells) < 2:
        return number in lines.heads
    if table.line in lines.heads or not table.form or is_comment(lines.texts[number - 1], table.form):
        return False
    if (any(map(is_figure, cells[1:])) and not names_figures(cells[0])) or says_failed(cells):
        return False
    if sum(not ABSENT.fullmatch(cell) for cell in cells) < 2 or repeats(cells, table.header):
        return False
    below = (line for line in lines.texts[number : number + 8] if line.strip() and not is_rule(line))
    found = table.form.split(next(below, "")[:LONGEST_LINE])
    return len(found) == len(cells) and any(map(is_figure, found[1:]))


def _is_like_rows(cells: Sequence[str], table: RawTable) -> bool:
    """Return whether cells are those of a row of figures, give or take some; words may be prose."""
    cells = cut([*cells], table.width)
    figures = sum(map(is_figure, cells[1:]))
    if not figures or not table.form or repeats(cells, table.header):
        return False
    if table.form.sure:
        return True
    if table.form is SPACED:
        known = sum(map(_is_known, cells[1:])) == len(cells) - 1
        return len(cells) == table.width and known and (len(cells) > 2 or starts_number(cells[0]))
    if len(cells) == table.width:
        return figures >= (len(cells) - 1) / 2
    return is_nearly_row(cells, table)


def _is_known(cell: str) -> bool:
    """Return whether a cell is a figure, or says that there is none."""
    return is_figure(cell) or ABSENT.fullmatch(cell) is not None
