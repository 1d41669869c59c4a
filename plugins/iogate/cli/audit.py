"""`iogate audit`: which figures of published outputs and tables stand."""

from __future__ import annotations

import argparse
from pathlib import Path

from iogate.cli.common import Commands, argument, epilog, say
from iogate.units import parse_rate, parse_size


def add(commands: Commands) -> None:
    """Declare the command."""
    audit = commands.add_parser(
        "audit",
        help="say which figures of published outputs and tables stand",
        **epilog(
            "iogate audit report.md --link=3.94GB/s --memory=16G",
            statuses="0 all stand, 1 a figure does not stand, or a file was refused, 2 wrong use",
        ),
    )
    audit.add_argument("files", nargs="+", type=Path, metavar="FILE")
    audit.add_argument(
        "--link",
        type=argument(parse_rate),
        metavar="RATE",
        help="the limit of the device's link, as 3.94GB/s",
    )
    audit.add_argument(
        "--memory",
        type=argument(parse_size),
        metavar="SIZE",
        help="the memory of the machine, as 16G, to know what it can hold",
    )
    audit.set_defaults(act=_act)


def _act(given: argparse.Namespace) -> int:
    from iogate.offline.published import Machine, audit_files

    text, status = audit_files(given.files, Machine(given.link, given.memory))
    say(text)
    return status
