"""The judge who records: what is measured becomes a baseline and is held against nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from iogate.judge.addition import require_same_machine
from iogate.judge.enough import ENOUGH, Enough
from iogate.judge.judge import Expectation
from iogate.judge.metrics import are_mixed, note_metrics, undecided_metrics
from iogate.model import Environment, Repetition, Verdict, Workload, is_measured
from iogate.units import plural


class Recorder:
    """Sees to it that a workload is measured often enough for a baseline, and that what gates it is there.

    `enough` says how often that is. `sessions` are those that it is to be stored with, which must be of the
    same machine; `elsewhere` tells of a baseline that it could have instead.
    """

    against = "to be recorded"

    def __init__(
        self,
        workload: Workload,
        gating: Sequence[str],
        *,
        sessions: Mapping[str, Environment] | None = None,
        elsewhere: str = "",
        newest: str = "",
        enough: Enough | None = None,
    ) -> None:
        self.newest = newest
        self.runtime: float | None = None
        self.first_run = False
        self._enough = enough or Enough(max(ENOUGH, workload.repetitions or 0))
        self.usual = self.minimum = self._enough.usual
        self.maximum = self._enough.most
        self.uncertainty = float(self.usual)
        self._gating = tuple(gating)
        self._sessions = sessions or {}
        self._elsewhere = elsewhere

    def check(self, environment: Environment) -> None:
        """Raise MeasurementError if the sessions beside are of another machine."""
        require_same_machine(self._sessions, environment)

    @property
    def effort(self) -> str:
        return self._enough.text

    def look(self, repetitions: Sequence[Repetition]) -> bool:
        self.uncertainty = float(self._enough.asked(repetitions) - len(repetitions))
        return self.uncertainty <= 0 or bool(self._unfit(repetitions))

    def verdict(self, repetitions: Sequence[Repetition], cut_short: str = "") -> Verdict:
        if cut_short and len(repetitions) < self.minimum:
            return Verdict("inconclusive", cut_short, undecided_metrics(repetitions, {}, self._gating))
        unfit = self._unfit(repetitions)
        if unfit:
            return Verdict("invalid", unfit, note_metrics(repetitions, {}))
        reason = f"{plural(len(repetitions), 'repetition')} recorded as the baseline"
        if self._elsewhere:
            reason += f"\nrecorded anew, although {self._elsewhere}"
        return Verdict("recorded", reason, note_metrics(repetitions, {}, gating=self._gating), keep=True)

    def _unfit(self, repetitions: Sequence[Repetition]) -> str:
        """Return why no baseline could hold a gating metric of these repetitions, or nothing be judged by it;
        empty if it could.
        """
        for name in self._gating:
            lacking = [number for number, item in enumerate(repetitions, 1) if name not in item.metrics]
            if lacking:
                where = "" if len(lacking) == len(repetitions) else f" in repetition {lacking[0]}"
                known = ", ".join(sorted(repetitions[lacking[0] - 1].metrics)) or "none"
                return f"the gating metric {name} was not measured{where}; measured were: {known}"
            for number, item in enumerate(repetitions, 1):
                if not is_measured(item.metrics[name]):
                    return (
                        f"the gating metric {name} is {item.metrics[name]:g} in repetition {number}, which "
                        "is no measurement and cannot be recorded: gate another metric, if it may be that"
                    )
            values = [item.metrics[name] for item in repetitions]
            if are_mixed(values):
                return (
                    f"the gating metric {name} goes from {min(values):g} to {max(values):g}, by which "
                    "nothing can be judged: measure again when nothing else uses the machine"
                )
        return ""

    def expectations(self) -> Mapping[str, Expectation]:
        return {}

    def differences(self, environment: Environment) -> Sequence[str]:
        return ()
