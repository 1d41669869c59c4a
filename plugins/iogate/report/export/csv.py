"""CSV: RFC 4180 with a head line, UTF-8, one row for each metric."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from iogate.report.export.rows import FlatRow, rows
from iogate.report.results import Results

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet takes for the beginning of a formula, also in full width (OWASP, CSV Injection)."""


def export(sessions: Sequence[Results]) -> str:
    """Return sessions as CSV; the values of the repetitions are in one cell, parted by blanks."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    names = [item.name for item in fields(FlatRow)]
    writer.writerow(names)
    for row in rows(sessions):
        writer.writerow([_cell(getattr(row, name)) for name in names])
    return text.getvalue()


def _cell(value: Any) -> str:
    """Return a value as a cell; empty for what is not known, or was not finite."""
    if value is None:
        return ""
    if isinstance(value, tuple):
        return " ".join(_cell(item) or "nan" for item in value)
    if isinstance(value, bool):
        return str(value).lower()
    return plain(value) if isinstance(value, str) else repr(value)


def plain(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula: an apostrophe before what could be one."""
    return f"'{text}" if text.startswith(_FORMULA) else text
