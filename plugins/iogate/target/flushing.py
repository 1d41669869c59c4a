"""Bringing a target to rest before a repetition: what was read ahead and what others wrote has ended, and old
data are not in the page cache.

What one workload leaves behind, reads ahead and dirty pages, would go on while the next is measured.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import stat
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from iogate.errors import TargetError
from iogate.host import sysfs
from iogate.host.meter import in_flight
from iogate.host.mounts import real_file
from iogate.host.patience import LONG, StandsStill, patiently
from iogate.target.layout import refusal
from iogate.units import format_duration

PATIENCE = LONG
"""Seconds that a flush may take."""

SETTLED = 2.0
"""Seconds that are waited for what is read ahead: 4 MiB at 2 MiB/s."""

_LOOK = 0.005  # seconds
_CACHESTAT = 451  # on every architecture

_HELD = re.compile(r"/proc/\d+/fd/\d+")
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def flush(path: Path) -> None:
    """Have a block device, or the file system of a directory, write all its dirty pages; see syncfs(2).

    Raises TargetError if that fails, or takes longer than PATIENCE.
    """
    try:
        patiently(lambda _: _opened(path, _sync), PATIENCE)
    except StandsStill:
        raise TargetError(
            f"{path} was not flushed within {format_duration(PATIENCE)}: dirty pages would be written during "
            "the measurement",
            rule="flush",
            remedy="find who writes to it (iotop), or see what the kernel says of the device: dmesg",
        ) from None
    except OSError as error:
        raise refusal(error, f"cannot flush {path}") from error


def drop(files: Iterable[Path]) -> None:
    """Drop the clean pages of files or block devices from the page cache, as far as the kernel does so; see
    posix_fadvise(2). Files that are not there are passed over.
    """
    for file in files:
        with contextlib.suppress(OSError):
            _opened(file, lambda descriptor: os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED))


class ReadAhead:
    """What was read through the page cache, of which the kernel may still read ahead.

    Before Linux 6.5 nobody tells what of a file is on its way (cachestat in include/uapi/linux/mman.h): then
    what the device has in flight is waited for, of which it has not seen what a control group holds back.
    Of an overlay the file in its upper layer is asked: its own has no pages.
    """

    def __init__(self) -> None:
        self._files: list[Path] = []
        self._staying: dict[Path, int] = {}
        """Pages of devices that stay whatever is dropped: of a file system that is mounted from them."""

    def note(self, files: Iterable[Path]) -> None:
        """Remember files that are read through the page cache."""
        self._files += map(real_file, files)

    def forget(self, number: str | None) -> None:
        """Drop them, and wait for what is read ahead, which the kernel drops no sooner. `number` is that of
        the block device (`8:1`; None: no device) under them.
        """
        until = time.monotonic() + SETTLED
        for file in self._files:
            with contextlib.suppress(OSError):
                _opened(file, partial(self._wait, file, number, until))
        self._files.clear()

    def _wait(self, file: Path, number: str | None, until: float, descriptor: int) -> None:
        pages: int | None = None
        while time.monotonic() < until:
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            pages = _cached_pages(descriptor)
            if not in_flight(number) if pages is None else pages <= self._staying.get(file, 0):
                return
            time.sleep(_LOOK)
        # Of a file none stays: what a control group holds back is not in flight, and still on its way.
        if pages is not None and stat.S_ISBLK(os.fstat(descriptor).st_mode) and not in_flight(number):
            self._staying[file] = pages


def _cached_pages(descriptor: int) -> int | None:
    """Return how many pages of an open file are in the page cache, or on their way there; None if unknown."""
    whole, found = (ctypes.c_uint64 * 2)(0, 0), (ctypes.c_uint64 * 5)()
    failed = ctypes.CDLL(None).syscall(_CACHESTAT, descriptor, ctypes.byref(whole), ctypes.byref(found), 0)
    return None if failed else found[0]


def _sync(descriptor: int) -> None:
    if stat.S_ISBLK(os.fstat(descriptor).st_mode):
        os.fsync(descriptor)
        return
    library = ctypes.CDLL(None, use_errno=True)
    if library.syncfs(descriptor):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _opened(path: Path, action: Callable[[int], None]) -> None:
    held = _HELD.fullmatch(str(path))  # what this process holds open is named by a link, and is no other's
    descriptor = os.open(path, _FLAGS & ~os.O_NOFOLLOW if held else _FLAGS)
    try:
        action(descriptor)
    finally:
        os.close(descriptor)


def unflushed() -> int:
    """Return the bytes that the page cache of this machine is still to write to all of its disks; see
    proc_meminfo(5).
    """
    found = dict(re.findall(r"^(\w+):\s*(\d+) kB$", sysfs.text(Path("/proc/meminfo")), re.MULTILINE))
    return 1024 * (int(found.get("Dirty", 0)) + int(found.get("Writeback", 0)))
