"""Which bytes of a file are really on the device.

Reading a hole or an unwritten extent costs nothing: the kernel hands out zeros without asking the device.
Interface: the kernel's Documentation/filesystems/fiemap.rst; numbers from linux/fiemap.h.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

_FS_IOC_FIEMAP = 0xC020660B
_HEADER = struct.Struct("=QQLLLL")  # start, length, flags, mapped extents, extent count, reserved
_EXTENT = struct.Struct("=QQQQQLLLL")  # logical, physical, length, 2 reserved, flags, 3 reserved
_BATCH = 512
_LAST, _UNWRITTEN = 0x1, 0x800
_UNSUPPORTED = {errno.EOPNOTSUPP, errno.ENOTTY, errno.EINVAL, errno.ENOSYS}


@dataclass(frozen=True)
class Extent:
    """A run of bytes of a file that has room on the device, from `place` on; `written` says whether data are
    there.
    """

    start: int
    place: int
    length: int
    written: bool


class Placement(NamedTuple):
    """How a file lies on the device: bytes that no read takes from there (holes, and extents that are
    allocated only), and in how many `pieces` the others are, which do not follow one another there.
    """

    unwritten: int
    pieces: int


def unwritten_bytes(file: int | Path) -> int | None:
    """Return bytes of a regular file that no read takes from the device; see `Placement`. Raises OSError."""
    found = placement(file)
    return found.unwritten if found else None


def placement(file: int | Path) -> Placement | None:
    """Return how a regular file lies on the device.

    None where it cannot be told: not a regular file, or a file system without FIEMAP (tmpfs, NFS, ZFS and
    others). Data that are in the page cache only count as written once they have a place (delayed
    allocation); call fsync(2) before to be sure of the rest. Raises OSError.
    """
    descriptor = file if isinstance(file, int) else os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        size, held, pieces, behind = status.st_size, 0, 0, -1
        for extent in extents(descriptor):
            if extent.written:
                held += _inside(extent, size)
                pieces += extent.place != behind
                behind = extent.place + extent.length
        return Placement(max(0, size - held), pieces)
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            return None
        raise
    finally:
        if descriptor is not file:
            os.close(descriptor)


def _inside(extent: Extent, size: int) -> int:
    """Return the bytes of an extent before the end of the file (preallocation may reach beyond it)."""
    return max(0, min(extent.start + extent.length, size) - extent.start)


def extents(descriptor: int) -> Iterator[Extent]:
    """Yield the extents of an open file, in order. Raises OSError (EOPNOTSUPP without FIEMAP)."""
    start = 0
    while True:
        buffer = bytearray(_HEADER.size + _BATCH * _EXTENT.size)
        _HEADER.pack_into(buffer, 0, start, 2**64 - 1 - start, 0, 0, _BATCH, 0)
        fcntl.ioctl(descriptor, _FS_IOC_FIEMAP, buffer)
        mapped = _HEADER.unpack_from(buffer)[3]
        for index in range(mapped):
            place = _HEADER.size + index * _EXTENT.size
            logical, physical, length, _, _, flags, *_ = _EXTENT.unpack_from(buffer, place)
            yield Extent(logical, physical, length, not flags & _UNWRITTEN)
            if flags & _LAST:
                return
            start = logical + length
        if not mapped:
            return
