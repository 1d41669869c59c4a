"""iozone, the file system benchmark: https://www.iozone.org.

With `processes` its throughput mode (`-t`), each process on a file of its own; without, its automatic mode
(`-a`), a table of file size x record size. It makes its files itself, in the target's scratch folder.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from iogate.engines import _iozone_table, _iozone_text
from iogate.engines._iozone_options import TESTS, Options, normalised
from iogate.errors import EngineError, InputError, OutputError
from iogate.model import Command, Needs, Output, Place, Traffic, Workload
from iogate.process import Completed, find_program
from iogate.units import parse_size, printable, size_text

_PATIENCE = 60.0
_PAUSE = 4.0  # s: in throughput mode iozone sleeps before and between its tests
_SLOWEST_BANDWIDTH = 10 * 2**20
_SLOWEST_IOPS = {"sequential": 1000, "random": 100}
_SHOWN = 400
_COMPLAINT = re.compile(r"error|no space|can ?not|unable|unsupported|not |interrupted", re.IGNORECASE)

_FIGURES = {"kB/sec": "bandwidth", "ops/sec": "iops", "us/op": "latency.mean"}
_NAMES = {
    "initial writers": "write",
    "rewriters": "rewrite",
    "readers": "read",
    "re-readers": "reread",
    "random readers": "random_read",
    "random writers": "random_write",
    "reverse readers": "backward_read",
    "stride readers": "stride_read",
    "mixed workload": "mixed",
    "pwrite writers": "pwrite",
    "pread readers": "pread",
    "fwriters": "fwrite",
    "freaders": "fread",
}
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
        return normalised(given)

    def schema(self) -> dict[str, Any]:
        return Options.model_json_schema()

    def check(self, workloads: Sequence[Workload]) -> list[InputError]:
        """iozone has no way to ask it without I/O: what is known of it is in the options."""
        return []

    def gating(self, workload: Workload) -> tuple[str, ...]:
        """Each test but the retests: all children together, or the largest file and record of a table."""
        options = workload.options
        figure = {"bandwidth": "bandwidth", "iops": "iops", "latency": "latency.mean"}[options["report"]]
        tests = [run for test in options["tests"] for run in _RUNS.get(test, (test,)) if _first_run(run)]
        points = list(_points(options))
        suffix = f".{_point(*points[-1])}" if len(points) > 1 else ""
        return tuple(f"{test}.{figure}{suffix}" for test in tests)

    def needs(self, workload: Workload) -> Needs:
        options = workload.options
        tests = {run for test in options["tests"] for run in _RUNS.get(test, (test,))}
        return Needs(
            reads=any(_direction(test) == "read" for test in tests),
            writes=True,
            direct=options["direct"],
            block=min(record for _, record in _points(options)),
            seconds=_seconds(options),
            written=_written(options),
            space=parse_size(options["size"]) * options.get("processes", 1),
        )

    def command(self, workload: Workload, place: Place) -> Command:
        """iozone in the scratch folder. Raises EngineError if it is missing, or if there is no folder."""
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

    def parse(self, text: str, *, name: str, completed: Completed | None = None) -> Output:
        _check_end(text, name, completed)
        if _iozone_text.is_text(text):
            return _throughput(_iozone_text.parse(text, name=name), text, name, completed)
        return _automatic(_iozone_table.parse(text, name=name), text, name)


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
    """File and record sizes in bytes that are run, in iozone's order: each doubles up to the largest."""
    size, record = parse_size(options["size"]), parse_size(options["record_size"])
    file_size = parse_size(options.get("minimum_size", size))
    while file_size <= size:
        one = parse_size(options.get("minimum_record_size", record))
        while one <= min(record, file_size):
            yield file_size, one
            one *= 2
        file_size *= 2


def _passes(options: Mapping[str, Any]) -> Iterator[tuple[str, int, int]]:
    """Each run of a test: its name, the bytes that it moves (all processes), and its record."""
    for size, record in _points(options):
        for test in options["tests"]:
            for run in _RUNS.get(test, (test,)):
                if options["retest"] or _first_run(run):
                    yield run, size * options.get("processes", 1), record


