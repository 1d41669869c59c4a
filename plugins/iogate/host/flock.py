"""Locks of open files: flock(2), which go away with the process that holds them, however it ends."""

from __future__ import annotations

import errno
import fcntl

_BUSY = {errno.EWOULDBLOCK, errno.EACCES}
_UNABLE = {errno.EBADF, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}  # NFS on a directory


def lock(descriptor: int) -> bool:
    """Lock an open file for this process alone; return False if another has it: nobody waits for it here, as
    anybody can lock what anybody can open, and for ever.

    Where the file system knows no locks the answer is True. Raises OSError for anything else.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _BUSY:
            return False
        if error.errno not in _UNABLE:
            raise
    return True


def unlock(descriptor: int) -> None:
    """Let go of a lock. Raises OSError."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)
