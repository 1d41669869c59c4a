"""Losses of one metric that a verdict may hide, as the noise of its session, or of few sessions, is wide."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypedDict

from iogate.model import Direction

if TYPE_CHECKING:
    from iogate.judge.gate import Borrowed, Decision
    from iogate.judge.gate.values import BaselineValues

_SEVERAL = 3  # sessions that show how sessions differ


class Terms(TypedDict):
    """The terms of `iogate.judge.gate.decide`."""

    direction: Direction
    tolerance: float | None
    alpha: float
    beta: float
    first_look: int
    max_repetitions: int
    metrics: int
    borrowed: Borrowed | None
    resolution: float


def is_below_all(
    values: Sequence[float], sessions: Iterable[Sequence[float]], direction: Direction, tolerance: float
) -> bool:
    """Return whether even the best of these repetitions is worse than the best of as many of each session
    before, of which there are several, and worse than is usual of them by more than the largest tolerance; of
    few sessions, than all repetitions. Noise that is in the baseline, as its stalls, explains none of that,
    whatever it is. What is usual is the median: held against the worst, each session that lost would make
    room for the next one.
    """
    from iogate.judge.gate.looks import LARGEST_TOLERANCE

    higher = direction == "higher"
    best, worst = (max, min) if higher else (min, max)
    stored = [each for each in sessions if each]
    several = len(stored) >= _SEVERAL
    known = [best(each[: len(values)]) if several else worst(each) for each in stored]
    if not known or not values or min(values) <= 0:
        return False
    usual = statistics.median(known) if several else worst(known)
    tolerance = max(tolerance, LARGEST_TOLERANCE)
    if higher:
        return max(values) < min(*known, (1 - tolerance) * usual)
    return min(values) > max(*known, (1 + tolerance) * usual)


def would_regress(known: BaselineValues, decision: Decision, terms: Terms) -> bool:
    """Return whether a metric has lost beyond doubt if its noise is what is usual on the device. What its
    repetitions scatter by beyond that, as where some have lost nothing, or others so much that they are
    outliers, explains no loss; and two workloads in two sessions know so little of what is usual that
    nothing is beyond doubt.
    """
    from iogate.judge.gate import as_assumed, decide

    if decision.value is None or decision.mean is None:
        return False
    borrowed = terms["borrowed"]
    if borrowed and borrowed.session_degrees:
        borrowed = as_assumed(borrowed)
    terms = {**terms, "borrowed": borrowed}
    levels = ([level] * decision.repetitions for level in (decision.value, decision.mean))
    return any(decide(known, level, **terms).verdict == "regressed" for level in levels)
