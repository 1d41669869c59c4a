"""Losses of one metric that a verdict may hide, as the noise of its session, or of few sessions, is wide."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, TypedDict

from iogate.model import Direction

if TYPE_CHECKING:
    from iogate.judge.gate import Borrowed, Decision
    from iogate.judge.gate.values import BaselineValues

_SEVERAL = 3  # sessions that show how sessions differ
_FAR = 2.0  # tolerances: a loss of more is told from noise at _SEEMING where no session was ever so slow
_SEEMING = 0.05
_CHANCE = 0.01  # of sessions of one speed that seem to fall
_FEWEST = 5
_NEWEST = 21  # sessions: those that a baseline keeps, and one


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


def seems_lost(
    values: Sequence[float],
    sessions: Iterable[Sequence[float]],
    known: BaselineValues,
    decision: Decision,
    terms: Terms,
) -> bool:
    """Return whether a metric has lost beyond doubt if its noise is what is usual on the device; or, beyond
    5%, has lost more than twice the tolerance and is slower than any of the `sessions` was. `known` are their
    values as they were held against these.
    """
    if would_regress(known, decision, terms):
        return True
    change = decision.change or 0.0
    lost = change if terms["direction"] == "lower" else -change
    if lost <= _FAR * (decision.tolerance or 0.0) or not _is_below_means(
        values, sessions, terms["direction"]
    ):
        return False
    return would_regress(known, decision, {**terms, "alpha": _SEEMING})


def fall(
    values: Sequence[float], sessions: Iterable[Sequence[float]], direction: Direction, tolerance: float
) -> float:
    """Return the relative change from the first of the sessions before, which are in the order of time, to
    this one, if it is a loss of more than the tolerance, and they got worse from one to the next beyond
    chance, and do so still: of the newest five hardly one rose. Else 0. A loss in small steps widens the
    noise between sessions by as much as it is, so that nothing else tells it from noise.

    It is Kendall's tau of their means against time, one-sided, with its exact distribution (Mann,
    Econometrica 13, 1945, p. 245). Five sessions are the fewest that tell.
    """
    sign = 1 if direction == "higher" else -1
    means = [sign * statistics.fmean(each) for each in (*sessions, values) if each][-_NEWEST:]
    if len(means) < _FEWEST or means[0] - means[-1] <= tolerance * abs(means[0]):
        return 0.0
    newest = sum(later >= earlier for earlier, later in combinations(means[-_FEWEST:], 2))
    rises = sum(later >= earlier for earlier, later in combinations(means, 2))
    fallen = newest <= 1 and _share_of_orders(len(means), rises) <= _CHANCE
    return means[-1] / means[0] - 1 if fallen else 0.0


def _share_of_orders(count: int, most: int) -> float:
    """Return the share of all orders of so many things in which no more than `most` pairs of them rise."""
    orders = [1]
    for size in range(2, count + 1):  # the last one rises above 0 to size - 1 of those before it
        orders = [
            sum(orders[max(0, rises - size + 1) : rises + 1]) for rises in range(len(orders) + size - 1)
        ]
    return sum(orders[: most + 1]) / math.factorial(count)


def _is_below_means(
    values: Sequence[float], sessions: Iterable[Sequence[float]], direction: Direction
) -> bool:
    """Return whether even the best of these repetitions is worse than the mean of each session."""
    means = [statistics.fmean(each) for each in sessions if each]
    if not means:
        return False
    return max(values) < min(means) if direction == "higher" else min(values) > max(means)


def would_regress(known: BaselineValues, decision: Decision, terms: Terms) -> bool:
    """Return whether a metric has lost beyond doubt if its noise is what is usual on the device. What its
    repetitions scatter by beyond that, as where some have lost nothing, or others so much that they are
    outliers, explains no loss; and two workloads in two sessions know so little of what is usual that
    nothing is beyond doubt. Alpha is not shared with other metrics: nothing is called regressed by it, and
    shared, the more is measured the less would be noticed.
    """
    from iogate.judge.gate import as_assumed, decide

    if decision.value is None or decision.mean is None:
        return False
    borrowed = terms["borrowed"]
    if borrowed and borrowed.session_degrees:
        borrowed = as_assumed(borrowed)
    terms = {**terms, "borrowed": borrowed, "metrics": 1}
    levels = ([level] * decision.repetitions for level in (decision.value, decision.mean))
    return any(decide(known, level, **terms).verdict == "regressed" for level in levels)
