"""The folders of sessions, in which raw outputs and results are kept: the newest of them.

A run locks its folder as long as it lives, so that another run, which removes old ones, leaves it alone.
"""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import re
import shutil
import stat
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

from iogate.errors import IogateError
from iogate.formats.atomic import is_leftover, write_within
from iogate.formats.held import held_folder, read_within, within
from iogate.host.exposure import open_to_others
from iogate.host.flock import lock
from iogate.host.own_folder import own_folder
from iogate.report.results import LARGEST

USUAL = 50
_SESSION = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ-[0-9a-f]{4}")
_SECOND = len("2026-01-01T00:00:00Z")  # of a session's name
_WORKLOAD = re.compile(r".+-[0-9a-f]{8}")
_RESULTS = "results.json"
_MODE = 0o644  # nobody else may change what a run found
_LABEL = re.compile(r"\d+|pilot|([AB]-)?(round|fill|random)-\d+")
_SLACK = 2.0  # seconds by which times of files may be off
_DEEPEST = 16  # folders within one another, more than any run makes
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class SessionFolder:
    """The folder of a session, made, held open and locked: `mine` says whether no other run has it. If it
    cannot be made, that shows where something is to be kept.
    """

    def __init__(self, path: Path) -> None:
        self.mine = False
        self.path = path
        self._held: int | None = None
        self._open = contextlib.ExitStack()
        with contextlib.suppress(OSError):
            self._held = int(self._open.enter_context(own_folder(path, path.parent)).name)
            self.mine = lock(self._held)

    def write(self, name: str, content: str) -> None:
        """Write a file in it, whole or not at all. Raises IogateError, also where another folder has its name
        by now: who may write to the folder above may have put it there.
        """
        try:
            if self._held is None or _is_removed(self._held):
                with own_folder(self.path, self.path.parent) as held:
                    write_within(int(held.name), name, content, _MODE)
            elif _leads_to(self.path, self._held):
                write_within(self._held, name, content, _MODE)
            else:
                message = f"cannot write {self.path / name}: somebody renamed or replaced its folder"
                raise IogateError(
                    message, remedy="keep results where only this user may write: --io-results=DIR"
                )
        except OSError as error:
            raise IogateError(f"cannot write {self.path / name}: {error.strerror}") from error

    def prune(self, keep: int) -> None:
        """Remove the oldest sessions beside it, as `prune` does; none where it does not lie any more."""
        with contextlib.suppress(OSError), held_folder(self.path.parent) as results:
            if self._held is not None and _leads_to(within(results, self.path.name), self._held):
                prune(within(results, "."), keep)

    def close(self) -> None:
        """Let go of it, and remove it if nothing was kept."""
        with contextlib.suppress(OSError):
            self.path.rmdir()
        self._held = None
        self._open.close()


def prune(results: Path, keep: int) -> list[str]:
    """Remove the oldest sessions but `keep`, and return their names.

    What is not named as a session, is a link, or belongs to a run that lives or to another user, stays. So
    does a session in whose folder somebody put something, and one of a time to come: where the clock is
    behind, as on a board without one of its own, that may be last night's.
    """
    removed = []
    for name in begun_sessions(results)[:-keep]:
        with contextlib.suppress(OSError), _locked(results / name) as held:
            if held is not None and _is_own(held):
                _remove(results / name, held)
                removed.append(name)
    return removed


def _remove(folder: Path, held: int) -> None:
    """Remove what is in an open folder, and the folder if it is the one of that name. Raises OSError."""
    for name in os.listdir(held):
        inner = within(held, name)
        shutil.rmtree(inner) if inner.is_dir() and not inner.is_symlink() else inner.unlink()
    if _leads_to(folder, held):
        folder.rmdir()


def newest(results: Path) -> Path | None:
    """Return the folder of this user's newest session that kept its results, if there is one."""
    folders = (results / name for name in reversed(_sessions(results)))
    return next((folder for folder in folders if (folder / _RESULTS).is_file()), None)


