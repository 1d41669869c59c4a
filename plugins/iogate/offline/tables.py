"""`iogate report --table=NAME`: a table of sessions that were kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from iogate.offline.kept import last_session
from iogate.report.latency_table import latency_table
from iogate.report.loading import load_sessions
from iogate.report.results import Results

TABLES: Mapping[str, Callable[[Sequence[Results]], str]] = {"latency": latency_table}
"""Each of the tables, by the name that it is asked for."""


def table(name: str, paths: Sequence[Path]) -> str:
    """Return a table of results files, or of the project's last session. Raises InputError."""
    return TABLES[name](load_sessions(paths or [last_session()]))
