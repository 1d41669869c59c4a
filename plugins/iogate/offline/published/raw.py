"""Tables as they stand in a text: with pipes, in frames, with tabs, commas, semicolons, or in columns of
blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from iogate.offline.published.cells import is_figure, starts_number
from iogate.offline.published.columns import begins_figure, names_figures
from iogate.offline.published.forms import (
    LONGEST_CELL,
    LONGEST_LINE,
    PIPES,
    TABS,
    UNSURE,
    Form,
    cut,
    is_rule,
    sure_form,
)
from iogate.offline.published.line_roles import Role, is_aside, is_comment, is_failed, role_of
from iogate.offline.published.lines import Lines
from iogate.offline.published.raw_headings import OF_ROWS, headings_in, heads_rows, is_group, repeats
from iogate.offline.published.raw_table import MOST_CELLS, RawTable

_MOST_HEADINGS = 16  # lines of them, with tabs
_BEARS_RATE = re.compile(r"\d[\d.,]{0,15} ?[km]? ?(?:iops\b|[kmg]?i?b/s)", re.IGNORECASE)
_FEWEST_NAMED = 2  # rows that say what figures are, so that a line above them heads them
_HEADING = re.compile(
    rf"iops|\bbw\b|bandwidth|throughput|lat|read|write|B/s|\(|^\W*(?:{OF_ROWS.pattern})\b", re.IGNORECASE
)


def raw_tables(lines: Lines) -> Iterator[RawTable]:
    """Yield the tables in a text's lines, in their order."""
    above: dict[Form, RawTable] = {}
    vain: dict[tuple[Form, int], int] = {}
    title, number = "", 1
    while number <= len(lines.texts):
        line = lines.texts[number - 1]
        if found := _begun(lines, number, title, above, vain):
            table, number = found
            if table.form:
                above[table.form] = table
            yield table
            title = ""  # it belongs to this table only
            continue
        if line.lstrip().startswith("```"):
            title = ""  # what stands within a fence is no title
        elif not sure_form(line) and re.match(r"\W*\w", line):
            title = line.strip()[:LONGEST_CELL]
        number += 1


def _begun(
    lines: Lines,
    number: int,
    title: str,
    above: Mapping[Form, RawTable],
    vain: dict[tuple[Form, int], int],
) -> tuple[RawTable, int] | None:
    """Return the table that begins in this line, with the number of the first line behind it; None if none
    does.

    In `vain` is remembered, by form and width, up to which line there are no rows: other headings of that
    form and width, amid the lines that were passed over, would find none either.
    """
    line = lines.texts[number - 1]
    if not line.strip() or is_rule(line):
        return None
    if form := sure_form(line):
        table = RawTable(number, title, form)
        if _may_go_on(lines, number, form.split(line), above.get(form)):
            return None
        return table, _read_rows(lines, _read_header(lines, table, form), table)
    if len(line) > LONGEST_LINE:
        return None
    heads = _HEADING.search(line) is not None
    for form in UNSURE:
        header = _with_index(headings_in(line, form), lines, number, form) if heads else []
        header = header or _headings_of_named(lines, number, form)
        if header and number >= vain.get((form, len(header)), 0):
            table = RawTable(number, title, form, [header])
            behind = _read_rows(lines, number + 1, table)
            if any(starts_number(cell) for _, cells in table.rows for cell in cells[1:]):
                return table, behind
            vain[form, len(header)] = behind
    return None


def _may_go_on(lines: Lines, number: int, cells: Sequence[str], above: RawTable | None) -> bool:
    """Return whether a line with pipes, or tabs, may be a row of the table above, so that it begins none."""
    if above is None or number in lines.heads or repeats(cells, above.header):
        return False
    if len(cells) > above.width and not starts_number(cells[0]):
        return False
    return (
        is_group(cells)
        or (any(map(starts_number, cells[1:])) and not names_figures(cells[0]))
        or is_failed(cells, above)
    )


def _read_header(lines: Lines, table: RawTable, form: Form) -> int:
    """Read the headings of a table with pipes, which are one line, or with tabs, which are those without
    figures; return the number of the line behind them.
    """
    number = table.line
    while number <= len(lines.texts) and sure_form(lines.texts[number - 1]) is form:
        cells = form.split(lines.texts[number - 1])
        if form is TABS and (any(map(begins_figure, cells[1:])) or len(table.header) == _MOST_HEADINGS):
            break
        if table.header and heads_rows(table.header[0]):
            break
        number += 1
        if len(cells) == 1 and form is PIPES and not table.header:
            table.title = cells[0]  # of a frame
            number += number <= len(lines.texts) and is_rule(lines.texts[number - 1])
            continue
        table.header.append(cells)
        if form is PIPES:
            break
    return number


def _read_rows(lines: Lines, number: int, table: RawTable) -> int:
    """Read the rows of a table from a line on, and return the number of the one behind the last; where there
    are none, and it was not sure that it is a table, of the one that none can be above.

    Blank lines, rules, comments and names of groups among them are passed over, and what else is like a row;
    anything else ends a table, and so does whatever says of what figures are: those below may be of
    something else.
    """
    gap, behind, ended = False, number, len(lines.texts) + 1
    assert table.form
    for index in range(number, len(lines.texts) + 1):
        line = lines.texts[index - 1]
        if index in lines.joined:
            continue
        if not line.strip():
            gap = True
        elif is_rule(line):
            gap = gap or is_rule(lines.texts[index - 2])
        elif sure_form(line) is not (table.form if table.form.sure else None):
            if not (is_comment(line, table.form) and is_aside(line, table)):
                ended = index
                break
            gap = True
        else:
            cells = cut(table.form.split(line), max(1, table.width))
            role = role_of(lines, index, cells, table, gap)
            if role is Role.END:
                ended = index
                break
            if role is Role.ROW:
                table.rows.append((index, cells))
            elif table.form.sure and is_group(cells):
                table.groups.append((index, cells[0]))
            if role is Role.ROW or table.form.sure:
                gap, behind = False, index + 1
    return behind if table.rows or table.form.sure else ended


def _headings_of_named(lines: Lines, number: int, form: Form) -> list[str]:
    """Return the cells of a line above rows that say what their figures are, or whose cells do, whatever it
    is; none of another one.
    """
    cells = cut(form.split(lines.texts[number - 1]), 0)
    if not 2 <= len(cells) <= MOST_CELLS or any(map(is_figure, cells[1:])):
        return []
    below = [form.split(line[:LONGEST_LINE]) for line in lines.texts[number : number + _FEWEST_NAMED]]
    if len(below) < _FEWEST_NAMED or any(len(row) != len(cells) for row in below):
        return []
    named = all(all(map(is_figure, row[1:])) and names_figures(row[0]) for row in below)
    return cells if named or all(any(map(_BEARS_RATE.match, row[1:])) for row in below) else []


def _with_index(header: list[str], lines: Lines, number: int, form: Form) -> list[str]:
    """Return headings with an empty one first, if the rows have an index that has none, as pandas and R print
    it: there is a cell more in the row below, which begins further to the left.
    """
    line, below = lines.texts[number - 1], next(filter(str.strip, lines.texts[number : number + 2]), "")
    indented = len(line) - len(line.lstrip(" ")) > len(below) - len(below.lstrip(" "))
    return ["", *header] if header and indented and len(form.split(below)) == len(header) + 1 else header
