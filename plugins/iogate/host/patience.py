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

from iogate.host.interrupts import held_back
from iogate.host.parent import end_with
from iogate.host.process import end_of, give_up

LONG = 300.0
"""Seconds that a device may take for what it is given: 3 GiB of dirty pages at 10 MiB/s."""

Tell = Callable[[int], None]
_STREAMS = (0, 1, 2)
_NUMBER = 8  # bytes


class StandsStill(Exception):
    """What was to be done is not done in time."""


def patiently(
    action: Callable[[Tell], None],
    seconds: float,
    needed: Collection[int] = (),
    heard: Tell = lambda number: None,
    *,
    survives: bool = False,
) -> None:
    """Do something in a copy of this process that has the descriptors `needed` and no others; `heard` gets
    each number, or the last of several, that the action tells by what it is called with. If this process is
    killed the copy is as well, unless it `survives`.

    Raises OSError as the action does, and StandsStill if for so many `seconds` it neither tells anything nor
    ends: it then goes on alone, until it tells something, and `process.require_ended` tells of it.
    """
    own, pid = os.getpid(), 0
    told, telling = os.pipe()
    try:
        try:
            with held_back() as hear, warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # the copy needs nothing of other threads
                pid = os.fork()
                if not pid:
                    _act(action, telling, needed, 0 if survives else own, hear)
            os.close(telling)
            _listen(pid, told, heard, seconds)
        except StandsStill:
            give_up(pid)
            raise
        except BaseException:  # Ctrl-C
            if pid:
                os.kill(pid, signal.SIGKILL)
            raise
    finally:
        os.close(told)
    _, status = os.waitpid(pid, 0)
    number = os.waitstatus_to_exitcode(status)
    if number:
        number = errno.EIO if number < 0 else number
        raise OSError(number, os.strerror(number))


def _write(telling: int, number: int) -> None:
    os.write(telling, number.to_bytes(_NUMBER, "big"))


def _listen(pid: int, told: int, heard: Tell, seconds: float) -> None:
    """Hand on what a process tells, until it ends. Raises StandsStill."""
    ended = end_of(pid)
    sources = [ended, told]
    try:
        while True:
            ready, _, _ = select.select(sources, [], [], seconds)
            if not ready:
                raise StandsStill
            numbers = os.read(told, 1024 * _NUMBER) if told in ready else b""
            if numbers:
                heard(int.from_bytes(numbers[-_NUMBER:], "big"))
            elif ended in ready:
                return
            else:  # all is said
                sources.remove(told)
    finally:
        os.close(ended)


def _act(
    action: Callable[[Tell], None],
    telling: int,
    needed: Collection[int],
    parent: int,
    hear: Callable[[], None],
) -> None:
    """Do it, and end with the number of its error, or with the `parent`, if that is one."""
    number = errno.EIO
    try:
        hear()  # a Ctrl-C of both ends this copy alone
        if parent:
            end_with(parent, signal.SIGKILL)
        os.setsid()  # Ctrl-C in the terminal is for the others
        _let_go((*needed, telling))
        action(lambda number: _write(telling, number))
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
