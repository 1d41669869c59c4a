"""What a run keeps on its target: a folder of its own, and in it the data that engines read and write.

Everything lies in one folder `.iogate-scratch-*` that only its owner can enter, with a marker that is
locked while its run lives. Files are made, looked at and removed relative to open directories and never
through symbolic links. A run that was killed leaves its folder; the next run on that directory removes it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from iogate.errors import TargetError
from iogate.host.flock import lock
from iogate.host.loop import release_below
from iogate.host.openers import openers_below, process_text
from iogate.model import Needs
from iogate.target.layout import Tick, intact, lay_out, refusal

PREFIX = ".iogate-scratch-"
_MARKER = "iogate"
_MAGIC = b"A folder of iogate: removed by the run that made it, or by the next one.\n"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_RESERVE = 0.05  # of the file system stays free, within the bounds below
_LEAST_RESERVE, _MOST_RESERVE = 16 * 2**20, 2**30

CheckNeeds = Callable[[Needs], None]
"""Raises TargetError if a workload must not run at this moment."""


class Scratch(Protocol):
    """A run's place on its target."""

    folder: Path | None
    """For files of the engine's own; None on a block device."""
    written: int
    """Bytes laid out so far."""

    def data(self, needs: Needs, tick: Tick | None = None, number: int = 0) -> Path:
        """Return what the engine works on, of several files the one of this `number`. Everything is checked
        again right here. Raises TargetError.
        """
        ...


class FolderScratch:
    """A run's place in a directory: files of incompressible data, laid out when first asked for and reused
    by all workloads of that size.
    """

    def __init__(self, home: Path, check: CheckNeeds) -> None:
        self.folder: Path | None = home / "engine"
        self.written = 0
        self._home = home
        self._check = check
        self._laid_out: list[tuple[int, int]] = []  # size and number of each file

    def data(self, needs: Needs, tick: Tick | None = None, number: int = 0) -> Path:
        """Return a file of `needs.size` bytes; without a size, a path where the engine may make its own
        file.
        """
        self._check(needs)
        if not needs.size:
            if needs.space:
                self._make_room(needs)
            return self._home / "engine" / "data"
        file = self._file(needs.size, number)
        if (needs.size, number) in self._laid_out and intact(file, needs.size):
            return file
        self._make_room(needs, number)
        lay_out(file, needs.size, direct=needs.direct, tick=tick)
        self._laid_out.append((needs.size, number))
        self.written += needs.size
        return file

    def _make_room(self, needs: Needs, number: int = 0) -> None:
        """Remove data of other sizes, largest first, before a workload is refused for lack of space."""
        try:
            self._forget(needs.size, number)
            others = sorted(item for item in self._laid_out if item[0] != needs.size)
            while (
                others and room(self._home) < needs.size * (needs.files - number % needs.files) + needs.space
            ):
                self._forget(*others.pop())
        except OSError as error:
            raise refusal(error, f"cannot make room in {self._home}") from error
        self._check(needs)

    def _file(self, size: int, number: int) -> Path:
        return self._home / (f"data-{size}-{number}" if number else f"data-{size}")

    def _forget(self, size: int, number: int) -> None:
        self._laid_out = [other for other in self._laid_out if other != (size, number)]
        with contextlib.suppress(FileNotFoundError):
            self._file(size, number).unlink()


def room(path: Path) -> int:
    """Return bytes that may be laid out on a file system: what is free for this user, less a reserve of 5% of
    it, at least 16 MiB and at most 1 GiB, since a full file system breaks other programs and slows down.

    Raises OSError.
    """
    space = os.statvfs(path)
    capacity = space.f_blocks * space.f_frsize
    if not capacity:
        return 2**63 - 1  # some network file systems do not tell
    reserve = min(max(int(capacity * _RESERVE), _LEAST_RESERVE), _MOST_RESERVE)
    return space.f_bavail * space.f_frsize - reserve


# ------------------------------------------------------------ folders


@contextlib.contextmanager
def scratch_folder(parent: int, path: Path) -> Iterator[Path]:
    """Make a folder in the open directory `parent`, which `path` leads to; removed with all that is in it.

    Raises TargetError.
    """
    name = PREFIX + secrets.token_hex(4)
    try:
        os.mkdir(name, 0o700, dir_fd=parent)
    except OSError as error:
        raise refusal(error, f"cannot make a folder in {path}") from error
    try:
        with _mark(parent, name, path):
            yield path / name
    finally:
        _remove_quietly(parent, name)
        with contextlib.suppress(OSError):  # an engine makes it anew where the target was unmounted
            (path / name).rmdir()


