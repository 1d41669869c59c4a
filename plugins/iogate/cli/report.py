"""`iogate report`: what sessions found out, for people."""

from __future__ import annotations

import argparse
from pathlib import Path

from iogate.cli.common import Commands, epilog, say


def add(commands: Commands) -> None:
    """Declare the command."""
    report = commands.add_parser(
        "report",
        help="write a page about sessions, or print a table of them",
        description="Writes a page of HTML about the sessions of results files (or the folders of sessions), "
        "without any about the last run of the project that this folder belongs to. It needs no network.",
        **epilog(
            "iogate report",
            "iogate report old/results.json new/results.json -o both.html",
            "iogate report --history",
            "iogate report --table=latency",
            statuses="0 done, 2 refused, or wrong use",
        ),
    )
    report.add_argument("results", nargs="*", type=Path, metavar="RESULTS")
    report.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="default: report.html; a file that is no report of iogate is not overwritten",
    )
    report.add_argument(
        "--history",
        action="store_true",
        help="with each gating metric over all these sessions (without RESULTS: all kept ones) and the "
        "project's baselines: where it changed, and what changed around it",
    )
    report.add_argument(
        "--table",
        choices=["latency"],
        help="print instead bandwidths and latencies in the columns of the published report of the Jetson "
        "AGX Orin",
    )
    report.set_defaults(act=_act)


def _act(given: argparse.Namespace) -> int:
    if given.table:
        from iogate.offline.tables import table

        say(table(given.table, given.results))
    else:
        from iogate.offline.reporting import write_report

        say(write_report(given.results, given.output, with_history=given.history))
    return 0
