"""Checks of an output against the device: did it really do this, could it, and was it alone?"""

from __future__ import annotations

import math
from collections.abc import Mapping

from iogate.audit.evidence import Check, Evidence, Findings, finding
from iogate.audit.snapshot import Counters
from iogate.audit.snapshot.link import USUAL
from iogate.host.mounts import IN_MEMORY, LAYERED
from iogate.model import Severity, Traffic
from iogate.units import format_quantity, plural

_POOLED = frozenset({"btrfs", "zfs", "bcachefs", "overlay", "aufs", "ecryptfs"})
"""File systems that may spread or shrink data on their way: no single counter proves them wrong."""
_MISSING = 0.9
_BLANK = 0.1
_BLANK_OF_ARMS = 0.05
_FOREIGN = 0.1
_FOREIGN_BYTES = 8 * 2**20
_FOREIGN_OPERATIONS = 25  # a second
_SMALLEST = 4096  # bytes of an I/O
_FIND_OTHERS = "find who else uses the disk (iotop), or what the file system or volume adds"
_AROUND_A_RAMP = 2  # seconds: an engine starts before it, and seconds are counted from another moment
_AT_MOST = 1.1  # of what a second of the series says, which takes up to a tenth longer


def no_device(evidence: Evidence) -> Findings:
    """Find file systems without a device of their own (tmpfs, overlay, network), and devices that are memory.

    `suspect` on a file system in memory (tmpfs, ramfs), a block device that is memory (zram, brd) or lies on
    such a file system, as a loop device may, or an overlay whose upper layer is in memory or
    cannot be seen: these are not figures of storage, or nobody knows. `invalid` there if direct I/O is
    claimed of which all disks of the machine together moved less than 90%. `note` on others: nothing shows
    what came from caches.

    Name a directory on the storage with `--io-target`, or look at the counters where the storage is.
    """
    if not evidence.needs.target:
        return
    memory, figures = _memory(evidence), _lacking_anywhere(evidence)
    if memory:
        yield finding(
            "invalid" if figures else "suspect",
            memory + figures,
            "name a directory on the storage with --io-target",
        )
    elif evidence.after is not None and evidence.after.disk is None:
        yield finding(
            "note",
            f"{evidence.file_system or 'the target'} has no device here: nothing shows what was read from "
            "caches",
            "look at the counters where the storage is",
        )


def _memory(evidence: Evidence) -> str:
    """Return how the target is memory, or may be; empty if it is not."""
    reading, kind, over = evidence.after, evidence.file_system, ""
    if reading is not None and reading.disk is not None and reading.disk.memory:
        return f"the target is {reading.disk.memory}: these are the numbers of memory, not of storage"
    if kind in LAYERED and reading is not None and reading.disk is None:
        if reading.held is None:
            return f"the target is an {kind} whose upper layer cannot be seen from here: it may be in memory"
        kind, over = reading.held.file_system, f"an {kind} over "
    if kind not in IN_MEMORY:
        return ""
    return f"the target is {over}{kind}: these are the numbers of memory, not of storage"


def _lacking_anywhere(evidence: Evidence) -> str:
    """Return how much of what direct I/O claims was moved by no disk of this machine; empty if none is
    missing, or it was not counted.
    """
    before, after = (reading.disks if reading else None for reading in (evidence.before, evidence.after))
    if before is None or after is None or not evidence.needs.direct:
        return ""
    moved = _difference(before, after, evidence.beside)
    for direction, counted in (("read", moved.read), ("write", moved.written)):
        claimed = evidence.claimed(direction)
        if counted < _MISSING * claimed:
            return (
                f"; {direction}: the engine claims {format_quantity(claimed, 'B')}, all disks together moved "
                f"{format_quantity(max(0, counted), 'B')}"
            )
    return ""


def cached(evidence: Evidence) -> Findings:
    """Find a buffered workload, whose numbers are those of the page cache and the device together.

    `suspect` if the device moved less than 90% of what was read or written: the rest moved in memory alone.
    `note` if it moved more, if that was not counted, and where the workload says `cached: true`: the figures
    depend on the machine's memory and on what else uses it.

    Say `direct: true` if the device is meant, or use more data than memory holds; say `cached: true` if the
    page cache is meant.
    """
    if evidence.needs.direct or not evidence.needs.target or not evidence.moved:
        return
    figures, lacking = "", False
    device = _transferred(evidence)
    if device:
        moved = device[0].read + device[0].written
        claimed = format_quantity(evidence.moved, "B")
        figures = f"; of {claimed} the device moved {format_quantity(moved, 'B')}"
        lacking = device[0].read < _MISSING * evidence.claimed("read") or device[
            0
        ].written < _MISSING * evidence.claimed("write")
    message = f"buffered I/O: page cache and device together{figures}"
    if lacking and not evidence.needs.cached:
        yield finding("suspect", message, "direct: true if the device is meant, cached: true if memory is")
    else:
        yield finding("note", message)


