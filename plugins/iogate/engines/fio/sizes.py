"""How much a job of fio moves: by its own sizes, and by those that are passed through to fio."""

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
)
from iogate.errors import OptionError
from iogate.units import parse_size, printable

_SAME = (("io_size", "io_limit"), ("offset", "fileoffset"), ("offset_increment",), ("loops",))
"""Options that are passed through and say how much is moved, or where; of several names for one."""
_SHARED = frozenset({"io_size", "io_limit", "offset", "fileoffset", "offset_increment"})
"""Those that may be in per cent of the size."""
_SHARE = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,9})?)%")
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
    return value.isdecimal() if name == "loops" else size_of(value) is not None


def size_of(value: Any) -> int | None:
    """Return the bytes of a size such as `16M`; None if it is none."""
    try:
        return parse_size(value)
    except ValueError:
        return None


def passed_on(options: Mapping[str, Any], *names: str) -> Any:
    """Return the first of some options that is passed through to fio; None if none is."""
    passed = options.get("fio", {})
    return next((passed[name] for name in names if name in passed), None)


def share_of(passed: Mapping[str, Any], name: str) -> Fraction:
    """Return what an option says in per cent, as a share; 0 if it says none."""
    match = _SHARE.fullmatch(str(passed.get(name, "")))
    return Fraction(match[1]) / 100 if match else Fraction(0)


def share_before(passed: Mapping[str, Any], numjobs: int) -> Fraction:
    """Return the share of the data that offsets in per cent leave before the last of the jobs."""
    first = share_of(passed, "offset") or share_of(passed, "fileoffset")
    return first + share_of(passed, "offset_increment") * (numjobs - 1)


def blocks(options: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the block sizes that occur, smallest first."""
    sizes = set(block_sizes(options["bs"]))
    for name in SPLITS:
        if name in options.get("fio", {}):
            sizes.update(sizes_in(str(options["fio"][name])))
    return tuple(sorted(sizes - {0}))


def sizes_in(split: str) -> list[int]:
    """Return the block sizes of a `bssplit` or a `bsrange`."""
    return [parse_size(text) for text in re.findall(r"(?:^|[:,-])([0-9]{1,15}[kKmM]?)", split)]


def extent(options: Mapping[str, Any]) -> int:
    """Return bytes from the beginning of a file to the last that any job touches.

    An offset in per cent is a share of the whole file, which fio makes longer where it is too short, and
    begins at the next block, or multiple of `offset_align` (its filesetup.c, get_start_offset).
    """
    first = size_of(passed_on(options, "offset", "fileoffset")) or 0
    step = size_of(passed_on(options, "offset_increment")) or 0
    jobs = int(options["numjobs"])
    size = file_size(options) + first + step * (jobs - 1)
    share = share_before(options.get("fio", {}), jobs)
    if not share:
        return size
    step = size_of(passed_on(options, "offset_align")) or blocks(options)[0]
    whole = _whole(size / (1 - share))
    begins = math.ceil(whole * share / step) * step
    return whole if begins + size <= whole else _whole((size + step) / (1 - share))


def _whole(size: Fraction) -> int:
    return math.ceil(size / REGION_STEP) * REGION_STEP


def io_size(options: Mapping[str, Any]) -> int | None:
    """Return the bytes that each job moves where that is not its size (`io_size`); None if it says none."""
    told = passed_on(options, *_SAME[0])
    share = _SHARE.fullmatch(str(told))
    return math.ceil(parse_size(options["size"]) * Fraction(share[1]) / 100) if share else size_of(told)


def volume(options: Mapping[str, Any]) -> int:
    """Return bytes that all jobs move together if no time limit ends them, in whole blocks."""
    each, largest = io_size(options), blocks(options)[-1]
    each = math.ceil(each / largest) * largest if each else parse_size(options["size"])
    return each * int(options["numjobs"]) * (size_of(passed_on(options, "loops")) or 1)


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
