"""The results documents that a command line names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from iogate.errors import InputError
from iogate.formats.reading import read_at_once
from iogate.report.json_file import NAME
from iogate.report.results import Results

_HEAD = 4096  # bytes of a file that are looked at
_FIRST_KEYS = (b'"schema"', b'"device"', b'"session"')


def load_sessions(paths: Sequence[Path]) -> list[Results]:
    """Return the sessions of what `results_files` finds. Raises InputError, also for what is no results
    document.
    """
    return [Results.read(file) for file in results_files(paths)]


def results_files(paths: Sequence[Path]) -> list[Path]:
    """Return the results files that paths stand for, each once: files, folders of sessions, folders that hold
    such folders, and folders of files that `--io-json` wrote; of a folder that holds several of these, all.

    Raises InputError for a folder that cannot be read, or holds none.
    """
    return list(dict.fromkeys(file for path in paths for file in _files(path)))


def _files(path: Path) -> list[Path]:
    if not os.path.isdir(path):
        return [path]
    try:
        os.scandir(path).close()  # glob finds nothing where it may not look
        own = path / NAME
        found = [own] if own.is_file() else _files_within(path)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    if not found:
        raise InputError(f"{path} holds no results of a session: no {NAME}, nor a folder with one")
    return found


def _files_within(path: Path) -> list[Path]:
    """Return the results in a folder that is no session's own: those of sessions in it, and what `--io-json`
    wrote under other names, as it does for several devices, there or in a folder of it. What else is beside
    sessions, or a folder further down, is passed over.
    """
    sessions = sorted(file for file in path.glob(f"*/{NAME}") if file.is_file())
    loose = (file for file in sorted(path.glob("*.json")) if not sessions or _means_results(file))
    further = (file for file in sorted(path.glob("*/*.json")) if not (file.parent / NAME).is_file())
    return [*sessions, *loose, *filter(_means_results, further)]


def _means_results(file: Path) -> bool:
    """Return whether a file begins as results do. An empty one may be what this command's output goes to."""
    try:
        head = read_at_once(file, _HEAD) if file.is_file() else b""
    except OSError:
        return True  # who reads it says why it cannot be
    return all(word in head for word in _FIRST_KEYS)
