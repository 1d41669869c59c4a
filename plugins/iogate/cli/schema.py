"""`iogate schema`: JSON Schemas, for editors and for programs."""

from __future__ import annotations

import argparse
import json

from iogate.cli.common import Commands, epilog, say


def add(commands: Commands) -> None:
    """Declare the command."""
    schema = commands.add_parser(
        "schema",
        help="print a JSON Schema, for editors and for programs",
        **epilog("iogate schema suite > suite.schema.json", statuses="0 printed, 2 wrong use"),
    )
    schema.add_argument("what", choices=["suite", "device", "baseline", "results"])
    schema.set_defaults(act=_act)


def _act(given: argparse.Namespace) -> int:
    from iogate.declare.json_schemas import baseline_schema, device_schema, suite_schema
    from iogate.report.results import results_schema

    schemas = {
        "suite": suite_schema,
        "device": device_schema,
        "baseline": baseline_schema,
        "results": results_schema,
    }
    say(json.dumps(schemas[given.what](), indent=2))
    return 0
