"""Where a job of fio reads: in which parts of its data, in which order, and what it passes over."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from iogate.engines.fio.jobs import SPLITS, block_sizes, file_size, stated_count
from iogate.engines.fio.sizes import (
    blocks,
    extent,
    io_size,
    passed_on,
    share_before,
    share_of,
    size_of,
    sizes_in,
)
from iogate.model import Reads, Region, Steps

_OF_RANDOM = ("percentage_random", "percentage_sequential")
_MOST_REGIONS = 1024  # that are looked at each by itself


def read_by(options: Mapping[str, Any], name: str = "") -> Reads:
    """Return where a job, and its clones, read: of zones that are read more often than others
    (`random_distribution=zoned`) each by itself; other distributions are taken for even ones. `name` is
    that of the job in the names of its metrics.
    """
    passed, size, clones = options.get("fio", {}), file_size(options), int(options["numjobs"])
    zones = _zones(str(passed.get("random_distribution", "")), size) if _is_random(options) else ()
    if clones * len(zones) > _MOST_REGIONS:
        zones = ()
    regions = tuple(
        Region(begin + int(size * before), int(size * share), weight, _steps(options, begin, begin + size))
        for begin in _begins(options)
        for before, share, weight in zones or ((Fraction(0), Fraction(1), 1.0),)
    )
    longest, most = float(options.get("runtime") or math.inf), _most_read(options)
    if min(longest, most) == math.inf or _is_drawn(options):
        return Reads(regions, name=name, clones=clones)
    block = min(_read_blocks(options))
    pace = block + _step(options)
    return Reads(
        regions,
        in_order=True,
        name=name,
        clones=clones,
        stride=abs(pace) / block,
        ramp=float(options.get("ramp_time") or 0.0),
        backwards=pace < 0,
        longest=longest,
        most=most,
    )


def _is_random(options: Mapping[str, Any]) -> bool:
    return str(options["rw"]).startswith("rand")


def _is_drawn(options: Mapping[str, Any]) -> bool:
    """Return whether blocks are drawn: some of a random pattern's are (`percentage_random`)."""
    if not _is_random(options):
        return False
    passed = options.get("fio", {})
    given = [str(passed.get(name, "")).partition(",")[0] for name in _OF_RANDOM]
    return not re.fullmatch(r"(0x)?0+", given[0]) and given[1] != "100"


def _read_blocks(options: Mapping[str, Any]) -> set[int]:
    """Return the bytes of the blocks that are read, as a bound on each side where they are drawn."""
    split = passed_on(options, *SPLITS)
    drawn = sizes_in(str(split).partition(",")[0]) if split is not None else ()
    return {*drawn} - {0} or {block_sizes(options["bs"])[0]}


def _step(options: Mapping[str, Any]) -> int:
    """Return how much farther than the next byte each block of a sequential pattern is (`read:60k`)."""
    text = "" if _is_random(options) else str(options["rw"]).partition(":")[2]
    return (size_of(text.removeprefix("-")) or 0) * (-1 if text.startswith("-") else 1)


def _steps(options: Mapping[str, Any], begin: int, end: int) -> Steps | None:
    """Return in which steps a job reads its part of the data; None if it leaves out nothing, or nobody can
    tell what, as blocks of several sizes are followed by a step.
    """
    blocks_read = _read_blocks(options)
    block, step = min(blocks_read), _step(options)
    if _is_drawn(options):
        aligned = size_of(str(passed_on(options, "blockalign", "ba") or "").partition(",")[0]) or block
        return Steps(begin, aligned, block) if aligned > block else None
    pace = abs(block + step)
    if pace <= block or len(blocks_read) > 1:
        return None
    return Steps(end + step if step < 0 else begin, pace, block)


def _most_read(options: Mapping[str, Any]) -> float:
    """Return the bytes that each clone moves at the most, by its own word; infinite if it has none."""
    count = stated_count(str(passed_on(options, "number_ios") or ""))
    return min(io_size(options) or math.inf, count * blocks(options)[-1] if count else math.inf)


def _begins(options: Mapping[str, Any]) -> list[int]:
    """Return where the clones of a job begin, in bytes, each place once: of thousands as many as can be
    looked at, the first and the last among them.
    """
    passed, whole = options.get("fio", {}), extent(options)
    step = size_of(passed_on(options, "offset_increment")) or 0
    first = size_of(passed_on(options, "offset", "fileoffset")) or 0
    share, increment = share_before(passed, 1), share_of(passed, "offset_increment")
    clones = range(int(options["numjobs"]) if step or increment else 1)
    some = (*clones[:: -(-len(clones) // _MOST_REGIONS)], clones[-1])
    return list(dict.fromkeys(first + step * n + int(whole * (share + increment * n)) for n in some))


def _goes_on_in_zones(options: Mapping[str, Any]) -> bool:
    """Return whether a job leaves out parts of its data by zones (`zonemode=strided`, which `zonesize` says
    alone): of a device it goes on to the very end, whatever its size (fio's io_u.c, setup_strided_zone_mode).
    """
    passed = options.get("fio", {})
    return "zonesize" in passed and str(passed.get("zonemode", "strided")) == "strided"


def _zones(text: str, size: int) -> tuple[tuple[Fraction, Fraction, float], ...]:
    """Return the zones of `zoned:90/10:10/90`, or `zoned_abs:90/16m:10/240m`, in a size: what is before each,
    and in it, as shares of it, and its weight; none if it is not that. What has no share has as much as each
    other of what is left.
    """
    kind, _, rest = text.partition(",")[0].partition(":")
    if kind not in ("zoned", "zoned_abs") or not re.fullmatch(r"\d{1,3}/\w*(:\d{1,3}/\w*){0,255}", rest):
        return ()
    weights, texts = zip(*(zone.split("/") for zone in rest.split(":")), strict=True)
    shares = [_share_of(share, size, in_bytes=kind == "zoned_abs") for share in texts]
    left = 1 - sum(filter(None, shares), Fraction(0))
    even = left / max(1, shares.count(None))
    found, before = [], Fraction(0)
    for weight, share in zip(weights, shares, strict=True):
        found.append((before, share or even, float(weight)))
        before += share or even
    return tuple(found) if left >= 0 else ()


def _share_of(text: str, size: int, *, in_bytes: bool) -> Fraction | None:
    """Return the share of a size that a zone has; None if it says none."""
    if in_bytes:
        return Fraction(size_of(text) or 0, size) or None
    return Fraction(int(text), 100) or None if text.isdecimal() else None


def astray(job: Mapping[str, Any]) -> str:
    """Return what leads a job elsewhere on a device than within its size; empty if nothing does."""
    if share_before(job.get("fio", {}), int(job["numjobs"])):
        return "an offset in per cent"
    return "a zonesize" if _goes_on_in_zones(job) else ""
