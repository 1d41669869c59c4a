"""Engines' own outputs (fio's JSON and text, both modes of iozone) as pieces of a file.

What is wrong with a figure is for `iogate.audit` to say; here is where in the file each stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from iogate import engines
from iogate.engines.fio import text as _fio_text
from iogate.engines.iozone import table as _iozone_table
from iogate.engines.iozone import text as _iozone_text
from iogate.engines.iozone import throughput as _iozone_throughput
from iogate.model import Finding, Output
from iogate.offline.outputs import OutputJob, findings, job_of
from iogate.offline.outputs.text import understood_by
from iogate.offline.published.doubts import Doubt
from iogate.offline.published.jobs import Description
from iogate.units import format_quantity

_FIGURES = {
    "iops": ("iops", "IOPS"),
    "bandwidth": ("bandwidth", "B/s"),
    "lat.mean": ("latency", "ns"),
    "latency.mean": ("latency", "ns"),
}
"""The figures of a series that are shown: kind and unit."""
_KINDS: Mapping[str, frozenset[str]] = {
    "few_operations": frozenset({"percentiles"}),
    "latency_order": frozenset({"latency"}),
    "latency_sum": frozenset({"latency"}),
    "bandwidth": frozenset({"bandwidth"}),
    "synchronous_engine": frozenset({"queue depth"}),
    "two_units": frozenset({"bandwidth in MiB/s"}),
    "engine_remarks": frozenset({"remark"}),
}
_ALL = frozenset({"iops", "bandwidth", "latency"})


@dataclass(frozen=True)
class Piece:
    """A part of a file that has figures: where it begins, what it is, its figures in short, the doubts."""

    line: int
    what: str
    figures: str
    kinds: frozenset[str]
    doubts: tuple[Doubt, ...]
    rows: int = 1


@dataclass(frozen=True)
class Machine:
    """What is known of the machine: the limit of its link in B/s, its memory in bytes (None: not known)."""

    link: float | None = None
    memory: int | None = None


def fio_json(text: str, name: str, machine: Machine) -> list[Piece]:
    """Return the pieces of a fio JSON output: all jobs together, or each by itself if they did not run
    together.

    Raises OutputError.
    """
    found = understood_by("fio", text, name)
    outputs = {part.name: part.output for part in found.parts}
    if found.whole is not None:
        outputs = {found.parts[0].name if len(found.parts) == 1 else "all jobs": found.whole}
    return [
        _piece(job_of("fio", name, label, output), 1, f"fio JSON, {label}", machine)
        for label, output in outputs.items()
    ]


def fio_text(
    text: str, line: int, name: str, machine: Machine, described: Sequence[Description]
) -> list[Piece]:
    """Return the pieces of a fio text output: each job or group. Raises OutputError."""
    pieces = []
    for part in _fio_text.parse("\n" * (line - 1) + text, name=name):
        jobs = f"{part.output.jobs} jobs" if part.output.jobs != 1 else "1 job"
        options = {**_options_of(part.name, described), **part.output.options}
        job = job_of("fio", name, part.name, replace(part.output, options=options))
        pieces.append(_piece(job, part.line, f"fio text, {part.name} ({jobs})", machine))
    return pieces


def others(text: str, name: str, machine: Machine) -> list[Piece]:
    """Return the outputs of engines that stand alone in their files. Raises OutputError."""
    pieces = []
    for engine in engines.recognise(text):
        output = None if engine in ("fio", "iozone") else understood_by(engine, text, name).whole
        if output is not None:
            pieces.append(_piece(job_of(engine, name, engine, output), 1, f"output of {engine}", machine))
    return pieces


def _options_of(name: str, described: Sequence[Description]) -> Mapping[str, str]:
    """Return the options that the text's job files give a job of that name."""
    jobs = [job for description in described for job in description.jobs if job.name == name]
    return jobs[0].options if len(jobs) == 1 else {}


def iozone(text: str, line: int, name: str, machine: Machine) -> list[Piece]:
    """Return the pieces of an iozone output: each test of the throughput mode, or the table of the automatic
    mode.

    Raises OutputError.
    """
    lines = "\n" * (line - 1) + text
    if _iozone_text.is_throughput(text):
        return _tests(_iozone_throughput.read(lines, name=name), text, name, machine)
    return [_table(_iozone_table.read(lines, name=name), line, text, name, machine)]


def _tests(report: _iozone_throughput.IozoneReport, text: str, name: str, machine: Machine) -> list[Piece]:
    size = f" of {format_quantity(report.file_size, 'B')}" if report.file_size else ""
    pieces = []
    for test in report.tests:
        output = _iozone_throughput.output(replace(report, tests=(test,)), text, name=name)
        what = f"{report.version}, {test.processes} {test.name}{size}"
        piece = _piece(job_of("iozone", name, test.name, output), test.line, what, machine)
        if not test.whole:
            message = "some of its figures are missing in the text"
            missing = Doubt(test.line, "unreadable", "note", piece.kinds, message)
            piece = replace(piece, doubts=(*piece.doubts, missing))
        pieces.append(piece)
    return pieces


def _table(table: _iozone_table.IozoneTable, line: int, text: str, name: str, machine: Machine) -> Piece:
    """Return a table, each row of which is judged by itself."""
    doubts: list[Doubt] = []
    for row in table.rows:
        output = _iozone_table.output(replace(table, rows=(row,)), text, name=name)
        label = _iozone_table.point(row.file_size, row.record)
        said = findings(job_of("iozone", name, label, output), link=machine.link, memory=machine.memory)
        doubts += _doubts(row.line, said, f"{label}: ")
    if not table.complete:
        message = "it does not say `iozone test complete`: rows may be missing"
        doubts.append(Doubt(table.rows[-1].line, "unreadable", "note", frozenset({"cell"}), message))
    kind = _FIGURES[_iozone_text.FIGURES[table.unit]][0]
    tests = list(dict.fromkeys(test for row in table.rows for test in row.figures))
    count = f"{len(table.rows)} rows" if len(table.rows) > 1 else "1 row"
    figures = f"{count} of {kind}: {', '.join(tests)}"
    what = f"{table.version}, table of file and record sizes"
    return Piece(line, what, figures, frozenset({kind}), tuple(doubts), len(table.rows))


def _piece(job: OutputJob, line: int, what: str, machine: Machine) -> Piece:
    found = findings(job, link=machine.link, memory=machine.memory)
    shown, kinds = _figures(job.output)
    return Piece(line, what.lstrip(", "), shown, kinds, tuple(_doubts(line, found)))


def _figures(output: Output) -> tuple[str, frozenset[str]]:
    """Return the figures of each series in short, and their kinds."""
    series: dict[str, list[str]] = {}
    kinds = set()
    for suffix, (kind, unit) in _FIGURES.items():
        for name, value in output.metrics.items():
            if name.endswith(f".{suffix}") and "." not in name[: -len(suffix) - 1]:
                series.setdefault(name[: -len(suffix) - 1], []).append(format_quantity(value, unit))
                kinds.add(kind)
    shown = "; ".join(f"{name} {', '.join(values)}" for name, values in series.items())
    return shown or f"{len(output.metrics)} figures", frozenset(kinds)


def _doubts(line: int, found: Iterable[Finding], label: str = "") -> Iterable[Doubt]:
    """Return findings as doubts about a line; where it says two things, what is printed is wrong in any
    case.
    """
    for finding in found:
        kinds = _KINDS.get(finding.check, _ALL)
        severity = "invalid" if finding.check == "two_units" else finding.severity
        yield Doubt(line, finding.check, severity, kinds, label + finding.message)
