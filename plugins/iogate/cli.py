"""The command `iogate`: what can be done without pytest."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from iogate import __version__
from iogate.errors import IogateError
from iogate.units import printable


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0, 1 if files were refused, 2 for wrong use."""
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        return int(given.act(given))
    except IogateError as error:
        print(printable(f"iogate: {error}"), file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stderr.close()  # the reader has gone: no complaint about that
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="iogate",
        description="Storage performance gate. Measuring is done by pytest: pytest suites/ --device=NAME",
    )
    parser.add_argument("--version", action="version", version=f"iogate {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    show = commands.add_parser("show", help="print the metrics of engine outputs")
    show.add_argument("files", nargs="+", type=Path, metavar="FILE")
    show.add_argument("--json", action="store_true", help="as JSON")
    show.set_defaults(act=_show)

    schema = commands.add_parser("schema", help="print a JSON Schema for editors")
    schema.add_argument("what", choices=["suite", "device"])
    schema.set_defaults(act=_schema)
    return parser


def _show(given: argparse.Namespace) -> int:
    from iogate.show import show

    text, status = show(given.files, as_json=given.json)
    print(text)
    return status


def _schema(given: argparse.Namespace) -> int:
    from iogate.schemas import device_schema, suite_schema

    print(json.dumps(suite_schema() if given.what == "suite" else device_schema(), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
