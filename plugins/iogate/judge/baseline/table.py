"""What an update changes, for people to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iogate.model import metric
from iogate.units import format_change, format_quantity, printable


@dataclass(frozen=True)
class Change:
    """What an update does to one metric of a workload: its median before and after (None: not there).

    `sessions` and `repetitions` count what the new value stands on (0: a published figure); `note` says
    what happens to the workload as a whole. `session` is the median of a session that is added to others.
    """

    workload: str
    metric: str
    old: float | None
    new: float | None
    sessions: int
    repetitions: int
    note: str = ""
    session: float | None = None

    @property
    def headline(self) -> bool:
        """True for what people look at first: throughputs, times, mean and 99th percentile latencies."""
        *_, kind = self.metric.split(".", 1)
        return "." not in kind or kind in ("lat.mean", "clat.p99")


def changes_table(changes: Sequence[Change]) -> str:
    """Return what an update changes, old against new, as a table; only the headline metrics of a workload
    that has any. Empty if nothing changes.
    """
    import tabulate

    with_headline = {change.workload for change in changes if change.headline}
    shown = [change for change in changes if change.headline or change.workload not in with_headline]
    added = any(change.session is not None for change in shown)
    rows: list[tuple[str, ...]] = []
    for previous, change in zip((None, *shown), shown, strict=False):
        first = previous is None or previous.workload != change.workload
        rows.append(_row(change, first=first, added=added))
    figures = ("old", "session", "change", "new") if added else ("old", "new", "change")
    headers = ("workload", "metric", *figures, "sessions", "repetitions", "")
    align = ("left", "left", *("right",) * (len(headers) - 3), "left")
    if not rows:
        return ""
    return str(tabulate.tabulate(rows, headers, tablefmt="simple", disable_numparse=True, colalign=align))


def _row(change: Change, *, first: bool, added: bool) -> tuple[str, ...]:
    unit = metric(change.metric).unit
    session = change.new if change.session is None else change.session
    figures = (change.old, session, change.new)
    old, measured, new = ("-" if value is None else format_quantity(value, unit) for value in figures)
    counts = (str(change.sessions), str(change.repetitions)) if change.sessions else ("", "")
    changed = format_change(session / change.old - 1) if change.old and session else ""
    return (
        printable(change.workload) if first else "",
        change.metric,
        *((old, measured, changed, new) if added else (old, new, changed)),
        *counts,
        change.note if first else "",
    )
