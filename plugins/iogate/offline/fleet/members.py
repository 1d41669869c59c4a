"""Which machine a session is of: its device's name, and what tells one machine from another.

Devices of several names may be one machine, and several machines may be measured under one name, as new ones
are that are accepted against the baseline of their model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from iogate.host.environment import INDIVIDUAL, identity_changes, model_of
from iogate.model import Environment
from iogate.report.history.sessions import Measured
from iogate.report.history.values import KnownSession, LeftOut
from iogate.units import plural, printable

_DISK = ("disk_serial", "disk_wwid")
"""What tells a disk from another: a machine may have several of them."""


@dataclass
class _Machine:
    """A machine as sessions of one name show it."""

    name: str
    facts: dict[str, str]
    sessions: set[str] = field(default_factory=set)


def members(measured: Iterable[Measured], said: list[LeftOut]) -> dict[str, list[Measured]]:
    """Return what was measured by device, in the order of time; what cannot be told apart is left out."""
    items = sorted(measured, key=lambda one: (one.session.id, one.session.file))
    sessions = {(one.session.device, one.session.id): one.session for one in items}
    machines: list[_Machine] = []
    for device in dict.fromkeys(name for name, _ in sessions):
        own = [known for (name, _), known in sessions.items() if name == device]
        machines += _machines(device, own, said)
    labels = _labels(_once(machines, said))
    found: dict[str, list[Measured]] = {name: [] for name in sorted(labels.values())}
    for item in items:
        label = labels.get((item.session.device, item.session.id))
        if label:
            found[label].append(item)
    return {name: kept for name, kept in found.items() if kept}


def individual(environment: Environment) -> dict[str, str]:
    """Return what tells a machine from others of its model."""
    return {key: environment.identity[key] for key in INDIVIDUAL if key in environment.identity}


def model(environment: Environment) -> dict[str, str]:
    """Return what tells the model of a machine."""
    return model_of(environment.identity)


def _machines(device: str, sessions: Sequence[KnownSession], said: list[LeftOut]) -> list[_Machine]:
    """Return the machines that the sessions of a name are of; those that know most of them come first."""
    found: list[_Machine] = []
    for session in sorted(sessions, key=lambda one: -len(individual(one.environment))):
        facts = individual(session.environment)
        alike = [one for one in found if not identity_changes(one.facts, facts)]
        same = [one for one in alike if one.facts.keys() & facts.keys()] or alike
        if len(same) > 1:
            why = f"which of the machines called {device} it is of cannot be told"
            said.append(LeftOut(printable(why), date=session.date, file=session.file))
            continue
        machine = same[0] if same else _Machine(device, facts)
        if not same:
            found.append(machine)
        machine.sessions.add(session.id)
    return found


def _once(machines: Sequence[_Machine], said: list[LeftOut]) -> list[_Machine]:
    """Return each machine under one name only."""
    kept: list[_Machine] = []
    for machine in machines:
        twin = next((one for one in kept if _is_same(one.facts, machine.facts)), None)
        if twin is None:
            kept.append(machine)
            continue
        key = next(key for key in _DISK if key in machine.facts and key in twin.facts)
        why = f"{machine.name} is {twin.name} under another name: {key} is {machine.facts[key]} in both"
        said.append(
            LeftOut(printable(f"{why}; {plural(len(machine.sessions), 'session')} of it not counted"))
        )
    return kept


def _is_same(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    shared = [key for key in _DISK if key in one and key in other]
    return bool(shared) and not identity_changes(one, other)


def _labels(machines: Sequence[_Machine]) -> dict[tuple[str, str], str]:
    """Return what the machine of each session is called: as its device, and by a number that tells it from
    others of that name.
    """
    found = {}
    for machine in machines:
        rivals = [one for one in machines if one.name == machine.name]
        told = [
            key for key in (*_DISK, "serial") if len({one.facts.get(key) for one in rivals}) == len(rivals)
        ]
        number = f" ({told[0]} {machine.facts.get(told[0], 'not known')})" if told else ""
        place = f" ({rivals.index(machine) + 1})" if not told else number
        label = machine.name + (place if len(rivals) > 1 else "")
        found.update({(machine.name, session): printable(label) for session in machine.sessions})
    return found
