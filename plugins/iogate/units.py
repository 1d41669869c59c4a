"""Quantities as people write and read them.

Inside the code and in files: bytes, bytes/s, IOPS, nanoseconds, seconds, fractions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

_BINARY = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50, "e": 2**60}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(?ai:([kmgtpe]?)(?:i?b)?)")
_RATE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(?ai:([kmgt]?)(i?)(b)(?:\s*/\s*s|ps))")
_DURATIONS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "": 1.0}
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(?ai:(ms|s|m|h|d|))")
_FRACTION = re.compile(r"([-+]?[0-9]+(?:\.[0-9]+)?)\s*(%?)")
_COMMAND = re.compile(r"(?<!\S)::")
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]|#(?=#[A-Za-z]*\\[)"
)


def parse_size(text: str | int) -> int:
    """Return bytes of a size as fio's manual means it: `4k` = 4096, `16G` = 16 GiB, `512` = 512 bytes.

    `kB` and `KiB` also mean 1024 (fio reads `KiB` as 1000, which nobody expects; job files get plain
    suffixes). Raises ValueError.
    """
    if isinstance(text, bool):
        raise ValueError(f"{text!r} is not a size")
    return _bytes(str(text))


@lru_cache(maxsize=1024)
def _bytes(text: str) -> int:
    """Return the bytes of a size; the few of a matrix occur thousands of times."""
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{text!r} is not a size such as 4k, 1M or 16G")
    value = Fraction(match[1]) * _BINARY[match[2].lower()]
    if value >= 2**63:
        raise ValueError(f"{text[:20]!r} is more than any device holds")
    if value.denominator != 1:
        raise ValueError(f"{text!r} is not a whole number of bytes")
    return int(value)


def parse_rate(text: str | float) -> float:
    """Return bytes per second of `7.88 GB/s` (decimal) or `3700 MiB/s` (binary).

    Raises ValueError, also for a number without its unit: nobody means bytes by 7.88. A small `b` is bits to
    some, as in SATA's 6 Gb/s, and bytes to others: it is refused, too.
    """
    match = _RATE.fullmatch(str(text).strip())
    if not match:
        if _FRACTION.fullmatch(str(text).strip()):
            raise ValueError(f"{text} has no unit: write it as {text} GB/s or {text} MiB/s")
        raise ValueError(f"{text!r} is not a rate such as 7.88 GB/s or 3700 MiB/s")
    number, letter, binary, byte = match.groups()
    if byte == "b":
        unit = f"{letter}{binary}B/s"
        raise ValueError(
            f"{text!r} may be bits: write {float(number) / 8:g} {unit}, or {number} {unit} for bytes"
        )
    return float(number) * float(1024 if binary else 1000) ** " kmgt".index(letter.lower() or " ")


def parse_duration(text: str | float) -> float:
    """Return seconds of `60`, `90s`, `10m`, `500ms` or `2h`. Raises ValueError."""
    if isinstance(text, bool):
        raise ValueError(f"{text!r} is not a duration")
    match = _DURATION.fullmatch(str(text).strip())
    if not match:
        raise ValueError(f"{text!r} is not a duration such as 60, 90s or 10m")
    return float(match[1]) * _DURATIONS[match[2].lower()]


def parse_fraction(text: str | float) -> float:
    """Return a fraction written `5%` or `0.05` (both 0.05), signed if need be. Raises ValueError.

    A bare number of 1 or more is refused: `5` could mean 5% or 500%.
    """
    match = None if isinstance(text, bool) else _FRACTION.fullmatch(str(text).strip())
    if not match:
        raise ValueError(f"{text!r} is not a tolerance such as 5% or 0.05")
    value = float(match[1])
    if match[2]:
        return value / 100
    if abs(value) >= 1:
        raise ValueError(f"{text!r} could mean a percentage or a multiple: write it as 5% or 0.05")
    return value


def parse_share(text: str | float) -> float:
    """Return a fraction above 0 and below 1. Raises ValueError."""
    value = parse_fraction(text)
    if not 0 < value < 1:
        raise ValueError(f"{text!r} is not above 0 and below 1")
    return value


def size_text(size: float) -> str:
    """Return the shortest exact size in fio's suffixes: 4096 -> `4k`, 1000 -> `1000`."""
    for suffix in "EPTGMk":
        unit = _BINARY[suffix.lower()]
        if size >= unit and size % unit == 0:
            return f"{int(size // unit)}{suffix}"
    return str(int(size))


