"""Tables of figures in text: Markdown's with pipes, and those that lost all but their tabs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from iogate.offline.published.cells import LATENCIES, Quantity, quantities, unit_factor, unit_in
from iogate.units import parse_size

_KINDS: tuple[tuple[str, str], ...] = (
    ("depth", r"(queue|io|i/o)[ _-]*(depth|length)|\bqd\b"),
    ("block", r"(block|access|record|i/o)[ _-]*(size|length)|\bbs\b"),
    ("size", r"size of file|file[ _-]*size"),
    ("jobs", r"\bjobs\b|numjobs|threads|processes"),
    ("slat", r"\bslat\b|submission"),
    ("clat", r"\bclat\b|completion"),
    ("iops", r"\biops\b"),
    ("bandwidth", r"\bbw\b|bandwidth|throughput"),
    ("lat", r"\bt?lat\b|latency"),
)
_MEASURED = frozenset({"iops", "bandwidth", *LATENCIES})
_PERCENTILE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:th|st|nd|rd)?[ -]*percentile|\bp(\d+(?:\.\d+)?)\b")
_PARTS = (("min", r"\bmin"), ("max", r"\bmax"))
_RULE = frozenset(" \t:|>=-")
_LONGEST_CELL = 200
_LABELLED = re.compile(r"(threads?|jobs?|processes)\s*[-:=]?\s*(\d+)", re.IGNORECASE)
_LEADING_SIZE = re.compile(r"\d+ ?[kmgtKMGT]?i?[bB]\b")


@dataclass(frozen=True)
class Column:
    """What a column holds: a kind, a part of it (min, max, p99; empty: mean), and its unit."""

    header: str
    kind: str = ""
    part: str = ""
    unit: str = ""


@dataclass(frozen=True)
class Row:
    """A row of figures with what it says of the workload (None: nothing); `line` counts from 1.

    `unread` are cells of measured columns that hold no figure that can be read.
    """

    line: int
    label: str
    figures: tuple[Quantity, ...]
    block: int | None = None
    depth: int | None = None
    jobs: int | None = None
    size: int | None = None
    unread: tuple[str, ...] = ()

    def first(self, kind: str, part: str = "", direction: str | None = None) -> Quantity | None:
        """Return the first figure of a kind and part, of one direction if given."""
        for figure in self.figures:
            if (figure.kind, figure.part) == (kind, part) and direction in (None, figure.direction):
                return figure
        return None

    @cached_property
    def directions(self) -> tuple[str, ...]:
        """The directions that the figures name, or one empty name."""
        return tuple(dict.fromkeys(figure.direction for figure in self.figures)) or ("",)


@dataclass(frozen=True)
class Table:
    """A table with figures of storage; `title` is the line above it."""

    line: int
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


@dataclass
class _Raw:
    """A table as it stands: header lines and rows of cells, each row with its line number."""

    line: int
    title: str
    header: list[list[str]] = field(default_factory=list)
    rows: list[tuple[int, list[str]]] = field(default_factory=list)


def tables(lines: Sequence[str]) -> list[Table]:
    """Return all tables with figures of storage in a text's lines; a blank line in `lines` separates
    tables.
    """
    raws = list(_raw_tables(lines))
    legend: dict[str, str] = {}
    for raw in raws:
        for _, cells in raw.rows:
            unit = cells[-1] if cells else ""
            if unit and any(unit_factor(kind, unit) for kind in ("bandwidth", "lat")):
                legend[cells[0].lower()] = unit
    return [table for raw in raws if (table := _table(raw, legend))]


def _raw_tables(lines: Sequence[str]) -> Iterator[_Raw]:
    current: _Raw | None = None
    title = ""
    for number, line in enumerate(lines, 1):
        if not line and not current:
            continue
        kind = "|" if line.count("|") >= 2 else "\t" if "\t" in line.rstrip("\n") and line.strip() else ""
        if not kind:
            if current:
                yield current
            current = None
            if line.lstrip().startswith("```"):
                title = ""  # what stands within a fence is no title
            elif re.match(r"\W*\w", line):
                title = line.strip()
            continue
        if current is None:
            current = _Raw(number, title)
            title = ""  # it belongs to this table only
        cells = _cells(line.strip().strip("|") if kind == "|" else line.rstrip(), kind)
        if kind == "|" and "--" in line and _RULE.issuperset(line.strip()):
            continue
        if (kind == "|" and not current.header) or (
            kind == "\t" and not current.rows and not any(map(_starts_number, cells[1:]))
        ):
            current.header.append(cells)
        elif kind == "\t" or _plain(cells) != _plain(current.header[0]):
            current.rows.append((number, cells))
    if current:
        yield current


def _cells(line: str, separator: str) -> list[str]:
    """Return the cells of a line; one that is too long to be a figure or a name is cut."""
    return [cell.strip()[:_LONGEST_CELL] for cell in line.split(separator)]


def _starts_number(cell: str) -> bool:
    return cell[:1].isdigit()


def _plain(cells: Sequence[str]) -> str:
    """Return a heading's first cell, by which one that is repeated among the rows is known."""
    return cells[0].lower() if cells and not cells[0][:1].isdigit() else ""


