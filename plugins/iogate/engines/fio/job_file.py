"""fio's job files (fio(1), section JOB FILE FORMAT)."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from iogate.engines.fio.jobs import (
    DRAWS_SHARES,
    GLOBAL,
    LONGEST_LINE,
    MIXED,
    SEEDED,
    drawn_by,
    jobs,
    part_name,
)
from iogate.errors import EngineError
from iogate.model import Place, Workload

OUTPUT = "output.json"
PERCENTILES = "50:90:95:99:99.5:99.9:99.95:99.99"
_LONGEST_COMMENT = 200
_LONGEST_SECTION = 120
"""Of a name fio tells 127 bytes (FIO_JOBNAME_SIZE), a number among them that keeps it from another."""
_TIMES = ("runtime", "ramp_time", "startdelay")
_OWN = ("cached", "nrfiles", "clients")
"""What is said to fio by other options."""
_SWITCHES = ("time_based", "group_reporting")
"""Options that fio documents without a value: no is said by leaving them out."""


def arguments(*, writes: bool) -> tuple[str, ...]:
    """Return how fio is called, but for what it is to run: what does not declare that it `writes` cannot."""
    return (f"--output={OUTPUT}", "--output-format=json+", *(() if writes else ("--readonly",)))


def job_file(workload: Workload, place: Place) -> str:
    """Return the job file of a workload on its target.

    Raises EngineError for a path that a job file cannot hold, and for a line that fio would cut in two.
    """
    lines = [
        f"# {plain(workload.suite)}: {plain(workload.name)}",
        "# To run this again by hand: name the data as filename, cd into this folder, then",
        "#   fio --output=again.json --output-format=json+ job.fio",
        "# Without allow_file_create=0 fio makes the data if they are gone; here they were laid out before.",
    ]
    each = jobs(workload.options)
    for section, options in zip(
        section_names(name or workload.name for name in each), each.values(), strict=True
    ):
        lines += [f"[{section}]", *_filenames(place, options)]
        lines.append("allow_file_create=0")  # a target that is unmounted now is not to be made anew elsewhere
        lines += assignments(options)
        if place.scratch is None and _is_drawn_anew(options):
            lines += assignments(drawn_by(_seed(place)))
        if "percentile_list" not in options.get("fio", {}):
            lines.append(f"percentile_list={PERCENTILES}")
    for line in lines:
        if len(line.encode(errors="surrogateescape")) > LONGEST_LINE:
            raise EngineError(f"fio would cut a line of the job file in two: {line[:60]!r}... is too long")
    return "\n".join(lines) + "\n"


def assignments(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a section, one option each."""
    for key, value in options.items():
        if key == "fio":
            for name, passed in value.items():
                for item in passed if isinstance(passed, list) else [passed]:
                    yield assignment(name, item)
        elif key not in _OWN and (key not in _SWITCHES or value):
            yield assignment(key, _spell(key, value))


def assignment(key: str, value: str) -> str:
    """Return one line; an option without a value stands alone."""
    return f"{key}={value}" if value else key


def section_name(name: str) -> str:
    """Return a workload's name as the name of a section: without what ends a section or starts a comment, or
    begins as `global` does, which to fio is no job.
    """
    found = re.sub(r"[^A-Za-z0-9_.,=@+ -]", "_", name).strip() or "workload"
    return (f"_{found}" if found.startswith(GLOBAL) else found)[:_LONGEST_SECTION]


def section_names(names: Iterable[str]) -> list[str]:
    """Return the names of the sections of jobs. No two are alike as parts of metrics, as `日志` and `数据`
    would be (`__`): figures of the one would be those of both.
    """
    found: dict[str, str] = {}
    for name in map(section_name, names):
        section, number = name, 1
        while part_name(section) in found:
            number += 1
            section = f"{name}_{number}"
        found[part_name(section)] = section
    return list(found.values())


def plain(text: str) -> str:
    """Return text of one short line, for comments."""
    return re.sub(r"[^ -~]", "?", text)[:_LONGEST_COMMENT]


def _is_drawn_anew(options: Mapping[str, Any]) -> bool:
    """Return whether a job may work on other blocks each time. Which I/Os of a mix are reads, and how large
    each is of a split, is drawn by the same numbers, and of few of them another share would be each time:
    those stay, unless they trim.
    """
    kind, passed = str(options["rw"]).partition(":")[0], options.get("fio", {})
    shares = kind in MIXED or not DRAWS_SHARES.isdisjoint(passed)
    return kind.startswith("rand") and ("trim" in kind or not shares) and passed.keys().isdisjoint(SEEDED)


def _seed(place: Place) -> int:
    """Return what draws where a repetition works on a block device, unlike each other's: what others trimmed
    there by the same numbers would be just what it reads.
    """
    return int(hashlib.sha256(str(place.folder).encode(errors="surrogateescape")).hexdigest()[:7], 16)


def _spell(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if key in _TIMES:
        return str(value) if isinstance(value, int) else f"{math.ceil(value * 1000)}ms"
    return str(value)


def _filenames(place: Place, options: Mapping[str, Any]) -> list[str]:
    """Return the lines that name the files of a job: fio takes those of several lines together."""
    lines: list[str] = []
    for path in (place.data, *place.more)[: options.get("nrfiles", 1)]:
        name = _filename(path)
        if lines and len(f"{lines[-1]}:{name}".encode(errors="surrogateescape")) <= LONGEST_LINE:
            lines[-1] += f":{name}"
        else:
            lines.append(f"filename={name}")
    return lines


def _filename(path: Path) -> str:
    """Return a path as fio reads it: colons, which part several files, are escaped."""
    text = str(path)
    if re.search(r"[\x00-\x1f\x7f;#$'\"\\]", text) or text != text.strip():
        raise EngineError(
            f"fio cannot be told the path {text!r}",
            remedy="choose a target without such characters in its path",
        )
    return text.replace(":", "\\:")
