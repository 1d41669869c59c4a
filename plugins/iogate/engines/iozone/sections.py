"""iozone's outputs as sections of a report: the tests of the throughput mode, the automatic mode's table."""

from __future__ import annotations

from dataclasses import replace

from iogate.engines.iozone import table, text, throughput
from iogate.engines.sections import Section
from iogate.units import format_quantity

_CUT = "it does not say `iozone test complete`: rows may be missing"


def sections(output: str, *, name: str) -> list[Section]:
    """Return the sections of an output; lines count from its first. Raises OutputError."""
    if text.is_throughput(output):
        return _tests(throughput.read(output, name=name), name)
    line = len(output) - len(output.lstrip("\n")) + 1
    return [_table(table.read(output, name=name), line, name)]


def _tests(report: throughput.IozoneReport, name: str) -> list[Section]:
    size = f" of {format_quantity(report.file_size, 'B')}" if report.file_size else ""
    return [
        Section(
            title=f"{report.version}, {test.processes} {test.name}{size}".lstrip(", "),
            name=test.name,
            output=throughput.output(replace(report, tests=(test,)), name=name),
            line=test.line,
            remark="" if test.whole else "some of its figures are missing in the text",
        )
        for test in report.tests
    ]


def _table(found: table.IozoneTable, line: int, name: str) -> Section:
    """Return the table, of which each row is a point."""
    points = tuple(
        Section(
            title="",
            name=table.point(row.file_size, row.record),
            output=table.output(replace(found, rows=(row,)), name=name),
            line=row.line,
        )
        for row in found.rows
    )
    return Section(
        title=f"{found.version}, table of file and record sizes".lstrip(", "),
        name="iozone",
        output=table.output(found, name=name),
        line=line,
        points=points,
        remark="" if found.complete else _CUT,
    )
