"""Bringing a target to rest before a repetition: what others wrote is on the device, and old data are not in
the page cache.

Dirty pages that one workload leaves behind would be written while the next is measured.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from iogate.errors import TargetError
from iogate.target.layout import refusal
from iogate.units import format_duration

PATIENCE = 300.0
"""Seconds that a flush may take: 3 GiB of dirty pages on a device of 10 MiB/s."""

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def flush(path: Path, patience: float | None = None) -> None:
    """Have a block device, or the file system of a directory, write all its dirty pages; see syncfs(2).

    Raises TargetError if that fails, or takes longer than `patience` seconds (None: PATIENCE).
    """
    patience = PATIENCE if patience is None else patience
    failed: list[OSError] = []

    def work() -> None:
        try:
            _flush(path)
        except OSError as error:
            failed.append(error)

    # Nothing can interrupt a flush. A thread can be left alone with it.
    thread = threading.Thread(target=work, name="flush", daemon=True)
    thread.start()
    thread.join(patience)
    if thread.is_alive():
        raise TargetError(
            f"{path} was not flushed within {format_duration(patience)}: dirty pages would be written during "
            "the measurement",
            rule="flush",
            remedy="find who writes to it (iotop), or see what the kernel says of the device: dmesg",
        )
    if failed:
        raise refusal(failed[0], f"cannot flush {path}") from failed[0]


def drop(files: Iterable[Path]) -> None:
    """Drop the clean pages of files or block devices from the page cache, as far as the kernel does so; see
    posix_fadvise(2). Files that are not there are passed over.
    """
    for file in files:
        with contextlib.suppress(OSError):
            _opened(file, lambda descriptor: os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED))


def _flush(path: Path) -> None:
    _opened(path, _sync)


def _sync(descriptor: int) -> None:
    if stat.S_ISBLK(os.fstat(descriptor).st_mode):
        os.fsync(descriptor)
        return
    library = ctypes.CDLL(None, use_errno=True)
    if library.syncfs(descriptor):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _opened(path: Path, action: Callable[[int], None]) -> None:
    descriptor = os.open(path, _FLAGS)
    try:
        action(descriptor)
    finally:
        os.close(descriptor)
