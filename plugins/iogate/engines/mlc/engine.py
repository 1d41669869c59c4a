"""Intel's Memory Latency Checker, where a user has it: Intel alone may distribute it, and Intel's processors
alone run it. What it prints is read by `text.py`.

The meaning of its options is that of the readme that comes with it; `memory` measures the same elsewhere.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from iogate.engines.common.loaded_latency import size_of
from iogate.engines.mlc import text as _mlc_text
from iogate.engines.mlc.text import MIXES
from iogate.errors import EngineError, InputError
from iogate.host.process import Completed
from iogate.host.tools import tool_path
from iogate.model import Command, Needs, Output, Part, Place, Workload
from iogate.units import parse_size

_NODES = Path("/sys/devices/system/node")
_DELAYS_FILE = "delays.txt"
_RATES = 40  # at which the search for the highest bandwidth looks, for each of its five mixes, and more
_PATIENCE = 120.0


class Mlc:
    """The engine `mlc`, see `iogate.engines.Engine`."""

    name = "mlc"
    program = "mlc"
    package = ""

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        from iogate.engines.mlc.options import normalise_options

        return normalise_options(given)

    def schema(self) -> dict[str, Any]:
        from iogate.engines.mlc.options import MlcOptions

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
        program = shutil.which(self.program, path=tool_path())
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


engine = Mlc()
