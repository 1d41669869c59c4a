"""Unix sockets whose connections go by messages: what is heard at one is said at the other, far away."""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

_CHUNK = 64 * 2**10
_PATIENCE = 10.0  # until a server that was started listens
_STEP = 0.005


class Flow:
    """One connection: what it hears is passed to `send`, and what is fed to it is said; no bytes are the
    end.
    """

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self._send = send
        self._fed: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._socket: socket.socket | None = None
        self._lock = threading.Lock()
        self._closed = False

    def feed(self, data: bytes) -> None:
        """Say this, once there is somebody to say it to."""
        self._fed.put(data)

    def run(self, open: Callable[[], socket.socket], *, awaited: bool = False) -> None:
        """Go on with a connection until it ends, in threads; where it is `awaited`, once something is fed."""
        threading.Thread(target=self._run, args=(open, awaited), daemon=True).start()

    def close(self) -> None:
        """End the connection, if there is one."""
        with self._lock:
            self._closed = True
            if self._socket:
                with contextlib.suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)
        self._fed.put(b"")

    def _run(self, open: Callable[[], socket.socket], awaited: bool) -> None:
        first = self._fed.get() if awaited else None
        try:
            connection = open()
        except OSError:
            self._send(b"")
            return
        with connection:
            with self._lock:
                if self._closed:
                    return
                self._socket = connection
            threading.Thread(target=self._listen, args=(connection,), daemon=True).start()
            with contextlib.suppress(OSError):
                while data := first or self._fed.get():
                    connection.sendall(data)
                    first = None
            with self._lock:
                self._socket = None
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _listen(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := connection.recv(_CHUNK):
                self._send(data)
        self._send(b"")


@contextlib.contextmanager
def listening(folder: Path, name: str) -> Iterator[Callable[[], socket.socket]]:
    """Listen on a unix socket in a folder that is this user's alone; gives what waits for a connection."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        with _short(folder) as short:
            listener.bind(f"{short}/{name}")
        listener.listen(1)
        try:
            yield lambda: listener.accept()[0]
        finally:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # wakes who waits for a connection


def connected(folder: Path, name: str) -> socket.socket:
    """Return a connection to a unix socket in a folder, as soon as somebody listens there. Raises OSError."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with _short(folder) as short:
                connection.connect(f"{short}/{name}")
            return connection
        except (FileNotFoundError, ConnectionRefusedError):
            connection.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(_STEP)


@contextlib.contextmanager
def _short(folder: Path) -> Iterator[str]:
    """Give a path of a folder that is short enough for the address of a socket: 107 bytes, see unix(7)."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