def _significant(value: float, digits: int = 4) -> str:
    """Return `value` with about `digits` significant digits, never in exponent notation."""
    if value == 0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{places}f}"


_SCALES: dict[str, tuple[tuple[float, str], ...]] = {
    "B/s": ((2**40, "TiB/s"), (2**30, "GiB/s"), (2**20, "MiB/s"), (2**10, "KiB/s"), (1, "B/s")),
    "B": ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B")),
    "IOPS": ((1e6, "M IOPS"), (1e3, "k IOPS"), (1, "IOPS")),
    "ns": ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns")),
    "s": ((1, "s"), (1e-3, "ms"), (1e-6, "µs")),
}


def format_quantity(value: float, unit: str) -> str:
    """Return a number as people read it: 2023543603 B/s -> `1930 MiB/s`, 32960680 ns -> `32.96 ms`.

    Bandwidth stays in MiB/s up to 10 GiB/s, as fio and the field print it.
    """
    unit = one_line(unit)
    if not math.isfinite(value):
        return f"{value} {unit}".strip()
    factor, name = scale_of(value, unit)
    return f"{_significant(value / factor)} {name}".strip()


def scale_of(value: float, unit: str) -> tuple[float, str]:
    """Return the unit in which people read a number, and how much of the plain one it is: 2e9 B/s -> 2^20,
    `MiB/s`.
    """
    if unit == "B/s" and 2**20 <= abs(value) < 10 * 2**30:
        return 2.0**20, "MiB/s"
    scales = _SCALES.get(unit, ((1, unit),))
    return next(((factor, name) for factor, name in scales if abs(value) >= factor), scales[-1])


_TENFOLD = 9.0  # as a relative change: beyond it, digits say nothing
BEYOND = "more than 10 times"
"""A share or change that is too large for per cents."""


def format_share(share: float) -> str:
    """Return a fraction in per cent: 0.0712 -> `7.1%`; `more than 10 times` of a change beyond."""
    return BEYOND if share > _TENFOLD else f"{share:.1%}"


def format_change(change: float) -> str:
    """Return a relative change with its sign: -0.0712 -> `-7.1%`; `more than 10 times` beyond."""
    return BEYOND if change > _TENFOLD else f"{change:+.1%}"


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: `1 repetition`, `2 repetitions`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def some_of(names: Sequence[str], most: int) -> str:
    """Return names as a list in a text, the first of many: `a, b, c and 4 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def format_duration(seconds: float) -> str:
    """Return a duration as people say it: 4.2 -> `4.2 s`, 75 -> `1 min 15 s`, 7265 -> `2 h 1 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        minutes, rest = divmod(whole, 60)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, rest = divmod(whole, 3600)
    return f"{hours} h {rest // 60} min" if rest >= 60 else f"{hours} h"


def ordinal(number: int) -> str:
    """Return a place in a row: `1st`, `2nd`, `13th`."""
    last = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else last}"


def printable(text: str) -> str:
    """Return `text` without control characters: what comes from files of others must not steer a terminal.

    Newlines and tabs stay; anything else below U+0020, DEL, C1 controls, other separators of lines,
    bidirectional overrides and lone surrogates, which no encoding can write, become `?`. So does what begins
    a command to those who run a job, wherever it stands in a line of its log: `##[...]` (GitHub's runner),
    `##vso[...]` (Azure Pipelines, which sets variables by it), `##teamcity[...]`.
    """
    return _UNPRINTABLE.sub("?", text)


def harmless_json(text: str) -> str:
    """Return JSON that says the same, and has nothing that `printable` takes for a command: it may be printed
    into the log of a job, whole.
    """
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}" if found[0] == "#" else found[0], text)


def one_line(text: str) -> str:
    """Return `text` as `printable` does, on one line, for names, units and reasons of others: their line
    feeds would begin lines of ours. Nor does a word of it, where it may be wrapped, begin with `::`, as a
    line does that steers a job in GitHub's log.
    """
    return unbroken(printable(text))


def unbroken(text: str) -> str:
    """Return `text` on one line as `one_line` does; what else is not printable stays."""
    return _COMMAND.sub("?:", text.replace("\n", "?"))


def no_commands(text: str) -> str:
    """Return a text of several lines, each as `one_line` has it."""
    return "\n".join(map(one_line, text.split("\n")))
