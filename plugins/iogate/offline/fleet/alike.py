"""What can stand side by side: sessions of one model, of one definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from iogate.host.environment import identity_changes
from iogate.judge.baseline import definition_changes
from iogate.model import hash_of
from iogate.offline.fleet.members import model
from iogate.report.history.sessions import Measured
from iogate.report.history.values import LeftOut
from iogate.units import printable

Items = Mapping[str, Sequence[Measured]]
"""What was measured by device, in the order of time."""


def of_one_model(items: Items, said: list[LeftOut]) -> dict[str, list[Measured]]:
    """Return the sessions that are of the model of most devices; the newest decides between equals."""
    kinds = {name: model(own[-1].session.environment) for name, own in items.items()}

    def rank(name: str) -> tuple[int, str]:
        alike = sum(not identity_changes(kinds[name], other) for other in kinds.values())
        return alike, items[name][-1].session.id

    usual = max(kinds, key=rank)
    kept: dict[str, list[Measured]] = {}
    for name, own in items.items():
        for item in own:
            changes = identity_changes(kinds[usual], model(item.session.environment))
            if changes:
                why = f"{name} is of another model than {usual}: {'; '.join(changes)}"
                said.append(LeftOut(printable(why), date=item.session.date))
            else:
                kept.setdefault(name, []).append(item)
    return kept


def by_workload(items: Items) -> dict[tuple[str, str], dict[str, list[Measured]]]:
    """Return what was measured by suite and workload, then by device."""
    found: dict[tuple[str, str], dict[str, list[Measured]]] = {}
    for name, own in items.items():
        for item in own:
            found.setdefault((item.suite, item.workload), {}).setdefault(name, []).append(item)
    return found


def of_one_definition(items: Items, said: list[LeftOut]) -> dict[str, list[Measured]]:
    """Return the sessions of a workload that most devices defined so; the newest decides between equals."""
    newest = {name: own[-1] for name, own in items.items()}
    hashes = {name: hash_of(item.definition) for name, item in newest.items()}
    count = {found: list(hashes.values()).count(found) for found in hashes.values()}
    usual = max(newest, key=lambda name: (count[hashes[name]], newest[name].session.id))
    kept: dict[str, list[Measured]] = {}
    for name, own in items.items():
        for item in own:
            if hash_of(item.definition) == hashes[usual]:
                kept.setdefault(name, []).append(item)
                continue
            changes = definition_changes(newest[usual].definition, item.definition)
            why = f"{name} has it defined otherwise than {usual}: {changes}"
            said.append(LeftOut(printable(why), item.workload, item.session.date))
    return kept


def once(items: Sequence[Measured], said: list[LeftOut]) -> Iterator[Measured]:
    """Yield each session of a device's workload once."""
    found: dict[str, Measured] = {}
    for item in items:
        known = found.setdefault(item.session.id, item)
        if known is item:
            yield item
            continue
        same = "the same" if known.values == item.values else "other figures"
        why = f"{item.session.file} is given beside {known.session.file}, and says {same} of one session"
        said.append(LeftOut(printable(why), item.workload, item.session.date, item.session.file))
