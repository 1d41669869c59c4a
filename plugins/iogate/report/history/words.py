"""Histories as people read them in a terminal."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from iogate.judge.history import CHANCE, SHORTEST
from iogate.report.history.values import Drift, LeftOut, LevelChange, MetricHistory
from iogate.report.names import told_apart
from iogate.units import (
    format_change,
    format_quantity,
    format_share,
    no_commands,
    plural,
    printable,
    some_of,
)

_BARS = "▁▂▃▄▅▆▇█"
_WIDTH = 40
_LINE = 110
_SPAN = 6.0  # of the noise: the least that a sparkline shows
_NAMED = 3
_YOUNG = 12
_HEADERS = ("workload", "metric", "sessions", "first", "last", "change", "noise", "")


def history_text(
    histories: Sequence[MetricHistory], left_out: Sequence[LeftOut], *, by_session: bool = False
) -> str:
    """Return histories as a table with a line for each metric, what changed in words, and what was left out;
    `by_session` adds a table of each metric, session by session.
    """
    parts = []
    for device in dict.fromkeys(one.device for one in histories):
        own = told_apart([one for one in histories if one.device == device])
        parts.append(f"{device}: {_period(own)}\n\n{_table(own)}")
        parts += ["\n".join(lines) for one in own if (lines := list(_said(one)))]
        parts += [sessions_table(one) for one in own] if by_session else []
    notes = [*_notes(histories), *left_out_lines(left_out)]
    parts += ["\n".join(_wrapped(notes))] if notes else []
    return no_commands("\n\n".join(parts))


def sparkline(values: Sequence[float], width: int = _WIDTH, span: float = 0.0) -> str:
    """Return values as bars, the lowest as ▁ and the highest as █, if they are at least `span` apart: noise
    must not look like mountains. Of more than `width` it is the medians of as many parts.
    """
    if len(values) > width:
        edges = [round(index * len(values) / width) for index in range(width + 1)]
        values = [sorted(values[a:b])[(b - a) // 2] for a, b in itertools.pairwise(edges)]
    low, high = min(values), max(values)
    spare = max(0.0, span - (high - low)) / 2
    low, high = low - spare, high + spare
    if high - low <= 1e-9 * abs(high):
        return _BARS[3] * len(values)
    return "".join(_BARS[min(7, int(8 * (value - low) / (high - low)))] for value in values)


def sessions_table(history: MetricHistory) -> str:
    """Return a metric session by session."""
    from tabulate import tabulate

    changes = {one.index: one for one in history.changes}
    rows = []
    for index, point in enumerate(history.points):
        said = format_change(changes[index].change) if index in changes else ""
        said = "stands out alone" if point.spike and not said else said
        value = format_quantity(point.value, history.unit)
        rows.append((point.session, value, f"±{format_share(point.error)}", str(point.repetitions), said))
    headers = (f"{history.workload} {history.metric}", "value", "error", "runs", "")
    align = ("left", "right", "right", "right", "left")
    return str(tabulate(rows, headers, tablefmt="simple", disable_numparse=True, colalign=align))


def _period(histories: Sequence[MetricHistory]) -> str:
    sessions = sorted({(point.session, point.date) for one in histories for point in one.points})
    return f"{plural(len(sessions), 'session')}, {sessions[0][1]} to {sessions[-1][1]}"


def _table(histories: Sequence[MetricHistory]) -> str:
    from tabulate import tabulate

    rows, before = [], None
    for one in histories:
        first, last = one.first, one.last
        name = (one.suite, one.workload)
        rows.append(
            (
                "" if name == before else one.workload,
                one.metric,
                str(len(one.points)),
                format_quantity(first, one.unit),
                format_quantity(last, one.unit),
                format_change(last / first - 1) if one.changes or one.drift else "",
                format_share(one.noise) if len(one.points) > 1 else "",
                sparkline([math.log(point.value) for point in one.points], span=_SPAN * one.noise),
            )
        )
        before = name
    align = ("left", "left", "right", "right", "right", "right", "right", "left")
    return str(tabulate(rows, _HEADERS, tablefmt="simple", disable_numparse=True, colalign=align))


def _said(history: MetricHistory) -> Iterator[str]:
    """Yield what changed, and what was about it."""
    if not history.changes and not history.drift:
        return
    yield f"{history.workload} {history.metric}"
    for change in history.changes:
        yield f"  {change.date}  {_change_text(change, history)}"
        around = change.around or ("nothing that is known of machine, software and options changed with it",)
        for line in around:
            yield from _wrap(line, "    ", "      ")
    if history.drift:
        yield from _wrap(_drift_text(history.drift, history), "  ", "    ")


def _change_text(change: LevelChange, history: MetricHistory) -> str:
    low, high = change.interval
    before, after = (format_quantity(value, history.unit) for value in (change.before, change.after))
    what = "worse" if change.worse else "better"
    moved = f"{format_change(change.change)} [{format_change(low)}, {format_change(high)}]"
    return f"{what}: {before} -> {after}, {moved}, session {change.session}"


def _drift_text(drift: Drift, history: MetricHistory) -> str:
    low, high = drift.interval
    moved = f"{format_change(drift.change)} [{format_change(low)}, {format_change(high)}]"
    before, after = (format_quantity(value, history.unit) for value in (drift.before, drift.after))
    text = f"{plural(drift.steps, 'change')} since {drift.since} add up to {moved}: {before} -> {after}"
    if drift.largest >= drift.tolerance:
        return text
    within = f"within the tolerance of {format_share(drift.tolerance)}"
    return f"{text}; the largest is {format_share(drift.largest)}, {within}: no single comparison sees that"


def _notes(histories: Sequence[MetricHistory]) -> Iterator[str]:
    """Yield what a reader must know of the method."""
    count = plural(len(histories), "metric")
    young = [len(one.points) for one in histories if len(one.points) < _YOUNG]
    if young:
        few = f"{len(young)} of {count} with fewer than {_YOUNG} sessions (the fewest {min(young)})"
        yield f"{few}: only large changes can be told there, and none of fewer than {2 * SHORTEST} sessions"
    looks = round(1 / (CHANCE * max(1, len(histories))))
    every = f"; any of these {count}: in {looks}" if len(histories) > 1 else ""
    at_most = f"at one look in {round(1 / CHANCE)} at most"
    yield f"by chance alone a metric is said to have changed {at_most}{every}"


def left_out_lines(left_out: Iterable[LeftOut]) -> Iterator[str]:
    """Yield what was left out, each reason once."""
    by_reason: dict[str, list[LeftOut]] = {}
    for item in left_out:
        by_reason.setdefault(item.why, []).append(item)
    for why, items in by_reason.items():
        named = bool(items[0].file) and items[0].file in why
        which = "" if named else _which(items)
        yield printable(": ".join(filter(None, ("left out", which, why))))


def _which(items: Sequence[LeftOut]) -> str:
    """Return which workloads and sessions these are, or which files."""
    dates = sorted(date for date, _ in {(item.date, item.file) for item in items if item.date})
    names = list(dict.fromkeys(item.workload for item in items if item.workload))
    files = list(dict.fromkeys(item.file for item in items))
    what = some_of(names or files, _NAMED)
    if not dates:
        return what
    period = " to ".join(dict.fromkeys((dates[0], dates[-1])))
    period += f", {len(dates)} sessions" if len(dates) > 1 else ""
    return " ".join(filter(None, [what, f"({period})"]))


def _wrap(line: str, first: str, others: str) -> list[str]:
    return textwrap.wrap(
        line,
        _LINE,
        initial_indent=first,
        subsequent_indent=others,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _wrapped(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield from _wrap(line, "", "    ")
