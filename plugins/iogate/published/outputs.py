"""Checks of engines' own outputs that exist already: fio's JSON and text, iozone's text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from iogate import engines
from iogate.audit import Run, examine
from iogate.engines import _fio_text, _iozone_text
from iogate.errors import OutputError
from iogate.model import Finding, Needs, Output
from iogate.published.doubts import Doubt, Doubts
from iogate.published.jobs import Description
from iogate.units import format_quantity

_KINDS: Mapping[str, frozenset[str]] = {
    "few_operations": frozenset({"percentiles"}),
    "latency_order": frozenset({"latency"}),
    "latency_sum": frozenset({"latency"}),
    "bandwidth": frozenset({"bandwidth"}),
    "synchronous_engine": frozenset({"queue depth"}),
}
_ALL = frozenset({"iops", "bandwidth", "latency"})
_FLAGS = {"1": True, "true": True, "": True, "0": False}


@dataclass(frozen=True)
class Piece:
    """A part of a file that has figures: where it begins, what it is, its figures in short, the doubts."""

    line: int
    what: str
    figures: str
    kinds: frozenset[str]
    doubts: tuple[Doubt, ...]
    rows: int = 1


def fio_json(text: str, line: int, name: str, link: float | None) -> list[Piece]:
    """The pieces of a fio JSON output: all jobs together, or each by itself if they did not run together.

    Raises OutputError.
    """
    engine: Any = engines.load("fio")
    apart: Mapping[str, Output] = {}
    try:
        found = {"all jobs": engine.parse(text, name=name)}
        apart = engine.parts(text, name=name)
    except OutputError:
        found = engine.parts(text, name=name)
        if len(found) < 2:
            raise
    if len(apart) == 1:
        found = dict(apart) | dict.fromkeys(apart, found["all jobs"])
    depths = {str(output.options.get("iodepth")) for output in apart.values()}
    pieces = []
    for label, output in found.items():
        if len(depths) > 1:  # of several depths none is that of all jobs together
            output = replace(output, options={**output.options, "iodepth": None})
        pieces.append(_piece(output, line, f"fio JSON, {label}", link))
    return pieces


def fio_text(
    text: str, line: int, name: str, link: float | None, described: Sequence[Description]
) -> list[Piece]:
    """The pieces of a fio text output: each job or group. Raises OutputError."""
    pieces = []
    for job in _fio_text.parse("\n" * (line - 1) + text, name=name):
        options: dict[str, Any] = dict(_options_of(job.name, described))
        output = replace(job.output, options={**options, **job.output.options})
        piece = _piece(output, job.line, f"fio text, {job.name} ({_jobs(output)})", link)
        pieces.append(replace(piece, doubts=(*piece.doubts, *_text_doubts(job))))
    return pieces


def _jobs(output: Output) -> str:
    return f"{output.jobs} jobs" if output.jobs != 1 else "1 job"


def _options_of(name: str, described: Sequence[Description]) -> Mapping[str, str]:
    """The options that the text's job files give a job of that name."""
    jobs = [job for description in described for job in description.jobs if job.name == name]
    return jobs[0].options if len(jobs) == 1 else {}


def _text_doubts(job: _fio_text.TextJob) -> Doubts:
    for contradiction in job.contradictions:
        yield Doubt(job.line, "two_units", "invalid", frozenset({"bandwidth in MiB/s"}), contradiction)
    if job.shares is not None and abs(job.shares - 1) > 0.005:
        yield Doubt(
            job.line,
            "sums",
            "note",
            frozenset({"latency distribution"}),
            f"the latency distribution adds up to {job.shares:.1%}: I/Os of the ramp are in it, and in the "
            "bandwidth, but not in the IOPS",
        )


def _piece(output: Output, line: int, what: str, link: float | None) -> Piece:
    options = dict(output.options)
    run = Run(
        output=output,
        options=options,
        needs=Needs(
            reads="read" in output.traffic,
            writes="write" in output.traffic,
            direct=_direct(options),
        ),
        link=link,
        declared=False,
    )
    figures = []
    for direction in run.traffic:
        rate, bandwidth, latency = (
            run.metric(direction, "iops"),
            run.metric(direction, "bandwidth"),
            run.latency(direction),
        )
        parts = [
            format_quantity(value, unit)
            for value, unit in ((rate, "IOPS"), (bandwidth, "B/s"), (latency, "ns"))
            if value is not None
        ]
        figures.append(f"{direction} {', '.join(parts)}")
    doubts = tuple(_doubt(line, finding) for finding in examine(run))
    return Piece(line, what, "; ".join(figures), _ALL, doubts)


def _direct(options: Mapping[str, Any]) -> bool:
    """Whether a run was direct, which fio's text does not tell. fio's JSON has what was asked for: there a
    job without `direct` was buffered.
    """
    if "direct" in options:
        return _FLAGS.get(str(options["direct"]).lower(), False)
    return "filename" not in options and "directory" not in options


def _doubt(line: int, finding: Finding) -> Doubt:
    kinds = _KINDS.get(finding.check, _ALL)
    return Doubt(line, finding.check, finding.severity, kinds, finding.message)


def iozone(text: str, line: int, name: str, link: float | None) -> list[Piece]:
    """The pieces of an iozone output: each of its tests. Raises OutputError."""
    report = _iozone_text.parse("\n" * (line - 1) + text, name=name)
    size = f" of {format_quantity(report.file_size, 'B')}" if report.file_size else ""
    kind, unit = ("iops", "IOPS") if report.unit == "ops/sec" else ("bandwidth", "B/s")
    return [
        Piece(
            line=test.line,
            what=f"iozone {report.version}, {test.processes} {test.name}{size}",
            figures=format_quantity(test.children, unit),
            kinds=frozenset({kind}),
            doubts=tuple(_iozone_doubts(test, report, link)),
        )
        for test in report.tests
    ]


def _iozone_doubts(test: _iozone_text.Test, report: _iozone_text.Report, link: float | None) -> Doubts:
    kinds = frozenset({"bandwidth"})

    def doubt(rule: str, severity: Any, message: str) -> Doubt:
        return Doubt(test.line, rule, severity, kinds, message)

    children = format_quantity(test.children, "B/s")
    if test.average is not None and abs(test.average * test.processes / test.children - 1) > 0.01:
        average = format_quantity(test.average, "B/s")
        yield doubt("sums", "invalid", f"{test.processes} x {average} is not the {children} of all together")
    low, middle, high = test.minimum, test.average, test.maximum
    if low is not None and middle is not None and high is not None and not low <= middle <= high:
        yield doubt("order", "invalid", "min, avg and max are out of order")
    if test.parent is not None and test.children > 0 and test.parent < 0.9 * test.children:
        yield doubt(
            "not_together",
            "invalid" if test.parent < 0.5 * test.children else "suspect",
            f"the parent saw {format_quantity(test.parent, 'B/s')}, the children add up to {children}: they "
            "did not run at the same time",
        )
    if test.least is not None and report.file_size and test.least < 0.9 * report.file_size:
        share = test.least / report.file_size
        yield doubt("not_together", "suspect", f"the slowest had done {share:.0%} when the first was done")
    if not test.whole:
        yield doubt("unreadable", "note", "some of its figures are missing in the text")
    if link and test.children > link * 1.01:
        yield doubt("link_limit", "invalid", f"{children} is faster than the link ({link / 1e9:.3g} GB/s)")
