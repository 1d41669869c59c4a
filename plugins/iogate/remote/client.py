"""The near side of one of several clients: a bench elsewhere that does its part of what all do at once."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from iogate.errors import IogateError, MeasurementError
from iogate.measure.bench import Watcher
from iogate.measure.local_bench import folder_name
from iogate.measure.settings import Settings
from iogate.model import Audited, Command, Device, Output, Traffic
from iogate.remote.bench import RemoteBench, check_numbers
from iogate.remote.far_client import Asked, ClientFacts, Conducted
from iogate.target import Fellows
from iogate.units import printable

_LOOKS = 3  # at a clock: the shortest way there and back tells most


class FellowGone(Exception):
    """Another client has ended, or is lost, in the middle of what all do."""


class Client(RemoteBench):
    """One of several clients of a target; `host` is what people call it."""

    def __init__(self, settings: Settings, device: Device, folder: Path, watcher: Watcher) -> None:
        super().__init__(settings, device, folder, watcher)
        self.host = printable(self._connection.host)
        self._number = 0
        """That of the call which it is at; 0 if there is none."""
        self._conducting = 0
        """The same, of a call that drives other clients."""
        self._versions: dict[str, str] = {}
        self.scratch = ""
        """The name of its scratch folder in the target, once that is taken."""
        try:
            self.facts: ClientFacts = self._call(ClientFacts, "facts")
        except BaseException:
            self.close()
            raise

    def version(self, engine: str) -> str:
        """Return the version of an engine's program there. Raises EngineError."""
        if engine not in self._versions:
            self._versions[engine] = self._call(str, "version", engine)
        return self._versions[engine]

    def ahead(self) -> tuple[float, float]:
        """Return by how many seconds its clock is ahead of ours, and how far off that may be. Raises
        MeasurementError.
        """
        found = []
        for _ in range(_LOOKS):
            before = time.time(), time.monotonic()
            there: float = self._call(float, "clock")
            way = time.monotonic() - before[1]
            found.append((way / 2, there - before[0] - way / 2))
        error, ahead = min(found)
        if not math.isfinite(ahead):
            raise MeasurementError(f"{self.host} has a clock that says {ahead}")
        return ahead, error

    def join(self, fellows: Fellows) -> None:
        """Take the target beside those who have it, unless it is taken already. Raises TargetError."""
        if not self._opened and not self._connection.post.lost:
            self.scratch = self._call(str, "join", fellows)
            self._opened = True

    def look_back(self, output: Output, beside: Mapping[str, Traffic]) -> Audited:
        """Return what the audit finds there in what it did last."""
        found: Audited = self._call(Audited, "look back", (output, dict(beside)))
        return found

    # ------------------------------------------------------------ what all do at once

    def prepare(self, asked: Asked) -> None:
        """Begin to lay out the data; `prepared` waits for it."""
        self._keep_within(asked)
        self._start("prepare", asked)

    def prepared(self) -> Command:
        """Return the command that is its part, once its data lie there. Raises IogateError."""
        found: Command = self._end(Command)
        return found

    def serve(self, asked: Asked, name: str) -> None:
        """Begin to serve the conductor as the client of that name; `ready` waits for it."""
        self._keep_within(asked)
        self._start("serve", name)

    def ready(self) -> None:
        """Wait until it serves. Raises IogateError."""
        number, self._number = self._number, 0
        self._finish(type(None), number, until="serving")
        self._number = number

    def served(self) -> None:
        """Let it serve no longer, and wait until its raw files are at home. Raises IogateError."""
        self._connection.post.send("over")
        self._end(type(None))

    def conduct(self, asked: Asked, commands: Mapping[str, Command], gone: Sequence[Client]) -> Conducted:
        """Have all clients do their commands, this one among them. Raises IogateError, and FellowGone once
        any of them is `gone`, which `tell_gone` tells after it was added.
        """
        self._keep_within(asked)
        self._start("conduct", dict(commands))
        self._conducting = self._number
        try:
            if gone:
                self.tell_gone()
            found: Conducted = self._end(Conducted)
        finally:
            self._conducting = 0
        try:
            check_numbers(found.completed.seconds, found.series)
            if PurePosixPath(found.output).name != found.output or found.output in ("", ".."):
                raise ValueError(f"{found.output[:200]!r} is no raw file")
        except ValueError as error:
            raise self.not_understood(error) from None
        return found

    def reason(self) -> IogateError:
        """Return why it has ended in the middle of what all do."""
        try:
            self._end(type(None))
        except IogateError as error:
            return error
        return MeasurementError(f"{self.host} ended too early")

    def _start(self, method: str, asked: Any) -> None:
        self._number = self._begin(method, asked)

    def _end(self, kind: Any) -> Any:
        number, self._number = self._number, 0  # however that ends, it is at nothing then
        found = self._finish(kind, number)
        self._check_kept()
        return found

    def _keep_within(self, asked: Asked) -> None:
        self._within = PurePosixPath(folder_name(asked.id)) / asked.label
        self._received, self._unkept = 0, None

    # ------------------------------------------------------------ what goes between clients

    def listen(self, name: str, flow: Callable[[str, bytes], None], gone: Callable[[], None]) -> None:
        """Pass on what its server says as the client of that name (empty: as the conductor, to anybody), and
        tell when it has ended, or is lost.
        """

        def heard(message: tuple[Any, ...]) -> bool:
            if message[0] == "flow":
                flow(name or str(message[1]), message[2])
                return True
            if message[0] == "failed":
                gone()
            return False

        self._connection.post.listen(heard, gone)

    def pass_on(self, name: str, data: bytes) -> None:
        """Send on what was said to or by the client of that name."""
        self._connection.post.send("flow", name, data)

    def tell_gone(self) -> None:
        """Let it be known, where this conductor is waited for, that another client is gone."""
        if self._conducting:
            self._connection.post.interject("gone client", self._conducting)

    def _hear(self, word: str, rest: list[Any]) -> None:
        if word != "gone client":
            super()._hear(word, rest)
        elif rest[0] == self._conducting:
            raise FellowGone

    # ------------------------------------------------------------ to stop

    def halt(self) -> None:
        """Ask it to stop what it does, if it does anything; `halted` waits for it."""
        if self._number and not self._connection.post.lost:
            self._connection.post.send("stop", self._number)

    def halted(self) -> None:
        """Wait until it has stopped, and end the connection if it does not."""
        number, self._number = self._number, 0
        if number and not self._connection.post.lost:
            self._await_stop(number)
