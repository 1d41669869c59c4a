"""What a text says of how its figures were made: fio's job files and command lines in it."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from iogate.units import parse_duration, parse_size

_SECTION = re.compile(r"\[([\w .-]+)\]")
_OPTION = re.compile(r"([a-z][a-z0-9_-]*)\s*(?:=\s*([^;]*?))?\s*(?:;.*)?")
_VALUELESS = frozenset({"time_based", "group_reporting", "stonewall", "thread"})


@dataclass(frozen=True)
class DescribedJob:
    """One job as a text describes it; `line` counts from 1."""

    line: int
    name: str
    options: Mapping[str, str]

    def number(self, option: str) -> int | None:
        text = self.options.get(option, "")
        return int(text) if text.isdecimal() and len(text) < 10 else None

    def size(self) -> int | None:
        """Return the bytes that this job and its clones move, if its size ends it."""
        try:
            return parse_size(self.options["size"]) * (self.number("numjobs") or 1)
        except (KeyError, ValueError, OverflowError):
            return None

    @property
    def in_flight(self) -> int | None:
        """iodepth x numjobs, if both are said."""
        depth, jobs = self.number("iodepth"), self.number("numjobs")
        return depth * jobs if depth and jobs else None

    @property
    def runtime(self) -> float | None:
        """The time limit in seconds."""
        try:
            seconds = parse_duration(self.options["runtime"])
        except (KeyError, ValueError):
            return None
        return seconds if math.isfinite(seconds) else None


@dataclass(frozen=True)
class Description:
    """The jobs that run together: those of one job file, or of one command line."""

    jobs: tuple[DescribedJob, ...]

    @property
    def size(self) -> int | None:
        """The bytes that all jobs move, or None if time or nobody knows what ends them."""
        if any("time_based" in job.options for job in self.jobs):
            return None
        sizes = [job.size() for job in self.jobs]
        return sum(size for size in sizes if size) if sizes and all(sizes) else None


def descriptions(lines: Sequence[str]) -> list[Description]:
    """Return all job files and command lines of fio in a text."""
    return [*_job_files(lines), *_command_lines(lines)]


def common_value(values: Iterable[int | None]) -> int | None:
    """Return the value that all who say one agree on."""
    known = {value for value in values if value is not None}
    return known.pop() if len(known) == 1 else None


def _job_files(lines: Sequence[str]) -> list[Description]:
    found: list[Description] = []
    sections: list[DescribedJob] = []
    shared: dict[str, str] = {}
    options: dict[str, str] | None = None

    def close() -> None:
        nonlocal shared, options
        jobs = tuple(
            DescribedJob(job.line, job.options.get("name", job.name), job.options) for job in sections
        )
        if any("rw" in job.options for job in jobs):
            found.append(Description(jobs))
        sections.clear()
        shared, options = {}, None

    for number, line in enumerate(lines, 1):
        text = line.strip()
        section = _SECTION.match(text)
        option = _OPTION.fullmatch(text)
        if section and (len(section[0]) == len(text) or text[len(section[0]) :].lstrip().startswith(";")):
            if section[1] == "global":
                options = shared = {}
            else:
                options = dict(shared)
                sections.append(DescribedJob(number, section[1], options))
        elif options is not None and option and (option[2] is not None or option[1] in _VALUELESS):
            options[option[1]] = (option[2] or "").strip()
        elif options is not None and text and not text.startswith((";", "#")):
            close()
    close()
    return found


def _command_lines(lines: Sequence[str]) -> list[Description]:
    found = []
    for number, line in enumerate(lines, 1):
        if not re.match(r"\s*[$#]?\s*(sudo )?fio\s+--", line):
            continue
        try:
            words = shlex.split(line)
        except ValueError:
            continue
        pairs = [word[2:].partition("=") for word in words if word.startswith("--")]
        options = {key: value for key, _, value in pairs}
        if "rw" in options:
            found.append(Description((DescribedJob(number, options.get("name", "fio"), options),)))
    return found
