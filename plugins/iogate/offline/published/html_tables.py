"""Tables of HTML, in a page or amid a report in Markdown.

Python's own parser takes time with the square of a page of unclosed tags, so tags are found by a pattern.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from iogate.offline.published.columns import begins_figure
from iogate.offline.published.forms import LONGEST_CELL, as_cell
from iogate.offline.published.raw_table import MOST_CELLS, RawTable

_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]{0,15})\b([^<>]*)>")
_SPAN = re.compile(r"\b(col|row)span\s*=\s*[\"']?(\d{1,3})", re.IGNORECASE)
_PAGE = re.compile(r"<(?:!doctype html|html|body|pre)\b", re.IGNORECASE)
_UNSEEN = frozenset({"script", "style", "title", "template"})
_STRUCK = frozenset({"del", "s", "strike"})
_MAY_HIDE = re.compile(r"hidden|style", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"([^\s=/\"'<>]+)(?:\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'<>]*))?")
_DISPLAY = re.compile(
    r"(?:^|;)\s*display\s*:\s*(none|block|contents|flex|grid|list-item|flow-root|initial|inherit|unset|revert|"
    r"(?:inline|table)[\w-]*)\s*(!\s*important)?\s*(?=;|$)",
    re.IGNORECASE,
)
_NO_STYLE = re.compile(r"/\*.*?(?:\*/|\Z)|\"[^\"]*\"|'[^']*'", re.DOTALL)
"""A remark, to the end if it is not closed, or a text within a style."""
_MARK = re.compile(
    r"^ {0,3}(?P<code>```|~~~)|<(?P<end>/?)table\b|(?P<begins>^ {0,3})?<!--", re.MULTILINE | re.IGNORECASE
)
_TYPE = re.compile(r"\s*<!doctype\b[^<>]*>", re.IGNORECASE)
_CLOSES = re.compile(r"--!?>")
_VOID = frozenset({"br", "hr", "img", "input", "wbr"})
_PARTS = frozenset({"table", "tr", "td", "th"})
_LONG_NUMBER = re.compile(r"&#\d{8,};?")
"""A character that there is none of; Python reads no number of thousands of digits."""
_BREAKS = re.compile(r"\s+")
_LEAST_ROOM = 4096
_SHORTEST_CELL = len("<td>1")


@dataclass
class _Cell:
    line: int
    heads: bool
    columns: int
    rows: int
    text: str = ""


@dataclass
class _Table:
    line: int
    title: str
    rows: list[list[_Cell]] = field(default_factory=list)


def read_html(text: str) -> tuple[str, list[RawTable]]:
    """Return a text without the tables of HTML in it, line by line where it was, and these tables.

    Of a page, what remains is without tags; of a text with no more than tables in HTML, it is as it was.
    """
    if "<t" not in text.lower() and not _PAGE.search(text):
        return text, []
    page = bool(_PAGE.search(text))
    text = _without(text, _comments_of_page(text) if page else _comments_of_markdown(text))
    reader = _HtmlReader(page)
    reader.read(text)
    room = _Room(max(_LEAST_ROOM, len(text) // _SHORTEST_CELL))
    return "".join(reader.outside), [raw for table in reader.tables if (raw := _raw(table, room))]


def _comments_of_page(text: str) -> Iterator[tuple[int, int]]:
    """Yield where what declares its type, and comments, begin and end; what does not end is none."""
    end = 0
    if declared := _TYPE.match(text):
        end = declared.end()
        yield declared.span()
    while (start := text.find("<!--", end)) >= 0 and (close := _CLOSES.search(text, start + 2)):
        end = close.end()
        yield start, end


def _comments_of_markdown(text: str) -> Iterator[tuple[int, int]]:
    """Yield the same of those that begin a line, or stand in a table of HTML, and not in code."""
    end, code, within = 0, "", False
    for mark in _MARK.finditer(text):
        if mark.start() < end:
            continue
        if mark["code"]:
            code = "" if mark["code"] == code else code or mark["code"]
        elif mark["end"] is not None:
            within = not mark["end"]
        elif not code and (within or mark["begins"] is not None):
            close = _CLOSES.search(text, mark.end() - 2)
            if not close:
                return
            end = close.end()
            yield mark.end() - len("<!--"), end


def _without(text: str, parts: Iterable[tuple[int, int]]) -> str:
    """Return a text with nothing but line ends in these parts."""
    kept, place = [], 0
    for start, end in parts:
        kept += [text[place:start], "\n" * text.count("\n", start, end)]
        place = end
    return "".join([*kept, text[place:]])


def _is_hidden(text: str) -> bool:
    """Return whether the attributes of a tag say that nobody is to see it: of a style the last word, or the
    last that is important, holds, whatever the attribute `hidden` says.
    """
    if not _MAY_HIDE.search(text):
        return False
    attributes: dict[str, str] = {}
    for name, value in _ATTRIBUTE.findall(text):
        value = value[1:-1] if value[:1] in ("'", '"') else value
        attributes.setdefault(name.lower(), _unescaped(value))
    style = _BREAKS.sub(" ", _NO_STYLE.sub("", attributes.get("style", "")))
    if said := sorted(_DISPLAY.finditer(style), key=lambda found: found[2] is not None):
        return said[-1][1].lower() == "none"
    return "hidden" in attributes


@dataclass
class _Room:
    """How many more cells spans may make in a text: no more than it could hold if each stood in it."""

    left: int


class _HtmlReader:
    """Walks through a text from tag to tag."""

    def __init__(self, page: bool) -> None:
        self.page = page
        self.outside: list[str] = []
        self.tables: list[_Table] = []
        self._table: _Table | None = None
        self._row: list[_Cell] | None = None
        self._cell: _Cell | None = None
        self._hidden = ""
        self._title = ""
        self._last = 0
        """Where the last table is closed: what opens one behind it is a word about tables."""

    def read(self, text: str) -> None:
        place, line = 0, 1
        self._last = text.lower().rfind("</table")
        for tag in _TAG.finditer(text):
            self._text(text[place : tag.start()])
            line += text.count("\n", place, tag.start())
            name, closing = tag[2].lower(), bool(tag[1])
            if name == "table" and not closing and tag.start() > self._last:
                name = ""
            if self._hidden and self._hidden not in _UNSEEN and name in _PARTS:
                self._hidden = ""  # what is not seen in a cell ends with it
            unseen = name in _STRUCK or name == self._hidden or (not closing and _is_hidden(tag[3]))
            within = bool(self._cell) and name not in _PARTS | _VOID
            if (name in _UNSEEN and (self.page or self._table)) or (within and unseen):
                self._hide(name, closing)
            elif not self._hidden:
                self._tag(name, closing, tag[3], line)
            if self._table or self.page:
                self.outside.append("\n" * tag[0].count("\n"))
            elif name != "table":
                self.outside.append(tag[0])
            line += tag[0].count("\n")
            place = tag.end()
        self._text(text[place:])

    def _hide(self, name: str, closing: bool) -> None:
        if closing and name == self._hidden:
            self._hidden = ""
        elif not closing and not self._hidden:
            self._hidden = name

    def _tag(self, name: str, closing: bool, attributes: str, line: int) -> None:
        hidden = _is_hidden(attributes)
        if name == "table":
            self._cell = self._row = None
            self._table = None if closing else _Table(line, self._title)
            if self._table and not hidden:
                self.tables.append(self._table)
            self._title = ""
        elif self._table is None:
            return
        elif name == "tr":
            self._cell = None
            if not closing:
                self._row = []
                if not hidden:
                    self._table.rows.append(self._row)
        elif name in ("td", "th"):
            self._cell = None
            if not closing and self._row is not None and len(self._row) < MOST_CELLS and not hidden:
                spans = {key.lower(): int(count) for key, count in _SPAN.findall(attributes)}
                self._cell = _Cell(line, name == "th", spans.get("col", 1), spans.get("row", 1))
                self._row.append(self._cell)
        elif self._cell and len(self._cell.text) < LONGEST_CELL:
            self._cell.text += " " if name == "br" else "^" if name == "sup" and not closing else ""

    def _text(self, text: str) -> None:
        if self._hidden or self._table:
            self.outside.append("\n" * text.count("\n"))
        else:
            shown = _unescaped(text) if self.page else text
            self.outside.append(shown)
            last = shown.strip().rpartition("\n")[2].strip()
            if last and not last.startswith("|"):
                self._title = last[:LONGEST_CELL]
        if self._cell and not self._hidden and len(self._cell.text) < LONGEST_CELL:
            self._cell.text += text[:LONGEST_CELL]
        elif self._table and not self._table.rows and text.strip():
            self._table.title = _unescaped(text).strip()[:LONGEST_CELL]  # its caption


def _unescaped(text: str) -> str:
    return html.unescape(_LONG_NUMBER.sub("\N{REPLACEMENT CHARACTER}", text))


def _raw(table: _Table, room: _Room) -> RawTable | None:
    """Return a table with the cells that span several columns or rows in each of them; None if it has no
    rows of figures.
    """
    found = RawTable(table.line, table.title)
    for cells, texts in _spread(table, room):
        heads = all(cell.heads for cell in cells) or not (found.header or any(map(begins_figure, texts[1:])))
        if heads and not found.rows:
            found.header.append(texts)
        elif cells:
            found.rows.append((cells[0].line, texts))
    return found if found.header and found.rows else None


def _spread(table: _Table, room: _Room) -> Iterator[tuple[list[_Cell], list[str]]]:
    """Yield the cells of each row that has some, with the texts of all columns; without room, spans count as
    one.
    """
    below: dict[int, tuple[int, str]] = {}
    for cells in filter(None, table.rows):
        texts: list[str] = []
        waiting = list(cells)
        while (waiting or len(texts) in below) and len(texts) < MOST_CELLS:
            column = len(texts)
            if column in below:
                left, text = below.pop(column)
                texts.append(text)
                room.left -= 1
                if left > 1 and room.left > 0:
                    below[column] = left - 1, text
                continue
            cell = waiting.pop(0)
            text = as_cell(_BREAKS.sub(" ", _unescaped(cell.text)))
            columns = min(max(cell.columns, 1), MOST_CELLS - column, 1 + max(0, room.left))
            room.left -= columns - 1
            for offset in range(columns):
                texts.append(text)
                if cell.rows > 1 and room.left > 0:
                    below[column + offset] = cell.rows - 1, text
        yield cells, texts
