"""`iogate init`: a project from what ships."""

from __future__ import annotations

import argparse
from pathlib import Path

from iogate.cli.common import Commands, epilog, say


def add(commands: Commands) -> None:
    """Declare the command."""
    init = commands.add_parser(
        "init",
        help="make a project from the suites that ship",
        description="Writes suites, a device's profile, pytest.ini, .gitignore and README.md into a folder. "
        "What is there already stays as it is: a second init adds what lacks.",
        **epilog(
            "iogate init storage --suite=memory && cd storage && pytest suites/",
            statuses="0 made, 2 refused, or wrong use",
        ),
    )
    init.add_argument("folder", nargs="?", type=Path, default=Path(), metavar="DIR", help="default: here")
    init.add_argument(
        "--suite",
        action="append",
        default=[],
        dest="suites",
        metavar="NAME",
        help="a suite that ships, beside the usual ones (quick and acceptance); again for more",
    )
    init.add_argument(
        "--device",
        default="local",
        metavar="NAME",
        help="a device whose profile and figures ship, with its suites (default: local, this machine)",
    )
    init.set_defaults(act=_act)


def _act(given: argparse.Namespace) -> int:
    from iogate.offline.init import init

    say(init(given.folder, given.suites, given.device))
    return 0
