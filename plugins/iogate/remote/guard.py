"""The private folder of a far side, and its guard: a process that removes it, and what was laid out, when
the far side has ended, also if it was killed.

This text is run by itself, before anything is unpacked, so it needs nothing of iogate. The folder lies where
all may make folders: its name is anybody's as soon as it is gone, and who may move a folder of this user's
there could have it removed, or run. So what is done to the folder is done through what holds it open, and
what was abandoned there is known by a mark that nobody else could have made in it.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import stat
import sys
import time
from collections.abc import Callable

_MARK = "of-a-far-side"
_NAME = re.compile(r"\.?iogate-[0-9a-f]{16}")
_MAKING = 60.0
"""Seconds after which nobody is making a folder any more that has no lock yet."""


def own_folder(around: str) -> tuple[int, str]:
    """Make a folder that only this user can enter, locked and marked before it has its name; return what
    holds it, which has its lock, and its path. Raises OSError.
    """
    name = "iogate-" + os.urandom(8).hex()
    unnamed, path = os.path.join(around, "." + name), os.path.join(around, name)
    os.mkdir(unnamed, 0o700)
    held = os.open(unnamed, os.O_RDONLY | os.O_DIRECTORY)
    with contextlib.suppress(OSError):  # a file system without locks
        fcntl.flock(held, fcntl.LOCK_EX)
    try:
        os.close(os.open(_MARK, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=held))
        os.rename(unnamed, path)
    except OSError:
        remove(held, unnamed)
        os.close(held)
        raise
    return held, path


def remove(held: int, path: str) -> None:
    """Remove all that is in an open folder, the mark last, and the folder, if that lies at the path."""
    with contextlib.suppress(OSError):
        for root, folders, files, within in os.fwalk(".", topdown=False, dir_fd=held):
            for name in files:
                if root != "." or name != _MARK:
                    _suppressed(os.unlink, name, within)
            for name in folders:  # or links to some
                if not _suppressed(os.rmdir, name, within):
                    _suppressed(os.unlink, name, within)
        if os.listdir(held) == [_MARK]:
            os.unlink(_MARK, dir_fd=held)
        if _lies_at(path, held):
            os.rmdir(path)


def _lies_at(path: str, held: int) -> bool:
    try:
        return os.path.samestat(os.fstat(held), os.lstat(path))
    except OSError:
        return False


def _suppressed(act: Callable[..., object], name: str, within: int) -> bool:
    try:
        act(name, dir_fd=within)
    except OSError:
        return False
    return True


def remove_abandoned(around: str) -> None:
    """Remove such folders of this user that nobody holds any more."""
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = [name for name in os.listdir(around) if _NAME.fullmatch(name)]
    for path in [os.path.join(around, name) for name in names]:
        with contextlib.suppress(OSError):
            held = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_abandoned(held):
                    remove(held, path)
            finally:
                os.close(held)


def _is_abandoned(held: int) -> bool:
    """Return whether an open folder that has no lock is one of this user's, and no other's that was given
    such a name, whoever made it. Raises OSError.
    """
    status = os.fstat(held)
    if status.st_uid != os.geteuid() or status.st_mode & 0o077:
        return False
    names = os.listdir(held)
    if _MARK in names:
        mark = os.stat(_MARK, dir_fd=held, follow_symlinks=False)
        return stat.S_ISREG(mark.st_mode) and mark.st_uid == status.st_uid
    return not names and time.time() - status.st_mtime > _MAKING


def main() -> None:
    """Wait for the end of the far side; what it was told last is what is left to do then."""
    held, path = int(sys.argv[1]), sys.argv[2]
    told = [json.loads(line) for line in sys.stdin]
    if "done" not in told:
        sys.path.insert(0, f"/proc/self/fd/{held}")
        with contextlib.suppress(Exception):
            from iogate.remote.sweep import sweep

            sweep([word[6:] for word in told if word.startswith("sweep ")])
    for _ in range(100):
        remove(held, path)
        if not _lies_at(path, held):
            break
        time.sleep(0.1)


if __name__ == "__main__":
    main()
