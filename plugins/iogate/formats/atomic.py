"""Files that are whole at every moment."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
from pathlib import Path

from iogate.errors import IogateError


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace a file by this text, or these bytes, so that a reader, or a crash, finds the old one or the
    new one whole.

    Written beside it, flushed to the device, renamed (rename(2) is atomic within a file system). A symbolic
    link is followed, so that a linked file stays linked. Raises IogateError, also for what is no regular
    file; all is then as it was.
    """
    try:
        path = _real(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content.encode() if isinstance(content, str) else content)
                stream.flush()
                os.fchmod(descriptor, _mode(path))  # by what is held: its name may lead elsewhere by now
                os.fsync(descriptor)
            os.replace(name, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
        _sync_folder(path.parent)
    except OSError as error:
        raise IogateError(
            f"cannot write {path}: {error.strerror}", remedy="the file is as it was before"
        ) from error


def is_leftover(name: str, of: str) -> bool:
    """Return whether a file of this name may be what a crash left of writing the file `of` beside it."""
    return re.fullmatch(rf"\.{re.escape(of)}\.[a-z0-9_]{{8}}", name) is not None


def _real(path: Path) -> Path:
    """Return the file that is replaced, or made. Raises IogateError for what is no regular file, and OSError
    for a link that the kernel does not follow (of another user, in a folder for all).
    """
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise IogateError(f"cannot write {path}: it is no regular file", remedy="name a file")
    return Path(os.path.realpath(path))


def _mode(path: Path) -> int:
    """Return the mode of the file that is replaced, or what the umask leaves of 0666."""
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable; not every file system can, and then nothing is lost but time."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
