"""The far side as one of several clients of a target: it serves what a conductor, at another one, drives."""

from __future__ import annotations

import contextlib
import os
import shlex
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from iogate import engines
from iogate.audit import Snapshot
from iogate.errors import EngineError
from iogate.host import process, sysfs
from iogate.host.meter import Meter
from iogate.host.process import Completed, Program
from iogate.measure.invocation import Invocation
from iogate.measure.local_bench import LocalBench
from iogate.model import Audited, Command, Output, Traffic, Workload
from iogate.remote.post import Lost, Post
from iogate.remote.relay import Flow, connected, listening

_SOCKET = "server"
_TICK = 0.25


@dataclass(frozen=True)
class ClientFacts:
    """What a client is: the `machine` (a start of its kernel), the `network` that it is in there, and the
    disks under its target.
    """

    machine: str
    network: str
    disks: tuple[str, ...]


@dataclass(frozen=True)
class Asked:
    """A client's part of a repetition: the engine's own version of the workload, under the client's label."""

    id: str
    workload: Workload
    label: str
    gating: tuple[str, ...]


@dataclass(frozen=True)
class Conducted:
    """How a run on all clients went: the conductor's end, the file that has its `output`, its command as
    people write it, the files that this reads, and the bandwidth of the target there, second by second.
    """

    completed: Completed
    output: str
    command: str
    files: Mapping[str, str]
    series: tuple[float, ...]


def facts_of(bench: LocalBench) -> ClientFacts:
    """Return what this client is. Two network namespaces of one machine are two clients."""
    boot = sysfs.text(Path("/proc/sys/kernel/random/boot_id"))
    machine = boot or f"{sysfs.text(Path('/etc/machine-id'))} {socket.gethostname()}"
    try:
        network = str(os.stat("/proc/self/ns/net").st_ino)
    except OSError:
        network = ""
    return ClientFacts(machine, network, tuple(bench.disks))


