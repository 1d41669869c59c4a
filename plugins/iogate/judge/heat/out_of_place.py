"""Why a metric cannot be held against its baseline, whatever the gate makes of it: as the device was another
one in its place, or became another one where the baseline knows nothing.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iogate.judge.heat.likeness import Likeness
from iogate.judge.heat.places import Places
from iogate.judge.heat.session import Heat
from iogate.model import PASSED, Repetition, is_rate, metric
from iogate.units import format_change, format_share

if TYPE_CHECKING:
    from iogate.judge.gate import Course, Decision, Step

_AT_REST = "of sessions that began at rest"
_WITHIN = "behind less work, before rates fell within sessions of the baselines"
_ALONG = "in all, added up along the workloads of sessions that began at rest"
_FURTHER, _FURTHEST = 2.0, 3.0  # times what places differ by: beyond the second nobody can tell
_ABOUT, _NEAR = 1.15, 0.01  # as far as a change may be beyond what explains it


@dataclass(frozen=True)
class OutOfPlace:
    """The `places` of one workload's repetitions, beside those of a baseline, whether these came behind as
    much work (`likeness`), and what other work may make of the device (`heat`).
    """

    likeness: Likeness
    places: Places
    heat: Heat

    def displaced(
        self, name: str, values: Sequence[float], decision: Decision, decide: Callable[[Sequence[float]], str]
    ) -> str:
        """Return why a metric cannot be held against the baseline, as it came behind other work; empty: it
        can, or the gate's verdict on it holds, which `decide` returns on other values.
        """
        course = self.places.courses.get(name) if self.places.surely(name) else None
        if not self.likeness.unlike or (course and self._is_how_it_begins(name, course)):
            course = None
        if not self.likeness.unlike or not (course or self._finds_heat(name)):
            return ""
        if self._holds(
            name, course, values, decision.verdict, decide, more=bool(self.likeness.unlike.excuse)
        ):
            return ""
        whose = "repetitions" if course else "repetitions of other workloads"
        differ = f"differ by {format_share(course.span if course else self._heat)}"
        return f"{whose} {differ} for their place in a session, and {self.likeness.unlike.text}"

    def _holds(
        self,
        name: str,
        course: Course | None,
        values: Sequence[float],
        verdict: str,
        decide: Callable[[Sequence[float]], str],
        *,
        more: bool,
    ) -> bool:
        """Return whether a verdict would be the same, whatever places differ by. A pass, if it stands for
        values worse by that; behind less work only where work makes nothing slower, as what warms up: it may
        have been hotter as it was recorded than within any session. A regression behind `more` work, where
        work makes nothing slower, or it stands for values better by what so much more may make of that: what
        ends by size comes behind more work for the loss itself. Behind less, if it stands for values better
        by that.
        """
        lower = metric(name).direction == "lower"
        spans, falls = [0.0], [0.0]
        if course:
            spans.append(course.span)
            falls.append(course.rises if lower else course.falls)
        if self._finds_heat(name):
            spans.append(self._heat)
            falls.append(self.heat.known.falls)
        worse, better = 1 / (1 + max(spans)), 1 + max(spans)
        if lower:
            worse, better = better, worse
        gets_slower = self.places.matters(name, max(falls))
        if verdict in PASSED:
            return (more or not gets_slower) and decide([value * worse for value in values]) in PASSED
        if verdict == "regressed":
            further = self._further if more else 1.0
            stands = further <= _FURTHEST and decide([value * better**further for value in values])
            return stands == "regressed" or (more and not gets_slower)
        return False

    @property
    def _further(self) -> float:
        """How many times what places differ by a device may be slower for the work that these came behind:
        twice at least, as nobody knows how it goes on.
        """
        if not self.likeness.unlike or not self.likeness.unlike.usual:
            return math.inf
        return max(_FURTHER, self.likeness.unlike.worked / self.likeness.unlike.usual)

    def _is_how_it_begins(self, name: str, course: Course) -> bool:
        """Return whether a metric goes so for how each session begins, and not for what work makes of the
        device: at rest as well.
        """
        return course.begins_slowly or (
            self._rested and self.heat.known.beginnings.comes_anew(self.likeness.baseline, name, course)
        )

    @property
    def _rested(self) -> bool:
        """Whether these came behind less work than those of the baseline as their session began at rest, and
        for nothing else.
        """
        less = self.likeness.unlike is not None and not self.likeness.unlike.excuse
        return less and self.heat.rested and self.likeness.alike_within

    @property
    def _heat(self) -> float:
        """By how much the device may be another one for the work that others did, or did not do, before."""
        return self.heat.known.carried if self._rested else self.heat.known.surely

    def _finds_heat(self, name: str) -> bool:
        """Return whether what other workloads make of the device matters to a metric."""
        return self.places.matters(name, self._heat)

    def beyond(
        self,
        name: str,
        repetitions: Sequence[Repetition],
        decision: Decision,
        decide: Callable[[Sequence[float]], str],
    ) -> str:
        """Return why a metric cannot be held against the baseline, as a step decided about it that is where
        its sessions end, or behind more work than they came; empty: it can. `decide` returns the gate's
        verdict on fewer values.
        """
        longer = self.likeness.unlike if self.likeness.unlike and self.likeness.unlike.excuse else None
        having = [item for item in repetitions if name in item.metrics]
        values = [item.metrics[name] for item in having]
        if is_rate(name):
            self.heat.see(values, [item.worked for item in having], self.places.usual)
        if excuse := self._excuse(name, having, decision, decide):
            return excuse
        falls = longer and decision.verdict == "regressed"
        step = self.places.fall(name, values) if falls else None
        step = step or self.places.step(name, values, unlike=longer is not None)
        if not step or decision.verdict == "continue" or not _decided(name, step, values, decision, decide):
            return ""
        told = f"{format_change(step.change)} from repetition {step.place + 1} on"
        if longer:
            return f"{told}, and {longer.text}"
        return (
            f"{told}, where sessions of the baseline have ended: nobody knows what the device did there; "
            f"measure again, or record it anew with as many (repetitions: {len(values)})"
        )

    def _excuse(
        self,
        name: str,
        having: Sequence[Repetition],
        decision: Decision,
        decide: Callable[[Sequence[float]], str],
    ) -> str:
        """Return what was seen of the device behind as much work, or as little, if that may have made this
        verdict; empty: nothing.
        """
        if not self.likeness.unlike_most:
            return ""
        more, worked = bool(self.likeness.unlike_most.excuse), [item.worked for item in having]
        known = self.heat.known
        seen = [(self._slower_along(worked, rested=not more), _ALONG)]
        if more:
            seen.append((self.heat.fall, self.heat.whose))
        else:
            seen.append((known.slower_at_rest(worked), _AT_REST))
            seen.append((known.slower_before_a_fall(name, worked, self._usual(worked)), _WITHIN))
        values = [item.metrics[name] for item in having]
        for slow, where in seen:
            lost = decision.verdict == "regressed" and self._explains(name, decision, slow)
            faster = slow * _ABOUT if where == _ALONG else slow  # the first repetitions are not in that
            if lost or (decision.verdict in PASSED and self._hides(name, values, faster, decide)):
                return f"{format_change(-slow)} was seen {where}, and {self.likeness.unlike_most.text}"
        return ""

    def _slower_along(self, worked: Sequence[float | None], *, rested: bool) -> float:
        """Return by which share the device is slower behind so much work than behind that of the baseline's
        sessions, or of those that began at rest, as far as all workloads together show it.
        """
        usual = self._usual(worked, rested=rested)
        now = [work for work in worked if work is not None]
        return self.heat.known.along.slower(now, usual) if usual else 0.0

    def _usual(self, worked: Sequence[float | None], *, rested: bool = False) -> list[float]:
        """Return behind how much work as many repetitions of the baseline's sessions came, or of those that
        began at rest.
        """
        begun = self.heat.known.beginnings.begun
        rows = [
            row for name, row in self.likeness.baseline.worked.items() if not (rested and begun.get(name, 1))
        ]
        return [work for row in rows for work in row[: len(worked)]]

    def _hides(
        self, name: str, values: Sequence[float], slow: float, decide: Callable[[Sequence[float]], str]
    ) -> bool:
        """Return whether a pass of these values may be due to a device that is faster (`slow` below 0)."""
        worse = 1 / (1 - slow) if metric(name).direction == "higher" else 1 - slow
        matters = slow < 0 and self.places.matters(name, -slow)
        return matters and decide([value * worse for value in values]) not in PASSED

    def _explains(self, name: str, decision: Decision, fall: float) -> bool:
        """Return whether a metric has lost about as much as rates are seen to fall by, or less."""
        most = fall if metric(name).direction == "higher" else fall / (1 - fall)
        return fall > 0 and abs(decision.change or 0.0) <= _ABOUT * most + _NEAR


def _decided(
    name: str,
    step: Step,
    values: Sequence[float],
    decision: Decision,
    decide: Callable[[Sequence[float]], str],
) -> bool:
    """Return whether a metric regressed by a step for the worse, or passed by one for the better, and would
    not have done so without what came behind it.
    """
    regressed = decision.verdict == "regressed"
    lower = metric(name).direction == "lower"
    if regressed != ((step.change > 0) == lower):
        return False
    before = values[: step.place]
    if regressed and decision.baseline and decision.tolerance is not None:
        change = statistics.fmean(before) / decision.baseline - 1
        if (change if lower else -change) > decision.tolerance:
            return False  # it had lost as much before
    without = decide(before) if len(before) > 1 else "continue"
    return without == "continue" or (without == "regressed") != regressed
