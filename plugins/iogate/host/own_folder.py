"""Folders for what a run keeps, where others may rename and make things: made and reached without links, and
held open. A name in such a folder cannot be anything that another user put there, and what is made in it only
this user may write to, whatever the umask and the access lists that folders hand down: a job file there may
run commands, and outputs become figures.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path

from iogate.formats.atomic import write_within
from iogate.formats.held import held_folder, path_of
from iogate.host.exposure import safe_temporary_folder

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_IN_THE_WAY = {errno.ENOTDIR, errno.ELOOP}
_HANDED_DOWN = "system.posix_acl_default"
_HEAD, _ENTRY = 4, "<HHI"  # Linux, posix_acl_xattr.h: a version, then tag, permissions and id of each entry
_OWNER, _WRITE = 0x01, 0x02


@contextlib.contextmanager
def own_folder(folder: Path, within: Path) -> Iterator[Path]:
    """Make a folder, and those between it and `within`, unless they are there, and hold it open: the path
    yielded leads there whatever becomes of its name.

    Links are followed to `within`, but those of another user, and no further. Raises OSError, also for a
    folder of another user.
    """
    with held_folder(within, make=True) as start:
        held = os.open(".", _FOLDER, dir_fd=start)
    try:
        for name in folder.relative_to(within).parts:
            inner = _enter(held, name)
            os.close(held)
            held = inner
        check_own(held)
        yield path_of(held)
    finally:
        os.close(held)


@contextlib.contextmanager
def engine_folder(folder: Path, within: Path) -> Iterator[Path]:
    """Make and hold a folder for an engine, as `own_folder` does. Where others may write to whatever is made
    there, as on file systems and shares that give it to everybody, or to another user, the engine gets a
    folder for temporary files instead, whose files are copied at the end. Raises OSError.
    """
    with own_folder(folder, within) as held:
        status = _status_of_new(int(held.name))
        if status.st_uid == os.geteuid() and not status.st_mode & 0o022:
            yield held
            return
        with tempfile.TemporaryDirectory(prefix="iogate-", dir=safe_temporary_folder()) as private:
            try:
                yield Path(private)
            finally:
                _copy_files(Path(private), int(held.name))


def _copy_files(source: Path, folder: int) -> None:
    with contextlib.suppress(OSError):  # they were read already; a full disk shows where something matters
        for file in source.iterdir():
            if file.is_file() and not file.is_symlink():
                write_within(folder, file.name, file.read_bytes(), 0o644)


def own_file(path: str, flags: int) -> int:
    """Open a file in such a folder, as an `opener` of `open`. Raises OSError, also for a link, which others
    can put there where a file system lets everybody write to all of it.
    """
    return os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)


def own_umask() -> int:
    """Return the umask for programs that make files in such a folder."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask | 0o022


def _enter(parent: int, name: str) -> int:
    made = False
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, 0o755, dir_fd=parent)
        made = True
    try:
        folder = os.open(name, _FOLDER, dir_fd=parent)
    except OSError as error:
        if error.errno in _IN_THE_WAY:
            raise OSError(error.errno, f"a link or a file is in the way ({name})") from error
        raise
    if made:
        _hand_down_no_right_to_write(folder)
    return folder


def _hand_down_no_right_to_write(folder: int) -> None:
    """Let only its owner write to what is made in a new folder: where it has a default access list of the one
    above, the kernel goes by that list and by no umask.
    """
    with contextlib.suppress(OSError):  # it has none
        listed = os.getxattr(folder, _HANDED_DOWN)
        head, entries = listed[:_HEAD], struct.iter_unpack(_ENTRY, listed[_HEAD:])
        kept = (
            struct.pack(_ENTRY, tag, rights if tag == _OWNER else rights & ~_WRITE, number)
            for tag, rights, number in entries
        )
        os.setxattr(folder, _HANDED_DOWN, b"".join((head, *kept)))


def check_own(folder: int) -> None:
    """Raise OSError for an open folder of another user. On a file system that gives what this user makes to
    another one (NFS, FAT), that one's is as good.
    """
    owner = os.fstat(folder).st_uid
    if owner != os.geteuid() and owner != _status_of_new(folder).st_uid:
        raise OSError(errno.EPERM, f"it belongs to user {owner}")


def _status_of_new(folder: int) -> os.stat_result:
    """Return what a file is that is made in an open folder, for this user alone to write to."""
    name = f".{secrets.token_hex(8)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    file = os.open(name, flags, 0o644, dir_fd=folder)
    try:
        return os.fstat(file)
    finally:
        os.close(file)
        os.unlink(name, dir_fd=folder)
