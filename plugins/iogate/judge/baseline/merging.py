"""Two histories of one baseline file brought together, as a git merge driver does: sessions of both sides, in
the order of time. What the sides contradict each other in is a conflict, which people decide.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from iogate.errors import InputError, InputErrors
from iogate.judge.baseline.file import definition_changes, environment_of
from iogate.judge.baseline.identity import foreign
from iogate.judge.baseline.update import MAXIMUM_SESSIONS, order_names, worked_of
from iogate.model import Environment, hash_of
from iogate.units import printable

_START = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_Data = Mapping[str, Any]


class _Conflict(Exception):
    """What two sides contradict each other in. Never leaves this module."""


def merge(base: _Data, ours: _Data, theirs: _Data) -> dict[str, Any]:
    """Return the contents of a baseline file that has what both sides added to `base` (empty: they have no
    common ancestor); all three are checked. Raises InputErrors with every conflict.
    """
    conflicts = [
        f"the {key} is {printable(ours[key])} on our side, {printable(theirs[key])} on theirs"
        for key in ("device", "suite")
        if ours[key] != theirs[key]
    ]
    workloads: dict[str, Any] = {}
    sides = [side.get("workloads") or {} for side in (base, ours, theirs)]
    for name in order_names(list(sides[1]), list(sides[2])):
        try:
            entry = _entry(*(side.get(name) for side in sides))
        except _Conflict as conflict:
            conflicts.append(f"{printable(name)}: {conflict}")
            continue
        if entry is not None:
            workloads[name] = entry
    used = {session for entry in workloads.values() for session in entry.get("sessions") or ()}
    try:
        sessions = _sessions(base, ours, theirs, used)
    except _Conflict as conflict:
        conflicts.append(str(conflict))
    if conflicts:
        raise InputErrors([InputError(conflict) for conflict in conflicts])
    head = {key: ours[key] for key in ("schema", "device", "suite")}
    return {**head, **({"sessions": sessions} if sessions else {}), "workloads": workloads}


def _chosen(base: Any, ours: Any, theirs: Any) -> tuple[Any] | None:
    """Return what is to be taken where at most one side changed something, in a tuple; None if both did."""
    if ours in (base, theirs):
        return (theirs,)
    return (ours,) if theirs == base else None


def _entry(base: _Data | None, ours: _Data | None, theirs: _Data | None) -> _Data | None:
    """Return what is known of a workload on both sides, None if it is gone."""
    chosen = _chosen(base, ours, theirs)
    if chosen:
        entry: _Data | None = chosen[0]
        return entry
    if ours is None or theirs is None:
        raise _Conflict("one side removed it, the other changed it")
    if hash_of(ours["definition"]) != hash_of(theirs["definition"]):
        changes = definition_changes(ours["definition"], theirs["definition"])
        raise _Conflict(f"the two sides measured different workloads (ours, theirs): {changes}")
    if ours.get("source") or theirs.get("source"):
        raise _Conflict("one side has published figures, and both changed it")
    if ours.get("runtime") != theirs.get("runtime"):
        raise _Conflict("repetitions are not of one length on the two sides, as runtime: auto chose it anew")
    same = base is not None and base.get("hash") == ours["hash"] and base.get("sessions")
    known = base if same else None
    sessions = _united(known["sessions"] if known else (), ours["sessions"], theirs["sessions"])
    metrics = {}
    for name in sorted({*ours["metrics"], *theirs["metrics"]}):
        rows = [_row(name, session, known, ours, theirs) for session in sessions]
        if any(rows):
            metrics[name] = rows
    head = {key: value for key, value in ours.items() if key != "worked"}
    return {**head, "sessions": sessions, **worked_of(sessions, theirs, ours), "metrics": metrics}


def _united(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """Return the newest sessions of both sides but those that one forgot, while the other added to all."""
    forgotten = [_forgotten(base, side) for side in (ours, theirs)]
    if forgotten[0] != forgotten[1]:
        gone = sorted(forgotten[0] ^ forgotten[1])
        what = printable(f"session{'s' * (len(gone) > 1)} {', '.join(gone)}")
        if all(forgotten):
            raise _Conflict(f"each side replaced or dropped others: the {what}")
        if len(gone) == len(base):
            raise _Conflict(f"one side replaced the {what}, the other added to what was there")
    outdated = set(base) - (set(ours) & set(theirs))
    united = [session for session in _in_time(ours, theirs) if session not in outdated]
    return united[-MAXIMUM_SESSIONS:]


def _forgotten(base: Sequence[str], side: Sequence[str]) -> set[str]:
    """Return which sessions a side has given up, not counting the oldest that had to make room."""
    gone = [session for session in base if session not in side]
    made_room = len(side) >= MAXIMUM_SESSIONS and gone == list(base[: len(gone)])
    return set() if made_room and len(gone) < len(base) else set(gone)


def _in_time(*sides: Sequence[str]) -> list[str]:
    """Return the sessions of all sides by their start; one without a time stays behind the one before it."""
    starts: dict[str, str] = {}
    for side in sides:
        last = ""
        for session in side:
            start = _START.match(session)
            last = start[0] if start else last
            starts.setdefault(session, last)
    return sorted(starts, key=starts.__getitem__)


def _row(metric: str, session: str, base: _Data | None, ours: _Data, theirs: _Data) -> list[float]:
    """Return the values of a session, which the two sides must agree on if both have it."""
    rows = [_values(side, session, metric) for side in (base, ours, theirs)]
    if rows[1] is None or rows[2] is None:
        return rows[1] or rows[2] or []
    chosen = _chosen(*rows)
    if not chosen:
        raise _Conflict(f"{metric} of the session {printable(session)} has other values on the two sides")
    row: list[float] = chosen[0]
    return row


def _values(entry: _Data | None, session: str, metric: str) -> list[float] | None:
    """Return the values of a session; None if the entry does not have it."""
    if entry is None or session not in entry["sessions"]:
        return None
    rows = entry["metrics"].get(metric)
    return list(rows[entry["sessions"].index(session)]) if rows else []


def _sessions(base: _Data, ours: _Data, theirs: _Data, used: set[str]) -> dict[str, Any]:
    """Return what is known of the sessions that are used, which must be of one machine."""
    base, ours, theirs = (side.get("sessions") or {} for side in (base, ours, theirs))
    found = {}
    for name in _in_time(list(ours), list(theirs)):
        if name not in used:
            continue
        if name in ours and name in theirs:
            chosen = _chosen(base.get(name), ours[name], theirs[name])
            if not chosen:
                raise _Conflict(f"the session {printable(name)} has another environment on the two sides")
            found[name] = chosen[0]
        else:
            found[name] = ours.get(name) or theirs.get(name) or {}
    own = _machines({name: found[name] for name in found if name not in theirs})
    for name, environment in _machines({name: found[name] for name in found if name not in ours}).items():
        other = foreign(own, environment)
        if other:
            raise _Conflict(f"their session {printable(name)} and ours are of two machines: {other}")
    return found


def _machines(sessions: Mapping[str, Any]) -> dict[str, Environment]:
    """Return where sessions ran, one for each machine that they tell of."""
    known: dict[tuple[tuple[str, str], ...], str] = {}
    environments = {name: environment_of(session) for name, session in sessions.items()}
    for name, environment in environments.items():
        known.setdefault(tuple(sorted(environment.identity.items())), name)
    return {name: environments[name] for name in known.values()}
