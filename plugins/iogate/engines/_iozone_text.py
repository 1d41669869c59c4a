"""iozone's text output in throughput mode (`-t N`), as figures.

Children add up the speeds of processes that did not run at the same time; Parent divides all data by all of
the time. kBytes are 1024 bytes. Documentation: IOzone_msword_98.pdf, section "Throughput".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from iogate.errors import OutputError
from iogate.units import printable

Unit = Literal["kB/sec", "ops/sec", "us/op"]

_KIB = 1024
_END = "iozone test complete"
_NUMBER = r"(\d+(?:\.\d+)?)"
_RATE = rf"{_NUMBER}\s*(?:kB|ops)/sec"
_CHILDREN = re.compile(
    rf"Children see throughput for\s+(\d+)\s+([A-Za-z][A-Za-z -]*?)\s*=\s*{_RATE}", re.IGNORECASE
)
_PARENT = re.compile(rf"Parent sees throughput for\s+\d+\s+[A-Za-z -]+?\s*=\s*{_RATE}", re.IGNORECASE)
_MINIMUM = re.compile(rf"Min throughput per (?:process|thread)\s*=?\s*{_RATE}", re.IGNORECASE)
_MAXIMUM = re.compile(rf"Max throughput per (?:process|thread)\s*=?\s*{_RATE}", re.IGNORECASE)
_AVERAGE = re.compile(rf"Avg throughput per (?:process|thread)\s*=?\s*{_RATE}", re.IGNORECASE)
_TRANSFER = re.compile(rf"Min xfer\s*=?\s*{_NUMBER}\s*(?:kB|ops)\b", re.IGNORECASE)
_CHILD = re.compile(
    rf"Child\[\d+\] xfer count\s*=\s*{_NUMBER}\s*(?:kB|ops), Throughput\s*=\s*{_RATE}", re.IGNORECASE
)
_VERSION = re.compile(r"Version \\?\$?Revision:\s*(\d[\d.]*)")
_FILE = re.compile(r"File size set to (\d+)\s*kB", re.IGNORECASE)
_RECORD = re.compile(r"Record Size (\d+)\s*kB", re.IGNORECASE)
_PROCESSES = re.compile(r"Throughput test with (\d+) (?:process|thread)")
_UNITS: tuple[tuple[Unit, re.Pattern[str]], ...] = (
    ("kB/sec", re.compile(r"Output is in kBytes/sec", re.IGNORECASE)),
    ("ops/sec", re.compile(r"Output is in operations per second", re.IGNORECASE)),
    ("us/op", re.compile(r"Output is in microseconds per operation", re.IGNORECASE)),
)


@dataclass(frozen=True)
class Test:
    """One of iozone's tests, such as `initial writers`, at `line` (from 1): rates in B/s, or in operations/s
    where the report's unit is that.

    `least` is what the slowest process had moved when the first was done, in bytes or operations; `shares`
    are what each had moved by then, with its rate (empty without `-C`). None: not in the text.
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
    shares: tuple[tuple[int, float], ...] = ()

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
    unit: Unit = "kB/sec"


def is_text(text: str) -> bool:
    """Whether a text holds iozone's throughput figures."""
    return "Children see throughput for" in text


def is_complete(text: str) -> bool:
    """Whether iozone said that it came to its end."""
    return _END in text


def version_of(text: str) -> str:
    """The version that an output states, such as `3.489`; empty if none."""
    return _first(_VERSION, text) or ""


def unit_of(text: str, name: str) -> Unit:
    """The unit of all figures, which only the preamble says. Raises OutputError if it does not."""
    stated = [unit for unit, pattern in _UNITS if pattern.search(text)]
    if len(stated) == 1:
        return stated[0]
    why = "says two units" if stated else "does not say the unit of its figures"
    raise OutputError(
        f"{name}: the preamble {why}", remedy="keep all that iozone prints: the unit is before the figures"
    )


def parse(text: str, *, name: str) -> Report:
    """The figures of iozone's throughput mode, also from a text whose layout was damaged.

    What is not there is None; whoever runs iozone should insist on `complete` and on `Test.whole`. Raises
    OutputError if there are no figures, or if their unit is not that of the preamble.
    """
    if re.search(r"\d{19}", text):
        raise OutputError(f"{name}: has a number too long to be a figure of iozone")
    starts = list(_CHILDREN.finditer(text))
    if not starts:
        raise OutputError(f"{name}: has no figures of iozone's throughput mode (iozone -t N)")
    announced = text.count("Children see throughput for")
    if announced != len(starts):
        raise OutputError(f"{name}: was cut off: {announced} tests begin, {len(starts)} have a figure")
    unit = unit_of(text, name)
    _check_unit(text, unit, name)
    scale = _KIB if unit == "kB/sec" else 1
    ends = [match.start() for match in starts[1:]] + [len(text)]
    tests = tuple(
        _test(text, match, text[match.start() : end], scale) for match, end in zip(starts, ends, strict=True)
    )
    return Report(
        version=version_of(text),
        file_size=_kib(_first(_FILE, text)),
        record=_kib(_first(_RECORD, text)),
        processes=_whole(_first(_PROCESSES, text)),
        tests=tests,
        complete=is_complete(text),
        unit=unit,
    )


def _check_unit(text: str, unit: Unit, name: str) -> None:
    for match in re.finditer(r"(?:=|per process|per thread)\s*[\d.]+\s*([A-Za-z]+/sec)", text):
        if match[1].lower() != unit.lower():
            raise OutputError(
                f"{name}:{_line(text, match.start())}: a figure in {printable(match[1][:20])}, where the "
                f"preamble says {unit}"
            )


def _test(text: str, children: re.Match[str], section: str, scale: int) -> Test:
    parent, minimum, maximum, average = (
        _scaled(_first(pattern, section), scale) for pattern in (_PARENT, _MINIMUM, _MAXIMUM, _AVERAGE)
    )
    least = _scaled(_first(_TRANSFER, section), scale)
    shares = [(float(moved) * scale, float(rate) * scale) for moved, rate in _CHILD.findall(section)]
    if shares:  # iozone's own minima leave out a process that had done nothing when the first was done
        least, minimum = min(moved for moved, _ in shares), min(rate for _, rate in shares)
    return Test(
        name=" ".join(children[2].split()).lower(),
        line=_line(text, children.start()),
        processes=int(children[1]),
        children=float(children[3]) * scale,
        parent=parent,
        minimum=minimum,
        maximum=maximum,
        average=average,
        least=None if least is None else round(least),
        shares=tuple((round(moved), rate) for moved, rate in shares),
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


def _scaled(text: str | None, scale: int) -> float | None:
    return float(text) * scale if text else None


def _kib(text: str | None) -> int | None:
    return round(float(text) * _KIB) if text else None
