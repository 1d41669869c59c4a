"""Tables as they stand in a text: with pipes, in frames, with tabs, commas, semicolons, or in columns of
blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from iogate.offline.published.cells import ABSENT, bears_figure, is_figure, starts_number
from iogate.offline.published.columns import begins_figure, heads_figures, names_figures
from iogate.offline.published.forms import (
    LONGEST_CELL,
    LONGEST_LINE,
    PIPES,
    SPACED,
    TABS,
    UNSURE,
    Form,
    cut,
    is_rule,
    sure_form,
)
from iogate.offline.published.lines import Lines

MOST_CELLS = 256
_MOST_HEADINGS = 16  # lines of them, with tabs
DOUBLE = re.compile(r"(\d+ ?[km]i?b?)\s*\(IOPS\)", re.IGNORECASE)
"""A block size, below which bandwidth and IOPS stand in one cell."""
_FAILED = re.compile(  # or what is nearly a figure: `<1`, `~1000`
    rf"{ABSENT.pattern}|nan|inf|fail\w*|err(?:ors?)?|timed?[ -]?outs?|oom|skip\w*|crash\w*|kill\w*|abort\w*"
    r"|hung|unsupported|not \w{1,20}|tbd|todo|[<>~≈≤≥]\s?\d.{0,20}",
    re.IGNORECASE,
)
_BEARS_RATE = re.compile(r"\d[\d.,]{0,15} ?[km]? ?(?:iops\b|[kmg]?i?b/s)", re.IGNORECASE)
_LOOKED_AT = 8  # rows above
_FEWEST_NAMED = 2  # rows that say what figures are, so that a line above them heads them
_OF_ROWS = re.compile(r"metrics?|parameters?|measure(?:ment)?s?|statistics?|stats?", re.IGNORECASE)
"""The heading of names, by which rows say what figures are."""
_HEADING = re.compile(
    rf"iops|\bbw\b|bandwidth|throughput|lat|read|write|B/s|\(|^\W*(?:{_OF_ROWS.pattern})\b", re.IGNORECASE
)


@dataclass
class RawTable:
    """A table as it stands: header lines and rows of cells, each row with its line number, as has each name
    of a group of rows; `form` is None where tags, and no lines, say what its cells are.
    """

    line: int
    title: str
    form: Form | None = None
    header: list[list[str]] = field(default_factory=list)
    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    groups: list[tuple[int, str]] = field(default_factory=list)

    @property
    def width(self) -> int:
        """The cells of its longest header line, or of its first row."""
        return max(map(len, self.header), default=len(self.rows[0][1]) if self.rows else 0)


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


def is_failed(cells: Sequence[str], table: RawTable) -> bool:
    """Return whether cells are those of a row of the table that has no figures, as of a run that failed: it
    says so where those above it have theirs, or the same in each cell, or begins with a number, and says so
    in one or those above it begin with numbers, too; and it names no figures.
    """
    if len(cells) != table.width or len(cells) < 2 or any(map(names_figures, cells[1:])):
        return False
    if _begins_as_headings(cells, table):
        return False
    if all(map(_FAILED.fullmatch, cells[1:])) or len({*map(str.lower, cells[1:])}) == 1 < len(cells) - 1:
        return True
    rows = table.rows[-_LOOKED_AT:]
    of_figures = [
        index
        for index in range(1, len(cells))
        if any(starts_number(row[index]) for _, row in rows if index < len(row))
    ]
    if of_figures and all(_FAILED.fullmatch(cells[index]) for index in of_figures):
        return True
    alike = bool(rows) and all(starts_number(row[0]) for _, row in rows)
    return says_failed(cells) or (alike and starts_number(cells[0]))


def _begins_as_headings(cells: Sequence[str], table: RawTable) -> bool:
    """Return whether cells begin as the table's headings do, and may be those of another one."""
    return bool(cells[0] and table.header) and cells[0] == table.header[0][0]


def says_failed(cells: Sequence[str]) -> bool:
    """Return whether cells begin with a number, and one of them says that there is no figure."""
    return starts_number(cells[0]) and any(map(_FAILED.fullmatch, cells[1:]))


def is_nearly_row(cells: Sequence[str], table: RawTable) -> bool:
    """Return whether cells are like a row of figures, of which some are lacking, or too many."""
    return len(cells) >= table.width / 2 and sum(map(is_figure, cells)) >= len(cells) / 2 > 0


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
        header = _with_index(_headings(line, form), lines, number, form) if heads else []
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
            if not (is_comment(line, table.form) and _is_aside(line, table)):
                ended = index
                break
            gap = True
        else:
            cells = cut(table.form.split(line), max(1, table.width))
            role = (_role_when_sure if table.form.sure else _role)(lines, index, cells, table, gap)
            if role == "end":
                ended = index
                break
            if role == "row":
                table.rows.append((index, cells))
            elif table.form.sure and is_group(cells):
                table.groups.append((index, cells[0]))
            if role == "row" or table.form.sure:
                gap, behind = False, index + 1
    return behind if table.rows or table.form.sure else ended


