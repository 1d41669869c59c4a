"""Engines' own outputs as pieces of a file.

What is wrong with a figure is for `iogate.audit` to say; here is where in the file each stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from iogate import engines
from iogate.engines.sections import Description, Section
from iogate.model import Finding, Output
from iogate.offline.outputs import findings, job_of
from iogate.offline.outputs.text import understood_by
from iogate.offline.published.findings import FigureFinding
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
    """A part of a file that has figures: where it begins, what it is, its figures in short, the findings."""

    line: int
    what: str
    figures: str
    kinds: frozenset[str]
    findings: tuple[FigureFinding, ...]
    rows: int = 1


@dataclass(frozen=True)
class Machine:
    """What is known of the machine: the limit of its link in B/s, its memory in bytes (None: not known)."""

    link: float | None = None
    memory: int | None = None


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


def pieces(
    engine: str, block: str, line: int, name: str, machine: Machine, described: Sequence[Description]
) -> list[Piece]:
    """Return the pieces of an output that begins at a line of a file. Raises OutputError."""
    found = engines.load(engine)
    if not isinstance(found, engines.ReadsReports):
        output = understood_by(engine, block, name).whole
        whole = [Section(f"output of {engine}", engine, output)] if output else []
        return [_piece(engine, name, section, machine) for section in whole]
    sections = found.sections("\n" * (line - 1) + block, name=name)
    return [_piece(engine, name, _with_options(section, described), machine) for section in sections]


def _with_options(section: Section, described: Sequence[Description]) -> Section:
    """Return a section with the options that the text's job files give a job of its name."""
    jobs = [job for description in described for job in description.jobs if job.name == section.name]
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
    count = f"{len(points)} rows" if len(points) > 1 else "1 row"
    return f"{count} of {', '.join(kinds)}: {', '.join(series)}", frozenset(kinds)


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


def _of_line(line: int, found: Iterable[Finding], label: str = "") -> Iterable[FigureFinding]:
    """Return findings as those about a line of a file; of two that it says one is wrong in any case."""
    for finding in found:
        kinds = _KINDS.get(finding.check, _ALL)
        severity = "invalid" if finding.check == "two_units" else finding.severity
        yield FigureFinding(line, finding.check, severity, kinds, label + finding.message)
