"""Sessions of one baseline are of one machine."""

from __future__ import annotations

from collections.abc import Mapping

from iogate.host.environment import machine_changes
from iogate.model import Environment
from iogate.units import printable


def foreign(sessions: Mapping[str, Environment], environment: Environment) -> str:
    """Return which of the sessions of a baseline are of another machine than this, and how; empty if none
    is, as far as both know.
    """
    for name, known in sessions.items():
        changes = machine_changes(known.identity, environment.identity)
        if changes:
            return printable(
                f"the session {name} of the baseline is of another machine: {'; '.join(changes)}"
            )
    return ""
