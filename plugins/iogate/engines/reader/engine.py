"""The native reader: a fixed amount of data shared out over threads, for strong scaling and for small blocks.

`reader.c` does the I/O, what it prints is read by `output.py`. Option names and their meanings are fio's
where fio has them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from iogate.engines.common.cpus import allowed_cpus, check_pinned, numbers_of
from iogate.engines.reader.passes import counts, prefix
from iogate.errors import EngineError, InputError
from iogate.host import sysfs
from iogate.host.native import compile_program, program_path
from iogate.host.process import Completed
from iogate.model import Command, Needs, Output, Place, Workload
from iogate.units import parse_size

_SOURCE = Path(__file__).with_name("reader.c")
_NODES = Path("/sys/devices/system/node")
_BATCH_BLOCK = 64 * 2**10
_PATIENCE = 60.0
_SLOWEST_BANDWIDTH = 10 * 2**20
_SLOWEST_IOPS = {"randread": 100, "read": 1000, "rw": 1000}
_SLOWEST_CALL = 5e-6


class Reader:
    """The engine `reader`, see `iogate.engines.Engine`."""

    name = "reader"
    program = "cc"
    package = "gcc"

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        from iogate.engines.reader.options import normalise_options

        return normalise_options(given)

    def schema(self) -> dict[str, Any]:
        from iogate.engines.reader.options import ReaderOptions

        return ReaderOptions.model_json_schema()

    def check(self, workloads: Sequence[Workload]) -> list[InputError]:
        """Return CPUs and nodes that this machine does not have."""
        problems: list[InputError] = []
        for workload in workloads:
            try:
                cpus(workload.options, 1)
            except EngineError as error:
                message = f"{workload.name}: {error.message}"
                problems.append(InputError(message, position=workload.position, remedy=error.remedy))
        return problems

    def gating(self, workload: Workload) -> tuple[str, ...]:
        """Return the wall time: of a fixed amount of data it says the same as any bandwidth or IOPS."""
        threads = workload.options["threads"]
        if isinstance(threads, int):
            return ("wall_time",)
        return tuple(f"{prefix(count)}wall_time" for count in threads)

    def gating_of(self, output: Output) -> tuple[str, ...]:
        """Return the wall time, of each number of threads."""
        return tuple(name for name in output.metrics if name.rpartition(".")[2] == "wall_time")

    def needs(self, workload: Workload) -> Needs:
        options = workload.options
        size, passes = parse_size(options["size"]), len(counts(options))
        writes = options["rw"] == "rw"
        return Needs(
            size=size,
            reads=True,
            writes=writes,
            direct=options["direct"],
            block=parse_size(options["bs"]),
            seconds=_seconds(options),
            written=size * passes if writes else 0,
            cached=options["cached"],
            own=workload.own_data,
        )

    def prepare(self) -> None:
        """Compile the program. Raises EngineError if that cannot be."""
        compile_program(_SOURCE)

    def command(self, workload: Workload, place: Place) -> Command:
        """Raise EngineError if there is no compiler, or no CPU of that number."""
        options = workload.options
        words = {
            "file": place.data,
            "size": parse_size(options["size"]),
            "bs": parse_size(options["bs"]),
            "rw": options["rw"],
            "threads": ",".join(map(str, counts(options))),
            "ioengine": options["ioengine"],
            "iodepth": options["iodepth"],
            "direct": int(options["direct"]),
            "cached": int(options["cached"]),
            "end_fsync": int(options.get("end_fsync", False)),
            "seed": options["seed"],
            "batch": batch(options),
        }
        lists = cpus(options, max(counts(options)))
        if lists:
            words["cpus"] = "/".join(lists)
        argv = (str(program_path(_SOURCE)), *(f"{name}={value}" for name, value in words.items()))
        seconds = _seconds(options)
        return Command(argv, timeout=seconds * 1.1 + _PATIENCE, by_size=seconds)

    def recognises(self, text: str) -> bool:
        from iogate.engines.common.json_report import is_of

        return is_of(self.name, text)

    def parse(self, text: str, *, name: str, completed: Completed | None = None) -> Output:
        from iogate.engines.reader import output

        return output.parse(text, name=name, completed=completed)


def batch(options: Mapping[str, Any]) -> int:
    """Return the blocks that share one reading of the clock (25 to 50 ns): several where a block costs no
    more than a few hundred ns, so that the clock stays below 1% of the time; else each block has its own
    latency.
    """
    block = parse_size(options["bs"])
    if options["ioengine"] == "io_uring" or options["direct"]:
        return 1
    if block < 4096:
        return 64
    return 16 if options["cached"] and block < _BATCH_BLOCK else 1


def cpus(options: Mapping[str, Any], threads: int) -> list[str]:
    """Return the CPUs of each thread, or of as many threads as there are different lists; empty: anywhere.

    Raises EngineError for CPUs and nodes that are not here.
    """
    allowed = allowed_cpus()
    if "numa" in options:
        return [_node(node, allowed) for node in numbers_of(options["numa"])]
    if "pin" not in options:
        return []
    wanted = allowed if options["pin"] is True else numbers_of(options["pin"])
    check_pinned(wanted)
    return [str(cpu) for cpu in wanted][:threads]


def _node(node: int, allowed: Sequence[int]) -> str:
    """Return the CPUs of a NUMA node, of those that this process may use."""
    try:
        text = sysfs.text(_NODES / f"node{node}" / "cpulist")
        found = [cpu for cpu in numbers_of(text) if cpu in allowed]
    except ValueError:
        raise EngineError(f"numa: there is no node {node} here (see {_NODES})") from None
    if not found:
        raise EngineError(f"numa: node {node} has no CPU that this process may use")
    return ",".join(map(str, found))


def _seconds(options: Mapping[str, Any]) -> float:
    """Return the longest that a repetition should take on a slow device, as for fio: 10 MiB/s, 100 random or
    1000 sequential IOPS; through the page cache no more accesses than the data have pages.
    """
    size, block = parse_size(options["size"]), parse_size(options["bs"])
    operations = size / block
    accesses = operations if options["direct"] else min(operations, size / 4096)
    directions = 2 if options["rw"] == "rw" else 1
    device = max(size / _SLOWEST_BANDWIDTH, accesses / _SLOWEST_IOPS[options["rw"]])
    return math.ceil(directions * len(counts(options)) * (device + operations * _SLOWEST_CALL))


engine = Reader()
