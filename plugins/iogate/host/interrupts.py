"""Being ended from outside: by Ctrl-C, by a CI job that is cancelled, by a terminal that is closed.

Each interrupts the run as Ctrl-C does, once: ending engines and cleaning up is then not interrupted again.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NoReturn

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_UNHANDLED = (signal.SIG_DFL, signal.default_int_handler)


_ignored: set[signal.Signals] = set()
"""Those that are ignored because one of them came, or nothing must be interrupted any more."""


@contextlib.contextmanager
def heard(call: Callable[[], None]) -> Iterator[None]:
    """Let those that are ignored call this meanwhile: it ends a wait for others, which may never end by
    itself. What is started then would not ignore them, so that it is for waiting alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = list(_ignored)
    try:
        for number in numbers:
            signal.signal(number, lambda number, frame: call())
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)


@contextlib.contextmanager
def held_back() -> Iterator[Callable[[], None]]:
    """Let none of them come meanwhile, but right behind it: what is raised within fork(2) is lost. Yields
    what a copy of this process calls, which is to hear them.
    """
    usual = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)

    def hear() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, usual)

    try:
        yield hear
    finally:
        hear()


class Interrupts:
    """What SIGINT, SIGTERM and SIGHUP do, from `watch` to `restore`; those that somebody else handles or
    ignores (nohup) stay as they are.
    """

    def __init__(self) -> None:
        self.came = False
        """Whether one of them has come."""
        self.reason = ""
        """Which, but for Ctrl-C, for people."""
        self._usual: dict[signal.Signals, Any] = {}

    def watch(self) -> None:
        """Let the first of them raise KeyboardInterrupt, and ignore all that follow."""
        if threading.current_thread() is not threading.main_thread():
            return  # the others cannot have handlers
        for number in _SIGNALS:
            handler = signal.getsignal(number)
            if handler in _UNHANDLED:
                self._usual[number] = handler
                signal.signal(number, self._interrupt)

    def ignore(self) -> None:
        """Let none of them interrupt what comes now."""
        for number in self._usual:
            signal.signal(number, signal.SIG_IGN)
            _ignored.add(number)

    def restore(self) -> None:
        """Let them do what they did before."""
        while self._usual:
            number, handler = self._usual.popitem()
            signal.signal(number, handler)
            _ignored.discard(number)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self.ignore()
        self.came = True
        self.reason = "" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
        self._raise()

    def require_none(self) -> None:
        """Raise KeyboardInterrupt again if one has come, and somebody took that for a failure. A Ctrl-C that
        was taken, as by a test that provokes it, is none, so that the next one is the first.
        """
        if self.came and self.reason:
            self._raise()
        if self.came:
            self.came = False
            self.restore()
            self.watch()

    def _raise(self) -> NoReturn:
        raise KeyboardInterrupt(*filter(None, [self.reason]))
