"""Forms of tables in a text: with pipes, tabs, commas, semicolons, or in columns of blanks."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass, field

LONGEST_CELL = 200
LONGEST_LINE = 20_000
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
_LINK_OF_JIRA = re.compile(r"\[([^\[\]|]*)\|(?:[a-z]+:|[#^~/])[^\[\]|\s]*\]", re.IGNORECASE)
_QUOTED = re.compile(r'(?:^|[,;]) ?"[^"]*"(?= ?(?:[,;]|$))')  # cells of CSV
_PIPE = re.compile(r"(?<!\\)\|")  # none that is escaped, as Markdown and Jira have it
_EMPHASIS = re.compile(  # not between words, where a star multiplies
    r"</?(?:b|i|u|em|strong|code|mark)>|`+|~~|(?<![^\W_])[*_]+|[*_]+(?![^\W_])", re.IGNORECASE
)
_TOTAL = re.compile(r"(total:)[ \t]+(\d[\d.,]{0,30})", re.IGNORECASE)  # in one cell, as DiskSpd has it
_POINT = re.compile(r"\.\d")
_RULE = frozenset(" \t:|>=-+")


@dataclass(frozen=True)
class Form:
    """How the cells of a line are separated. Where a separator is `sure`, as pipes and tabs are, any line of
    it is one of a table; other lines may be prose.
    """

    name: str
    split: Callable[[str], list[str]] = field(repr=False)
    sure: bool = False


def sure_form(line: str) -> Form | None:
    """Return the form of a line that is sure to be one of a table; None if it may be prose."""
    if line.count("|") >= 2 and _QUOTED.sub("", line).count("|") >= 2:
        return PIPES
    return TABS if "\t" in line.rstrip("\n") and line.strip() else None


def is_rule(line: str) -> bool:
    """Return whether a line only parts those above from those below."""
    return ("--" in line or "==" in line) and _RULE.issuperset(line)


def cut(cells: list[str], width: int) -> list[str]:
    """Return cells without empty ones at the end that are beyond a width."""
    while len(cells) > width and not cells[-1]:
        cells.pop()
    return cells


def as_cell(text: str) -> str:
    """Return what is read of a cell, at most `LONGEST_CELL` characters; `.97`, as bc prints it, is 0.97."""
    text = text.strip()[:LONGEST_CELL]
    return f"0{text}" if _POINT.match(text) else text


def _with_pipes(line: str) -> list[str]:
    """Return what stands between pipes, without Markdown's emphasis; the last pipe closes a line that begins
    with one, and of others, as psql prints them, what is behind it may be empty.
    """
    line = line.strip()
    cells = _PIPE.split(_LINK_OF_JIRA.sub(r"\1", line.removeprefix("|")))
    if len(cells) > 1 and not cells[-1] and line.startswith("|"):
        cells.pop()
    if total := _TOTAL.fullmatch(cells[0].strip()):
        cells[:1] = total.groups()
    return [as_cell(_text(cell.strip()[:LONGEST_CELL])) for cell in cells]


def _text(cell: str) -> str:
    return _EMPHASIS.sub("", _LINK.sub(r"\1", cell)).strip().replace("\\|", "|")


def _with_tabs(line: str) -> list[str]:
    """Return what stands between tabs, without quotes as R sets them; the last cells may be empty."""
    return [as_cell(cell.strip().strip('"')) for cell in line.split("\t")]


def _separated_by(delimiter: str) -> Callable[[str], list[str]]:
    def split(line: str) -> list[str]:
        if delimiter not in line or len(line) > LONGEST_LINE:
            return []
        try:
            found = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
        except csv.Error:
            return []
        return [as_cell(cell) for cell in found]

    return split


def _aligned(line: str) -> list[str]:
    """Return what stands between two blanks or more."""
    if len(line) > LONGEST_LINE:
        return []
    return [as_cell(cell) for cell in re.split(r"(?<=\S) {2,}(?=\S)", line.strip())]


def _words(line: str) -> list[str]:
    return [as_cell(cell) for cell in line.split()] if len(line) <= LONGEST_LINE else []


PIPES = Form("pipes", _with_pipes, sure=True)
TABS = Form("tabs", _with_tabs, sure=True)
SEMICOLONS = Form("semicolons", _separated_by(";"))
SPACED = Form("blanks", _words)
UNSURE = (
    Form("commas", _separated_by(",")),
    SEMICOLONS,
    Form("columns", _aligned),
    SPACED,
)
