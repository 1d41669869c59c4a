"""Writing a baseline file: one style, one writer at a time, whole at every moment."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from iogate.errors import BaselineError, InputError
from iogate.formats import yamlio
from iogate.formats.atomic import is_leftover, write_within
from iogate.formats.held import held_folder, within
from iogate.host.flock import lock
from iogate.judge.baseline.file import check_baseline, device_folder
from iogate.judge.baseline.kinds import refuse_fleet

_HEADER = (
    "# Written by iogate: values by session and repetition (or published ones), in B/s, IOPS, ns and s.\n"
)
_POLL_SECONDS = 0.05


def write(path: Path, data: Mapping[str, Any], folder: int) -> None:
    """Write a file that reads back as what it should say, or none, in its folder, which is held open."""
    text = baseline_text(path, data, device_folder(path, data["suite"]).name)
    _remove_leftovers(folder, path.name)
    try:
        if not os.path.samestat(os.stat(path.parent), os.fstat(folder)):
            raise OSError(errno.ESTALE, "somebody replaced its folder")
        write_within(folder, path.name, text)
    except OSError as error:
        message = f"cannot write {path}: {error.strerror}"
        raise BaselineError(message, remedy="the file is as it was before") from error


def _remove_leftovers(folder: int, name: str) -> None:
    """Remove what a crash left of writing this file; who writes it has its lock."""
    with contextlib.suppress(OSError):  # they are in nobody's way
        for entry in os.scandir(within(folder, ".")):
            if is_leftover(entry.name, name) and entry.is_file(follow_symlinks=False):
                os.unlink(entry.name, dir_fd=folder)


def require_writable(path: Path, suite: str = "") -> None:
    """Raise BaselineError if the baseline file of a suite, which need not exist, could not be written, or is
    of a fleet. Writes nothing.
    """
    refuse_fleet(path, suite)
    folder = path.parent
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    what = "" if os.access(folder, os.W_OK | os.X_OK) else "cannot be written to"
    if not folder.is_dir():
        what = "is no folder"
    elif not what and folder == path.parent and (owner := _sticks_to(path)):
        what = f"has the sticky bit, and {path.name} in it belongs to user {owner}"
    try:
        with held_folder(folder):
            pass
    except OSError as error:
        what = what or f"cannot be written to: {error.strerror}"
    if what:
        raise BaselineError(
            f"{path} could not be recorded: {folder} {what}",
            remedy="make it writable, or name another folder by --io-baselines=DIR; nothing was measured",
        )


def _sticks_to(path: Path) -> int:
    """Return whose a file is that this user cannot replace, by the sticky bit of its folder; 0 if he can."""
    try:
        folder, file = path.parent.stat(), path.lstat()
    except OSError:  # it is not there, or will be told
        return 0
    kept = folder.st_mode & stat.S_ISVTX and os.geteuid() not in (0, folder.st_uid, file.st_uid)
    return file.st_uid if kept else 0


def baseline_text(path: Path, data: Mapping[str, Any], device: str) -> str:
    """Return the text of a file that reads back as what it should say. Raises BaselineError."""
    text = _HEADER + yamlio.dumps(data)
    try:
        document = check_baseline(yamlio.loads(text, str(path)), device=device, suite=data["suite"])
    except InputError as error:
        raise BaselineError(f"this would not be a baseline, and is not written: {error}") from error
    if document.data != data:
        raise BaselineError(f"{path} would not read back as what was measured, and is not written")
    return text


@contextlib.contextmanager
def hold_lock(path: Path, wait: float) -> Iterator[int]:
    """Hold a baseline's folder, which is made if need be, and the lock of the file: flock(2) on a file beside
    it, which is gone afterwards. What is read and written by the folder that is yielded is in it alone.

    Raises BaselineError, which says who, if somebody else holds the lock for `wait` seconds, and OSError.
    """
    deadline = time.monotonic() + wait
    name = f".{path.name}.lock"
    with held_folder(path.parent, make=True) as folder:
        while (descriptor := _lock(folder, name)) is None:
            if time.monotonic() > deadline:
                file = path.with_name(name)
                raise BaselineError(
                    f"{path} is being updated by another session: {_holder(folder, name)}",
                    remedy=f"update again when that is done; if it is no such session, remove {file}",
                )
            time.sleep(_POLL_SECONDS)
        try:
            yield folder
        finally:
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=folder)
            os.close(descriptor)


def _holder(folder: int, name: str) -> str:
    """Return who holds the lock; whose file it is where that cannot be seen."""
    from iogate.host.openers import process_text
    from iogate.target.locks import holder

    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        with contextlib.suppress(OSError):
            return f"of user {os.stat(name, dir_fd=folder, follow_symlinks=False).st_uid}"
        return "which is done by now"
    try:
        pid = holder(descriptor)
    finally:
        os.close(descriptor)
    return process_text(pid) if pid else "of a process that cannot be seen"


def _lock(folder: int, name: str) -> int | None:
    """Return a descriptor that holds the lock, or None if another process does.

    The one who held it before may have removed the file between our opening and locking it: what we hold then
    locks nothing. A file of another user that we may not open is held by him: he may have been killed.
    """
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(name, flags | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder)
        _share(folder, descriptor)
    except FileExistsError:
        try:
            descriptor = os.open(name, flags, dir_fd=folder)
        except (FileNotFoundError, PermissionError):
            return None
    try:
        if lock(descriptor) and os.path.samestat(os.stat(name, dir_fd=folder), os.fstat(descriptor)):
            return descriptor
    except FileNotFoundError:
        pass
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _share(folder: int, descriptor: int) -> None:
    """Let those open a new lock who may write in its folder, and nobody else: who can open it can lock it for
    ever. Of root's it is the folder's owner, who may update when root has been killed.
    """
    above = os.fstat(folder)
    with contextlib.suppress(OSError):  # as where files have no such modes
        os.fchown(descriptor, above.st_uid if os.geteuid() == 0 else -1, above.st_gid)
    writers = above.st_mode & stat.S_IWOTH
    of_the_group = os.fstat(descriptor).st_gid == above.st_gid
    writers |= above.st_mode & stat.S_IWGRP if of_the_group else writers << 3  # it is of the others
    with contextlib.suppress(OSError):
        os.fchmod(descriptor, 0o600 | writers | writers << 1)
