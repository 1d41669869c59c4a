"""The jobs of one workload: one kind as declared, readers and writers of a mix, or those of a job file; and
what fio calls their directions and sums in what it says of them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from iogate.units import parse_size, size_text

DIRECTIONS = ("read", "write", "trim")
SIDES = (*DIRECTIONS, "mixed")
"""What fio has figures of: `mixed` is all directions together, by unified_rw_reporting."""
ALL_CLIENTS = "All clients"
"""The name under which fio adds up what its clients did."""
SUMS_GROUPS = (3, 13)
"""The version of fio since which the sampled figures of a group are those of all its jobs together."""
MIXED = frozenset({"rw", "randrw"})
"""The patterns that read and write."""
ELSEWHERE = frozenset({"nbd", "null"})
"""The ioengines that do not touch the target: a network block device of their own `uri`, and nothing."""
GLOBAL = "global"
"""What the name of a section begins with that is no job, but holds for those behind it."""
LONGEST_LINE = 4000
"""Bytes of a line of a job file that every fio reads whole. What is beyond 4095 (8191 since fio 3.15) it
reads as the next line, which may be any option."""
REGION_STEP = 4096
"""Regions begin at multiples of it, so that direct I/O can be had in each."""
SEEDED = ("randseed", "randrepeat", "allrandrepeat")
"""What says by which numbers fio draws where it works; without any they are the same in each run."""
SPLITS = ("bssplit", "bsrange", "blocksize_range")
"""What says that blocks are of several sizes."""
DRAWS_SHARES = frozenset({*SPLITS, "percentage_random", "percentage_sequential"})
"""By which fio draws what each I/O is like, beside where it is."""

_WHERE = frozenset({"name", "filename", "nrfiles", "directory", "offset", "fileoffset", "offset_increment"})
_NO_PART = re.compile(r"[^A-Za-z0-9_-]")
_DIGITS = 9  # of a count that fio has, at the most


def drawn_by(seed: int) -> dict[str, str]:
    """Return the options by which fio draws where it works, and which I/Os of a mix are reads, from a seed:
    `randseed` alone moves no block (its init.c, td_fill_rand_seeds_internal).
    """
    return {"randrepeat": "0", "randseed": str(seed)}


def stated_count(text: str) -> int | None:
    """Return a count that options state; None if they state none, or more than there can be."""
    return int(text) if text.isdecimal() and len(text) <= _DIGITS and int(text) else None


@lru_cache(maxsize=1024)
def block_sizes(text: str) -> tuple[int, ...]:
    """Return bytes of each of the block sizes in `4k,64k`. Raises ValueError."""
    return tuple(parse_size(part) for part in text.split(","))


def jobs(options: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the options of each kind of job by its name; the name is empty where the workload's own will
    do. A pattern that reads and writes does both.
    """
    if "jobs" in options:
        return {name: of_one_kind(_reported_apart(each)) for name, each in options["jobs"].items()}
    if "mix" not in options:
        return {"": of_one_kind(options)}
    return _jobs_of_mix(options)


def of_one_kind(job: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a job of which all is read, or all written, as one that does nothing else: of a mix fio may do
    the other all the same, as the first I/O in a zone is a write (`zonemode: zbd`).
    """
    kind, colon, step = str(job.get("rw", "")).partition(":")
    share = job.get("rwmixread")
    if kind not in MIXED or share not in (0, 100):
        return job
    rest = {key: value for key, value in job.items() if key != "rwmixread"}
    return {**rest, "rw": f"{kind.removesuffix('rw')}{'read' if share else 'write'}{colon}{step}"}


def unlike(each: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether jobs do different things, in something else than where: then the sum of their rates
    says little of those that do little.
    """
    return len({_in_short(job) for job in each}) > 1


def part_name(job: str) -> str:
    """Return the name of a job as what the metrics of it alone begin with, `log` of `log.write.iops`."""
    return _NO_PART.sub("_", job)


def file_size(options: Mapping[str, Any]) -> int:
    """Return the bytes of each file that a job shares its size out to: whole blocks, as fio has it."""
    files, size = int(options.get("nrfiles", 1)), parse_size(options["size"])
    if files == 1:
        return size
    step = max(REGION_STEP, *(parse_size(part) for part in options["bs"].split(",")))
    return math.ceil(size / (files * step)) * step


def region(size: int, mix: Mapping[str, int]) -> int:
    """Return the bytes that each reader and writer of a mix has for itself."""
    return size // sum(mix.values()) // REGION_STEP * REGION_STEP


def _in_short(job: Mapping[str, Any]) -> str:
    own = {key: value for key, value in job.items() if key not in _WHERE}
    if isinstance(passed := own.pop("fio", None), Mapping):
        # what stands without a value fio's output does not say: no job is told apart by it
        own |= {f"fio.{key}": value for key, value in passed.items() if value and key not in _WHERE}
    return json.dumps(own, sort_keys=True, default=str)


def _reported_apart(job: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a job whose processes fio reports one by one, and in the one group of all that run together."""
    found = {**job, "group_reporting": False}
    if "fio" in job:
        found["fio"] = {key: value for key, value in job["fio"].items() if key != "new_group"}
    return found


def _jobs_of_mix(options: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return readers first, each job on a region of its own. fio reports each, so that none hides in a
    group.
    """
    shared = {key: value for key, value in options.items() if key not in ("mix", "rwmixread", "fio")}
    each = region(parse_size(options["size"]), options["mix"])
    random = "rand" if options["rw"] == "randrw" else ""
    found: dict[str, Mapping[str, Any]] = {}
    for role, word in (("readers", "read"), ("writers", "write")):
        for number in range(options["mix"].get(role, 0)):
            found[f"{role.removesuffix('s')}{number + 1}"] = {
                **shared,
                "rw": random + word,
                "size": size_text(each),
                "group_reporting": False,
                "fio": {**options.get("fio", {}), "offset": str(each * len(found))},
            }
    return found
