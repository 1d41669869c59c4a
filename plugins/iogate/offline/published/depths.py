"""Queue depth and threads in a row's name of its test."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from iogate.offline.published.blocks import names_test
from iogate.offline.published.columns import Column

_ONE = r"(?![\d.,]*\d|[km]\b| ?(?:[-–/~+]|to|and|or) ?(?:qd?)?\d)"  # no range, and no list
_DEPTH = re.compile(  # a Q by itself may be of a year: it needs a size before, or threads behind it
    r"(?<![^\W_])(?:(?:qd|queue(?:[ _-]?depth)?|io[ _-]?depth)[ _]?[=:]?[ _]?|q(?=\d+[ _-]?t\d)"
    rf"|(?<=[kmb][ _-])q)(\d{{1,6}}){_ONE}",
    re.IGNORECASE,
)
_TAKEN = "\0"
"""What is put for the depth of a name."""
_THREADS = re.compile(  # T and a number alone may be a notebook, but behind the depth
    rf"{_TAKEN}[ _/,-]{{0,2}}t[ _]?[=:]?(\d{{1,6}})(?![\d.,]*\d|[^\W_])"
    r"|(?<![^\W_])(?:threads?|jobs|numjobs)[ _]?[=:]?[ _]?(\d{1,6})(?![\d.,]*\d|[^\W_])"
    r"|(?<![\w.,=:])(\d{1,6})[ -]?(?:threads?|thrd|jobs?)(?![^\W_]|[ _]?[=:]?[ _]?\d)",
    re.IGNORECASE,
)
_TOGETHER = re.compile(r"total|aggregate|overall|combined|altogether", re.IGNORECASE)
_OTHERWISE = re.compile(r"\d+ ?[kmg](?:i?b)?(?![^\W_])|\d+ ?(?:/ ?\d+|%)", re.IGNORECASE)
"""Numbers of a name that are sizes, or what a mix is of."""


def parallel_of_test(cells: Sequence[str], columns: Sequence[Column]) -> Mapping[str, int]:
    """Return the `depth` that a row's name of its test has, as `RND4K Q32T16` and `4k randread QD32` do, and
    the `jobs` beside it; nothing if it has none, or several, or a range, that of all jobs together, or
    numbers that are not understood (`4T`, `j4`), which may be those of its jobs.
    """
    names = [
        cell for cell, one in zip(cells, columns, strict=False) if not one.kind and names_test(one.header)
    ]
    depths = [found[1] for name in names for found in _DEPTH.finditer(name)]
    if len(depths) != 1:
        return {}
    left = [_DEPTH.sub(_TAKEN, name) for name in names]
    jobs = [next(filter(None, found.groups())) for name in left for found in _THREADS.finditer(name)]
    left = [_OTHERWISE.sub(" ", _THREADS.sub(" ", name)) for name in left]
    if len(jobs) > 1 or any(map(str.isdigit, "".join(left))) or any(map(_TOGETHER.search, names)):
        return {}
    return {"depth": int(depths[0]), **({"jobs": int(jobs[0])} if jobs else {})}