def _first_run(run: str) -> bool:
    return run not in ("rewrite", "reread", "frewrite", "freread")


def _seconds(options: Mapping[str, Any]) -> float:
    """The longest that a run should take, estimated from a slow device: 10 MiB/s, 100 random or 1000
    sequential IOPS.
    """
    total = 0.0 if options.get("processes") is None else _PAUSE * (1 + len(list(_passes(options))))
    for run, size, record in _passes(options):
        kind = "random" if run in ("random_read", "random_write", "mixed", "stride_read") else "sequential"
        total += max(size / _SLOWEST_BANDWIDTH, size / record / _SLOWEST_IOPS[kind])
    return math.ceil(total)


def _written(options: Mapping[str, Any]) -> int:
    return sum(size for run, size, _ in _passes(options) if _direction(run) != "read")


def _direction(test: str) -> str:
    """`read` or `write`; empty for a mix."""
    return "read" if "read" in test else "write" if "write" in test else ""


# ------------------------------------------------------------ what it said


def _check_end(text: str, name: str, completed: Completed | None) -> None:
    """Refuse a run that did not come to its own end."""
    if completed and completed.timed_out:
        raise OutputError(
            f"{name}: iozone hung: it was ended after {completed.seconds:.0f} s{_said(text, completed)}",
            remedy="see whether the target is full (df) or stalled (dmesg): iozone waits for its children "
            "even if they died",
        )
    if completed and completed.status:
        how = f"died of signal {-completed.status}" if completed.status < 0 else ""
        how = how or f"ended with status {completed.status}"
        raise OutputError(f"{name}: iozone {how}{_said(text, completed)}")
    if not _iozone_text.is_text(text) and not _iozone_table.is_table(text):
        why = "it is empty" if not text.strip() else "no table (-a) and no throughput (-t)"
        raise OutputError(f"{name}: has no figures of iozone: {why}{_said(text, completed)}")
    if not _iozone_text.is_complete(text):
        raise OutputError(f"{name}: iozone's output was cut off: it does not say `iozone test complete`")


def _said(text: str, completed: Completed | None) -> str:
    """What iozone said in words at its end, as a tail for a message."""
    errors = completed.stderr if completed else ""
    lines = [line.strip() for line in [*text.splitlines()[-6:], *errors.splitlines()] if line.strip()]
    words = [line for line in lines if _COMPLAINT.search(line)]
    shown = printable("; ".join(dict.fromkeys(words)))
    return f": {shown[:_SHOWN]}" if shown else ""


def _throughput(report: _iozone_text.Report, text: str, name: str, completed: Completed | None) -> Output:
    figure = _FIGURES[report.unit]
    metrics: dict[str, float] = {}
    for test in report.tests:
        if completed and not test.whole:
            raise OutputError(f"{name}:{test.line}: {test.name}: some of iozone's figures are missing")
        series = f"{_test_name(test.name)}.{figure}"
        if series in metrics:
            raise OutputError(f"{name}:{test.line}: {test.name} is there twice")
        values = {
            "": test.children,
            ".parent": test.parent,
            ".min": test.minimum,
            ".max": test.maximum,
            ".mean": test.average,
        }
        metrics.update({f"{series}{part}": value for part, value in values.items() if value is not None})
        whole = _whole_file(report)
        if test.least is not None and whole:
            metrics[f"{_test_name(test.name)}.completed.min"] = test.least / whole
    options: dict[str, Any] = {"report": figure.partition(".")[0]}
    if report.file_size and report.record:
        options.update(size=size_text(report.file_size), record_size=size_text(report.record))
    options["processes"] = max(test.processes for test in report.tests)
    return Output(
        metrics=metrics,
        traffic=_traffic(_throughput_runs(report)),
        engine_version=f"iozone-{report.version}" if report.version else "",
        jobs=options["processes"],
        options={**options, **_stated(text)},
        text=_remarks(text),
    )