@contextlib.contextmanager
def _mark(parent: int, name: str, path: Path) -> Iterator[None]:
    """Mark a new folder as iogate's; the marker is locked as long as this process lives in the folder."""
    try:
        with _open_folder(parent, name) as folder:
            marker = os.open(_MARKER, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
            os.mkdir("engine", 0o700, dir_fd=folder)
    except OSError as error:
        raise refusal(error, f"cannot make files in {path}") from error
    try:
        try:
            lock(marker)
            os.write(marker, _MAGIC)
        except OSError as error:
            raise refusal(error, f"cannot write in {path}") from error
        yield
    finally:
        os.close(marker)


def remove_leftovers(parent: int, path: Path) -> list[str]:
    """Remove the folders of runs that were killed, and return their names.

    Only those that are this user's, bear the marker, and whose run is gone. Raises TargetError (`locked`) if
    an engine of such a run is still at work in its folder.
    """
    removed = []
    for name in sorted(os.listdir(parent)):
        if not name.startswith(PREFIX) or not _is_abandoned(parent, name):
            continue
        users = openers_below(path / name)
        if users:
            raise TargetError(
                f"{path / name} of a run that was killed is still in use: "
                f"{', '.join(process_text(pid) for pid in users)}",
                rule="locked",
                remedy="end that process, or wait for it",
            )
        release_below(path / name)
        if _remove_quietly(parent, name):
            removed.append(name)
    return removed


def reclaimable(path: Path) -> int:
    """Return bytes that this user's scratch folders in a directory take: they do not count as used, since
    each run removes those of its dead predecessors, and its own data when it needs the room.
    """
    total = 0
    try:
        parent = os.open(path, _FOLDER)
    except OSError:
        return 0
    try:
        for name in os.listdir(parent):
            if name.startswith(PREFIX):
                with contextlib.suppress(OSError), _open_folder(parent, name) as folder:
                    if os.fstat(folder).st_uid == os.geteuid():
                        total += _allocated_bytes(folder)
                        with _open_folder(folder, "engine") as inner:
                            total += _allocated_bytes(inner)
    finally:
        os.close(parent)
    return total


def _allocated_bytes(folder: int) -> int:
    entries = (os.stat(name, dir_fd=folder, follow_symlinks=False) for name in os.listdir(folder))
    return sum(entry.st_blocks * 512 for entry in entries)


def _is_abandoned(parent: int, name: str) -> bool:
    """Return whether this is a folder of iogate, of this user, whose run is gone."""
    try:
        with _open_folder(parent, name) as folder:
            if os.fstat(folder).st_uid != os.geteuid():
                return False
            if not os.listdir(folder):
                return True  # killed before it could mark it
            marker = os.open(_MARKER, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
            try:
                marked = stat.S_ISREG(os.fstat(marker).st_mode) and os.read(marker, 200) in (_MAGIC, b"")
                return marked and lock(marker)
            finally:
                os.close(marker)
    except OSError:
        return False


@contextlib.contextmanager
def _open_folder(parent: int, name: str) -> Iterator[int]:
    folder = os.open(name, _FOLDER, dir_fd=parent)
    try:
        yield folder
    finally:
        os.close(folder)


def _remove_quietly(parent: int, name: str) -> bool:
    """Remove a folder; what cannot be removed now (the device fails) the next run will find."""
    try:
        with _open_folder(parent, name) as folder:
            _empty(folder, os.fstat(folder).st_dev, last=_MARKER)
        os.rmdir(name, dir_fd=parent)
    except OSError:
        return False
    return True


def _empty(folder: int, file_system: int, last: str = "") -> None:
    """Remove all that is in an open folder, `last` at the end; never through a symbolic link nor into another
    file system that somebody mounted there.
    """
    for name in sorted(os.listdir(folder), key=lambda name: name == last):
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISDIR(status.st_mode):
            os.unlink(name, dir_fd=folder)
        elif status.st_dev == file_system:
            with _open_folder(folder, name) as inner:
                _empty(inner, file_system)
            os.rmdir(name, dir_fd=folder)
