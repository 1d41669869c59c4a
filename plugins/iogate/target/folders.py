"""Folders that are held open, in a directory into which others may write: reached by what is held, never by a
name, which may lead elsewhere by now.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""Flags with which a folder is opened."""
_TRIES = 100  # to remove a folder that somebody renames over and over
_DEEPEST = 64  # folders within one another, more than any run makes


@contextlib.contextmanager
def open_folder(parent: int, name: str) -> Iterator[int]:
    """Open a folder in an open directory, not through a link. Raises OSError."""
    folder = os.open(name, FOLDER, dir_fd=parent)
    try:
        yield folder
    finally:
        os.close(folder)


def names_in(folder: int) -> list[str]:
    """Return what is in an open folder; opened anew, as btrfs lists what was there when it was opened."""
    with open_folder(folder, ".") as again:
        return os.listdir(again)


def remove_folder(parent: int, folder: int, name: str, last: str = "") -> None:
    """Remove an open folder, whatever it is called by now, and all that is in it, `last` at the end. Raises
    OSError.
    """
    _empty(folder, os.fstat(folder).st_dev, last=last)
    for _ in range(_TRIES):
        with contextlib.suppress(FileNotFoundError):  # it was renamed once more
            os.rmdir(_name_in(parent, folder, name) or name, dir_fd=parent)
            return
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))


def _name_in(parent: int, folder: int, first: str) -> str | None:
    """Return what an open folder is called in the directory that it was made in; None if it is not there."""
    own = os.fstat(folder)
    if leads_to(parent, first, own):
        return first
    return next((name for name in names_in(parent) if leads_to(parent, name, own)), None)


def leads_to(parent: int, name: str, own: os.stat_result) -> bool:
    """Return whether a name in an open directory is that of `own`."""
    try:
        return os.path.samestat(os.stat(name, dir_fd=parent, follow_symlinks=False), own)
    except OSError:
        return False


def _empty(folder: int, file_system: int, last: str = "", deepest: int = _DEEPEST) -> None:
    """Remove all that is in an open folder, `last` at the end; never through a symbolic link nor into another
    file system that somebody mounted there. Raises OSError, also for what no run made: it is too deep.
    """
    if not deepest:
        raise OSError(errno.ENAMETOOLONG, "too many folders within one another")
    for name in sorted(names_in(folder), key=lambda name: name == last):
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISDIR(status.st_mode):
            os.unlink(name, dir_fd=folder)
        elif status.st_dev == file_system:
            with open_folder(folder, name) as inner:
                _empty(inner, file_system, deepest=deepest - 1)
            os.rmdir(name, dir_fd=folder)
