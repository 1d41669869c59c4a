"""Whose figures the columns of a table are: those of one subject are held against each other alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from iogate.offline.published.cells import LATENCIES, size_of
from iogate.offline.published.columns import Column
from iogate.offline.published.headings import MEASURED

_STATED = ("block", "size", "depth", "jobs")
_OF_A_TEST = re.compile(
    r"\b(?:seq|rand|stream|large|backend|mix|rw\b|re-?read|re-?write|overwrite|trim|verify|\d\d \d\d\b)"
)
_IN_FLIGHT = re.compile(r"q(\d{1,4})t(\d{1,4})|qd(\d{1,4})|t(\d{1,4})")
_SIZE_OF_SUBJECT = re.compile(r"\d+[km]i?b?")


def unambiguous(columns: Sequence[Column]) -> list[Column]:
    """Return the columns, of several that say the same of the workload (the block size of a file system, say,
    beside that of the I/O) the one alone whose heading says no more than that; none if it is not known which.
    """
    found = list(columns)
    for kind in _STATED:
        several = [index for index, column in enumerate(columns) if column.kind == kind]
        plain = [index for index in several if not columns[index].subject]
        if len(several) > 1:
            if kind == "jobs" and len(plain) != 1:  # nor is it known then how many I/Os all of them have
                several += [index for index, column in enumerate(columns) if column.kind == "depth"]
            for index in several:
                if len(plain) != 1 or index != plain[0]:
                    found[index] = replace(columns[index], kind="")
    return found


def by_subject(columns: Sequence[Column]) -> list[Mapping[int, Column]]:
    """Return the measured columns, by their places, of each subject that figures are of: of two systems side
    by side, or before and after. Where a subject has several columns that say the same, each time that they
    are repeated is one of its own; so is a column that alone is repeated, or that is `apart`.
    """
    measured = {index: column for index, column in enumerate(columns) if column.kind in MEASURED}
    if _are_one(list(measured.values())):
        return [measured]
    counts = Counter(map(_key, measured.values()))
    rates: dict[str, set[int]] = {}  # how often a subject has each of its rates
    for key, count in counts.items():
        if key.kind not in LATENCIES:
            rates.setdefault(key.subject, set()).add(count)
    seen = Counter[_Key]()
    groups: dict[tuple[str, int, int], dict[int, Column]] = {}
    for index, column in measured.items():
        key = _key(column)
        even = len(rates.get(key.subject, ())) <= 1
        alone = column.apart or not (even or counts[key] == 1)
        groups.setdefault((key.subject, seen[key], index if alone else -1), {})[index] = column
        seen[key] += 1
    return list(groups.values())


def _are_one(measured: Sequence[Column]) -> bool:
    """Return whether figures are of one subject: none is there twice, unless in another unit, none is apart,
    and rates do not name two.
    """
    if any(column.apart for column in measured):
        return False
    of = {column.subject for column in measured if column.kind not in LATENCIES and column.subject}
    unlike = any(map(_OF_A_TEST.search, of)) and not all(column.subject for column in measured)
    return len({_key(column)[1:] for column in measured}) == len(measured) and len(of) <= 1 and not unlike


class _Key(NamedTuple):
    """What a measured column's heading says."""

    subject: str
    kind: str
    part: str
    direction: str
    unit: str


def _key(column: Column) -> _Key:
    return _Key(column.subject, column.kind, column.part, column.direction, column.unit)


def block_in(measured: Iterable[Column]) -> int | None:
    """Return the block size that the subject of all figures names, as of `4k IOPS | 4k MB/s`."""
    subjects = {column.subject for column in measured}
    words = next(iter(subjects)).split() if len(subjects) == 1 else []
    sizes = [word for word in words if _SIZE_OF_SUBJECT.fullmatch(word)]
    return size_of(sizes[0]) if len(sizes) == 1 else None


def flying_in(measured: Iterable[Column]) -> dict[str, int]:
    """Return the depth, and the number of jobs, that headings say beside their figures (`IOPS QD32 T4`), by
    name: of all that say one, if they agree.
    """
    words = {word for column in measured for word in column.subject.split()}
    found = [match for word in words if (match := _IN_FLIGHT.fullmatch(word))]
    depths = {int(depth) for match in found if (depth := match[1] or match[3])}
    jobs = {int(count) for match in found if (count := match[2] or match[4])}
    known = {"depth": depths, "jobs": jobs}
    return {name: values.pop() for name, values in known.items() if len(values) == 1}


def has_vague_latency(measured: Sequence[Column]) -> bool:
    """Return whether a latency is of something that no rate is of."""
    of = {column.subject for column in measured if column.kind not in LATENCIES} | {""}
    return any(column.subject not in of and not column.part for column in measured)


def subject_of(measured: Iterable[Column]) -> list[str]:
    """Return what figures are of, where others are of something else."""
    return list(filter(None, {column.subject for column in measured}))
