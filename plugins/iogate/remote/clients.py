"""The bench of several hosts: clients of one target, on which workloads run alone or all at once."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Literal

from iogate import engines
from iogate.engines.common.scaling import curve
from iogate.errors import TargetError
from iogate.measure.bench import Pair, Watcher
from iogate.measure.local_bench import folder_name
from iogate.measure.settings import Settings
from iogate.model import Command, Device, Environment, Needs, Place, Repetition, Workload
from iogate.remote.client import Client
from iogate.remote.same import check_apart
from iogate.remote.survey import Survey
from iogate.remote.together import Together
from iogate.target import Fellows
from iogate.target.resolve import Target
from iogate.units import plural


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
            check_apart(self._clients)
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
        """Return what the first machine is, with a target. Raises TargetError."""
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
            " ".join(one.boot for one in found),
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
            client.join(Fellows(tuple(folders), disks))
            folders += filter(None, [client.scratch])

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

    def _together(
        self, id: str, workload: Workload, label: str, gating: Sequence[str], count: int
    ) -> Repetition:
        """Return one repetition on so many clients at once."""
        clients = {f"client_{number}": client for number, client in enumerate(self._clients[:count], 1)}
        return Together(clients, id, workload, label, tuple(gating), self._folder).run()


def _counts(workload: Workload) -> tuple[int, ...]:
    """Return how many clients a workload is for, once that is a number; none for one that is not."""
    asked = _asked_clients(workload)
    return asked if asked and asked != "all" else ()


def _asked_clients(workload: Workload) -> tuple[int, ...] | Literal["all"] | None:
    """Return how many clients a workload asks for; None for one that does not."""
    engine = engines.load(workload.engine)
    return engine.clients(workload.options) if isinstance(engine, engines.RunsOnClients) else None


def _united(parts: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return what clients say of themselves as one: where they differ, what each says, once."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: ", ".join(dict.fromkeys(part[name] for part in parts if name in part)) for name in names}


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
