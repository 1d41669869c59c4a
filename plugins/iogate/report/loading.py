"""The results documents that a command line names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from iogate.errors import InputError
from iogate.report.json_file import NAME
from iogate.report.results import Results


def load_sessions(paths: Sequence[Path]) -> list[Results]:
    """Return the sessions of what `results_files` finds. Raises InputError, also for what is no results
    document.
    """
    return [Results.read(file) for file in results_files(paths)]


def results_files(paths: Sequence[Path]) -> list[Path]:
    """Return the results files that paths stand for, each once: files, folders of sessions, folders that hold
    such folders, and folders of files that `--io-json` wrote.

    Raises InputError for a folder that cannot be read, or holds none.
    """
    return list(dict.fromkeys(file for path in paths for file in _files(path)))


def _files(path: Path) -> list[Path]:
    if not os.path.isdir(path):
        return [path]
    try:
        os.scandir(path).close()  # glob finds nothing where it may not look
        own = path / NAME
        found = [own] if own.is_file() else sorted(file for file in path.glob(f"*/{NAME}") if file.is_file())
        found = found or sorted(path.glob("*.json"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    if not found:
        raise InputError(f"{path} holds no results of a session: no {NAME}, nor a folder with one")
    return found
