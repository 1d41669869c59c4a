"""Whether repetitions of a session are where those of a baseline were: behind as much work of the device."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import itemgetter
from typing import TYPE_CHECKING

from iogate.model import Baseline, Repetition
from iogate.units import format_duration

if TYPE_CHECKING:
    from iogate.judge.gate import Course

_SLACK = 0.01
"""The part by which work may differ, or one repetition if that is more: heat depends on more than that."""
_SPREADS = 3
"""How many times their median deviation sessions may differ: what ends by size takes now more, now less."""
_MOST = 0.1  # of the work, however much sessions differ: from one that measured little to one that did much
_STEP = 0.01  # seconds, to which it is stored
_TO_REST = 2.0  # times as much work, or as little: how long it takes to come to rest differs by session
_AT_ONCE = 0.75  # of the work of a session, from which the device had hardly rested
_BACK = 0.5  # of the way to where it had begun
_CHANCE = 0.05
_FEWEST, _MOST_OF_THEM = 1 / 3, 1 / 2
"""The part of the sessions that came behind as much or more, and of those as little or less: of three one, or
two where it is known what the others were.
"""


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
            "time for three times its work: --update-baselines, then =append)"
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


def unlike_work(
    baseline: Baseline,
    repetitions: Sequence[Repetition],
    fewest: float = _FEWEST,
    *,
    rests: bool = False,
) -> UnlikeWork | None:
    """Return which of a session's repetitions came behind more, or less, work than those of the baseline's
    sessions, but for a part of `fewest`; None: none, as far as is known. Where the device `rests` before,
    it is as much more, or less, that it may not have come to the same rest.
    """
    times = _TO_REST if rests else 1.0
    for index, repetition in enumerate(repetitions):
        known = [row[index] for row in baseline.worked.values() if index < len(row)]
        if repetition.worked is None or not known:
            continue
        spread = min(_SPREADS * _deviation(known), _MOST * max(known))
        slack = max(repetition.work, _SLACK * max(known), spread) + _STEP
        less = sum(worked <= times * repetition.worked + slack for worked in known)
        more = sum(times * worked >= repetition.worked - slack for worked in known)
        if min(less, more) < fewest * len(known):
            return UnlikeWork(index + 1, repetition.worked, statistics.median(known))
    return None


@dataclass
class Likeness:
    """Whether the repetitions of a session came behind as much work as those of a `baseline`; what is
    `unlike` stays so. It is another work than there, or than in most of its sessions (`unlike_most`); within
    sessions it may be the same (`alike_within`). The device may come to rest before (`rests`).
    """

    baseline: Baseline
    beginnings: Beginnings
    rests: bool = False
    unlike: UnlikeWork | None = None
    unlike_most: UnlikeWork | None = None
    alike_within: bool = True

    def see(self, repetitions: Sequence[Repetition]) -> None:
        """Compare what was measured so far."""
        unlike = partial(unlike_work, repetitions=repetitions, rests=self.rests)
        self.unlike = self.unlike or unlike(self.baseline)
        self.unlike_most = self.unlike_most or unlike(self.baseline, fewest=_MOST_OF_THEM)
        self.alike_within = self.alike_within and not unlike(self._within)

    @cached_property
    def _within(self) -> Baseline:
        return self.beginnings.within(self.baseline)

    @property
    def behind_more(self) -> bool:
        """Whether it came behind more work than there."""
        return bool(self.unlike and self.unlike.excuse)


@dataclass(frozen=True)
class Beginnings:
    """Behind how many seconds of work each session of a device's baselines began (`begun`), and which came
    `in_a_row`: at once behind as much as a session has.

    Of some the beginning was not kept, as it regressed, or was recorded anew: they began like another one
    where what is left comes behind as much work.
    """

    begun: Mapping[str, float]
    in_a_row: frozenset[str]

    @classmethod
    def of(cls, baselines: Iterable[Baseline]) -> Beginnings:
        """Find that of all the baselines of a device."""
        first: dict[str, tuple[float, Mapping[str, Sequence[float]]]] = {}
        ended: dict[str, float] = {}
        for baseline in baselines:
            for session, row in baseline.worked.items():
                if row:
                    kept = row[0], baseline.worked
                    first[session] = min(first.get(session, kept), kept, key=itemgetter(0))
                    ended[session] = max(ended.get(session, row[-1]), row[-1])
        earliest = {session: work for session, (work, _) in first.items()}
        begun = {session: _began(session, worked, earliest) for session, (_, worked) in first.items()}
        whole = statistics.median(ended[name] - begun[name] for name in begun) if begun else 0.0
        return cls(begun, frozenset(name for name in begun if 0 < _AT_ONCE * whole <= begun[name]))

    def within(self, baseline: Baseline) -> Baseline:
        """Return a baseline with the work before each repetition in its session alone."""
        worked = {
            name: tuple(seconds - self.begun.get(name, 0.0) for seconds in row)
            for name, row in baseline.worked.items()
        }
        return replace(baseline, worked=worked)

    def comes_anew(self, baseline: Baseline, name: str, course: Course) -> bool:
        """Return whether a metric goes so in each session, also in those in a row, and from where the one
        before began, not from where it ended: what work makes of a device is there by then, so that this is
        how a session begins, and another work before it changes nothing.
        """
        from iogate.judge.gate import course_of

        rows = baseline.by_session(name)
        pairs = [(before, each) for before, each in itertools.pairwise(rows) if each in self.in_a_row]
        if not course_of([rows[each] for _, each in pairs], len(course.steps), _CHANCE):
            return False
        first, *others = course.steps
        within = statistics.fmean(others) - first
        between = [_back(rows[before], rows[each]) for before, each in pairs]
        return statistics.fmean(between) / within > _BACK if within else False


NOT_KNOWN = Beginnings({}, frozenset())


def _began(session: str, worked: Mapping[str, Sequence[float]], earliest: Mapping[str, float]) -> float:
    """Return behind how much work a session began of which a workload that `worked` so in all sessions is
    the first that was kept: as another one did that had others before, as long, or else just there.
    """
    own = worked[session]
    slack = max(own[min(1, len(own) - 1)] - own[0], _SLACK * own[0]) + _STEP
    alike = [
        earliest[name]
        for name, row in worked.items()
        if row and earliest[name] < row[0] and abs(row[0] - own[0]) <= slack
    ]
    return min([own[0], *alike])


def _back(before: Sequence[float], values: Sequence[float]) -> float:
    """Return how far a session began from where the others of the one before were, as a logarithm."""
    return statistics.fmean(map(math.log, before[1:] or before)) - math.log(values[0])


def _deviation(known: Sequence[float]) -> float:
    middle = statistics.median(known)
    return statistics.median(abs(worked - middle) for worked in known)
