"""Whether the clients of one target are different machines, and see the same storage."""

from __future__ import annotations

from collections.abc import Sequence

from iogate.errors import TargetError
from iogate.remote.client import Client
from iogate.target.resolve import Target
from iogate.units import format_quantity


def check_apart(clients: Sequence[Client]) -> None:
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
        if (own.kind, own.file_system) != (other.kind, other.file_system):
            raise _unlike(first, client, _kind(other), _kind(own))
        if own.kind == "device" and own.size != other.size:
            sizes = (format_quantity(target.size, "B") for target in (other, own))
            raise _unlike(first, client, *sizes)


def _kind(target: Target) -> str:
    return f"a directory on {target.file_system}" if target.kind == "directory" else "a block device"


def _unlike(first: Client, client: Client, known: str, found: str) -> TargetError:
    return TargetError(
        f"the clients have different data: {first.target.path} of {first.host} is {known}, "
        f"{client.target.path} of {client.host} is {found}",
        rule="kinds",
        remedy="let the target of the profile lead to the same storage on every host",
    )
