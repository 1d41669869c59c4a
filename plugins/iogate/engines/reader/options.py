"""The reader's options as a suite gives them: checked, in one spelling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from iogate.engines.common.cpus import number_list
from iogate.engines.reader.passes import counts
from iogate.errors import InputErrors, OptionError
from iogate.formats.schema import Schema, Size, check
from iogate.formats.words import value_text
from iogate.units import parse_size

_MOST_THREADS = 4096
_SECTOR = 512  # the least that any device takes past the page cache; the target knows its own


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


def normalise_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with their defaults. Raises InputErrors of OptionError."""
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
