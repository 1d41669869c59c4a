"""Engines' own outputs as pieces of a file.

What is wrong with a figure is for `iogate.audit` to say; here is where in the file each stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from iogate import engines
from iogate.engines.sections import DescribedJob, Description, Section
from iogate.errors import OutputError
from iogate.model import Finding, Output
from iogate.offline.outputs import findings, job_of, locate_run, understood_by
from iogate.offline.published.findings import FigureFinding
from iogate.units import format_quantity, plural

_FIGURES = {
    "iops": ("iops", "IOPS"),
    "bandwidth": ("bandwidth", "B/s"),
    "lat.mean": ("latency", "ns"),
    "latency.mean": ("latency", "ns"),
}
"""The figures of a series that are shown: kind and unit."""
_KINDS: Mapping[str, frozenset[str]] = {
    "few_operations": frozenset({"percentiles"}),
    "latency_sum": frozenset({"latency"}),
    "bandwidth": frozenset({"bandwidth"}),
    "synchronous_engine": frozenset({"queue depth"}),
    "engine_remarks": frozenset({"remark"}),
}
_ALL = frozenset({"iops", "bandwidth", "latency"})
_OF_SERIES = {"latency_order": "latency", "sums": "bandwidth"}
"""Checks of one series, by whose name their messages begin, and its kind where the name says none."""
_WRONG_UNIT = re.compile(r"\d(\w*B/s) is wrong")


Jobs: TypeAlias = "Mapping[str, Sequence[DescribedJob]]"
"""What a text says of jobs of a name."""


@dataclass(frozen=True)
class Piece:
    """A part of a file that has figures: where it begins, what it is, its figures in short, the findings.

    `rows` are its lines with figures, `rows_of` how many of them have figures of each kind, where not all
    have, and `unheld` the kinds of each line that nothing is held against. `error` says why it was refused,
    and has no figures.
    """

    line: int
    what: str
    figures: str
    kinds: frozenset[str]
    findings: tuple[FigureFinding, ...]
    rows: int = 1
    error: OutputError | None = None
    rows_of: Mapping[str, int] = field(default_factory=dict)
    unheld: Mapping[int, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Machine:
    """What is known of the machine: the limit of its link in B/s, its memory in bytes (None: not known)."""

    link: float | None = None
    memory: int | None = None


def are_parts(engine: str) -> bool:
    """Return whether an engine tells its outputs from the text around them; else they are all of it."""
    return isinstance(engines.load(engine), engines.ReadsReports)


def blocks(engine: str, text: str) -> Iterator[tuple[int, str]]:
    """Yield the outputs of an engine in a text, each with the number of its first line."""
    found = engines.load(engine)
    if isinstance(found, engines.ReadsReports):
        yield from found.blocks(text)
    else:
        yield 1, text


def descriptions(lines: Sequence[str]) -> list[Description]:
    """Return what a text says of how its figures were made, as all engines read it."""
    found: list[Description] = []
    for name in engines.names():
        engine = engines.load(name)
        if isinstance(engine, engines.ReadsReports):
            found += engine.descriptions(lines)
    return found


def by_name(described: Iterable[Description]) -> Jobs:
    """Return described jobs by their names."""
    found: dict[str, list[DescribedJob]] = {}
    for job in (job for description in described for job in description.jobs):
        found.setdefault(job.name, []).append(job)
    return found


def pieces(engine: str, block: str, line: int, name: str, machine: Machine, described: Jobs) -> list[Piece]:
    """Return the pieces of a run that begins at a line of a file; one of them says what was refused, if
    any of it was.
    """
    found = engines.load(engine)
    known = understood_by(engine, block, name, line)
    sections: Sequence[Section] = ()
    wrong = known.refused
    if isinstance(found, engines.ReadsReports):
        try:
            sections = [_shift(section, line - 1) for section in found.sections(block, name=name)]
        except OutputError as error:
            wrong = locate_run(error, name, line)
        else:
            wrong = known.refused if known.parts else None  # what has no jobs says itself what it lacks
    elif known.whole:
        sections = [Section(f"output of {engine}", engine, known.whole, line)]
    else:
        sections = [
            Section(f"output of {engine}, {part.name}", part.name, part.output, part.line)
            for part in known.parts
        ]
    told = [_piece(engine, name, _with_options(section, described), machine) for section in sections]
    return [*told, *([refused(engine, wrong, line)] if wrong else [])]


def _shift(section: Section, lines: int) -> Section:
    """Return a section so many lines further down."""
    points = tuple(_shift(point, lines) for point in section.points)
    return replace(section, line=section.line + lines, points=points)


def refused(engine: str, error: OutputError, line: int) -> Piece:
    """Tell a run whose output its engine refuses, in whole or in part.

    `invalid`: it failed, was aborted or cut off, or its figures contradict each other. None of them stands.

    Look at what the message names; the sound runs beside it are told for themselves.
    """
    at = error.position.line if error.position else line
    finding = FigureFinding(at, "refused", "invalid", _ALL, error.message.replace("\n", " "))
    return Piece(at, f"output of {engine}", "refused", _ALL, (finding,), error=error)


def _with_options(section: Section, described: Jobs) -> Section:
    """Return a section with the options that the text's job files give a job of its name."""
    jobs = described.get(section.name, ())
    options = {**(jobs[0].options if len(jobs) == 1 else {}), **section.output.options}
    return replace(section, output=replace(section.output, options=options))


def _piece(engine: str, name: str, section: Section, machine: Machine) -> Piece:
    """Return a section with the findings about it; the rows of a table are judged each by itself."""
    shown, kinds = _table_figures(section.points) if section.points else _figures(section.output)
    found: list[FigureFinding] = []
    for part in section.points or (section,):
        job = job_of(engine, name, part.name, part.output)
        said = findings(job, link=machine.link, memory=machine.memory)
        found += _of_line(part.line, said, f"{part.name}: " if section.points else "")
    if section.remark:
        last = section.points[-1].line if section.points else section.line
        cells = frozenset({"cell"}) if section.points else kinds
        found.append(FigureFinding(last, "unreadable", "note", cells, section.remark))
    return Piece(section.line, section.title, shown, kinds, tuple(found), len(section.points) or 1)


def _table_figures(points: Sequence[Section]) -> tuple[str, frozenset[str]]:
    """Return how many rows of what a table has, and the kinds of figures."""
    series: dict[str, None] = {}
    kinds: dict[str, None] = {}
    for name in (name for point in points for name in point.output.metrics):
        test, _, suffix = name.partition(".")
        if suffix in _FIGURES:
            series[test] = kinds[_FIGURES[suffix][0]] = None
    return f"{plural(len(points), 'row')} of {', '.join(kinds)}: {', '.join(series)}", frozenset(kinds)


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
    return shown or plural(len(output.metrics), "figure"), frozenset(kinds)


def _of_line(line: int, found: Iterable[Finding], label: str = "") -> Iterable[FigureFinding]:
    """Return findings as those about a line of a file; of two that it says one is wrong in any case."""
    for finding in found:
        kinds = _KINDS.get(finding.check, _ALL)
        if kind := _OF_SERIES.get(finding.check):
            named = finding.message.partition(":")[0].split(".")
            kinds = frozenset({next((one for one in ("bandwidth", "iops") if one in named), kind)})
        if finding.check == "two_units":
            wrong = _WRONG_UNIT.search(finding.message)
            kinds = frozenset({f"bandwidth in {wrong[1]}" if wrong else "bandwidth"})
        severity = "invalid" if finding.check == "two_units" else finding.severity
        yield FigureFinding(line, finding.check, severity, kinds, label + finding.message)
