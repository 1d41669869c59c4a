"""`iogate history`: each gating metric over many sessions."""

from __future__ import annotations

import argparse
from pathlib import Path

from iogate.cli.common import Commands, epilog, say


def add(commands: Commands) -> None:
    """Declare the command."""
    history = commands.add_parser(
        "history",
        help="each gating metric by session: where it changed, and what changed around it",
        description="Shows each gating metric over the sessions in RESULTS (results files, folders of "
        "sessions) and in the baselines of the project. Without RESULTS: .iogate/results/ of the project.",
        **epilog(
            "iogate history --device=lab-7",
            "iogate history .iogate/results old/*.json -v",
            statuses="0 shown, 1 a file could not be read, 2 wrong use",
        ),
    )
    history.add_argument("results", nargs="*", type=Path, metavar="RESULTS")
    history.add_argument("--device", default="", metavar="NAME", help="of this device only")
    history.add_argument(
        "--workload",
        action="append",
        default=[],
        metavar="NAME",
        help="of workloads of this name only, as read_*",
    )
    history.add_argument(
        "--baselines", type=Path, metavar="DIR", help="default: baselines/ of the project that one is in"
    )
    history.add_argument(
        "-v", "--verbose", action="store_true", help="with a table of each metric by session"
    )
    history.add_argument("--json", action="store_true", help="as JSON")
    history.set_defaults(act=_act)


def _act(given: argparse.Namespace) -> int:
    from iogate.offline.history import history

    text, status = history(
        given.results,
        device=given.device,
        workloads=given.workload,
        baselines=given.baselines,
        by_session=given.verbose,
        as_json=given.json,
    )
    say(text)
    return status
