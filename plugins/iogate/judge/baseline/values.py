"""Definitions and values as a baseline keeps them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from iogate.units import printable

_DIGITS = 6


def round_value(value: float) -> int | float:
    """Return six significant digits, no decimals from 10,000 on: at most 0.005% off."""
    short = round(float(value), _DIGITS - 1 - math.floor(math.log10(value)))
    return round(short) if short >= 10_000 or short == int(short) else short


def median(values: Any) -> int | float:
    """Return the median of a number, a list of numbers, or all numbers in a list of lists."""
    import statistics

    if not isinstance(values, list):
        return float(values)
    flat = [item for row in values for item in (row if isinstance(row, list) else [row])]
    return round_value(statistics.median(flat))


def plain(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Return a definition in the types of JSON, as its hash sees it."""
    copy: dict[str, Any] = json.loads(json.dumps(dict(definition), default=str))
    return copy


def flat(definition: Mapping[str, Any]) -> dict[str, str]:
    """Return a definition as dotted keys and values to show."""
    found: dict[str, str] = {}
    for key, value in plain(definition).items():
        if isinstance(value, dict):
            found |= {f"{key}.{inner}": text for inner, text in flat(value).items()}
        else:
            found[key] = value if isinstance(value, str) else json.dumps(value)
    return found


def clean_text(text: str) -> str:
    """Return text of others as it may be stored and shown: one line, printable, UTF-8."""
    return printable(" ".join(text.encode("utf-8", errors="replace").decode().split()))
