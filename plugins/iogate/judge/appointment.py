"""Who judges a workload: its baseline, if there is one; otherwise it is recorded, or not measured at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from iogate import engines
from iogate.judge.baseline import find, load_baselines
from iogate.judge.baseline_judge import BaselineJudge
from iogate.judge.judge import GateOptions, Judge
from iogate.judge.pair_judge import PairJudge
from iogate.judge.recorder import Recorder
from iogate.model import Baseline, Verdict, Workload

if TYPE_CHECKING:
    from iogate.judge.gate import Sensitivity


def gating_metrics(workload: Workload) -> tuple[str, ...]:
    """Return the metrics that decide about a workload: those that it names, or else its engine's."""
    return tuple(workload.gate) or engines.load(workload.engine).gating(workload)


class BaselineJudges:
    """Appoints the judges of a session on a device whose baselines are in `folder`, which bears its name.

    `update` makes new baselines of all that is measured, `record_missing` of what has none yet.
    """

    def __init__(
        self, folder: Path, options: GateOptions, *, update: bool = False, record_missing: bool = False
    ) -> None:
        self._folder = folder
        self._options = options
        self._update = update
        self._record_missing = record_missing
        self._baselines: dict[str, Mapping[str, Baseline]] = {}

    def expect(self, metrics: int) -> None:
        self._options = replace(self._options, metrics=max(metrics, self._options.metrics))

    def appoint(self, workload: Workload, gating: Sequence[str]) -> Judge | Verdict:
        """Return the judge of a workload, or the verdict that it has no baseline. Raises BaselineError."""
        if self._update:
            known = self._of(workload.suite).get(workload.name)
            return Recorder(workload, gating, max(known.sessions, default="") if known else "")
        baseline, why = self._find(workload)
        if baseline:
            return BaselineJudge(workload, baseline, gating, self._options)
        if self._record_missing:
            return Recorder(workload, gating)
        why = why or f"{self._folder.name} has no baseline of this workload"
        remedy = "record one with --update-baselines (or see --io-missing)"
        return Verdict("no_baseline", f"{why}; {remedy}")

    def appoint_for_pair(
        self, workload: Workload, gating: Sequence[str], against: str, *, crossover: bool
    ) -> Judge:
        return PairJudge(workload, gating, self._options, against, crossover=crossover)

    def stored(self, suites: Iterable[str]) -> dict[str, Mapping[str, Baseline]]:
        """Return the baselines of suites, by workload. Raises BaselineError."""
        return {suite: self._of(suite) for suite in suites}

    def sensitivities(self, workloads: Iterable[Workload]) -> dict[str, Sensitivity | None]:
        """Return what the baselines, as they are on file now, can resolve of `workload: metric`."""
        self._baselines.clear()
        found: dict[str, Sensitivity | None] = {}
        for workload in workloads:
            baseline, _ = self._find(workload)
            if baseline:
                judge = BaselineJudge(workload, baseline, gating_metrics(workload), self._options)
                expected = judge.expectations().items()
                found.update({f"{workload.name}: {name}": item.sensitivity for name, item in expected})
        return found

    def _find(self, workload: Workload) -> tuple[Baseline | None, str]:
        """Return the baseline of a workload, or the reason why the one of its name does not fit."""
        return find(self._of(workload.suite), workload)

    def _of(self, suite: str) -> Mapping[str, Baseline]:
        if suite not in self._baselines:
            self._baselines[suite] = load_baselines(self._folder / f"{suite}.yaml")
        return self._baselines[suite]
