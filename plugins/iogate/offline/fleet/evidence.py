"""What is different about a device: the first suspects where it is slower than the others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone

from iogate.host.environment import material
from iogate.model import Environment
from iogate.offline.ages import age_text, began
from iogate.units import printable

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_IDLE = ("load", "uptime")  # they move by the minute, and say nothing of a device


def differing_facts(own: Environment, others: Sequence[Environment]) -> tuple[str, ...]:
    """Return how what is known of a device differs from what is known of most others, as sentences."""
    parts = [(own.subject, [one.subject for one in others]), (own.state, [one.state for one in others])]
    return tuple(printable(text) for mine, theirs in parts for text in _parts(mine, theirs))


def _parts(own: Mapping[str, str], others: Sequence[Mapping[str, str]]) -> Iterator[str]:
    for name in dict.fromkeys((*own, *(name for other in others for name in other))):
        values = [other[name] for other in others if name in other]
        if name in _IDLE or 2 * len(values) < len(others):
            continue
        text = _told(name, own.get(name), values)
        if text:
            yield text


def _told(name: str, own: str | None, others: Sequence[str]) -> str:
    """Return how a fact differs: a number from all others, anything else from at least half of them."""
    if own is None:
        return ""
    numbers = [_NUMBER.match(text) for text in (own, *others)]
    if all(numbers) and all(text.count(" ") <= 1 for text in (own, *others)):
        if all(material(name, text, own) for text in others):
            low, high = (pick(others, key=_number) for pick in (min, max))
            return f"{name} is {own}, of the others {low}" + (f" to {high}" if high != low else "")
        return ""
    usual, count = Counter(others).most_common(1)[0]
    if 2 * count < len(others) or not material(name, usual, own) or 2 * others.count(own) >= len(others):
        return ""
    rest = len(others) - count
    return f"{name} is {own}, of {count} others {usual}" + (f" ({rest} differ)" if rest else "")


def _number(text: str) -> float:
    match = _NUMBER.match(text)
    return float(match[0]) if match else 0.0


def ages(own: str, others: Sequence[str], now: datetime | None = None) -> str:
    """Return how old the newest figures of a device are, and those of the others, given as sessions."""
    now = now or datetime.now(timezone.utc)
    moments = sorted(filter(None, map(began, others)), reverse=True)
    text = f"age of its newest figures: {age_text(began(own), now)}"
    if not moments:
        return text
    young, old = (age_text(moment, now) for moment in (moments[0], moments[-1]))
    return f"{text}, those of the others {young}" + (f" to {old}" if old != young else "")
