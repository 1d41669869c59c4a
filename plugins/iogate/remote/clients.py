"""The bench of several hosts: clients of one target, on which workloads run alone or all at once."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

from iogate import engines
from iogate.audit import Evidence, audit
from iogate.audit.evidence import ClientRun
from iogate.engines.common.scaling import curve
from iogate.errors import OutputError, TargetError
from iogate.measure.bench import Pair, Watcher
from iogate.measure.local_bench import folder_name
from iogate.measure.settings import Settings
from iogate.model import (
    ClientOutputs,
    Command,
    Device,
    Environment,
    Finding,
    Needs,
    Output,
    Place,
    Repetition,
    Traffic,
    Workload,
)
from iogate.remote.client import Client, FellowGone
from iogate.remote.far_client import Asked, Conducted
from iogate.remote.survey import Survey
from iogate.target import Fellows
from iogate.target.resolve import Target
from iogate.units import format_quantity, plural

_MOST = 256 * 2**20  # bytes of an output


class ClientsBench:
    """The clients of one target, by the hosts of a device's profile. What is not for several runs on the
    first.

    Raises InputError for what is no host, and TargetError for hosts that cannot be had, that are the same
    machine, or whose targets differ.
    """

    def __init__(self, settings: Settings, device: Device, folder: Path, watcher: Watcher) -> None:
        self.name = device.name
        self._folder = folder
        self._begun: dict[str, Client] = {}

        def begin(host: str) -> None:
            own = replace(device, host=host, hosts=())
            self._begun[host] = Client(replace(settings, host=host), own, folder, watcher)

        try:
            with ThreadPoolExecutor(len(device.hosts)) as pool:  # the way to each takes a second or two
                for each in [pool.submit(begin, host) for host in device.hosts]:
                    each.result()
            self._clients = [self._begun[host] for host in device.hosts]
            _check_apart(self._clients)
        except BaseException:
            self.close()
            raise
        self._first = first = self._clients[0]
        self.target: Target = first.target
        self.places, self.base, self.candidate = first.places, first.base, first.candidate
        self.slice = first.slice

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(client.host for client in self._clients)

    def survey(self, named: str) -> Survey:
        """Return what the first of the clients is; see `RemoteBench.survey`."""
        return self._first.survey(named)

    def check(self, workloads: Sequence[Workload]) -> None:
        """Raise IogateError for what the engines' own programs would refuse of these workloads there."""
        spread = [workload for workload in workloads if _asked_clients(workload)]
        for client in self._clients:
            client.check(workloads if client is self._first else spread)

    def observe(self) -> Environment:
        found = [client.observe() for client in self._clients]
        return Environment(
            _united([one.identity for one in found]),
            _united([one.subject for one in found]),
            _united([one.state for one in found]),
        )

    def refusals(self, needs: Needs) -> Sequence[TargetError]:
        each = needs
        if needs.clients > 1 and self.target.kind == "directory":  # all that lies on the storage they share
            each = replace(needs, size=needs.size * needs.clients, space=needs.space * needs.clients)
        return [error for client in self._clients[: needs.clients] for error in client.refusals(each)]

    def command(self, workload: Workload, place: Place) -> Command:
        return self._first.command(workload, place)

    def open(self) -> None:
        """Take the target from every client; what one of them has the next ones need not wait for."""
        folders: list[str] = []
        for number, client in enumerate(self._clients):
            machine = client.facts.machine
            near = [other for other in self._clients[:number] if other.facts.machine == machine]
            disks = tuple(disk for other in near for disk in other.facts.disks)
            folders += filter(None, [client.join(Fellows(tuple(folders), disks))])

    def close(self) -> None:
        with contextlib.ExitStack() as stack:
            for client in self._begun.values():
                stack.callback(client.close)

    def alternate(self, id: str, pair: Pair, label: int | str, gating: Sequence[str]) -> Repetition:
        return self._first.alternate(id, pair, label, gating)

    def repeat(
        self, id: str, workload: Workload, label: int | str, gating: Sequence[str], arm: int = 1
    ) -> Repetition:
        counts = _counts(workload)
        if not counts:
            return self._first.repeat(id, workload, label, gating, arm)
        if len(counts) == 1:
            return self._together(id, workload, str(label), gating, counts[0])
        found = {}
        for count in counts:
            start = f"clients_{count}."
            own = [name.removeprefix(start) for name in gating if name.startswith(start)]
            found[count] = self._together(id, workload, f"{label}/clients_{count}", own, count)
        return _curve(found, str(self._folder / folder_name(id) / str(label)))

    # ------------------------------------------------------------ all at once

    def _together(
        self, id: str, workload: Workload, label: str, gating: Sequence[str], count: int
    ) -> Repetition:
        """Return one repetition on so many clients. Raises IogateError that names the client at fault."""
        engine = engines.load(workload.engine)
        assert isinstance(engine, engines.RunsOnClients)
        alone = replace(workload, options=engine.alone(workload.options))
        clients = {f"client_{number}": client for number, client in enumerate(self._clients[:count], 1)}
        asked = {name: Asked(id, alone, f"{label}/{name}", tuple(gating)) for name in clients}
        folder = self._folder / folder_name(id) / label
        with _stopping(clients):
            versions = {name: client.version(workload.engine) for name, client in clients.items()}
            for name, client in clients.items():
                client.prepare(asked[name])
            commands = {name: client.prepared() for name, client in clients.items()}
            before = {name: client.ahead() for name, client in clients.items()}
            conducted = _conduct(clients, asked, commands)
            after = {name: client.ahead() for name, client in clients.items()}
        offsets = {name: (before[name][0] + after[name][0]) / 2 for name in clients}
        raw = folder / next(iter(clients))
        file = raw / conducted.output
        logs = {path.name: _read(path) for path in raw.iterdir() if path.is_file() and path != file}
        found = engine.outputs(_read(file), logs, offsets, name=str(file), completed=conducted.completed)
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
            for name, client in clients.items()
        )
        findings = (
            *self._audit(workload, found, gating, conducted, runs),
            *_look_back(clients, found),
        )
        output = replace(found.whole, engine_version=versions["client_1"])
        repetition = Repetition(output, conducted.completed.seconds, str(folder), findings, conducted.series)
        return replace(repetition, command=conducted.command, files=conducted.files)

    def _audit(
        self,
        workload: Workload,
        found: ClientOutputs,
        gating: Sequence[str],
        conducted: Conducted,
        runs: tuple[ClientRun, ...],
    ) -> tuple[Finding, ...]:
        """Return what the audit finds in all clients together."""
        needs = engines.load(workload.engine).needs(workload)
        evidence = Evidence.of(
            workload, found.whole, needs, gating=gating, seconds=conducted.completed.seconds, clients=runs
        )
        return audit(evidence, workload.waive)


