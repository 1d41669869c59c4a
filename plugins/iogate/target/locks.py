"""One run at a time on a target and on the disks under it.

flock(2) locks go away with the process that holds them, however it ends. A directory and a block device are
locked themselves, which holds between containers too. The disks under them are locked by empty files in the
machine's folder for temporary files ($TMPDIR, /tmp), one per disk: two directories on one disk disturb each
other as much as one. Those files stay: to remove a lock file is to break the lock.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from iogate.errors import TargetError
from iogate.host import sysfs
from iogate.host.flock import lock, unlock
from iogate.host.mounts import PROC
from iogate.host.openers import process_text


@contextlib.contextmanager
def hold(descriptor: int, what: str) -> Iterator[None]:
    """Hold an open directory or device. Raises TargetError (`locked`) that says who has it."""
    if not lock(descriptor):
        raise _refusal(descriptor, f"{what} is in use by another run")
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            unlock(descriptor)


@contextlib.contextmanager
def hold_disks(numbers: Iterable[str]) -> Iterator[None]:
    """Hold disks by their `major:minor`; targets of one process may share them, as in paired runs.

    Raises TargetError (`locked`) that says who has one.
    """
    with contextlib.ExitStack() as stack:
        for number in sorted(set(numbers)):  # in one order, so that two runs never take half of it each
            stack.enter_context(_hold_disk(number))
        yield


class _Held:
    """The lock file of a disk that this process holds, for as many of its own targets as `users` says."""

    def __init__(self, descriptor: int | None) -> None:
        self.descriptor = descriptor
        self.users = 0


_held: dict[str, _Held] = {}


@contextlib.contextmanager
def _hold_disk(number: str) -> Iterator[None]:
    held = _held.get(number) or _Held(_lock_disk(number))
    _held[number] = held
    held.users += 1
    try:
        yield
    finally:
        held.users -= 1
        if not held.users:
            del _held[number]
            if held.descriptor is not None:
                os.close(held.descriptor)


def _lock_disk(number: str) -> int | None:
    """Return the locked lock file of a disk; None where none can be had. Raises TargetError (`locked`)."""
    descriptor = _lock_file(number)
    if descriptor is not None and not lock(descriptor):
        try:
            raise _refusal(descriptor, f"another run is on the same disk ({number})")
        finally:
            os.close(descriptor)
    return descriptor


def _lock_file(number: str) -> int | None:
    """Return the lock file of a disk, made if need be. To lock it takes no more than the right to read it."""
    file = Path(tempfile.gettempdir()) / f"iogate-{number.replace(':', '-')}.lock"
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


def _refusal(descriptor: int, message: str) -> TargetError:
    return TargetError(
        f"{message}: {holder(descriptor)}",
        rule="locked",
        remedy="wait until it has ended: runs on one target at the same time disturb each other",
    )


def holder(descriptor: int, proc: Path = PROC) -> str:
    """Return who holds the lock of an open file, by /proc/locks: `pid 4711 (pytest suites)`."""
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
    pid = found.get(device) or next(iter(found.values()), None)  # btrfs shows files another device number
    return process_text(pid, proc) if pid else "a process that cannot be seen from here"
