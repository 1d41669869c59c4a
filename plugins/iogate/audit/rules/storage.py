"""Checks of the disk and its file system: is this how they will be used, and are they well?"""

from __future__ import annotations

from iogate.audit.evidence import Check, Evidence, Findings, finding
from iogate.units import format_quantity, plural

_FULL = 0.9
_SPLIT = 0.1  # of the reads
_CACHE_BYTES = 2**30


def link_degraded(evidence: Evidence) -> Findings:
    """Find a link that runs below its best.

    `note`: the disk and its slot could do more lanes or a higher speed than they agreed on.

    Try a better slot or cable, or the firmware's settings.
    """
    disk = evidence.after.disk if evidence.after else None
    if disk and disk.link and disk.link.best and evidence.needs.target:
        yield finding(
            "note",
            f"{disk.name} is linked by {disk.link.name}, it could do {disk.link.best}",
            "a better slot or cable, or the firmware's settings",
        )


def nearly_full(evidence: Evidence) -> Findings:
    """Find a file system nearly full, where flash and allocators become slow.

    `suspect`: it is more than 90% full.

    Make room: below 80% is a fair test.
    """
    full = evidence.after.full if evidence.after else None
    if full is not None and full > _FULL and evidence.needs.target:
        yield finding("suspect", f"the file system is {full:.0%} full", "make room: below 80% is a fair test")


def fragmented(evidence: Evidence) -> Findings:
    """Find a data file in many pieces, of which a read asks the device for several.

    `suspect` if so many pieces of what is read, and not written to, begin elsewhere that a tenth of the reads
    or more are of two pieces: the file system had no room for larger ones, or others have cut it up. Where
    I/Os are what a device has few of, reads are slower by as much.

    Free space, or make the file system anew, with larger blocks if they are small; and record again what was
    recorded so.
    """
    reading, needs = evidence.before, evidence.needs
    if reading is None or not reading.pieces or not reading.size or needs.writes or not needs.reads:
        return
    held = reading.size - (reading.unwritten or 0)
    if (reading.pieces - 1) * needs.block >= _SPLIT * held:
        mean = format_quantity(held / reading.pieces, "B")
        yield finding(
            "suspect",
            f"the data file lies in {plural(reading.pieces, 'piece')} of {mean} in the mean, and is read in "
            f"blocks of {format_quantity(needs.block, 'B')}: many are of two pieces, and two I/Os",
            "free space, or make the file system anew, with larger blocks if they are small (mkfs -b 4096); "
            "and record again what was recorded so",
        )


def scheduler(evidence: Evidence) -> Findings:
    """Find an I/O scheduler that costs more than it gives on flash.

    `note`: bfq is set for a disk that does not rotate.

    Choose none, kyber or mq-deadline in `/sys/block/DISK/queue/scheduler`.
    """
    disk = evidence.after.disk if evidence.after else None
    if disk and disk.scheduler == "bfq" and not disk.rotational and evidence.needs.target:
        yield finding(
            "note",
            f"{disk.name} is scheduled by bfq, which costs IOPS on flash",
            "none, kyber or mq-deadline",
        )


def write_cache(evidence: Evidence) -> Findings:
    """Find writes that fit into the device's volatile cache.

    `note`: less than 1 GiB was written without a flush to a disk with a cache, which may still hold all of
    it.

    Write more, or add `end_fsync`.
    """
    disk = evidence.after.disk if evidence.after else None
    written = evidence.claimed("write")
    flushed = evidence.given("fsync", "fdatasync", "end_fsync", "sync", "sync_file_range")
    if not evidence.needs.target or flushed:
        return
    if disk and disk.write_cache == "write back" and 0 < written < _CACHE_BYTES:
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
    """Find mount options that change what is measured.

    `note`: `sync`, `data=journal`, `nobarrier`, `compress`, `dax` and their like; the finding says what each
    of them does.

    Mount it as it will be used.
    """
    mount = evidence.after.mount if evidence.after else None
    for option in sorted(mount.options.split(",") if mount and evidence.needs.target else ()):
        reason = _MOUNT_OPTIONS.get(option) or _MOUNT_OPTIONS.get(option.partition("=")[0])
        if reason and not option.endswith(("=never", "=none", "=no", "=inode")):
            yield finding("note", f"mounted with {option}: {reason}", "mount it as it will be used")


def disk_health(evidence: Evidence) -> Findings:
    """Find critical warnings, heat and wear of the disk.

    `suspect`: the disk warns of itself, was slowed down by heat during the run, or is at its limit of
    temperature. `note`: 90% of its rated life are used.

    `smartctl -a` tells more: think of its data. Cool it, and pause longer between runs.
    """
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


CHECKS: tuple[Check, ...] = (
    link_degraded,
    nearly_full,
    fragmented,
    scheduler,
    write_cache,
    mount_options,
    disk_health,
)
