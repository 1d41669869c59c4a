"""What iozone prints in both of its modes: where a run begins and ends, its unit, its switches.

kBytes are 1024 bytes. Documentation: IOzone_msword_98.pdf.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, TypeAlias

from iogate.errors import OutputError, Position
from iogate.model import Traffic
from iogate.units import printable

Unit = Literal["kB/sec", "ops/sec", "us/op"]
TestRun: TypeAlias = tuple[str, float, int, float]
"""A run of a test: its name, bytes, operations and seconds."""

KIB = 1024
FIGURES = {"kB/sec": "bandwidth", "ops/sec": "iops", "us/op": "latency.mean"}
"""What metrics call the figures of each unit."""
TABLE = re.compile(r"^[^\S\n]*(?:kB|KB)[^\S\n]+reclen[^\S\n]+write\b[^\n]*$", re.MULTILINE)
THROUGHPUT = "Children see throughput for"
BANNER = "Iozone: Performance Test of File I/O"
END = "iozone test complete"
_VERSION = re.compile(r"Version \\?\$?Revision:\s*(\d[\d.]*)")
_COMMAND = re.compile(r"Command line used:([^\n]*)")
_UNITS: tuple[tuple[Unit, re.Pattern[str]], ...] = (
    ("kB/sec", re.compile(r"Output is in kBytes/sec", re.IGNORECASE)),
    ("ops/sec", re.compile(r"Output is in operations per second", re.IGNORECASE)),
    ("us/op", re.compile(r"Output is in microseconds per operation", re.IGNORECASE)),
)
_OTHER_UNIT = re.compile(r"(?<!\S)-[A-Za-z]*[ON]")


def recognises(text: str) -> bool:
    """Return whether a text has any mark of iozone's output: its banner, its figures, or its last words."""
    return BANNER in text or THROUGHPUT in text or is_table(text) or END in text


def is_throughput(text: str) -> bool:
    """Return whether a text holds the figures of the throughput mode (`-t N`)."""
    return THROUGHPUT in text


def is_table(text: str) -> bool:
    """Return whether a text holds the table of the automatic mode (`-a`)."""
    return "reclen" in text and TABLE.search(text) is not None


def is_complete(text: str) -> bool:
    """Return whether iozone said that it came to its end."""
    return END in text


def line_of(text: str, place: int) -> int:
    """Return the number of the line (from 1) that a place is in."""
    return text.count("\n", 0, place) + 1


def version_of(text: str) -> str:
    """Return the version that an output states, such as `iozone-3.489`; empty if none."""
    match = _VERSION.search(text)
    return f"iozone-{match[1]}" if match else ""


def states_unit(preamble: str) -> bool:
    """Return whether a preamble says the unit of the figures in words."""
    return any(pattern.search(preamble) for _, pattern in _UNITS)


def unit_of(preamble: str, name: str) -> Unit:
    """Return the unit of all figures: the preamble says it, or the command line in it, where it asks for none
    but iozone's own (kB/s). Raises OutputError if neither does.
    """
    stated = [unit for unit, pattern in _UNITS if pattern.search(preamble)]
    if len(stated) == 1:
        return stated[0]
    command = _COMMAND.search(preamble)
    if not stated and command and not _OTHER_UNIT.search(command[1]):
        return "kB/sec"
    why = "says two units" if stated else "does not say the unit of its figures"
    raise OutputError(
        f"the preamble {why}",
        position=Position(name, line_of(preamble, len(preamble))),
        remedy="keep all that iozone prints before the figures; or, if you know the unit, write the line "
        "above them in which iozone says it: Output is in kBytes/sec",
    )


def switches(text: str) -> dict[str, bool]:
    """Return the switches that a preamble names, as options of a workload; empty without its beginning."""
    if BANNER not in text and "Run began:" not in text:
        return {}
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
    """Return what runs of tests claim together, by direction; those of a mix are not known."""
    found: dict[str, list[float]] = {}
    for test, size, operations, seconds in runs:
        way = direction(test)
        if way and operations:
            total = found.setdefault(way, [0, 0, 0.0])
            total[0] += round(size)
            total[1] += operations
            total[2] += seconds
    return {way: Traffic(int(size), int(count), seconds) for way, (size, count, seconds) in found.items()}
