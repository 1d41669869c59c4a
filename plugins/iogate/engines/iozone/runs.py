"""The runs of iozone in a text that may hold several of them, amid others' words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from iogate.engines.iozone.text import BANNER, END, TABLE, THROUGHPUT

_Kind = Literal["banner", "preamble", "table", "throughput", "end"]

_MARKS: tuple[tuple[_Kind, tuple[str, ...]], ...] = (
    ("banner", (BANNER,)),
    (
        "preamble",
        (
            "Run began:",
            "Command line used:",
            "Output is in ",
            "Auto Mode",
            "File size set to ",
            "Record Size ",
            "Using minimum file size of ",
            "O_DIRECT feature enabled",
        ),
    ),
    ("table", ("reclen",)),
    ("throughput", (THROUGHPUT,)),
    ("end", (END,)),
)
"""Words by which the parts of a run are known. They are searched for one by one, which takes a tenth of the
time that an expression of all of them does."""
_LAST_OF_THROUGHPUT = (THROUGHPUT, "Parent sees throughput", " throughput per ", "Min xfer", "xfer count")
_FIRST_OF_LINE = re.compile(r"\s*(?:\S+ Mode\. )?")
_ROWS = re.compile(r"[^\n]*\n(?:[\d \t]*\n)*(?:[\d \t]*\Z)?")


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield the runs in a text that have figures, each with the number of its first line (from 1).

    One begins with its banner; without it, with the first line that is of a preamble or has figures. It ends
    with its last words; without them, with its last figure.
    """
    line = counted = 0
    for start, end in _spans(text):
        line += text.count("\n", counted, start)
        counted = start
        yield line + 1, text[start:end]


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each run with figures begins and ends."""
    start, figures = -1, -1
    mode = ""
    for place, kind in [*_marks(text), (len(text), "banner")]:
        begins = kind == "banner" or (mode and kind != mode) or kind == mode == "table"
        if mode and kind == "end":
            yield start, place + len(END)
        elif mode and begins:
            yield start, _last(text, mode, figures, place)
        if begins or kind == "end":
            start, mode = -1, ""
        if kind == "end":
            continue
        if start < 0:
            start = text.rfind("\n", 0, place) + 1
        if kind in ("table", "throughput"):
            mode, figures = kind, place


def _marks(text: str) -> list[tuple[int, _Kind]]:
    """Return the places of all marks, in order."""
    found: list[tuple[int, _Kind]] = []
    for kind, all_words in _MARKS:
        for words in all_words:
            place = text.find(words)
            while place >= 0:
                if _stands(text, place, kind):
                    found.append((place, kind))
                place = text.find(words, place + len(words))
    return sorted(found)


def _stands(text: str, place: int, kind: _Kind) -> bool:
    """Return whether a mark is where iozone prints it: preambles and headers at the beginning of a line."""
    begin = text.rfind("\n", 0, place) + 1
    if kind == "preamble":
        return place - begin < 40 and _FIRST_OF_LINE.fullmatch(text, begin, place) is not None
    return kind != "table" or TABLE.match(text, begin) is not None


def _last(text: str, mode: str, figures: int, limit: int) -> int:
    """Return where the figures of a run end that does not say its last words."""
    if mode == "throughput":
        place = max(text.rfind(words, figures, limit) for words in _LAST_OF_THROUGHPUT)
        end = text.find("\n", place, limit)
        return limit if end < 0 else end + 1
    rows = _ROWS.match(text, text.rfind("\n", 0, figures) + 1, limit)
    return rows.end() if rows else limit
