"""The judge of a device that learns: a session is added to the baseline until that can judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from iogate.judge.addition import (
    ANEW,
    FORCE,
    gains_told,
    judge_session,
    known_changes,
    losses_told,
    not_passed,
    nth_session,
    refusal,
    require_same_machine,
)
from iogate.judge.baseline_judge import BaselineJudge
from iogate.judge.enough import Enough
from iogate.judge.judge import Expectation
from iogate.model import Environment, MetricVerdict, Repetition, Verdict
from iogate.units import format_share

if TYPE_CHECKING:
    from iogate.judge.gate import Sensitivity


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
        if not refusal(found) and refusal(whole := self._whole(repetitions)):
            found = whole
        if refused := refusal(found):
            why = "" if found.verdict == "regressed" else f"\nnot recorded: {refused}; {FORCE}"
            return replace(not_passed(found), reason=found.reason + why)
        if changed := known_changes(found):
            return replace(found, reason=f"{found.reason}\nnot recorded: {changed}; {ANEW}; {FORCE}")
        metrics = tuple(replace(item, verdict="recorded") if item.gating else item for item in found.metrics)
        reason = self._reason(gating, repetitions) + gains_told(found) + losses_told(found)
        return Verdict("recorded", reason, metrics, keep=True)

    def _whole(self, repetitions: Sequence[Repetition]) -> Verdict:
        """Return the verdict on all that is to be kept: the gate may have passed it after two of them,
        or seen that more would not help.
        """
        judge = self._judge
        return judge_session(
            judge.workload,
            judge.baseline,
            judge.gating,
            judge.gate_options,
            repetitions,
            heat=judge.heat,
        )

    def _reason(self, gating: Sequence[MetricVerdict], repetitions: Sequence[Repetition]) -> str:
        sessions = len(self._judge.baseline.sessions) + 1
        known = self._judge.resolution({item.metric.name: item.values for item in gating})
        worst = max(known, key=lambda item: item.minimum_detectable / item.tolerance)
        least = worst.minimum_detectable
        resolves = f"{least:.0%}" if least < 10 else format_share(least)
        said = f"recorded, {nth_session(sessions)}: resolves {resolves} now"
        if worst.remedy is None:
            return f"{said}, which is enough: from the next on it is judged"
        seconds = sum(item.seconds for item in repetitions) / len(repetitions)
        return f"{said}, {worst.tolerance:.0%} is needed; {worst.remedy.text(seconds)}"

    def expectations(self) -> Mapping[str, Expectation]:
        return self._judge.expectations()

    def differences(self, environment: Environment) -> Sequence[str]:
        return self._judge.differences(environment)


def can_judge(known: Sequence[Sensitivity | None]) -> bool:
    """Return whether every metric is resolved, as far as that is known."""
    return all(item is None or item.remedy is None for item in known)
