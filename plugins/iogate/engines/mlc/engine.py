"""Intel's Memory Latency Checker, where a user has it: Intel alone may distribute it, and Intel's processors
alone run it. What it prints is read by `text.py`.

The meaning of its options is that of the readme that comes with it; `memory` measures the same elsewhere.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from iogate.engines.common.loaded_latency import DELAYS, Delays, SizeOrAuto, ratio, size_of
from iogate.engines.mlc import text as _mlc_text
from iogate.errors import EngineError, InputError, InputErrors, OptionError
from iogate.formats.schema import Duration, Schema, Size, check
from iogate.host.process import Completed
from iogate.model import Command, Needs, Output, Part, Place, Workload
from iogate.units import parse_size

MIXES = {"2:1": 2, "3:1": 3, "3:2": 4, "1:1": 5, "4:1": 12}
"""The number of each mix of reads and writes, for the option -W; reads alone have none."""
_NODES = Path("/sys/devices/system/node")
_DELAYS_FILE = "delays.txt"
_RATES = 40  # at which the search for the highest bandwidth looks, for each of its five mixes, and more
_PATIENCE = 120.0


def _mix(value: Any) -> str:
    mix = ratio(value)
    if mix != "1:0" and mix not in MIXES:
        raise ValueError(f"mlc has no mix {mix}; it has 1:0, {', '.join(MIXES)}")
    return mix


class MlcOptions(Schema):
    """The options of `mlc`."""

    test: Literal["loaded_latency", "latency_matrix", "max_bandwidth"] = "loaded_latency"
    buffer_size: SizeOrAuto = Field("auto", description="of each buffer; auto: as mlc has it")
    runtime: Duration = Field(
        2.0, ge=0.001, le=3600, description="seconds of each point, counted up to whole"
    )
    stride: Size | None = Field(None, description="bytes from one line to the next")
    mix: Annotated[str, BeforeValidator(_mix)] | None = Field(
        None, description="reads:writes of the load: 1:0, 2:1, 3:1, 3:2, 1:1 or 4:1"
    )
    delays: Delays | None = Field(None)


_OF_LOADED_LATENCY = {"stride": "64", "mix": "1:0", "delays": list(DELAYS)}


class Mlc:
    """The engine `mlc`, see `iogate.engines.Engine`."""

    name = "mlc"
    program = "mlc"
    package = ""

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        options = check(MlcOptions, dict(given)).model_dump(exclude_none=True)
        problems = _contradictions(options)
        if problems:
            raise InputErrors(problems)
        options["runtime"] = float(math.ceil(options["runtime"]))
        return {**_OF_LOADED_LATENCY, **options} if options["test"] == "loaded_latency" else options

    def schema(self) -> dict[str, Any]:
        return MlcOptions.model_json_schema()

    def check(self, workloads: Sequence[Workload]) -> list[InputError]:
        return []

    def gating(self, workload: Workload) -> tuple[str, ...]:
        """Return the two ends of the curve; the latency of a node's own memory; the bandwidth of reads."""
        options = workload.options
        return {
            "latency_matrix": ("latency.local",),
            "max_bandwidth": ("bandwidth.mix_1_0",),
        }.get(options["test"]) or (f"latency.delay_{options['delays'][-1]}", "bandwidth.peak")

    def needs(self, workload: Workload) -> Needs:
        """Return the time alone: it asks nothing of a target."""
        return Needs(seconds=_seconds(workload.options), target=False)

    def command(self, workload: Workload, place: Place) -> Command:
        """Raise EngineError if mlc is missing."""
        program = shutil.which(self.program)
        if program is None:
            raise EngineError(
                "mlc is not installed",
                remedy="it is no package of any system: get the Memory Latency Checker from intel.com and "
                "put its program mlc on PATH; or use engine: memory, which measures the same",
            )
        options = workload.options
        size = size_of(options["buffer_size"])
        argv = [program, f"--{options['test']}", f"-t{options['runtime']:.0f}"]
        if size is not None:
            argv.append(f"-b{size // 1024}")
        if "stride" in options:
            argv.append(f"-l{parse_size(options['stride'])}")
        if options.get("mix", "1:0") != "1:0":
            argv.append(f"-W{MIXES[options['mix']]}")
        delays = options.get("delays")
        files = {_DELAYS_FILE: "".join(f"{delay}\n" for delay in delays)} if delays else {}
        argv += [f"-g{name}" for name in files]
        timeout = _seconds(options) * 2 + _PATIENCE
        return Command(tuple(argv), timeout=timeout, files=files)

    def recognises(self, text: str) -> bool:
        return _mlc_text.recognises(text)

    def parse(self, text: str, *, name: str, completed: Completed | None = None) -> Output:
        return _mlc_text.parse(text, name=name, completed=completed)

    def parts(self, text: str, *, name: str) -> list[Part]:
        return _mlc_text.parts(text, name=name)


def _seconds(options: Mapping[str, Any]) -> float:
    nodes = sum(1 for _ in _NODES.glob("node[0-9]*")) or 1
    points = {"latency_matrix": nodes**2, "max_bandwidth": 5 * _RATES}.get(options["test"])
    return float((points or len(options["delays"])) * (options["runtime"] + 1) + 10)


def _contradictions(options: Mapping[str, Any]) -> list[OptionError]:
    problems = []
    test = options["test"]
    only = {
        "loaded_latency": (),
        "latency_matrix": ("stride", "mix", "delays"),
        "max_bandwidth": ("mix", "delays"),
    }
    for key in only[test]:
        if key in options:
            problems.append(OptionError(f"{key}: {test} has no {key}", (key,)))
    if "stride" in options and (parse_size(options["stride"]) % 64 or parse_size(options["stride"]) < 64):
        problems.append(OptionError("stride: a stride is a multiple of 64 bytes", ("stride",)))
    size = size_of(options["buffer_size"])
    if size is not None and (size % 1024 or not size):
        problems.append(OptionError("buffer_size: mlc counts its buffers in KiB", ("buffer_size",)))
    return problems


engine = Mlc()
