"""An engine for tests that is all about wall time: at `threads` threads it takes `seconds` / threads."""

import os
from dataclasses import replace

import fake
from pydantic import Field

from iogate.formats.schema import Schema, check
from iogate.model import Output, Traffic


class Options(Schema):
    seconds: float = 100.0
    threads: list[int] = Field(default_factory=lambda: [1])


class StopwatchEngine(fake.FakeEngine):
    name = "stopwatch"

    def options(self, given):
        return check(Options, given).model_dump()

    def schema(self):
        return Options.model_json_schema()

    def gating(self, workload):
        return tuple(_names(workload.options["threads"]))

    def needs(self, workload):
        return super().needs(_faked(workload))

    def command(self, workload, place):
        threads = workload.options["threads"]
        number = int(place.folder.name.rpartition("-")[2])
        seconds = workload.options["seconds"] * (1 + number / 1000)
        seconds /= float(os.environ.get("IOGATE_FAKE_FACTOR", "1"))
        says = [f"{name}={seconds / count}" for name, count in zip(_names(threads), threads, strict=True)]
        return super().command(_faked(workload, says=" ".join(says)), place)

    def parse(self, text, *, name, completed=None):
        seconds = {key: float(value) for key, _, value in (pair.partition("=") for pair in text.split())}
        rates = {key.replace("wall_time", "read.iops"): 1000 / value for key, value in seconds.items()}
        traffic = {"read": Traffic(4096_000, 1000, 0.001)}
        return Output({**seconds, **rates, "serial_fraction": 0.0}, traffic)


def _names(threads):
    return ["wall_time"] if len(threads) == 1 else [f"threads_{count}.wall_time" for count in threads]


def _faked(workload, **options):
    return replace(workload, options=fake.Options(**options).model_dump())


engine = StopwatchEngine()
