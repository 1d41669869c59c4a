"""Checks of an output against the device: did it really do this, could it, and was it alone?"""

from __future__ import annotations

from iogate.audit.evidence import Check, Evidence, Findings, finding
from iogate.audit.snapshot import Counters
from iogate.audit.snapshot.link import FASTEST
from iogate.host.mounts import IN_MEMORY
from iogate.model import Severity
from iogate.units import format_quantity

_POOLED = frozenset({"btrfs", "zfs", "bcachefs", "overlay", "aufs", "ecryptfs"})
"""File systems that may spread or shrink data on their way: no single counter proves them wrong."""
_MISSING = 0.9
_FOREIGN = 0.1
_FOREIGN_BYTES = 8 * 2**20
_FULL = 0.9
_CACHE_BYTES = 2**30


def no_device(evidence: Evidence) -> Findings:
    """Find file systems without a device of their own (tmpfs, overlay, network)."""
    if not evidence.needs.target:
        return
    if evidence.file_system in IN_MEMORY:
        yield finding(
            "suspect",
            f"the target is {evidence.file_system}: these are the numbers of memory, not of storage",
            "name a directory on the storage with --io-target",
        )
    elif evidence.after is not None and evidence.after.disk is None:
        yield finding(
            "note",
            f"{evidence.file_system or 'the target'} has no device here: nothing shows what was read from "
            "caches",
            "look at the counters where the storage is",
        )


def cached(evidence: Evidence) -> Findings:
    """Find a buffered workload, whose numbers are those of the page cache and the device together."""
    if evidence.needs.direct or not evidence.needs.target or not evidence.moved:
        return
    figures = ""
    device = _transferred(evidence)
    if device:
        moved = device[0].read + device[0].written
        claimed = format_quantity(evidence.moved, "B")
        figures = f"; of {claimed} the device moved {format_quantity(moved, 'B')}"
    yield finding("note", f"buffered I/O: page cache and device together{figures}")


def page_cache(evidence: Evidence) -> Findings:
    """Compare the device's own counters with the bytes that the engine claims."""
    device = _transferred(evidence)
    if device is None or not evidence.needs.direct:
        return
    for direction, counted in (("read", device[0].read), ("write", device[0].written)):
        claimed = evidence.claimed(direction)
        if claimed and counted < _MISSING * claimed:
            yield finding(
                "suspect" if evidence.file_system in _POOLED else "invalid",
                f"{direction}: the engine claims {format_quantity(claimed, 'B')}, the device moved "
                f"{format_quantity(counted, 'B')} ({counted / claimed:.1%})",
                "page cache, holes or unwritten data: lay the file out by writing, and say direct: true",
            )


def unwritten_extents(evidence: Evidence) -> Findings:
    """Find holes and unwritten extents, which cost nothing to read."""
    reading = evidence.before
    if reading is None or not reading.unwritten or not reading.size or not evidence.needs.reads:
        return
    share = reading.unwritten / reading.size
    yield finding(
        "invalid" if share > 0.05 else "suspect",
        f"{format_quantity(reading.unwritten, 'B')} of the data file ({share:.1%}) were never written",
        "lay the file out by writing data into it",
    )


def others_io(evidence: Evidence) -> Findings:
    """Find somebody else's I/O on the same disk."""
    device = _transferred(evidence)
    if device is None or not evidence.needs.direct or not evidence.moved:
        return
    whole = device[1]
    # The engine's claims leave out its ramp, the counters do not.
    ramp = 1 + (evidence.number("ramp_time") or 0.0) / evidence.duration if evidence.duration else 1.0
    amplified = 0.5 if evidence.file_system in _POOLED else 0.0
    for direction, counted in (("read", whole.read), ("written", whole.written)):
        claimed = evidence.claimed("read" if direction == "read" else "write")
        own = claimed * ramp * (1 + (amplified if direction == "written" else 0.0))
        foreign = counted - own
        if foreign > _FOREIGN * evidence.moved * ramp + _FOREIGN_BYTES:
            yield finding(
                "suspect",
                f"the disk has {direction} {format_quantity(counted, 'B')}, the engine claims "
                f"{format_quantity(claimed, 'B')}: {format_quantity(foreign, 'B')} are not its own",
                "find who else uses the disk (iotop), or what the file system adds",
            )


def link_limit(evidence: Evidence) -> Findings:
    """Find figures above the link to the device, or in an existing output above any link that a disk has."""
    limit, link = _limit(evidence)
    if limit is None or not evidence.needs.target:
        return
    severity: Severity = "invalid" if evidence.needs.direct or not evidence.declared else "note"
    if link == FASTEST.name:
        severity = "suspect"  # it may be several disks
    for name, shown in evidence.output.metrics.items():
        what, figure, point = name.partition(".bandwidth")
        statistic = point in (".min", ".max", ".mean", ".stddev", ".parent")
        if figure and not statistic and shown > limit * 1.01:
            yield finding(
                severity,
                f"{what}{point.replace('.', ' of ', 1)} {format_quantity(shown, 'B/s')} is faster than "
                f"{link} ({format_quantity(limit, 'B/s')})",
                "memory somewhere: page cache, a hypervisor, holes; or a wrong unit",
            )


def _limit(evidence: Evidence) -> tuple[float | None, str]:
    """Return the limit of the link in B/s, and what it is called; None if there is none that is known."""
    if evidence.link:
        return evidence.link, "the device profile's link" if evidence.declared else "the link"
    disk = evidence.after.disk if evidence.after else None
    if disk and disk.link:
        return disk.link.limit, disk.link.name
    return (None, "") if evidence.declared else (FASTEST.limit, FASTEST.name)


