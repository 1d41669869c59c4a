"""`iogate show`: the metrics of engine outputs, and the tables of sessions."""

from __future__ import annotations

import argparse
from pathlib import Path

from iogate.cli.common import Commands, epilog, say


def add(commands: Commands) -> None:
    """Declare the command."""
    show = commands.add_parser(
        "show",
        help="print the metrics of engine outputs",
        description="Prints the metrics of engine outputs, and the tables of sessions (results files). A "
        "folder stands for its files (*.json, *.txt, *.out), or its sessions. Of many files each has a row.",
        **epilog(
            "iogate show fio.json",
            "iogate show --json .iogate/results/2026-11-21T02:11:47Z-b132",
            statuses="0 read, 1 a file was refused, 2 wrong use",
        ),
    )
    show.add_argument("files", nargs="+", type=Path, metavar="FILE")
    show.add_argument("--json", action="store_true", help="as JSON")
    show.set_defaults(act=_act)


def _act(given: argparse.Namespace) -> int:
    from iogate.offline.show import show

    text, status = show(given.files, as_json=given.json)
    say(text)
    return status
