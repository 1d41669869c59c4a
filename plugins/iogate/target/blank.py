"""Whether a block device holds data: blocks never written, or trimmed, are read from no medium.

A trimmed SSD, a thin volume and a loop device on a sparse file answer such reads without looking anything
up, and their counters count them all the same.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import stat
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from random import Random

from iogate.host import sysfs
from iogate.host.fiemap import extents
from iogate.model import BACKING, Reads, Region

_SAMPLES, _LEAST, _MOST_REGIONS = 256, 4, 1024
_BLOCK = 4096
_OF_MACHINE = "/sys/class/dmi/id/product_uuid"  # as root alone may read it; boards have none
_OF_IMAGE, _OF_BOOT = "/etc/machine-id", "/proc/sys/kernel/random/boot_id"
_CONTAINERS = "/.dockerenv", "/run/.containerenv"
"""What Docker and Podman leave in a container, whose image may have an id that everybody knows."""
Parts = Mapping[str, Sequence[Region]]
"""Where jobs read, by their names."""
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_NOTHING = b"\x00", b"\xff"
"""What devices return of a block without data: NVM Express Base Specification 1.4, DLFEAT; JESD84-B51,
ERASED_MEM_CONT.
"""


class Blocks:
    """What blocks of a block device hold, as they are looked at: each once, so that what was seen before a
    run is not what the run has written since. `block` is the least that direct I/O takes.

    They are read past the page cache where that can be.
    """

    def __init__(self, device: Path, block: int) -> None:
        self._device = device
        self._length = max(block, _BLOCK)
        self._seen: dict[tuple[int, int], bool] = {}
        """Whether blocks are blank, by where they begin, and their length."""

    def look_ahead(self, jobs: Sequence[Reads]) -> None:
        """Look at what jobs may read, however far those come that read in order."""
        every = sum(len(job.regions) for job in jobs)
        samples = _samples(every)
        with contextlib.suppress(OSError), self._looking() as is_blank:
            for job in jobs:
                for region in _some(job.regions, every):
                    for length in _lengths(region, self._length * samples) if job.in_order else ():
                        self._look(job.part(region, 0, length), samples, is_blank)
                    self._look(region, samples, is_blank)

    def shares(self, parts: Parts) -> dict[str, float] | None:
        """Return the shares of blank blocks among some hundred that are spread over what each job reads, by
        its name; None if they cannot be read.
        """
        samples = _samples(sum(map(len, parts.values())))
        try:
            with self._looking() as is_blank:

                def blank(region: Region) -> float | None:
                    found = self._look(region, samples, is_blank)
                    return sum(found) / len(found) if found else None

                return _weighed(parts, blank) or None
        except OSError:
            return None

    @contextlib.contextmanager
    def _looking(self) -> Iterator[Callable[[int, int], bool]]:
        with contextlib.closing(mmap.mmap(-1, self._length)) as memory:
            descriptor = _opened(self._device)
            try:
                yield lambda place, length: _is_blank(descriptor, memory, place, length)
            finally:
                os.close(descriptor)

    def _look(self, region: Region, samples: int, is_blank: Callable[[int, int], bool]) -> list[bool]:
        places = [(place, self._read_of(region)) for place in _places(region, self._length, samples)]
        for place in places:
            if place not in self._seen:
                self._seen[place] = is_blank(*place)
        return [self._seen[place] for place in places]

    def _read_of(self, region: Region) -> int:
        return min(self._length, region.steps.span) if region.steps else self._length


def _samples(regions: int) -> int:
    """Return how many blocks of each of so many regions are looked at, or up to twice as many."""
    return max(_SAMPLES // max(1, regions), _LEAST)


def _lengths(region: Region, least: int) -> Iterator[int]:
    """Yield how much of a region is looked at for each distance that a job may come: each serves what is up
    to twice as long as `least`, then as that twice as long, and so on, in cells of one size (`_places`).
    """
    while least < region.length:
        least *= 2
        yield min(region.length, least - 1)


def written_of(file: Path) -> list[tuple[int, int]] | None:
    """Return what of a file is on its disk, as its extents tell: where each begins, and ends; None if they
    cannot be told.
    """
    try:
        descriptor = os.open(file, _FLAGS)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            return [(one.start, one.start + one.length) for one in extents(descriptor) if one.written]
        finally:
            os.close(descriptor)
    except OSError:
        return None


def hole_shares(held: Sequence[tuple[int, int]], parts: Parts, offset: int) -> dict[str, float]:
    """Return the shares of what each job reads of a loop device that is not `held` by its file, by the job's
    name and `backing`. The device begins at `offset` of the file.

    A hole reads as the zeros that another copy of the image has on the disk.
    """

    def hole(region: Region) -> float | None:
        if region.steps:
            places = [place + offset for place in _places(region, _BLOCK, _SAMPLES)]
            ends = (held[at - 1][1] if (at := bisect(held, (place + 1,))) else 0 for place in places)
            missed = sum(place >= end for place, end in zip(places, ends, strict=True))
            return missed / len(places) if places else None
        begin, end = region.begin + offset, region.begin + region.length + offset
        first = max(0, bisect(held, (begin,)) - 1)
        there = 0
        for start, behind in islice(held, first, None):
            if start >= end:
                break
            there += max(0, min(end, behind) - max(begin, start))
        return 1 - there / region.length if region.length else None

    found = _weighed(parts, hole)
    return {f"{name}.{BACKING}" if name else BACKING: share for name, share in found.items()}


def _weighed(parts: Parts, share_of: Callable[[Region], float | None]) -> dict[str, float]:
    """Return the share of each job: the mean of those of its regions, by weight."""
    found, every = {}, sum(map(len, parts.values()))
    for name, regions in parts.items():
        shares = [(region.weight, share_of(region)) for region in _some(regions, every)]
        known = [(weight, share) for weight, share in shares if share is not None]
        if whole := sum(weight for weight, _ in known):
            found[name] = sum(weight * share for weight, share in known) / whole
    return found


def _some(regions: Sequence[Region], every: int) -> Sequence[Region]:
    """Return as many regions of a job as can be looked at, where so many are of all jobs."""
    return regions[:: -(-every // _MOST_REGIONS) or 1]


def _places(region: Region, length: int, samples: int) -> Iterator[int]:
    """Yield where to read: one block at random in each cell of a grid, of which so many lie in the region, or
    up to twice as many: nothing periodic on the device meets them.

    On one machine they are the same at each call, so that what did not change has the same share each time,
    also where it was read a little further; who does not know its ids cannot tell where they are.
    """
    secret = next(filter(None, map(sysfs.text, _ids())), "")
    blocks = max(1, (1 << (region.length // length // samples).bit_length()) >> 1)
    cell = blocks * length
    for number in range(-(-region.begin // cell), (region.begin + region.length) // cell):
        drawn = Random(f"{secret} {cell} {number}")
        place = number * cell + drawn.randrange(blocks) * length
        if steps := region.steps:
            place -= (place - steps.first) % steps.period
            place += drawn.randrange(max(1, steps.span // length)) * length
        if region.begin <= place < region.begin + region.length:
            yield place


def _ids() -> tuple[str, ...]:
    """Return what a machine may be known by, first what stays longest and strangers do not know."""
    contained = any(map(os.path.exists, _CONTAINERS))
    return (_OF_MACHINE, _OF_BOOT) if contained else (_OF_MACHINE, _OF_IMAGE, _OF_BOOT)


def _opened(device: Path) -> int:
    with contextlib.suppress(OSError):
        return os.open(device, _FLAGS | os.O_DIRECT)
    return os.open(device, _FLAGS)


def _is_blank(descriptor: int, memory: mmap.mmap, offset: int, length: int) -> bool:
    with memoryview(memory) as whole, whole[:length] as part:
        read = os.preadv(descriptor, [part], offset)
    return read > 0 and bytes(memory[:read]) in {byte * read for byte in _NOTHING}
