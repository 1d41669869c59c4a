"""Asking a file system or device for what may never come to an end.

A call that waits for a device which does not answer cannot be interrupted, and a thread in it keeps its
process from ending, even by SIGKILL. A process of its own can be left alone with it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import warnings
from collections.abc import Callable, Collection

from iogate.host.process import end_of

_STREAMS = (0, 1, 2)


def patiently(action: Callable[[], None], seconds: float, needed: Collection[int] = ()) -> None:
    """Do something in a copy of this process that has the descriptors `needed` and no others.

    Raises OSError as the action does, and TimeoutError if it takes longer than `seconds`: it then goes on
    alone.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads: the copy needs nothing of theirs
        pid = os.fork()
    if not pid:
        _act(action, needed)
    try:
        ended = end_of(pid)
        try:
            ready, _, _ = select.select([ended], [], [], seconds)
        finally:
            os.close(ended)
    except BaseException:  # Ctrl-C
        os.kill(pid, signal.SIGKILL)
        raise
    if not ready:
        raise TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))
    _, status = os.waitpid(pid, 0)
    number = os.waitstatus_to_exitcode(status)
    if number:
        number = errno.EIO if number < 0 else number
        raise OSError(number, os.strerror(number))


def _act(action: Callable[[], None], needed: Collection[int]) -> None:
    """Do it, and end with the number of its error."""
    number = errno.EIO
    try:
        os.setsid()  # Ctrl-C in the terminal is for the others
        _let_go(needed)
        action()
        number = 0
    except OSError as error:
        number = error.errno or errno.EIO
    finally:
        os._exit(number)


def _let_go(needed: Collection[int]) -> None:
    """Close all descriptors but those that are needed: whoever reads what this process says waits for the
    last that could say more.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in _STREAMS:
        os.dup2(nothing, stream)
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in (*_STREAMS, *needed):
            with contextlib.suppress(OSError):
                os.close(int(name))
