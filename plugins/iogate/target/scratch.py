"""What a run keeps on its target: a folder of its own, and in it the data that engines read and write.

Everything lies in one folder `.iogate-scratch-*` that only its owner can enter, with a marker that is
locked while its run lives. Whoever may write to the directory can rename that folder and put another one in
its place: so it is held open, and all that works in it, engines included, reaches it by what is held
(/proc/PID/fd) and never by its name. A run that was killed leaves its folder; the next run on that directory
removes it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from iogate.errors import TargetError
from iogate.host import sysfs
from iogate.host.flock import lock
from iogate.host.loop import release_in
from iogate.host.mounts import WITHOUT_OWNERS, mount_of
from iogate.host.openers import openers_below, process_text
from iogate.host.patience import patiently
from iogate.model import Needs
from iogate.target.layout import Tick, intact, lay_out, refusal
from iogate.target.resolve import LEADS_ELSEWHERE
from iogate.units import format_duration

PREFIX = ".iogate-scratch-"
_MARKER = "iogate"
_MAGIC = b"A folder of iogate: removed by the run that made it, or by the next one.\n"
_OWN = re.compile(rf"{_MARKER}|engine|data-\d+(-\d+)?|slot-\d+|(base|candidate)\.raw")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
PATIENCE = 60.0
"""Seconds that it may take to remove a run's folder."""
_TRIES = 100  # to remove a folder that somebody renames over and over
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

    def missing(self, needs: Needs, number: int = 0) -> int:
        """Return how many bytes `data` would write first, to lay them out."""
        ...

    def blank(self, needs: Needs) -> float | None:
        """Return the share of what is read that was never written, as a sample tells; None where `data` are
        laid out, or nothing is read.
        """
        ...

    def check(self) -> None:
        """Raise TargetError (`changed`) if it is no longer where it was: the device may not be the same."""
        ...

    def readable(self, text: str) -> str:
        """Return what an engine says, with paths as people know them."""
        ...


def quotable(path: Path) -> str:
    """Return a path as it can stand in an engine's JSON: what would end a text there is `?`."""
    return re.sub(r'["\\\x00-\x1f]', "?", str(path))


class FolderScratch:
    """A run's place in a directory: files of incompressible data, laid out when first asked for and reused
    by all workloads of that size.
    """

    def __init__(self, home: Home, check_needs: CheckNeeds) -> None:
        self.folder: Path | None = home.held / "engine"
        self.path = home.path
        self.written = 0
        self._home = home
        self._check_needs = check_needs
        self._laid_out: list[tuple[int, int]] = []  # size and number of each file

    def check(self) -> None:
        self._home.check()

    def readable(self, text: str) -> str:
        return text.replace(str(self._home.held), quotable(self.path))

    def data(self, needs: Needs, tick: Tick | None = None, number: int = 0) -> Path:
        """Return a file of `needs.size` bytes; without a size, a path where the engine may make its own
        file.
        """
        self._check_needs(needs)
        self.check()
        if not needs.size:
            if needs.space:
                self._make_room(needs)
            return self._home.held / "engine" / "data"
        file = self._file(needs.size, number)
        if not self.missing(needs, number):
            return file
        self._make_room(needs, number)
        lay_out(file, needs.size, direct=needs.direct, tick=tick)
        self._laid_out.append((needs.size, number))
        self.written += needs.size
        return file

    def missing(self, needs: Needs, number: int = 0) -> int:
        file = self._file(needs.size, number)
        return 0 if (needs.size, number) in self._laid_out and intact(file, needs.size) else needs.size

    def blank(self, needs: Needs) -> float | None:
        """Return None: what is read was laid out."""
        return None

    def _make_room(self, needs: Needs, number: int = 0) -> None:
        """Remove data of other sizes, largest first, before a workload is refused for lack of space."""
        try:
            self._forget(needs.size, number)
            others = sorted(item for item in self._laid_out if item[0] != needs.size)
            wanted = needs.size * (needs.files - number % needs.files) + needs.space
            while others and room(self._home.held) < wanted:
                self._forget(*others.pop())
        except OSError as error:
            raise refusal(error, f"cannot make room in {self.path}") from error
        self._check_needs(needs)

    def _file(self, size: int, number: int) -> Path:
        return self._home.held / (f"data-{size}-{number}" if number else f"data-{size}")

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


