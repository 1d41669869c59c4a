"""`iogate baseline`: stored baselines are looked at, renamed, dropped and merged."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from iogate.cli.common import Commands, epilog, say
from iogate.errors import IogateError


def add(commands: Commands) -> None:
    """Declare the command and what it can do."""
    baseline = commands.add_parser(
        "baseline",
        help="look at stored baselines, rename, drop or merge them",
        **epilog("iogate baseline show baselines/lab-7/quick.yaml"),
    )
    actions = baseline.add_subparsers(required=True, metavar="ACTION")

    show = actions.add_parser(
        "show",
        help="print the sessions and figures of baselines",
        **epilog("iogate baseline show baselines/lab-7", "iogate baseline show baselines/lab-7/quick.yaml"),
    )
    show.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="a baseline file, or a device's folder"
    )
    show.set_defaults(act=_show)

    log = actions.add_parser(
        "log",
        help="how old and how strong baselines are, who changed them and why",
        description="Prints of each baseline its sessions with their age, the reason that was given for each "
        "and what changed before it, what losses it resolves, and the commits of its file.",
        **epilog("iogate baseline log lab-7", "iogate baseline log lab-7/quick"),
    )
    log.add_argument("name", metavar="NAME", help="a device, DEVICE/SUITE, or a baseline file")
    log.add_argument("--baselines", type=Path, metavar="DIR", help="default: baselines/ of the project")
    log.set_defaults(act=_log)

    rename = actions.add_parser(
        "rename",
        help="rename a workload, or move a baseline",
        description="Moves a baseline file, or the folder of a device, and has it say where it lies. Without "
        "TO it was moved already. With --workload it gives a workload's baseline to another name.",
        **epilog(
            "iogate baseline rename baselines/lab-7 baselines/lab-8",
            "iogate baseline rename baselines/lab-7/quick.yaml --workload old_name new_name",
        ),
    )
    rename.add_argument("place", type=Path, metavar="FROM", help="a baseline file, or a device's folder")
    rename.add_argument("target", nargs="?", type=Path, metavar="TO")
    rename.add_argument("--workload", nargs=2, metavar=("OLD", "NEW"))
    rename.set_defaults(act=_rename)

    drop = actions.add_parser(
        "drop",
        help="forget workloads or sessions; of both, these sessions of these workloads",
        **epilog("iogate baseline drop baselines/lab-7/quick.yaml --session 2026-11-21T02:11:47Z-b132"),
    )
    drop.add_argument("file", type=Path, metavar="FILE")
    drop.add_argument("--workload", action="append", default=[], metavar="NAME")
    drop.add_argument("--session", action="append", default=[], metavar="NAME")
    drop.set_defaults(act=_drop)

    merge = actions.add_parser(
        "merge",
        help="unite the sessions of two baseline files",
        description="Writes the sessions of both sides into OURS, by their time. As git's merge driver: "
        "iogate baseline merge %O %A %B --path %P",
        **epilog(
            "iogate baseline merge ours.yaml theirs.yaml",
            statuses="0 merged, 1 a conflict, and OURS is as it was, 2 wrong use",
        ),
    )
    merge.add_argument("files", nargs="+", type=Path, metavar="[BASE] OURS THEIRS")
    merge.add_argument("--path", default="", metavar="NAME", help="what messages call the file")
    merge.set_defaults(act=_merge)


def _show(given: argparse.Namespace) -> int:
    from iogate.offline.baselines import show

    say(show(given.files))
    return 0


def _log(given: argparse.Namespace) -> int:
    from iogate.offline.baseline_log import log

    say(log(given.name, given.baselines))
    return 0


def _rename(given: argparse.Namespace) -> int:
    from iogate.offline.baselines import rename, rename_workload

    if given.workload and given.target:
        raise IogateError("either a workload is renamed or a baseline is moved: one after the other")
    say(
        rename_workload(given.place, *given.workload) if given.workload else rename(given.place, given.target)
    )
    return 0


def _drop(given: argparse.Namespace) -> int:
    from iogate.offline.baselines import drop

    say(drop(given.file, given.workload, given.session))
    return 0


def _merge(given: argparse.Namespace) -> int:
    from iogate.offline.baselines import merge_files

    if len(given.files) not in (2, 3):
        raise IogateError("merge takes OURS and THEIRS, or BASE, OURS and THEIRS")
    text, status = merge_files(given.files, given.path)
    if status:
        print(f"iogate: {text}", file=sys.stderr)
    else:
        say(text)
    return status
