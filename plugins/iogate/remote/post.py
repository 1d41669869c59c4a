"""Messages between both sides: sent by a thread of its own, with a heartbeat; the same on either side.

A thread sends, so that an interrupt (Ctrl-C, a time limit) never cuts a message in two. The heart beats every
two seconds, and says its time; whoever has heard nothing for 15 s takes the other side for lost: a connection
may be silent without end, after a reboot or where a router forgot it.
"""

from __future__ import annotations

import contextlib
import math
import queue
import threading
import time
from collections.abc import Callable
from typing import Any

from iogate.remote.pace import Pace

BEAT = 2.0
SILENCE = 15.0
_HEARING = 1.0
"""Seconds of one wait: Python hears of a signal that came just before it when it is over."""
_BEAT = "beat"
_LOST: tuple[Any, ...] = ("lost",)
_END: tuple[Any, ...] = ("end",)


_MOST = 5 * 2**28
"""Bytes that may wait to be received: raw files of a repetition, and an output. Who sends more is lost."""


def _size(message: Any) -> int:
    """Return about how many bytes a message takes, tuples within tuples included."""
    if isinstance(message, tuple):
        return 100 + sum(map(_size, message))
    return len(message) if isinstance(message, (bytes, str)) else 100


class Lost(Exception):
    """The other side is gone, or silent."""


class Post:
    """What is sent to the other side of a channel of execnet, and what comes from there.

    `heard` is told of each message first, in execnet's thread, and says whether it is done with; `lost` is
    called once, in a thread, when nothing will come any more.
    """

    def __init__(
        self,
        channel: Any,
        heard: Callable[[tuple[Any, ...]], bool] = lambda message: False,
        lost: Callable[[], None] = lambda: None,
    ) -> None:
        self.silent = False
        self.pace = Pace()
        self._waiting = 0
        self._channel = channel
        self._heard, self._tell_lost = heard, lost
        self._inbox: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
        self._outbox: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
        self._last = time.monotonic()
        self._over = threading.Event()
        self._lock = threading.Lock()
        channel.setcallback(self._take, endmarker=_LOST)
        self._sender = threading.Thread(target=self._send_all, daemon=True)
        self._sender.start()
        threading.Thread(target=self._watch, daemon=True).start()

    @property
    def lost(self) -> bool:
        """True when the other side is gone, or this one has ended it."""
        return self._over.is_set()

    def send(self, *message: Any) -> None:
        """Send a message of plain parts, if the other side is still there."""
        self._outbox.put(message)

    def receive(self, seconds: float | None = None) -> tuple[Any, ...]:
        """Wait for the next message, for so many seconds. Raises Lost if there is none."""
        deadline = math.inf if seconds is None else time.monotonic() + seconds
        while True:
            left = deadline - time.monotonic()
            try:
                message = self._inbox.get(timeout=max(0.0, min(left, _HEARING)))
                break
            except queue.Empty:
                if left <= 0:
                    raise Lost from None
        if message is _LOST:
            self._inbox.put(_LOST)
            raise Lost
        with self._lock:
            self._waiting -= _size(message)
        return message

    def listen(
        self, heard: Callable[[tuple[Any, ...]], bool], lost: Callable[[], None] = lambda: None
    ) -> None:
        """Tell these from now on, as if they had been named at the beginning."""
        self._heard, self._tell_lost = heard, lost

    def interject(self, *message: Any) -> None:
        """Let this be received as if the other side had sent it."""
        with self._lock:
            self._waiting += _size(message)
        self._inbox.put(message)

    def drop(self) -> None:
        """Let nothing be received any more."""
        self._inbox.put(_LOST)

    def close(self, seconds: float = 5.0) -> None:
        """Send what is still to be sent, and nothing any more."""
        self._outbox.put(_END)
        self._sender.join(seconds)
        self._over.set()

    def _take(self, message: tuple[Any, ...]) -> None:
        self._last = time.monotonic()
        if message == _LOST:
            self._lose()
        elif message[:1] == (_BEAT,):
            self._hear_beat(message[1:])
        elif not self._heard(message):
            with self._lock:
                self._waiting += _size(message)
                full = self._waiting > _MOST
            if full:
                self._lose()
            else:
                self._inbox.put(message)

    def _hear_beat(self, said: tuple[Any, ...]) -> None:
        if len(said) == 1 and isinstance(said[0], float) and math.isfinite(said[0]):
            self.pace.hear(said[0], self._last)

    def _lose(self) -> None:
        with self._lock:
            if self._over.is_set():
                return
            self._over.set()
        self._inbox.put(_LOST)
        self._outbox.put(_END)
        self._tell_lost()

    def _send_all(self) -> None:
        with contextlib.suppress(OSError, EOFError):  # its end is heard of, too
            beat = time.monotonic() + BEAT
            while True:
                with contextlib.suppress(queue.Empty):
                    message = self._outbox.get(timeout=max(0.0, beat - time.monotonic()))
                    if message is _END:
                        return
                    self._channel.send(message)
                if time.monotonic() >= beat:
                    self._channel.send((_BEAT, time.monotonic()))
                    beat = time.monotonic() + BEAT

    def _watch(self) -> None:
        while not self._over.wait(1.0):
            if time.monotonic() - self._last > SILENCE:
                self.silent = True
                self._lose()
