"""iozone, the file system benchmark: https://www.iozone.org.

With `processes` its throughput mode (`-t`), each process on a file of its own; without, its automatic mode
(`-a`), a table of file size x record size. It makes its files itself, in the target's scratch folder.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from iogate.engines.iozone import table as _iozone_table
from iogate.engines.iozone import text as _iozone_text
from iogate.engines.iozone import throughput as _iozone_throughput
from iogate.engines.iozone.options import TESTS, IozoneOptions, normalise_options
from iogate.engines.iozone.sections import sections
from iogate.engines.iozone.table import point
from iogate.engines.iozone.text import direction, line_of
from iogate.engines.sections import Description, Section
from iogate.errors import EngineError, InputError, OutputError, Position
from iogate.host.process import Completed, find_program
from iogate.model import Command, Needs, Output, Place, Workload
from iogate.units import parse_size, printable

_PATIENCE = 60.0
_PAUSE = 4.0  # s: in throughput mode iozone sleeps before and between its tests
_SLOWEST_BANDWIDTH = 10 * 2**20
_SLOWEST_IOPS = {"sequential": 1000, "random": 100}
_SHOWN = 400
_COMPLAINT = re.compile(r"error|no space|can ?not|unable|unsupported|not |interrupted", re.IGNORECASE)

_RUNS: Mapping[str, tuple[str, ...]] = {
    "write": ("write", "rewrite"),
    "read": ("read", "reread"),
    "random": ("random_read", "random_write"),
    "fwrite": ("fwrite", "frewrite"),
    "fread": ("fread", "freread"),
}
"""What each test runs, where that is not just itself."""


class Iozone:
    """The engine `iozone`, see `iogate.engines.Engine`."""

    name = "iozone"
    program = "iozone"
    package = "iozone3"

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        return normalise_options(given)

    def schema(self) -> dict[str, Any]:
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
        )

    def command(self, workload: Workload, place: Place) -> Command:
        """Return iozone in the scratch folder. Raises EngineError if it is missing, or if there is no
        folder.
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
        return Command(
            argv=(program, *_arguments(options), *(("-F", *files) if processes else ("-f", files[0]))),
            timeout=options.get("timeout") or _seconds(options) * 1.1 + _PATIENCE,
        )

    def recognises(self, text: str) -> bool:
        return _iozone_text.recognises(text)

    def blocks(self, text: str) -> Iterator[tuple[int, str]]:
        return _iozone_text.blocks(text)

    def sections(self, text: str, *, name: str) -> Sequence[Section]:
        return sections(text, name=name)

    def descriptions(self, lines: Sequence[str]) -> list[Description]:
        """Return nothing: iozone's command lines say what its outputs repeat."""
        return []

    def parse(self, text: str, *, name: str, completed: Completed | None = None) -> Output:
        _check_end(text, name, completed)
        if _iozone_text.is_throughput(text):
            report = _iozone_throughput.read(text, name=name)
            return _iozone_throughput.output(report, text, name=name, completed=completed)
        return _iozone_table.output(_iozone_table.read(text, name=name), text, name=name)


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


# ------------------------------------------------------------ what it said


def _check_end(text: str, name: str, completed: Completed | None) -> None:
    """Refuse a run that did not come to its own end."""
    if completed and completed.timed_out:
        raise OutputError(
            f"{name}: iozone hung: it was ended after {completed.seconds:.0f} s{_messages(text, completed)}",
            remedy="see whether the target is full (df) or stalled (dmesg): iozone waits for its children "
            "even if they died",
        )
    if completed and completed.status:
        how = f"died of signal {-completed.status}" if completed.status < 0 else ""
        how = how or f"ended with status {completed.status}"
        raise OutputError(f"{name}: iozone {how}{_messages(text, completed)}")
    if not _iozone_text.is_throughput(text) and not _iozone_text.is_table(text):
        why = "it is empty" if not text.strip() else "no table (-a) and no throughput (-t)"
        raise OutputError(f"{name}: has no figures of iozone: {why}{_messages(text, completed)}")
    if not _iozone_text.is_complete(text):
        raise OutputError(
            "iozone's output was cut off: it does not say `iozone test complete`",
            position=Position(name, line_of(text, len(text.rstrip()))),
        )


def _messages(text: str, completed: Completed | None) -> str:
    """Return what iozone said in words at its end, as a tail for a message."""
    errors = completed.stderr if completed else ""
    lines = [line.strip() for line in [*text.splitlines()[-6:], *errors.splitlines()] if line.strip()]
    words = [line for line in lines if _COMPLAINT.search(line)]
    shown = printable("; ".join(dict.fromkeys(words)))
    return f": {shown[:_SHOWN]}" if shown else ""


engine = Iozone()
