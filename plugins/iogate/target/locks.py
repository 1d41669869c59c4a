"""One run at a time on a target and on the disks under it.

flock(2) locks go away with the process that holds them, however it ends. A directory and a block device are
locked themselves, which holds between containers too. The disks under them are locked by empty files in the
machine's folder for temporary files ($TMPDIR, /tmp), one per disk: two directories on one disk disturb each
other as much as one. Those files stay: to remove a lock file is to break the lock.

Anybody can lock what anybody can open. Root heeds such a lock of another user, and waits for it if it is to
wait, but is not kept from running by it: root's runs exclude each other by files in /run that are root's own.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pwd
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from iogate.errors import TargetError
from iogate.host import sysfs
from iogate.host.flock import lock, unlock
from iogate.host.mounts import PROC
from iogate.host.openers import may_be_looked_at, openers_of_file, process_text, user_of
from iogate.units import format_duration, printable

ROOTS_OWN = Path("/run/iogate")
_POLL_SECONDS = 0.5
_DYING = 2.0  # seconds that a killed run gets to let go: the last copy of its descriptors may outlive it


@dataclass(frozen=True)
class Fellows:
    """The other clients of one run: the scratch `folders` that they have made, by their names, and the
    `disks` (`major:minor`) that those on this machine hold. They exclude everybody else, and not one another.
    """

    folders: tuple[str, ...] = ()
    disks: tuple[str, ...] = ()


Notice = Callable[[str], None]
"""Told in words what is waited for, or passed over."""
_Taken = TypeVar("_Taken")


def until_free(
    stack: ExitStack,
    take: Callable[[bool], AbstractContextManager[_Taken]],
    seconds: float,
    notice: Notice,
) -> _Taken:
    """Enter what `take` gives, as soon as nobody else has it, for at most `seconds`.

    `take` is called with whether locks that need not be heeded are to be. Nothing is held while waiting.
    Raises TargetError (`locked`).
    """
    deadline = time.monotonic() + seconds
    said = ""
    while time.monotonic() < deadline:
        try:
            return stack.enter_context(take(True))
        except TargetError as error:
            if error.rule != "locked":
                raise
            left = deadline - time.monotonic() if said else seconds
            if error.message != said and left > 0:
                notice(f"waiting for at most {format_duration(left)}: {error.message}")
                said = error.message
        time.sleep(_POLL_SECONDS)
    return stack.enter_context(take(False))


@contextlib.contextmanager
def hold(descriptor: int, what: str, heed: bool = True, notice: Notice = print) -> Iterator[None]:
    """Hold an open directory or device. Raises TargetError (`locked`) that says who has it."""
    if not _take(descriptor):
        _give_way(descriptor, f"{what} is in use by another run", heed, notice)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            unlock(descriptor)


@contextlib.contextmanager
def hold_disks(numbers: Iterable[str], heed: bool = True, notice: Notice = print) -> Iterator[None]:
    """Hold disks by their `major:minor`; targets of one process may share them, as in paired runs.

    Raises TargetError (`locked`) that says who has one.
    """
    with contextlib.ExitStack() as stack:
        for number in sorted(set(numbers)):  # in one order, so that two runs never take half of it each
            stack.enter_context(_hold_disk(number, heed, notice))
        yield


@contextlib.contextmanager
def hold_surroundings(target: str, heed: bool = True, notice: Notice = print) -> Iterator[None]:
    """Hold what a run makes around a target (mounts it, sets a power mode) by the target's name: it may not
    be there yet. Raises TargetError (`locked`) that says who has it.
    """
    name = f"around-{hashlib.sha256(target.encode(errors='surrogateescape')).hexdigest()[:16]}"
    message = f"another run has set up what fixtures make for {printable(target)}"
    with _lock_files(name, message, heed, notice):
        yield


class _Held:
    """The lock files of a disk that this process holds, for as many of its own targets as `users` says."""

    def __init__(self, files: ExitStack) -> None:
        self.files = files
        self.users = 0


_held: dict[str, _Held] = {}


@contextlib.contextmanager
def _hold_disk(number: str, heed: bool, notice: Notice) -> Iterator[None]:
    name, message = number.replace(":", "-"), f"another run is on the same disk ({number})"
    held = _held.get(number) or _Held(_lock_files(name, message, heed, notice))
    _held[number] = held
    held.users += 1
    try:
        yield
    finally:
        held.users -= 1
        if not held.users:
            del _held[number]
            held.files.close()


def _lock_files(name: str, message: str, heed: bool, notice: Notice) -> ExitStack:
    """Return the locked lock files of a name, as far as there can be any. Raises TargetError (`locked`) with
    a message, and who has one.
    """
    with ExitStack() as files:
        for folder in _folders():
            descriptor = _lock_file(folder / f"iogate-{name}.lock")
            if descriptor is not None:
                files.callback(os.close, descriptor)
                if not _take(descriptor):
                    _give_way(descriptor, message, heed, notice)
        return files.pop_all()


def _folders() -> list[Path]:
    """Return where lock files are: for temporary files; and for root, if others may write there, its own."""
    shared = Path(tempfile.gettempdir())
    if os.geteuid() or not _is_for_others(shared):
        return [shared]
    with contextlib.suppress(OSError):
        ROOTS_OWN.mkdir(mode=0o700, exist_ok=True)
        if not _is_for_others(ROOTS_OWN, 0o077):
            return [ROOTS_OWN, shared]
    return [shared]


def _is_for_others(folder: Path, mode: int = 0o022) -> bool:
    """Return whether users other than root have such rights to a folder."""
    status = folder.lstat()
    return status.st_uid != 0 or not stat.S_ISDIR(status.st_mode) or bool(status.st_mode & mode)


def _lock_file(file: Path) -> int | None:
    """Return a lock file, made if need be. To lock it takes no more than the right to read it."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with contextlib.suppress(OSError):
        return os.open(
            file, flags
        )  # O_CREAT on a file of another user is refused in /tmp (protected_regular)
    with contextlib.suppress(OSError):
        descriptor = os.open(file, flags | os.O_CREAT | os.O_EXCL)
        os.fchmod(descriptor, 0o644)  # whatever the umask
        return descriptor
    with contextlib.suppress(OSError):
        return os.open(file, flags)  # another run has made it meanwhile
    return None


