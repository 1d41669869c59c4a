"""Results documents in the formats of other tools. Each format is a module with a function that takes
sessions and returns text, or bytes where the format is no text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

from iogate.errors import InputError
from iogate.report.export.selection import gating_only
from iogate.report.results import Results

FORMATS: Mapping[str, str] = {
    "csv": "one row for each metric, for spreadsheets",
    "parquet": "the same rows in columns with types (needs pyarrow)",
    "openmetrics": "gauges for Prometheus",
    "benchstat": "Go's benchmark format, for benchstat",
    "bencher": "Bencher Metric Format, JSON",
}
"""The formats by name, and what each is for."""

_Export = Callable[[Sequence[Results]], str | bytes]


def export(sessions: Sequence[Results], format: str, *, gating: bool = False) -> str | bytes:
    """Return sessions in a format, one of `FORMATS`; with `gating` the metrics that decide only.

    Raises InputError for what the format cannot say.
    """
    names = [session.session for session in sessions]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"the session {twice} is given twice")
    write: _Export = import_module(f"{__name__}.{format}").export
    return write([gating_only(session) for session in sessions] if gating else sessions)
