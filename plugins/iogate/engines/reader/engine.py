"""The native reader: a fixed amount of data shared out over threads, for strong scaling and for small blocks.

`reader.c` does the I/O, what it prints is read by `output.py`. Option names and their meanings are fio's
where fio has them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from iogate.engines.common.cpus import allowed_cpus, check_pinned, number_list, numbers_of
from iogate.engines.common.json_report import is_of
from iogate.engines.reader import output as _reader_output
from iogate.errors import EngineError, InputError, InputErrors, OptionError
from iogate.formats.schema import Schema, Size, check
from iogate.formats.words import value_text
from iogate.host import sysfs
from iogate.host.native import compile_program, program_path
from iogate.host.process import Completed
from iogate.model import Command, Needs, Output, Place, Workload
from iogate.units import parse_size

_SOURCE = Path(__file__).with_name("reader.c")
_NODES = Path("/sys/devices/system/node")
_MOST_THREADS = 4096
_SECTOR = 512  # the least that any device takes past the page cache; the target knows its own
_BATCH_BLOCK = 64 * 2**10
_PATIENCE = 60.0
_SLOWEST_BANDWIDTH = 10 * 2**20
_SLOWEST_IOPS = {"randread": 100, "read": 1000, "rw": 1000}
_SLOWEST_CALL = 5e-6


def _pattern(value: Any) -> Any:
    return "rw" if value == "readwrite" else value


def _threads(value: Any) -> int | list[int]:
    """Return one number of threads, or several in ascending order."""
    given = value if isinstance(value, list) else [value]
    for count in given:
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= _MOST_THREADS:
            raise ValueError(f"{value_text(count)} is not a number of threads from 1 to {_MOST_THREADS}")
    if not given or len(set(given)) < len(given) or len(given) > 64:
        raise ValueError("threads is a number, or a list of 1 to 64 different numbers such as [1, 2, 4, 8]")
    return sorted(given) if len(given) > 1 else int(given[0])


def _pin(value: Any) -> str | bool:
    return value if isinstance(value, bool) else number_list(value)


class ReaderOptions(Schema):
    """The reader's options."""

    rw: Annotated[Literal["read", "randread", "rw"], BeforeValidator(_pattern)] = Field(
        description="read: in order; randread: at random; rw: in order, each block is written back as it was"
    )
    size: Size = Field(description="how much data there is, and how much all threads read together")
    min_size: Size | None = Field(
        None, description="the least size, where --io-size or a profile asks for less: blocks for all threads"
    )
    bs: Size = Field("4k", description="block size, from 1 byte")
    threads: Annotated[int | list[int], BeforeValidator(_threads)] = Field(
        1, description="how many threads share the data; a list makes a scaling curve in each repetition"
    )
    ioengine: Literal["pread", "io_uring"] = Field("pread", description="how I/O is issued")
    iodepth: int = Field(1, ge=1, le=4096, description="I/Os that each thread keeps in flight, with io_uring")
    direct: bool | None = Field(
        None, description="past the page cache (O_DIRECT); the default unless cached is said"
    )
    cached: bool = Field(
        False, description="bring the data into the page cache before; otherwise they are dropped from it"
    )
    end_fsync: bool = Field(True, description="with rw: the wall time ends when all is on the device")
    pin: Annotated[str | bool, BeforeValidator(_pin)] = Field(
        False, description="bind each thread to one CPU; a list such as 0-3,8 says to which"
    )
    numa: Annotated[str | None, BeforeValidator(number_list)] = Field(
        None, description="bind threads, and with them their memory, to these nodes in turn"
    )
    seed: int = Field(1, ge=0, lt=2**63, description="of the random offsets")


class Reader:
    """The engine `reader`, see `iogate.engines.Engine`."""

    name = "reader"
    program = "cc"
    package = "gcc"

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        options = check(ReaderOptions, dict(given))
        found = options.model_dump(exclude_none=True)
        found["size"] = max(options.size, found.pop("min_size", options.size), key=parse_size)
        found.setdefault("direct", not options.cached)
        problems = _contradictions(found)
        if problems:
            raise InputErrors(problems)
        if options.rw != "rw":
            del found["end_fsync"]
        if not options.pin:
            del found["pin"]
        return found

    def schema(self) -> dict[str, Any]:
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
        return tuple(f"{_reader_output.prefix(count)}wall_time" for count in threads)

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
        return Command(argv, timeout=_seconds(options) * 1.1 + _PATIENCE)

    def recognises(self, text: str) -> bool:
        return is_of(self.name, text)

    def parse(self, text: str, *, name: str, completed: Completed | None = None) -> Output:
        return _reader_output.parse(text, name=name, completed=completed)


def counts(options: Mapping[str, Any]) -> list[int]:
    """Return the numbers of threads of each pass."""
    threads = options["threads"]
    return list(threads) if isinstance(threads, list) else [int(threads)]


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


def _contradictions(options: Mapping[str, Any]) -> list[OptionError]:
    problems = []
    size, block, most = parse_size(options["size"]), parse_size(options["bs"]), max(counts(options))
    if not 0 < block < 2**31 - 4096:
        problems.append(OptionError("bs: a block has from 1 byte to just below 2 GiB", ("bs",)))
        return problems
    if block > size:
        message = f"size: {options['size']} is less than one block of {options['bs']}"
        problems.append(OptionError(message, ("size",)))
    elif _blocks(size, block, options["rw"]) < most:
        message = f"size: {options['size']} has too few blocks of {options['bs']} for {most} threads"
        remedy = "a larger size, smaller blocks or fewer threads"
        problems.append(OptionError(message, ("size",), remedy=remedy))
    if options["direct"] and options["cached"]:
        problems.append(OptionError("cached: true is the page cache, direct: true goes past it", ("cached",)))
    if options["direct"]:
        for key, value in (("bs", block), ("size", size)):
            if value % _SECTOR:
                message = f"{key}: direct I/O takes multiples of {_SECTOR} bytes, not {options[key]}"
                remedy = "direct: false reads through the page cache, after it was dropped"
                problems.append(OptionError(message, (key,), remedy=remedy))
    if options["ioengine"] == "pread" and options["iodepth"] > 1:
        message = "iodepth: pread has one I/O in flight per thread; more need ioengine: io_uring"
        problems.append(OptionError(message, ("iodepth",)))
    if options["pin"] and "numa" in options:
        problems.append(OptionError("pin: choose either pin or numa", ("pin",)))
    return problems


def _blocks(size: int, block: int, rw: str) -> int:
    """Return the blocks of a pass; random patterns leave out what is left at the end."""
    return size // block if rw == "randread" else -(-size // block)


engine = Reader()
