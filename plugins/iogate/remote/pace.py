"""How fast the clock of the other side runs beside this one's, as its heartbeats tell.

A board whose time goes too slowly, as some do while they throttle, counts too many I/Os in each second of it.
"""

from __future__ import annotations

from collections import deque

_BEATS = 24  # the last ones
_PART = 8
"""Beats, of which the one that was least on its way counts: more than are held up before a host is lost."""
_SECONDS = 20.0  # that they are apart at least


class Pace:
    """What was heard of another clock."""

    def __init__(self) -> None:
        self._heard: deque[tuple[float, float]] = deque(maxlen=_BEATS)

    def hear(self, there: float, here: float) -> None:
        """Note what both clocks said, in seconds, when a heartbeat came."""
        self._heard.append((here - there, here))

    @property
    def ratio(self) -> float | None:
        """How many seconds of the other clock go by in one of this; None if not enough was heard yet."""
        heard = list(self._heard)
        if len(heard) < 2 * _PART:
            return None
        (ahead, began), (later, ended) = min(heard[:_PART]), min(heard[-_PART:])
        seconds = ended - began
        return 1 - (later - ahead) / seconds if seconds >= _SECONDS else None
