"""Files that are whole at every moment, and files that another file names."""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from iogate.errors import InputError, IogateError
from iogate.units import printable

_LARGEST_ATTACHMENT = 2**20


@dataclass(frozen=True)
class Attachment:
    """A text that another file names: `name` is its path as it stands there."""

    name: str
    text: str = field(repr=False)


def read_attachment(folder: Path, name: str) -> Attachment:
    """The file that a file in `folder` names by a path relative to itself. Raises InputError if that would
    leave the folder, or is no text of at most 1 MiB.
    """
    shown = printable(name)
    relative = PurePosixPath(name)
    path = folder / relative
    try:
        inside = path.resolve().is_relative_to(folder.resolve())
        if not name or relative.is_absolute() or ".." in relative.parts or not inside:
            raise InputError(
                f"{shown!r} is refused: it would leave the folder", remedy="name a file below that folder"
            )
        if not path.is_file():
            raise InputError(f"{shown!r} is no file below {printable(str(folder))}")
        with path.open("rb") as stream:
            data = stream.read(_LARGEST_ATTACHMENT + 1)
        if len(data) > _LARGEST_ATTACHMENT:
            raise InputError(f"{shown!r} is larger than {_LARGEST_ATTACHMENT >> 20} MiB")
        return Attachment(shown, data.decode("utf-8-sig"))
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: a loop of links, before Python 3.13
        raise InputError(f"{shown!r} cannot be read: {printable(str(error))}") from None


def write_atomically(path: Path, text: str) -> None:
    """Replace a file by this text so that a reader, or a crash, finds the old one or the new one whole.

    Written beside it, flushed to the device, renamed (rename(2) is atomic within a file system). A symbolic
    link is followed, so that a linked file stays linked. Raises IogateError; the old file is then as it was.
    """
    try:
        path = Path(os.path.realpath(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            os.chmod(name, _mode(path))
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


def _mode(path: Path) -> int:
    """The mode of the file that is replaced, or what the umask leaves of 0666."""
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