def _role_when_sure(lines: Lines, number: int, cells: Sequence[str], table: RawTable, gap: bool) -> str:
    """Return what a line with pipes, or tabs, is to the table above: a `row`, the `end`, or nothing."""
    if are_double(cells) and not gap:
        return "row"
    if repeats(cells, table.header):
        return "end" if gap and number in lines.heads else ""
    if is_group(cells):
        return "end" if names_figures(cells[0]) else ""
    if table.header and not any(map(begins_figure, cells)):
        named = sum(map(names_figures, cells[1:])) if _has_figures(table) else 0
        if cells[0] == table.header[0][0] or named > 1 or 0 < named == len(cells) - 1:
            return "end"  # other headings
    if not gap:
        return "" if len(cells) > table.width and table.form is PIPES else "row"
    if number in lines.heads or len(cells) > table.width:
        return "end"
    if is_failed(cells, table):
        return "row"
    if any(map(starts_number, cells[1:])):
        return "end" if names_figures(cells[0]) else "row"
    return "" if all(map(ABSENT.fullmatch, cells[1:])) else "end"


def _has_figures(table: RawTable) -> bool:
    """Return whether most of a row is figures, of those read last."""
    return any(2 * sum(map(is_figure, cells[1:])) >= len(cells) - 1 for _, cells in table.rows[-_LOOKED_AT:])


def _role(lines: Lines, number: int, cells: Sequence[str], table: RawTable, gap: bool) -> str:
    """Return what a line without pipes and tabs is to the table above: a `row`, the `end`, or nothing."""
    line = lines.texts[number - 1]
    width, figures = table.width, sum(map(starts_number, cells[1:]))
    if table.form is SPACED:
        failed = sum(map(bool, map(_FAILED.fullmatch, cells[1:]))) if figures else 0
        known = figures + failed >= width / 2 or is_failed(cells, table)
        return "row" if len(cells) == width and known and not gap else "end"
    of_rows = heads_rows(table.header[0])
    if of_rows and any(names_figures(cell) and not bears_figure(cell) for cell in cells[1:]):
        return "end"  # headings of another table
    figures = figures or sum(map(bears_figure, cells[1:]))
    if len(cells) == width and (of_rows or figures or is_failed(cells, table)):
        return "row"
    said = [cell.lower() for cell in cells if cell]
    alike = len({*said}) < len(said) and not _begins_as_headings(cells, table)  # which headings are not
    if len(cells) == width and alike and not gap and _has_figures(table) and not heads_figures(cells):
        return "row"  # of a run that failed, in whatever words
    if is_nearly_row(cells, table):
        return ""
    if is_comment(line, table.form):
        return "" if _is_aside(line, table) else "end"
    named = len(cells) == width and all(map(ABSENT.fullmatch, cells[1:])) and not names_figures(cells[0])
    return "" if named else "end"


def _headings(line: str, form: Form) -> list[str]:
    """Return the cells of a line of headings of figures; none if it is something else, as YAML or prose."""
    cells = cut(form.split(line), 0)
    if any(cell.endswith(":") for cell in cells):
        return []
    heads = heads_figures(cells) or (form is not SPACED and heads_rows(cells))
    return cells if 2 <= len(cells) <= MOST_CELLS and heads else []


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


def heads_rows(cells: Sequence[str]) -> bool:
    """Return whether cells are headings of a table whose rows say what figures are."""
    return bool(cells) and _OF_ROWS.fullmatch(cells[0]) is not None


def _with_index(header: list[str], lines: Lines, number: int, form: Form) -> list[str]:
    """Return headings with an empty one first, if the rows have an index that has none, as pandas and R print
    it: there is a cell more in the row below, which begins further to the left.
    """
    line, below = lines.texts[number - 1], next(filter(str.strip, lines.texts[number : number + 2]), "")
    indented = len(line) - len(line.lstrip(" ")) > len(below) - len(below.lstrip(" "))
    return ["", *header] if header and indented and len(form.split(below)) == len(header) + 1 else header


def is_comment(line: str, form: Form | None) -> bool:
    """Return whether a line is a comment amid a table; between pipes `#` begins a heading of Markdown."""
    text = line.strip()
    if text.startswith("<!--") and text.endswith("-->"):
        return True
    return form is not PIPES and text.startswith(("#", "//"))


def _is_aside(line: str, table: RawTable) -> bool:
    """Return whether a comment says nothing of what figures are, and heads none."""
    assert table.form
    cells = table.form.split(line)
    return not (
        len(cells) == table.width > 2 or names_figures(line[:LONGEST_CELL]) or _headings(line, table.form)
    )


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
