"""iozone's text output in automatic mode (`-a`): a table of file size x record size, as figures.

Thirteen columns under a header of two lines, with names that come twice and blanks where a test was not run.
The header's words end where the figures do, give or take a character, in both widths that there are (3.3xx:
8 characters, since 3.4xx: 9 or 10).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache

from iogate.engines.iozone import text as _iozone_text
from iogate.engines.iozone.text import FIGURES, KIB, TABLE, TestRun, Unit, is_complete
from iogate.errors import OutputError, Position
from iogate.model import Output
from iogate.units import printable, size_text

_PRINTED = (
    "write", "rewrite", "read", "reread", "read", "write", "read", "rewrite", "read",
    "fwrite", "frewrite", "fread", "freread",
)  # fmt: skip
COLUMNS = (
    "write", "rewrite", "read", "reread", "random_read", "random_write", "backward_read", "record_rewrite",
    "stride_read", "fwrite", "frewrite", "fread", "freread",
)  # fmt: skip
"""The tests as metrics name them, in the order of the table."""
_AGAIN = {"rewrite", "reread", "frewrite", "freread"}
_END = re.compile("iozone test complete|kB  reclen")
_NEAR = 6  # lines: of a text of people other figures may follow
_ROW = re.compile(r"\s*\d+(?:\s+\d+){2,}\s*")
_ADVICE = re.compile(  # what iozone prints among rows of which a time was too short to be measured
    r"\s*(?:I/O error during read\.|The test completed too quickly|You will get a more precise measure"
    r"|.{0,60}re-running iozone|iozone \d+ )"
)
_SLACK = 2
_DIGITS = 9
_LONGEST = 18


@dataclass(frozen=True)
class TableRow:
    """One line of the table: sizes in bytes, figures in the report's unit by test."""

    line: int
    file_size: int
    record: int
    figures: Mapping[str, float]


@dataclass(frozen=True)
class IozoneTable:
    """An iozone run in automatic mode, or of a single file and record size: whether iozone said that it was
    complete, the switches that it states, and what it says against its own figures.
    """

    version: str
    unit: Unit
    rows: tuple[TableRow, ...]
    complete: bool
    switches: Mapping[str, bool] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


@lru_cache(maxsize=1)  # jobs, figures and sections are asked for one after another
def read(text: str, *, name: str) -> IozoneTable:
    """Return the figures of iozone's table: B/s, operations/s or µs per operation. Raises OutputError with
    the line for what is no figure, stands under no column, or may have lost its last digits.
    """
    header = TABLE.search(text)
    if header is None:
        raise OutputError(f"{name}: has no table of iozone's automatic mode (iozone -a)")
    first = text.count("\n", 0, header.start()) + 2
    unit = _iozone_text.unit_of(text[: header.start()], name)
    scale = KIB if unit == "kB/sec" else 1
    columns = _columns(header[0].rstrip(), Position(name, first - 1))
    switches = _iozone_text.switches(text)
    needed = set(COLUMNS) if unit in ("kB/sec", "ops/sec") else set[str]()  # less than 1 us may be 0
    needed -= set() if switches.get("retest") else _AGAIN
    rows = tuple(
        TableRow(
            line, sizes[0] * KIB, sizes[1] * KIB, {test: float(value) * scale for test, value in figures}
        )
        for line, sizes, figures in _rows(text[header.end() + 1 :], first, columns, name, needed)
    )
    if not rows:
        raise OutputError("iozone's table is empty", position=Position(name, first - 1))
    known: set[tuple[int, int]] = set()
    for row in rows:
        if (row.file_size, row.record) in known:
            message = "iozone's table has a file and record size twice"
            raise OutputError(message, position=Position(name, row.line))
        known.add((row.file_size, row.record))
    return IozoneTable(
        version=_iozone_text.version_of(text),
        unit=unit,
        rows=rows,
        complete=is_complete(text),
        switches=switches,
        remarks=_iozone_text.remarks(text),
    )


def _columns(header: str, position: Position) -> dict[int, str]:
    """Return where figures may end, and of what column each then is, sizes included."""
    words = list(re.finditer(r"\S+", header))
    printed = [word[0] for word in words[2:]]
    if not printed or tuple(printed) != _PRINTED[: len(printed)]:
        shown = printable(" ".join(printed)[:200])
        message = f"iozone's table has other columns than are known: {shown}"
        raise OutputError(message, position=position)
    ends = [
        (word.end() + step, column)
        for step in sorted(range(-_SLACK, _SLACK + 1), key=abs, reverse=True)
        for column, word in zip(("file", "record", *COLUMNS), words, strict=False)
    ]
    return dict(ends)  # the nearest comes last, and holds


