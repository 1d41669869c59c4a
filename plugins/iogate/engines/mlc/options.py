"""mlc's options as a suite gives them: checked, in one spelling."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from iogate.engines.common.latency_options import Delays, SizeOrAuto
from iogate.engines.common.loaded_latency import DELAYS, ratio, size_of
from iogate.engines.mlc.text import MIXES
from iogate.errors import InputErrors, OptionError
from iogate.formats.schema import Duration, Schema, Size, check
from iogate.units import parse_size


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


def normalise_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with their defaults. Raises InputErrors of OptionError."""
    options = check(MlcOptions, dict(given)).model_dump(exclude_none=True)
    problems = _contradictions(options)
    if problems:
        raise InputErrors(problems)
    options["runtime"] = float(math.ceil(options["runtime"]))
    return {**_OF_LOADED_LATENCY, **options} if options["test"] == "loaded_latency" else options


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
