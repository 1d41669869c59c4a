"""The files of measurements that a path stands for: itself, or those in a folder."""

from __future__ import annotations

from pathlib import Path

from iogate.errors import InputError
from iogate.report.json_file import NAME

SUFFIXES = (".json", ".txt", ".out")
"""The files of a folder that are read."""


def files_of(path: Path) -> list[Path]:
    """Return a file itself, or the files of measurements in a folder and, if it is no session's own, the
    results of the sessions in it.

    Raises InputError for a folder without any.
    """
    if not path.is_dir():
        return [path]
    try:
        found = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES and file.is_file())
        if not (path / NAME).is_file():
            found += sorted(filter(Path.is_file, path.glob(f"*/{NAME}")))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    if not found:
        suffixes = ", ".join("*" + suffix for suffix in SUFFIXES)
        raise InputError(f"{path} holds no file {suffixes}, and no folder of a session with its {NAME}")
    return found


def is_results(data: bytes) -> bool:
    """Return whether a file means to be results of iogate."""
    return all(word in data for word in (b'"schema"', b'"workloads"')) and b'"fio version"' not in data
