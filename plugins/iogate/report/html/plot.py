"""What a plot shows: its rows, which are its table, too, and the words on its axes."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from iogate.units import scale_of

_TICKS = 10
Cell: TypeAlias = "str | float | int | None"


@dataclass(frozen=True)
class Plot:
    """A plot of one `kind` (`iogate.report.html.charts`): its `columns` are the chart's fields by name, each
    with the heading of the table; `words` replace the chart's, which begin with `@`; `more` are marks beside
    the data.
    """

    kind: str
    title: str
    columns: Mapping[str, str]
    rows: Sequence[Sequence[Cell]]
    words: Mapping[str, str | Sequence[str | float]] = field(default_factory=dict)
    more: Mapping[str, Sequence[Mapping[str, Cell]]] = field(default_factory=dict)
    note: str = ""

    def plain(self) -> dict[str, Any]:
        """Return it in the types of JSON, without what is empty."""
        found = {
            "kind": self.kind,
            "title": self.title,
            "keys": list(self.columns),
            "heads": list(self.columns.values()),
            "rows": self.rows,
            "words": self.words,
            "more": self.more,
            "note": self.note,
        }
        return {key: value for key, value in found.items() if value}


@dataclass(frozen=True)
class DisplayUnit:
    """The unit in which the figures of one plot are shown: all of them in the same."""

    factor: float
    unit: str

    @classmethod
    def of(cls, values: Iterable[float | None], unit: str) -> DisplayUnit:
        """Return the unit that suits the middle of some figures, which are in `unit`."""
        known = [abs(value) for value in values if value]
        return cls(*scale_of(statistics.median(known) if known else 1.0, unit))

    def __call__(self, value: float | None) -> float | None:
        """Return a figure in this unit."""
        return None if value is None else short(value / self.factor)

    def head(self, text: str) -> str:
        """Return a heading with the unit: `latency (µs)`."""
        return f"{text} ({self.unit})" if self.unit else text


def short(value: float) -> float:
    """Return five significant digits."""
    rounded = float(f"{value:.5g}")
    return int(rounded) if rounded.is_integer() else rounded


def percent(fraction: float) -> float:
    """Return a fraction in per cent, as it is shown."""
    return short(round(100 * fraction, 3))


def whole_ticks(first: int, last: int) -> list[float]:
    """Return whole numbers for an axis, at most about ten of them."""
    step = max(1, math.ceil((last - first) / _TICKS))
    return [float(value) for value in range(first, last + 1, step)]