def _table(raw: _Raw, legend: Mapping[str, str]) -> Table | None:
    width = max((len(cells) for _, cells in raw.rows), default=0)
    headers = [
        " ".join(cells[index] for cells in raw.header if index < len(cells)).strip() for index in range(width)
    ]
    columns = [_column(header, legend) for header in headers]
    named = unit_in(raw.title)
    if not any(column.kind in _MEASURED for column in columns) and named:
        columns = columns[:1] + [
            replace(column, kind=named[0], unit=named[1]) if not column.kind else column
            for column in columns[1:]
        ]
    if not any(column.kind in _MEASURED for column in columns):
        return None
    block = _LEADING_SIZE.match(raw.title)
    shared = _size(block[0]) if block else None
    rows = tuple(row for line, cells in raw.rows if (row := _row(line, cells, columns, shared)))
    return Table(raw.line, raw.title, tuple(columns), rows) if rows else None


def _column(header: str, legend: Mapping[str, str]) -> Column:
    text = header.lower()
    named = unit_in(header)
    percentile = _PERCENTILE.search(text)
    part = f"p{percentile[1] or percentile[2]}" if percentile else ""
    part = part or next((name for name, pattern in _PARTS if re.search(pattern, text)), "")
    kind = next((kind for kind, pattern in _KINDS if re.search(pattern, text)), "")
    if not kind and named and re.search(r"\(", header):
        kind = named[0]
    unit = named[1] if named else next((legend[word] for word in text.split() if word in legend), "")
    return Column(header, kind, part, unit)


def _row(line: int, cells: Sequence[str], columns: Sequence[Column], block: int | None) -> Row | None:
    figures: list[Quantity] = []
    labels: list[str] = []
    unread: list[str] = []
    stated: dict[str, int | None] = {"block": block}
    for cell, column in zip(cells, columns, strict=False):
        if column.kind in _MEASURED:
            found = quantities(cell, column.kind, column.part, column.unit)
            figures += found or []
            if found is None and _starts_number(cell):
                unread.append(cell)
        elif column.kind in ("block", "size"):
            stated[column.kind] = _size(cell)
        elif column.kind in ("depth", "jobs") and cell.isdecimal() and len(cell) < 10:
            stated[column.kind] = int(cell)
        label = _LABELLED.fullmatch(cell)
        if label:
            stated["jobs"] = int(label[2][:9])
        if column.kind not in _MEASURED and 0 < len(cell) <= 24 and cell != "=>":
            labels.append(cell)
    if not figures and not unread:
        return None
    return Row(line, ", ".join(labels), tuple(figures), unread=tuple(unread), **stated)


def _size(text: str) -> int | None:
    try:
        return parse_size(text.replace(" ", "")) or None
    except (ValueError, OverflowError):
        return None
