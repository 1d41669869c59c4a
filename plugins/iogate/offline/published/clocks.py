"""Throughputs that are a size divided by whole seconds: a clock that counted nothing smaller."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from iogate.offline.published.cells import Quantity
from iogate.offline.published.findings import FigureFinding, FigureFindings
from iogate.offline.published.row import Row
from iogate.offline.published.tables import Table

_CHANCE = 1e-6
_CHANCE_OF_UNLIKE = 1e-5  # of equal figures one: what reaches one limit again and again fits as often
_GROSS = 20
_MOST_SIZES = 16  # a text that names more of them names one that fits any figure
_SIZE = re.compile(r"\b(\d{1,4})\s*G(i?)[bB]\b(?! ?(?:/ ?s|per s))")


@dataclass(frozen=True)
class _Match:
    """A figure that would be `seconds` of work; `chance` is how likely any number would fit as well."""

    row: Row
    figure: Quantity
    seconds: int
    chance: float


def sizes(lines: Iterable[str]) -> list[float]:
    """Return the first sizes of some GB that a text names, in bytes as people mean them: 10 GB is 10 x 2^30
    or 10^10.
    """
    named = (int(match[1]) for line in lines if "G" in line for match in _SIZE.finditer(line))
    counts: dict[int, None] = {}
    for count in filter(None, named):
        counts[count] = None
        if len(counts) == _MOST_SIZES:
            break
    # The unit of the tables is MB where 10 GB are 10240 MB: then MB and MiB cannot be told apart.
    return sorted({float(count * unit) for count in counts for unit in (1024 * 10**6, 2**30, 10**9)})


def whole_seconds(tables: Sequence[Table], known: Sequence[float]) -> FigureFindings:
    """Find throughputs that are a size divided by whole seconds.

    The clock counted nothing smaller: `invalid` below 20 s, where a figure may be off by 5% and more;
    `suspect` above. At least four figures, and four fifths of a table, must fit, with a chance of less than
    one in a million that others would; one in a hundred thousand, if equal figures count once.

    Take a figure for the range that the finding names.
    """
    for table in tables:
        best = max((_matches(table, size) for size in known), key=lambda found: -_chance(found), default=[])
        figures = [figure for row in table.rows for figure in row.figures if figure.kind == "bandwidth"]
        if all(_is_round(match.figure) for match in best):
            continue
        if len(best) < 0.8 * len(figures) or len(best) < 4 or _chance(best) > _CHANCE:
            continue
        if _chance({match.figure.number: match for match in best}.values()) > _CHANCE_OF_UNLIKE:
            continue
        for match in best:
            yield _finding(match)


def _chance(matches: Iterable[_Match]) -> float:
    return math.prod(match.chance for match in matches)


def _matches(table: Table, size: float) -> list[_Match]:
    found = []
    for row in table.rows:
        for figure in row.figures:
            if figure.kind == "bandwidth" and figure.value > 0:
                match = _match(row, figure, size)
                if match:
                    found.append(match)
    return found


def _match(row: Row, figure: Quantity, size: float) -> _Match | None:
    """Return the whole seconds in which a size was moved at this rate; None if there are none that fit.

    Each thread may leave out its last, incomplete block: then a little less than the size was moved.
    """
    seconds = size / figure.value
    lost = seconds * ((row.block or 0) * (row.jobs or 1)) * 1.06 / size
    rounding = seconds * figure.step / figure.value + 1e-6
    below, above = math.floor(seconds + rounding), math.ceil(seconds - rounding)
    nearest = below if seconds - below <= lost + rounding else above
    if nearest < 1 or not -rounding <= seconds - nearest <= lost + rounding:
        return None
    return _Match(row, figure, nearest, min(1.0, lost + 2 * rounding))


def _is_round(figure: Quantity) -> bool:
    """Return whether a figure may well be a limit that somebody set: 500.0 MB/s, 125 MB/s."""
    digits = str(round(figure.value / figure.step)).rstrip("0")
    return len(digits) <= 1 or digits in ("25", "75", "125")


def _finding(match: _Match) -> FigureFinding:
    seconds, unit = match.seconds, match.figure.unit
    one = match.figure.number * seconds
    slowest = one / (seconds + 1)
    fastest = f"{one / (seconds - 1):.4g}" if seconds > 1 else "no limit"
    label = f"{match.row.label}: " if match.row.label else ""
    return FigureFinding(
        match.row.line,
        "whole_seconds",
        "invalid" if seconds < _GROSS else "suspect",
        frozenset({"bandwidth"}),
        f"{label}{match.figure.text} is {one:.5g} {unit.partition('/')[0]} in {seconds} s by a clock that "
        f"counts whole seconds: anything from {slowest:.4g} to {fastest}",
    )
