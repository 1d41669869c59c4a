"""Whether a block device holds data: blocks never written, or trimmed, are read from no medium.

A trimmed SSD, a thin volume and a loop device on a sparse file answer such reads without looking anything
up, and their counters count them all the same.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import stat
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random

from iogate.host import sysfs
from iogate.host.fiemap import extents
from iogate.model import BACKING, Blank, Blanks, Reads, Region

_SAMPLES, _OF_OCTAVE, _LEAST = 256, 64, 16
_BLOCK = 4096
_SMALLEST = 4 * 2**20  # bytes at the beginning of what is read in order that are a part of their own
_OF_MACHINE = "/sys/class/dmi/id/product_uuid"  # as root alone may read it; boards have none
_OF_IMAGE, _OF_BOOT = "/etc/machine-id", "/proc/sys/kernel/random/boot_id"
_CONTAINERS = "/.dockerenv", "/run/.containerenv"
"""What Docker and Podman leave in a container, whose image may have an id that everybody knows."""
_Look = Callable[[int, int, int], "float | None"]
"""Returns the share from a byte to another, of so many blocks; None where there is no block."""
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_NOTHING = b"\x00", b"\xff"
"""What devices return of a block without data: NVM Express Base Specification 1.4, DLFEAT; JESD84-B51,
ERASED_MEM_CONT.
"""


def blank_shares(device: Path, parts: Sequence[Reads], block: int) -> Blanks | None:
    """Return the shares of blank blocks of a block device among some that are spread over what each of the
    jobs reads; None if it cannot be read. `block` is the least that direct I/O takes.

    Of a job that reads in order by time, that of all it may read is followed by those of the first half of
    it, the first quarter and so on, as it may not come further. They are read past the page cache where that
    can be.
    """
    length = max(block, _BLOCK)
    regions = sum(len(part.regions) for part in parts)
    try:
        with contextlib.closing(mmap.mmap(-1, length)) as memory:
            descriptor = _opened(device)

            def blank(begin: int, end: int, samples: int) -> float | None:
                places = _places(-(-begin // length), end // length, max(samples // regions, _LEAST))
                found = [_is_blank(descriptor, memory, place * length) for place in places]
                return sum(found) / len(found) if found else None

            try:
                return {part.name: found for part in parts if (found := _of_part(part, blank))} or None
            finally:
                os.close(descriptor)
    except OSError:
        return None


def hole_shares(file: Path, parts: Sequence[Reads], offset: int) -> Blanks | None:
    """Return the shares of what each of the jobs reads of a loop device that is nowhere in its file, as its
    extents tell; None if they cannot be told. The device begins at `offset` of it.

    A hole reads as the zeros that another copy of the image has on the disk.
    """
    try:
        descriptor = os.open(file, _FLAGS)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            held = [(one.start, one.start + one.length) for one in extents(descriptor) if one.written]
        finally:
            os.close(descriptor)
    except OSError:
        return None

    def hole(begin: int, end: int, _: int) -> float | None:
        begin, end = begin + offset, end + offset
        there = sum(max(0, min(end, behind) - max(begin, first)) for first, behind in held)
        return 1 - there / (end - begin) if end > begin else None

    named = {part.name: _of_part(part, hole) for part in parts}
    return {f"{name}.{BACKING}" if name else BACKING: own for name, own in named.items() if own}


def _of_part(part: Reads, blank: _Look) -> tuple[Blank, ...]:
    """Return the shares of a job, as the means of those of its regions, by weight."""
    each = [(region.weight, _of_region(region, blank, in_order=part.in_order)) for region in part.regions]
    known = [(weight, levels) for weight, levels in each if levels]
    whole = sum(weight for weight, _ in known)
    if not whole:
        return ()
    depth = min(len(levels) for _, levels in known)
    return tuple(
        Blank(
            sum(levels[level].length for _, levels in known),
            sum(weight * levels[level].share for weight, levels in known) / whole,
        )
        for level in range(depth)
    )


def _of_region(region: Region, blank: _Look, *, in_order: bool) -> list[Blank]:
    """Return the share of a region, and of one that is read in order those of its first half, its first
    quarter and so on: each octave has a sample of its own, which counts in all that it is a part of.
    """
    edges = [region.length]
    while in_order and edges[-1] > _SMALLEST:
        edges.append(edges[-1] // 2)
    share = blank(region.begin, region.begin + edges[-1], _OF_OCTAVE if in_order else _SAMPLES)
    if share is None:
        return []
    found = [Blank(edges[-1], share)]
    for low, high in zip(edges[:0:-1], edges[-2::-1], strict=True):
        octave = blank(region.begin + low, region.begin + high, _OF_OCTAVE)
        share = share if octave is None else (share + octave) / 2
        found.append(Blank(high, share))
    return found[::-1]


def _places(first: int, behind: int, samples: int) -> list[int]:
    """Return the numbers of the blocks to read, one at random in each equal part: nothing periodic on the
    device meets them. On one machine they are the same at each call, so that what did not change has the
    same share each time; who does not know its ids cannot tell where they are.
    """
    blocks = behind - first
    count = min(samples, blocks)
    bounds = [blocks * part // count for part in range(count + 1)] if count > 0 else []
    secret = next(filter(None, map(sysfs.text, _ids())), "")
    choice = Random(f"{first} {blocks} {secret}")
    return [first + choice.randrange(low, high) for low, high in pairwise(bounds)]


def _ids() -> tuple[str, ...]:
    """Return what a machine may be known by, first what stays longest and strangers do not know."""
    contained = any(map(os.path.exists, _CONTAINERS))
    return (_OF_MACHINE, _OF_BOOT) if contained else (_OF_MACHINE, _OF_IMAGE, _OF_BOOT)


def _opened(device: Path) -> int:
    with contextlib.suppress(OSError):
        return os.open(device, _FLAGS | os.O_DIRECT)
    return os.open(device, _FLAGS)


def _is_blank(descriptor: int, memory: mmap.mmap, offset: int) -> bool:
    read = os.preadv(descriptor, [memory], offset)
    return read > 0 and bytes(memory[:read]) in {byte * read for byte in _NOTHING}
