"""iozone's text output in throughput mode (`-t N`), as figures.

Children add up the speeds of processes that did not run at the same time; Parent divides all data by all of
the time. kBytes are 1024 bytes. Documentation: IOzone_msword_98.pdf, section "Throughput".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from iogate.errors import OutputError
from iogate.units import printable

_KIB = 1024
_END = "iozone test complete"
_NUMBER = r"(\d+(?:\.\d+)?)"
_RATE = rf"{_NUMBER}\s*kB/sec"
_CHILDREN = re.compile(
    rf"Children see throughput for\s+(\d+)\s+([A-Za-z][A-Za-z -]*?)\s*=\s*{_RATE}", re.IGNORECASE
)
_PARENT = re.compile(rf"Parent sees throughput for\s+\d+\s+[A-Za-z -]+?\s*=\s*{_RATE}", re.IGNORECASE)
_MINIMUM = re.compile(rf"Min throughput per process\s*=?\s*{_RATE}", re.IGNORECASE)
_MAXIMUM = re.compile(rf"Max throughput per process\s*=?\s*{_RATE}", re.IGNORECASE)
_AVERAGE = re.compile(rf"Avg throughput per process\s*=?\s*{_RATE}", re.IGNORECASE)
_TRANSFER = re.compile(rf"Min xfer\s*=?\s*{_NUMBER}\s*kB", re.IGNORECASE)
_VERSION = re.compile(r"Version \\?\$?Revision:\s*(\d[\d.]*)")
_FILE = re.compile(r"File size set to (\d+)\s*kB", re.IGNORECASE)
_RECORD = re.compile(r"Record Size (\d+)\s*kB", re.IGNORECASE)
_PROCESSES = re.compile(r"Throughput test with (\d+) process")
_OTHER_UNIT = re.compile(
    r"throughput for\s+\d+\s+[A-Za-z -]+?\s*=\s*[\d.]+\s*(?!kB/sec)([A-Za-z]\S*/\S+)", re.IGNORECASE
)


@dataclass(frozen=True)
class Test:
    """One of iozone's tests, such as `initial writers`, at `line` (from 1): bandwidths in B/s.

    `least` is what the slowest process had moved, in bytes, when the first was done. None: not in the text.
    """

    name: str
    line: int
    processes: int
    children: float
    parent: float | None
    minimum: float | None
    maximum: float | None
    average: float | None
    least: int | None

    @property
    def whole(self) -> bool:
        """Whether the text has all of its figures."""
        figures = (self.parent, self.minimum, self.maximum, self.average, self.least)
        return all(figure is not None for figure in figures)


@dataclass(frozen=True)
class Report:
    """An iozone run: sizes in bytes (None: not in the text), and whether iozone said that it was complete."""

    version: str
    file_size: int | None
    record: int | None
    processes: int | None
    tests: tuple[Test, ...]
    complete: bool


def is_text(text: str) -> bool:
    """Whether a text holds iozone's throughput figures."""
    return "Children see throughput for" in text


def parse(text: str, *, name: str) -> Report:
    """The figures of iozone's throughput mode, also from a text whose layout was damaged.

    What is not there is None; whoever runs iozone should insist on `complete` and on `Test.whole`. Raises
    OutputError if there are no figures, or if they are in a unit other than kB/s (`-O`, `-N`).
    """
    if re.search(r"\d{19}", text):
        raise OutputError(f"{name}: has a number too long to be a figure of iozone")
    other = _OTHER_UNIT.search(text)
    if other:
        raise OutputError(
            f"{name}:{_line(text, other.start())}: figures in {printable(other[1][:20])}, not in kB/s",
            remedy="run iozone without -N and -O",
        )
    starts = list(_CHILDREN.finditer(text))
    if not starts:
        raise OutputError(f"{name}: has no figures of iozone's throughput mode (iozone -t N)")
    announced = text.count("Children see throughput for")
    if announced != len(starts):
        raise OutputError(f"{name}: was cut off: {announced} tests begin, {len(starts)} have a figure")
    ends = [match.start() for match in starts[1:]] + [len(text)]
    tests = tuple(
        _test(text, match, text[match.start() : end]) for match, end in zip(starts, ends, strict=True)
    )
    return Report(
        version=_first(_VERSION, text) or "",
        file_size=_kib(_first(_FILE, text)),
        record=_kib(_first(_RECORD, text)),
        processes=_whole(_first(_PROCESSES, text)),
        tests=tests,
        complete=_END in text,
    )


def _test(text: str, children: re.Match[str], section: str) -> Test:
    parent, minimum, maximum, average = (
        _rate(_first(pattern, section)) for pattern in (_PARENT, _MINIMUM, _MAXIMUM, _AVERAGE)
    )
    return Test(
        name=" ".join(children[2].split()).lower(),
        line=_line(text, children.start()),
        processes=int(children[1]),
        children=float(children[3]) * _KIB,
        parent=parent,
        minimum=minimum,
        maximum=maximum,
        average=average,
        least=_kib(_first(_TRANSFER, section)),
    )


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """The iozone runs in a text, each with the number of its first line (from 1)."""
    starts = [match.start() for match in re.finditer(r"^.*Iozone: Performance Test", text, re.MULTILINE)]
    first = text.find("Children see throughput for")
    if first >= 0 and (not starts or first < starts[0]):
        starts.insert(0, text.rfind("\n", 0, first) + 1)
    for start, limit in pairwise([*starts, len(text)]):
        end = text.find(_END, start, limit)
        stop = limit if end < 0 else end + len(_END)
        if is_text(text[start:stop]):
            yield _line(text, start), text[start:stop]


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    match = pattern.search(text)
    return match[1] if match else None


def _whole(text: str | None) -> int | None:
    return int(text) if text else None


def _rate(text: str | None) -> float | None:
    return float(text) * _KIB if text else None


def _kib(text: str | None) -> int | None:
    return round(float(text) * _KIB) if text else None
