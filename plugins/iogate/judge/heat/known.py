"""What makes a device another one after some work than before, as heat does, or a cache that is full."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from iogate.judge.heat.along import NO_COURSE, Along, along
from iogate.judge.heat.at_rest import shares_at_rest, slowly_begun
from iogate.judge.heat.fall import NO_FALL, Fall, falls_within
from iogate.judge.heat.likeness import NOT_KNOWN, Beginnings
from iogate.model import is_rate

if TYPE_CHECKING:
    from iogate.judge.gate import Course
    from iogate.model import Baseline

_CHANCE = 0.05  # of a device that is told to get hot, and does not, where that costs repetitions
_SMALL_CHANCE = 0.005  # where it costs verdicts
_HOT = 0.01


@dataclass(frozen=True)
class KnownHeat:
    """By how much a device is another one after some repetitions than before: the largest course of the rates
    of its baselines (0: there is none). `span` is beyond what chance makes of 5% of all devices, where a
    false alarm costs repetitions, `surely` of 0.5%, where it costs verdicts, `carried` the same but for what
    comes anew in each session by the `beginnings` of these; `falls` is by how much it is slower behind some
    of these than before, which is little where it only warms up. `falls_within` are how rates fell within
    sessions, by direction, wherever that was, and `at_rest` by which share repetitions were slower, or
    faster, of sessions that began at rest, behind so many seconds of work; `along` is how the device goes
    along the work of those, as far as all workloads together show it.
    """

    span: float = 0.0
    surely: float = 0.0
    falls: float = 0.0
    carried: float = 0.0
    beginnings: Beginnings = NOT_KNOWN
    falls_within: Mapping[str, Fall] = field(default_factory=dict)
    at_rest: tuple[tuple[float, float], ...] = ()
    along: Along = NO_COURSE

    @property
    def fall(self) -> Fall:
        """The largest of the falls within sessions."""
        return self.falls_within.get("", NO_FALL)

    @property
    def hot(self) -> bool:
        """Whether what comes behind a workload may depend on how often that is measured."""
        return self.span > 0 or self.fall.share > 0

    def slower_before_a_fall(
        self, name: str, worked: Sequence[float | None], usual: Sequence[float]
    ) -> float:
        """Return by which share repetitions of a metric behind so much work may be slower (negative: faster)
        than those behind the `usual`, as rates have fallen behind as much as that, and not behind as little
        as here.
        """
        fall = self.falls_within.get(name.partition(".")[0], self.fall)
        before = any(work < fall.since for work in worked if work is not None)
        behind = any(work >= fall.first for work in usual)
        return -fall.share / (1 - fall.share) if before and behind else 0.0

    def slower_at_rest(self, worked: Sequence[float | None]) -> float:
        """Return by which share repetitions behind so much work are slower where the session began at rest
        (negative: faster), as far as sessions of the baselines show it.
        """
        last = max((work for work, _ in self.at_rest), default=-1.0)
        shares = [
            min(self.at_rest, key=lambda known: abs(known[0] - work))[1] if 0 <= work <= last else 0.0
            for work in worked
            if work is not None
        ]
        return statistics.fmean(shares) if shares else 0.0


NO_HEAT = KnownHeat()


def heat_of(baselines: Iterable[Baseline]) -> KnownHeat:
    """Return what the baselines of a device tell of its heat."""
    baselines = list(baselines)
    found = [course for _, _, course in _courses(baselines, _CHANCE)]
    span = max((course.span for course in found if not course.begins_slowly), default=0.0)
    sure = (
        [known for known in _courses(baselines, _SMALL_CHANCE) if not known[2].begins_slowly] if span else []
    )
    surely = max((course.span for _, _, course in sure), default=0.0)
    falls = max((course.falls for _, _, course in sure), default=0.0)
    beginnings = Beginnings.of(baselines)
    left = (course for one, name, course in sure if not beginnings.comes_anew(one, name, course))
    carried = max((course.span for course in left), default=0.0)
    falls_by, at_rest = falls_within(baselines), tuple(shares_at_rest(baselines, beginnings))
    if not at_rest and any(course.begins_slowly for course in found):  # alone, one may do nothing but begin
        at_rest = tuple(slowly_begun(baselines, beginnings))
    return KnownHeat(
        span, surely, falls, carried, beginnings, falls_by, at_rest, along(baselines, beginnings)
    )


def _courses(baselines: Sequence[Baseline], chance: float) -> Iterator[tuple[Baseline, str, Course]]:
    """Yield the courses of rates, with their names and baselines, that are beyond a `chance` they share."""
    from iogate.judge.gate import course_of

    rates = [
        (one, {name: rows for name, rows in one.metrics.items() if is_rate(name) and isinstance(rows, tuple)})
        for one in baselines
    ]
    directions = sum(len({name.partition(".")[0] for name in known}) for _, known in rates)
    for one, known in rates:
        for name, rows in known.items():
            course = course_of(rows, statistics.median_low(map(len, rows)), chance / directions)
            if course and course.span >= _HOT:
                yield one, name, course
