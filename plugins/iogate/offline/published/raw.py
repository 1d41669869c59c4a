"""Tables as they stand in a text: with pipes, in frames, with tabs, commas, semicolons, or in columns of
blanks.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from iogate.offline.published.columns import heads_figures, names_figures

LONGEST_CELL = 200
MOST_CELLS = 256
_LONGEST_LINE = 20_000
_PROSE = 3  # lines in a row that are no rows, behind which a table has ended
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
_EMPHASIS = re.compile(  # not between words, where a star multiplies
    r"</?(?:b|i|u|em|strong|code|mark)>|`+|~~|(?<![^\W_])[*_]+|[*_]+(?![^\W_])", re.IGNORECASE
)
DOUBLE = re.compile(r"(\d+ ?[km]i?b?)\s*\(IOPS\)", re.IGNORECASE)
"""A block size, below which bandwidth and IOPS stand in one cell."""
_FIGURE = re.compile(r"\d[\d.,]*\s?[^\s\d]\S{0,7}|\d[\d.,]*")
_RULE = frozenset(" \t:|>=-+")
_FRAMES = {
    **dict.fromkeys(range(0x2500, 0x2580), "+"),  # Unicode's block "Box Drawing": corners, where lines cross
    **dict.fromkeys(map(ord, "─━┄┅┈┉╌╍═╴╶╸╺"), "-"),
    **dict.fromkeys(map(ord, "│┃┆┇┊┋╎╏║╵╷╹╻"), "|"),
}
_CROSSED_RULE = frozenset(" +=|:-")
_HEADING = re.compile(r"iops|\bbw\b|bandwidth|throughput|lat|read|write|B/s|\(", re.IGNORECASE)
_JIRA = re.compile(r"\|\|(?:[^|]+\|\|)+")
"""A line of headings, as Jira and Confluence have it."""

_Split = Callable[[str], list[str]]


@dataclass
class RawTable:
    """A table as it stands: header lines and rows of cells, each row with its line number; and the lines of
    figures among them that have more or fewer cells, or a title of their own, so that nobody can tell what
    is below which heading.
    """

    line: int
    title: str
    header: list[list[str]] = field(default_factory=list)
    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    odd: list[tuple[int, str]] = field(default_factory=list)


def raw_tables(lines: Sequence[str]) -> Iterator[RawTable]:
    """Yield the tables in a text's lines. A blank line separates tables, where no rows go on behind it."""
    lines = [line.translate(_FRAMES) for line in lines]
    current: RawTable | None = None
    title, beyond, crossed, gap, before, of_jira, aside = "", 0, 0, False, "", False, ""
    other = False  # whether rows are below a title of their own
    for number, line in enumerate(lines, 1):
        if number <= beyond or (not line and not current):
            continue
        if "+" in line and ("--" in line or "==" in line) and _CROSSED_RULE.issuperset(line):
            gap = gap or crossed == number - 1  # the end of a frame, and the begin of the next one
            crossed = number
            continue
        if jira := _JIRA.fullmatch(line.strip()) is not None:
            line = line.replace("||", "|")
        elif of_jira and line.lstrip().startswith("||"):  # a heading of a row
            line = line.replace("||", "|", 1)
        of_jira = jira or (of_jira and line.count("|") >= 2)
        kind = "|" if line.count("|") >= 2 else "\t" if "\t" in line.rstrip("\n") and line.strip() else ""
        if not kind:
            if current and (not line.strip() or _is_aside(line, before)):
                gap, aside = True, line.strip() or aside
                continue
            if current:
                yield current
            current = None
            if found := _separated(lines, number, title):
                beyond = max(line for line, _ in (*found.rows, *found.odd))
                title = ""
                yield found
            elif line.lstrip().startswith("```"):
                title = ""  # what stands within a fence is no title
            elif re.match(r"\W*\w", line):
                title = line.strip()
            continue
        framed = line.strip().removeprefix("|").removesuffix("|")
        cells = _cells(framed if kind == "|" else line.rstrip(), kind)
        is_rule = _is_rule(line, kind)
        if current and gap and not is_rule:
            headed = jira or (number < len(lines) and _is_rule(lines[number], kind))
            if kind != before or headed or not _goes_on(cells, current, kind):
                yield current
                current, title = None, aside
            else:
                other = other or names_figures(aside)
        gap, aside = False, ""
        if current is None:
            current = RawTable(number, title)
            title, other = "", False  # it belongs to this table only
        before = kind
        if is_rule:
            continue
        if (
            kind == "|"
            and not current.rows
            and [len(one) for one in current.header] == [1]
            and len(cells) > 1
        ):
            ((current.title,),), current.header = current.header, []  # of a frame
        if (kind == "|" and not current.header) or (
            kind == "\t" and not current.rows and not any(map(starts_number, cells[1:]))
        ):
            current.header.append(cells)
        elif kind == "\t" or not _repeats(cells, current.header[0]) or are_double(cells):
            if _is_group(cells, kind):
                other = names_figures(cells[0])
            if other and any(map(starts_number, cells[1:])):
                current.odd.append((number, line))
            else:
                current.rows.append((number, cells))
    if current:
        yield current


def _is_rule(line: str, kind: str) -> bool:
    return kind == "|" and "--" in line and _RULE.issuperset(line.strip())


def _is_aside(line: str, kind: str) -> bool:
    """Return whether a line is a comment amid a table, of Markdown or with tabs."""
    text = line.strip()
    return (text.startswith("<!--") and text.endswith("-->")) or (kind == "\t" and _is_comment(text))


