"""Numbers as people publish them: `551k`, `r:9.83GB/s, w:4543MB/s`, `avg=5.43us`, `291,4`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from iogate.units import parse_size

LATENCIES = ("slat", "clat", "lat")
RATES: Mapping[str, float] = {
    "B/s": 1.0,
    **{f"{prefix}B/s": 1000.0**power for power, prefix in enumerate(("k", "M", "G", "T"), 1)},
    **{f"{prefix}iB/s": 1024.0**power for power, prefix in enumerate(("K", "M", "G", "T"), 1)},
}
_TIMES = {
    **dict.fromkeys(("ns", "nsec", "nanosec", "nanosecond", "nanoseconds", "нs"), 1.0),
    **dict.fromkeys(
        ("us", "usec", "µs", "μs", "µsec", "μsec", "microsec", "microsecond", "microseconds", "mks"), 1e3
    ),
    **dict.fromkeys(("ms", "msec", "millisec", "millisecond", "milliseconds"), 1e6),
    **dict.fromkeys(("s", "sec", "seconds"), 1e9),
}
_CYRILLIC = str.maketrans("кКМмГгТтБбсиИ", "kKMmGgTtBbsii")  # МБ/с, КиБ/с
_OCTETS = re.compile(r"(?<![^\W\d_])(?:([kKMGT])o|([KMGT]i)o|octets?)(?= ?/ ?s|ps\b)")
"""French: Mo/s, Mio/s. In small letters alone, or in capitals, `kio/s` are I/Os."""
_COUNTS = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6}
_RATE = re.compile(
    r"([kmgt]|kilo|mega|giga|kibi|mebi|gibi)?(i?)(b|bits?|bytes?)(?:/s(?:ec(?:ond)?)?|ps)", re.IGNORECASE
)
_PER = re.compile(r"[ _]per[ _]|(?<=\w)_(?=s(?:ec)?$)", re.IGNORECASE)
"""How `/` is written in names of variables and in words."""
_PIECE = re.compile(
    r"(?:(?P<direction>(?i:[rw]|read|write)):)?\s*(?:\w+\s*=\s*)?"
    r"(?P<number>\d[\d.,]*)(?P<unit>[A-Za-zµμА-Яа-я/\s]*)"
)
_BRACKETED = re.compile(r"(?<=[(\[])[^()\[\]]+(?=[)\]])")
_DECIMAL_COMMA = re.compile(r"\d+,\d{1,2}|\d+,\d{4,}|(?:0|\d{4,}),\d+")
_SIGNED = re.compile(r"[-+]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)")
_COMMA_FIGURE = re.compile(rf"(?:{_DECIMAL_COMMA.pattern}|\d{{1,3}}(?:\.\d{{3}})+,\d+) ?[A-Za-zµμ/]*")
_POINT_FIGURE = re.compile(r"(?:\d+\.\d{1,2}|\d+\.\d{4,}|(?:0|\d{4,})\.\d+) ?[A-Za-zµμ/]*")
_POINTED_FIGURE = re.compile(r"\d{1,3}(?:\.\d{3})+ ?[A-Za-zµμ/]*")
_SMALL_FIGURE = re.compile(r"\d{1,3} ?[A-Za-zµμ/]*")
_POINTED = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_PLAIN = re.compile(r"\d+(?:\.\d+)?")
_SCIENTIFIC = re.compile(r"\d\.\d{4,17}[eE][+-]?\d{1,2}")  # as programs print large numbers, with all digits
_GROUPED = re.compile(r"(\d{1,3})((?:[ \u00a0\u2009\u202f'’]\d{3})+)((?:[.,]\d+)?[^\d.,]*)")
_ENDS_WITH_FIGURE = re.compile(
    r"(?<!\S)(?:\d[\d.,]{0,20} ?(?:[kmgt]i?b/s|[mnuµ]?s)|(?:\d{4,20}|\d{1,3}(?:,\d{3}){1,6}) ?iops)$",
    re.IGNORECASE,
)
_UNCERTAINTY = re.compile(
    r"([\dA-Za-zµμА-Яа-я/])\s*(?:([(\[])\s*)?(?:±|\+/-|\+-)\s*[\d.,]+(?:\s*(%|[A-Za-zµμА-Яа-я/]+))?"
    r"(?(2)\s*[)\]])"
)
_OF_BOTH = re.compile(r"\(([^()]*(?:±|\+/-|\+-)[^()]*)\)")  # as in `(450 ± 12) us`
_ABOUT = re.compile(r"^(?:[~≈≃]|(?:about|approx(?:imately)?\.?|around|ca\.?|circa)) ?(?=\d)", re.IGNORECASE)
_MEAN = re.compile(
    r"^(?:avg|average|mean)[.:]{0,2} ?(?=\d)|(?<=\w) ?[(\[](?:avg|average|mean)\.?[)\]]$", re.IGNORECASE
)
_EXTREMES = {  # of whatever was measured: one row has those of several workloads
    "max": re.compile(r"^(?:up to|max(?:imum|\.)?|at most|peak)[.:]? ?(?=\d)", re.IGNORECASE),
    "min": re.compile(r"^(?:min(?:imum|\.)?|at least)[.:]? ?(?=\d)", re.IGNORECASE),
}
_BOUND = re.compile(r"^(?:(?:more|less) than|over|under|typ(?:ical|\.)?)[.:]? ?(?=\d)", re.IGNORECASE)
_NEAR = 0.05  # how exact a figure is that is said to be about right
PER_SECOND = re.compile(r"(?:iops|(?:i/?o(?:p?s)?|ops|req(?:uest)?s)(?:/s(?:ec)?|ps))$", re.IGNORECASE)
_SAID_AGAIN = re.compile(r"([\d.,]+\s*([A-Za-z/]+))\s*\((\d[\d.,]*\s*([A-Za-z/]+))\)")
_DIRECTED = re.compile(r"\b(?:[rw]|read|write):", re.IGNORECASE)
_BETWEEN = re.compile(r"(?:\s*(?:,|;|/|<br ?/?>)\s*|\s+)(?=(?:[rw]|read|write):)", re.IGNORECASE)
_DIRECTIONS = {"r": "read", "read": "read", "w": "write", "write": "write"}

_FIGURE = re.compile(r"\d[\d.,]*\s?[^\s\d]\S{0,7}|\d[\d.,]*")
ABSENT = re.compile(r"|n/?a|none|nil|[-–—~?.*x ]+", re.IGNORECASE)
"""A cell that says that there is no figure."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A published figure: of a `kind` (iops, bandwidth, slat, clat, lat), a statistic `part` of it (empty:
    the mean), and a `direction` (empty: not said).

    What is measured elsewhere on the way of an I/O, or otherwise, has another `place`: words of its heading.
    `value` and `step` (of the last digit) are in IOPS, B/s or ns; `text` is what stands there, `unit` its
    unit, `comma` whether a decimal comma was read, `again` whether it is the one before in another unit.
    """

    kind: str
    part: str
    direction: str
    value: float
    step: float
    text: str
    unit: str
    comma: bool = False
    again: bool = False
    place: frozenset[str] = frozenset()

    @property
    def number(self) -> float:
        """The number as it stands, in its own unit."""
        return self.value / (unit_factor(self.kind, self.unit.lstrip()) or 1.0)


@lru_cache(maxsize=1024)
def unit_factor(kind: str, unit: str) -> float | None:
    """Return what one `unit` of a kind is in base units; None if it is none. `Mb/s` is taken for
    megabytes.
    """
    unit = _PER.sub("/", unit.strip()).replace(" ", "").translate(_CYRILLIC)
    if kind == "iops":
        return _COUNTS.get(unit)
    if kind == "bandwidth":
        match = _RATE.fullmatch(_in_bytes(unit))
        if not match:
            return None
        bits = 8 if match[3].lower().startswith("bit") else 1
        prefix = (match[1] or " ").lower()
        binary = match[2] or prefix.endswith("bi")
        return (1024.0 if binary else 1000.0) ** " kmgt".index(prefix[0]) / bits
    return _TIMES.get(unit.lower())


def _in_bytes(text: str) -> str:
    """Return a text with rates of octets as rates of bytes."""
    return _OCTETS.sub(lambda found: f"{found[1] or found[2] or ''}B", text)


def unit_in(text: str) -> tuple[str, str] | None:
    """Return the kind (bandwidth or lat) and unit that a heading such as `Throughput (MB/sec)`, or
    `Read [MB/s]`, names.
    """
    bracketed = [part for found in _BRACKETED.findall(text) for part in (found, *re.split("[,;]", found))]
    for candidate in [*bracketed, text.strip()]:
        for kind in ("bandwidth", "lat"):
            if unit_factor(kind, candidate.strip()) and candidate.strip():
                return kind, candidate.strip()
    return None


def has_decimal_commas(cells: Iterable[str]) -> bool:
    """Return whether the figures of a table are written with decimal commas: one of them is, and none has a
    decimal point. In such a table `567,123` is less than a thousand.
    """
    cells = [_plain(cell) for cell in cells]
    return any(map(_COMMA_FIGURE.fullmatch, cells)) and not has_decimal_points(cells)


def has_decimal_points(cells: Iterable[str]) -> bool:
    """Return whether a figure of a table is written with a decimal point."""
    return any(_POINT_FIGURE.fullmatch(_plain(cell)) for cell in cells)


def may_be_pointed_thousands(cells: Iterable[str]) -> bool:
    """Return whether a figure has points that may part thousands, as in `31.000`."""
    return any(_POINTED_FIGURE.fullmatch(_plain(cell)) for cell in cells)


def are_pointed_thousands(cells: Iterable[str]) -> bool:
    """Return whether the points of a column part thousands: all that has some is like that, and beside it are
    whole numbers, none of which has four digits without a point.
    """
    cells = [_plain(cell) for cell in cells if any(map(str.isdigit, cell))]
    small = sum(_SMALL_FIGURE.fullmatch(cell) is not None for cell in cells)
    pointed = sum(_POINTED_FIGURE.fullmatch(cell) is not None for cell in cells)
    return small > 0 < pointed and small + pointed == len(cells)


def _plain(cell: str) -> str:
    """Return a cell without what is written beside its figure: gaps between thousands, an uncertainty, and
    the same rate once more in another unit, as fio has it (`40MiB/s (42MB/s)`).
    """
    return _figures(cell)[0]


def _figures(cell: str) -> list[str]:
    """Return a cell without gaps between thousands, and uncertainties, or the two that it has of one rate."""
    cell = _in_bytes(_UNCERTAINTY.sub(_certain, _OF_BOTH.sub(r"\1", _without_words(cell.strip()))))
    if grouped := _GROUPED.fullmatch(cell):
        cell = grouped[1] + re.sub(r"\D", "", grouped[2]) + grouped[3]
    return _said_twice(cell)


def _said_twice(cell: str) -> list[str]:
    """Return the figures of a cell that has one rate in two units, as fio has it: in 1024s and in 1000s. Of
    another one in brackets (`520 MB/s (480 MB/s)`, what was before, or promised) the first; else the cell.
    """
    again = _SAID_AGAIN.fullmatch(cell)
    if not again or not (unit_factor("bandwidth", again[2]) and unit_factor("bandwidth", again[4])):
        return [cell]
    return [again[1], again[3]] if ("i" in again[2].lower()) != ("i" in again[4].lower()) else [again[1]]


def _without_words(cell: str) -> str:
    """Return a cell without words that say that its figure is about right, a mean, or an extreme."""
    for words in (_ABOUT, _MEAN, *_EXTREMES.values()):
        cell = words.sub("", cell)
    return cell


def _certain(found: re.Match[str]) -> str:
    """Return the end of a figure without its uncertainty, which may bear the unit of both."""
    unit = found[3] if found[3] and found[3] != "%" else ""
    return f"{found[1]} {unit}".rstrip() if found[1].isdigit() else found[1]


def quantities(cell: str, kind: str, part: str, unit: str, *, commas: bool = False) -> list[Quantity] | None:
    """Return the figures in a cell; `unit` holds where the cell names none. None if the cell cannot be
    read. With `commas` every comma is a decimal one.
    """
    near = _NEAR if _ABOUT.match(cell.strip()) else 0.0
    extreme = next((name for name, words in _EXTREMES.items() if words.match(cell.strip())), "")
    part = part or extreme
    cell, *again = _figures(cell)
    if _SCIENTIFIC.fullmatch(cell):
        cell = format(Decimal(cell), "f")
    pieces = _BETWEEN.split(cell) if _DIRECTED.search(cell) else [cell, *again]
    found: list[Quantity] = []
    for piece in pieces:
        match = _PIECE.fullmatch(piece)
        number = _number(match["number"], commas=commas) if match else None
        if match is None or number is None:
            return None
        own = match["unit"].strip()
        own = PER_SECOND.sub("", own).strip() if kind == "iops" else own
        own = own or unit
        factor = unit_factor(kind, own)
        if factor is None:
            return None
        value, step, comma = number
        step = max(step, near * value)
        direction = _DIRECTIONS.get((match["direction"] or "").lower(), "")
        shown = f"{match['number']} {own}".strip()
        twice = bool(again and found)
        found.append(Quantity(kind, part, direction, value * factor, step * factor, shown, own, comma, twice))
    return found


def _number(text: str, *, commas: bool) -> tuple[float, float, bool] | None:
    """Return value, step of the last digit, and whether it was written with a decimal comma."""
    comma = _DECIMAL_COMMA.fullmatch(text) is not None or (commas and text.count(",") == 1)
    if commas and _POINTED.fullmatch(text):
        text = text.replace(".", "").replace(",", ".")
    elif comma:
        text = text.replace(",", ".")
    elif _THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    if not _PLAIN.fullmatch(text) or len(text) > 30:
        return None
    return float(text), 10.0 ** -len(text.partition(".")[2]), comma


def plain_number(cell: str) -> float | None:
    """Return the number of a cell; infinite if it bears a unit, None if there is none."""
    found = _SIGNED.fullmatch(cell.strip("%x×* "))
    if not found:
        return math.inf if any(map(str.isdigit, cell)) else None
    return float(found[0].replace(",", ""))


def size_of(text: str) -> int | None:
    """Return the bytes of a size such as `4k`; None if it is none."""
    try:
        return parse_size(text) or None
    except (ValueError, OverflowError):
        return None


def is_figure(cell: str) -> bool:
    """Return whether a cell is a figure with its unit at the most, and no words that begin with one."""
    return _FIGURE.fullmatch(cell) is not None


def bears_figure(cell: str) -> bool:
    """Return whether a cell is a figure, also behind a word that says what bound it is, or that it is about
    right (`max. 491 MB/s`, `up to 491`), or ends with one of a bandwidth or time, or of thousands of IOPS.
    """
    figure = is_figure(_BOUND.sub("", _without_words(cell)))
    return figure or _ENDS_WITH_FIGURE.search(cell) is not None


def starts_number(cell: str) -> bool:
    """Return whether a cell begins as a figure does."""
    return cell[:1].isdigit()
