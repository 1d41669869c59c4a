"""A cheap reading of the device, its file system and the machine, taken before and after a repetition."""

from __future__ import annotations

import mmap
import os
import re
import stat
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from iogate.audit.snapshot.health import Health, controller_of, health_of
from iogate.audit.snapshot.link import Link, link_of
from iogate.audit.snapshot.system import System, system
from iogate.host import sysfs
from iogate.host.blockdevice import btrfs_members
from iogate.host.fiemap import Placement, placement
from iogate.host.layers import MEMORY, layers
from iogate.host.mounts import Mount, backing, block_number, mount_of

_SECTOR = 512  # the unit of /sys/block/*/stat whatever the device's own sector: Documentation/block/stat.rst


@dataclass(frozen=True)
class Counters:
    """What a block device has moved since it appeared, in bytes, and by how many `reads` and `writes`: before
    neighbours of them were merged.
    """

    read: int
    written: int
    reads: int = 0
    writes: int = 0


@dataclass(frozen=True)
class Disk:
    """The disk under a target.

    `target` are the counters of the target itself (a partition's, perhaps), `whole` those of the whole disk,
    which is the one below of a volume that lies on one. `lumped` says that the kernel counts the partition's
    I/O on the whole disk alone. `counted` is False where the kernel keeps no counters. `cached` is the
    loop device, this one or below it, which goes through the page cache of its backing file, `memory` what of
    it is memory. An I/O of up to `unsplit` bytes is
    one for the disk, too, wherever its pages lie (0: not known).
    """

    name: str
    target: Counters
    whole: Counters
    lumped: bool = False
    counted: bool = True
    cached: str = ""
    memory: str = ""
    unsplit: int = 0
    rotational: bool = False
    scheduler: str = ""
    write_cache: str = ""
    link: Link | None = None
    health: Health | None = None


def written_between(before: Disk | None, after: Disk | None) -> int | None:
    """Return the bytes that a target was given to write between two readings, by whomever; None if that was
    not counted.
    """
    if before is None or after is None or before.name != after.name or not after.counted:
        return None
    if after.lumped:
        return after.whole.written - before.whole.written
    return after.target.written - before.target.written


def given_since(before: Disk | None, number: str | None) -> int | None:
    """Return the bytes that a target of this device number was given to write since a reading, as
    `written_between` does: this may be asked several times a second.
    """
    return written_between(before, counters_of(number)) if before else None


def counters_of(number: str | None) -> Disk | None:
    """Return what a target of this device number was given so far, without all else that a reading has; None
    where that is not known, as of a btrfs on several devices.
    """
    return None if number is None or _is_one_of_several(number) else _counted(number, Path("/"))


@dataclass(frozen=True)
class Snapshot:
    """One reading; whatever could not be read is None.

    `mount` is what the path is on, `held` the mount that really holds its files: the upper layer's for an
    overlay (None if that cannot be seen). `disks` is what all disks together have moved, told where the
    target's is not known. `full` is the used fraction of the file system, `size` the size of the data file,
    `unwritten` the bytes of it that no read takes from the device, `pieces` in how many the others lie there.
    """

    seconds: float
    disk: Disk | None = None
    mount: Mount | None = None
    held: Mount | None = None
    disks: Counters | None = None
    full: float | None = None
    size: int = 0
    unwritten: int | None = None
    pieces: int | None = None
    system: System = field(default_factory=System)


def snapshot(target_number: str | None, path: Path | None, root: Path = Path("/")) -> Snapshot:
    """Read everything that the audit compares, in a few milliseconds.

    `target_number` is the target's device number `major:minor` (None: found from `path`), `path` the data
    file, directory or block device of a local target (None: elsewhere). /sys, /proc, /dev and the like are
    read below `root`.
    """
    status = _status(path)
    block = status is not None and stat.S_ISBLK(status.st_mode)
    mount = mount_of(path, root / "proc") if path and status and not block else None
    regular = status is not None and stat.S_ISREG(status.st_mode)
    held = backing(mount, root / "proc") if mount else None
    own = block_number(path) if path and block else held and held.block_number
    lies = _placement(path) if path and regular else None
    number = target_number or own
    disk = _disk(number, root) if number else None
    return Snapshot(
        seconds=time.monotonic(),
        disk=disk,
        mount=mount,
        held=held,
        disks=all_disks(root) if mount and not disk else None,
        full=_full(path) if mount and path else None,
        size=status.st_size if status and regular else 0,
        unwritten=lies.unwritten if lies else None,
        pieces=lies.pieces if lies else None,
        system=system(root),
    )


def _status(path: Path | None) -> os.stat_result | None:
    try:
        return path.stat() if path else None
    except OSError:
        return None


def _full(path: Path) -> float | None:
    """Return the used fraction of the blocks that an ordinary user could have, as df(1) has it."""
    try:
        space = os.statvfs(path)
    except OSError:
        return None
    used = space.f_blocks - space.f_bfree
    return used / (used + space.f_bavail) if used + space.f_bavail else None


