"""One repetition on several clients at once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from iogate import engines
from iogate.audit import Evidence, audit
from iogate.audit.evidence import ClientRun
from iogate.errors import MeasurementError, OutputError
from iogate.measure.local_bench import folder_name
from iogate.model import Audited, ClientOutputs, Command, Finding, Output, Repetition, Traffic, Workload
from iogate.remote.client import Client, FellowGone
from iogate.remote.far_client import Asked, Conducted
from iogate.remote.raw_files import sent_as

_MOST = 256 * 2**20  # bytes of an output


@dataclass(frozen=True)
class Together:
    """A repetition of a workload on clients, by their names; a `folder` keeps raw files, under a `label`."""

    clients: Mapping[str, Client]
    id: str
    workload: Workload
    label: str
    gating: tuple[str, ...]
    folder: Path

    def run(self) -> Repetition:
        """Return what was measured. Raises IogateError that names the client at fault."""
        with _stopping(self.clients):
            versions = {name: client.version(self.workload.engine) for name, client in self.clients.items()}
            asked, commands = self._prepare()
            before = {name: client.ahead() for name, client in self.clients.items()}
            talks = {name: self._talk(self.clients[name], command) for name, command in commands.items()}
            conducted = _conduct(self.clients, asked, commands, talks)
            after = {name: client.ahead() for name, client in self.clients.items()}
        found = self._read(conducted, {name: (before[name][0] + after[name][0]) / 2 for name in self.clients})
        runs = tuple(
            ClientRun(
                name,
                client.host,
                versions[name],
                found.spans[name],
                ahead=before[name][0],
                moved=after[name][0] - before[name][0],
                uncertain=after[name][1] + before[name][1],
                rate=_rate(found.each[name]),
            )
            for name, client in self.clients.items()
        )
        each = _look_back(self.clients, found)
        findings = (*self._audit(found, conducted, runs), *each.findings)
        metrics = {**found.whole.metrics, **each.metrics}
        return Repetition(
            replace(found.whole, engine_version=runs[0].version, metrics=metrics),
            conducted.completed.seconds,
            str(self._within),
            findings,
            conducted.series,
            command=conducted.command,
            files=conducted.files,
        )

    @property
    def _within(self) -> Path:
        return self.folder / folder_name(self.id) / self.label

    @property
    def _engine(self) -> engines.RunsOnClients:
        engine = engines.load(self.workload.engine)
        assert isinstance(engine, engines.RunsOnClients)
        return engine

    def _prepare(self) -> tuple[dict[str, Asked], dict[str, Command]]:
        """Let all lay out their data at once, and return each one's part."""
        alone = replace(self.workload, options=self._engine.alone(self.workload.options))
        asked = {name: Asked(self.id, alone, f"{self.label}/{name}", self.gating) for name in self.clients}
        for name, client in self.clients.items():
            client.prepare(asked[name])
        return asked, {name: client.prepared() for name, client in self.clients.items()}

    def _talk(self, client: Client, command: Command) -> engines.Conversation:
        """Return what its server may hear and say. Raises MeasurementError for a command that is none."""
        try:
            return self._engine.conversation(command)
        except LookupError as error:
            raise client.not_understood(error) from None

    def _read(self, conducted: Conducted, offsets: Mapping[str, float]) -> ClientOutputs:
        """Return what the raw files of the first client say. Raises OutputError."""
        raw = self._within / next(iter(self.clients))
        file = raw / conducted.output
        logs = {sent_as(path.name): _read(path) for path in raw.glob("*") if path.is_file() and path != file}
        return self._engine.outputs(_read(file), logs, offsets, name=str(file), completed=conducted.completed)

    def _audit(
        self, found: ClientOutputs, conducted: Conducted, runs: tuple[ClientRun, ...]
    ) -> tuple[Finding, ...]:
        """Return what the audit finds in all clients together."""
        evidence = Evidence.of(
            self.workload,
            found.whole,
            engines.load(self.workload.engine).needs(self.workload),
            gating=self.gating,
            seconds=conducted.completed.seconds,
            clients=runs,
        )
        return audit(evidence, self.workload.waive)


