"""How old sessions are: their names begin with the time at which they began."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timezone

from iogate.units import format_duration, plural

_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)Z")
_DAY = 86400.0


def began(session: str) -> datetime | None:
    """Return when a session began; None if its name does not tell, as that of an imported one."""
    match = _TIME.match(session)
    try:
        return datetime.fromisoformat(match[1]).replace(tzinfo=timezone.utc) if match else None
    except ValueError:
        return None


def newest(sessions: Iterable[str]) -> datetime | None:
    """Return when the newest of sessions began; None if none of them tells."""
    return max(filter(None, map(began, sessions)), default=None)


def age_text(moment: datetime | None, now: datetime | None = None) -> str:
    """Return how long ago something was: `3 h 5 min`, `12 days`; `not known` of None."""
    if moment is None:
        return "not known"
    seconds = ((now or datetime.now(timezone.utc)) - moment).total_seconds()
    if seconds < 0:
        return "in the future"
    return format_duration(seconds) if seconds < 2 * _DAY else plural(int(seconds // _DAY), "day")
