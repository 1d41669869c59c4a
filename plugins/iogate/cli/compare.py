"""`iogate compare`: the gate's verdict on measurements that exist already."""

from __future__ import annotations

import argparse
from pathlib import Path

from iogate.cli.common import Commands, argument, epilog, say
from iogate.units import parse_share


def add(commands: Commands) -> None:
    """Declare the command."""
    compare = commands.add_parser(
        "compare",
        help="the gate's verdict on measurements that exist already",
        description="Judges NEW against OLD as a pytest run would. Each is a results file (--io-json), an "
        "engine's output (whatever `iogate show` reads), or a folder of them (*.json, *.txt, *.out). "
        "Results files are sessions, also in a folder; each output is a session of one repetition, and the "
        "outputs in a folder are the repetitions of one session.",
        **epilog(
            "iogate compare before.json after.json",
            "iogate compare --tolerance=5% monday/ tuesday/ wednesday/",
            statuses="0 all passed, 1 something regressed, 3 inconclusive, 2 wrong use",
        ),
    )
    compare.add_argument("old", nargs="+", type=Path, metavar="OLD", help="the sessions before")
    compare.add_argument("new", type=Path, metavar="NEW", help="the session to judge")
    compare.add_argument(
        "--tolerance",
        type=argument(parse_share),
        metavar="5%",
        help="the smallest change that matters (default: what OLD can resolve, at least 3%%)",
    )
    compare.add_argument(
        "--alpha",
        type=argument(parse_share),
        default=0.01,
        metavar="1%",
        help="rate of false alarms (default: 1%%)",
    )
    compare.add_argument(
        "--beta",
        type=argument(parse_share),
        default=0.05,
        metavar="5%",
        help="rate of losses that pass (default: 5%%)",
    )
    compare.add_argument(
        "--across-devices", action="store_true", help="compare although the machines are different ones"
    )
    compare.add_argument("--json", type=Path, metavar="FILE", help="write the verdicts as a results file")
    compare.set_defaults(act=_act)


def _act(given: argparse.Namespace) -> int:
    from iogate.judge.judge import GateOptions
    from iogate.offline.compare import compare

    gate_options = GateOptions(given.alpha, given.beta, tolerance=given.tolerance)
    text, status = compare(
        given.old, given.new, gate_options, across_devices=given.across_devices, json_path=given.json
    )
    say(text)
    return status