def _test_name(label: str) -> str:
    return _NAMES.get(label) or re.sub(r"[^a-z]+", "_", label).strip("_")


def _whole_file(report: _iozone_text.Report) -> int | None:
    """What a process moves if it comes to its end, in the unit of `Min xfer`."""
    if report.unit == "kB/sec" or not report.file_size:
        return report.file_size
    return report.file_size // report.record if report.record else None


_Runs = Iterator[tuple[str, float, int, float]]
"""Runs of a test: its name, bytes, operations and seconds."""


def _throughput_runs(report: _iozone_text.Report) -> _Runs:
    """Writers go on after the first is done, so that the readers find whole files; readers stop then."""
    if not report.file_size or not report.record:
        return
    unit = report.record if report.unit == "ops/sec" else 1
    for test in report.tests:
        run = _test_name(test.name)
        moved = sum(share for share, _ in test.shares) or (test.least or 0) * test.processes
        size = moved * unit
        if run in ("write", "rewrite", "fwrite", "pwrite"):
            size = report.file_size * test.processes
        times = [share / rate for share, rate in test.shares if rate]
        seconds = max(times, default=moved / test.children if test.children else 0.0)
        yield run, size, round(size / report.record), seconds


def _automatic(table: _iozone_table.Table, text: str, name: str) -> Output:
    figure = _FIGURES[table.unit]
    single = len(table.rows) == 1
    metrics: dict[str, float] = {}
    for row in table.rows:
        suffix = "" if single else f".{_point(row.file_size, row.record)}"
        scale = 1000.0 if table.unit == "us/op" else 1.0
        metrics.update({f"{test}.{figure}{suffix}": value * scale for test, value in row.figures.items()})
    if not metrics:
        raise OutputError(f"{name}: iozone's table has no figures")
    sizes, records = ([getattr(row, key) for row in table.rows] for key in ("file_size", "record"))
    return Output(
        metrics=metrics,
        traffic=_traffic(_table_runs(table)),
        engine_version=f"iozone-{table.version}" if table.version else "",
        options={
            "report": figure.partition(".")[0],
            "size": size_text(max(sizes)),
            "minimum_size": size_text(min(sizes)),
            "record_size": size_text(max(records)),
            "minimum_record_size": size_text(min(records)),
            **_stated(text),
        },
        text=_remarks(text),
    )


def _point(file_size: int, record: int) -> str:
    """How metrics of a table with several rows name a row: `512k/64k`."""
    return f"{size_text(file_size)}/{size_text(record)}"


def _table_runs(table: _iozone_table.Table) -> _Runs:
    for row in table.rows:
        operations = row.file_size // row.record
        for test, value in row.figures.items():
            rate = 1e6 / value if table.unit == "us/op" else value
            moved = row.file_size if table.unit == "kB/sec" else operations
            yield test, row.file_size, operations, moved / rate


def _traffic(runs: _Runs) -> dict[str, Traffic]:
    """What all tests claim together, by direction; of a mix nobody knows."""
    found: dict[str, Traffic] = {}
    for test, size, operations, seconds in runs:
        direction = _direction(test)
        if direction and operations:
            known = found.get(direction, Traffic(0, 0, 0.0))
            found[direction] = Traffic(
                known.bytes + round(size), known.operations + operations, known.seconds + seconds
            )
    return found


def _stated(text: str) -> dict[str, bool]:
    """The switches that the preamble names."""
    return {
        "direct": "O_DIRECT feature enabled" in text,
        "flush": "Include fsync in write timing" in text,
        "retest": "No retest option selected" not in text,
    }


def _remarks(text: str) -> str:
    """What iozone says against its own figures."""
    match = re.search(r"Timer resolution is poor\.[^\n]*(?:\n[^\n]+)?", text)
    return printable(" ".join(match[0].split())) if match else ""


engine = Iozone()
