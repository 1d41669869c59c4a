"""The judge who appends: a session is measured as a baseline is, judged by the sessions before it, and then
added to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from iogate.judge.addition import admit, judge_session
from iogate.judge.baseline import not_here
from iogate.judge.baseline_judge import BaselineJudge
from iogate.judge.enough import Enough
from iogate.judge.heat import Heat
from iogate.judge.judge import Expectation, GateOptions
from iogate.judge.recorder import Recorder
from iogate.model import Baseline, Environment, Repetition, Verdict, Workload


class Appender(Recorder):
    """Holds a session against a baseline before it becomes part of it; `sessions` are those of the baseline's
    file, and must be of the same machine. By `force` it is appended whatever the verdict. By `heat` the
    device is another one as it gets hot (`iogate.judge.heat`).
    """

    def __init__(
        self,
        workload: Workload,
        baseline: Baseline,
        gating: Sequence[str],
        gate_options: GateOptions,
        sessions: Mapping[str, Environment],
        *,
        force: bool = False,
        heat: Heat | None = None,
    ) -> None:
        enough = Enough.of(workload, gating, gate_options, baseline.metrics)
        super().__init__(workload, gating, sessions=sessions, newest=baseline.newest, enough=enough)
        self.baseline = baseline
        self.runtime = baseline.runtime
        self.first_run = baseline.first_run
        self.against = f"{len(baseline.sessions) or 'published'} sessions, and appended"
        self._workload = workload
        self._gate_options = gate_options
        self._judge = BaselineJudge(workload, baseline, gating, gate_options, heat=heat)
        self._force = force
        self._other = ""

    def check(self, environment: Environment) -> None:
        if self._force:
            self._other = not_here(self._sessions, environment)
        else:
            super().check(environment)
            self._judge.check_data(environment)

    def verdict(self, repetitions: Sequence[Repetition], cut_short: str = "") -> Verdict:
        recorded = super().verdict(repetitions, cut_short)
        if not recorded.keep:
            return recorded
        judged = judge_session(
            self._workload,
            self.baseline,
            self._gating,
            self._gate_options,
            repetitions,
            heat=self._judge.heat,
        )
        return admit(judged, len(self.baseline.sessions) + 1, force=self._force, other=self._other)

    def expectations(self) -> Mapping[str, Expectation]:
        return self._judge.expectations()

    def differences(self, environment: Environment) -> Sequence[str]:
        return self._judge.differences(environment)
