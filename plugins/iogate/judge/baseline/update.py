"""Storing what a session measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from iogate.errors import BaselineError
from iogate.judge.baseline.file import definition_changes, environment_of, read, refuse_links
from iogate.judge.baseline.identity import foreign
from iogate.judge.baseline.kinds import refuse_fleet
from iogate.judge.baseline.storage import hold_lock, write
from iogate.judge.baseline.table import Change
from iogate.judge.baseline.values import clean_text, median, plain, round_value
from iogate.model import Environment, UpdateMode, hash_of, is_measured
from iogate.units import printable

MAXIMUM_SESSIONS = 20
"""What a baseline keeps of its newest sessions: enough to know the noise between them to about 16% (the
standard error of a standard deviation is 1/sqrt(2 (K - 1))), and few enough to forget an old image.
"""

SessionValues = Mapping[str, tuple[Mapping[str, Any], Mapping[str, Sequence[float]]]]
"""By workload: its definition, and the values of each metric, one a repetition."""

_NOT_CHOSEN: Mapping[str, float] = MappingProxyType({})
_NOT_TOLD: Mapping[str, Sequence[float]] = MappingProxyType({})


def update(
    path: Path,
    device: str,
    suite: str,
    session: str,
    environment: Environment,
    reason: str,
    measured: SessionValues,
    mode: UpdateMode,
    source: str = "",
    *,
    runtimes: Mapping[str, float] = _NOT_CHOSEN,
    worked: Mapping[str, Sequence[float]] = _NOT_TOLD,
    wait: float = 10.0,
) -> list[Change]:
    """Store what a session measured as the baseline of its workloads, and say what that changes.

    `replace` forgets what was known of these workloads; `append` adds the session to it, unless the
    workload changed or had published figures, and refuses if a session that stays in the file is of another
    machine; `force` adds it even then. Other workloads stay as they are. With a `source` the
    medians are stored as published figures. `runtimes` are the seconds of a repetition, by workload, where
    `runtime: auto` chose them, and `worked` for how many seconds the session had measured before each. A
    crash at any moment leaves the old or the new file whole; a second update waits `wait` seconds for the
    first. Raises BaselineError.
    """
    place = Path(device, f"{suite}.yaml")
    if path.parts[-len(place.parts) :] != place.parts or path.stem == "device" or ".." in place.parts:
        raise BaselineError(f"{path} cannot be the baseline of the suite {suite!r} on {device!r}")
    try:
        refuse_links(path, suite)
        with hold_lock(path, wait) as folder:
            refuse_fleet(path, suite)
            return _update(
                path,
                folder,
                device,
                suite,
                session,
                environment,
                reason,
                measured,
                mode,
                source,
                runtimes,
                worked,
            )
    except OSError as error:
        raise BaselineError(f"cannot write {path}: {error.strerror}", remedy="it is as it was") from error


def _update(
    path: Path,
    folder: int,
    device: str,
    suite: str,
    session: str,
    environment: Environment,
    reason: str,
    measured: SessionValues,
    mode: str,
    source: str,
    runtimes: Mapping[str, float],
    worked: Mapping[str, Sequence[float]],
) -> list[Change]:
    document = read(path, suite, folder)
    old = document.data if document else {}
    workloads = dict(old.get("workloads") or {})
    changes = []
    for name, (definition, values) in measured.items():
        before = workloads.get(name)
        entry = entry_of(name, definition, values, session, source, runtimes.get(name), worked.get(name, ()))
        note, own = _note(before, entry, mode), entry["metrics"]
        if note == "appended":
            entry = _append(name, before or {}, entry)
        workloads[name] = entry
        changes += _changes(name, before, entry, note, own if note == "appended" else {})
    names = order_names(list(old.get("workloads") or {}), list(measured))
    used = {session for entry in workloads.values() for session in entry.get("sessions") or ()}
    sessions = {**(old.get("sessions") or {})}
    if not source:
        begun = sessions.pop(session, {})  # it was cut off, and is gone on with
        sessions[session] = session_of(environment, reason or begun.get("reason", ""))
    kept = {name: session for name, session in sessions.items() if name in used}
    if mode == "append" and not source:
        _refuse_foreign({name: item for name, item in kept.items() if name != session}, environment)
    data = {"schema": 1, "device": device, "suite": suite, **({"sessions": kept} if kept else {})}
    write(path, {**data, "workloads": {name: workloads[name] for name in names}}, folder)
    return changes


def _refuse_foreign(sessions: Mapping[str, Any], environment: Environment) -> None:
    """Raise BaselineError if one of the sessions that stay is of another machine."""
    other = foreign({name: environment_of(session) for name, session in sessions.items()}, environment)
    if other:
        raise BaselineError(f"nothing is appended: {other}", remedy="begin anew with --update-baselines")


def entry_of(
    name: str,
    definition: Mapping[str, Any],
    values: Mapping[str, Sequence[float]],
    session: str,
    source: str,
    runtime: float | None = None,
    worked: Sequence[float] = (),
) -> dict[str, Any]:
    """Return what a session knows of a workload.

    A metric that a repetition lacks, or that is zero in one, has no logarithm there: the session is stored
    without it rather than with what is left.
    """
    definition = plain(definition)
    repetitions = max(map(len, values.values()), default=0)
    rows = {
        key: [round_value(value) for value in values[key]]
        for key in sorted(values)
        if len(values[key]) == repetitions and all(map(is_measured, values[key]))
    }
    if not rows or not repetitions:
        raise BaselineError(f"no metric of {printable(name)!r} was measured: its baseline stays as it is")
    head: dict[str, Any] = {"hash": hash_of(definition), "definition": definition}
    if source:
        return {
            **head,
            "source": clean_text(source),
            "metrics": {key: median(row) for key, row in rows.items()},
        }
    head |= {"runtime": runtime} if runtime else {}
    told = {"worked": {session: [round(seconds, 2) for seconds in worked]}} if worked else {}
    return {**head, "sessions": [session], **told, "metrics": {key: [row] for key, row in rows.items()}}


def worked_of(sessions: Sequence[str], *entries: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what entries tell of how much work came before repetitions of these sessions, as a part of one;
    the last that tells it has the last word.
    """
    told: dict[str, Any] = {}
    for entry in filter(None, entries):
        told |= entry.get("worked") or {}
    kept = {session: told[session] for session in sessions if session in told}
    return {"worked": kept} if kept else {}