def page_cache(evidence: Evidence) -> Findings:
    """Compare the device's own counters with the bytes that the engine claims.

    `invalid`: the device moved less than 90% of what direct I/O claims, so that the rest came from the page
    cache, from holes or from unwritten data. `suspect` on file systems that may shrink or spread data (btrfs,
    zfs, bcachefs, overlay).

    Lay the file out by writing, and say `direct: true`.
    """
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
    """Find holes and unwritten extents, which cost nothing to read.

    `invalid` if more than 5% of the data file that is read were never written, `suspect` if less: reading
    them never reaches the device.

    Lay the file out by writing data into it.
    """
    reading = evidence.before
    if reading is None or not reading.unwritten or not reading.size or not evidence.needs.reads:
        return
    share = reading.unwritten / reading.size
    yield finding(
        "invalid" if share > 0.05 else "suspect",
        f"{format_quantity(reading.unwritten, 'B')} of the data file ({share:.1%}) were never written",
        "lay the file out by writing data into it",
    )


def blank_blocks(evidence: Evidence) -> Findings:
    """Find a block device that was never written, or was trimmed, where it is read.

    `suspect` if a tenth or more of 256 blocks, spread over what is read, have nothing in them but zeros
    (or ones), `invalid` if a twentieth more have in one arm of a pair than in the other: such reads may never
    reach the medium, and are slower once the device holds data. The share of the others is the metric
    `filled`, which a baseline remembers: where it is another one by then, nothing is judged.

    Write data to all that is read, before it is measured: a workload that writes, with `--io-destroy`, or
    `precondition`. Where the data have such blocks of their own, `waive` the check, and with it the other.
    """
    if not evidence.filled:
        return
    share = max((evidence.blank or {}).values())
    beside = evidence.blank_beside or {}
    other = max(beside.values(), default=share)
    unlike = share - other >= _BLANK_OF_ARMS
    if share < _BLANK and not unlike:
        return
    than = f", and {other:.0%} of the other arm's" if beside else ""
    yield finding(
        "invalid" if unlike else "suspect",
        f"{share:.0%} of the blocks that were looked at hold zeros (or ones) alone{than}: never written, or "
        "trimmed; reads of them may never reach the medium",
        "write data to all that is read first: a workload that writes, with --io-destroy; where the data "
        "have such blocks of their own: waive blank_blocks",
    )


def others_io(evidence: Evidence) -> Findings:
    """Find somebody else's I/O on the same disk.

    `suspect`: of what the disk moved, more than 8 MiB and 10% of the engine's own bytes are not the engine's;
    the figures are those of a device that was shared. So are they if 10% of the engine's I/Os and 25 a second
    are not its own, however small: of I/Os that the disk does not split, and but for writes beside its own,
    which a file system adds to. What it moved in a ramp, and in the two seconds around it, beyond what it did
    later is the engine's own; of a run with a ramp that is over within two seconds it is not asked.

    Find who else uses the disk (`iotop`), or what the file system or volume adds.
    """
    device = _transferred(evidence)
    if device is None or not evidence.needs.direct or not evidence.moved or evidence.seeks_depth:
        return  # of a search fio tells what it did at the depth that it found
    whole, faster = device[1], 0.0
    ramp = evidence.number("ramp_time") or 0.0
    if ramp:
        if not evidence.series:
            return
        faster = _faster_in_ramp(evidence, ramp)
    # The engine's claims leave out its ramp, the counters do not.
    times = 1 + ramp / evidence.duration if evidence.duration else 1.0
    amplified = 0.5 if evidence.file_system in _POOLED else 0.0
    for direction, counted in (("read", whole.read), ("written", whole.written)):
        claimed = evidence.claimed("read" if direction == "read" else "write")
        own = claimed * times * (1 + (amplified if direction == "written" else 0.0)) + faster
        foreign = counted - own
        if foreign > _FOREIGN * evidence.moved * times + _FOREIGN_BYTES:
            yield finding(
                "suspect",
                f"the disk has {direction} {format_quantity(counted, 'B')}, the engine claims "
                f"{format_quantity(claimed, 'B')}: {format_quantity(foreign, 'B')} are not its own",
                _FIND_OTHERS,
            )
    if evidence.file_system not in _POOLED:
        yield from _small_io_of_others(evidence, whole, times, faster)


