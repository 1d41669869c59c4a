"""The near side: what a far side is asked, call by call, and what it may say meanwhile."""

from __future__ import annotations

import itertools
import math
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from iogate import engines
from iogate.errors import (
    IogateError,
    LostError,
    MeasurementError,
    OutputError,
)
from iogate.host.interrupts import heard
from iogate.host.own_folder import own_file, own_folder
from iogate.host.process import Completed
from iogate.measure.bench import Watcher
from iogate.remote.compilers import compiled_for
from iogate.remote.connection import Connection
from iogate.remote.post import Lost
from iogate.remote.raw_files import is_raw, kept_as
from iogate.remote.survey import Survey
from iogate.remote.wire import packed, unpacked
from iogate.target.resolve import Target
from iogate.units import one_line, printable

_STOPPING = 20.0  # seconds that the far side gets to stop its engines
_CLOSING = 600.0  # seconds that it gets to remove what it laid out
_MOST = 2**30  # bytes of raw files of one repetition
_LONGEST_OUTPUT = 2**26  # characters; read, they take up to seventy times as much
_BLOCK = 4096  # what a file takes at least
_MOST_NOTICES = 1000
_MOST_ASKED = 1000  # of one call, which has an output of each engine that it runs
_LONGEST_NOTICE = 10_000  # characters
_DEEPEST = 8  # folders below that of a repetition, more than any engine makes
_LARGEST_SIZE, _LARGEST_BLOCK = 2**63 - 1, 2**30  # bytes of a target, and of its blocks


