"""Tables of MediaWiki, and of BBCode, as tables of HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BBCODE = re.compile(r"\[(/?)(table|tr|td|th)(?:=[^\[\]\n]{0,100})?\]", re.IGNORECASE)
_BEGIN, _END = re.compile(r"[ :]*\{\|"), re.compile(r"\s*\|\}")
_CELLS = {"!": re.compile(r"!!|\|\|"), "|": re.compile(r"\|\|")}
_ATTRIBUTES = re.compile(r"([^|\[\]{}=]{0,60}=[^|\[\]{}]{0,200})\|(?!\|)")
_TAGS = {"!": "th", "|": "td"}


def as_html(text: str) -> str:
    """Return a text in which such tables are those of HTML, each line where it was."""
    if "[/table]" in text.lower():
        text = _BBCODE.sub(r"<\1\2>", text)
    if "{|" not in text or "|}" not in text:
        return text
    return "\n".join(_lines(text.split("\n")))


def _lines(lines: list[str]) -> Iterator[str]:
    """Yield lines with those between `{|` and `|}` as tags; what has no end is none."""
    ends = [number for number, line in enumerate(lines) if _END.match(line)]
    last, within = max(ends, default=-1), False
    for number, line in enumerate(lines):
        if not within and number < last and _BEGIN.match(line):
            within = True
            yield "<table><tr>"
        elif within and _END.match(line):
            within = False
            yield "</table>"
        else:
            yield _within(line.lstrip()) if within else line


def _within(line: str) -> str:
    """Return a line of a table: a mark of a row, its caption, cells, or more text of the last one."""
    if line.startswith("|-"):
        return "<tr>"
    if line.startswith("|+"):
        return ""
    cells = _CELLS.get(line[:1])
    return "".join(_cell(_TAGS[line[0]], cell) for cell in cells.split(line[1:])) if cells else line


def _cell(tag: str, cell: str) -> str:
    """Return a cell, whose attributes, as `style="..." |`, are those of its tag."""
    found = _ATTRIBUTES.match(cell)
    return f"<{tag} {found[1]}>{cell[found.end() :]}" if found else f"<{tag}>{cell}"
