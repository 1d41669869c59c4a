"""What changed from one session to the next: the first suspects where a metric did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from iogate.host.environment import differences
from iogate.report.history.values import KnownSession
from iogate.units import printable


def changes_around(
    sessions: Sequence[KnownSession], index: int, earliest: int, latest: int
) -> tuple[str, ...]:
    """Return what changed to the session `index` from the one before it; then, with their dates, what changed
    to others from `earliest` to `latest`.
    """
    found = list(what_changed(sessions[index - 1], sessions[index]))
    for place in range(earliest, latest + 1):
        if place != index:
            said = what_changed(sessions[place - 1], sessions[place])
            found += [f"{sessions[place].date}: {text}" for text in said]
    return tuple(found)


def what_changed(old: KnownSession, new: KnownSession) -> tuple[str, ...]:
    """Return how machine, software, versions of programs and options differ, as sentences. Of a session that
    a baseline knows only, versions and options are not known.
    """
    found = differences(old.environment, new.environment)
    if old.versions and new.versions:
        found += _changes(old.versions, new.versions, "")
        found += _changes(old.options, new.options, "the option ")
    return tuple(map(printable, found))


def _changes(old: Mapping[str, str], new: Mapping[str, str], what: str) -> list[str]:
    said = []
    for name in dict.fromkeys((*old, *new)):
        before, after = old.get(name), new.get(name)
        if before == after:
            continue
        if before is None:
            said.append(f"{what}{name} is new, is {after}")
        elif after is None:
            said.append(f"{what}{name} was {before}, is gone")
        else:
            said.append(f"{what}{name} was {before}, is {after}")
    return said
