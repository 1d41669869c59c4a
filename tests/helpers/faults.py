"""Devices that fail when told to: nbdkit with its error and pause filters, as a socket or a block device."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

from loops import Loops, format_device, need
from nbd import nbdkit, running
from waiting import eventually

SIZE = "64M"


class FaultyDevice(contextlib.ExitStack):
    """A network block device in memory. `failing` makes a share of its I/Os end in EIO, `still` lets none of
    them end; `mounted` makes a disk with ext4 of it.
    """

    def __init__(self, folder: Path, rate: str = "100%") -> None:
        super().__init__()
        self.folder = folder
        self._trigger, self._control = folder / "fail", folder / "pause"
        rates = (f"error-pread-rate={rate}", f"error-pwrite-rate={rate}")
        filters = ("--filter=pause", "--filter=error")
        settings = ("error=EIO", *rates, f"error-file={self._trigger}", f"pause-control={self._control}")
        self.uri = self.enter_context(nbdkit(folder / "nbd", *filters, "memory", SIZE, *settings))
        eventually(self._control.exists)

    @contextlib.contextmanager
    def failing(self) -> Iterator[None]:
        """EIO, as often as said."""
        self._trigger.touch()
        try:
            yield
        finally:
            self._trigger.unlink()

    @contextlib.contextmanager
    def still(self) -> Iterator[None]:
        """The device stands still."""
        self._say(b"p", b"P")
        try:
            yield
        finally:
            self._say(b"r", b"R")

    def mounted(self) -> Path:
        """Where the disk is mounted; needs root and nbdfuse."""
        need("mkfs.ext4", "nbdfuse")
        file = self.folder / "disk"
        file.touch()
        self.enter_context(running("nbdfuse", file, self.uri))
        eventually(lambda: file.stat().st_size > 0)
        loops = self.enter_context(Loops(self.folder))
        device = loops.attach(file, "--direct-io=on")
        format_device("ext4", device)
        return loops.mount(device)

    def _say(self, command: bytes, answer: bytes) -> None:
        """The protocol of nbdkit-pause-filter(1): one byte there, one back."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self._control))
            connection.send(command)
            assert connection.recv(1) == answer
