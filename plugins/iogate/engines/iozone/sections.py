"""iozone's outputs as sections of a report: the tests of the throughput mode, the automatic mode's table."""

from __future__ import annotations

from dataclasses import replace

from iogate.engines.iozone import table, text, throughput
from iogate.engines.sections import Section
from iogate.units import format_quantity


def sections(output: str, *, name: str) -> list[Section]:
    """Return the sections of an output; lines count from its first. Raises OutputError."""
    if text.is_throughput(output):
        return _tests(output, name)
    return [_table(output, name)]


def _tests(output: str, name: str) -> list[Section]:
    report = throughput.read(output, name=name)
    size = f" of {format_quantity(report.file_size, 'B')}" if report.file_size else ""
    return [
        Section(
            title=f"{report.version}, {test.processes} {test.name}{size}".lstrip(", "),
            name=test.name,
            output=throughput.output(replace(report, tests=(test,)), output, name=name),
            line=test.line,
            remark="" if test.whole else "some of its figures are missing in the text",
        )
        for test in report.tests
    ]


def _table(output: str, name: str) -> Section:
    """Return the table, of which each row is a point."""
    found = table.read(output, name=name)
    points = tuple(
        Section(
            title="",
            name=table.point(row.file_size, row.record),
            output=table.output(replace(found, rows=(row,)), output, name=name),
            line=row.line,
        )
        for row in found.rows
    )
    return Section(
        title=f"{found.version}, table of file and record sizes".lstrip(", "),
        name="iozone",
        output=table.output(found, output, name=name),
        line=len(output) - len(output.lstrip("\n")) + 1,
        points=points,
        remark="" if found.complete else "it does not say `iozone test complete`: rows may be missing",
    )
