"""The sessions that the project of the current folder has kept."""

from __future__ import annotations

from pathlib import Path

from iogate.declare.project import find_project
from iogate.errors import InputError
from iogate.report.session_folders import newest


def kept_sessions() -> Path:
    """Return the folder that keeps the project's sessions, which need not be there."""
    return find_project(Path.cwd(), Path.cwd()).root / ".iogate" / "results"


def last_session() -> Path:
    """Return the folder of the project's last session. Raises InputError if none is kept."""
    folder = kept_sessions()
    session = newest(folder)
    if session is None:
        raise InputError(f"no session is kept in {folder}", remedy="name a results file")
    return session
