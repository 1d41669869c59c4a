"""Folders in which another user could rename or replace what is run, or believed, by its name; and one for
temporary files that is none of them: $TMPDIR may be another user's, as sudo keeps it (`-E`).

A far side runs this text before iogate is there: the standard library is all it needs.
"""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
import stat
import tempfile
from collections.abc import Sequence
from pathlib import Path

_USUAL = ("/tmp", "/var/tmp")


def safe_temporary_folder(usual: Sequence[str] = _USUAL) -> str:
    """Return the folder for temporary files, without links in its path, if it and all above it are safe; else
    a usual one. Raises OSError that says why there is none.
    """
    why = ""
    for folder in dict.fromkeys(map(os.path.realpath, (tempfile.gettempdir(), *usual))):
        reason = danger(folder)
        if not reason and os.access(folder, os.W_OK | os.X_OK):
            return folder
        why = why or reason
    raise OSError(
        f"no folder for temporary files is safe from other users: {why or 'none can be written to'}; "
        "name one of your own in TMPDIR"
    )


def danger(folder: str) -> str:
    """Return why others may rename what is in a folder, or the way to it, which has no links; empty if nobody
    may but root, its own user, and whoever owns `/`.
    """
    own = {0, os.geteuid(), os.stat("/").st_uid}
    for path in (Path(folder), *Path(folder).parents):
        try:
            status = path.lstat()
        except OSError as error:
            return f"{path}: {error.strerror}"
        if not stat.S_ISDIR(status.st_mode):
            return f"{path} is no folder"
        if status.st_uid not in own:
            return f"{path} belongs to user {status.st_uid}"
        if not status.st_mode & stat.S_ISVTX and open_to_others(status, path):
            return f"{path} can be written by others (chmod +t keeps them from what is not theirs)"
    return ""


def open_to_others(status: os.stat_result, place: Path | int) -> bool:
    """Return whether users other than the owner may write to a path or an open file; root, and the group that
    a user has alone, do not count.
    """
    if status.st_mode & 0o002 or not status.st_mode & 0o020:
        return bool(status.st_mode & 0o002)
    with contextlib.suppress(OSError, KeyError):
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(status.st_gid)
        alone = user.pw_gid == group.gr_gid and user.pw_name == group.gr_name
        named = "system.posix_acl_access" in os.listxattr(place)  # the group's bits stand for all in the list
        return named or not alone or not {user.pw_name}.issuperset(group.gr_mem)
    return True