def _counts(workload: Workload) -> tuple[int, ...]:
    """Return how many clients a workload is for, once that is a number; none for one that is not."""
    asked = _asked_clients(workload)
    return asked if asked and asked != "all" else ()


def _asked_clients(workload: Workload) -> tuple[int, ...] | Literal["all"] | None:
    """Return how many clients a workload asks for; None for one that does not."""
    engine = engines.load(workload.engine)
    return engine.clients(workload.options) if isinstance(engine, engines.RunsOnClients) else None


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
    clients: Mapping[str, Client], asked: Mapping[str, Asked], commands: Mapping[str, Command]
) -> Conducted:
    """Let the first client drive all of them. Raises IogateError."""
    (own, conductor), *others = clients.items()
    gone: list[Client] = []

    def lost(client: Client) -> None:
        gone.append(client)
        conductor.tell_gone()

    def to_client(name: str, data: bytes) -> None:
        if name in clients and name != own:
            clients[name].pass_on(name, data)

    conductor.listen("", to_client, lambda: None)
    for name, client in others:
        client.listen(name, conductor.pass_on, partial(lost, client))
    for name, client in others:
        client.serve(asked[name], name)
    for _, client in others:
        client.ready()
    try:
        conducted = conductor.conduct(asked[own], commands, gone)
    except FellowGone:
        raise gone[0].reason() from None
    for _, client in others:
        client.served()
    return conducted


def _look_back(clients: Mapping[str, Client], found: ClientOutputs) -> Iterator[Finding]:
    """Yield what the audit finds at each client, with its name."""
    for name, client in clients.items():
        beside = _added(
            found.each[other].traffic
            for other, fellow in clients.items()
            if other != name
            and fellow.facts.machine == client.facts.machine
            and set(fellow.facts.disks) & set(client.facts.disks)
        )
        for item in client.look_back(found.each[name], beside):
            yield replace(item, message=f"{name} ({client.host}): {item.message}")


def _check_apart(clients: Sequence[Client]) -> None:
    """Raise TargetError for hosts that are the same machine, or whose targets are not alike."""
    seen: dict[tuple[str, str], Client] = {}
    for client in clients:
        known = seen.setdefault((client.facts.machine, client.facts.network), client)
        if known is not client:
            raise TargetError(
                f"the hosts {known.host} and {client.host} are the same machine, in one network namespace",
                rule="host",
                remedy="name each machine once: its own I/O would be counted as that of two clients",
            )
    first = clients[0]
    for client in clients[1:]:
        own, other = client.target, first.target
        if own.kind != other.kind:
            raise _unlike(first, client, f"a {other.kind}", f"a {own.kind}")
        if own.kind == "device" and own.size != other.size:
            sizes = (format_quantity(target.size, "B") for target in (other, own))
            raise _unlike(first, client, *sizes)


def _unlike(first: Client, client: Client, known: str, found: str) -> TargetError:
    return TargetError(
        f"the clients have different data: {first.target.path} of {first.host} is {known}, "
        f"{client.target.path} of {client.host} is {found}",
        rule="kinds",
        remedy="let the target of the profile lead to the same storage on every host",
    )


def _united(parts: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return what clients say of themselves as one: where they differ, what each says, once."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: ", ".join(dict.fromkeys(part[name] for part in parts if name in part)) for name in names}


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
    except FileNotFoundError:
        return ""
    if len(data) > _MOST:
        raise OutputError(f"{path} is larger than {_MOST >> 20} MiB: not read")
    return data.decode("utf-8", errors="replace")


def _curve(found: Mapping[int, Repetition], folder: str) -> Repetition:
    """Return repetitions on more and more clients as one, which has a curve of scaling."""
    last = found[max(found)]
    findings = tuple(
        replace(item, message=f"{plural(count, 'client')}: {item.message}")
        for count, repetition in found.items()
        for item in repetition.findings
    )
    return replace(
        last,
        output=curve({count: item.output for count, item in found.items()}, "clients"),
        seconds=sum(item.seconds for item in found.values()),
        folder=folder,
        findings=findings,
        series=tuple(value for item in found.values() for value in item.series),
    )
