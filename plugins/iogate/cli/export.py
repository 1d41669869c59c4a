"""`iogate export`: results in the formats of other tools."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from iogate.cli.common import Commands, epilog, put, say
from iogate.errors import IogateError


def add(commands: Commands) -> None:
    """Declare the command."""
    export = commands.add_parser(
        "export",
        help="results as CSV, Parquet, OpenMetrics, for benchstat or Bencher",
        description="Writes results documents (results.json of a session, or its folder) in the format of "
        "another tool: docs/other_tools.md",
        **epilog(
            "iogate export --format=csv .iogate/results/ > all.csv",
            "iogate export --format=parquet -o all.parquet .iogate/results/",
            "iogate export --format=openmetrics --gating results.json > iogate.prom",
            "iogate export --format=benchstat --gating old.json > old.txt; benchstat old.txt new.txt",
            "iogate export --format=bencher --gating results.json > bmf.json",
            statuses="0 written, 2 refused, or wrong use",
        ),
    )
    formats = ("csv", "parquet", "openmetrics", "benchstat", "bencher")
    export.add_argument("results", nargs="+", type=Path, metavar="RESULTS")
    export.add_argument("--format", required=True, choices=formats)
    export.add_argument("--gating", action="store_true", help="the metrics that decide, and no others")
    export.add_argument("-o", "--output", type=_file, metavar="FILE", help="default, and -: standard output")
    export.set_defaults(act=_act)


def _file(name: str) -> Path | None:
    return None if name == "-" else Path(name)


def _act(given: argparse.Namespace) -> int:
    from iogate.formats.atomic import write_atomically
    from iogate.report.export import export
    from iogate.report.loading import load_sessions

    def refuse(found: Path) -> None:
        raise IogateError(
            f"{given.output} is there already: it is not overwritten",
            remedy="name another file, or none and redirect standard output",
        )

    if given.output and os.path.lexists(given.output):
        refuse(given.output)
    made = export(load_sessions(given.results), given.format, gating=given.gating)
    if given.output:
        write_atomically(given.output, made, refuse)
    elif isinstance(made, str):
        say(made.removesuffix("\n"))
    elif sys.stdout and sys.stdout.isatty():
        raise IogateError(f"{given.format} is no text for a terminal", remedy="name a file: -o FILE")
    else:
        put(made)
    return 0
