"""The columns of a table of figures: what each holds, by its heading."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from iogate.offline.published.cells import LATENCIES, starts_number, unit_in
from iogate.offline.published.fio_fields import in_words
from iogate.offline.published.heading_subjects import (
    is_apart,
    is_latency,
    is_of_another,
    is_spread,
    names_a_figure,
    place_in,
    subject_in,
    whose,
)
from iogate.offline.published.headings import (
    COUNTED,
    MEASURED,
    counted_in,
    direction_in,
    kind_in,
    part_in,
    rate_in,
    with_conditions,
)

_UNCERTAINTY = re.compile(
    r"(?<=\w) ?(?:±|\+/-|\+-) ?(?:std|sd|s\.d|stdev|sigma|σ|ci|err|dev|min|max)\w*\.?", re.I
)
_WIDE = str.maketrans("（）［］【】：／，", "()[][]:/,")
_SHORT = re.compile(r"[(\[]?\b(?:qd?\d+(?:t\d+)?|t\d+)\b[)\]]?", re.IGNORECASE)
_NUMBERED = re.compile(  # of which percentile, of which run, of which block
    r"\d+(?:\.\d+)?(?:th|st|nd|rd)\b|9\d(?:\.\d+)? ?%.*[a-z]|(?:4|8|16|32|64|128|256|512) ?k(?:i?b)? .*iops"
    r"|1 ?m(?:i?b)? .*(?:[kmg]i?b/s|bandwidth|throughput)"
    r"|\d+ ?[km](?:i?b)? (?:seq|rand|rnd|read|write|mix)\w*",
    re.IGNORECASE,
)
_TIME = re.compile(r"(?<= )[mnuµμ]s(?:ec)?(?= )")  # amid the name of a variable: lat_us_p99
_CAMEL = re.compile(  # TotalIOPS, readIops, AvgLat: names of variables, too
    r"(?<=[a-z\d])(?=(?:Avg|Average|Bandwidth|Bw|BW|Iops|IOPS|Lat|Latency|Max|Mean|Min|MBps|Ms|Ns|Read|Std|Throughput|Us"
    r"|Write|P\d+)(?![a-z]))|(?<=IOPS)(?=[A-Z][a-z])|(?<=BW)(?=[A-Z][a-z])"
    r"|(?<=[\u3040-\u9fff\uac00-\ud7a3])(?=[A-Za-z])"  # 读IOPS
)
_JOINED = re.compile(  # avglat, latmean, p99lat, latus
    r"(?:(?<=avg)|(?<=mean)|(?<=min)|(?<=max)|(?<=p\d\d)|(?<=p\d\d\d))(?=[cst]?lat)"
    r"|(?<=lat)(?=avg|mean|min|max|p\d\d|[mnu]s\b)",
    re.IGNORECASE,
)
_KIND_OF_UNIT = {"bandwidth": "bandwidth", **dict.fromkeys(LATENCIES, "lat")}


@dataclass(frozen=True)
class Column:
    """What a column holds: a kind, a part of it (min, max, p99; empty: mean), its unit, and the direction
    that its heading names (`read`, `random write`; empty: none). `subject` is what else it says: of which
    system, or run, and `place` where on its way, too; `apart` if it is held against no other column: a limit,
    or a part of the whole.

    What is `unknown` names a figure, and it is not understood which.
    The unit is k or M of IOPS and sizes whose numbers are of so many; of depths `total` if they are those of
    all jobs; of copies `disks` if each has a link of its own.
    """

    header: str
    kind: str = ""
    part: str = ""
    unit: str = ""
    direction: str = ""
    subject: str = ""
    place: frozenset[str] = frozenset()
    apart: bool = False
    unknown: bool = False


def column_of(header: str, legend: Mapping[str, str]) -> Column:
    """Return what a heading says; `legend` has units by the words that stand for them."""
    found = _column(header)
    if found.unit or found.kind in COUNTED or not legend:
        return found
    words = _read(header)[2].split()
    return replace(found, unit=next((legend[word] for word in words if word in legend), ""))


def _read(header: str) -> tuple[str, str, str]:
    """Return a heading as it is read, with its words apart, and these in small letters."""
    header = " ".join(header.translate(_WIDE).split())
    header = _UNCERTAINTY.sub("", in_words(header)).strip()
    words = _JOINED.sub(" ", _CAMEL.sub(" ", header))
    return header, words, with_conditions(words.lower().replace("_", " "))


@lru_cache(maxsize=16384)
def _column(header: str) -> Column:
    """Return what a heading says by itself: lines that may be headings are looked at again and again."""
    header, words, text = _read(header)
    named = unit_in(header) or unit_in(_SHORT.sub(" ", header))
    kind = kind_in(text)
    direction = direction_in(text, kind)
    if not named and (direction or kind in MEASURED):
        last = unit_in(rate_in(header, kind) or words.replace("_", " ").rpartition(" ")[2])
        last = last or (unit_in(header.partition(" ")[0]) if direction else None)
        last = last or next(filter(None, map(unit_in, _TIME.findall(text))), None)
        if kind in MEASURED:  # `reads/s` is no time
            last = last or unit_in(header.rpartition(",")[2]) or unit_in(header.partition("/")[2])
        named = last if last and (not kind or _KIND_OF_UNIT.get(kind) == last[0]) else None
    alone = named == ("bandwidth", header.strip())  # of a time nobody knows what it is of
    if not (named or kind or direction) and (beside := _unit_beside(header.replace("_", " "))):
        named, alone = beside, True
    unit = named[1] if named else ""
    subject, place = subject_in(text, kind, unit), place_in(text, kind, unit)
    if not kind and named and (direction or "(" in header or "[" in header or alone):
        kind = "time" if named[0] == "lat" and not is_latency(text, named[1], subject) else named[0]
    direction = direction or direction_in(text, kind)
    unknown = not (kind or is_spread(text)) and names_a_figure(text, in_units=named is not None)
    if is_of_another(text, kind):
        kind = "copies" if kind == "jobs" else ""
        direction = ""
    if is_spread(text):
        kind = direction = ""
    if kind in COUNTED:
        unit = counted_in(text, kind)
    told = direction if kind in MEASURED or not kind else ""
    apart = kind in MEASURED and is_apart(text)
    return Column(header, kind, part_in(text, kind), unit, told, subject, place, apart, unknown)


def _unit_beside(header: str) -> tuple[str, str] | None:
    """Return the kind and unit that a heading begins or ends with whose other words say how, and not of what:
    `Avg MB/s`, `MBps Achieved`, `p99 us`.
    """
    words = [word.rstrip(",;:") for word in header.split()]
    for word in (words[-1:] + words[:1]) if len(words) > 1 else ():
        named = unit_in(word) if word != "s" else None
        if named and not whose(subject_in(header.lower().replace("_", " "), "", named[1])):
            return named
    return None


def begins_figure(cell: str) -> bool:
    """Return whether a cell begins as a figure does, and not as a heading may: `99th (ms)`, `4k IOPS`."""
    return starts_number(cell) and not _NUMBERED.match(cell)


def heads_figures(cells: Sequence[str]) -> bool:
    """Return whether cells are headings of which one is of a figure."""
    if any(map(begins_figure, cells)):
        return False
    return any(found.kind in MEASURED or found.direction for found in (column_of(cell, {}) for cell in cells))


def names_figures(title: str) -> bool:
    """Return whether a title, or a heading, says of what figures are, or in what unit."""
    return column_of(title.lstrip("#/<!-* "), {}).kind in MEASURED or unit_in(title) is not None
