"""A value of fio's JSON as a number that somebody can have measured."""

from __future__ import annotations

import math
from typing import Any

from iogate.engines.fio.json_reader import TWICE
from iogate.errors import OutputError
from iogate.units import printable


def number(value: Any, what: str, name: str) -> float:
    """Return a figure that can be a measured one. Raises OutputError for anything but a finite number from 0
    up.
    """
    if value is TWICE:
        raise OutputError(f"{name}: {what} is there twice, with different values")
    try:
        figure = math.nan if isinstance(value, (bool, str)) or value is None else float(value)
    except (TypeError, OverflowError):
        figure = math.nan
    if not math.isfinite(figure) or figure < 0:
        raise OutputError(f"{name}: {what} is {printable(str(value)[:40])}, which nobody can have measured")
    return figure


def whole_number(value: Any, what: str, name: str) -> int:
    """Return a count. Raises OutputError."""
    figure = number(value, what, name)
    if figure != int(figure):
        raise OutputError(f"{name}: {what} is {figure}, which is not a count")
    return int(value)
