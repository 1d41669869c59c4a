"""What a line is to the table above it: one of its rows, its end, or an aside."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum, auto

from iogate.offline.published.cells import ABSENT, bears_figure, is_figure, starts_number
from iogate.offline.published.columns import begins_figure, heads_figures, names_figures
from iogate.offline.published.forms import LONGEST_CELL, PIPES, SPACED, Form
from iogate.offline.published.lines import Lines
from iogate.offline.published.raw_headings import are_double, headings_in, heads_rows, is_group, repeats
from iogate.offline.published.raw_table import RawTable

_FAILED = re.compile(  # or what is nearly a figure: `<1`, `~1000`
    rf"{ABSENT.pattern}|nan|inf|fail\w*|err(?:ors?)?|timed?[ -]?outs?|oom|skip\w*|crash\w*|kill\w*|abort\w*"
    r"|cancel\w*|hung|unsupported|not \w{1,20}|tbd|todo|[<>~≈≤≥]\s?\d.{0,20}",
    re.IGNORECASE,
)
_ENDED = re.compile(r"cancel\w*|abort\w*|crash\w*|killed|hung|oom|timed[ -]?out", re.IGNORECASE)
"""What is said of a run, and heads no column, as `failed` and `errors` may."""
_LOOKED_AT = 8  # rows above


class Role(Enum):
    """What a line is to a table: an aside is passed over, and those below it may be rows again."""

    ROW = auto()
    END = auto()
    ASIDE = auto()


def role_of(lines: Lines, number: int, cells: Sequence[str], table: RawTable, gap: bool) -> Role:
    """Return what a line of a table's form is to the table above; `gap` if something stands between them."""
    role = _role_when_sure if table.form and table.form.sure else _role_when_unsure
    return role(lines, number, cells, table, gap)


def _role_when_sure(lines: Lines, number: int, cells: Sequence[str], table: RawTable, gap: bool) -> Role:
    """Return what a line with pipes, or tabs, is to the table above: a row, the end, or an aside."""
    if are_double(cells) and not gap:
        return Role.ROW
    if repeats(cells, table.header):
        return Role.END if gap and number in lines.heads else Role.ASIDE
    if is_group(cells):
        return Role.END if names_figures(cells[0]) else Role.ASIDE
    if table.header and not any(map(begins_figure, cells)):
        named = sum(map(names_figures, cells[1:])) if _has_figures(table) else 0
        if cells[0] == table.header[0][0] or named > 1 or 0 < named == len(cells) - 1:
            return Role.END  # other headings
    if not gap:
        return Role.ASIDE if len(cells) > table.width and table.form is PIPES else Role.ROW
    if number in lines.heads or len(cells) > table.width:
        return Role.END
    if is_failed(cells, table):
        return Role.ROW
    if any(map(starts_number, cells[1:])):
        return Role.END if names_figures(cells[0]) else Role.ROW
    return Role.ASIDE if all(map(ABSENT.fullmatch, cells[1:])) else Role.END


def _role_when_unsure(lines: Lines, number: int, cells: Sequence[str], table: RawTable, gap: bool) -> Role:
    """Return what a line without pipes and tabs is to the table above: a row, the end, or an aside."""
    line = lines.texts[number - 1]
    width, figures = table.width, sum(map(starts_number, cells[1:]))
    if table.form is SPACED:
        failed = sum(map(bool, map(_FAILED.fullmatch, cells[1:]))) if figures else 0
        known = figures + failed >= width / 2 or is_failed(cells, table)
        return Role.ROW if len(cells) == width and known and not gap else Role.END
    of_rows = heads_rows(table.header[0])
    if of_rows and any(names_figures(cell) and not bears_figure(cell) for cell in cells[1:]):
        return Role.END  # headings of another table
    figures = figures or sum(map(bears_figure, cells[1:]))
    if len(cells) == width and (of_rows or figures or is_failed(cells, table)):
        return Role.ROW
    if len(cells) == width and not gap and _has_figures(table) and _fails_in_words(cells, table):
        return Role.ROW
    if is_nearly_row(cells, table):
        return Role.ASIDE
    if is_comment(line, table.form):
        return Role.ASIDE if is_aside(line, table) else Role.END
    named = len(cells) == width and all(map(ABSENT.fullmatch, cells[1:])) and not names_figures(cells[0])
    return Role.ASIDE if named else Role.END


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


def _fails_in_words(cells: Sequence[str], table: RawTable) -> bool:
    """Return whether cells without figures are of a run that failed, in whatever words, and no headings: they
    say something twice, or begin with a number as those of other rows do, and say how it ended.
    """
    said = [cell.lower() for cell in cells if cell]
    if heads_figures(cells) or _begins_as_headings(cells, table):
        return False
    firsts = (cells[0], *(row[0] for _, row in table.rows[-_LOOKED_AT:]))
    numbered = all(any(map(str.isdigit, first)) for first in firsts)
    return len({*said}) < len(said) or (numbered and any(map(_ENDED.fullmatch, cells[1:])))


def says_failed(cells: Sequence[str]) -> bool:
    """Return whether cells begin with a number, and one of them says that there is no figure."""
    return starts_number(cells[0]) and any(map(_FAILED.fullmatch, cells[1:]))


def is_nearly_row(cells: Sequence[str], table: RawTable) -> bool:
    """Return whether cells are like a row of figures, of which some are lacking, or too many."""
    return len(cells) >= table.width / 2 and sum(map(is_figure, cells)) >= len(cells) / 2 > 0


def is_comment(line: str, form: Form | None) -> bool:
    """Return whether a line is a comment amid a table; between pipes `#` begins a heading of Markdown."""
    text = line.strip()
    if text.startswith("<!--") and text.endswith("-->"):
        return True
    return form is not PIPES and text.startswith(("#", "//"))


def is_aside(line: str, table: RawTable) -> bool:
    """Return whether a comment says nothing of what figures are, and heads none."""
    assert table.form
    cells = table.form.split(line)
    return not (
        len(cells) == table.width > 2 or names_figures(line[:LONGEST_CELL]) or headings_in(line, table.form)
    )


def _begins_as_headings(cells: Sequence[str], table: RawTable) -> bool:
    """Return whether cells begin as the table's headings do, and may be those of another one."""
    return bool(cells[0] and table.header) and cells[0] == table.header[0][0]


def _has_figures(table: RawTable) -> bool:
    """Return whether most of a row is figures, of those read last."""
    return any(2 * sum(map(is_figure, cells[1:])) >= len(cells) - 1 for _, cells in table.rows[-_LOOKED_AT:])