def _note(before: Mapping[str, Any] | None, entry: Mapping[str, Any], mode: str) -> str:
    if before is None:
        return "new"
    if hash_of(before["definition"]) != entry["hash"]:
        return f"replaced: {definition_changes(before['definition'], entry['definition'])}"
    if before.get("source"):
        return "replaced published figures"
    return "appended" if mode != "replace" and entry.get("sessions") else "replaced"


def _append(name: str, before: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return `before` with the session of `entry` added, or put in its own place if it was there already.
    Raises BaselineError if the repetitions of the two are not of one length.
    """
    lasted, lasts = before.get("runtime"), entry.get("runtime")
    if lasted and lasts and lasted != lasts:
        raise BaselineError(
            f"{printable(name)} is not appended: its repetitions lasted {lasts:g} s, "
            f"{lasted:g} s in the baseline",
            remedy="measure for as long, or replace the baseline",
        )
    kept = [index for index, session in enumerate(before["sessions"]) if session not in entry["sessions"]]
    kept = kept[-(MAXIMUM_SESSIONS - 1) :]
    metrics = {}
    for key in sorted({*before["metrics"], *entry["metrics"]}):
        old = before["metrics"].get(key)
        rows = [old[index] if old else [] for index in kept] + (entry["metrics"].get(key) or [[]])
        if any(rows):
            metrics[key] = rows
    sessions = [before["sessions"][index] for index in kept] + entry["sessions"]
    head = {key: value for key, value in entry.items() if key not in ("runtime", "worked")}
    head |= {"runtime": lasted} if lasted else {}
    return {**head, "sessions": sessions, **worked_of(sessions, before, entry), "metrics": metrics}


def _changes(
    name: str,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any],
    note: str,
    appended: Mapping[str, Any],
) -> list[Change]:
    old, new = (before["metrics"] if before else {}), after["metrics"]
    changes = []
    for key in sorted({*old, *new}):
        rows = new.get(key)
        counted = [row for row in rows if row] if isinstance(rows, list) else []
        changes.append(
            Change(
                workload=name,
                metric=key,
                old=median(old[key]) if key in old else None,
                new=median(rows) if rows is not None else None,
                sessions=len(counted),
                repetitions=sum(map(len, counted)),
                note=note,
                session=median(appended[key]) if key in appended else None,
            )
        )
    return changes


def order_names(existing: Sequence[str], measured: Sequence[str]) -> list[str]:
    """Return all names: the measured ones in their own order, in the places that they had; the others stay.

    A new name comes behind the one that it follows, else before the one that follows it, else last.
    """
    before = set(existing)
    known = [name for name in measured if name in before]
    followers: dict[str, list[str]] = {}
    anchor = ""
    for name in measured:
        anchor = name if name in before else anchor
        if name not in before:
            followers.setdefault(anchor, []).append(name)
    slots, moving, names = iter(known), set(known), list[str]()
    for name in existing:
        place = next(slots) if name in moving else name
        names += followers.pop("", []) if known and place == known[0] else []
        names += [place, *followers.pop(place, [])]
    return names + followers.pop("", [])


def session_of(environment: Environment, reason: str) -> dict[str, Any]:
    parts = {"identity": environment.identity, "subject": environment.subject, "state": environment.state}
    facts = {
        part: {clean_text(name): clean_text(value) for name, value in values.items()}
        for part, values in parts.items()
    }
    return {"reason": clean_text(reason), "environment": facts}
