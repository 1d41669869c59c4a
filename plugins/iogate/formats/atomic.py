"""Files that are whole at every moment."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
from collections.abc import Callable
from pathlib import Path

from iogate.errors import IogateError
from iogate.formats.held import held_file, within


def write_atomically(path: Path, content: str | bytes, look: Callable[[Path], object] | None = None) -> None:
    """Replace a file by this text, or these bytes, so that a reader, or a crash, finds the old one or the
    new one whole.

    Written beside it, flushed to the device, renamed (rename(2) is atomic within a file system). A symbolic
    link is followed, so that a linked file stays linked, unless it is another user's. What is there is shown
    to `look`, which raises what forbids to replace it, by a path that leads to nothing else. Raises
    IogateError, also for what is no regular file; all is then as it was.
    """
    try:
        with held_file(path, make=True) as (folder, name):
            _require_file(folder, name, path)
            if look and os.path.lexists(within(folder, name)):
                look(within(folder, name))
            write_within(folder, name, content)
    except OSError as error:
        raise IogateError(
            f"cannot write {path}: {error.strerror}", remedy="the file is as it was before"
        ) from error


def write_within(folder: int, name: str, content: str | bytes, most: int = 0o777) -> None:
    """Replace a file in an open folder, as `write_atomically` does; a link of that name is replaced, not
    followed. Its mode has no bits but those of `most`. Raises OSError.
    """
    new = f".{name}.{secrets.token_hex(4)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(new, flags, 0o600, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
            stream.flush()
            mode = most & _mode(folder, name)
            os.fchmod(descriptor, mode)  # by what is held: its name may lead elsewhere by now
            os.fsync(descriptor)
        os.replace(new, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(new, dir_fd=folder)
        raise
    _sync(folder)


def is_leftover(name: str, of: str) -> bool:
    """Return whether a file of this name may be what a crash left of writing the file `of` beside it."""
    return re.fullmatch(rf"\.{re.escape(of)}\.[a-z0-9_]{{8}}", name) is not None


def _require_file(folder: int, name: str, path: Path) -> None:
    """Raise IogateError for what is there and is no regular file."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(os.stat(name or ".", dir_fd=folder, follow_symlinks=False).st_mode):
            raise IogateError(f"cannot write {path}: it is no regular file", remedy="name a file")


def _mode(folder: int, name: str) -> int:
    """Return the mode of the file that is replaced, or what the umask leaves of 0666. Another user may have
    put it there: who may write to what is this user's is not for them to say.
    """
    with contextlib.suppress(FileNotFoundError):
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISREG(found.st_mode):
            return found.st_mode & (0o777 if found.st_uid == os.geteuid() else 0o755)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync(folder: int) -> None:
    """Make the rename itself durable; not every file system can, and then nothing is lost but time."""
    with contextlib.suppress(OSError):
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
