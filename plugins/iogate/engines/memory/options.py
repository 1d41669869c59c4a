"""The options of `memory` as a suite gives them: checked, in one spelling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from iogate.engines.common.cpus import number_list, numbers_of
from iogate.engines.common.latency_options import Delays, SizeOrAuto
from iogate.engines.common.loaded_latency import DELAYS, ratio, size_of
from iogate.errors import InputErrors, OptionError
from iogate.formats.schema import Duration, Schema, Size, check
from iogate.units import parse_size

_MIX = WithJsonSchema({"type": "string", "description": "reads:writes, such as 3:1"})


class MemoryOptions(Schema):
    """The options of `memory`."""

    buffer_size: SizeOrAuto = Field(
        "auto",
        description="of the buffer for latency, and of those for load together; auto: four times the caches",
    )
    stride: Size = Field("64", description="bytes from one line of the load to the next")
    mix: Annotated[str, BeforeValidator(ratio), _MIX] = Field(
        "1:0", description="lines that the memory reads to lines that it writes; each written one is read"
    )
    delays: Delays = Field(list(DELAYS))
    runtime: Duration = Field(1.0, ge=0.001, le=3600, description="seconds of each point")
    threads: int | None = Field(
        None, ge=1, le=1023, description="of the load; by default all CPUs but the core that measures latency"
    )
    pin: Annotated[str, BeforeValidator(number_list)] | None = Field(
        None, description="CPUs such as 0-3,8: the first measures latency, the others make the load"
    )
    huge_pages: Literal["auto", True, False] = Field(
        "auto", description="true: or fail; auto: if the kernel has them; small pages add TLB misses"
    )
    cached: bool = Field(False, description="a buffer_size within the caches is meant, to measure those")
    seed: int = Field(1, ge=0, lt=2**63, description="of the random order")


def normalise_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with their defaults. Raises InputErrors of OptionError."""
    options = check(MemoryOptions, dict(given))
    problems = _contradictions(options)
    if problems:
        raise InputErrors(problems)
    return options.model_dump(exclude_none=True)


def _contradictions(options: MemoryOptions) -> list[OptionError]:
    problems = []
    stride, size = parse_size(options.stride), size_of(options.buffer_size)
    if stride % 64 or not 64 <= stride <= 65536:
        problems.append(OptionError("stride: a stride is a multiple of 64 bytes up to 64k", ("stride",)))
    if size is not None and size < 2**14:
        problems.append(
            OptionError("buffer_size: less than 16k is less than any cache has", ("buffer_size",))
        )
    if options.pin and options.threads and len(numbers_of(options.pin)) <= options.threads:
        message = f"threads: {options.threads} and the one for latency are more than the CPUs of pin"
        problems.append(OptionError(message, ("threads",)))
    return problems