def link_degraded(evidence: Evidence) -> Findings:
    """Find a link that runs below its best."""
    disk = evidence.after.disk if evidence.after else None
    if disk and disk.link and disk.link.best and evidence.needs.target:
        yield finding(
            "note",
            f"{disk.name} is linked by {disk.link.name}, it could do {disk.link.best}",
            "a better slot or cable, or the firmware's settings",
        )


def loop_cache(evidence: Evidence) -> Findings:
    """Find a loop device over the page cache of its backing file."""
    disk = evidence.after.disk if evidence.after else None
    if disk and disk.cached and evidence.needs.direct:
        yield finding(
            "suspect",
            f"{disk.name} goes through the page cache of its backing file, direct or not",
            "losetup --direct-io=on",
        )


def not_counted(evidence: Evidence) -> Findings:
    """Find a device whose counters are switched off."""
    disk = evidence.after.disk if evidence.after else None
    if disk and not disk.counted and evidence.needs.target:
        yield finding(
            "note",
            f"{disk.name} does not count its I/O: page cache and others' I/O cannot be seen",
            f"echo 1 > /sys/block/{disk.name}/queue/iostats",
        )


def nearly_full(evidence: Evidence) -> Findings:
    """Find a file system nearly full, where flash and allocators become slow."""
    full = evidence.after.full if evidence.after else None
    if full is not None and full > _FULL and evidence.needs.target:
        yield finding("suspect", f"the file system is {full:.0%} full", "make room: below 80% is a fair test")


def scheduler(evidence: Evidence) -> Findings:
    """Find an I/O scheduler that costs more than it gives on flash."""
    disk = evidence.after.disk if evidence.after else None
    if disk and disk.scheduler == "bfq" and not disk.rotational and evidence.needs.target:
        yield finding(
            "note",
            f"{disk.name} is scheduled by bfq, which costs IOPS on flash",
            "none, kyber or mq-deadline",
        )


def write_cache(evidence: Evidence) -> Findings:
    """Find writes that fit into the device's volatile cache."""
    disk = evidence.after.disk if evidence.after else None
    written = evidence.claimed("write")
    flushed = evidence.given("fsync", "fdatasync", "end_fsync", "sync", "sync_file_range")
    if disk and disk.write_cache == "write back" and 0 < written < _CACHE_BYTES and not flushed:
        yield finding(
            "note",
            f"{format_quantity(written, 'B')} written without a flush may still lie in {disk.name}'s own "
            "volatile cache",
            "write more, or add end_fsync",
        )


_MOUNT_OPTIONS = {
    "sync": "every write waits for the device",
    "dirsync": "every change of a directory waits for the device",
    "data=journal": "direct I/O is not honoured, and data are written twice",
    "nobarrier": "flushes never reach the device",
    "barrier=0": "flushes never reach the device",
    "compress": "data are compressed, and direct I/O may not be honoured",
    "compress-force": "data are compressed, and direct I/O may not be honoured",
    "dax": "there is no page cache: buffered I/O is direct",
}


def mount_options(evidence: Evidence) -> Findings:
    """Find mount options that change what is measured."""
    mount = evidence.after.mount if evidence.after else None
    for option in sorted(mount.options.split(",") if mount and evidence.needs.target else ()):
        reason = _MOUNT_OPTIONS.get(option) or _MOUNT_OPTIONS.get(option.partition("=")[0])
        if reason and not option.endswith(("=never", "=none", "=no", "=inode")):
            yield finding("note", f"mounted with {option}: {reason}", "mount it as it will be used")


def disk_health(evidence: Evidence) -> Findings:
    """Find critical warnings, heat and wear of the disk."""
    before = evidence.before.disk.health if evidence.before and evidence.before.disk else None
    disk = evidence.after.disk if evidence.after else None
    health = disk.health if disk else None
    if disk is None or health is None or not evidence.needs.target:
        return
    for warning in health.warnings:
        yield finding("suspect", f"{disk.name} warns: {warning}", "smartctl -a tells more; think of its data")
    if before and health.throttled and health.throttled > (before.throttled or 0):
        yield finding("suspect", f"{disk.name} was slowed down by heat during the run", "cool it, pause")
    if health.temperature and health.limit and health.temperature >= health.limit:
        yield finding(
            "suspect",
            f"{disk.name} is at {health.temperature:.0f} °C, its limit is {health.limit:.0f} °C",
            "cool it; pause longer",
        )
    if health.worn and health.worn >= 0.9:
        yield finding("note", f"{disk.name} has used {health.worn:.0%} of its rated life")


def _transferred(evidence: Evidence) -> tuple[Counters, Counters] | None:
    """Return what the target and its whole disk moved during the run; None if nobody counted."""
    before, after = (reading.disk if reading else None for reading in (evidence.before, evidence.after))
    if before is None or after is None or before.name != after.name or not after.counted:
        return None
    return _difference(before.target, after.target), _difference(before.whole, after.whole)


def _difference(before: Counters, after: Counters) -> Counters:
    return Counters(after.read - before.read, after.written - before.written)


CHECKS: tuple[Check, ...] = (
    no_device,
    cached,
    page_cache,
    unwritten_extents,
    others_io,
    link_limit,
    link_degraded,
    loop_cache,
    not_counted,
    nearly_full,
    scheduler,
    write_cache,
    mount_options,
    disk_health,
)
