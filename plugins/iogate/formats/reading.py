"""Reading files of strangers, which may be what never ends, and what somebody named: whole, and once."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

from iogate.errors import InputError
from iogate.formats.streams import own_descriptor
from iogate.units import printable

_PIECE = 2**16  # of a file whose size the kernel does not say
_REMEDY = "put it into a file, or hand it over by /dev/stdin or the shell's <(...)"


@dataclass(frozen=True)
class Held:
    """A file that is held open: `path` leads to it, whatever has its name by now, `real` is where it lies,
    and `folder` where the folder lies in which it was found: another one if it is a link.
    """

    path: Path
    real: Path
    folder: Path


def read_at_once(path: Path, most: int | None = None) -> bytes:
    """Return what is there now, at most so many bytes of it: who waits for /proc/kmsg, or for a pipe, waits
    for ever. Raises OSError.
    """
    with open(path, "rb", opener=_without_waiting) as stream:
        size = max(os.fstat(stream.fileno()).st_size + 1, _PIECE)  # what is asked for is allocated at once
        return stream.read(size if most is None else min(size, most)) or b""


@contextlib.contextmanager
def held(path: Path) -> Iterator[Held]:
    """Hold a file, so that it is the same one that is looked at, read, and told of: whoever may rename it can
    have put a link in its place by then. Raises OSError.
    """
    with contextlib.ExitStack() as stack:
        folder = _opened(stack, str(path.parent), os.O_DIRECTORY)
        file = _opened(stack, path.name, dir_fd=folder)
        try:
            found = [Path(os.readlink(f"/proc/self/fd/{number}")) for number in (file, folder)]
        except FileNotFoundError:  # as in a chroot without /proc
            yield Held(path, *(Path(os.path.realpath(place)) for place in (path, path.parent)))
        else:
            yield Held(Path(f"/proc/self/fd/{file}"), *found)


@contextlib.contextmanager
def held_input(path: Path, shown: str) -> Iterator[Held]:
    """Hold a file likewise, which messages call `shown`. Raises InputError if it cannot be opened."""
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(held(path))
        except OSError as error:
            raise InputError(f"cannot read {shown}: {error.strerror}") from error
        yield file


def _opened(stack: contextlib.ExitStack, name: str, flags: int = 0, dir_fd: int | None = None) -> int:
    descriptor = os.open(name, os.O_PATH | os.O_CLOEXEC | flags, dir_fd=dir_fd)
    stack.callback(os.close, descriptor)
    return descriptor


def read_input(path: Path, largest: int) -> bytes:
    """Return the bytes of a plain file, or all that comes from an open descriptor of this process, as
    /dev/stdin and the shell's `<(...)` are.

    Raises InputError for a pipe, a device or a socket, on which one could wait without end, for what cannot
    be read, and for more than `largest` bytes.
    """
    try:
        if own_descriptor(path) is None:
            mode = os.stat(path).st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise InputError(f"cannot read {path}: it is no plain file", remedy=_REMEDY)
            data = read_at_once(path, largest + 1)
        else:
            with path.open("rb") as stream:
                data = stream.read(largest + 1)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:  # a NUL in its name
        raise InputError(f"cannot read {path}: {error}") from error
    if len(data) > largest:
        raise InputError(f"cannot read {path}: it is larger than {largest >> 20} MiB")
    return data


def is_hidden(path: PurePath) -> bool:
    """Return whether a file, or a folder on the way to it, is hidden: git keeps a job's token in such a one,
    others their passwords.
    """
    return any(part.startswith(".") for part in path.parts)


@contextlib.contextmanager
def hidden_behind_a_link(folder: Path, file: Path) -> Iterator[None]:
    """Tell mistakes of a file without its text if its `folder` is a symbolic link, as one in a stranger's
    repository may lead to any folder. Raises InputError instead of what is raised within.
    """
    try:
        yield
    except InputError:
        if not folder.is_symlink():
            raise
        raise InputError(
            printable(
                f"{file} is not without mistakes, and a symbolic link leads to its folder, to "
                f"{os.path.realpath(folder)}; what it says is not shown"
            ),
            remedy=printable(f"name the folder itself, or look there: {folder} is the link"),
        ) from None


def _without_waiting(name: str, flags: int) -> int:
    return os.open(name, flags | os.O_NONBLOCK)
