"""What iozone prints in both of its modes: where a run begins and ends, its unit, its switches.

kBytes are 1024 bytes. Documentation: IOzone_msword_98.pdf.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Literal, TypeAlias

from iogate.errors import OutputError
from iogate.model import Traffic
from iogate.units import printable

Unit = Literal["kB/sec", "ops/sec", "us/op"]
TestRun: TypeAlias = tuple[str, float, int, float]
"""A run of a test: its name, bytes, operations and seconds."""

KIB = 1024
FIGURES = {"kB/sec": "bandwidth", "ops/sec": "iops", "us/op": "latency.mean"}
"""What metrics call the figures of each unit."""
TABLE = re.compile(r"^\s*(?:kB|KB)[^\S\n]+reclen[^\S\n]+write\b.*$", re.MULTILINE)
THROUGHPUT = "Children see throughput for"
_BANNER = "Iozone: Performance Test of File I/O"
_END = "iozone test complete"
_VERSION = re.compile(r"Version \\?\$?Revision:\s*(\d[\d.]*)")
_UNITS: tuple[tuple[Unit, re.Pattern[str]], ...] = (
    ("kB/sec", re.compile(r"Output is in kBytes/sec", re.IGNORECASE)),
    ("ops/sec", re.compile(r"Output is in operations per second", re.IGNORECASE)),
    ("us/op", re.compile(r"Output is in microseconds per operation", re.IGNORECASE)),
)


def recognises(text: str) -> bool:
    """Return whether a text has any mark of iozone's output: its banner, its figures, or its last words."""
    return _BANNER in text or THROUGHPUT in text or is_table(text) or _END in text


def is_throughput(text: str) -> bool:
    """Return whether a text holds the figures of the throughput mode (`-t N`)."""
    return THROUGHPUT in text


def is_table(text: str) -> bool:
    """Return whether a text holds the table of the automatic mode (`-a`)."""
    return TABLE.search(text) is not None


def is_complete(text: str) -> bool:
    """Return whether iozone said that it came to its end."""
    return _END in text


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield the iozone runs in a text, each with the number of its first line (from 1)."""
    starts = [match.start() for match in re.finditer(rf"^.*{re.escape(_BANNER)}", text, re.MULTILINE)]
    table = TABLE.search(text)
    figures = [place for place in (text.find(THROUGHPUT), table.end() if table else -1) if place >= 0]
    if figures and (not starts or min(figures) < starts[0]):
        starts.insert(0, text.rfind("\n", 0, min(figures)) + 1)
    for start, limit in pairwise([*starts, len(text)]):
        end = text.find(_END, start, limit)
        block = text[start : limit if end < 0 else end + len(_END)]
        if is_throughput(block) or is_table(block):
            yield line_of(text, start), block


def line_of(text: str, place: int) -> int:
    """Return the number of the line (from 1) that a place is in."""
    return text.count("\n", 0, place) + 1


def version_of(text: str) -> str:
    """Return the version that an output states, such as `iozone-3.489`; empty if none."""
    match = _VERSION.search(text)
    return f"iozone-{match[1]}" if match else ""


def unit_of(text: str, name: str) -> Unit:
    """Return the unit of all figures, which only the preamble says. Raises OutputError if it does not."""
    stated = [unit for unit, pattern in _UNITS if pattern.search(text)]
    if len(stated) == 1:
        return stated[0]
    why = "says two units" if stated else "does not say the unit of its figures"
    raise OutputError(
        f"{name}: the preamble {why}", remedy="keep all that iozone prints: the unit is before the figures"
    )


def switches(text: str) -> dict[str, bool]:
    """Return the switches that the preamble names, as options of a workload."""
    return {
        "direct": "O_DIRECT feature enabled" in text,
        "flush": "Include fsync in write timing" in text,
        "retest": "No retest option selected" not in text,
    }


def remarks(text: str) -> tuple[str, ...]:
    """Return what iozone says against its own figures."""
    match = re.search(r"Timer resolution is poor\.[^\n]*(?:\n[^\n]+)?", text)
    return (printable(" ".join(match[0].split())),) if match else ()


def direction(test: str) -> str:
    """Return `read` or `write`, whatever else a test does; empty for a mix."""
    return "read" if "read" in test else "write" if "write" in test else ""


def traffic(runs: Iterable[TestRun]) -> dict[str, Traffic]:
    """Return what runs of tests claim together, by direction; of a mix nobody knows."""
    found: dict[str, Traffic] = {}
    for test, size, operations, seconds in runs:
        way = direction(test)
        if way and operations:
            known = found.get(way, Traffic(0, 0, 0.0))
            found[way] = Traffic(
                known.bytes + round(size), known.operations + operations, known.seconds + seconds
            )
    return found
