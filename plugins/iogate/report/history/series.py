"""From the sessions that were found to the history of each gating metric."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from iogate.errors import IogateError, Position
from iogate.host.environment import identity_changes
from iogate.judge.appointment import gating_metrics
from iogate.judge.baseline import definition_changes
from iogate.model import Workload, hash_of
from iogate.report.history.changes import changes_of, drift_of
from iogate.report.history.points import points_of
from iogate.report.history.sessions import Collection, Measured
from iogate.report.history.values import LeftOut, MetricHistory
from iogate.units import printable

_TOLERANCE = 0.05
"""The loss that is named where nothing says what matters."""


def series(collection: Collection) -> tuple[list[MetricHistory], list[LeftOut]]:
    """Return the history of each gating metric of each workload of each device, and what was left out."""
    said = list(collection.left_out)
    found: list[MetricHistory] = []
    for items in _by_workload(collection.measured).values():
        kept = _comparable(_once(items, said), said)
        if kept:
            found += _histories(kept)
    return found, list(dict.fromkeys(said))


def _by_workload(measured: Iterable[Measured]) -> dict[tuple[str, str, str], list[Measured]]:
    groups: dict[tuple[str, str, str], list[Measured]] = {}
    for item in measured:
        groups.setdefault((item.session.device, item.suite, item.workload), []).append(item)
    return groups


def _once(items: Sequence[Measured], said: list[LeftOut]) -> list[Measured]:
    """Return each session once, by their time: as its results have it, else as the baseline does."""
    found: dict[str, Measured] = {}
    for item in sorted(items, key=lambda one: (one.gating is None, one.session.file)):
        known = found.setdefault(item.session.id, item)
        if known is not item and item.gating is not None and known.values != item.values:
            why = f"{known.session.file} says other figures of the same session"
            said.append(LeftOut(printable(why), item.workload, item.session.date, item.session.file))
    return [found[name] for name in sorted(found)]


def _comparable(items: Sequence[Measured], said: list[LeftOut]) -> list[Measured]:
    """Return the sessions that can stand beside the newest: of its definition, on its machine."""
    newest = items[-1]
    kept: list[Measured] = []
    definition = hash_of(newest.definition)
    for item in items:
        moved = identity_changes(item.session.environment.identity, newest.session.environment.identity)
        why = f"of another machine: {'; '.join(moved)}" if moved else ""
        if hash_of(item.definition) != definition:
            why = f"defined otherwise: {definition_changes(item.definition, newest.definition)}"
        if why:
            said.append(LeftOut(printable(why), item.workload, item.session.date, item.session.file))
        else:
            kept.append(item)
    return kept


def _histories(items: Sequence[Measured]) -> Iterator[MetricHistory]:
    newest = items[-1]
    for name in gating_of(items):
        rows = [item for item in items if name in item.values]
        if not rows:
            continue
        unit, direction = rows[-1].kinds[name]
        same = [item for item in rows if item.kinds[name] == (unit, direction)]
        tolerance = next((one.tolerances[name] for one in reversed(same) if name in one.tolerances), None)
        sessions = [one.session for one in same]
        found = changes_of(points_of(same, name), direction, sessions)
        yield MetricHistory(
            newest.session.device,
            newest.suite,
            newest.workload,
            name,
            unit,
            direction,
            found.points,
            found.changes,
            drift_of(found, direction, tolerance or _TOLERANCE),
            found.levels.noise,
            found.levels.correlation,
            tolerance,
        )


def gating_of(items: Sequence[Measured]) -> tuple[str, ...]:
    """Return the metrics that decide, as the newest session that says so has them; else the engine's."""
    known = next((item.gating for item in reversed(items) if item.gating is not None), None)
    if known is not None:
        return known
    newest = items[-1]
    options = {key: value for key, value in newest.definition.items() if key != "engine"}
    workload = Workload(newest.workload, newest.suite, newest.engine, options, Position(newest.session.file))
    try:
        return gating_metrics(workload)
    except (IogateError, KeyError, TypeError, ValueError):
        return tuple(newest.values)
