"""One run at a time on a target and on the disks under it.

flock(2) locks go away with the process that holds them, however it ends. A directory and a block device are
locked themselves, which holds between containers too. The disks under them are locked by empty files in the
machine's folder for temporary files ($TMPDIR, /tmp), one per disk: two directories on one disk disturb each
other as much as one. Those files stay: to remove a lock file is to break the lock.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from iogate.errors import TargetError
from iogate.mounts import PROC
from iogate.openers import process_text

_HELD: dict[str, int] = {}  # disks that this process holds, by how many of its own targets
_BUSY = {errno.EWOULDBLOCK, errno.EACCES}
_UNABLE = {errno.EBADF, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}  # NFS on a directory


@contextlib.contextmanager
def locked(descriptor: int, what: str) -> Iterator[None]:
    """Hold an open directory or device. Raises TargetError (`locked`) that says who has it."""
    if not _flock(descriptor):
        raise _refusal(descriptor, f"{what} is in use by another run")
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)


@contextlib.contextmanager
def disks_locked(numbers: Iterable[str]) -> Iterator[None]:
    """Hold disks by their `major:minor`; targets of one process may share them, as in paired runs.

    Raises TargetError (`locked`) that says who has one.
    """
    with contextlib.ExitStack() as stack:
        for number in sorted(set(numbers)):  # in one order, so that two runs never take half of it each
            stack.enter_context(_disk_locked(number))
        yield


@contextlib.contextmanager
def _disk_locked(number: str) -> Iterator[None]:
    if number in _HELD:
        _HELD[number] += 1
        try:
            yield
        finally:
            _HELD[number] -= 1
        return
    descriptor = _lock_file(number)
    try:
        if descriptor is not None and not _flock(descriptor):
            raise _refusal(descriptor, f"another run is on the same disk ({number})")
        _HELD[number] = 1
        try:
            yield
        finally:
            del _HELD[number]
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _lock_file(number: str) -> int | None:
    """The lock file of a disk, made if need be; None where none can be had. Anybody may lock it, nobody
    needs to write it.
    """
    file = Path(tempfile.gettempdir()) / f"iogate-{number.replace(':', '-')}.lock"
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    for more in (
        0,
        os.O_CREAT | os.O_EXCL,
        0,
    ):  # O_CREAT on another's file is refused in /tmp (protected_regular)
        try:
            return os.open(file, flags | more, 0o644)
        except OSError:
            continue
    return None


def _flock(descriptor: int) -> bool:
    """Take a lock; False if another has it. True also where the file system knows no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _BUSY:
            return False
        if error.errno not in _UNABLE:
            raise
    return True


def _refusal(descriptor: int, message: str) -> TargetError:
    return TargetError(
        f"{message}: {holder(descriptor)}",
        rule="locked",
        remedy="wait until it has ended: runs on one target at the same time disturb each other",
    )


def holder(descriptor: int, proc: Path = PROC) -> str:
    """Who holds the lock of an open file, by /proc/locks: `pid 4711 (pytest suites)`."""
    status = os.fstat(descriptor)
    with contextlib.suppress(OSError, ValueError):
        for line in (proc / "locks").read_text().splitlines():
            fields = line.split()  # 1: FLOCK ADVISORY WRITE 4711 fe:00:131 0 EOF
            if len(fields) < 8 or fields[1] != "FLOCK":
                continue
            if int(fields[5].rpartition(":")[2]) == status.st_ino:
                return process_text(int(fields[4]), proc)
    return "a process that cannot be seen from here"