@dataclass(frozen=True)
class Home:
    """A run's folder, held open as `folder`, in the open directory `parent`, where it was called `path`."""

    parent: int
    folder: int
    path: Path
    process: int

    @property
    def held(self) -> Path:
        """The path that leads to the folder whatever becomes of its name, for processes of this user."""
        return Path(f"/proc/{self.process}/fd/{self.folder}")

    def check(self) -> None:
        """Raise TargetError (`changed`) if its name does not lead to it."""
        try:
            own: os.stat_result | None = os.fstat(self.folder)
        except OSError:  # another machine has removed it, from a network file system
            own = None
        if own is None or not _leads_to(self.parent, self.path.name, own):
            message = f"{self.path} was renamed, replaced or removed while the run worked in it"
            remedy = "find out who did it; only those whom you trust should be able to write there"
            raise TargetError(message, rule="changed", remedy=remedy)


@contextlib.contextmanager
def scratch_folder(parent: int, path: Path, *, owners: bool = True) -> Iterator[Home]:
    """Make a folder in the open directory `parent`, which `path` leads to; removed with all that is in it.

    `owners` is False for a file system whose files have none, and no links. Raises TargetError.
    """
    name = PREFIX + secrets.token_hex(4)
    folder = _make_folder(parent, path / name)
    try:
        _check_made(parent, folder, path / name, owners)
        try:
            with _mark(folder, path / name):
                yield Home(parent, folder, path / name, os.getpid())
        finally:
            _remove_patiently(parent, folder, path / name)
    finally:
        os.close(folder)


def _remove_patiently(parent: int, folder: int, path: Path) -> None:
    """Remove this run's folder. Raises TargetError (`slow`) if that takes too long: it then goes on alone."""
    try:
        patiently(lambda: _remove(parent, folder, path.name), PATIENCE, (parent, folder))
    except TimeoutError:
        raise TargetError(
            f"{path} was not removed within {format_duration(PATIENCE)}: its file system does not answer",
            rule="slow",
            remedy="see what the kernel says of the device: dmesg. A process waits for it to answer, and "
            "removes the folder then; else the next run does",
        ) from None
    except OSError:
        pass  # the device fails: the next run will find it


