"""`iogate import`: engine outputs become a baseline."""

from __future__ import annotations

import argparse
from pathlib import Path

from iogate.cli.common import Commands, epilog, say


def add(commands: Commands) -> None:
    """Declare the command."""
    take = commands.add_parser(
        "import",
        help="turn engine outputs into a baseline",
        description="Stores the figures of engine outputs (whatever `iogate show` reads) as the baseline of "
        "the workloads whose definitions fit them. All outputs of a workload are the repetitions of one "
        "session. Nothing is written if any of them is refused.",
        **epilog(
            "iogate import --device=lab-7 --suite=quick outputs/*.json",
            "iogate import --device=lab-7 --suite=quick --append --workload=iops_4k_read tuesday.json",
            statuses="0 written, 2 refused, or wrong use",
        ),
    )
    take.add_argument("files", nargs="+", type=Path, metavar="FILE")
    take.add_argument("--device", required=True, metavar="NAME", help="whose baseline it becomes")
    take.add_argument(
        "--suite", required=True, metavar="SUITE", help="the suite: a file, or its name in suites/"
    )
    take.add_argument(
        "--workload", default="", metavar="NAME", help="the workload, where several fit or none says enough"
    )
    take.add_argument(
        "--source",
        default="",
        metavar="TEXT",
        help="store the medians as published figures, from there; they are judged by tolerance alone",
    )
    take.add_argument(
        "--append",
        action="store_true",
        help="add a session to the baseline, unless it regressed against it, or gained or lost much of its "
        "tolerance beyond doubt",
    )
    take.add_argument("--force", action="store_true", help="add it even then")
    take.add_argument(
        "--baselines", type=Path, metavar="DIR", help="default: baselines/ of the suite's project"
    )
    take.set_defaults(act=_act)


def _act(given: argparse.Namespace) -> int:
    from iogate.offline.importing import import_outputs

    text = import_outputs(
        given.files,
        device=given.device,
        suite=given.suite,
        baselines=given.baselines,
        workload=given.workload,
        source=given.source,
        append=given.append,
        force=given.force,
    )
    say(text)
    return 0
