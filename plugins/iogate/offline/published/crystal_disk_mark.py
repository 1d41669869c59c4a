"""What CrystalDiskMark (https://crystalmark.info) and KDiskMark save as text, a line a test, as tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from iogate.offline.published.raw_table import RawTable

_SECTION = re.compile(r"\[(Read|Write|Mix)\]")
_TEST = re.compile(  # of a line whose blanks are single ones: several optional ones in a row would take long
    r"(?P<test>SEQ|RND|Sequential|Random) ?(?P<direction>Read|Write)? ?(?P<block>\d+ ?[KM]i?B)? ?"
    r"(?:\((?:QD?= ?(?P<depth>\d+))?(?:, ?)?(?:T= ?(?P<threads>\d+))?\))? ?: (?P<rate>[\d.,]+) MB/s"
    r"(?: \[ ?(?P<iops>[\d.,]+) IOPS ?\])?(?: < ?(?P<latency>[\d.,]+) us ?>)?"
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
        line = " ".join(line[:_LONGEST_LINE].lstrip("> \t").split())
        if found := _TEST.fullmatch(line):
            own = found["direction"] or direction
            header, title = _header(own), f"CrystalDiskMark {own}".rstrip()
            table = tables.setdefault(own, RawTable(number, title, header=[header]))
            table.rows.append((number, [(found[name] or "").strip() for name in _NAMES]))
        elif line:
            yield from tables.values()
            tables = {}
            section = _SECTION.match(line)
            direction = section[1] if section and section[1] != "Mix" else ""
    yield from tables.values()


def _header(direction: str) -> list[str]:
    figures = (f"{direction} {name}".strip() for name in ("BW (MB/s)", "IOPS", "latency (us)"))
    return ["Test", "Block size", "QD", "Threads", *figures]