class FarCalls:
    """What a far side is asked, call by call; `folder` keeps raw files, here.

    Raises InputError for what is no host, and TargetError if it cannot be had.
    """

    def __init__(self, host: str, folder: Path, watcher: Watcher) -> None:
        self._folder = folder
        self._watcher = watcher
        self._numbers = itertools.count(1)
        self._within = PurePosixPath()
        self._received = 0
        self._unkept: OSError | None = None
        self._misread: IogateError | None = None
        self._notices = 0
        self._asked = 0
        self._connection = Connection(host)

    def survey(self, named: str) -> Survey:
        """Return what the machine is, with a target. Raises TargetError."""
        found: Survey = self._call(Survey, "survey", named)
        self._check(found.target, **({"link": found.link.limit} if found.link else {}))
        return found

    def _check(self, target: Target, **figures: float) -> None:
        """Raise MeasurementError for a target, or figures, that cannot be."""
        try:
            check_target(target, figures)
        except ValueError as error:
            raise self.not_understood(error) from None

    def close(self) -> None:
        post = self._connection.post
        try:
            if not post.lost:
                with heard(post.drop):
                    self._finish(type(None), self._begin("close"), seconds=_CLOSING)
                    post.send("bye")
                    self._await_end()
        except MeasurementError as error:  # nothing was measured any more
            self._watcher.notice(f"{error.message}: it removes what was laid out there by itself")
        finally:
            post.close(1.0)
            self._connection.end()

    # ------------------------------------------------------------ one call

    def _call(self, kind: Any, method: str, asked: Any = None) -> Any:
        """Let the far side do something, and return what it says. Raises IogateError as it does, and
        LostError if it is lost.
        """
        return self._finish(kind, self._begin(method, asked))

    def _begin(self, method: str, asked: Any = None) -> int:
        """Let the far side begin with something, and return the number of the call."""
        number = next(self._numbers)
        self._misread = None
        self._asked = 0
        self._connection.post.send("call", number, method, packed(asked))
        return number

    def _finish(self, kind: Any, number: int, until: str = "", seconds: float = math.inf) -> Any:
        """Return what the far side says of a call, as `_call` does; None if it says the word `until`, and
        goes on. After so many seconds it is lost.
        """
        deadline = time.monotonic() + seconds
        try:
            while True:
                word, *rest = self._receive(deadline)
                if until and word == until:
                    return None
                if word == "done" and rest[0] == number:
                    return unpacked(kind, rest[1], foreign=True)
                if word == "failed" and rest[0] == number:
                    raise self._failure(unpacked(IogateError, rest[1], foreign=True))
                self._hear(word, rest)
        except Lost:
            raise LostError(
                self._connection.why_lost(),
                remedy="what was measured before is kept: --io-resume goes on from there, unless the host "
                "booted since",
            ) from None
        except IogateError:
            raise
        except (ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
            raise self.not_understood(error) from None
        except BaseException:  # Ctrl-C, a time limit
            self._stop(number)
            raise

    def not_understood(self, error: Exception) -> MeasurementError:
        """End the connection, whose other side is not what it should be; return what to say of it."""
        self._connection.end(0)
        host = printable(self._connection.host)
        return MeasurementError(f"{host} said what cannot be understood: {printable(str(error))}")

    def _failure(self, error: IogateError) -> IogateError:
        known = self._misread
        return known if known and known.message == error.message else self._named(error)

    def _named(self, error: Any) -> Any:
        """Return an error that names the host."""
        error.message = f"{printable(self._connection.host)}: {error.message}"
        return error

    def _stop(self, number: int) -> None:
        """Let the far side stop what it does, and wait until it has."""
        self._connection.post.send("stop", number)
        self._await_stop(number)

    def _await_stop(self, number: int) -> None:
        """Wait until it has stopped; the connection is ended if it does not, or by one more Ctrl-C."""
        deadline = time.monotonic() + _STOPPING
        try:
            with heard(self._connection.post.drop):
                self._await_answer(number, deadline)
        except (Lost, ValueError, TypeError, LookupError, OverflowError):
            self._connection.end(0)

    def _await_answer(self, number: int, deadline: float) -> None:
        """Wait for the answer to a call, whatever it is. Raises Lost."""
        while True:
            word, *rest = self._receive(deadline)
            if word in ("done", "failed", "stopped") and rest[0] == number:
                return
            if word == "file":
                self._keep(*rest)

    def _receive(self, deadline: float) -> tuple[Any, ...]:
        """Return the next message, until then. Raises Lost."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise Lost
        return self._connection.post.receive(left if math.isfinite(left) else None)

    def _await_end(self) -> None:
        """Wait until it is gone. Raises MeasurementError if it is gone without a word."""
        deadline = time.monotonic() + _STOPPING
        try:
            while self._receive(deadline)[:1] != ("gone",):
                pass
        except Lost:
            raise MeasurementError(self._connection.why_lost()) from None
        except (TypeError, LookupError) as error:
            raise self.not_understood(error) from None

    # ------------------------------------------------------------ what comes meanwhile

    def _hear(self, word: str, rest: list[Any]) -> None:
        if word == "tick":
            elapsed, bandwidth = rest
            self._watcher.tick(float(elapsed), None if bandwidth is None else float(bandwidth))
        elif word == "layout":
            done, total = rest
            self._watcher.laying_out(int(done), int(total))
        elif word == "notice":
            self._notices += 1
            if self._notices > _MOST_NOTICES:
                raise ValueError("notices without end")
            self._watcher.notice(f"{self._connection.host}: {one_line(rest[0][:_LONGEST_NOTICE])}")
        elif word == "file":
            self._keep(*rest)
        elif word == "ask":
            self._serve(*rest)

    def _keep(self, name: str, data: Any, first: bool) -> None:
        """Keep a part of a raw file of this repetition. Raises ValueError for any other file."""
        path = self._path(name)
        if not is_raw(PurePosixPath(name)):
            raise ValueError(f"{name[:200]!r} is not called as an output is, or a log")
        self._received += max(len(data), _BLOCK)
        if not isinstance(data, bytes) or self._received > _MOST:
            raise ValueError(f"a raw file {name[:200]!r}")
        try:
            with (
                own_folder(path.parent, self._folder.parent) as held,
                open(held / kept_as(path.name), "wb" if first else "ab", opener=own_file) as stream,
            ):
                stream.write(data)
        except OSError as error:
            self._unkept = self._unkept or error

    def _path(self, name: str) -> Path:
        """Return where a file or folder of this repetition lies at home. Raises ValueError for any other."""
        within = PurePosixPath(name)
        if not self._within.parts or not within.is_relative_to(self._within) or ".." in within.parts:
            raise ValueError(f"{name[:200]!r} is not of this repetition")
        if len(within.parts) - len(self._within.parts) > _DEEPEST:
            raise ValueError(f"{name[:200]!r} is too deep")
        return self._folder / within

    def _serve(self, method: str, *parts: str) -> None:
        """Do for the far side what it cannot do itself."""
        self._asked += 1
        if self._asked > _MOST_ASKED:
            raise ValueError("asks without end")
        serves: dict[str, Callable[..., str]] = {"parse": self._parse, "compile": self._compile}
        try:
            self._connection.post.send("said", serves[method](*parts))
        except IogateError as error:
            self._misread = error
            self._connection.post.send("error", packed(error))

    def _parse(self, engine: str, text: str, within: str, completed: str) -> str:
        name = str(self._path(within))
        if len(text) > _LONGEST_OUTPUT:
            raise OutputError(f"{name} is larger than {_LONGEST_OUTPUT >> 20} MiB: not read")
        return packed(engines.load(engine).parse(text, name=name, completed=unpacked(Completed, completed)))

    def _compile(self, machine: str, name: str) -> str:
        return compiled_for(machine, name).hex()


def check_target(target: Target, figures: Mapping[str, float]) -> None:
    """Raise ValueError for sizes that no device has, a number that is none, and figures without measure."""
    for name, value in figures.items():
        if not 0 < value < math.inf:
            raise ValueError(f"{name}: {value}")
    if not (0 <= target.size <= _LARGEST_SIZE and 0 < target.block <= _LARGEST_BLOCK):
        raise ValueError(f"a target of {str(target.size)[:30]} bytes in blocks of {str(target.block)[:30]}")
    if not target.path.is_absolute() or not re.fullmatch(r"\d+:\d+", target.number or "0:0", re.ASCII):
        raise ValueError(f"a target {target.path} on {target.number}")
