"""The command `iogate`: what can be done without pytest."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from iogate import __version__
from iogate.errors import IogateError
from iogate.units import parse_rate, parse_share, parse_size, printable

_Value = TypeVar("_Value")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0, 1 if files were refused, something regressed or is in
    conflict, 2 for wrong use, 3 if it is inconclusive.
    """
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        return int(given.act(given))
    except IogateError as error:
        print(printable(f"iogate: {error}"), file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="iogate",
        description="Storage performance gate. Measuring is done by pytest: pytest suites/ --device=NAME",
    )
    parser.add_argument("--version", action="version", version=f"iogate {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    show = commands.add_parser(
        "show",
        help="print the metrics of engine outputs",
        description="Prints the metrics of engine outputs, and the tables of sessions (results files). A "
        "folder stands for its files (*.json, *.txt, *.out), or its sessions. Of many files each has a row.",
    )
    show.add_argument("files", nargs="+", type=Path, metavar="FILE")
    show.add_argument("--json", action="store_true", help="as JSON")
    show.set_defaults(act=_show)

    compare = commands.add_parser(
        "compare",
        help="the gate's verdict on measurements that exist already",
        description="Judges NEW against OLD as a pytest run would. Each is a results file (--io-json), an "
        "engine's output (whatever `iogate show` reads), or a folder of them (*.json, *.txt, *.out). "
        "Results files are sessions, also in a folder; each output is a session of one repetition, and the "
        "outputs in a folder are the repetitions of one session.",
        epilog="exit status: 0 all passed, 1 something regressed, 3 inconclusive, 2 wrong use",
    )
    compare.add_argument("old", nargs="+", type=Path, metavar="OLD", help="the sessions before")
    compare.add_argument("new", type=Path, metavar="NEW", help="the session to judge")
    compare.add_argument(
        "--tolerance",
        type=_argument(parse_share),
        metavar="5%",
        help="the smallest change that matters (default: what OLD can resolve, at least 3%%)",
    )
    compare.add_argument(
        "--alpha",
        type=_argument(parse_share),
        default=0.01,
        metavar="1%",
        help="rate of false alarms (default: 1%%)",
    )
    compare.add_argument(
        "--beta",
        type=_argument(parse_share),
        default=0.05,
        metavar="5%",
        help="rate of losses that pass (default: 5%%)",
    )
    compare.add_argument(
        "--across-devices", action="store_true", help="compare although the machines are different ones"
    )
    compare.add_argument("--json", type=Path, metavar="FILE", help="write the verdicts as a results file")
    compare.set_defaults(act=_compare)

    audit = commands.add_parser("audit", help="say which figures of published outputs and tables stand")
    audit.add_argument("files", nargs="+", type=Path, metavar="FILE")
    audit.add_argument(
        "--link",
        type=_argument(parse_rate),
        metavar="RATE",
        help="the limit of the device's link, as 3.94GB/s",
    )
    audit.add_argument(
        "--memory",
        type=_argument(parse_size),
        metavar="SIZE",
        help="the memory of the machine, as 16G, to know what it can hold",
    )
    audit.set_defaults(act=_audit)

    take = commands.add_parser(
        "import",
        help="turn engine outputs into a baseline",
        description="Stores the figures of engine outputs (whatever `iogate show` reads) as the baseline of "
        "the workloads whose definitions fit them. All outputs of a workload are the repetitions of one "
        "session. Nothing is written if any of them is refused.",
        epilog="exit status: 0 written, 2 refused",
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
        "--append", action="store_true", help="add a session to the baseline, unless it regressed against it"
    )
    take.add_argument("--force", action="store_true", help="add it even then")
    take.add_argument(
        "--baselines", type=Path, metavar="DIR", help="default: baselines/ of the suite's project"
    )
    take.set_defaults(act=_import)

    _add_baseline(commands)
    schema = commands.add_parser("schema", help="print a JSON Schema, for editors and for programs")
    schema.add_argument("what", choices=["suite", "device", "baseline", "results"])
    schema.set_defaults(act=_schema)
    return parser


