"""The far side: a bench of this machine, driven by messages from another one.

It runs in the main thread of execnet's worker. When the other side is gone, silent or ends it, it stops what
it is doing, as Ctrl-C would, removes what it laid out, and ends.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from iogate import engines
from iogate.errors import EngineError, InputError, IogateError, TargetError
from iogate.host import native
from iogate.host.process import Completed, find_program
from iogate.measure.bench import Pair, Places
from iogate.measure.local_bench import LocalBench
from iogate.measure.settings import Settings
from iogate.model import (
    Audited,
    Command,
    Device,
    Needs,
    Output,
    Place,
    Repetition,
    Traffic,
    Workload,
)
from iogate.remote.far_client import Asked, Conducted, FarClient, facts_of
from iogate.remote.post import Lost, Post
from iogate.remote.raw_files import is_raw
from iogate.remote.survey import survey
from iogate.remote.wire import packed, unpacked
from iogate.target import Fellows
from iogate.target.resolve import Target

_CHUNK = 2**20
_TICK = 0.1
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Request:
    """What the far side is to be a bench of: the device, and what the command line says of the target."""

    device: Device
    target: str | None = None
    against: str | None = None
    destroy: str | None = None
    wait: float = 0.0
    handicap: tuple[float, float] = (0.0, 0.0)
    session: str = ""


@dataclass(frozen=True)
class Facts:
    """What a bench is, as far as it stays so."""

    target: Target
    places: Places
    base: str
    candidate: str


class FarBench(LocalBench):
    """This machine as a bench, where what reads the outputs of engines is not; the other side is asked."""

    _more_room = "free space there, or name another folder in its host: //env:TMPDIR=DIR"
    _another_folder = "name another folder in its host: //env:TMPDIR=DIR"
    ask: Callable[..., str]

    def _parse(self, engine: str, text: str, name: str, completed: Completed) -> Output:
        within = str(Path(name).relative_to(self._folder))
        found: Output = unpacked(Output, self.ask("parse", engine, text, within, packed(completed)))
        return found


class Far:
    """Does what the other side asks for, one call after the other; `folder` is private, `guard` is told what
    to sweep if this process is killed.
    """

    def __init__(self, channel: Any, folder: Path, guard: Callable[[str], None]) -> None:
        self._folder = folder
        self._guard = guard
        self._bench: LocalBench | None = None
        self._client: FarClient | None = None
        self._main = threading.main_thread().ident or 0
        self._call = 0
        self._interruptible = False
        self._stopped = False
        self._gone = False
        self._told = 0.0
        self._post = Post(channel, self._hear, self._leave)
        for number in _ENDING:
            signal.signal(number, self._interrupt)

    # ------------------------------------------------------------ being interrupted

    def _hear(self, message: tuple[Any, ...]) -> bool:
        if message[0] == "flow":
            if self._client:
                self._client.feed(*message[1:])
            return True
        if message[0] != "stop":
            return False
        if message[1] == self._call:
            self._stopped = True
            signal.pthread_kill(self._main, signal.SIGINT)
        return True

    def _leave(self) -> None:
        """Stop what goes on now: the other side is gone."""
        signal.pthread_kill(self._main, signal.SIGTERM)

    def _interrupt(self, number: int, frame: Any) -> None:
        if not self._stopped or number != signal.SIGINT:  # somebody ends this process
            self._gone = True
            self._post.drop()
        self._stopped = False
        if self._interruptible:  # once: to clean up is not interrupted
            self._interruptible = False
            raise KeyboardInterrupt

    # ------------------------------------------------------------ calls

    def serve(self) -> None:
        """Answer calls until the other side says goodbye, or is gone."""
        try:
            self._post.send("ready", platform.machine(), os.getpid())
            while not self._gone:
                kind, *rest = self._post.receive()
                if kind == "bye":
                    break
                if kind == "call":
                    self._answer(*rest)
        except Lost:
            pass
        finally:
            self._end()

    def _end(self) -> None:
        """Clean up, and be gone. What cannot be removed now, the guard or the next run removes; until then
        the guard needs what is in the folder.
        """
        if self._client:
            with contextlib.suppress(IogateError):
                self._client.give_up()
        with contextlib.suppress(IogateError):
            if self._bench:
                self._bench.close()
            self._guard("done")
            shutil.rmtree(self._folder, ignore_errors=True)
        self._post.send("gone")
        self._post.close()

    def _answer(self, number: int, method: str, text: str) -> None:
        self._call = number
        try:
            try:
                self._interruptible = not self._gone and method != "close"
                done = _METHODS[method](self, text)
            finally:
                self._interruptible = False
        except KeyboardInterrupt:
            self._send_files()
            self._post.send("stopped", number)
        except IogateError as error:
            self._fail(number, error)
        except Exception as error:  # a defect, or a machine like no other: the other side is told
            self._fail(number, EngineError(f"{type(error).__name__}: {error}"))
        else:
            self._send_files()
            self._post.send("done", number, packed(done))

    def _fail(self, number: int, error: IogateError) -> None:
        self._send_files()
        self._post.send("failed", number, packed(error))

    def _send_files(self) -> None:
        """Send the raw files of the last call home, and keep none: no dump of a program's memory, say."""
        results = self._folder / "results"
        for path in sorted(results.rglob("*")):
            within = path.relative_to(results)
            if is_raw(PurePosixPath(within)) and path.is_file() and not path.is_symlink():
                name = str(within)
                with contextlib.suppress(OSError), path.open("rb") as stream:
                    first = True
                    while (chunk := stream.read(_CHUNK)) or first:
                        self._post.send("file", name, chunk, first)
                        first = False
        shutil.rmtree(results, ignore_errors=True)

    def _ask(self, method: str, *parts: str) -> str:
        """Ask the other side, and return what it says. Raises IogateError as it does."""
        self._post.send("ask", method, *parts)
        try:
            kind, said = self._post.receive()
        except Lost:
            raise KeyboardInterrupt from None
        if kind == "error":
            raise unpacked(IogateError, said)
        return str(said)

    # ------------------------------------------------------------ what can be called

    @property
    def bench(self) -> LocalBench:
        assert self._bench
        return self._bench

    def _begin(self, text: str) -> Facts:
        asked: Request = unpacked(Request, text)
        settings = Settings(
            Path.cwd(),
            target=asked.target,
            against=asked.against,
            destroy=asked.destroy,
            wait=asked.wait,
            session=asked.session,
        )
        native.compile_elsewhere = self._compile
        results = self._folder / "results"
        self._bench = bench = FarBench(settings, asked.device, results, self, asked.handicap)
        bench.ask = self._ask
        self._client = FarClient(bench, self._post)
        for path in (bench.target.path, *([Path(bench.base)] if bench.places == "targets" else [])):
            self._guard(f"sweep {path}")
        return Facts(bench.target, bench.places, bench.base, bench.candidate)

    def _compile(self, source: Path, flags: Sequence[str]) -> bytes:
        """Let the other side compile a program for this machine. Raises EngineError."""
        folder = Path(engines.__file__).parent
        name = str(source.relative_to(folder))
        return bytes.fromhex(self._ask("compile", platform.machine(), name))

    def _check(self, text: str) -> list[InputError]:
        """Return what the engines' own programs refuse of workloads. Raises EngineError if one is missing."""
        workloads: list[Workload] = unpacked(list[Workload], text)
        found: list[InputError] = []
        for name in dict.fromkeys(workload.engine for workload in workloads):
            if not (Path(engines.__file__).parent / name).is_dir():
                message = f"the engine {name} of another package cannot be sent to another machine"
                raise EngineError(message, remedy="measure it there, with iogate installed")
            engine = engines.load(name)
            if isinstance(engine, engines.PreparesProgram):
                engine.prepare()
            elif engine.package:
                find_program(engine.program, engine.package)
            found += engine.check([item for item in workloads if item.engine == name])
        return found

    def _repeat(self, text: str) -> Repetition:
        kinds = tuple[str, Workload, int | str, tuple[str, ...], int]
        return self._at_home(self.bench.repeat(*unpacked(kinds, text)))

    def _alternate(self, text: str) -> Repetition:
        kinds = tuple[str, Pair, int | str, tuple[str, ...]]
        return self._at_home(self.bench.alternate(*unpacked(kinds, text)))

    def _at_home(self, repetition: Repetition) -> Repetition:
        """Return a repetition whose raw files are named within the folder of results."""
        folder = str(Path(repetition.folder).relative_to(self._folder / "results"))
        base = self._at_home(repetition.base) if repetition.base else None
        return replace(repetition, folder=folder, base=base)

    def _refusals(self, text: str) -> Sequence[TargetError]:
        return self.bench.refusals(unpacked(Needs, text))

    def _command(self, text: str) -> Any:
        return self.bench.command(*unpacked(tuple[Workload, Place], text))

    # ------------------------------------------------------------ as one of several clients

    @property
    def client(self) -> FarClient:
        assert self._client
        return self._client

    def _conduct(self, text: str) -> Conducted:
        return self.client.conduct(unpacked(dict[str, Command], text), self.tick)

    def _look_back(self, text: str) -> Audited:
        return self.client.look_back(*unpacked(tuple[Output, dict[str, Traffic]], text))

    # ------------------------------------------------------------ Watcher

    def tick(self, elapsed: float, bandwidth: float | None) -> None:
        self._post.send("tick", elapsed, bandwidth)

    def laying_out(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._told > _TICK or done >= total:
            self._told = now
            self._post.send("layout", done, total)

    def notice(self, text: str) -> None:
        self._post.send("notice", text)


_METHODS: dict[str, Callable[[Far, str], Any]] = {
    "begin": Far._begin,
    "check": Far._check,
    "survey": lambda far, text: survey(unpacked(str, text), Path.cwd()),
    "observe": lambda far, text: far.bench.observe(),
    "refusals": Far._refusals,
    "command": Far._command,
    "open": lambda far, text: far.bench.open(),
    "close": lambda far, text: far.bench.close() if far._bench else None,
    "repeat": Far._repeat,
    "alternate": Far._alternate,
    "facts": lambda far, text: facts_of(far.bench),
    "clock": lambda far, text: time.time(),
    "version": lambda far, text: far.client.version(unpacked(str, text)),
    "join": lambda far, text: far.bench.join(unpacked(Fellows, text)),
    "prepare": lambda far, text: far.client.prepare(unpacked(Asked, text)),
    "serve": lambda far, text: far.client.serve(unpacked(str, text)),
    "conduct": Far._conduct,
    "look back": Far._look_back,
}


def serve(channel: Any, folder: str, guard: Callable[[str], None]) -> None:
    """Be a bench for the other side of a channel, until it is gone."""
    Far(channel, Path(folder), guard).serve()
