"""The runs of several devices: processes that are followed line by line, and end with the one that began
them.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from iogate.host.process import end_of
from iogate.plugin.devices.parent import PARENT

_PIECE = 2**16

Show = Callable[[str, str], None]
"""Told a device and a line that its run said."""


class Run:
    """The run of one device. `status` is its exit status: None as long as it has not ended, or not begun."""

    def __init__(self, name: str, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        self.name = name
        self.status: int | None = None
        self.seconds = 0.0
        self.refusal = ""
        self._argv = list(argv)
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None
        self._began = 0.0
        self._rest = b""

    @property
    def begun(self) -> bool:
        """Whether it was started."""
        return self._process is not None

    @property
    def alive(self) -> bool:
        """Whether it was started and has not ended."""
        return self.begun and self.status is None

    def start(self, folder: Path) -> tuple[int, int]:
        """Start it, in a session of its own so that signals reach it once; the descriptors of what it says
        and of its end.
        """
        self._began = time.monotonic()
        self._process = subprocess.Popen(
            self._argv,
            cwd=folder,
            env={**os.environ, **self._environment, PARENT: str(os.getpid())},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        os.set_blocking(self._stream.fileno(), False)
        return self._stream.fileno(), end_of(self._process.pid)

    @property
    def _stream(self) -> IO[bytes]:
        assert self._process and self._process.stdout
        return self._process.stdout

    def signal(self, number: int) -> None:
        """Tell it to end, as Ctrl-C does."""
        if self.alive and self._process:
            self._process.send_signal(number)

    def read(self, show: Show) -> bool:
        """Show the whole lines that it has said by now; return whether it may say more."""
        while not self._stream.closed:
            try:
                piece = os.read(self._stream.fileno(), _PIECE)
            except BlockingIOError:
                return True
            *lines, self._rest = (self._rest + piece).split(b"\n")
            for line in lines:
                self._tell(line, show)
            if not piece:
                return False
        return False

    def finish(self, show: Show) -> None:
        """Wait for its end, note its status and show the rest, whoever else holds its output open."""
        assert self._process
        status = self._process.wait()
        self.seconds = time.monotonic() - self._began
        self.status = status
        self.read(show)
        if self._rest:
            self._tell(self._rest, show)
        self._stream.close()

    def _tell(self, line: bytes, show: Show) -> None:
        text = line.decode("utf-8", errors="replace").rstrip("\r")
        if text.startswith("ERROR: "):
            self.refusal = text.removeprefix("ERROR: ")
        elif self.refusal.endswith(":") and text.startswith("  "):  # what it is stands below
            self.refusal += f" {text.strip()}"
        show(self.name, text)


class Runs:
    """All of them, by the names of their devices."""

    def __init__(self, runs: Mapping[str, Run]) -> None:
        self.by_name = runs
        self._selector = selectors.DefaultSelector()
        self._waiting: dict[str, Sequence[str]] = {}
        self._folder = Path()
        ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # as behind `&` in a script; so will they
        self._end = signal.SIGTERM if ignored else signal.SIGINT

    @property
    def alive(self) -> list[str]:
        """The devices whose runs go on."""
        return [name for name, run in self.by_name.items() if run.alive]

    def follow(self, queues: Sequence[Sequence[str]], folder: Path, show: Show) -> None:
        """Start the first run of each queue, and each other one as that before it ends; return when all have
        ended.
        """
        self._folder = folder
        for queue in queues:
            self._start(queue)
        self._follow(show)

    def end(self, show: Show) -> None:
        """Tell those that go on to end, and wait for them; begin no other."""
        self._waiting.clear()
        for name in self.alive:
            self.by_name[name].signal(self._end)
        self._follow(show)
        for name in self.alive:  # Ctrl-C came between the end of one and the note of it
            self.by_name[name].finish(show)

    def close(self) -> None:
        """Let go of what it was followed with."""
        self._selector.close()

    def _start(self, queue: Sequence[str]) -> None:
        first, *others = queue
        self._waiting[first] = others
        run = self.by_name[first]
        output, ended = run.start(self._folder)
        self._selector.register(output, selectors.EVENT_READ, (run, output, False))
        self._selector.register(ended, selectors.EVENT_READ, (run, output, True))

    def _follow(self, show: Show) -> None:
        while self._selector.get_map():
            for key, _ in self._selector.select():
                run, output, ended = key.data
                if not ended:
                    if run.alive and not run.read(show):
                        self._selector.unregister(output)
                    continue
                self._selector.unregister(key.fd)
                os.close(key.fd)
                if output in self._selector.get_map():
                    self._selector.unregister(output)
                run.finish(show)
                following = self._waiting.pop(run.name, ())
                if following:
                    self._start(following)
