"""Whether repetitions of a session are where those of a baseline were: behind as much work of the device."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from iogate.model import Baseline, Repetition
from iogate.units import format_duration

_SLACK = 0.01
"""The part by which work may differ, or one repetition if that is more: heat depends on more than that."""
_SPREADS = 3
"""How many times their median deviation sessions may differ: what ends by size takes now more, now less."""
_STEP = 0.01  # seconds, to which it is stored
_FEWEST = 1 / 3
"""The part of the sessions that came behind as much or more, and of those as little or less: of three one."""


def unlike_work(baseline: Baseline, repetitions: Sequence[Repetition]) -> str:
    """Return which of a session's repetitions came behind more, or less, work than those of the baseline's
    sessions, and what would help; empty: none, as far as is known.
    """
    for index, repetition in enumerate(repetitions):
        known = [row[index] for row in baseline.worked.values() if index < len(row)]
        if repetition.worked is None or not known:
            continue
        slack = max(repetition.work, _SLACK * max(known), _SPREADS * _deviation(known)) + _STEP
        less = sum(worked <= repetition.worked + slack for worked in known)
        more = sum(worked >= repetition.worked - slack for worked in known)
        if min(less, more) < _FEWEST * len(known):
            return _told(index + 1, repetition.worked, statistics.median(known))
    return ""


def _deviation(known: Sequence[float]) -> float:
    middle = statistics.median(known)
    return statistics.median(abs(worked - middle) for worked in known)


def _told(number: int, worked: float, usual: float) -> str:
    return (
        f"repetition {number} came behind {format_duration(worked)} of measuring, and behind "
        f"{format_duration(usual)} in the baseline: these cannot be held against each other (measure the "
        "same workloads in the same order, on a device that has rested as long; or record all together, "
        "three times: --update-baselines, then =append; or wait for a device at rest: steady_state)"
    )