def _goes_on(cells: Sequence[str], table: RawTable, kind: str) -> bool:
    """Return whether a table goes on behind a gap: with figures, or the name of a group, as wide as it is,
    and no headings.
    """
    if len(cells) > max(map(len, table.header), default=0):
        return False
    if _is_group(cells, kind):
        return True
    return any(map(starts_number, cells[1:])) and not names_figures(cells[0])


def _is_group(cells: Sequence[str], kind: str) -> bool:
    """Return whether a row is the name of those below it; between pipes one cell alone is a frame's title."""
    return (len(cells) > 1 or kind == "\t") and bool(cells[0]) and not any(cells[1:])


def are_double(headings: Sequence[str]) -> bool:
    """Return whether two figures stand in a cell below one of these headings: they are those of a table, or
    of another one within it.
    """
    return any(map(DOUBLE.fullmatch, headings))


def _is_figure(cell: str) -> bool:
    """Return whether a cell is a figure with its unit at the most, and no words that begin with one."""
    return _FIGURE.fullmatch(cell) is not None


def starts_number(cell: str) -> bool:
    """Return whether a cell begins as a figure does."""
    return cell[:1].isdigit()


def _separated(lines: Sequence[str], number: int, title: str) -> RawTable | None:
    """Return the table whose headings are in this line, separated by commas, semicolons or blanks, with rows
    of as many cells below; None if there is none.
    """
    line = lines[number - 1]
    if not _may_head(line):
        return None
    for split in _SPLITS:
        if header := _headings(line, split):
            found = RawTable(number, title, [header])
            for index, text, cells in _rows(lines, number, split, len(header)):
                if cells:
                    found.rows.append((index, cells))
                else:
                    found.odd.append((index, text))
            if found.rows:
                return found
    return None


def _may_head(line: str) -> bool:
    return len(line) <= _LONGEST_LINE and _HEADING.search(line) is not None


def _headings(line: str, split: _Split) -> list[str]:
    """Return the cells of a line of headings of figures; none if it is something else, as YAML or prose."""
    cells = split(line)
    while cells and not cells[-1]:
        cells.pop()
    if any(cell.endswith(":") for cell in cells):
        return []
    return cells if 2 <= len(cells) <= MOST_CELLS and heads_figures(cells) else []


def _rows(
    lines: Sequence[str], number: int, split: _Split, width: int
) -> Iterator[tuple[int, str, list[str]]]:
    """Yield the lines of figures below one of headings, each with its number and its cells: as many as there
    are headings, else none. What stands between them and heads no other table is passed over: rules, blank
    lines, comments, and names of groups. Rows below a title of their own may be of something else.
    """
    blank, titled, prose = False, False, 0
    for index in range(number, len(lines)):
        line = lines[index]
        if not line.strip():
            blank = True
            continue
        if _RULE.issuperset(line.strip()):
            continue
        if line.count("|") >= 2:  # of a table with pipes
            return
        cells = split(line) if len(line) <= _LONGEST_LINE else []
        while len(cells) > width and not cells[-1]:
            cells.pop()
        figures = sum(map(starts_number, cells[1:]))
        words = split is _spaced
        if len(cells) == width and figures and not (words and (blank or figures < width / 2)):
            yield index + 1, line, [] if titled else cells
            prose = 0
        elif words:
            return
        elif len(cells) >= width / 2 and sum(map(_is_figure, cells)) >= len(cells) / 2 > 0:
            yield index + 1, line, []
        elif _is_comment(line) and not _headings(line, split):
            titled |= (len(cells) == width > 2) or names_figures(line)  # they may be headings
        elif _heads_another(line, cells, split, width):
            return
        elif len(cells) == width:
            titled |= names_figures(cells[0])
        else:
            titled, prose = True, prose + 1
            if prose == _PROSE:
                return
        blank = False


def _heads_another(line: str, cells: Sequence[str], split: _Split, width: int) -> bool:
    """Return whether a line without figures heads another table, in whatever form; mere words are a title."""
    if "\t" in line or (len(cells) >= max(2, width / 2) and sum(map(bool, cells)) > 1):
        return True
    return any(_headings(line, another) for another in _SPLITS if another not in (split, _spaced))


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith(("#", "//"))


def _cells(line: str, separator: str) -> list[str]:
    """Return the cells of a line, without Markdown's emphasis between pipes; one that is too long to be a
    figure or a name is cut.
    """
    cells = [cell.strip()[:LONGEST_CELL] for cell in line.split(separator)]
    if separator == "|":
        cells = [_EMPHASIS.sub("", _LINK.sub(r"\1", cell)).strip() for cell in cells]
    return cells


def _comma_separated(delimiter: str) -> _Split:
    def split(line: str) -> list[str]:
        if delimiter not in line:
            return []
        try:
            found = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
        except csv.Error:
            return []
        return [cell.strip()[:LONGEST_CELL] for cell in found]

    return split


def _aligned(line: str) -> list[str]:
    """Return what stands between two blanks or more."""
    return [cell[:LONGEST_CELL] for cell in re.split(r"(?<=\S) {2,}(?=\S)", line.strip())]


def _spaced(line: str) -> list[str]:
    """Return words."""
    return [cell[:LONGEST_CELL] for cell in line.split()]


_SPLITS: tuple[_Split, ...] = (_comma_separated(","), _comma_separated(";"), _aligned, _spaced)


def _repeats(cells: Sequence[str], headings: Sequence[str]) -> bool:
    """Return whether cells are headings that are repeated among the rows, known by the first of them."""
    first = cells[0] if cells else ""
    return bool(first) and not starts_number(first) and first.lower() == headings[0].lower()
