"""iozone, the file system benchmark: https://www.iozone.org.

With `processes` its throughput mode (`-t`), each process on a file of its own; without, its automatic mode
(`-a`), a table of file size x record size. It makes its files itself, in the target's scratch folder.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from iogate.engines.iozone import reading
from iogate.engines.iozone.runs import blocks
from iogate.engines.iozone.sections import sections
from iogate.engines.iozone.table import point
from iogate.engines.iozone.tests import TESTS
from iogate.engines.iozone.text import direction, recognises
from iogate.engines.sections import Description, Section
from iogate.errors import EngineError, InputError
from iogate.host.process import Completed, find_program
from iogate.model import Command, Needs, Output, Part, Place, Workload
from iogate.units import parse_size

_PATIENCE = 60.0
_PAUSE = 4.0  # s: in throughput mode iozone sleeps before and between its tests
_SLOWEST_BANDWIDTH = 10 * 2**20
_SLOWEST_IOPS = {"sequential": 1000, "random": 100}

_RUNS: Mapping[str, tuple[str, ...]] = {
    "write": ("write", "rewrite"),
    "read": ("read", "reread"),
    "random": ("random_read", "random_write"),
    "fwrite": ("fwrite", "frewrite"),
    "fread": ("fread", "freread"),
}
"""What each test runs, where that is not just itself."""
_FIGURE = re.compile(r"(?P<test>\w+)\.(?:bandwidth|iops|latency\.mean)(?:\.[^./]+/[^./]+)?")
"""The metric of a test, and of a point of a table of several: the last one is the largest."""


class Iozone:
    """The engine `iozone`, see `iogate.engines.Engine`."""

    name = "iozone"
    program = "iozone"
    package = "iozone3"

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        from iogate.engines.iozone.options import normalise_options

        return normalise_options(given)

    def schema(self) -> dict[str, Any]:
        from iogate.engines.iozone.options import IozoneOptions

        return IozoneOptions.model_json_schema()

    def check(self, workloads: Sequence[Workload]) -> list[InputError]:
        """Return nothing: iozone cannot be asked without I/O, and what is known of it is in the options."""
        return []

    def gating(self, workload: Workload) -> tuple[str, ...]:
        """Return each test but the retests: all children together, or the largest file and record of a
        table.
        """
        options = workload.options
        figure = {"bandwidth": "bandwidth", "iops": "iops", "latency": "latency.mean"}[options["report"]]
        tests = [run for test in options["tests"] for run in _RUNS.get(test, (test,)) if _first_run(run)]
        points = list(_points(options))
        suffix = f".{point(*points[-1])}" if len(points) > 1 else ""
        return tuple(f"{test}.{figure}{suffix}" for test in tests)

    def gating_of(self, output: Output) -> tuple[str, ...]:
        """Return each test but the retests: all children together, or the largest file and record of a
        table.
        """
        found = {match["test"]: name for name in output.metrics if (match := _FIGURE.fullmatch(name))}
        return tuple(name for test, name in found.items() if _first_run(test))

    def needs(self, workload: Workload) -> Needs:
        options = workload.options
        tests = {run for test in options["tests"] for run in _RUNS.get(test, (test,))}
        return Needs(
            reads=any(direction(test) == "read" for test in tests),
            writes=True,
            direct=options["direct"],
            block=min(record for _, record in _points(options)),
            seconds=_seconds(options),
            written=_bytes_written(options),
            space=parse_size(options["size"]) * options.get("processes", 1),
            cached=options.get("cached", False),
        )

    def command(self, workload: Workload, place: Place) -> Command:
        """Return the call of iozone in the scratch folder.

        Raises EngineError if it is missing, or if there is no folder.
        """
        program = find_program(self.program, self.package)
        if place.scratch is None:
            raise EngineError(
                "iozone makes files of its own: it cannot work on a block device",
                remedy="choose a directory as the target: --io-target=PATH",
            )
        options = workload.options
        processes = options.get("processes")
        files = [str(place.scratch / f"iozone-{number + 1}") for number in range(processes or 1)]
        argv = (program, *_arguments(options), *(("-F", *files) if processes else ("-f", files[0])))
        # not `by_size`: it waits for ever for children that died, while others may use the disk
        return Command(argv, options.get("timeout") or _seconds(options) * 1.1 + _PATIENCE)

    def step(self, options: Mapping[str, Any], metric: str) -> float:
        """Return what one microsecond, or one operation per second, is: the automatic mode prints whole ones
        (and whole kB/s, which are fine).
        """
        parts = metric.split(".")
        if options.get("processes") is not None:
            return 0.0
        return 1000.0 if "latency" in parts else 1.0 if "iops" in parts else 0.0

    def recognises(self, text: str) -> bool:
        return recognises(text)

    def blocks(self, text: str) -> Iterator[tuple[int, str]]:
        return blocks(text)

    def sections(self, text: str, *, name: str) -> Sequence[Section]:
        return sections(text, name=name)

    def descriptions(self, lines: Sequence[str]) -> list[Description]:
        """Return nothing: iozone's command lines say what its outputs repeat."""
        return []

    def parse(self, text: str, *, name: str, completed: Completed | None = None) -> Output:
        return reading.parse(text, name=name, completed=completed)

    def parts(self, text: str, *, name: str) -> list[Part]:
        return reading.parts(text, name=name)


