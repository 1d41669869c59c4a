"""Rest: how long a device was measured, and until when, so that the next session knows whether it has rested.

It lies in `iogate/work-<device>-<machine>.json` of this user's folder for what programs remember, as each job
of a pipeline may begin with a clean checkout, and others have one of their own on the same machine. `machine`
tells apart what goes by one name: boards at a bench, disks that several call `local`.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import dataclass
from typing import Any, TypeGuard

from iogate.formats.atomic import write_within
from iogate.formats.held import held_folder, path_of, read_within
from iogate.host.environment import identity_changes
from iogate.model import Environment, hash_of
from iogate.target.state import state_folder

_RESTED = 0.5  # of the time that it was measured for
_BEFORE, _BEHIND = "work-", ".json"
_LARGEST = 2**16  # bytes of a note
_LATEST = 1e12  # seconds
_KEPT = 7 * 86400  # seconds
_MOST = 4096  # notes that are read


@dataclass(frozen=True)
class _Worked:
    """That a device was measured for so many seconds of work, until a time."""

    device: str
    work: float
    ended: float
    environment: Environment


def note_work(device: str, environment: Environment, work: float) -> None:
    """Note that a device was measured until now, and for how many seconds. What cannot be noted is not: it is
    no reason not to measure.
    """
    own = {"boot": environment.boot, "identity": dict(environment.identity)}
    name = f"{_BEFORE}{device}-{hash_of(own)[:8]}{_BEHIND}"
    text = json.dumps({"device": device, "ended": time.time(), "work": work, **own})
    with contextlib.suppress(OSError, RuntimeError), held_folder(state_folder(), make=True) as folder:
        write_within(folder, name, f"{text}\n")
        for old in _names(folder):
            with contextlib.suppress(FileNotFoundError):  # another run removes it, too
                if time.time() - os.stat(old, dir_fd=folder, follow_symlinks=False).st_mtime > _KEPT:
                    os.unlink(old, dir_fd=folder)


def _names(folder: int) -> list[str]:
    """Return what notes in an open folder are called."""
    names = os.listdir(path_of(folder))
    return [name for name in names if name.startswith(_BEFORE) and name.endswith(_BEHIND)][:_MOST]


def unrested_work(device: str, environment: Environment) -> float:
    """Return for how many seconds a device was measured in the newest session of it that is noted, if it has
    rested for less than half as long since: one that got hot takes time to get cold. 0 if it has, or none is
    known. What another profile measured on this machine since it was booted, on a disk that nothing tells
    from this one, was measured on this one.
    """
    now = time.time()  # a note of a time to come tells nothing
    known = [one for one in _noted() if one.ended <= now and _is_of(one, device, environment)]
    newest = max(known, key=lambda one: one.ended, default=None)
    return newest.work if newest and now - newest.ended < _RESTED * newest.work else 0.0


def _is_of(noted: _Worked, device: str, environment: Environment) -> bool:
    """Return whether a note is one of a device, under this name or another."""
    before = noted.environment
    named = noted.device == device or (before.boot and before.boot == environment.boot)
    return bool(named) and not identity_changes(before.identity, environment.identity)


def _noted() -> list[_Worked]:
    """Return all notes; what cannot be read is none."""
    found = []
    with contextlib.suppress(OSError, RuntimeError), held_folder(state_folder()) as folder:
        for name in _names(folder):
            with contextlib.suppress(OSError, ValueError, RecursionError):
                found.append(_read(json.loads(read_within(folder, name, _LARGEST))))
    return found


def _read(data: Any) -> _Worked:
    """Return what a note says. Raises ValueError for what is none."""
    if not isinstance(data, dict):
        raise ValueError("it is no note")
    work, ended, boot, identity = (data.get(name) for name in ("work", "ended", "boot", "identity"))
    device = str(data.get("device", ""))
    if not (isinstance(boot, str) and isinstance(identity, dict) and _is_time(work) and _is_time(ended)):
        raise ValueError("it says not of which machine it is, or when")
    known = {str(name): text for name, text in identity.items() if isinstance(text, str)}
    if not known or len(known) < len(identity):
        raise ValueError("it says not of which machine it is")
    return _Worked(device, work, ended, Environment(known, boot=boot))


def _is_time(value: Any) -> TypeGuard[float]:
    return type(value) in (int, float) and 0 <= value < _LATEST
