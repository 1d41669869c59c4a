"""How much a job of fio moves, and of what: by its own sizes, and by those that are passed through to fio."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from iogate.engines.fio.jobs import (
    ELSEWHERE,
    MIXED,
    REGION_STEP,
    SPLITS,
    block_sizes,
    file_size,
    stated_count,
)
from iogate.errors import OptionError
from iogate.model import Reads, Region, Steps
from iogate.units import parse_size, printable

_SAME = (("io_size", "io_limit"), ("offset", "fileoffset"), ("offset_increment",), ("loops",))
"""Options that are passed through and say how much is moved, or where; of several names for one."""
_SHARED = frozenset({"io_size", "io_limit", "offset", "fileoffset", "offset_increment"})
"""Those that may be in per cent of the size."""
_OF_RANDOM = ("percentage_random", "percentage_sequential")
_SHARE = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,9})?)%")
_MOST_REGIONS = 1024  # that are looked at each by itself
_DEVIATIONS = 5  # standard ones, of a share that is drawn


def mistakes(passed: Mapping[str, Any]) -> Iterator[OptionError]:
    """Yield what is passed through and says how much is moved in a way that only fio reads: so much more
    could be written than is counted.
    """
    for names in _SAME:
        given = [name for name in names if name in passed]
        for name in given:
            if not _is_read(name, passed[name]):
                kinds = "a size such as 16M" + (", or 10%" if name in _SHARED else "")
                what = "a number" if name == "loops" else kinds
                shown = printable(str(passed[name]))
                yield OptionError(
                    f"{name}: {shown} is not {what}, as a suite has it", ("fio", name), key=True
                )
        if len(given) > 1:
            yield OptionError(
                f"{given[1]} says the same as {given[0]}: name one", ("fio", given[1]), key=True
            )


def _is_read(name: str, value: Any) -> bool:
    if not isinstance(value, str):
        return False
    if name in _SHARED and _SHARE.fullmatch(value):
        return True
    return value.isdecimal() if name == "loops" else _size(value) is not None


def _size(value: Any) -> int | None:
    try:
        return parse_size(value)
    except ValueError:
        return None


def _passed(options: Mapping[str, Any], *names: str) -> Any:
    passed = options.get("fio", {})
    return next((passed[name] for name in names if name in passed), None)


def _share(passed: Mapping[str, Any], name: str) -> Fraction:
    match = _SHARE.fullmatch(str(passed.get(name, "")))
    return Fraction(match[1]) / 100 if match else Fraction(0)


def share_before(passed: Mapping[str, Any], numjobs: int) -> Fraction:
    """Return the share of the data that offsets in per cent leave before the last of the jobs."""
    first = _share(passed, "offset") or _share(passed, "fileoffset")
    return first + _share(passed, "offset_increment") * (numjobs - 1)


def blocks(options: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the block sizes that occur, smallest first."""
    sizes = set(block_sizes(options["bs"]))
    for name in SPLITS:
        if name in options.get("fio", {}):
            sizes.update(_sizes_in(str(options["fio"][name])))
    return tuple(sorted(sizes - {0}))


def _sizes_in(split: str) -> list[int]:
    """Return the block sizes of a `bssplit` or a `bsrange`."""
    return [parse_size(text) for text in re.findall(r"(?:^|[:,-])([0-9]{1,15}[kKmM]?)", split)]


def extent(options: Mapping[str, Any]) -> int:
    """Return bytes from the beginning of a file to the last that any job touches.

    An offset in per cent is a share of the whole file, which fio makes longer where it is too short, and
    begins at the next block, or multiple of `offset_align` (its filesetup.c, get_start_offset).
    """
    first = _size(_passed(options, "offset", "fileoffset")) or 0
    step = _size(_passed(options, "offset_increment")) or 0
    jobs = int(options["numjobs"])
    size = file_size(options) + first + step * (jobs - 1)
    share = share_before(options.get("fio", {}), jobs)
    if not share:
        return size
    step = _size(_passed(options, "offset_align")) or blocks(options)[0]
    whole = _whole(size / (1 - share))
    begins = math.ceil(whole * share / step) * step
    return whole if begins + size <= whole else _whole((size + step) / (1 - share))


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
    if min(longest, most) == math.inf or (_is_random(options) and not _none_is_random(passed)):
        return Reads(regions, name=name, clones=clones)
    block, pace = _read_block(options), _pace(options)
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


def _read_blocks(options: Mapping[str, Any]) -> set[int]:
    """Return the bytes of the blocks that are read, as a bound on each side where they are drawn."""
    split = _passed(options, *SPLITS)
    drawn = _sizes_in(str(split).partition(",")[0]) if split is not None else ()
    return {*drawn} - {0} or {block_sizes(options["bs"])[0]}


def _read_block(options: Mapping[str, Any]) -> int:
    """Return the bytes of a block that is read; the smallest, where there are several."""
    return min(_read_blocks(options))


