"""The results documents that a command line names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from iogate.errors import InputError
from iogate.report.json_file import NAME
from iogate.report.results import Results


def load_sessions(paths: Sequence[Path]) -> list[Results]:
    """Return the sessions of files, of folders of sessions, and of folders that hold such folders.

    Raises InputError for a folder without any, and for what is no results document.
    """
    return [Results.read(file) for path in paths for file in _files(path)]


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    try:
        own = path / NAME
        found = [own] if own.is_file() else sorted(file for file in path.glob(f"*/{NAME}") if file.is_file())
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    if not found:
        raise InputError(f"{path} is no folder of a session, nor one of sessions: there is no {NAME} in it")
    return found