def _small_io_of_others(evidence: Evidence, whole: Counters, times: float, faster: float) -> Findings:
    """Find I/Os that are too small to be seen by their bytes, and take the time of a device that does few.
    With its ramp the engine did so many times what it claims, and moved so many bytes more.
    """
    disk = evidence.after.disk if evidence.after else None
    operations = sum(each.operations for each in evidence.traffic.values())
    if disk is None or not operations or evidence.moved > disk.unsplit * operations:
        return
    size = evidence.moved / operations
    for direction, counted, moved in (
        ("read", whole.reads, whole.read),
        ("write", whole.writes, whole.written),
    ):
        known = evidence.output.traffic.get(direction)
        own = known.operations if known else 0
        # What else is split, as in a fragmented file, moves no more than the engine says.
        beyond = moved - evidence.claimed(direction) * times - faster
        foreign = int(min(counted - own * times - faster / size, beyond / _SMALLEST))
        least = _FOREIGN * operations + _FOREIGN_OPERATIONS * max(1.0, evidence.duration)
        added = direction == "write" and own  # perhaps by the file system
        if not added and foreign > least * times:
            yield finding(
                "suspect",
                f"the disk did {plural(counted, direction)}, the engine claims {own}: "
                f"{foreign} are not its own",
                _FIND_OTHERS,
            )


def _faster_in_ramp(evidence: Evidence, ramp: float) -> float:
    """Return the bytes that the device moved in a ramp, and shortly behind it, beyond what it did later."""
    count = math.ceil(ramp) + _AROUND_A_RAMP
    early, late = evidence.series[:count], evidence.series[count:]
    usual = sum(late) / len(late) if late else evidence.moved / (evidence.duration or 1.0)
    return max(0.0, _AT_MOST * sum(early) - len(early) * usual)


def link_limit(evidence: Evidence) -> Findings:
    """Find figures above the link to the device, or in an existing output above the link of most disks.

    `invalid` of direct I/O and of existing outputs: something else than the device was measured, or the unit
    is wrong. `note` of buffered I/O, which may well be faster. `suspect` where no link is known, and PCIe 5.0
    x4 is passed: it may be several disks, or one of PCIe 6.0.

    Look for memory somewhere: page cache, a hypervisor, holes; or for a wrong unit. A device with several
    links says their sum in its profile (`link`).
    """
    limit, link = _limit(evidence)
    if limit is None or not evidence.needs.target:
        return
    severity: Severity = "invalid" if evidence.needs.direct or not evidence.declared else "note"
    if link == USUAL.name:
        severity = "suspect"  # it may be several disks, or a faster one
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
    return (None, "") if evidence.declared else (USUAL.limit, USUAL.name)


def loop_cache(evidence: Evidence) -> Findings:
    """Find a loop device over the page cache of its backing file, be it below others.

    `suspect`: I/O that is direct to the loop device is buffered below it.

    Set it up with `losetup --direct-io=on`.
    """
    disk = evidence.after.disk if evidence.after else None
    if disk and disk.cached and evidence.needs.direct and evidence.needs.target:
        yield finding(
            "suspect",
            f"{disk.cached} goes through the page cache of its backing file, direct or not",
            "losetup --direct-io=on",
        )


def not_counted(evidence: Evidence) -> Findings:
    """Find a device whose counters are switched off.

    `note`: neither the page cache nor I/O of others could be seen, so `page_cache` and `others_io` have
    nothing to say.

    `echo 1 > /sys/block/DISK/queue/iostats`
    """
    disk = evidence.after.disk if evidence.after else None
    if disk and not disk.counted and evidence.needs.target:
        yield finding(
            "note",
            f"{disk.name} does not count its I/O: page cache and others' I/O cannot be seen",
            f"echo 1 > /sys/block/{disk.name}/queue/iostats",
        )


def _transferred(evidence: Evidence) -> tuple[Counters, Counters] | None:
    """Return what the target and its whole disk moved during the run; None if it was not counted, or if the
    I/O went elsewhere.
    """
    if not evidence.needs.target:
        return None
    before, after = (reading.disk if reading else None for reading in (evidence.before, evidence.after))
    if before is None or after is None or before.name != after.name or not after.counted:
        return None
    whole = _difference(before.whole, after.whole, evidence.beside)
    if after.lumped:
        return whole, whole
    return _difference(before.target, after.target, {} if evidence.apart else evidence.beside), whole


def _difference(before: Counters, after: Counters, beside: Mapping[str, Traffic]) -> Counters:
    """Return what was moved between two readings, less what another engine of ours moved."""
    none = Traffic(0, 0, 0.0)
    reads, writes = (beside.get(name, none) for name in ("read", "write"))
    return Counters(
        after.read - before.read - reads.bytes,
        after.written - before.written - writes.bytes,
        after.reads - before.reads - reads.operations,
        after.writes - before.writes - writes.operations,
    )


CHECKS: tuple[Check, ...] = (
    no_device,
    cached,
    page_cache,
    unwritten_extents,
    blank_blocks,
    others_io,
    link_limit,
    loop_cache,
    not_counted,
)
