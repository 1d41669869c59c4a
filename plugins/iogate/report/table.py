"""The table of a session in a terminal: worst first, as wide as there is room, in colour if there is any."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from iogate.report.headline import QUIET, metrics_worst_first, worst_first
from iogate.report.results import MetricRecord, WorkloadRecord
from iogate.units import format_change, format_quantity, format_share, plural, printable

_GAP = 2
_LEAST = 5  # columns of a name that is folded
_PARTS = re.compile(r"[^-_,./\[]+[-_,./\[]*|[-_,./\[]+")
_STYLES: Mapping[str, str] = {
    "regressed": "bold red",
    "invalid": "red",
    "inconclusive": "yellow",
    "no_baseline": "yellow",
    "drift": "yellow",
    "improved": "green",
    "pass": "green",
    "recorded": "cyan",
}
_FIGURES = ("measured", "baseline", "change", "interval", "tolerance", "runs")
_COLUMNS = ("workload", "metric", *_FIGURES, "verdict")
_ALWAYS = frozenset({"workload", "verdict"})
_RIGHT = frozenset({"measured", "baseline", "tolerance", "runs"})
_FOLDED = frozenset({"workload", "metric"})
_LEFT_OUT = ("runs", "interval", "tolerance", "baseline")
"""What is left out for want of room, in this order; at last names are folded."""

Row = Mapping[str, str]


@dataclass(frozen=True)
class Look:
    """How a table may look: at most `width` columns (None: no limit), in `colour`, with `everything`: all
    metrics, and all workloads however many, instead of `most` that are as they should be.
    """

    width: int | None = None
    colour: bool = False
    everything: bool = False
    most: int | None = None


def session_table(workloads: Sequence[WorkloadRecord], look: Look, *, pairs: bool = False) -> str:
    """Return one row for each gating metric, or all metrics, regressed ones first; a workload without
    measurements has a row, too. Below it stands what was left out.
    """
    ordered = worst_first(workloads)
    quiet = [workload for workload in ordered if workload.verdict in QUIET]
    hidden = [] if look.everything or look.most is None else quiet[look.most :]
    shown = ordered[: len(ordered) - len(hidden)]
    rows = [row for workload in shown for row in _rows(workload, look.everything)]
    titles = {"measured": "B", "baseline": "A", "runs": "blocks"} if pairs else {}
    text, left_out = _fitted(rows, look, titles)
    below = []
    if hidden:
        below.append(f"and {plural(len(hidden), 'workload')} more that passed; -v shows all")
    if left_out:
        below.append(f"no room for: {', '.join(titles.get(name, name) for name in left_out)}")
    return "\n".join([text, *(line for each in below for line in wrapped(each, look))])


def wrapped(text: str, look: Look) -> list[str]:
    """Return a sentence on lines that fit, if there is a limit."""
    return textwrap.wrap(text, look.width, break_on_hyphens=False) if look.width else [text]


def _rows(workload: WorkloadRecord, everything: bool) -> Iterator[Row]:
    runs = str(workload.repetitions)
    metrics = dict(workload.metrics) if everything else workload.gating
    if not metrics:
        yield {"workload": printable(workload.workload), "runs": runs, "verdict": workload.verdict}
        return
    for index, (name, item) in enumerate(metrics_worst_first(metrics)):
        yield {
            "workload": printable(workload.workload) if index == 0 else "",
            "metric": printable(name),
            "measured": measured_text(item),
            "baseline": "" if item.baseline is None else format_quantity(item.baseline, item.unit),
            "change": "" if item.change is None else format_change(item.change),
            "interval": interval_text(item),
            "tolerance": "" if item.tolerance is None else format_share(item.tolerance),
            "runs": runs if index == 0 else "",
            "verdict": item.verdict if item.gating else "",
        }


def measured_text(item: MetricRecord) -> str:
    """Return what was measured, in units that people read."""
    return "not finite" if item.value is None else format_quantity(item.value, item.unit)


def interval_text(item: MetricRecord) -> str:
    """Return `[-8.3%, -5.9%]`; empty if it is not known."""
    if item.change is None or item.interval is None:
        return ""
    low, high = item.interval
    return f"[{format_change(low)}, {format_change(high)}]"


def _fitted(rows: Sequence[Row], look: Look, titles: Mapping[str, str]) -> tuple[str, list[str]]:
    """Return a table of as many columns as there is room for, and the names of those left out."""
    from rich.cells import cell_len

    columns = [name for name in _COLUMNS if name in _ALWAYS or any(row.get(name) for row in rows)]
    widths = {
        name: max(cell_len(text) for text in (titles.get(name, name), *(row.get(name, "") for row in rows)))
        for name in columns
    }
    left_out = []
    for name in _LEFT_OUT:
        if look.width is None or _total(widths) <= look.width:
            break
        if widths.pop(name, None) is not None:
            left_out.append(name)
    if look.width is not None:
        _narrow(widths, look.width)
    heads = {name: "" if name == "interval" else titles.get(name, name) for name in widths}
    lines = [*_lines(heads, widths, colour=False), "-" * _total(widths)]
    for row in rows:
        lines += _lines(row, widths, colour=look.colour)
    return "\n".join(lines), left_out


def _total(widths: Mapping[str, int]) -> int:
    return sum(widths.values()) + _GAP * (len(widths) - 1)


def _narrow(widths: dict[str, int], width: int) -> None:
    """Make names narrower, the wider ones first, until all columns have room or none of them can be."""
    while _total(widths) > width:
        name = max((one for one in widths if one in _FOLDED), key=widths.__getitem__)
        if widths[name] <= _LEAST:
            return
        widths[name] -= 1


def _lines(row: Row, widths: Mapping[str, int], *, colour: bool) -> Iterator[str]:
    """Yield the lines of a row: one, if no name must be folded."""
    from rich.cells import cell_len

    pieces = {
        name: _folded(row.get(name, ""), width) if name in _FOLDED else [row.get(name, "")]
        for name, width in widths.items()
    }
    for index in range(max(map(len, pieces.values()))):
        cells = []
        for name, width in widths.items():
            text = pieces[name][index] if index < len(pieces[name]) else ""
            blank = " " * (width - cell_len(text))
            text = _coloured(text) if colour and name == "verdict" else text
            cells.append(blank + text if name in _RIGHT else text + blank)
        yield (" " * _GAP).join(cells).rstrip()


def _folded(name: str, width: int) -> list[str]:
    """Return a name in pieces that have room, parted where its own parts end if that can be."""
    from rich.cells import cell_len, chop_cells

    pieces, room = [""], width
    for part in _PARTS.findall(name):
        for piece in chop_cells(part, width):
            cells = cell_len(piece)
            if cells > room:
                pieces.append("")
                room = width
            pieces[-1] += piece
            room -= cells
    return pieces


def _coloured(verdict: str) -> str:
    from rich.color import ColorSystem
    from rich.style import Style

    if verdict not in _STYLES:
        return verdict
    return Style.parse(_STYLES[verdict]).render(verdict, color_system=ColorSystem.STANDARD)
