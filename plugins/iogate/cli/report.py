"""`iogate report`: what sessions found out, for people."""

from __future__ import annotations

import argparse
from pathlib import Path

from iogate.cli.common import Commands, epilog, say


def add(commands: Commands) -> None:
    """Declare the command."""
    report = commands.add_parser(
        "report",
        help="print a table of sessions",
        description="Prints a table of the sessions of results files (or the folders of sessions), without "
        "any of the last run of the project that this folder belongs to.",
        **epilog("iogate report --table=latency", statuses="0 printed, 2 refused, or wrong use"),
    )
    report.add_argument("results", nargs="*", type=Path, metavar="RESULTS")
    report.add_argument(
        "--table",
        choices=["latency"],
        required=True,
        help="bandwidths and latencies in the columns of the published report of the Jetson AGX Orin",
    )
    report.set_defaults(act=_act)


def _act(given: argparse.Namespace) -> int:
    from iogate.offline.tables import table

    say(table(given.table, given.results))
    return 0
