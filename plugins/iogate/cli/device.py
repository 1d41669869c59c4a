"""`iogate device`: profiles of devices are begun, listed, and held against the machine."""

from __future__ import annotations

import argparse
from pathlib import Path

from iogate.cli.common import Commands, epilog, say


def add(commands: Commands) -> None:
    """Declare the command and what it can do."""
    device = commands.add_parser(
        "device",
        help="begin profiles of devices, list them, check the machine",
        **epilog("iogate device init lab-7 --target=/mnt/disk"),
    )
    actions = device.add_subparsers(required=True, metavar="ACTION")

    init = actions.add_parser(
        "init",
        help="write a profile from what this machine is, for review",
        description="Writes baselines/NAME/device.yaml from what this machine is: what tells it from others, "
        "the target, the limit of its link, with comments on what else would be allowed. A profile that is "
        "there is not touched.",
        **epilog(
            "iogate device init lab-7 --target=/mnt/disk", statuses="0 written, 2 refused, or wrong use"
        ),
    )
    init.add_argument("name", metavar="NAME")
    init.add_argument(
        "--target", metavar="PATH", help="a directory or a block device (default: the project's folder)"
    )
    init.add_argument("--host", metavar="SPEC", help="where the machine is, such as ssh=root@orin.lab")
    init.set_defaults(act=_init)

    listing = actions.add_parser(
        "list",
        help="the devices, their targets and baselines, and how old these are",
        **epilog(
            "iogate device list",
            statuses="0 listed, 1 a profile or a baseline cannot be read, 2 wrong use",
        ),
    )
    listing.set_defaults(act=_list)

    check = actions.add_parser(
        "check",
        help="whether this machine is as a profile says, without I/O",
        description="Holds the profile of a device against this machine, or the one at its host: identity, "
        "target, link, the suites that apply, and the programs of their engines. It does no I/O, and starts "
        "no engine but to ask it.",
        **epilog(
            "iogate device check lab-7",
            statuses="0 all is as the profile says, 1 something is not, 2 no such profile, or wrong use",
        ),
    )
    check.add_argument("name", metavar="NAME")
    check.set_defaults(act=_check)
    for action in (init, listing, check):
        action.add_argument(
            "--baselines", type=Path, metavar="DIR", help="default: baselines/ of the project"
        )


def _init(given: argparse.Namespace) -> int:
    from iogate.offline.devices import init

    say(init(given.name, given.target, given.baselines, given.host))
    return 0


def _list(given: argparse.Namespace) -> int:
    from iogate.offline.devices import listing

    text, status = listing(given.baselines)
    say(text)
    return status


def _check(given: argparse.Namespace) -> int:
    from iogate.offline.devices import check

    text, status = check(given.name, given.baselines)
    say(text)
    return status
