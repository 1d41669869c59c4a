"""Being ended from outside: by Ctrl-C, by a CI job that is cancelled, by a terminal that is closed.

Each interrupts the run as Ctrl-C does, once: ending engines and cleaning up is then not interrupted again.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_UNHANDLED = (signal.SIG_DFL, signal.default_int_handler)


class Interrupts:
    """What SIGINT, SIGTERM and SIGHUP do, from `watch` to `restore`; those that somebody else handles or
    ignores (nohup) stay as they are.
    """

    def __init__(self) -> None:
        self.came = False
        """Whether one of them has come."""
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

    def restore(self) -> None:
        """Let them do what they did before."""
        while self._usual:
            signal.signal(*self._usual.popitem())

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self.ignore()
        self.came = True
        name = signal.Signals(number).name
        raise KeyboardInterrupt(*([] if number == signal.SIGINT else [f"ended by {name}"]))
