"""Writing into what is no regular file: a pipe, a terminal, /dev/null, or what a shell left open (/dev/fd/N).

It is written into as it stands, never replaced. Block devices are not written to at all, nor character
devices that may be more than they look like (flash, tapes, watchdogs).
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import select
import stat
import sys
import time
from pathlib import Path

from iogate.errors import InputError, IogateError

_HARMLESS = {(1, 3), (1, 5), (1, 7), (5, 0), (5, 1)}  # null, zero, full; tty, console
_TERMINALS = {4, *range(136, 144)}  # majors: the kernel's Documentation/admin-guide/devices.txt
_LINKS = 40
_PATIENCE = 60.0  # s without anybody reading
_PIECE = select.PIPE_BUF  # what poll(2) calls writable takes that much without waiting


class Stream:
    """What is written into once, held open from the beginning, so that a reader waits for the end."""

    def __init__(self, path: Path) -> None:
        """Open it. Raises InputError if that cannot be, or must not."""
        self.path = path
        self._own = own_descriptor(path)
        try:
            if self._own is not None:
                _check_open(self._own, path)
                return
            self._descriptor = _opened(path)
        except OSError as error:
            nobody = error.errno == errno.ENXIO
            why = "nobody reads from it" if nobody else error.strerror
            remedy = "start the program that reads it before" if nobody else ""
            raise InputError(f"cannot write to {path}: {why}", remedy=remedy) from error

    def finish(self, text: str) -> None:
        """Write all of it, and close what was opened. Raises IogateError if nobody takes it."""
        for stream in (sys.stdout, sys.stderr):
            stream.flush()  # what was said before comes before
        descriptor = self._descriptor if self._own is None else self._own
        try:
            _write(descriptor, text.encode())
        except OSError as error:
            raise IogateError(f"cannot write to {self.path}: {error.strerror}") from error
        finally:
            if self._own is None:
                os.close(descriptor)


def _opened(path: Path) -> int:
    """Return what is there, opened for writing. It is looked at again, by a descriptor that opens nothing:
    another user may have led the path to a disk by now. Raises OSError, and InputError for what must not be
    written to.
    """
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        status = os.fstat(place)
        if stat.S_ISREG(status.st_mode):
            raise InputError(f"{path} became a file just now")
        _require_harmless(path, status)
        flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        return os.open(f"/proc/self/fd/{place}", flags)
    finally:
        os.close(place)


def is_stream(path: Path) -> bool:
    """Return True for what is to be written into, False for a regular file or nothing.

    Raises InputError for what is not to be written to at all. A symbolic link is what it leads to.
    """
    if own_descriptor(path) is not None:
        return True
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"cannot write to {path}: {why}") from error
    if stat.S_ISREG(status.st_mode):
        return False
    _require_harmless(path, status)
    return True


def own_descriptor(path: Path) -> int | None:
    """Return the number of the descriptor of this process that a path stands for, as /dev/stdout for 1."""
    for _ in range(_LINKS):
        try:
            folder = os.path.realpath(path.parent)
            if re.fullmatch(rf"/proc/{os.getpid()}(/task/\d+)?/fd", folder) and path.name.isdecimal():
                return int(path.name)
            path = Path(folder, os.readlink(Path(folder, path.name)))
        except (OSError, ValueError):
            return None
    return None


def _check_open(descriptor: int, path: Path) -> None:
    """Raise InputError for a descriptor that is not open, or not for writing."""
    try:
        mode = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE
    except OSError as error:
        raise InputError(f"cannot write to {path}: it is not open") from error
    if mode == os.O_RDONLY:
        raise InputError(f"cannot write to {path}: it is open for reading only")


def _require_harmless(path: Path, status: os.stat_result) -> None:
    """Raise InputError for what must not be written to."""
    refused = _refused(status)
    if refused:
        raise InputError(f"cannot write to {path}: it is {refused}", remedy="name a file")


def _refused(status: os.stat_result) -> str:
    """Return what something is that must not be written to; empty if it may."""
    if stat.S_ISDIR(status.st_mode):
        return "a folder"
    if stat.S_ISFIFO(status.st_mode):
        return ""
    if not stat.S_ISCHR(status.st_mode):
        return "a block device" if stat.S_ISBLK(status.st_mode) else "a socket"
    major, minor = os.major(status.st_rdev), os.minor(status.st_rdev)
    return "" if (major, minor) in _HARMLESS or major in _TERMINALS else "a character device"


def _write(descriptor: int, data: bytes) -> None:
    """Write it all, and wait no longer than a minute for who reads it. Raises OSError."""
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    left = memoryview(data)
    deadline = time.monotonic() + _PATIENCE
    while left:
        if not poll.poll(1000):
            if time.monotonic() > deadline:
                raise OSError(errno.ETIMEDOUT, "nobody reads from it")
            continue
        left = left[os.write(descriptor, left[:_PIECE]) :]
        deadline = time.monotonic() + _PATIENCE
