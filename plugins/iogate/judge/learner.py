"""The judge of a device that learns: a session is added to the baseline until that can judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from iogate.judge.addition import FORCE, judge_session, not_passed, refusal, require_same_machine
from iogate.judge.baseline_judge import BaselineJudge
from iogate.judge.enough import Enough
from iogate.judge.judge import Expectation
from iogate.model import Environment, MetricVerdict, Repetition, Verdict
from iogate.units import format_change, format_share, ordinal

if TYPE_CHECKING:
    from iogate.judge.gate import Sensitivity


_HARMLESS = 0.5
"""The part of its tolerance that a metric may gain without hiding a later loss of the tolerance."""
_ANEW = "if that stays so, begin anew: --update-baselines"


class Learner:
    """Records what a baseline that cannot resolve its tolerance yet is to learn from.

    A workload that regressed beyond doubt did, whatever the baseline cannot tell. Figures that cannot be
    believed are not recorded; nor is a session that was cut short. `sessions` are those of the baseline's
    file, which must be of the same machine.
    """

    def __init__(self, judge: BaselineJudge, sessions: Mapping[str, Environment]) -> None:
        self._judge = judge
        self._sessions = sessions
        self.baseline = judge.baseline
        self._enough = Enough.of(judge.workload, judge.gating, judge.gate_options, judge.baseline.metrics)
        self.maximum = max(self._enough.most, judge.maximum)
        self.usual = self.minimum = max(self._enough.usual, judge.minimum)
        self.newest = judge.newest
        self.runtime = judge.runtime
        self.first_run = judge.first_run

    @property
    def against(self) -> str:
        return f"{self._judge.against}, still learning"

    @property
    def effort(self) -> str:
        return self._enough.text

    @property
    def uncertainty(self) -> float:
        return self._judge.uncertainty

    def check(self, environment: Environment) -> None:
        """Raise MeasurementError if the baseline, or a session of it, is of another machine."""
        self._judge.check(environment)
        require_same_machine(self._sessions, environment)

    def look(self, repetitions: Sequence[Repetition]) -> bool:
        """Ask the gate; True when it is sure, or there is enough to learn from and no sign of a loss."""
        sure = self._judge.look(repetitions)
        if self._judge.unmeasured:
            return True
        enough = len(repetitions) >= max(self._enough.asked(repetitions), self._judge.minimum)
        return enough and (sure or not self._judge.losing)

    def verdict(self, repetitions: Sequence[Repetition], cut_short: str = "") -> Verdict:
        found = self._judge.verdict(repetitions, cut_short)
        gating = [item for item in found.metrics if item.gating]
        if cut_short or found.verdict == "no_baseline" or not gating:
            return found
        if found.passed and refusal(whole := self._whole(repetitions)):
            found = whole
        if refused := refusal(found):
            why = "" if found.verdict == "regressed" else f"\nnot recorded: {refused}; {FORCE}"
            return replace(not_passed(found), reason=found.reason + why)
        if gains := self._known_gains(found):
            why = f"{gains} better than the noise explains that sessions have shown, and would hide losses"
            return replace(found, reason=f"{found.reason}\nnot recorded: {why}; {_ANEW}; {FORCE}")
        metrics = tuple(replace(item, verdict="recorded") if item.gating else item for item in found.metrics)
        reason = self._reason(gating, repetitions) + _gains_text(found)
        return Verdict("recorded", reason, metrics, keep=True)

    def _known_gains(self, found: Verdict) -> str:
        """Return which metrics are better beyond doubt, and by more than a harmless part of their tolerance,
        where it is known how sessions differ, with a verb. Where that is a guess, a gain may be a lesson.
        """
        expected = self._judge.expectations()
        names = [
            item.metric.name
            for item in _gains(found)
            if abs(item.change or 0.0) > _HARMLESS * (item.tolerance or 0.0)
            and (known := expected[item.metric.name].sensitivity)
            and not known.assumed
        ]
        return " and ".join(names) + (" is" if len(names) == 1 else " are") if names else ""

    def _whole(self, repetitions: Sequence[Repetition]) -> Verdict:
        """Return the verdict on all that is to be kept: the gate may have passed it after two of them."""
        judge = self._judge
        return judge_session(
            judge.workload,
            judge.baseline,
            judge.gating,
            judge.gate_options,
            repetitions,
            unlike=judge.unlike,
        )

    def _reason(self, gating: Sequence[MetricVerdict], repetitions: Sequence[Repetition]) -> str:
        sessions = len(self._judge.baseline.sessions) + 1
        known = self._judge.resolution({item.metric.name: item.values for item in gating})
        worst = max(known, key=lambda item: item.minimum_detectable / item.tolerance)
        least = worst.minimum_detectable
        resolves = f"{least:.0%}" if least < 10 else format_share(least)
        said = f"recorded, {ordinal(sessions)} session: resolves {resolves} now"
        if worst.remedy is None:
            return f"{said}, which is enough: from the next on it is judged"
        seconds = sum(item.seconds for item in repetitions) / len(repetitions)
        return f"{said}, {worst.tolerance:.0%} is needed; {worst.remedy.text(seconds)}"

    def expectations(self) -> Mapping[str, Expectation]:
        return self._judge.expectations()

    def differences(self, environment: Environment) -> Sequence[str]:
        return self._judge.differences(environment)


def _gains(verdict: Verdict) -> list[MetricVerdict]:
    return [item for item in verdict.metrics if item.gating and item.verdict == "improved"]


def _gains_text(verdict: Verdict) -> str:
    """Return what is better beyond doubt, for people, as far as is known of how sessions differ."""
    named = ", ".join(f"{item.metric.name} ({format_change(item.change or 0.0)})" for item in _gains(verdict))
    return f"; better beyond doubt: {named}; {_ANEW}" if named else ""


def can_judge(known: Sequence[Sensitivity | None]) -> bool:
    """Return whether every metric is resolved, as far as that is known."""
    return all(item is None or item.remedy is None for item in known)