def _placement(path: Path) -> Placement | None:
    try:
        return placement(path)
    except OSError:
        return None


def _disk(number: str, root: Path) -> Disk | None:
    found = _counted(number, root)
    if found is None:
        return None
    whole = _whole(_folder(number, root))
    queue, member = whole / "queue", _only_member(whole)
    below = layers(number, root)
    chosen = re.search(r"\[([\w-]+)\]", sysfs.text(queue / "scheduler"))
    return replace(
        found,
        cached=below.cached,
        memory=below.memory,
        unsplit=_unsplit(member / "queue"),
        rotational=sysfs.text(queue / "rotational") == "1",
        scheduler=chosen[1] if chosen else "",
        write_cache=sysfs.text(queue / "write_cache"),
        link=link_of(member),
        health=health_of(member, root),
    )


def _unsplit(queue: Path) -> int:
    """Return the bytes of an I/O that the kernel never splits: Documentation/ABI/stable/sysfs-block."""
    sectors, segments = (sysfs.text(queue / name) for name in ("max_sectors_kb", "max_segments"))
    known = sectors.isdecimal() and segments.isdecimal()
    return min(int(sectors) * 1024, int(segments) * mmap.PAGESIZE) if known else 0


def _counted(number: str, root: Path) -> Disk | None:
    """Return a disk with nothing but its counters; None if there is no such."""
    target = _folder(number, root)
    if not re.fullmatch(r"\d+:\d+", number) or not target.exists():
        return None
    whole, own = _whole(target), _counters(target)
    return Disk(
        name=target.name,
        target=own,
        whole=_counters(_only_member(whole)),
        lumped=target != whole and not (own.read or own.written) and _is_multipath_head(whole),
        counted=sysfs.text(whole / "queue/iostats") != "0",
    )


def _is_one_of_several(number: str) -> bool:
    members = list(btrfs_members())
    return any(sum(uuid == own for _, uuid in members) > 1 for member, own in members if member == number)


def _folder(number: str, root: Path) -> Path:
    return Path(os.path.realpath(root / "sys/dev/block" / number))


def _whole(target: Path) -> Path:
    return target.parent if (target / "partition").exists() else target


def all_disks(root: Path) -> Counters | None:
    """Return what all block devices that are not memory themselves have moved; None if one does not count,
    or /sys does not tell of them.

    What lies on another is counted twice: it is the most that may have been moved.
    """
    folder = root / "sys/block"
    disks = [folder / name for name in sysfs.names(folder) if not MEMORY.fullmatch(name)]
    if not folder.exists() or any(sysfs.text(disk / "queue/iostats") == "0" for disk in disks):
        return None
    moved = [_counters(Path(os.path.realpath(disk))) for disk in disks]
    return Counters(sum(disk.read for disk in moved), sum(disk.written for disk in moved))


def _only_member(disk: Path) -> Path:
    """Return the physical disk below a stack of device-mapper volumes, as far as there is just one."""
    for _ in range(8):
        below = sysfs.names(disk / "slaves")
        if len(below) != 1:
            break
        member = Path(os.path.realpath(disk / "slaves" / below[0]))
        disk = member.parent if (member / "partition").exists() else member
    return disk


def _counters(folder: Path) -> Counters:
    """Return sectors read and written. The head of an NVMe multipath device may not count: then its paths
    do.
    """
    own = _stat(folder / "stat")
    if not _is_multipath_head(folder):
        return own
    paths = [_stat(path / "stat") for path in folder.parent.glob(f"nvme*/{_path_pattern(folder.name)}")]
    return Counters(
        max(own.read, sum(path.read for path in paths)),
        max(own.written, sum(path.written for path in paths)),
        max(own.reads, sum(path.reads for path in paths)),
        max(own.writes, sum(path.writes for path in paths)),
    )


def _is_multipath_head(folder: Path) -> bool:
    """Return whether a disk is the head of an NVMe multipath device, which counts on itself what its
    partitions do: nvme_mpath_start_request() in Linux 6.3 and later. Before, the paths alone count.
    """
    return controller_of(folder) not in (None, folder.parent)


def _path_pattern(head: str) -> str:
    """Return the names of the paths to a multipath head: nvme0n1 is reached by nvme0c0n1, nvme0c1n1 ..."""
    subsystem, _, namespace = head.removeprefix("nvme").partition("n")
    return f"nvme{subsystem}c*n{namespace}"


def _stat(file: Path) -> Counters:
    fields = sysfs.text(file).split()
    if len(fields) < 7 or not all(part.isdecimal() for part in fields[:7]):
        return Counters(0, 0)
    reads, merged, read, _, writes, merged_writes, written = map(int, fields[:7])
    return Counters(read * _SECTOR, written * _SECTOR, reads + merged, writes + merged_writes)