def _step(options: Mapping[str, Any]) -> int:
    """Return how much farther than the next byte each block of a sequential pattern is (`read:60k`)."""
    text = "" if _is_random(options) else str(options["rw"]).partition(":")[2]
    return (_size(text.removeprefix("-")) or 0) * (-1 if text.startswith("-") else 1)


def _pace(options: Mapping[str, Any]) -> int:
    """Return by how many bytes the beginnings of two blocks that are read in order are apart."""
    return _read_block(options) + _step(options)


def _steps(options: Mapping[str, Any], begin: int, end: int) -> Steps | None:
    """Return in which steps a job reads its part of the data; None if it leaves out nothing, or nobody can
    tell what, as blocks of several sizes are followed by a step.
    """
    passed, blocks_read = options.get("fio", {}), _read_blocks(options)
    block, step = min(blocks_read), _step(options)
    if _is_random(options) and not _none_is_random(passed):
        aligned = _size(str(_passed(options, "blockalign", "ba") or "").partition(",")[0]) or block
        return Steps(begin, aligned, block) if aligned > block else None
    pace = abs(block + step)
    if pace <= block or len(blocks_read) > 1:
        return None
    return Steps(end + step if step < 0 else begin, pace, block)


def _most_read(options: Mapping[str, Any]) -> float:
    """Return the bytes that each clone moves at the most, by its own word; infinite if it has none."""
    count = stated_count(str(_passed(options, "number_ios") or ""))
    size = _passed(options, "io_size", "io_limit")
    share = _SHARE.fullmatch(str(size))
    told = float(Fraction(share[1]) / 100 * file_size(options)) if share else _size(size)
    return min(told or math.inf, count * blocks(options)[-1] if count else math.inf)


def _begins(options: Mapping[str, Any]) -> list[int]:
    """Return where the clones of a job begin, in bytes, each place once: of thousands as many as can be
    looked at, the first and the last among them.
    """
    passed, whole = options.get("fio", {}), extent(options)
    step = _size(_passed(options, "offset_increment")) or 0
    first = _size(_passed(options, "offset", "fileoffset")) or 0
    share, increment = share_before(passed, 1), _share(passed, "offset_increment")
    clones = range(int(options["numjobs"]) if step or increment else 1)
    some = (*clones[:: -(-len(clones) // _MOST_REGIONS)], clones[-1])
    return list(dict.fromkeys(first + step * n + int(whole * (share + increment * n)) for n in some))


def _none_is_random(passed: Mapping[str, Any]) -> bool:
    """Return whether a random pattern reads one block behind the other all the same."""
    given = [str(passed.get(name, "")).partition(",")[0] for name in _OF_RANDOM]
    return bool(re.fullmatch(r"(0x)?0+", given[0])) or given[1] == "100"


def goes_on_in_zones(options: Mapping[str, Any]) -> bool:
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
        return Fraction(_size(text) or 0, size) or None
    return Fraction(int(text), 100) or None if text.isdecimal() else None


def _whole(size: Fraction) -> int:
    return math.ceil(size / REGION_STEP) * REGION_STEP


def volume(options: Mapping[str, Any]) -> int:
    """Return bytes that all jobs move together if no time limit ends them, in whole blocks."""
    size, passed = parse_size(options["size"]), _passed(options, "io_size", "io_limit")
    share = _SHARE.fullmatch(str(passed))
    each = math.ceil(size * Fraction(share[1]) / 100) if share else _size(passed)
    largest = blocks(options)[-1]
    each = math.ceil(each / largest) * largest if each else size
    return each * int(options["numjobs"]) * (_size(_passed(options, "loops")) or 1)


def most_written(options: Mapping[str, Any]) -> int | None:
    """Return the most bytes that a run writes, or None where time alone bounds them.

    fio's `rwmixread` is a share of the I/Os, drawn for each of them: of the bytes it is another one where
    reads and writes have other block sizes, and none where each has its rate.
    """
    kind = str(options["rw"]).partition(":")[0]
    if not ("write" in kind or kind in MIXED) or options["ioengine"] in ELSEWHERE:
        return 0
    if options["time_based"] or options["ramp_time"]:
        return None
    moved = volume(options)
    if kind not in MIXED or any(_decides_on_its_own(name) for name in options.get("fio", {})):
        return moved
    read, *others = block_sizes(options["bs"])
    write = (others or [read])[0]
    share = 1 - int(options["rwmixread"]) / 100
    count = moved / (read * (1 - share) + write * share)
    drawn = count * share + _DEVIATIONS * math.sqrt(count * share * (1 - share)) + 1
    return min(moved, math.ceil(drawn * write))


def _decides_on_its_own(name: str) -> bool:
    """Return whether an option makes something else of how much is written of a mix than its share says."""
    return name in (*SPLITS, "bs_is_seq_rand") or name.startswith(("rate", "flow"))
