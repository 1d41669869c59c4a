"""Whether repetitions of a session are where those of a baseline were: behind as much work of the device."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from iogate.model import Baseline, Repetition
from iogate.units import format_duration

_SLACK = 0.01
"""The part by which work may differ, or one repetition if that is more: heat depends on more than that."""
_SPREADS = 3
"""How many times their median deviation sessions may differ: what ends by size takes now more, now less."""
_MOST = 0.1  # of the work, however much sessions differ: from one that measured little to one that did much
_STEP = 0.01  # seconds, to which it is stored
_FEWEST = 1 / 3
"""The part of the sessions that came behind as much or more, and of those as little or less: of three one."""


@dataclass(frozen=True)
class UnlikeWork:
    """That the repetition of this `number` came behind so many seconds of work, and behind the `usual` in
    the baseline.
    """

    number: int
    worked: float
    usual: float

    @property
    def text(self) -> str:
        """What that means, and what would help."""
        return (
            f"{self._fact}: these cannot be held against each other (measure the same workloads in the same "
            "order, on a device that has rested as long; or record all together, three times, rested each "
            "time for three times its work: --update-baselines, then =append; or wait for a device at rest: "
            "steady_state)"
        )

    @property
    def excuse(self) -> str:
        """Why a device may be slower that is not known to get hot; empty if it came behind less work."""
        if self.worked < self.usual:
            return ""
        return f"{self._fact}: if the device gets hot by then, or a cache is full, it is no regression"

    @property
    def _fact(self) -> str:
        now, then = format_duration(self.worked), format_duration(self.usual)
        return f"repetition {self.number} came behind {now} of measuring, and behind {then} in the baseline"


def unlike_work(baseline: Baseline, repetitions: Sequence[Repetition]) -> UnlikeWork | None:
    """Return which of a session's repetitions came behind more, or less, work than those of the baseline's
    sessions; None: none, as far as is known.
    """
    for index, repetition in enumerate(repetitions):
        known = [row[index] for row in baseline.worked.values() if index < len(row)]
        if repetition.worked is None or not known:
            continue
        spread = min(_SPREADS * _deviation(known), _MOST * max(known))
        slack = max(repetition.work, _SLACK * max(known), spread) + _STEP
        less = sum(worked <= repetition.worked + slack for worked in known)
        more = sum(worked >= repetition.worked - slack for worked in known)
        if min(less, more) < _FEWEST * len(known):
            return UnlikeWork(index + 1, repetition.worked, statistics.median(known))
    return None


def sessions_begun_behind(baselines: Iterable[Baseline]) -> bool:
    """Return whether a session of these baselines, which are all of a device, came behind work of another."""
    first: dict[str, float] = {}
    for baseline in baselines:
        for session, row in baseline.worked.items():
            if row:
                first[session] = min(first.get(session, row[0]), row[0])
    return any(first.values())


def _deviation(known: Sequence[float]) -> float:
    middle = statistics.median(known)
    return statistics.median(abs(worked - middle) for worked in known)