def _add_baseline(commands: Any) -> None:
    """Declare `iogate baseline` and what it can do."""
    baseline = commands.add_parser("baseline", help="look at stored baselines, rename, drop or merge them")
    actions = baseline.add_subparsers(required=True, metavar="ACTION")

    show = actions.add_parser("show", help="print the sessions and figures of baseline files")
    show.add_argument("files", nargs="+", type=Path, metavar="FILE")
    show.set_defaults(act=_baseline_show)

    rename = actions.add_parser(
        "rename",
        help="rename a workload, or move a baseline",
        description="Moves a baseline file, or the folder of a device, and has it say where it lies. Without "
        "TO it was moved already. With --workload it gives a workload's baseline to another name.",
    )
    rename.add_argument("place", type=Path, metavar="FROM", help="a baseline file, or a device's folder")
    rename.add_argument("target", nargs="?", type=Path, metavar="TO")
    rename.add_argument("--workload", nargs=2, metavar=("OLD", "NEW"))
    rename.set_defaults(act=_baseline_rename)

    drop = actions.add_parser(
        "drop", help="forget workloads or sessions; of both, these sessions of these workloads"
    )
    drop.add_argument("file", type=Path, metavar="FILE")
    drop.add_argument("--workload", action="append", default=[], metavar="NAME")
    drop.add_argument("--session", action="append", default=[], metavar="NAME")
    drop.set_defaults(act=_baseline_drop)

    merge = actions.add_parser(
        "merge",
        help="unite the sessions of two baseline files",
        description="Writes the sessions of both sides into OURS, by their time. As git's merge driver: "
        "iogate baseline merge %%O %%A %%B --path %%P",
        epilog="exit status: 0 merged, 1 a conflict, and OURS is as it was",
    )
    merge.add_argument("files", nargs="+", type=Path, metavar="[BASE] OURS THEIRS")
    merge.add_argument("--path", default="", metavar="NAME", help="what messages call the file")
    merge.set_defaults(act=_baseline_merge)


def _say(text: str) -> None:
    """Print; if the reader has gone, the exit status still says what it would have."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show(given: argparse.Namespace) -> int:
    from iogate.offline.show import show

    text, status = show(given.files, as_json=given.json)
    _say(text)
    return status


def _compare(given: argparse.Namespace) -> int:
    from iogate.judge.judge import GateOptions
    from iogate.offline.compare import compare

    gate_options = GateOptions(given.alpha, given.beta, tolerance=given.tolerance)
    text, status = compare(
        given.old, given.new, gate_options, across_devices=given.across_devices, json_path=given.json
    )
    _say(text)
    return status


def _import(given: argparse.Namespace) -> int:
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
    _say(text)
    return 0


def _baseline_show(given: argparse.Namespace) -> int:
    from iogate.offline.baselines import show

    _say(show(given.files))
    return 0


def _baseline_rename(given: argparse.Namespace) -> int:
    from iogate.offline.baselines import rename, rename_workload

    if given.workload and given.target:
        raise IogateError("either a workload is renamed or a baseline is moved: one after the other")
    _say(
        rename_workload(given.place, *given.workload) if given.workload else rename(given.place, given.target)
    )
    return 0


def _baseline_drop(given: argparse.Namespace) -> int:
    from iogate.offline.baselines import drop

    _say(drop(given.file, given.workload, given.session))
    return 0


def _baseline_merge(given: argparse.Namespace) -> int:
    from iogate.offline.baselines import merge_files

    if len(given.files) not in (2, 3):
        raise IogateError("merge takes OURS and THEIRS, or BASE, OURS and THEIRS")
    text, status = merge_files(given.files, given.path)
    if status:
        print(f"iogate: {text}", file=sys.stderr)
    else:
        _say(text)
    return status


def _argument(parse: Callable[[str], _Value]) -> Callable[[str], _Value]:
    """Return the same parser, whose words argparse shows."""

    def read(text: str) -> _Value:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def _audit(given: argparse.Namespace) -> int:
    from iogate.offline.published import Machine, audit_files

    text, status = audit_files(given.files, Machine(given.link, given.memory))
    _say(text)
    return status


def _schema(given: argparse.Namespace) -> int:
    from iogate.declare.json_schemas import baseline_schema, device_schema, suite_schema
    from iogate.report.results import results_schema

    schemas = {
        "suite": suite_schema,
        "device": device_schema,
        "baseline": baseline_schema,
        "results": results_schema,
    }
    _say(json.dumps(schemas[given.what](), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
