"""Who judges a workload: its baseline, if there is one; otherwise it is recorded, or not measured at all."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from iogate import engines
from iogate.errors import IogateError
from iogate.judge.appender import Appender
from iogate.judge.baseline import (
    Exists,
    find,
    known_definitions,
    known_elsewhere,
    load_baselines,
    load_sessions,
)
from iogate.judge.baseline.places import Known, baseline_files, baselines_beside
from iogate.judge.baseline_judge import BaselineJudge
from iogate.judge.borrowed import Borrowed
from iogate.judge.enough import Enough
from iogate.judge.heat import Beginnings, Heat, heat_of
from iogate.judge.judge import GateOptions, Judge
from iogate.judge.learner import Learner, can_judge
from iogate.judge.lending import lend, lend_within
from iogate.judge.pair_judge import PairJudge
from iogate.judge.recorder import Recorder
from iogate.model import Baseline, Environment, UpdateMode, Verdict, Workload

if TYPE_CHECKING:
    from iogate.judge.gate import Sensitivity


def gating_metrics(workload: Workload) -> tuple[str, ...]:
    """Return the metrics that decide about a workload: those that it names, or else its engine's."""
    return tuple(workload.gate) or engines.load(workload.engine).gating(workload)


class BaselineJudges:
    """Appoints the judges of a session on a device whose baselines are in `folder`, which bears its name.

    `update` makes new baselines of all that is measured, or adds to those there are; `record_missing` makes
    them of what has none yet. `exists` tells whether there still is a suite or workload. With `learn` a
    baseline that cannot resolve its tolerance is taught by what is measured, instead of judging it. Where a
    model is given (`of_model`: patterns of its identity), baselines of another machine of it judge, too, and
    nothing is added to them.
    """

    def __init__(
        self,
        folder: Path,
        options: GateOptions,
        *,
        update: UpdateMode | None = None,
        record_missing: bool = False,
        exists: Exists = lambda suite, workload: False,
        learn: bool = False,
        of_model: Mapping[str, str] | None = None,
    ) -> None:
        self._folder = folder
        self.options = options
        self._update = update
        self._record_missing = record_missing
        self._exists = exists
        self._learn = learn
        self.of_model = of_model
        self._baselines: dict[str, Mapping[str, Baseline]] = {}
        self._environments: dict[str, Mapping[str, Environment]] = {}
        self._of_suites: Mapping[str, Borrowed | None] = {}
        self.begun_behind = False
        """Whether the session begins behind work of another one."""

    def expect(self, metrics: int) -> None:
        self.options = replace(self.options, metrics=max(metrics, self.options.metrics))

    def appoint(self, workload: Workload, gating: Sequence[str]) -> Judge | Verdict:
        """Return the judge of a workload, or the verdict that it has no baseline. Raises BaselineError."""
        known = self._of(workload).get(workload.name)
        newest = known.newest if known else ""
        if self._update == "replace":
            return Recorder(workload, gating, newest=newest, enough=self._enough(workload, gating))
        baseline, why = self._find(workload)
        if self._update:
            return self._appender(workload, baseline, gating)
        if baseline:
            judge = BaselineJudge(
                workload,
                baseline,
                gating,
                self._with_loan(workload),
                heat=self._heat,
                of_model=self.of_model,
            )
            expected = judge.expectations().values() if self._learn else ()
            return (
                judge
                if baseline.devices or can_judge([item.sensitivity for item in expected])
                else Learner(judge, self._sessions(workload))
            )
        elsewhere = self._elsewhere(workload)
        if self._record_missing and not why:  # what was recorded of another definition is not thrown away
            return Recorder(
                workload,
                gating,
                sessions=self._sessions(workload),
                elsewhere=elsewhere,
                enough=self._enough(workload, gating),
            )
        if why:
            why, remedy = (
                f"its baseline is of another definition: {why}",
                "record it again with --update-baselines",
            )
        else:
            why = f"{self._folder.name} has no baseline of this workload"
            remedy = "record one with --update-baselines (or see --io-missing)"
        reason = f"{why}; {remedy}" + (f"\n{elsewhere}" if elsewhere else "")
        return Verdict("no_baseline", reason, unfit=known is not None)

    def _appender(self, workload: Workload, baseline: Baseline | None, gating: Sequence[str]) -> Recorder:
        force = self._update == "force"
        sessions = self._sessions(workload)
        if baseline is None:
            elsewhere = self._elsewhere(workload)
            return Recorder(
                workload,
                gating,
                sessions={} if force else sessions,
                elsewhere=elsewhere,
                enough=self._enough(workload, gating),
            )
        return Appender(
            workload,
            baseline,
            gating,
            self._with_loan(workload),
            sessions,
            force=force,
            heat=self._heat,
        )

    def _enough(self, workload: Workload, gating: Sequence[str]) -> Enough:
        return Enough.of(workload, gating, self.options)

    def _sessions(self, workload: Workload) -> Mapping[str, Environment]:
        """Return those with which a session of a workload would be stored; of a suite that has none the
        newest of the device's others.
        """
        if workload.suite not in self._environments:
            known = load_sessions(self._file(workload), workload.suite)
            self._environments[workload.suite] = known
        return self._environments[workload.suite] or self.of_device

    @cached_property
    def of_device(self) -> Mapping[str, Environment]:
        """The newest session of all suites of the device, with its file: what is left of a retired one may be
        of a disk that was replaced.
        """
        known = ((one, suite) for suite, entries in self._all().items() for one in entries.values())
        newest, suite = max(known, key=lambda one: one[0].newest, default=(None, ""))
        return {f"{newest.newest} in {suite}.yaml": newest.environment} if newest and newest.newest else {}

    def appoint_for_pair(
        self, workload: Workload, gating: Sequence[str], against: str, *, crossover: bool
    ) -> Judge:
        return PairJudge(workload, gating, self.options, against, crossover=crossover)

    def stored(self, suites: Iterable[str]) -> dict[str, Mapping[str, Baseline]]:
        """Return the baselines of suites, by workload. Raises BaselineError."""
        return {suite: load_baselines(self._folder / f"{suite}.yaml", suite) for suite in suites}

    def sensitivities(self, workloads: Iterable[Workload]) -> dict[tuple[str, str], Sensitivity | None]:
        """Return what the baselines, as they are on file now, can resolve of each workload and metric."""
        self._baselines.clear()
        judged_with = self.options
        self.options = replace(self.options, borrowed=None)
        found: dict[tuple[str, str], Sensitivity | None] = {}
        for workload in workloads:
            baseline, _ = self._find(workload)
            if baseline:
                judge = BaselineJudge(workload, baseline, gating_metrics(workload), self._with_loan(workload))
                expected = judge.expectations().items()
                found.update({(workload.name, name): item.sensitivity for name, item in expected})
        self.options = judged_with  # as reports tell what the verdicts rested on
        return found

    def _elsewhere(self, workload: Workload) -> str:
        return known_elsewhere(self._known, self._file(workload), workload, self._exists)

    @cached_property
    def _known(self) -> Known:
        return known_definitions(self._folder)

    def _with_loan(self, workload: Workload) -> GateOptions:
        """Return the options, with what the baselines of device and suite tell about its noise."""
        if self.options.borrowed is None:
            known = self._all()
            self._of_suites = {suite: lend_within(suite, known) for suite in known}
            self.options = replace(self.options, borrowed=lend(known))
        return replace(self.options, of_suite=self._of_suites.get(workload.suite))

    @cached_property
    def _heat(self) -> Heat:
        """What is known of the device's heat, also by other profiles of the same disk where those were at
        work just before: then it is they that heat it.
        """
        own = self._own()
        identity = next((item.environment.identity for item in own if item.environment.identity), None)
        if identity and (self.begun_behind or any(Beginnings.of(own).begun.values())):
            own += baselines_beside(self._folder, identity)
        return Heat(heat_of(own), rested=not self.begun_behind)

    def _all(self) -> dict[str, Mapping[str, Baseline]]:
        """Return the baselines of all suites; one that cannot be read says nothing."""
        found = {}
        for path, suite in baseline_files(self._folder):
            with contextlib.suppress(IogateError, OSError):
                found[suite] = self._baselines.get(suite) or load_baselines(path, suite)
                self._baselines[suite] = found[suite]
        return found

    def _own(self) -> list[Baseline]:
        """Return the baselines of all suites, by workload."""
        return [baseline for entries in self._all().values() for baseline in entries.values()]

    def _find(self, workload: Workload) -> tuple[Baseline | None, str]:
        """Return the baseline of a workload, or the reason why the one of its name does not fit."""
        return find(self._of(workload), workload)

    def _of(self, workload: Workload) -> Mapping[str, Baseline]:
        if workload.suite not in self._baselines:
            self._baselines[workload.suite] = load_baselines(self._file(workload), workload.suite)
        return self._baselines[workload.suite]

    def _file(self, workload: Workload) -> Path:
        return self._folder / f"{workload.suite}.yaml"