def _take(descriptor: int) -> bool:
    """Lock an open file; return False if another run has it, and is not just dying."""
    deadline = time.monotonic() + _DYING
    while not lock(descriptor):
        lives = _taker(descriptor) in (*openers_of_file(descriptor), os.getpid())
        if lives or time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _give_way(descriptor: int, message: str, heed: bool, notice: Notice) -> None:
    """Raise TargetError (`locked`); where the one who has the lock could not stop this user, say who it is
    and go on, unless such locks are to be heeded as well.
    """
    pid = holder(descriptor)
    user = user_of(pid) if pid else None
    who = _text(pid, user)
    if os.geteuid() == 0 and _is_nobodys(descriptor):
        user, who = -1, f"nobody has it open (process {pid} took the lock and handed it on)"
    if not heed and os.geteuid() == 0 and user not in (None, 0):
        notice(f"{message}: {who}. root does not wait for it: if that is a run, both disturb each other")
        return
    remedy = "wait until it has ended (--io-wait does): runs at the same time disturb each other"
    if pid is None:
        remedy += "; `lslocks` of the machine names it, outside of this container"
    raise TargetError(f"{message}: {who}", rule="locked", remedy=remedy)


def holder(descriptor: int) -> int | None:
    """Return the process that holds the lock of an open file; None if it cannot be seen.

    /proc/locks names who took it. A child may have it by now, and another process that number: so the one
    named counts if it has the file open, else one that has, of root's if there is any.
    """
    named = _taker(descriptor)
    found = openers_of_file(descriptor)
    if named in (*found, os.getpid()):
        return named
    return next((pid for pid in found if user_of(pid) == 0), None) or next(iter(found), named)


def _is_nobodys(descriptor: int) -> bool:
    """Return whether no process has a locked file open, as root sees them all, though one of this machine
    took the lock. Any user can bring that about for ever: a descriptor can lie in a socket that nobody reads.

    Root of a user namespace, or without its capabilities, does not see what the one who took it has open.
    """
    taker = _taker(descriptor)
    known = taker not in (None, os.getpid()) and may_be_looked_at(PROC / str(taker))
    return known and not openers_of_file(descriptor)


def _taker(descriptor: int, proc: Path = PROC) -> int | None:
    status = os.fstat(descriptor)
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
    found: dict[str, int] = {}
    with contextlib.suppress(ValueError):
        for line in sysfs.text(proc / "locks").splitlines():
            fields = line.split()  # 1: FLOCK ADVISORY WRITE 4711 fe:00:131 0 EOF
            if len(fields) >= 8 and fields[1] == "FLOCK":
                where, _, inode = fields[5].rpartition(":")
                if int(inode) == status.st_ino:
                    found[where] = int(fields[4])
    # btrfs shows files another device number; a process of another container has no number here, or 0
    return (found.get(device) or next(iter(found.values()), None)) or None


def _text(pid: int | None, user: int | None) -> str:
    """Return a process as messages name it: `pid 4711 (pytest suites) of ada`."""
    if pid is None:
        return "a process that cannot be seen from here"
    try:
        name = pwd.getpwuid(user).pw_name if user is not None else ""
    except KeyError:
        name = f"user {user}"
    return f"{process_text(pid)} of {name}" if name else process_text(pid)
