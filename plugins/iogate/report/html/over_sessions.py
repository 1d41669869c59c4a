"""Many sessions on the page: each gating metric by session, where it changed, and what changed around it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from iogate.report.history import Drift, LeftOut, LevelChange, MetricHistory
from iogate.report.history.words import left_out_lines
from iogate.report.html.plot import Cell, DisplayUnit, Plot
from iogate.units import format_change, format_quantity, format_share, plural, printable

_NOTHING = "nothing that is known of machine, software and options changed with it"


@dataclass(frozen=True)
class HistoryView:
    """A metric over many sessions: its `changes` with what was about each, and what they add up to."""

    id: str
    title: str
    summary: str
    changes: Sequence[tuple[str, Sequence[str]]]
    drift: str
    plots: Sequence[dict[str, object]]


def history_views(histories: Sequence[MetricHistory]) -> list[HistoryView]:
    """Return the histories of more than one session: those first that lost something, then other changes."""
    several = [one for one in histories if len(one.points) > 1]
    several.sort(key=lambda one: (one.drift is None and not _lost(one), not one.changes))
    return [_view(one, f"history-{number}") for number, one in enumerate(several, 1)]


def left_out_text(left_out: Sequence[LeftOut]) -> list[str]:
    """Return what was left out, and why."""
    return list(left_out_lines(left_out))


def _lost(history: MetricHistory) -> bool:
    return any(change.worse for change in history.changes)


def _view(history: MetricHistory, id: str) -> HistoryView:
    last = history.points[-1]
    if history.changes:
        moved = f"{plural(len(history.changes), 'change')}, "
    else:
        moved = "" if history.drift else "no change, "
    summary = (
        f"{plural(len(history.points), 'session')}, {history.points[0].date} to {last.date}: {moved}"
        f"now {format_quantity(history.last, history.unit)}; sessions scatter by "
        f"{format_share(history.noise)}"
    )
    return HistoryView(
        id=id,
        title=printable(f"{history.device}: {history.suite}/{history.workload} {history.metric}"),
        summary=printable(summary),
        changes=[
            (printable(_change(change, history.unit)), [*map(printable, change.around or (_NOTHING,))])
            for change in history.changes
        ],
        drift=printable(_drift(history.drift, history.unit)) if history.drift else "",
        plots=[_plot(history).plain()],
    )


def _change(change: LevelChange, unit: str) -> str:
    what = "worse" if change.worse else "better"
    return f"{change.date}, {what}: {_moved(change, unit)}"


def _drift(drift: Drift, unit: str) -> str:
    text = f"{plural(drift.steps, 'change')} since {drift.since} add up: {_moved(drift, unit)}"
    if drift.largest >= drift.tolerance:
        return text
    within = f"the tolerance of {format_share(drift.tolerance)}"
    return f"{text}; the largest, {format_share(drift.largest)}, is within {within}: no comparison sees that"


def _moved(item: LevelChange | Drift, unit: str) -> str:
    before, after = (format_quantity(value, unit) for value in (item.before, item.after))
    low, high = map(format_change, item.interval)
    return f"{before} to {after}, {format_change(item.change)} [{low}, {high}]"


def _plot(history: MetricHistory) -> Plot:
    """Return the sessions with their errors, the levels that the metric held, and where it changed."""
    unit = DisplayUnit.of([point.value for point in history.points], history.unit)
    head = unit.head(history.metric)
    rows: list[tuple[Cell, ...]] = [
        (
            point.session,
            unit(point.value),
            unit(point.value * (1 - point.error)),
            unit(point.value * (1 + point.error)),
            point.repetitions,
            "stands out alone" if point.spike else "session",
        )
        for point in history.points
    ]
    columns = {"session": "session", "value": head, "low": "- error", "high": "+ error"}
    columns |= {"repetitions": "repetitions", "what": "what"}
    levels: list[dict[str, Cell]] = [
        {"from": history.points[start].session, "to": history.points[end - 1].session, "level": unit(level)}
        for (start, end), level in zip(_spans(history), history.levels, strict=True)
    ]
    changes: list[dict[str, Cell]] = [
        {"session": change.session, "side": "worse" if change.worse else "better"}
        for change in history.changes
    ]
    marks = {"levels": levels, "changes": changes}
    return Plot("history", f"{history.metric} by session", columns, rows, {"value": head}, marks)


def _spans(history: MetricHistory) -> Iterator[tuple[int, int]]:
    """Yield from which point to which each level was held."""
    starts = [0, *(change.index for change in history.changes), len(history.points)]
    yield from itertools.pairwise(starts)
