"""`iogate report --table=NAME`: a table of sessions that were kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from iogate.declare.project import find_project
from iogate.errors import InputError
from iogate.offline.folders import files_of
from iogate.report.json_file import NAME
from iogate.report.latency_table import latency_table
from iogate.report.results import Results

TABLES: Mapping[str, Callable[[Sequence[Results]], str]] = {"latency": latency_table}
"""Each of the tables, by the name that it is asked for."""

_KEPT = Path(".iogate") / "results"


def table(name: str, paths: Sequence[Path]) -> str:
    """Return a table of results files, or of the project's last session. Raises InputError."""
    files = [file for path in paths for file in files_of(path)] if paths else [_last()]
    return TABLES[name]([Results.read(file) for file in files])


def _last() -> Path:
    """Return the results of the project's last session. Raises InputError if none is kept."""
    folder = find_project(Path.cwd(), Path.cwd()).root / _KEPT
    found = sorted(folder.glob(f"*/{NAME}"))  # a name begins with the time
    if not found:
        raise InputError(f"no session is kept in {folder}", remedy="name a results file")
    return found[-1]
