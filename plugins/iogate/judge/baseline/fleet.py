"""Storing what several devices of one model measured, as the baseline that new ones are accepted against.

Each device gives one session. The gate takes sessions as the experimental unit: the noise that it finds
between them is then that of devices and sessions together, which is what a new device, measured once, differs
by. The mean of several sessions of a device would differ less, and several sessions would count as devices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iogate.errors import BaselineError, InputError
from iogate.host.environment import model_of
from iogate.judge.baseline.file import refuse_links
from iogate.judge.baseline.kinds import single_files
from iogate.judge.baseline.storage import hold_lock, write
from iogate.judge.baseline.update import entry_of, session_of, worked_of
from iogate.judge.baseline.values import clean_text
from iogate.model import Environment

FEWEST = 3
"""Devices that a baseline needs: below, the gate would assume what it should know."""


@dataclass(frozen=True)
class DeviceSession:
    """What a session of a device measured of a workload: values by metric, one a repetition, which lasted
    `runtime` seconds where `runtime: auto` chose that; `worked` is for how many seconds the session had
    measured before each.
    """

    device: str
    session: str
    environment: Environment
    values: Mapping[str, Sequence[float]]
    runtime: float | None = None
    worked: Sequence[float] = ()


FleetValues = Mapping[str, tuple[Mapping[str, Any], Sequence[DeviceSession]]]
"""By workload: its definition, and one session of each device."""


def store_fleet(
    path: Path, name: str, suite: str, measured: FleetValues, *, replace: bool = False, wait: float = 10.0
) -> None:
    """Store the baseline of a fleet, under the name that new devices are measured by.

    A file that is there is replaced, whole, only if that is asked for. What identifies one device is not
    kept, so that others can be held against it. Raises IogateError.
    """
    try:
        refuse_links(path, suite)
        with hold_lock(path, wait) as folder:
            require_room(path, suite, replace=replace)
            write(path, {"schema": 1, "device": name, "suite": suite, **_contents(measured)}, folder)
    except OSError as error:
        raise BaselineError(f"cannot write {path}: {error.strerror}", remedy="it is as it was") from error


def require_room(path: Path, suite: str, *, replace: bool) -> None:
    """Raise IogateError if a fleet's baseline may not be written there: another fleet's is there, or one of a
    single device, which no `replace` gives up, as its sessions may be kept nowhere else.
    """
    refuse_links(path, suite)
    folder = path.parents[suite.count("/")]
    for file in single_files(folder):
        where = "in its place" if file == path else "beside it"
        raise InputError(
            f"{file} is the baseline of a single device: that of a fleet does not belong {where}",
            remedy="choose another name",
        )
    if path.exists() and not replace:
        raise InputError(f"{path} is there already", remedy="another name, or --replace to write over it")


def _contents(measured: FleetValues) -> dict[str, Any]:
    """Return the sessions, in the order of their names, and the workloads of a file."""
    sessions: dict[str, Any] = {}
    workloads: dict[str, Any] = {}
    owners: dict[str, set[str]] = {}
    for one in (one for _, devices in measured.values() for one in devices):
        owners.setdefault(one.session, set()).add(one.device)
    for workload, (definition, devices) in measured.items():
        ordered = sorted(devices, key=lambda one: (one.session, one.device))
        names = [_name(one, owners) for one in ordered]
        sessions.update(zip(names, map(_session, ordered), strict=True))
        lengths = {one.runtime for one in devices}
        length = lengths.pop() if len(lengths) == 1 else None  # what comes lasts as long, if all did
        entries = [
            entry_of(workload, definition, one.values, name, "", length, one.worked)
            for name, one in zip(names, ordered, strict=True)
        ]
        keys = sorted({key for entry in entries for key in entry["metrics"]})
        metrics = {key: [(entry["metrics"].get(key) or [[]])[0] for entry in entries] for key in keys}
        head = {key: value for key, value in entries[0].items() if key != "worked"}
        workloads[workload] = {
            **head,
            "sessions": names,
            **worked_of(names, *entries),
            "metrics": metrics,
        }
    return {"sessions": dict(sorted(sessions.items())), "workloads": workloads}


def _name(one: DeviceSession, owners: Mapping[str, set[str]]) -> str:
    """Return what a session is called: its name, with its device's where those of several have one name."""
    return clean_text(one.session if len(owners[one.session]) == 1 else f"{one.session} {one.device}")


def _session(one: DeviceSession) -> dict[str, Any]:
    known = Environment(model_of(one.environment.identity), one.environment.subject, one.environment.state)
    device = clean_text(one.device)
    return {"device": device, **session_of(known, f"the device {device}")}
