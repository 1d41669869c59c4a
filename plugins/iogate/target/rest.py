"""Rest: how long a device was measured, and until when, so that the next session knows whether it has rested.

It lies in `iogate/work-<device>-<machine>.json` of this user's folder for what programs remember, as each job
of a pipeline may begin with a clean checkout, and others have one of their own on the same machine; where it
cannot be written there, as on a read-only root, in a folder of this user's for temporary files. `machine`
tells apart what goes by one name: boards at a bench, disks that several call `local`.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

from iogate.formats.atomic import write_within
from iogate.formats.held import held_folder, path_of, read_within
from iogate.host.environment import identity_changes, machine
from iogate.host.exposure import danger, safe_temporary_folder
from iogate.host.mounts import IN_MEMORY
from iogate.host.own_folder import check_own
from iogate.model import Environment, hash_of
from iogate.target.state import state_folder

_RESTED = 3.0  # seconds for each of work: what gets hot fast is slow to get cold
_SURELY = 3600.0  # seconds, after which nothing is hot of what was before
_TOLD_BY = ("disk_serial", "disk_wwid")
_BEFORE, _BEHIND = "work-", ".json"
_LARGEST = 2**16  # bytes of a note
_LATEST = 1e12  # seconds
_KEPT = 7 * 86400  # seconds
_MOST = 4096  # notes that are read
_SESSIONS = 64  # that a note tells


class _Moment(NamedTuple):
    """A time by the `clock`, which somebody may set, and by how long this machine is `up` since a `boot`."""

    clock: float
    up: float
    boot: str

    @classmethod
    def now(cls) -> _Moment:
        return cls(time.time(), time.clock_gettime(time.CLOCK_BOOTTIME), machine.boot(Path("/")))

    def since(self, before: _Moment) -> float:
        """Return the seconds from a time before to this one: of another boot at least those since this one,
        as boards without a battery begin with an old time.
        """
        if not (self.boot and before.boot):
            return max(0.0, self.clock - before.clock)
        if self.boot == before.boot:
            return max(0.0, self.up - before.up)
        return max(self.up, self.clock - before.clock)


class _Worked(NamedTuple):
    """That a session measured for so many seconds of work, until a time."""

    work: float
    ended: _Moment

    def left(self, now: _Moment) -> float:
        """Return how much of it may be felt yet, as seconds of work."""
        rest, needed = now.since(self.ended), min(_RESTED * self.work, _SURELY)
        return self.work * (1 - rest / needed) if rest < needed else 0.0

    @property
    def row(self) -> list[float | str]:
        """What a note says of it."""
        return [self.work, *self.ended]


@dataclass(frozen=True)
class _Note:
    """What a device was measured for, in the sessions that may be felt."""

    device: str
    sessions: tuple[_Worked, ...]
    environment: Environment


def noting(device: str, environment: Environment) -> Callable[[float], None]:
    """Return what notes of a session that begins now for how many seconds it has measured a device by then;
    what it noted before is replaced. What cannot be noted is not: it is no reason not to measure. Nor is what
    heats no device, as its files are kept in memory.
    """
    begun = _Moment.now()

    def note(work: float) -> None:
        if environment.subject.get("file_system") not in IN_MEMORY:
            _note_work(device, environment, begun, work)

    return note


def _note_work(device: str, environment: Environment, begun: _Moment, work: float) -> None:
    own = {"boot": environment.boot, "identity": dict(environment.identity)}
    name = f"{_BEFORE}{device}-{hash_of(own)[:8]}{_BEHIND}"
    now = _Moment.now()
    for place in _places():
        with contextlib.suppress(OSError), place.held(make=True) as folder:
            before = _note_in(folder, name)
            with contextlib.suppress(OSError):
                _remove_old(folder, now.clock)
            known = before.sessions if before else ()
            others = [one for one in known if one.ended.boot != begun.boot or one.ended.up < begun.up]
            felt = [one for one in others if one.left(now)]
            sessions = [one.row for one in (*felt, _Worked(work, now))][-_SESSIONS:]
            write_within(folder, name, json.dumps({"device": device, "sessions": sessions, **own}) + "\n")
            return


class _Place(NamedTuple):
    """A folder that notes may lie in; among temporary files others have theirs, and may call them so."""

    path: Path
    among_others: bool = False

    @contextlib.contextmanager
    def held(self, *, make: bool = False) -> Iterator[int]:
        """Hold it open, in which nobody else has put a note. Raises OSError."""
        with held_folder(self.path, make=make) as folder:
            if self.among_others:
                check_own(folder)  # as it was opened: its name may lead elsewhere by now
            yield folder


def _places() -> Iterator[_Place]:
    with contextlib.suppress(RuntimeError):  # this user has no home
        yield _Place(state_folder())
    with contextlib.suppress(OSError):
        other = Path(safe_temporary_folder()) / f"iogate-{os.geteuid()}"
        if not other.exists() or not danger(str(other)):
            yield _Place(other, among_others=True)


def _remove_old(folder: int, now: float) -> None:
    for old in _names(folder):
        with contextlib.suppress(FileNotFoundError):  # another run removes it, too
            if now - os.stat(old, dir_fd=folder, follow_symlinks=False).st_mtime > _KEPT:
                os.unlink(old, dir_fd=folder)


def _names(folder: int) -> list[str]:
    """Return what notes in an open folder are called."""
    names = os.listdir(path_of(folder))
    return [name for name in names if name.startswith(_BEFORE) and name.endswith(_BEHIND)][:_MOST]


def unrested_work(device: str, environment: Environment) -> float:
    """Return behind how many seconds of work a device is: what is left of its sessions, together. Three
    seconds of rest undo one of work, and an hour undoes all, so that a session at once behind another one and
    one minutes later are not alike. 0 if there is none, or none is known. What another profile measured on
    this machine on a disk of this serial number, or since it was booted on one that nothing tells from this
    one, was measured on this one.
    """
    now = _Moment.now()
    known = (note for note in _noted() if _is_of(note, device, environment))
    return sum(one.left(now) for note in known for one in note.sessions)


def _is_of(noted: _Note, device: str, environment: Environment) -> bool:
    """Return whether a note is one of a device, under this name or another."""
    before = noted.environment
    told = any(before.identity.get(name, "") == environment.identity.get(name) for name in _TOLD_BY)
    named = noted.device == device or told or (before.boot and before.boot == environment.boot)
    return bool(named) and not identity_changes(before.identity, environment.identity)


def _noted() -> list[_Note]:
    """Return all notes; what cannot be read is none."""
    found = []
    for place in _places():
        with contextlib.suppress(OSError), place.held() as folder:
            found += [_note_in(folder, name) for name in _names(folder)]
    return list(filter(None, found))


def _note_in(folder: int, name: str) -> _Note | None:
    with contextlib.suppress(OSError, ValueError, RecursionError):
        return _read(json.loads(read_within(folder, name, _LARGEST)))
    return None


def _read(data: Any) -> _Note:
    """Return what a note says. Raises ValueError for what is none."""
    if not isinstance(data, dict):
        raise ValueError("it is no note")
    sessions, boot, identity = (data.get(name) for name in ("sessions", "boot", "identity"))
    device = str(data.get("device", ""))
    if not (isinstance(boot, str) and isinstance(identity, dict) and isinstance(sessions, list)):
        raise ValueError("it says not of which machine it is, or when")
    known = {str(name): text for name, text in identity.items() if isinstance(text, str)}
    if not known or len(known) < len(identity):
        raise ValueError("it says not of which machine it is")
    worked = tuple(map(_worked, sessions[-_SESSIONS:]))
    return _Note(device, worked, Environment(known, boot=boot))


def _worked(row: Any) -> _Worked:
    if not (
        isinstance(row, list) and len(row) == 4 and all(map(_is_time, row[:3])) and isinstance(row[3], str)
    ):
        raise ValueError("it says not when")
    return _Worked(row[0], _Moment(*row[1:]))


def _is_time(value: Any) -> TypeGuard[float]:
    return type(value) in (int, float) and 0 <= value < _LATEST