class FarClient:
    """Does the part of one client, on a bench; `post` carries what the servers and the conductor say."""

    def __init__(self, bench: LocalBench, post: Post) -> None:
        self._bench = bench
        self._post = post
        self._flows: dict[str, Flow] = {}
        self._run: Invocation | None = None
        self._unread: Invocation | None = None
        self._engine: engines.RunsOnClients | None = None
        self._before: Snapshot | None = None
        self._between: tuple[Snapshot, Snapshot] | None = None
        self._seconds = 0.0

    def feed(self, name: str, data: bytes) -> None:
        """Pass on what came for a client's connection; in the thread of the connection."""
        flow = self._flows.get(name)
        if flow and isinstance(data, bytes):
            flow.feed(data)

    def version(self, engine: str) -> str:
        """Return the version of an engine's program here. Raises EngineError."""
        found = engines.load(engine)
        assert isinstance(found, engines.RunsOnClients)
        return found.version()

    def prepare(self, asked: Asked) -> Command:
        """Lay out the data, and return the command that is this client's part. Raises IogateError."""
        engine = engines.load(asked.workload.engine)
        assert isinstance(engine, engines.RunsOnClients)
        self._engine, self._run = engine, None
        self.give_up()
        self._run = self._unread = self._bench.prepare(asked.id, asked.workload, asked.label, asked.gating)
        return self._run.command

    def serve(self, name: str) -> None:
        """Do what the conductor asks of the client of this name, until it is over. Raises EngineError if the
        server ends before.
        """
        assert self._run and self._engine
        folder = _folder(self._run.folder)  # anew: what lay there went home with the last answer
        flow = self._flows[name] = Flow(partial(self._post.send, "flow", name))
        before, begun = self._look(self._run), time.monotonic()
        try:
            with process.start([(self._engine.server(_SOCKET), folder)]) as (server,):
                flow.run(lambda: connected(folder, _SOCKET), awaited=True)
                self._await_socket(folder, server)
                self._post.send("serving")
                self._await_end(server, partial(self._bench.watch, self._run, before))
                self._note(before, begun)
        finally:
            flow.close()
            self._flows.clear()

    def conduct(
        self, commands: Mapping[str, Command], tick: Callable[[float, float | None], None]
    ) -> Conducted:
        """Have all clients do their commands at once; the first of them is this one. Raises EngineError."""
        assert self._run and self._engine
        run, folder = self._run, _folder(self._run.folder)
        own, *others = commands
        command = self._engine.conductor(commands)
        for name, text in command.files.items():
            (folder / name).write_text(text, encoding="utf-8", errors="surrogateescape")
        inner = _folder(folder / "server")
        meter = Meter(run.site.target.number)
        with contextlib.ExitStack() as stack:
            stack.callback(self._flows.clear)
            for name in others:
                flow = self._flows[name] = Flow(partial(self._post.send, "flow", name))
                stack.callback(flow.close)
                flow.run(stack.enter_context(listening(folder, name)))
            bridge = _Bridge()
            stack.callback(bridge.close)
            bridge.run(stack.enter_context(listening(folder, own)), inner)
            before, begun = self._look(run), time.monotonic()
            calls = [(self._engine.server(_SOCKET), inner), (command.argv, folder)]
            with process.start(calls) as (_, conductor):

                def ticking(elapsed: float) -> None:
                    self._bench.watch(run, before)
                    tick(elapsed, meter.tick())

                conductor.wait(
                    command.timeout,
                    ticking,
                    lambda elapsed: meter.goes_on(elapsed, command.longest),
                )
                self._note(before, begun)
        readable = run.site.readable
        files = {name: readable(text) for name, text in command.files.items()}
        return Conducted(
            conductor.completed(), command.output, shlex.join(command.argv), files, tuple(meter.series)
        )

    def look_back(self, output: Output, beside: Mapping[str, Traffic]) -> Audited:
        """Return what the audit finds in this client's part; `beside` is what others on this machine did."""
        assert self._run and self._between
        self._unread = None
        return self._bench.look_back(self._run, output, self._seconds, self._between, beside=beside)

    def give_up(self) -> None:
        """Count what was written in a repetition that nobody could read."""
        if self._unread:
            self._bench.give_up(self._unread, self._before)
        self._unread = self._before = None

    def _look(self, run: Invocation) -> Snapshot:
        self._before = run.look()
        return self._before

    def _note(self, before: Snapshot, begun: float) -> None:
        assert self._run
        self._seconds = time.monotonic() - begun
        self._between = before, self._run.look()

    def _await_socket(self, folder: Path, server: Program) -> None:
        """Wait until the server listens. Raises EngineError if it never does."""
        deadline = time.monotonic() + 10.0
        while not (folder / _SOCKET).is_socket():
            if server.over or time.monotonic() > deadline:
                raise EngineError(f"its server does not listen{_said(folder)}")
            time.sleep(0.005)

    def _await_end(self, server: Program, watch: Callable[[], None]) -> None:
        """Wait until it is over. Raises EngineError if the server ends before, and what `watch` does."""
        while True:
            watch()
            try:
                if self._post.receive(_TICK)[0] == "over":
                    return
            except Lost:
                if self._post.lost:
                    raise KeyboardInterrupt from None
                if server.over:
                    raise EngineError("its server ended in mid-run; was it killed?") from None


class _Bridge:
    """From the conductor to the server beside it, which may not listen yet when the conductor begins."""

    def __init__(self) -> None:
        self._inner = Flow(self._outward)
        self._outer = Flow(self._inner.feed)

    def run(self, accept: Callable[[], socket.socket], folder: Path) -> None:
        self._outer.run(accept)
        self._inner.run(lambda: connected(folder, _SOCKET), awaited=True)

    def _outward(self, data: bytes) -> None:
        self._outer.feed(data)

    def close(self) -> None:
        self._outer.close()
        self._inner.close()


def _folder(path: Path) -> Path:
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def _said(folder: Path) -> str:
    text = sysfs.text(folder / "stderr") or sysfs.text(folder / "stdout")
    return f": {text[:300]}" if text else ""
