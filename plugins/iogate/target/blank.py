"""Whether a block device holds data: blocks never written, or trimmed, are read from no medium.

A trimmed SSD, a thin volume and a loop device on a sparse file answer such reads without looking anything
up, and their counters count them all the same.
"""

from __future__ import annotations

import contextlib
import mmap
import os
from itertools import pairwise
from pathlib import Path
from random import Random

from iogate.host import sysfs

_SAMPLES = 128
_BLOCK = 4096
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_NOTHING = b"\x00", b"\xff"
"""What devices return of a block without data: NVM Express Base Specification 1.4, DLFEAT; JESD84-B51,
ERASED_MEM_CONT.
"""


def blank_share(device: Path, size: int, block: int) -> float | None:
    """Return the share of blank blocks among 128 that are spread over the first `size` bytes of a block
    device; None if it cannot be read. `block` is the least that direct I/O takes.

    They are read past the page cache where that can be.
    """
    length = max(block, _BLOCK)
    places = _places(size // length)
    try:
        with contextlib.closing(mmap.mmap(-1, length)) as memory:
            descriptor = _opened(device)
            try:
                blank = sum(_is_blank(descriptor, memory, place * length) for place in places)
            finally:
                os.close(descriptor)
    except OSError:
        return None
    return blank / len(places) if places else None


def _places(blocks: int) -> list[int]:
    """Return the numbers of the blocks to read, one at random in each equal part: nothing periodic on the
    device meets them. On one machine they are the same at each call, so that what did not change has the
    same share each time; who does not know its id cannot tell where they are.
    """
    count = min(_SAMPLES, blocks)
    bounds = [blocks * part // count for part in range(count + 1)] if count else []
    choice = Random(f"{blocks} {sysfs.text('/etc/machine-id')}")
    return [choice.randrange(low, high) for low, high in pairwise(bounds)]


def _opened(device: Path) -> int:
    with contextlib.suppress(OSError):
        return os.open(device, _FLAGS | os.O_DIRECT)
    return os.open(device, _FLAGS)


def _is_blank(descriptor: int, memory: mmap.mmap, offset: int) -> bool:
    read = os.preadv(descriptor, [memory], offset)
    return read > 0 and bytes(memory[:read]) in {byte * read for byte in _NOTHING}
