"""`iogate fleet`: many devices of one model."""

from __future__ import annotations

import argparse
from pathlib import Path

from iogate.cli.common import Commands, argument, epilog, say
from iogate.errors import IogateError
from iogate.units import parse_share


def add(commands: Commands) -> None:
    """Declare the command."""
    fleet = commands.add_parser(
        "fleet",
        help="many devices of one model: how they differ, which is slower than the others",
        description="Reads RESULTS (results files, folders of sessions) of several devices of one model, and "
        "tells of each gating metric how devices differ, how the sessions of one device do, which device is "
        "the slowest, and what is different about it.",
        **epilog(
            "iogate fleet results/orin-*/",
            "iogate fleet .iogate/results -v --tolerance=5%",
            "iogate fleet results/orin-*/ --baseline=orin",
            statuses="0 no device stands out, 1 one is slower than the others, or a file could not be read, "
            "2 refused, or wrong use",
        ),
    )
    fleet.add_argument("results", nargs="+", type=Path, metavar="RESULTS")
    fleet.add_argument(
        "--tolerance",
        type=argument(parse_share),
        metavar="5%",
        help="the smallest loss that matters, for every metric (default: the suites', else 5%%)",
    )
    fleet.add_argument(
        "--workload",
        action="append",
        default=[],
        metavar="NAME",
        help="workloads of this name only, as read_*",
    )
    fleet.add_argument("-v", "--verbose", action="store_true", help="with a table of each metric by device")
    fleet.add_argument("--json", action="store_true", help="as JSON")
    fleet.add_argument(
        "--baseline",
        default="",
        metavar="NAME",
        help="write what new devices of the model are accepted against: baselines/NAME/SUITE.yaml",
    )
    fleet.add_argument(
        "--baselines", type=Path, metavar="DIR", help="default: baselines/ of the project that one is in"
    )
    fleet.add_argument("--replace", action="store_true", help="write over a baseline that is there")
    fleet.set_defaults(act=_act)


def _act(given: argparse.Namespace) -> int:
    from iogate.offline.fleet import fleet

    if given.json and given.baseline:
        raise IogateError("--json and --baseline say different things: one after the other")
    if given.replace and not given.baseline:
        raise IogateError("--replace writes over a baseline: name it by --baseline=NAME")
    text, status = fleet(
        given.results,
        tolerance=given.tolerance,
        workloads=given.workload,
        by_device=given.verbose,
        as_json=given.json,
        baseline=given.baseline,
        baselines=given.baselines,
        replace=given.replace,
    )
    say(text)
    return status
