"""Options that the engines which measure loaded latency have in common."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, WithJsonSchema

from iogate.engines.common.loaded_latency import ascending, auto_size

Delays: TypeAlias = Annotated[
    list[int],
    BeforeValidator(ascending),
    WithJsonSchema(
        {
            "anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}],
            "description": "cycles that a thread of the load waits for each four lines; a point for each",
        }
    ),
]
"""The delays of a curve, as an option."""
SizeOrAuto: TypeAlias = Annotated[
    str,
    BeforeValidator(auto_size),
    WithJsonSchema({"type": ["string", "integer"], "description": "a size, or auto"}),
]
"""The size of a buffer, as an option."""
