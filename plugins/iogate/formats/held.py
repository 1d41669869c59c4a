"""Folders that are opened once and held: what is looked at in one, and written there, is in that one,
whatever becomes of its name meanwhile.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LINKS = 40  # as the kernel has it: path_resolution(7)


class LinkOfAnotherUserError(PermissionError):
    """A symbolic link of another user is on the way."""


@contextlib.contextmanager
def held_folder(path: Path, *, make: bool = False) -> Iterator[int]:
    """Hold a folder open, which is made if it is to be, and yield its descriptor (O_PATH).

    Links of another user, root and who called sudo aside, are not followed (LinkOfAnotherUserError): they can
    lead elsewhere by now than they did when somebody looked. Raises OSError.
    """
    held = os.open("/", _FOLDER)
    try:
        left = list(reversed(path.absolute().parts))
        links = 0
        while left:
            name = left.pop()
            try:
                inner = _enter(held, name, make=make)
            except NotADirectoryError:
                left += reversed(followed(held, name).parts)
                links += 1
                if links > _LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from None
                continue
            os.close(held)
            held = inner
        yield held
    finally:
        os.close(held)


def _enter(folder: int, name: str, *, make: bool) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, dir_fd=folder)
    return os.open(name, _FOLDER, dir_fd=folder)


@contextlib.contextmanager
def held_file(path: Path, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """Hold the folder open in which a file lies, or will lie, and yield it with the file's name there.

    A link by that name is what it leads to, unless it is another user's. Raises OSError.
    """
    for _ in range(_LINKS):
        with held_folder(path.parent, make=make) as folder:
            try:
                inner = followed(folder, path.name)
            except (FileNotFoundError, NotADirectoryError):
                inner = None
            if inner is None:
                yield folder, path.name
                return
        path = path.parent / inner
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def within(folder: int, name: str) -> Path:
    """Return a path that leads to what has that name in an open folder, whatever the folder is called. Raises
    OSError as `path_of` does.
    """
    return path_of(folder) / name


def path_of(descriptor: int) -> Path:
    """Return a path that leads to what is open, whatever it is called, also for programs that are started.

    Raises OSError where /proc is that of another PID namespace: there it would be what another process has
    open.
    """
    require_own_processes()
    return Path(f"/proc/{os.getpid()}/fd/{descriptor}")


def require_own_processes() -> None:
    """Raise OSError where /proc is that of another PID namespace: this process has another number there."""
    _require_number(os.getpid())


@cache
def _require_number(own: int) -> None:
    if os.readlink("/proc/self") != str(own):
        why = "/proc is that of another PID namespace; mount its own (unshare --mount-proc, nsenter --all)"
        raise OSError(errno.ENOTSUP, why)


def name_of(folder: int) -> Path:
    """Return the path of an open folder, without symbolic links, as it is called now. Raises OSError."""
    return Path(os.readlink(f"/proc/self/fd/{folder}"))


def followed(folder: int, name: str) -> Path:
    """Return what a link in an open folder says. Raises NotADirectoryError for what is no link, and
    LinkOfAnotherUserError.
    """
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if not stat.S_ISLNK(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if status.st_uid not in _trusted():
        raise LinkOfAnotherUserError(
            errno.EPERM, f"{name} is a symbolic link of user {status.st_uid}, and not followed"
        )
    return Path(os.readlink(name, dir_fd=folder))


def _trusted() -> set[int]:
    """Return who is not another user: this one, root, and who called sudo."""
    caller = os.environ.get("SUDO_UID", "")
    return {0, os.geteuid(), *([int(caller)] if caller.isdecimal() and not os.geteuid() else [])}


def make_within(folder: int, name: str, text: str) -> None:
    """Write a new file in an open folder. Raises OSError, also if anything has that name, and leaves none
    then.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(name, flags, 0o666, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
    except OSError:
        os.unlink(name, dir_fd=folder)
        raise


def read_within(folder: int, name: str, most: int) -> bytes:
    """Return what a regular file in an open folder has. Raises OSError, also for a link, and for more than
    `most` bytes.
    """
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a symbolic link") from error
        raise
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        if status.st_size > most:
            raise OSError(errno.EFBIG, f"it has {status.st_size} bytes")
        return stream.read(most)