def _rows(
    text: str, first: int, columns: Mapping[int, str], name: str, needed: Set[str]
) -> Iterator[tuple[int, tuple[int, int], list[tuple[str, int]]]]:
    lines = text.split("\n")
    before: list[int] = []
    for number, line in enumerate(lines, first):
        if not line.strip():
            continue
        where = Position(name, number)
        if _ADVICE.match(line):
            continue
        if not re.fullmatch(r"[\d\s]+", line):
            if _goes_on(lines[number - first :]):
                raise OutputError("iozone's table has a line among its rows that is none", position=where)
            return
        figures = list(re.finditer(r"\d+", line))
        ends = [figure.end() for figure in figures]
        if number == first + len(lines) - 1 and ends != before:  # its last figure may be short of digits
            raise OutputError("iozone's output was cut off within a row of its table", position=where)
        before = ends
        found = {_column(figure, columns, where): int(figure[0]) for figure in figures}
        if not {"file", "record"} <= found.keys() or len(found) != len(line.split()):
            raise OutputError("a row of iozone's table without its two sizes", position=where)
        sizes = found.pop("file"), found.pop("record")
        if not all(sizes):
            raise OutputError("a row of iozone's table with a size of 0", position=where)
        yield number, sizes, _measured(found, where, needed)


def _goes_on(lines: Sequence[str]) -> bool:
    """Return whether rows of a table follow behind a line that is none, and not behind its end."""
    soon = itertools.takewhile(lambda line: not _END.search(line), lines[:_NEAR])
    return any(map(_ROW.fullmatch, soon))


def _measured(found: Mapping[str, int], where: Position, needed: Set[str]) -> list[tuple[str, int]]:
    """Return the tests with their figures, but for those that `-+n` left out, which are zeros."""
    stood = [test for test, value in found.items() if not value and test in needed]
    if stood:
        message = f"{stood[0]} is 0 in iozone's table, where it was not left out (-+n)"
        raise OutputError(message, position=where)
    return [(test, value) for test, value in found.items() if value]


def _column(figure: re.Match[str], columns: Mapping[int, str], where: Position) -> str:
    column = columns.get(figure.end())
    length = len(figure[0])
    if length > _LONGEST or (length > _DIGITS and column not in ("file", "record")):
        message = f"two figures of iozone's table run together: {figure[0][:40]}"
        raise OutputError(message, position=where)
    if column is None:
        message = f"{figure[0][:40]} stands under no column of iozone's table"
        raise OutputError(message, position=where)
    return column


def output(table: IozoneTable, *, name: str) -> Output:
    """Return the metrics of a table; of several rows each named by file and record size,
    `read.bandwidth.512k/64k`.

    Raises OutputError if there is no figure.
    """
    figure = FIGURES[table.unit]
    single = len(table.rows) == 1
    metrics: dict[str, float] = {}
    for row in table.rows:
        suffix = "" if single else f".{point(row.file_size, row.record)}"
        scale = 1000.0 if table.unit == "us/op" else 1.0
        metrics.update({f"{test}.{figure}{suffix}": value * scale for test, value in row.figures.items()})
    if not metrics:
        raise OutputError(f"{name}: iozone's table has no figures")
    sizes, records = ([getattr(row, key) for row in table.rows] for key in ("file_size", "record"))
    return Output(
        metrics=metrics,
        traffic=_iozone_text.traffic(_runs(table)),
        engine_version=table.version,
        options={
            "report": figure.partition(".")[0],
            "size": size_text(max(sizes)),
            "minimum_size": size_text(min(sizes)),
            "record_size": size_text(max(records)),
            "minimum_record_size": size_text(min(records)),
            **table.switches,
        },
        remarks=table.remarks,
        space=max(sizes),
        latency_step=1000.0 if table.unit == "us/op" else 0.0,
    )


def point(file_size: int, record: int) -> str:
    """Return how metrics of a table with several rows name a row: `512k/64k`."""
    return f"{size_text(file_size)}/{size_text(record)}"


def _runs(table: IozoneTable) -> Iterator[TestRun]:
    for row in table.rows:
        operations = row.file_size // row.record
        for test, value in row.figures.items():
            rate = 1e6 / value if table.unit == "us/op" else value
            moved = row.file_size if table.unit == "kB/sec" else operations
            yield test, row.file_size, operations, moved / rate