@contextlib.contextmanager
def _stopping(clients: Mapping[str, Client]) -> Iterator[None]:
    """Stop what any client does where something ends this too early; all of them at once."""
    try:
        yield
    except BaseException:
        for client in clients.values():
            client.halt()
        for client in clients.values():
            client.halted()
        raise


def _conduct(
    clients: Mapping[str, Client],
    asked: Mapping[str, Asked],
    commands: Mapping[str, Command],
    talks: Mapping[str, engines.Conversation],
) -> Conducted:
    """Let the first client drive all of them. Raises IogateError."""
    (own, conductor), *others = clients.items()
    gone: list[Client] = []
    wrong: list[MeasurementError] = []

    def lost(client: Client) -> None:
        gone.append(client)
        conductor.tell_gone()

    def pass_on(look: Callable[[bytes], bytes], speaker: Client, to: Client, name: str, data: bytes) -> None:
        if wrong:
            return
        try:
            heard = look(data)
        except MeasurementError as error:
            wrong.append(MeasurementError(f"{speaker.host}: {error.message}"))
            lost(speaker)
        else:
            if heard or not data:  # no bytes are the end
                to.pass_on(name, heard)

    def to_client(name: str, data: bytes) -> None:
        if name in clients and name != own:
            pass_on(talks[name].to_server, conductor, clients[name], name, data)

    conductor.listen("", to_client, lambda: None)
    for name, client in others:
        to_conductor = partial(pass_on, talks[name].to_conductor, client, conductor)
        client.listen(name, to_conductor, partial(lost, client))
    for name, client in others:
        client.serve(asked[name], name)
    for _, client in others:
        client.ready()
    try:
        conducted = conductor.conduct(asked[own], commands, gone)
    except FellowGone:
        raise wrong[0] if wrong else gone[0].reason() from None
    if wrong:
        raise wrong[0]
    for _, client in others:
        client.served()
    return conducted


def _look_back(clients: Mapping[str, Client], found: ClientOutputs) -> Audited:
    """Return what the audit finds at each client, with its name; of a metric the least."""
    findings: list[Finding] = []
    metrics: dict[str, float] = {}
    for name, client in clients.items():
        beside = _added(
            found.each[other].traffic
            for other, fellow in clients.items()
            if other != name
            and fellow.facts.machine == client.facts.machine
            and set(fellow.facts.disks) & set(client.facts.disks)
        )
        own = client.look_back(found.each[name], beside)
        for item in own.findings:
            findings.append(replace(item, message=f"{name} ({client.host}): {item.message}"))
        for key, value in own.metrics.items():
            metrics[key] = min(value, metrics.get(key, value))
    return Audited(tuple(findings), metrics)


def _added(each: Iterable[Mapping[str, Traffic]]) -> dict[str, Traffic]:
    """Return what several engines moved, by direction."""
    found: dict[str, Traffic] = {}
    for traffic in each:
        for direction, one in traffic.items():
            known = found.get(direction, Traffic(0, 0, 0.0))
            found[direction] = Traffic(
                known.bytes + one.bytes, known.operations + one.operations, max(known.seconds, one.seconds)
            )
    return found


def _rate(output: Output) -> float:
    """Return what a client moved in all directions, in bytes/s."""
    return sum(output.metrics[f"{direction}.bandwidth"] for direction in output.traffic)


def _read(path: Path) -> str:
    """Return a raw file that came home; empty if none did. Raises OutputError if it is absurdly large."""
    try:
        with path.open("rb") as stream:
            data = stream.read(_MOST + 1)
    except OSError:  # it may also be a folder
        return ""
    if len(data) > _MOST:
        raise OutputError(f"{path} is larger than {_MOST >> 20} MiB: not read")
    return data.decode("utf-8", errors="replace")
