"""Which values of a baseline are held against which of a session: those of the same places, where a device's
speed depends on a repetition's place in its session (`iogate.judge.gate.course`).
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from iogate.model import metric

if TYPE_CHECKING:
    from iogate.judge.gate import Course, Step
    from iogate.judge.gate.values import BaselineValues

_SURE = 0.0005  # of one metric's course that is none, where it costs verdicts
_EXCUSED = 0.05  # of what regressed behind more work, and by chance is faster at first: it costs a verdict
_MATTERS = 0.2  # of the tolerance; unlike places shift a mean by half of what they differ by


class Places:
    """The regard to places of one workload, of which its baseline knows `metrics`. `tolerances` are the
    smallest changes that matter, as a fraction (None: not known); a session has at most `most` repetitions.
    """

    def __init__(
        self, metrics: Mapping[str, BaselineValues], tolerances: Mapping[str, float | None], most: int
    ) -> None:
        self._metrics = metrics
        self._tolerances = tolerances
        self._most = most

    @cached_property
    def courses(self) -> Mapping[str, Course]:
        """How each metric goes within the sessions of the baseline, where that is beyond chance and matters
        beside its tolerance: over as many repetitions as most sessions have, however few this one gets, as
        these would be held against all of them.
        """
        from iogate.judge.gate import course_of

        found = {name: course_of(rows, self.usual) for name, rows in self._known.items()}
        return {name: course for name, course in found.items() if course and self.matters(name, course.span)}

    def surely(self, name: str) -> bool:
        """Return whether a metric goes so beyond what chance makes of many: where that costs verdicts."""
        from iogate.judge.gate import course_of

        rows = self._known.get(name)
        return name in self.courses and rows is not None and bool(course_of(rows, self.usual, _SURE))

    def matters(self, name: str, span: float) -> bool:
        """Return whether it matters beside a metric's tolerance that places differ by so much."""
        from iogate.judge.gate import SMALLEST_TOLERANCE

        return span >= _MATTERS * (self._tolerances[name] or SMALLEST_TOLERANCE)

    @property
    def _known(self) -> Mapping[str, tuple[tuple[float, ...], ...]]:
        return {name: rows for name in self._tolerances if isinstance(rows := self._metrics.get(name), tuple)}

    @cached_property
    def usual(self) -> int:
        """How many repetitions most sessions of the baseline have; 0: nobody knows."""
        return min((statistics.median_low(map(len, rows)) for rows in self._known.values()), default=0)

    @property
    def count(self) -> int:
        """How many repetitions there are to compare with; 0: speed does not depend on places."""
        return min(self.whole, self._most)

    @property
    def whole(self) -> int:
        """How many repetitions sessions of the baseline have; 0: speed does not depend on places."""
        return next((len(course.steps) for course in self.courses.values()), 0)

    def known(self, name: str, count: int | None = None) -> BaselineValues:
        """Return the values of the baseline that `count` of a session are held against (None: all that are
        known): those of the same places, without what these make of them.
        """
        from iogate.judge.gate import level

        rows, course = self._metrics[name], self._course(name, count or self.count)
        return level(rows, course) if course and isinstance(rows, tuple) else rows

    def own(self, name: str, values: Sequence[float]) -> Sequence[float]:
        """Return values of this session likewise: as many as places are known."""
        course = self._course(name, len(values))
        return course.without(values) if course else values

    def changes(self, name: str, values: Sequence[float], baseline: float) -> list[float]:
        """Return by how much each repetition differs from its place in a baseline of this level, relative."""
        return [value / baseline - 1 for value in self.own(name, values)]

    def step(self, name: str, values: Sequence[float], *, unlike: bool) -> Step | None:
        """Return the step of a session where most sessions of the baseline end, or anywhere if it came behind
        `unlike` work, if it has one that matters; where places are known to differ, there is none.
        """
        from iogate.judge.gate import step_of

        if name in self.courses or not self.usual:
            return None
        found = step_of(values, range(len(values)) if unlike else (self.usual,))
        return found if found and self.matters(name, abs(found.change)) else None

    def fall(self, name: str, values: Sequence[float]) -> Step | None:
        """Return a step for the worse anywhere in a session, of one repetition as well, if it has one that
        matters beside what repetitions of the baseline's sessions differ by.
        """
        from iogate.judge.gate import spread_within, step_of

        if name in self.courses or name not in self._known:
            return None
        known = spread_within(self._known[name])
        found = step_of(values, range(len(values)), before=1, behind=1, chance=_EXCUSED, known=known)
        worse = found and (found.change > 0) == (metric(name).direction == "lower")
        return found if found and worse and self.matters(name, abs(found.change)) else None

    def means(self, name: str, values: Sequence[float]) -> tuple[float, float] | None:
        """Return the plain mean of the baseline's sessions, and of this one, at the places that can be
        compared, if a metric depends on them: there each weighs as much as it is, a latency five times as
        long five times.
        """
        rows = self._metrics[name]
        if name not in self.courses or not isinstance(rows, tuple):
            return None
        count = min(len(values), self.count)
        known = [statistics.fmean(row[:count]) for row in rows if len(row) >= count]
        return statistics.fmean(known), statistics.fmean(values[:count])

    def _course(self, name: str, count: int) -> Course | None:
        """Return how a metric goes within the first `count` repetitions that can be compared, if it does."""
        course = self.courses.get(name)
        return course.first(min(count, self.count)) if course else None
