"""Files that somebody named to be written: what is none of ours is not overwritten."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from iogate.errors import InputError
from iogate.formats.atomic import write_atomically
from iogate.formats.held import held_file, held_folder, within


def require_place(path: Path, is_ours: Callable[[Path], bool], what: str) -> None:
    """Raise InputError for a file that must not be replaced, or cannot be written; `what` ours is called.

    A symbolic link is what it leads to.
    """
    try:
        with held_file(path) as (held, name):
            if os.path.lexists(within(held, name)):
                _require_ours(within(held, name), path, is_ours, what)
    except (FileNotFoundError, NotADirectoryError):
        pass  # there is no folder yet
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error
    try:
        real = Path(os.path.realpath(path))
    except OSError as error:  # a link that is a folder by now
        raise InputError(f"cannot write {path}: somebody changes the way there") from error
    folder = next(parent for parent in real.parents if parent.exists())
    if not os.access(folder, os.W_OK | os.X_OK, effective_ids=True):
        raise InputError(f"cannot write {path}: this user may not write in {folder}")
    if not folder.is_dir():
        raise InputError(f"cannot write {path}: {folder} is no folder")


def replace_place(path: Path, text: str, is_ours: Callable[[Path], bool], what: str) -> None:
    """Write a file that somebody named. Raises IogateError for one that must not be replaced: what has come
    there since it was looked at is not lost.
    """
    write_atomically(path, text, lambda found: _require_ours(found, path, is_ours, what))


def _require_ours(found: Path, path: Path, is_ours: Callable[[Path], bool], what: str) -> None:
    if not is_ours(found):
        raise InputError(
            f"{path} is there already, and is no {what} of iogate: it is not overwritten",
            remedy="name another file, or remove this one",
        )


def require_folder(path: Path, what: str, remedy: str) -> None:
    """Raise InputError if a folder, which need not be there yet, could not be written in; `what` is kept
    there.
    """
    places = (path.absolute(), *path.absolute().parents)
    there = next(place for place in places if os.path.lexists(place))
    if not there.is_dir():
        raise InputError(f"{what} cannot be kept in {path}: {there} is no folder", remedy=remedy)
    if not os.access(there, os.W_OK | os.X_OK, effective_ids=True):
        raise InputError(f"{what} cannot be kept in {path}: {there} cannot be written in", remedy=remedy)
    try:
        with held_folder(there):
            pass
    except OSError as error:
        raise InputError(f"{what} cannot be kept in {path}: {error.strerror}", remedy=remedy) from error
