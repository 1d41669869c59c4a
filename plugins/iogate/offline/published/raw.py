"""Tables as they stand in a text: with pipes, in frames, with tabs, commas, semicolons, or in columns of
blanks.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from iogate.offline.published.columns import heads_figures, names_figures

LONGEST_CELL = 200
MOST_CELLS = 256
_LONGEST_LINE = 20_000
_MOST_HEADINGS = 16  # lines of them, with tabs
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
_LINK_OF_JIRA = re.compile(r"\[([^\[\]|]*)\|(?:[a-z]+:|[#^~/])[^\[\]|\s]*\]", re.IGNORECASE)
_QUOTED = re.compile(r'(?:^|[,;]) ?"[^"]*"(?= ?(?:[,;]|$))')  # cells of CSV
_PIPE = re.compile(r"(?<!\\)\|")  # none that is escaped, as Markdown and Jira have it
_EMPHASIS = re.compile(  # not between words, where a star multiplies
    r"</?(?:b|i|u|em|strong|code|mark)>|`+|~~|(?<![^\W_])[*_]+|[*_]+(?![^\W_])", re.IGNORECASE
)
DOUBLE = re.compile(r"(\d+ ?[km]i?b?)\s*\(IOPS\)", re.IGNORECASE)
"""A block size, below which bandwidth and IOPS stand in one cell."""
_FIGURE = re.compile(r"\d[\d.,]*\s?[^\s\d]\S{0,7}|\d[\d.,]*")
_ABSENT = re.compile(r"|n/?a|none|nil|[-–—~?.*x ]+", re.IGNORECASE)
_TABLES_ABOVE = 4  # in each form: of which what is not read may be a row
_RULE = frozenset(" \t:|>=-+")
_QUOTE = re.compile(r"[ \t]*(?:>[ \t]?)+")
_FRAMES = {
    **dict.fromkeys(range(0x2500, 0x2580), "+"),  # Unicode's block "Box Drawing": corners, where lines cross
    **dict.fromkeys(map(ord, "─━┄┅┈┉╌╍═╴╶╸╺"), "-"),
    **dict.fromkeys(map(ord, "│┃┆┇┊┋╎╏║╵╷╹╻"), "|"),
}
_CROSSED_RULE = frozenset(" +=|:-")
_HEADING = re.compile(r"iops|\bbw\b|bandwidth|throughput|lat|read|write|B/s|\(", re.IGNORECASE)
_JIRA = re.compile(r"\|\|(?:(?:[^|\\]|\\.)+\|\|)+")
"""A line of headings, as Jira and Confluence have it."""


@dataclass(frozen=True)
class Form:
    """How the cells of a line are separated. Where a separator is `sure`, as pipes and tabs are, any line of
    it is one of a table; other lines may be prose.
    """

    name: str
    split: Callable[[str], list[str]] = field(repr=False)
    sure: bool = False


@dataclass
class RawTable:
    """A table as it stands: header lines and rows of cells, each row with its line number; `form` is None
    where tags, and no lines, say what its cells are.
    """

    line: int
    title: str
    form: Form | None = None
    header: list[list[str]] = field(default_factory=list)
    rows: list[tuple[int, list[str]]] = field(default_factory=list)

    @property
    def width(self) -> int:
        """The cells of its longest header line, or of its first row."""
        return max(map(len, self.header), default=len(self.rows[0][1]) if self.rows else 0)


@dataclass(frozen=True)
class Lines:
    """The lines of a text, with frames as pipes and without marks of quotes, and the numbers of those that
    are marked as headings, by a rule below them or by their pipes.
    """

    texts: Sequence[str]
    heads: frozenset[int]


def plain(texts: Sequence[str]) -> Lines:
    """Return lines as they are read."""
    lines: list[str] = []
    heads: set[int] = set()
    block: list[int] = []
    of_jira = False
    for number, text in enumerate(texts, 1):
        line = text.translate(_FRAMES)
        if found := _QUOTE.match(line):
            line = line[found.end() :]
        if jira := _JIRA.fullmatch(line.strip()) is not None:
            line = line.replace("||", "|")
            heads.add(number)
        elif of_jira and line.lstrip().startswith("||"):  # a heading of a row
            line = line.replace("||", "|", 1)
        if _is_rule(line):
            if len(block) == 1 and ("|" in line or "+" in line):  # in a grid there are rules below rows, too
                heads.update(block)
            if lines and _is_rule(lines[-1]):  # the end of a frame, and the begin of the next one
                block = []
        elif line.count("|") >= 2:
            block.append(number)
        else:
            block = []
        of_jira = jira or (of_jira and bool(block))
        lines.append(line)
    return Lines(lines, frozenset(heads))


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
        elif not _sure_form(line) and re.match(r"\W*\w", line):
            title = line.strip()[:LONGEST_CELL]
        number += 1


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
        elif line.strip() and number not in read and not _is_rule(line):
            sure = _sure_form(line)
            for form in [sure] if sure else _UNSURE:
                cells = form.split(line)
                near = above.get(form, ())
                if near and _heads_others(lines, number, cells, near[0]):
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
    if table.line in lines.heads or not table.form or _is_comment(lines.texts[number - 1], table.form):
        return False
    if any(map(is_figure, cells[1:])) and not names_figures(cells[0]):
        return False
    if sum(not _ABSENT.fullmatch(cell) for cell in cells) < 2 or _repeats(cells, table.header):
        return False
    below = (line for line in lines.texts[number : number + 8] if line.strip() and not _is_rule(line))
    found = table.form.split(next(below, "")[:_LONGEST_LINE])
    return len(found) == len(cells) and any(map(is_figure, found[1:]))


def _is_like_rows(cells: Sequence[str], table: RawTable) -> bool:
    """Return whether cells are those of a row of figures, give or take some; words may be prose."""
    cells = _cut([*cells], table.width)
    figures = sum(map(is_figure, cells[1:]))
    if not figures or not table.form or _repeats(cells, table.header):
        return False
    if table.form.sure:
        return True
    if table.form is SPACED:
        known = sum(map(_is_known, cells[1:])) == len(cells) - 1
        return len(cells) == table.width and known and (len(cells) > 2 or starts_number(cells[0]))
    if len(cells) == table.width:
        return figures >= (len(cells) - 1) / 2
    return _is_nearly_row(cells, table)


def _is_nearly_row(cells: Sequence[str], table: RawTable) -> bool:
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
    if not line.strip() or _is_rule(line):
        return None
    if form := _sure_form(line):
        table = RawTable(number, title, form)
        if _may_go_on(lines, number, form.split(line), above.get(form)):
            return None
        return table, _read_rows(lines, _read_header(lines, table, form), table)
    if len(line) > _LONGEST_LINE or not _HEADING.search(line):
        return None
    for form in _UNSURE:
        header = _headings(line, form)
        if header and number >= vain.get((form, len(header)), 0):
            table = RawTable(number, title, form, [header])
            behind = _read_rows(lines, number + 1, table)
            if table.rows:
                return table, behind
            vain[form, len(header)] = behind
    return None


def _may_go_on(lines: Lines, number: int, cells: Sequence[str], above: RawTable | None) -> bool:
    """Return whether a line with pipes, or tabs, may be a row of the table above, so that it begins none."""
    if above is None or number in lines.heads or _repeats(cells, above.header):
        return False
    if len(cells) > above.width and not starts_number(cells[0]):
        return False
    return _is_group(cells) or (any(map(starts_number, cells[1:])) and not names_figures(cells[0]))


def _read_header(lines: Lines, table: RawTable, form: Form) -> int:
    """Read the headings of a table with pipes, which are one line, or with tabs, which are those without
    figures; return the number of the line behind them.
    """
    number = table.line
    while number <= len(lines.texts) and _sure_form(lines.texts[number - 1]) is form:
        cells = form.split(lines.texts[number - 1])
        if form is TABS and (any(map(starts_number, cells[1:])) or len(table.header) == _MOST_HEADINGS):
            break
        number += 1
        if len(cells) == 1 and form is PIPES and not table.header:
            table.title = cells[0]  # of a frame
            number += number <= len(lines.texts) and _is_rule(lines.texts[number - 1])
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
        if not line.strip():
            gap = True
        elif _is_rule(line):
            gap = gap or _is_rule(lines.texts[index - 2])
        elif _sure_form(line) is not (table.form if table.form.sure else None):
            if not (_is_comment(line, table.form) and _is_aside(line, table)):
                ended = index
                break
            gap = True
        else:
            cells = _cut(table.form.split(line), max(1, table.width))
            role = (_role_when_sure if table.form.sure else _role)(lines, index, cells, table, gap)
            if role == "end":
                ended = index
                break
            if role == "row":
                table.rows.append((index, cells))
            if role == "row" or table.form.sure:
                gap, behind = False, index + 1
    return behind if table.rows or table.form.sure else ended


def _role_when_sure(lines: Lines, number: int, cells: Sequence[str], table: RawTable, gap: bool) -> str:
    """Return what a line with pipes, or tabs, is to the table above: a `row`, the `end`, or nothing."""
    if are_double(cells) and not gap:
        return "row"
    if _repeats(cells, table.header):
        return "end" if gap and number in lines.heads else ""
    if _is_group(cells):
        return "end" if names_figures(cells[0]) else ""
    if table.header and cells[0] == table.header[0][0] and not any(map(starts_number, cells)):
        return "end"  # other headings
    if not gap:
        return "" if len(cells) > table.width and table.form is PIPES else "row"
    if number in lines.heads or len(cells) > table.width:
        return "end"
    if any(map(starts_number, cells[1:])):
        return "end" if names_figures(cells[0]) else "row"
    return "" if all(map(_ABSENT.fullmatch, cells[1:])) else "end"


def _role(lines: Lines, number: int, cells: Sequence[str], table: RawTable, gap: bool) -> str:
    """Return what a line without pipes and tabs is to the table above: a `row`, the `end`, or nothing."""
    line = lines.texts[number - 1]
    width, figures = table.width, sum(map(starts_number, cells[1:]))
    if table.form is SPACED:
        return "row" if len(cells) == width and figures >= width / 2 and not gap else "end"
    if len(cells) == width and figures:
        return "row"
    if _is_nearly_row(cells, table):
        return ""
    if _is_comment(line, table.form):
        return "" if _is_aside(line, table) else "end"
    named = len(cells) == width and all(map(_ABSENT.fullmatch, cells[1:])) and not names_figures(cells[0])
    return "" if named else "end"


def _headings(line: str, form: Form) -> list[str]:
    """Return the cells of a line of headings of figures; none if it is something else, as YAML or prose."""
    cells = _cut(form.split(line), 0)
    if any(cell.endswith(":") for cell in cells):
        return []
    return cells if 2 <= len(cells) <= MOST_CELLS and heads_figures(cells) else []


def _sure_form(line: str) -> Form | None:
    if line.count("|") >= 2 and _QUOTED.sub("", line).count("|") >= 2:
        return PIPES
    return TABS if "\t" in line.rstrip("\n") and line.strip() else None


def _is_rule(line: str) -> bool:
    return ("--" in line or "==" in line) and _RULE.issuperset(line)


def _is_comment(line: str, form: Form | None) -> bool:
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


def _is_group(cells: Sequence[str]) -> bool:
    """Return whether a row is the name of those below it."""
    return bool(cells[0]) and not any(cells[1:])


def are_double(headings: Sequence[str]) -> bool:
    """Return whether two figures stand in a cell below one of these headings: they are those of a table, or
    of another one within it.
    """
    return any(map(DOUBLE.fullmatch, headings))


def is_figure(cell: str) -> bool:
    """Return whether a cell is a figure with its unit at the most, and no words that begin with one."""
    return _FIGURE.fullmatch(cell) is not None


def _is_known(cell: str) -> bool:
    """Return whether a cell is a figure, or says that there is none."""
    return is_figure(cell) or _ABSENT.fullmatch(cell) is not None


def starts_number(cell: str) -> bool:
    """Return whether a cell begins as a figure does."""
    return cell[:1].isdigit()


def _repeats(cells: Sequence[str], header: Sequence[Sequence[str]]) -> bool:
    """Return whether cells are headings that are repeated among the rows, in full or with marks for some."""
    if not header or len(cells) != len(header[0]) or not any(cells):
        return False
    return all(
        cell.lower() == heading.lower() or (index and _ABSENT.fullmatch(cell))
        for index, (cell, heading) in enumerate(zip(cells, header[0], strict=True))
    )


def _cut(cells: list[str], width: int) -> list[str]:
    """Return cells without empty ones at the end that are beyond a width."""
    while len(cells) > width and not cells[-1]:
        cells.pop()
    return cells


def _with_pipes(line: str) -> list[str]:
    """Return what stands between pipes, without Markdown's emphasis; the last pipe closes a line that begins
    with one, and of others, as psql prints them, what is behind it may be empty.
    """
    line = line.strip()
    cells = _PIPE.split(_LINK_OF_JIRA.sub(r"\1", line.removeprefix("|")))
    if len(cells) > 1 and not cells[-1] and line.startswith("|"):
        cells.pop()
    return [_text(cell.strip()[:LONGEST_CELL]) for cell in cells]


def _text(cell: str) -> str:
    return _EMPHASIS.sub("", _LINK.sub(r"\1", cell)).strip().replace("\\|", "|")


def _with_tabs(line: str) -> list[str]:
    """Return what stands between tabs, without quotes as R sets them; the last cells may be empty."""
    return [cell.strip().strip('"')[:LONGEST_CELL] for cell in line.split("\t")]


def _separated_by(delimiter: str) -> Callable[[str], list[str]]:
    def split(line: str) -> list[str]:
        if delimiter not in line or len(line) > _LONGEST_LINE:
            return []
        try:
            found = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
        except csv.Error:
            return []
        return [cell.strip()[:LONGEST_CELL] for cell in found]

    return split


def _aligned(line: str) -> list[str]:
    """Return what stands between two blanks or more."""
    if len(line) > _LONGEST_LINE:
        return []
    return [cell[:LONGEST_CELL] for cell in re.split(r"(?<=\S) {2,}(?=\S)", line.strip())]


def _words(line: str) -> list[str]:
    return [cell[:LONGEST_CELL] for cell in line.split()] if len(line) <= _LONGEST_LINE else []


PIPES = Form("pipes", _with_pipes, sure=True)
TABS = Form("tabs", _with_tabs, sure=True)
SEMICOLONS = Form("semicolons", _separated_by(";"))
SPACED = Form("blanks", _words)
_UNSURE = (
    Form("commas", _separated_by(",")),
    SEMICOLONS,
    Form("columns", _aligned),
    SPACED,
)
