"""How much of the work of the session before a device has not rested from yet."""

from __future__ import annotations

import contextlib
import time
from datetime import datetime, timezone
from pathlib import Path

from iogate.errors import InputError
from iogate.host.environment import identity_changes
from iogate.model import Environment
from iogate.report.json_file import NAME
from iogate.report.results import LARGEST, Results
from iogate.report.session_folders import begun_sessions, read_own

_RESTED = 0.5  # of the time that it was measured for
_MOST_AROUND, _AROUND = 3.0, 300.0  # times the seconds of measuring, and seconds, that sessions mostly take
_AT_ONCE = 0.25  # of the time that it was measured for
_LOOKED_AT = 64  # sessions: those of other devices among them
_BEGUN = "%Y-%m-%dT%H:%M:%SZ"


def unrested_work(results: Path, device: str, environment: Environment) -> float:
    """Return for how many seconds a device was measured in the newest session of it that is kept, if it has
    rested for less than half as long since: one that got hot takes time to get cold. 0 if it has, or none is
    known. What another profile measured on this machine since it was booted, on a disk that nothing tells
    from this one, was measured on this one.
    """
    for name in reversed(begun_sessions(results)[-_LOOKED_AT:]):
        try:
            ended = (results / name / NAME).stat().st_mtime
            lasted, rested = ended - _begun(name), time.time() - ended
            if not 0 <= rested < _RESTED * lasted:  # a file of a time to come tells nothing
                continue
            known = Results.parse(read_own(results / name, NAME, LARGEST), name)
        except (InputError, OSError, ValueError):
            continue
        if _is_of(known, device, environment):
            work = _work(known)
            long = lasted > _MOST_AROUND * work + _AROUND
            if rested >= _RESTED * work or (long and _is_copied(results / name, ended, work)):
                return 0.0
            return work
    return 0.0


def _is_of(session: Results, device: str, environment: Environment) -> bool:
    """Return whether a session was one of a device, under this name or another."""
    before = session.environment
    named = session.device == device or (before.boot and before.boot == environment.boot)
    return bool(named) and not identity_changes(before.identity, environment.identity)


def _is_copied(folder: Path, ended: float, work: float) -> bool:
    """Return whether the files of a session are of one moment, as a copy of just now is (a pipeline's cache,
    say); those that data were laid out for, or that waited, took long as well.
    """
    with contextlib.suppress(OSError):
        return ended - min(file.lstat().st_mtime for file in folder.rglob("*")) < _AT_ONCE * work
    return True


def _work(session: Results) -> float:
    """Return for how many seconds a session has measured, or the one that it came behind, if that is more: a
    short one between hides none.
    """
    taken = [item for one in session.workloads for item in (*one.warmup, *one.measured)]
    spans = [(item.worked, item.worked + (item.seconds or 0.0)) for item in taken if item.worked is not None]
    begun = min((begin for begin, _ in spans), default=0.0)
    return max(max((end for _, end in spans), default=0.0) - begun, begun)


def _begun(session: str) -> float:
    text, _, _ = session.rpartition("-")
    return datetime.strptime(text, _BEGUN).replace(tzinfo=timezone.utc).timestamp()
