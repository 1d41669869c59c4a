"""What a loop device is made of, as the kernel knows it (loop(4)): by numbers, whatever names it has."""

from __future__ import annotations

import fcntl
import os
import struct
from dataclasses import dataclass

from iogate.host.mounts import number_text

_LOOP_GET_STATUS64 = 0x4C05
INFO = struct.Struct("=5Q4I64s64s32s2Q")
"""loop_info64 of linux/loop.h: device and inode of the file, its own number if it is a device, offset,
length; the rest.
"""

Identity = tuple[int, int]
"""What a file is known by: the numbers of its device and its inode."""


@dataclass(frozen=True)
class BackingFile:
    """A file, and the `major:minor` that it has if it is a block device."""

    identity: Identity
    block_number: str | None


def backing_file_below(descriptor: int) -> BackingFile:
    """Return the file below an open loop device. Raises OSError if it has none, or is another device."""
    device, inode, own, *_ = INFO.unpack(fcntl.ioctl(descriptor, _LOOP_GET_STATUS64, bytes(INFO.size)))
    is_device = own not in (0, device)  # of a plain file older kernels say once more where that lies
    return BackingFile((device, inode), number_text(own) if is_device else None)


def backing_file(name: str, number: str) -> BackingFile | None:
    """Return the file below a loop device of the kernel's name; None if it cannot be asked for."""
    try:
        descriptor = os.open(f"/dev/{name}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if number_text(os.fstat(descriptor).st_rdev) != number:
            return None
        return backing_file_below(descriptor)
    except OSError:
        return None
    finally:
        os.close(descriptor)
