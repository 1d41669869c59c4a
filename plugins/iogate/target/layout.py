"""Laying out data: incompressible, never the same block twice, written to the device and verified.

A read of a hole, of an unwritten extent or of blocks that a device compressed or deduplicated is faster than
the device is. Random bytes come from numpy's SFC64: 3.4 GB/s on one core, where os.urandom gave 0.3 and
numpy's Generator.bytes 0.5. Where there is no numpy, as on a machine that is measured from another one,
they are made by `permuted`.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import random
from collections.abc import Callable
from pathlib import Path

from iogate.errors import TargetError
from iogate.host import fiemap
from iogate.host.patience import LONG, StandsStill, Tell, patiently
from iogate.target.resolve import LEADS_ELSEWHERE
from iogate.units import format_duration, format_quantity

Tick = Callable[[int, int], None]
"""Called with the bytes done and the bytes in all."""
RandomBytes = Callable[[int], bytes | memoryview]

PATIENCE = LONG
"""Seconds in which nothing need be written."""

_CHUNK = 4 * 2**20
_LITTLE = 16 * 2**20
NO_DIRECT = {errno.EINVAL, errno.EOPNOTSUPP}


def lay_out(file: Path, size: int, *, direct: bool, tick: Tick | None = None) -> None:
    """Write a new file of `size` random bytes, past the page cache where the file system can, and verify it.

    When it returns, the data are on the device and no longer in the page cache. Whatever ends it otherwise
    (Ctrl-C too), the file is gone. Raises TargetError: rule `no-direct-io` if `direct` is asked for and
    cannot be had, `space`, `io-error`, `slow` if the device stands still, or `holes` if blocks count as
    unwritten after all.
    """
    random_bytes = _source(size)
    try:
        patiently(
            lambda tell: _write(file, size, direct, random_bytes, tell),
            PATIENCE,
            heard=lambda done: tick(done, size) if tick else None,
        )
        _verify(file, size)
    except StandsStill as error:  # who removes the file would wait, too
        raise TargetError(
            f"cannot lay out {format_quantity(size, 'B')} in {_named(file)}: nothing was written for "
            f"{format_duration(PATIENCE)}",
            rule="slow",
            remedy="see what the kernel says of the device: dmesg",
        ) from error
    except BaseException as error:
        with contextlib.suppress(OSError):  # it was never made, or is gone: the first error says more
            file.unlink()
        if not isinstance(error, OSError):
            raise
        if direct and error.errno in NO_DIRECT:
            raise no_direct_io(f"the file system at {_named(file)} refuses it") from error
        raise refusal(error, f"cannot lay out {format_quantity(size, 'B')} in {_named(file)}") from error


def intact(file: Path, size: int) -> bool:
    """Return whether a file still is what was laid out: a regular file of that size without holes."""
    try:
        status = file.lstat()
        return status.st_size == size and not file.is_symlink() and not fiemap.unwritten_bytes(file)
    except OSError:
        return False


def refusal(error: OSError, action: str) -> TargetError:
    """Return the refusal that an error of the operating system amounts to."""
    rule, remedy = "io-error", "see what the kernel says of the device: dmesg"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        rule, remedy = "space", "free space on the target, or use a smaller size"
    elif error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        rule, remedy = "read-only", "choose a target that this user may write to"
    elif error.errno in LEADS_ELSEWHERE:
        rule, remedy = "changed", "find out who removed or replaced it, and start over"
    return TargetError(f"{action}: {error.strerror}", rule=rule, remedy=remedy)


def no_direct_io(what: str) -> TargetError:
    """Return the refusal of a target where direct I/O cannot be had."""
    return TargetError(
        f"direct I/O was asked for, but {what}",
        rule="no-direct-io",
        remedy="choose a target on a block device, or say direct: 0 to measure the page cache",
    )


def _write(file: Path, size: int, direct: bool, random_bytes: RandomBytes, tell: Tell) -> None:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(file, flags | os.O_EXCL | os.O_DIRECT, 0o600)
    except OSError as error:
        if direct or error.errno not in NO_DIRECT:
            raise
        descriptor = os.open(file, flags, 0o600)  # not O_EXCL: some create the file, and refuse it then
    try:
        _fill(descriptor, size, random_bytes, tell)
        os.ftruncate(descriptor, size)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def _fill(descriptor: int, size: int, random_bytes: RandomBytes, tell: Tell) -> None:
    """Write random chunks; the last one in whole pages, as direct I/O takes no less, to be cut later."""
    memory = mmap.mmap(-1, _CHUNK)  # page-aligned, as direct I/O demands
    view = memoryview(memory)
    for offset in range(0, size, _CHUNK):
        length = min(_CHUNK, -(-(size - offset) // mmap.PAGESIZE) * mmap.PAGESIZE)
        view[:length] = random_bytes(length)
        done = 0
        while done < length:
            done += os.pwrite(descriptor, view[done:length], offset + done)
        tell(min(offset + length, size))


def _source(size: int) -> RandomBytes:
    """Return what makes random bytes: the kernel for little, who has them before numpy is loaded."""
    if size <= _LITTLE:
        return os.urandom
    try:
        import numpy as np
    except ImportError:
        return permuted()
    bits = np.random.SFC64()
    return lambda length: bits.random_raw(length // 8).data.cast("B")


def permuted() -> Callable[[int], bytes]:
    """Return what makes random bytes without numpy, at 1.2 GB/s: each chunk is the same random one with the
    values of its bytes changed for others, by a permutation of its own. No block comes twice: there are 256!
    of them.
    """
    pool = os.urandom(_CHUNK)

    def chunk(length: int) -> bytes:
        return pool[:length].translate(bytes(random.sample(range(256), 256)))

    return chunk


def _verify(file: Path, size: int) -> None:
    holes = fiemap.unwritten_bytes(file)
    if holes:
        raise TargetError(
            f"{format_quantity(holes, 'B')} of the {format_quantity(size, 'B')} laid out in {_named(file)} "
            "are not on the device: reading them would measure nothing",
            rule="holes",
            remedy="choose a target whose file system writes what it is given",
        )


def _named(file: Path) -> str:
    """Return the folder of a file as people know it: it may be given by what a process holds open."""
    return os.path.realpath(file.parent)
