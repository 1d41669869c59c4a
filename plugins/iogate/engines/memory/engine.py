"""Memory under load: latency and bandwidth as Intel's Memory Latency Checker shows them, on any machine.

`memory.c` does it, what it prints is read by `output.py`. Threads keep the memory busy, at a rate that
an injected delay sets, while another one follows pointers through a buffer far beyond the caches. Curves of
bandwidth and latency, and why they say more than either, are shown by Esmaili-Dokht et al., A Mess of Memory
System Benchmarking, Simulation and Application Profiling (MICRO 2024).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from iogate.engines.common.loaded_latency import size_of
from iogate.engines.memory import machine
from iogate.errors import EngineError, InputError
from iogate.host.native import compile_program, program_path
from iogate.host.process import Completed
from iogate.model import Command, Needs, Output, Place, Workload
from iogate.units import format_quantity, parse_size, size_text

_SOURCE = Path(__file__).with_name("memory.c")
_BEYOND_CACHES = 4
_LEAST_SIZE = 256 * 2**20  # where the caches are not known, or more is hidden in the memory controller
_WARM_UP, _SHORTEST_WARM_UP = 0.1, 0.02  # a share of the runtime, seconds
_LONGEST_WAIT, _LEAST_WAIT = 5, 2.0  # memory.c: MOST_TRIALS, LEAST_TRIAL_NS
_SETUP_SECONDS_PER_BYTE = 4 / 2**30
_PATIENCE = 60.0
_FREE_SHARE = 0.8


class Memory:
    """The engine `memory`, see `iogate.engines.Engine`."""

    name = "memory"
    program = "cc"
    package = "gcc"

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        from iogate.engines.memory.options import normalise_options

        return normalise_options(given)

    def schema(self) -> dict[str, Any]:
        from iogate.engines.memory.options import MemoryOptions

        return MemoryOptions.model_json_schema()

    def check(self, workloads: Sequence[Workload]) -> list[InputError]:
        """Return CPUs and memory that are asked for by name and are not here, and sizes within the caches.

        What was not asked for by name is told when the workload runs: a machine of one CPU has other suites.
        """
        problems: list[InputError] = []
        for workload in workloads:
            if not _asks_by_name(workload.options):
                continue
            try:
                _words(workload.options)
            except EngineError as error:
                message = f"{workload.name}: {error.message}"
                problems.append(InputError(message, position=workload.position, remedy=error.remedy))
        return problems

    def gating(self, workload: Workload) -> tuple[str, ...]:
        """Return latency without load and bandwidth without delay: the two ends of the curve."""
        return ("latency.idle", "bandwidth.peak")

    def needs(self, workload: Workload) -> Needs:
        """Return the time alone: it asks nothing of a target."""
        return Needs(seconds=_seconds(workload.options), target=False)

    def prepare(self) -> None:
        """Compile the program. Raises EngineError if that cannot be."""
        compile_program(_SOURCE)

    def command(self, workload: Workload, place: Place) -> Command:
        """Raise EngineError if there is no compiler, or not what `check` looks for."""
        words = _words(workload.options)
        argv = (str(program_path(_SOURCE)), *(f"{name}={value}" for name, value in words.items()))
        waits = _LEAST_WAIT * len(workload.options["delays"])
        return Command(argv, timeout=_seconds(workload.options) * _LONGEST_WAIT + waits + _PATIENCE)

    def recognises(self, text: str) -> bool:
        from iogate.engines.common.json_report import is_of

        return is_of(self.name, text)

    def parse(self, text: str, *, name: str, completed: Completed | None = None) -> Output:
        from iogate.engines.memory import output

        return output.parse(text, name=name, completed=completed)


def _asks_by_name(options: Mapping[str, Any]) -> bool:
    return options["buffer_size"] != "auto" or not {"pin", "threads"}.isdisjoint(options)


def _words(options: Mapping[str, Any]) -> dict[str, object]:
    """Return what `memory.c` is told. Raises EngineError for what is not to be had here."""
    cpus = machine.choose_cpus(options.get("pin"), options.get("threads"))
    size = _bytes(options)
    _check_size(size, options)
    reads, _, writes = options["mix"].partition(":")
    asked = options["huge_pages"]
    huge_pages = machine.has_huge_pages(2 * size) if asked == "auto" else asked
    return {
        "size": size,
        "load": size,
        "line": machine.cache_line(),
        "stride": parse_size(options["stride"]),
        "reads": reads,
        "writes": writes,
        "delays": ",".join(map(str, options["delays"])),
        "runtime_ns": round(options["runtime"] * 1e9),
        "warmup_ns": round(_warm_up(options) * 1e9),
        "huge_pages": int(huge_pages),
        "cpus": ",".join(map(str, cpus)),
        "seed": options["seed"],
    }


def _bytes(options: Mapping[str, Any]) -> int:
    given = size_of(options["buffer_size"])
    return given if given is not None else max(_BEYOND_CACHES * machine.cache_size(), _LEAST_SIZE)


def _check_size(size: int, options: Mapping[str, Any]) -> None:
    caches, free = machine.cache_size(), machine.free_memory()
    if size < 2 * caches and not options["cached"]:
        raise EngineError(
            f"buffer_size: {size_text(size)} is not beyond the caches of {format_quantity(caches, 'B')}",
            remedy="auto takes four times the caches; cached: true says that the caches are meant",
        )
    if free is not None and 2 * size > _FREE_SHARE * free:
        raise EngineError(
            f"buffer_size: {format_quantity(2 * size, 'B')} are needed for latency and load together, and "
            f"{format_quantity(free, 'B')} are free",
            remedy="end what uses the memory, or choose a smaller buffer_size",
        )


def _warm_up(options: Mapping[str, Any]) -> float:
    """Return the seconds of load before a point is counted."""
    return max(_WARM_UP * float(options["runtime"]), _SHORTEST_WARM_UP)


def _seconds(options: Mapping[str, Any]) -> float:
    """Return how long a repetition takes: to write both buffers, and each point with its warming up."""
    points = (len(options["delays"]) + 1) * (options["runtime"] + _warm_up(options))
    return float(points + 2 * _bytes(options) * _SETUP_SECONDS_PER_BYTE + 1)


engine = Memory()