def _make_folder(parent: int, path: Path) -> int:
    """Make a folder called `path` in the open directory `parent`, and return it open. Raises TargetError."""
    try:
        os.mkdir(path.name, 0o700, dir_fd=parent)
    except OSError as error:
        raise refusal(error, f"cannot make a folder in {path.parent}") from error
    try:
        return os.open(path.name, _FOLDER, dir_fd=parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.rmdir(path.name, dir_fd=parent)
        if error.errno in LEADS_ELSEWHERE:
            raise _replaced(path) from error
        raise refusal(error, f"cannot open the new folder {path}") from error


def _replaced(path: Path) -> TargetError:
    message = f"{path} was renamed, replaced or removed in the moment in which it was made"
    remedy = "find out who did it, or choose another target"
    return TargetError(message, rule="changed", remedy=remedy)


def _check_made(parent: int, folder: int, path: Path, owners: bool) -> None:
    """Raise TargetError for a folder that is not the new one, or not this user's alone."""
    status, around = os.fstat(folder), os.fstat(parent)
    if os.listdir(folder) or status.st_dev != around.st_dev:
        raise _replaced(path)
    if owners and (status.st_uid != os.geteuid() or status.st_mode & 0o022):
        with contextlib.suppress(OSError):
            os.rmdir(path.name, dir_fd=parent)
        message = f"others may write to what this user (uid {os.geteuid()}) makes in {path.parent}"
        remedy = "mount that file system so that files belong to who makes them, or choose another target"
        raise TargetError(message, rule="foreign", remedy=remedy)


@contextlib.contextmanager
def _mark(folder: int, path: Path) -> Iterator[None]:
    """Mark a new folder as iogate's; the marker is locked as long as this process lives in the folder."""
    try:
        marker = os.open(_MARKER, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
    except FileNotFoundError as error:  # it was empty, so that who owns the directory could remove it
        raise _replaced(path) from error
    except OSError as error:
        raise refusal(error, f"cannot make files in {path}") from error
    try:
        try:
            os.mkdir("engine", 0o700, dir_fd=folder)
            lock(marker)
            os.write(marker, _MAGIC + f"{_machine()} {_boot()}\n".encode())
            os.fsync(marker)  # a power cut must not leave a folder that nobody knows
        except OSError as error:
            raise refusal(error, f"cannot write in {path}") from error
        yield
    finally:
        with contextlib.suppress(OSError):  # what was written is known, or gone with its file system
            os.close(marker)


def occupants(parent: int) -> set[str]:
    """Return the names of this user's scratch folders in an open directory, but for those of runs that are
    gone.
    """
    found = set()
    with contextlib.suppress(OSError):
        for name in _names(parent):
            if name.startswith(PREFIX):
                with contextlib.suppress(OSError), _open_folder(parent, name) as folder:
                    if _is_own(parent, folder) and not _is_abandoned(parent, folder):
                        found.add(name)
    return found


def remove_leftovers(parent: int, path: Path, spared: Collection[str] = ()) -> list[str]:
    """Remove the folders of runs that were killed, and return their names.

    Only those that are this user's, bear the marker, whose run is gone, and that are not to be `spared`.
    Raises TargetError: `locked` if an engine of such a run is still at work in its folder, `io-error` if the
    directory cannot be read.
    """
    removed = []
    try:
        names = sorted(_names(parent))
    except OSError as error:  # a damaged file system
        raise refusal(error, f"cannot list what is in {path}") from error
    for name in names:
        if name.startswith(PREFIX) and name not in spared:
            with contextlib.suppress(OSError), _open_folder(parent, name) as folder:
                if _is_abandoned(parent, folder):
                    _check_unused(folder, path / name)
                    _release(folder)
                    removed += [name] if _remove_quietly(parent, folder, name) else []
    return removed


def _release(folder: int) -> None:
    """Unmount what a run mounted in an open folder from files in it."""
    with contextlib.suppress(OSError), _open_folder(folder, "engine") as inner:
        release_in(Path(f"/proc/self/fd/{inner}"))


def _check_unused(folder: int, path: Path) -> None:
    """Raise TargetError (`locked`) that names who works in a folder."""
    users = openers_below(Path(os.readlink(f"/proc/self/fd/{folder}")))
    if users:
        raise TargetError(
            f"{path} of a run that was killed is still in use: "
            f"{', '.join(process_text(pid) for pid in users)}",
            rule="locked",
            remedy="end that process, or wait for it",
        )


def reclaimable(path: Path) -> int:
    """Return bytes that this user's scratch folders in a directory take: they do not count as used, since
    each run removes those of its dead predecessors, and its own data when it needs the room. What no run
    would know as such a folder is used.
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
                    if _is_own(parent, folder) and _marker_text(folder) is not None:
                        total += _allocated_bytes(folder)
                        with _open_folder(folder, "engine") as inner:
                            total += _allocated_bytes(inner)
    finally:
        os.close(parent)
    return total


def _allocated_bytes(folder: int) -> int:
    entries = (os.stat(name, dir_fd=folder, follow_symlinks=False) for name in os.listdir(folder))
    return sum(entry.st_blocks * 512 for entry in entries)


def _is_abandoned(parent: int, folder: int) -> bool:
    """Return whether an open folder is one of iogate, of this user, whose run is gone. Raises OSError."""
    if not _is_own(parent, folder):
        return False
    text = _marker_text(folder)
    if text is None or _is_elsewhere(folder, text):
        return False
    if not os.listdir(folder):
        return True  # killed before it could mark it
    marker = _open_marker(folder)
    try:
        return lock(marker)
    finally:
        os.close(marker)


def _is_own(parent: int, folder: int) -> bool:
    """Return whether a folder in an open directory is this user's: where files have no owners, it is of the
    one whom all of them are said to be of. Raises OSError.
    """
    user = os.fstat(folder).st_uid
    if user == os.geteuid():
        return True
    mount = mount_of(Path(os.readlink(f"/proc/self/fd/{parent}")))
    without = mount is not None and mount.file_system in WITHOUT_OWNERS
    return without and user == os.fstat(parent).st_uid


def _marker_text(folder: int) -> bytes | None:
    """Return what the marker of an open folder says; nothing if it was lost in a power cut, or is still to be
    made, and None if this is no folder of iogate. Raises OSError.
    """
    names = set(os.listdir(folder))
    if not names:
        return b""
    marker = _open_marker(folder)
    try:
        text = os.read(marker, 1000) if stat.S_ISREG(os.fstat(marker).st_mode) else None
    finally:
        os.close(marker)
    if text is not None and not text.strip(b"\0") and all(_OWN.fullmatch(name) for name in names):
        return b""
    return text if text is not None and text.startswith(_MAGIC) else None


def _open_marker(folder: int) -> int:
    return os.open(_MARKER, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)


def _is_elsewhere(folder: int, text: bytes) -> bool:
    """Return whether another machine may be at work in a folder: its locks may hold there alone, as on NFS
    with `nolock`, 9p and virtiofs. What lies on a block device has one machine at a time.
    """
    machine, _, boot = text.removeprefix(_MAGIC).decode(errors="replace").strip().rpartition(" ")
    shared = os.major(os.fstat(folder).st_dev) == 0
    return bool(machine) and shared and boot != _boot() and machine != _machine()


def _machine() -> str:
    """Return what this machine is called, with what tells boards of one image apart."""
    serial = sysfs.text("/proc/device-tree/serial-number")
    return " ".join(filter(None, (sysfs.text("/etc/machine-id"), serial, os.uname().nodename)))


def _boot() -> str:
    return sysfs.text("/proc/sys/kernel/random/boot_id") or "-"


@contextlib.contextmanager
def _open_folder(parent: int, name: str) -> Iterator[int]:
    folder = os.open(name, _FOLDER, dir_fd=parent)
    try:
        yield folder
    finally:
        os.close(folder)


def _names(folder: int) -> list[str]:
    """Return what is in an open folder; opened anew, as btrfs lists what was there when it was opened."""
    with _open_folder(folder, ".") as again:
        return os.listdir(again)


def _remove_quietly(parent: int, folder: int, name: str) -> bool:
    """Remove an open folder as `_remove` does, and return whether that was done; what cannot be removed now
    (the device fails) the next run will find.
    """
    try:
        _remove(parent, folder, name)
    except OSError:
        return False
    return True


def _remove(parent: int, folder: int, name: str) -> None:
    """Remove an open folder, whatever it is called by now. Raises OSError."""
    _empty(folder, os.fstat(folder).st_dev, last=_MARKER)
    for _ in range(_TRIES):
        with contextlib.suppress(FileNotFoundError):  # it was renamed once more
            os.rmdir(_name_in(parent, folder, name) or name, dir_fd=parent)
            return
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))


def _name_in(parent: int, folder: int, first: str) -> str | None:
    """Return what an open folder is called in the directory that it was made in; None if it is not there."""
    own = os.fstat(folder)
    if _leads_to(parent, first, own):
        return first
    return next((name for name in _names(parent) if _leads_to(parent, name, own)), None)


def _leads_to(parent: int, name: str, own: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(name, dir_fd=parent, follow_symlinks=False), own)
    except OSError:
        return False


def _empty(folder: int, file_system: int, last: str = "") -> None:
    """Remove all that is in an open folder, `last` at the end; never through a symbolic link nor into another
    file system that somebody mounted there.
    """
    for name in sorted(_names(folder), key=lambda name: name == last):
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISDIR(status.st_mode):
            os.unlink(name, dir_fd=folder)
        elif status.st_dev == file_system:
            with _open_folder(folder, name) as inner:
                _empty(inner, file_system)
            os.rmdir(name, dir_fd=folder)
