"""What CrystalDiskMark (https://crystalmark.info) and KDiskMark save as text, a line a test, as tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from iogate.offline.published.raw import RawTable

_SECTION = re.compile(r"[> \t]*\[(Read|Write|Mix)\]")
_TEST = re.compile(
    r"[> \t]*(?P<test>SEQ|RND|Sequential|Random) *(?P<direction>Read|Write)? *(?P<block>\d+ ?[KM]i?B)?"
    r" *(?:\((?:QD?= *(?P<depth>\d+))?(?:,? *T= *(?P<threads>\d+))?\))?"
    r" *: +(?P<rate>[\d.,]+) MB/s(?: +\[ *(?P<iops>[\d.,]+) IOPS ?\])?"
    r"(?: +< *(?P<latency>[\d.,]+) us ?>)?[ \t]*"
)
_NAMES = ("test", "block", "depth", "threads", "rate", "iops", "latency")
_LONGEST_LINE = 200


def crystal_tables(lines: Iterable[str]) -> Iterator[RawTable]:
    """Yield a table of reads, one of writes and one of a mix for each result: of sections, or of lines that
    say it themselves, as in versions before the seventh.
    """
    tables: dict[str, RawTable] = {}
    direction = ""
    for number, line in enumerate(lines, 1):
        found = _TEST.fullmatch(line) if len(line) <= _LONGEST_LINE else None
        if found:
            own = found["direction"] or direction
            header, title = _header(own), f"CrystalDiskMark {own}".rstrip()
            table = tables.setdefault(own, RawTable(number, title, header=[header]))
            table.rows.append((number, [(found[name] or "").strip() for name in _NAMES]))
        elif line.strip(" \t>"):
            yield from tables.values()
            tables = {}
            section = _SECTION.match(line)
            direction = section[1] if section and section[1] != "Mix" else ""
    yield from tables.values()


def _header(direction: str) -> list[str]:
    figures = (f"{direction} {name}".strip() for name in ("BW (MB/s)", "IOPS", "latency (us)"))
    return ["Test", "Block size", "QD", "Threads", *figures]
