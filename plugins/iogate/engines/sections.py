"""What reports hold: sections that engines have printed, and words on how the figures were made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from iogate.model import Output
from iogate.units import parse_duration, parse_size


@dataclass(frozen=True)
class Section:
    """A part of an output as a report shows it: `title` says what it is, `name` is that of its job or test.

    It begins at `line` (from 1). `points` are its rows, each of which is judged by itself, where it is a
    table. `remark` says what is wrong with its form, if anything.
    """

    title: str
    name: str
    output: Output
    line: int = 1
    points: tuple[Section, ...] = ()
    remark: str = ""


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
        times = (self.number("numjobs") or 1) * (self.number("loops") or 1)
        try:
            return parse_size(self.options.get("io_size") or self.options["size"]) * times
        except (KeyError, ValueError, OverflowError):
            return None

    @property
    def in_flight(self) -> int | None:
        """iodepth x numjobs, if both are said."""
        depth, jobs = self.number("iodepth"), self.number("numjobs")
        return depth * jobs if depth and jobs else None

    @property
    def time_based(self) -> bool:
        """Whether time ends it, and not its size."""
        return self.options.get("time_based", "0") not in ("0", "false")

    @property
    def mixed(self) -> bool:
        """Whether it reads and writes."""
        return self.options.get("rw", self.options.get("readwrite", "")) in ("rw", "readwrite", "randrw")

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
    def timed(self) -> bool:
        """Whether time ends one of them, whatever their size is."""
        return any(job.time_based for job in self.jobs)

    @property
    def size(self) -> int | None:
        """The bytes that all jobs move, or None if time ends them, or it is not known what does."""
        if self.timed:
            return None
        sizes = [job.size() for job in self.jobs]
        return sum(size for size in sizes if size) if sizes and all(sizes) else None
