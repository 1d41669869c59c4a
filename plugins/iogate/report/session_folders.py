"""The folders of sessions, in which raw outputs and results are kept: the newest of them.

A run locks its folder as long as it lives, so that another run, which removes old ones, leaves it alone.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import shutil
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

from iogate.formats.atomic import is_leftover
from iogate.host.flock import lock

USUAL = 50
_SESSION = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ-[0-9a-f]{4}")
_SECOND = len("2026-01-01T00:00:00Z")  # of a session's name
_WORKLOAD = re.compile(r".+-[0-9a-f]{8}")
_RESULTS = "results.json"
_LABEL = re.compile(r"\d+|pilot|([AB]-)?(round|fill|random)-\d+")
_SLACK = 2.0  # seconds by which times of files may be off
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class SessionFolder:
    """The folder of a session, made and locked: `mine` says whether no other run has it. If it cannot be
    made, that shows where something is to be kept.
    """

    def __init__(self, path: Path) -> None:
        self.mine = False
        self._path = path
        self._lock = contextlib.ExitStack()
        with contextlib.suppress(OSError):
            path.mkdir(parents=True, exist_ok=True)
            self.mine = self._lock.enter_context(_locked(path))

    def close(self) -> None:
        """Let go of it, and remove it if nothing was kept."""
        with contextlib.suppress(OSError):
            self._path.rmdir()
        self._lock.close()


def prune(results: Path, keep: int) -> list[str]:
    """Remove the oldest sessions but `keep`, and return their names.

    What is not named as a session, is a link, or belongs to a run that lives or to another user, stays. So
    does a session in whose folder somebody put something.
    """
    removed = []
    for name in _sessions(results)[:-keep]:
        with contextlib.suppress(OSError), _locked(results / name) as mine:
            if mine and _is_own(results / name):
                shutil.rmtree(results / name)
                removed.append(name)
    return removed


def newest(results: Path) -> Path | None:
    """Return the folder of this user's newest session that kept its results, if there is one."""
    folders = (results / name for name in reversed(_sessions(results)))
    return next((folder for folder in folders if (folder / _RESULTS).is_file()), None)


def begun_sessions(results: Path) -> list[str]:
    """Return the names of this user's sessions that have begun: none can be of a time to come."""
    now = f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}"
    return [name for name in _sessions(results) if name[: len(now)] <= now]


def _sessions(results: Path) -> list[str]:
    """Return the names of this user's sessions, the oldest first: a name begins with the time, in seconds;
    those of one second come in the order in which they were last written to.
    """
    found = []
    with contextlib.suppress(OSError):
        for entry in os.scandir(results):
            own = _SESSION.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            if own and (status := entry.stat(follow_symlinks=False)).st_uid == os.geteuid():
                found.append((entry.name[:_SECOND], status.st_mtime_ns, entry.name))
    return [name for *_, name in sorted(found)]


def _is_own(folder: Path) -> bool:
    """Return whether all that is in a session's folder is what a run puts there. Raises OSError."""
    ended = _ended(folder / _RESULTS)
    with os.scandir(folder) as entries:
        return all(_is_results(entry) or _is_of_workload(entry, ended) for entry in entries)


def _is_results(entry: os.DirEntry[str]) -> bool:
    own = entry.name == _RESULTS or is_leftover(entry.name, _RESULTS)
    return own and entry.is_file(follow_symlinks=False)


def _is_of_workload(entry: os.DirEntry[str], ended: float) -> bool:
    """Return whether an entry is the folder of a workload, in which repetitions have theirs."""
    if not _WORKLOAD.fullmatch(entry.name) or not _is_raw(entry, ended) or not entry.is_dir():
        return False
    with os.scandir(entry.path) as entries:
        return all(_LABEL.fullmatch(inner.name) and inner.is_dir() for inner in entries)


def _is_raw(entry: os.DirEntry[str], ended: float) -> bool:
    """Return whether an entry, and all in it, is a file or folder that a session left when it ended."""
    if entry.stat(follow_symlinks=False).st_mtime > ended + _SLACK:
        return False
    if not entry.is_dir(follow_symlinks=False):
        return entry.is_file(follow_symlinks=False)
    with os.scandir(entry.path) as entries:
        return all(_is_raw(inner, ended) for inner in entries)


def _ended(results: Path) -> float:
    """Return when a session ended, which its results were written at; infinity if it was cut off."""
    try:
        ended = json.loads(results.read_bytes())["run"]["ended"]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        ended = False
    return results.stat().st_mtime if ended is True else math.inf


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Lock a folder, if nobody else has it; says whether it is locked. Raises OSError."""
    descriptor = os.open(folder, _FOLDER)
    try:
        yield lock(descriptor)
    finally:
        os.close(descriptor)
