"""iozone's text output in throughput mode (`-t N`), as figures.

Children add up the speeds of processes that did not run at the same time; Parent divides all data by all of
the time. Documentation: IOzone_msword_98.pdf, section "Throughput".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby
from typing import Any

from iogate.engines.iozone import text as _iozone_text
from iogate.engines.iozone.text import FIGURES, KIB, THROUGHPUT, TestRun, Unit, is_complete, line_of
from iogate.errors import OutputError, Position
from iogate.host.process import Completed
from iogate.model import Output
from iogate.units import printable, size_text

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

_NUMBER = r"(\d+(?:\.\d+)?)"
_WORDS = r"[A-Za-z-]+(?: +[A-Za-z-]+)*"
_RATE = rf"{_NUMBER}\s*(?:kB|ops)/sec"
_EQUALS = r"\s*(?:=\s*)?"
_CHILDREN = re.compile(
    rf"{THROUGHPUT}\s+(?P<processes>\d+)\s+(?P<name>{_WORDS})\s*=\s*"
    r"(?P<rate>\d+(?:\.\d+)?)\s*(?P<unit>kB|ops)/sec",
    re.IGNORECASE,
)
_PARENT = re.compile(rf"Parent sees throughput for\s+\d+\s+{_WORDS}\s*=\s*{_RATE}", re.IGNORECASE)
_MINIMUM = re.compile(rf"Min throughput per (?:process|thread){_EQUALS}{_RATE}", re.IGNORECASE)
_MAXIMUM = re.compile(rf"Max throughput per (?:process|thread){_EQUALS}{_RATE}", re.IGNORECASE)
_AVERAGE = re.compile(rf"Avg throughput per (?:process|thread){_EQUALS}{_RATE}", re.IGNORECASE)
_TRANSFER = re.compile(rf"Min xfer{_EQUALS}{_NUMBER}\s*(?:kB|ops)\b", re.IGNORECASE)
_CHILD = re.compile(
    rf"Child\[\d+\] xfer count\s*=\s*{_NUMBER}\s*(?:kB|ops), Throughput\s*=\s*{_RATE}", re.IGNORECASE
)
_ANY_RATE = re.compile(r"(?:=|per process|per thread)\s*[\d.]+\s*([A-Za-z]+/sec)")
_FILE = re.compile(r"File size set to (\d+)\s*kB", re.IGNORECASE)
_RECORD = re.compile(r"Record Size (\d+)\s*kB|file in (\d+) kByte records", re.IGNORECASE)
_PROCESSES = re.compile(r"Throughput test with (\d+) (?:process|thread)")


@dataclass(frozen=True)
class Test:
    """One of iozone's tests, such as `initial writers`, at `line` (from 1): rates in B/s, or in operations/s
    where the report's unit is that.

    `least` is what the slowest process had moved when the first was done, in bytes or operations; `shares`
    are what each had moved by then, with its rate (empty without `-C`). None: not in the text.
    """

    name: str
    line: int
    processes: int
    children: float
    parent: float | None
    minimum: float | None
    maximum: float | None
    average: float | None
    least: int | None
    shares: tuple[tuple[int, float], ...] = ()

    @property
    def series(self) -> str:
        """What metrics call it."""
        return _NAMES.get(self.name) or re.sub(r"[^a-z]+", "_", self.name).strip("_")

    @property
    def whole(self) -> bool:
        """Whether the text has all of its figures."""
        figures = (self.parent, self.minimum, self.maximum, self.average, self.least)
        return all(figure is not None for figure in figures) and len(self.shares) in (0, self.processes)


@dataclass(frozen=True)
class IozoneReport:
    """An iozone run: sizes in bytes (None: not in the text), whether iozone said that it was complete, the
    switches that it states, and what it says against its own figures.
    """

    version: str
    file_size: int | None
    record: int | None
    processes: int | None
    tests: tuple[Test, ...]
    complete: bool
    unit: Unit = "kB/sec"
    switches: Mapping[str, bool] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def rounds(self) -> list[IozoneReport]:
        """The run apart by numbers of processes: with `-l 1 -u 4` all tests are there for each."""
        return [
            replace(self, tests=tuple(tests))
            for _, tests in groupby(self.tests, key=lambda test: test.processes)
        ]


@lru_cache(maxsize=1)  # jobs, figures and sections are asked for one after another
def read(text: str, *, name: str) -> IozoneReport:
    """Return the figures of iozone's throughput mode, also from a text whose layout was damaged.

    What is not there is None; whoever runs iozone should insist on `complete` and on `Test.whole`. Raises
    OutputError if there are no figures, or if their unit is not that of the preamble.
    """
    if too_long := re.search(r"\d{19}", text):
        message = "has a number too long to be a figure of iozone"
        raise OutputError(message, position=Position(name, line_of(text, too_long.start())))
    starts = list(_CHILDREN.finditer(text))
    if not starts:
        raise OutputError(f"{name}: has no figures of iozone's throughput mode (iozone -t N)")
    announced = text.count(THROUGHPUT)
    if announced != len(starts):
        last = Position(name, line_of(text, text.rfind(THROUGHPUT)))
        raise OutputError(
            f"iozone's output was cut off: {announced} tests begin, {len(starts)} have a figure",
            position=last,
        )
    unit = _unit(text, starts[0], name)
    _check_unit(text, unit, name)
    return IozoneReport(
        version=_iozone_text.version_of(text),
        file_size=_kib(_first(_FILE, text)),
        record=_kib(_first(_RECORD, text)),
        processes=_whole(_first(_PROCESSES, text)),
        tests=tuple(_tests(text, starts, KIB if unit == "kB/sec" else 1)),
        complete=is_complete(text),
        unit=unit,
        switches=_iozone_text.switches(text),
        remarks=_iozone_text.remarks(text),
    )


def _unit(text: str, first: re.Match[str], name: str) -> Unit:
    """Return the unit of the figures, which stands beside each; the preamble must not say another."""
    printed: Unit = "ops/sec" if first["unit"].lower() == "ops" else "kB/sec"
    preamble = text[: first.start()]
    return _iozone_text.unit_of(preamble, name) if _iozone_text.states_unit(preamble) else printed


def _check_unit(text: str, unit: Unit, name: str) -> None:
    for match in _ANY_RATE.finditer(text):
        if match[1].lower() != unit.lower():
            raise OutputError(
                f"a figure in {printable(match[1][:20])}, where the preamble or another one says {unit}",
                position=Position(name, line_of(text, match.start())),
            )


def _tests(text: str, starts: Sequence[re.Match[str]], scale: int) -> Iterator[Test]:
    line, counted = 1, 0
    ends = [match.start() for match in starts[1:]] + [len(text)]
    for children, end in zip(starts, ends, strict=True):
        line += text.count("\n", counted, children.start())
        counted = children.start()
        yield _test(children, line, text[counted:end], scale)


def _test(children: re.Match[str], line: int, section: str, scale: int) -> Test:
    parent, minimum, maximum, average = (
        _scale(_first(pattern, section), scale) for pattern in (_PARENT, _MINIMUM, _MAXIMUM, _AVERAGE)
    )
    least = _scale(_first(_TRANSFER, section), scale)
    shares = [(float(moved) * scale, float(rate) * scale) for moved, rate in _CHILD.findall(section)]
    if shares:  # iozone's own minima leave out a process that had done nothing when the first was done
        least, minimum = min(moved for moved, _ in shares), min(rate for _, rate in shares)
    return Test(
        name=" ".join(children["name"].split()).lower(),
        line=line,
        processes=int(children["processes"]),
        children=float(children["rate"]) * scale,
        parent=parent,
        minimum=minimum,
        maximum=maximum,
        average=average,
        least=None if least is None else round(least),
        shares=tuple((round(moved), rate) for moved, rate in shares),
    )


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    match = pattern.search(text)
    return match[match.lastindex or 0] if match else None


def _whole(text: str | None) -> int | None:
    return int(text) if text else None


def _scale(text: str | None, scale: int) -> float | None:
    return float(text) * scale if text else None


def _kib(text: str | None) -> int | None:
    return round(float(text) * KIB) if text else None


def output(report: IozoneReport, *, name: str, completed: Completed | None = None) -> Output:
    """Return the metrics of a report: of each test all children together, the parent's, and those of one
    process.

    Raises OutputError for tests that come twice, and where a figure of a run that `completed` is missing.
    """
    figure = FIGURES[report.unit]
    metrics: dict[str, float] = {}
    for test in report.tests:
        if completed and not test.whole:
            message = f"{test.name}: some of iozone's figures are missing"
            raise OutputError(message, position=Position(name, test.line))
        series = f"{test.series}.{figure}"
        if series in metrics:
            raise OutputError(f"{test.name} is there twice", position=Position(name, test.line))
        values = {
            "": test.children,
            ".parent": test.parent,
            ".min": test.minimum,
            ".max": test.maximum,
            ".mean": test.children / max(test.processes, 1) if test.average is None else test.average,
        }
        metrics.update({f"{series}{part}": value for part, value in values.items() if value is not None})
        whole = _whole_file(report)
        if test.least is not None and whole:
            metrics[f"{test.series}.completed.min"] = test.least / whole
    options: dict[str, Any] = {"report": figure.partition(".")[0]}
    if report.file_size and report.record:
        options.update(size=size_text(report.file_size), record_size=size_text(report.record))
    processes = options["processes"] = max(test.processes for test in report.tests)
    return Output(
        metrics=metrics,
        traffic=_iozone_text.traffic(_runs(report)),
        engine_version=report.version,
        jobs=processes,
        options={**options, **report.switches},
        remarks=report.remarks,
        space=(report.file_size or 0) * processes,
    )


def _whole_file(report: IozoneReport) -> int | None:
    """Return what a process moves if it comes to its end, in the unit of `Min xfer`."""
    if report.unit == "kB/sec" or not report.file_size:
        return report.file_size
    return report.file_size // report.record if report.record else None


def _runs(report: IozoneReport) -> Iterator[TestRun]:
    """Yield what each test moved, and in which time.

    Initial writers go on after the first is done, so that the readers find whole files, and so do `fwrite`
    and `pwrite`; rewriters and readers stop then.
    """
    if not report.file_size or not report.record:
        return
    unit = report.record if report.unit == "ops/sec" else 1
    for test in report.tests:
        moved = sum(share for share, _ in test.shares) or (test.least or 0) * test.processes
        size, whole = moved * unit, report.file_size * test.processes
        if test.series in ("write", "fwrite", "pwrite"):
            size = whole
        times = [share / rate for share, rate in test.shares if rate]
        together = (size or whole) / unit / test.children if test.children else 0.0
        seconds = max(times, default=together)
        yield test.series, size, round(size / report.record), seconds