def read_own(folder: Path, name: str, largest: int) -> bytes:
    """Return what a session's folder has in a file. Both are this user's alone, and no links: that is asked
    of what is opened, whatever is renamed meanwhile. Raises OSError.
    """
    held = os.open(folder, _FOLDER)
    try:
        _require_own(held)
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with open(os.open(name, flags, dir_fd=held), "rb") as stream:
            _require_own(stream.fileno())
            data = stream.read(largest + 1)
    finally:
        os.close(held)
    if len(data) > largest:
        raise OSError(errno.EFBIG, f"{name} is too large")
    return data


def _require_own(file: int) -> None:
    status = os.fstat(file)
    if status.st_uid != os.geteuid() or open_to_others(status, file):
        raise PermissionError(errno.EPERM, "others may write to it")
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        raise OSError(errno.EINVAL, "it is no file")


def begun_sessions(results: Path) -> list[str]:
    """Return the names of this user's sessions that have begun: none can be of a time to come."""
    now = _now()
    return [name for name in _sessions(results) if name[:_SECOND] <= now]


def _now() -> str:
    return f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}"


def newest_of_all(results: Path) -> tuple[str, bool]:
    """Return the name of the newest session, and whether it is this user's; of none the name is empty."""
    name = next(reversed(_sessions(results, of_others=True)), "")
    return name, name in _sessions(results)


def _sessions(results: Path, *, of_others: bool = False) -> list[str]:
    """Return the names of this user's sessions, the oldest first: a name begins with the time, in seconds;
    those of one second come in the order in which they were last written to. Those of a time to come, as a
    clock is wrong or was, come before all others. `of_others` adds theirs.
    """
    found = []
    now = _now()
    with contextlib.suppress(OSError):
        for entry in os.scandir(results):
            if not _SESSION.fullmatch(entry.name) or not entry.is_dir(follow_symlinks=False):
                continue
            status = entry.stat(follow_symlinks=False)
            if of_others or status.st_uid == os.geteuid():
                second = entry.name[:_SECOND]
                found.append((second <= now, second, status.st_mtime_ns, entry.name))
    return [name for *_, name in sorted(found)]


def _is_own(held: int) -> bool:
    """Return whether all that is in a session's open folder is what a run puts there. Raises OSError."""
    ended = _ended(held)
    with os.scandir(within(held, ".")) as entries:
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


def _is_raw(entry: os.DirEntry[str], ended: float, deepest: int = _DEEPEST) -> bool:
    """Return whether an entry, and all in it, is a file or folder that a session left when it ended."""
    if entry.stat(follow_symlinks=False).st_mtime > ended + _SLACK:
        return False
    if not entry.is_dir(follow_symlinks=False):
        return entry.is_file(follow_symlinks=False)
    with os.scandir(entry.path) as entries:
        return all(deepest > 0 and _is_raw(inner, ended, deepest - 1) for inner in entries)


def _ended(held: int) -> float:
    """Return when a session ended, which its results were written at; infinity if it was cut off."""
    try:
        ended = json.loads(read_within(held, _RESULTS, LARGEST))["run"]["ended"]
        return os.stat(_RESULTS, dir_fd=held).st_mtime if ended is True else math.inf
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return math.inf


def _is_removed(folder: int) -> bool:
    """Return whether an open folder is no more (on NFS its number is stale)."""
    try:
        return os.fstat(folder).st_nlink == 0
    except OSError:
        return True


def _leads_to(path: Path, folder: int) -> bool:
    """Return whether this open folder, and no link to it, has that name."""
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(folder))
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[int | None]:
    """Open a folder and lock it; None if it is another user's by now, or a run has it. Raises OSError."""
    descriptor = os.open(folder, _FOLDER)
    try:
        own = os.fstat(descriptor).st_uid == os.geteuid()
        yield descriptor if own and lock(descriptor) else None
    finally:
        os.close(descriptor)
