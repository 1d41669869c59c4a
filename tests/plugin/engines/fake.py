"""An engine for tests of the pipeline: `echo` says the figure that the workload asks for.

The figure, which is lower in the first `settles` repetitions, is `value` times IOGATE_FAKE_FACTOR, with a
noise that depends on nothing but the repetition's number. Of a pair the factor is that of arm B. The workload
named by IOGATE_FAKE_FAILS says something else. It `takes` so many seconds by its own account.
"""

import os

from iogate.errors import OutputError
from iogate.formats.schema import Schema, check
from iogate.model import Command, Needs, Output, Traffic

_NOISE = (0.3, -0.8, 0.5, -0.1, 0.9, -0.6, 0.2, -0.4, 0.7, -0.9, 0.1, -0.2)


class Options(Schema):
    value: float = 1000.0
    noise: float = 0.01
    size: str = "1M"
    runtime: float = 0.1
    says: str = ""
    settles: int = 0
    takes: float = 0.0


class FakeEngine:
    name = "fake"
    program = "sh"
    package = "dash"

    def options(self, given):
        return check(Options, given).model_dump()

    def schema(self):
        return Options.model_json_schema()

    def check(self, workloads):
        return []

    def gating(self, workload):
        return ("read.iops",)

    def needs(self, workload):
        return Needs(reads=True, seconds=workload.options["runtime"], target=False)

    def command(self, workload, place):
        options = workload.options
        factor = float(os.environ.get("IOGATE_FAKE_FACTOR", "1"))
        label = place.folder.name.rpartition("-")[2]
        number = 1 if label == "pilot" else int(label)
        arm = place.folder.parent.name
        if arm in ("A", "B"):  # of a block, by whole runs
            number += 2 * int(place.folder.parent.parent.name) + (3 if arm == "A" else 0)
            factor = factor if arm == "B" else 1.0
        rest = 1.0 if number > options["settles"] else 0.5 + 0.1 * (number % 4)
        figure = (
            options["value"] * factor * rest * (1 + options["noise"] * _NOISE[(number - 1) % len(_NOISE)])
        )
        broken = os.environ.get("IOGATE_FAKE_FAILS") == workload.name
        says = "broken" if broken else options["says"] or f"{figure:.6f}"
        takes = f" {options['takes']}" if options["takes"] else ""
        return Command(("sh", "-c", f"echo '{says}{takes}'"), timeout=20)

    def recognises(self, text):
        return False

    def parse(self, text, *, name, completed=None):
        said, _, takes = text.strip().partition(" ")
        try:
            figure = float(said)
        except ValueError:
            raise OutputError(f"{name}: {text.strip()!r} is no figure") from None
        operations = max(1, round(figure * float(takes or 1e-3)))
        traffic = {
            "read": Traffic(bytes=operations * 4096, operations=operations, seconds=operations / figure)
        }
        return Output(
            {"read.iops": figure, "read.lat.mean": 1e9 / figure}, traffic, engine_version="fake-1.0"
        )


engine = FakeEngine()
