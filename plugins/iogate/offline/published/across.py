"""Checks across rows and tables: one number in two units, one speed whatever was done."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TypeAlias

from iogate.offline.published.cells import Quantity, unit_factor
from iogate.offline.published.findings import FigureFinding, FigureFindings
from iogate.offline.published.row import Row
from iogate.offline.published.tables import Table

_RATE = re.compile(r"\b(\d+\.\d+)\s*((?:k|M|G|Ki|Mi|Gi)B/s(?:ec)?)\b")
_FEWEST_DIGITS = 5
_SAME = 0.0005

Elsewhere: TypeAlias = "Mapping[str, tuple[int, str]]"
"""Numbers as printed, with the line (from 1) and the unit of the first place where each stands."""


def rates(text: str) -> Elsewhere:
    """Return all bandwidths of a text whose number is long enough to be the same by no accident."""
    found: dict[str, tuple[int, str]] = {}
    for line, content in enumerate(text.split("\n"), 1):
        for number, unit in _RATE.findall(content):
            if len(number) > _FEWEST_DIGITS:
                found.setdefault(number, (line, unit))
    return found


def ceiling(table: Table) -> FigureFindings:
    """Find rows of different block sizes that are equally fast to the last digits.

    `note`: a link or controller is the limit, which hides what the rows would tell apart.

    Do not compare such rows with each other.
    """
    known: dict[int, dict[int, tuple[Row, Quantity]]] = {}
    """By speed, in steps of what counts as the same: the first rows of two block sizes, which will do."""
    for row in table.rows:
        figure = row.first("bandwidth")
        if not row.block or not figure or figure.value <= 0:
            continue
        step = math.floor(math.log(figure.value) / math.log1p(_SAME))
        near = [twin for other in (step - 1, step, step + 1) for twin in known.get(other, {}).values()]
        for other, twin in near:
            if other.block != row.block and abs(twin.value / figure.value - 1) < _SAME:
                yield FigureFinding(
                    row.line,
                    "ceiling",
                    "note",
                    frozenset({"bandwidth"}),
                    f"{row.label}: {figure.text} is what line {other.line} has with other blocks "
                    f"({twin.text}): the limit of a link or controller, which hides the rest",
                )
                break
        first = known.setdefault(step, {})
        if len(first) < 2:
            first.setdefault(row.block, (row, figure))


def unit_clash(table: Table, elsewhere: Elsewhere) -> FigureFindings:
    """Find bandwidths whose number stands elsewhere in the text with another unit.

    `invalid`: one of the two places is wrong, and the other says by how much.

    Find out which is right, by IOPS x block size or by the time that the data took.
    """
    for row in table.rows:
        for figure in row.figures:
            number = figure.text.split(" ")[0]
            if figure.kind != "bandwidth" or number not in elsewhere:
                continue
            line, unit = elsewhere[number]
            factor = unit_factor("bandwidth", unit)
            if line != row.line and factor and factor != unit_factor("bandwidth", figure.unit):
                yield FigureFinding(
                    row.line,
                    "unit_clash",
                    "invalid",
                    frozenset({"bandwidth"}),
                    f"{row.label}: {figure.text} is {number} {unit} in line {line}",
                )
