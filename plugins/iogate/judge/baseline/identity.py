"""Sessions of one baseline are of one machine."""

from __future__ import annotations

from collections.abc import Mapping

from iogate.host.environment import identity_changes, lost_disk
from iogate.model import Environment
from iogate.units import printable


def foreign(sessions: Mapping[str, Environment], environment: Environment) -> str:
    """Return which of the sessions of a baseline are of another machine than this, and how; empty if none
    is, as far as both know.
    """
    for name, known in sessions.items():
        changes = identity_changes(known.identity, environment.identity)
        if changes:
            return printable(
                f"the session {name} of the baseline is of another machine: {'; '.join(changes)}"
            )
    return ""


def not_here(sessions: Mapping[str, Environment], environment: Environment) -> str:
    """Return which of the sessions of a baseline are of another machine than the one here, as `foreign` does,
    or of a disk, where this target lies on none that is known.
    """
    found = foreign(sessions, environment)
    lost = ((name, lost_disk(known, environment)) for name, known in sessions.items())
    return found or next(
        (f"the session {name} of the baseline is of another one: {text}" for name, text in lost if text), ""
    )