# ------------------------------------------------------------ what to run


def _arguments(options: Mapping[str, Any]) -> Iterator[str]:
    size, record = _kilobytes(options["size"]), _kilobytes(options["record_size"])
    if "processes" in options:
        yield from ("-t", str(options["processes"]), "-C", "-s", size, "-r", record)
    else:  # -z: all records on all files; without it iozone leaves small ones out on files above 16 MiB
        yield from ("-a", "-z", "-n", _kilobytes(options["minimum_size"]), "-g", size)
        yield from ("-y", _kilobytes(options["minimum_record_size"]), "-q", record)
    for test in options["tests"]:
        yield from ("-i", str(TESTS[test]))
    for letter, wanted in (
        ("-T", options["threads"]),
        ("-I", options["direct"]),
        ("-e", options["flush"]),
        ("-+n", not options["retest"]),
        ("-O", options["report"] == "iops"),
        ("-N", options["report"] == "latency"),
    ):
        if wanted:
            yield letter
    for letter, value in options.get("iozone", {}).items():
        yield from (letter,) if value is True else (letter, str(value))


def _kilobytes(size: str) -> str:
    return f"{parse_size(size) // 1024}k"


def _points(options: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    """Yield file and record sizes in bytes that are run, in iozone's order: each doubles up to the
    largest.
    """
    size, record = parse_size(options["size"]), parse_size(options["record_size"])
    file_size = parse_size(options.get("minimum_size", size))
    while file_size <= size:
        one = parse_size(options.get("minimum_record_size", record))
        while one <= min(record, file_size):
            yield file_size, one
            one *= 2
        file_size *= 2


def _passes(options: Mapping[str, Any]) -> Iterator[tuple[str, int, int]]:
    """Yield each run of a test: its name, the bytes that it moves (all processes), and its record."""
    for size, record in _points(options):
        for test in options["tests"]:
            for run in _RUNS.get(test, (test,)):
                if options["retest"] or _first_run(run):
                    yield run, size * options.get("processes", 1), record


def _first_run(run: str) -> bool:
    return run not in ("rewrite", "reread", "frewrite", "freread")


def _seconds(options: Mapping[str, Any]) -> float:
    """Return the longest that a run should take, estimated from a slow device: 10 MiB/s, 100 random or 1000
    sequential IOPS.
    """
    total = 0.0 if options.get("processes") is None else _PAUSE * (1 + len(list(_passes(options))))
    for run, size, record in _passes(options):
        kind = "random" if run in ("random_read", "random_write", "mixed", "stride_read") else "sequential"
        total += max(size / _SLOWEST_BANDWIDTH, size / record / _SLOWEST_IOPS[kind])
    return math.ceil(total)


def _bytes_written(options: Mapping[str, Any]) -> int:
    return sum(size for run, size, _ in _passes(options) if direction(run) != "read")


engine = Iozone()
