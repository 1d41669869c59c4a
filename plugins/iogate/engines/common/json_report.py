"""The JSON that our own native engines print: read strictly, with an error that says where it is wrong."""

from __future__ import annotations

import json
import re
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from iogate.errors import OutputError, Position
from iogate.formats.schema import told
from iogate.host.process import Completed
from iogate.units import printable

Count = Annotated[int, Field(ge=0, lt=2**64, strict=True)]
Some = Annotated[int, Field(ge=1, lt=2**64, strict=True)]
_KILLED = -9


class Shape(BaseModel):
    """What a part of an output looks like: these keys and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True)


_Report = TypeVar("_Report", bound=Shape)


def is_of(engine: str, text: str) -> bool:
    """Return whether a text has the marks of a native engine's output: its first two keys."""
    return re.search(rf'\{{\s*"{engine}"\s*:\s*\d+\s*,\s*"compiler"\s*:', text) is not None


def read_report(
    shape: type[_Report], text: str, name: str, engine: str, completed: Completed | None
) -> _Report:
    """Return the report in an engine's output. Raises OutputError, with the engine's own words if it
    failed.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        words = last_message(completed, engine) if completed else ""
        if words:
            raise OutputError(f"{name}: {engine} failed: {words}") from None
        line, column = getattr(error, "lineno", 1), getattr(error, "colno", 1)
        message = f"this is not the JSON of {engine}: it is cut short or changed"
        raise OutputError(message, position=Position(name, line, column)) from None
    try:
        return shape.model_validate(data)
    except ValidationError as error:
        for first in told(error):
            where = ".".join(map(str, first["loc"])) or "the output"
            raise OutputError(printable(f"{name}: {where}: {first['msg']}")) from None
        raise OutputError(f"{name}: {error.error_count()} mistakes: no output of {engine}") from None


def check_status(name: str, engine: str, completed: Completed | None) -> None:
    """Refuse the output of a run that failed. Raises OutputError."""
    if completed and completed.status:
        words = last_message(completed, engine)
        raise OutputError(f"{name}: {engine} ended with status {completed.status}: {words}")


def last_message(completed: Completed, engine: str) -> str:
    """Return the last of what an engine said on stderr, or how it died; empty if neither."""
    lines = [line for line in completed.stderr.splitlines() if line.strip()]
    if lines:
        return printable(lines[-1].removeprefix(f"{engine}: ")[:500])
    if completed.status == _KILLED:
        return "it was killed, as happens when memory runs out (signal 9; see dmesg)"
    return f"it died of signal {-completed.status}" if completed.status < 0 else ""
