"""From points to their changes, and to what several of them add up to."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from iogate.judge.history import Level, Levels, find_levels
from iogate.model import Direction
from iogate.report.history.around import changes_around
from iogate.report.history.values import Drift, KnownSession, LevelChange, SessionValue

_BOUND = 1.96  # of a 95% interval


@dataclass(frozen=True)
class Found:
    """Points, with those marked that stand out alone, their changes and what was learnt of the noise."""

    points: tuple[SessionValue, ...]
    changes: tuple[LevelChange, ...]
    levels: Levels


def changes_of(
    points: Sequence[SessionValue], direction: Direction, sessions: Sequence[KnownSession]
) -> Found:
    """Return where a metric changed; `sessions` are those of the points."""
    levels = find_levels([math.log(point.value) for point in points], [point.error for point in points])
    alone = frozenset(levels.spikes)
    marked = tuple(replace(point, spike=index in alone) for index, point in enumerate(points))
    pairs = zip(levels.levels, levels.levels[1:], strict=False)
    changes = tuple(_change(points, before, after, direction, sessions) for before, after in pairs)
    return Found(marked, changes, levels)


def drift_of(found: Found, direction: Direction, tolerance: float) -> Drift | None:
    """Return what several changes for the worse add up to, if that is more than the tolerance, and no one of
    them is: that a single comparison sees. Of what goes one way all the time none is seen.
    """
    levels, trend = found.levels.described, found.levels.trend
    if not (found.changes or trend) or len(levels) < (2 if trend else 3):
        return None
    sign = 1 if direction == "higher" else -1
    best = max(range(len(levels)), key=lambda index: sign * levels[index].mean)
    since = levels[best:]
    steps = [math.expm1(b.mean - a.mean) for a, b in itertools.pairwise(since)]
    worse = [abs(step) for step in steps if sign * step < 0]
    change, interval = _between(since[0], since[-1])
    if not worse or -sign * change < tolerance:
        return None
    if not trend and (len(worse) < 2 or max(worse) >= tolerance):
        return None
    return Drift(
        since=found.points[since[0].stop].date,
        before=math.exp(since[0].mean),
        after=math.exp(since[-1].mean),
        change=change,
        interval=interval,
        steps=len(worse),
        largest=max(worse),
        tolerance=tolerance,
    )


def _change(
    points: Sequence[SessionValue],
    before: Level,
    after: Level,
    direction: Direction,
    sessions: Sequence[KnownSession],
) -> LevelChange:
    change, interval = _between(before, after)
    point = points[after.start]
    return LevelChange(
        index=after.start,
        session=point.session,
        date=point.date,
        before=math.exp(before.mean),
        after=math.exp(after.mean),
        change=change,
        interval=interval,
        worse=(change < 0) == (direction == "higher"),
        chance=after.chance,
        earliest=points[after.earliest].date,
        latest=points[after.latest].date,
        around=changes_around(sessions, after.start, after.earliest, after.latest),
    )


def _between(before: Level, after: Level) -> tuple[float, tuple[float, float]]:
    """Return the relative change from one level to another, and its interval."""
    moved, reach = after.mean - before.mean, _BOUND * math.hypot(before.error, after.error)
    return math.expm1(moved), (math.expm1(moved - reach), math.expm1(moved + reach))
