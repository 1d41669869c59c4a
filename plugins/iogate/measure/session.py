"""The measuring session: drives repetitions until the gate is sure.

Repetitions of the workloads of one suite are interleaved in rounds (A B C, A B C, ...), so that a slow drift
of the machine shows as noise between repetitions instead of hiding in the difference of two workloads. Fixed
protocols run apart.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from iogate import engines
from iogate.errors import InputError, IogateError, MeasurementError
from iogate.host.environment import differences, identity_changes, identity_mismatch, observe
from iogate.judge.baseline import find, load_baselines
from iogate.judge.judge import Judge, note_metrics, undecided_metrics
from iogate.measure.bench import Bench, Watcher
from iogate.measure.settings import Settings
from iogate.measure.trial import TO_RECORD, Trial
from iogate.model import Baseline, Device, Environment, Finding, Repetition, Verdict, Workload, WorkloadResult
from iogate.target import Target, refusals

if TYPE_CHECKING:
    from iogate.judge.gate import Sensitivity

_ROUND = 16  # workloads in one round: enough to average over drift, few enough for verdicts to come soon
_TO_JUDGE = 2  # repetitions from which on the gate looks


def new_session_id() -> str:
    """Return a session's name: its start in UTC and four random hexadecimal digits."""
    return f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}-{os.urandom(2).hex()}"


class Session:
    """All repetitions of one run on a device. Close it, and the target is as it was.

    Raises InputError if this machine is not the device.
    """

    def __init__(self, settings: Settings, device: Device, target: Target, watcher: Watcher) -> None:
        self.settings = settings
        self.device = device
        self.target = target
        self.id = new_session_id()
        self.environment: Environment = observe(target.number, target.path)
        mismatch = identity_mismatch(device.identity, self.environment.identity)
        if mismatch:
            raise InputError(
                f"this machine is not the device {device.name}: {'; '.join(mismatch)}",
                position=device.position,
                remedy="name the right --device, or mend the identity in its profile",
            )
        self.watcher = watcher
        self.trials: list[Trial] = []
        self.bench = Bench(settings, device, target, self.id, watcher)
        self._gate_options = settings.gate_options
        self._until: dict[str, float] = {}
        self._baselines: dict[str, Mapping[str, Baseline]] = {}

    def close(self) -> None:
        """Remove what was laid out and let go of the target."""
        self.watcher.ended()
        self.bench.close()

    def enroll(self, workloads: Iterable[tuple[str, Workload]]) -> list[Trial]:
        """Prepare workloads, given with their ids; those that need no measuring are decided at once.

        Raises BaselineError for a baseline file that cannot be read.
        """
        trials = [Trial(id, workload, self._gating(workload)) for id, workload in workloads]
        metrics = sum(len(trial.gating) for trial in trials)
        self._gate_options = replace(self._gate_options, metrics=max(metrics, self._gate_options.metrics))
        for trial in trials:
            trial.result = self._prepare(trial)
        self.trials += trials
        return trials

    def decide(self, trials: Sequence[Trial]) -> Trial:
        """Measure in rounds until one of these workloads is decided, and return the first that is.

        Raises TargetError if the target cannot be opened.
        """
        while True:
            decided = next((trial for trial in trials if trial.result), None)
            if decided:
                return decided
            self._advance(self._next(trials))

    def interrupt(self, trials: Iterable[Trial]) -> list[WorkloadResult]:
        """Return what is known of workloads that were begun and not decided when the session was stopped."""
        begun = [trial for trial in trials if trial.result is None and trial.repetitions]
        return [self._record(trial, "the session was interrupted") for trial in begun]

    def sensitivities(self, workloads: Iterable[Workload]) -> dict[str, Sensitivity | None]:
        """Return what the baselines, as they are on file now, can resolve of `workload: metric`."""
        self._baselines.clear()
        found: dict[str, Sensitivity | None] = {}
        for workload in workloads:
            baseline, _ = self._find_baseline(workload)
            if baseline:
                judge = Judge(workload, baseline, self._gating(workload), self._gate_options)
                found.update(
                    {f"{workload.name}: {name}": known for name, known in judge.sensitivities().items()}
                )
        return found

    # ------------------------------------------------------------ before measuring

    def _gating(self, workload: Workload) -> tuple[str, ...]:
        return tuple(workload.gate) or engines.load(workload.engine).gating(workload)

    def _find_baseline(self, workload: Workload) -> tuple[Baseline | None, str]:
        """Return the baseline of a workload, or the reason why it has none."""
        if workload.suite not in self._baselines:
            path = self.settings.baselines / self.device.name / f"{workload.suite}.yaml"
            self._baselines[workload.suite] = load_baselines(path)
        return find(self._baselines[workload.suite], workload)

    def _prepare(self, trial: Trial) -> WorkloadResult | None:
        """Find the baseline of a workload and what to do with it; a result if that needs no measuring."""
        workload = trial.workload
        trial.needs = engines.load(workload.engine).needs(workload)
        refused = refusals(self.target, trial.needs, device=self.device, consent=self.settings.destroy)
        if refused:
            return self._fail(trial, refused[0])
        trial.limit = max(TO_RECORD, workload.repetitions or 0)
        if self.settings.update:
            return None
        trial.baseline, why = self._find_baseline(workload)
        if trial.baseline is None:
            if (self.settings.missing or self.device.missing) == "record":
                return None
            why = why or f"{self.device.name} has no baseline of this workload"
            reason = f"{why}; record one with --update-baselines (or see --io-missing)"
            return WorkloadResult(trial.id, workload, Verdict("no_baseline", reason))
        mismatch = identity_changes(trial.baseline.environment.identity, self.environment.identity)
        if mismatch:
            message = f"the baseline is of another machine: {'; '.join(mismatch)}"
            remedy = "name the right --device, or record this machine with --update-baselines"
            return self._fail(trial, MeasurementError(message, remedy=remedy))
        trial.judge = Judge(workload, trial.baseline, trial.gating, self._gate_options)
        trial.limit = trial.judge.maximum
        return None

    # ------------------------------------------------------------ measuring

    def _next(self, trials: Sequence[Trial]) -> Trial:
        """Return the workload whose turn it is: in rounds; by need, once each can be judged, if device time
        is short.
        """
        if trials[0].workload.fixed:
            return trials[0]
        loose = itertools.takewhile(lambda trial: not trial.workload.fixed, trials)
        if self.settings.budget is None:
            return min(itertools.islice(loose, _ROUND), key=lambda trial: len(trial.repetitions))
        return min(loose, key=lambda trial: (min(len(trial.repetitions), _TO_JUDGE), -trial.uncertainty))

    def _affordable(self, trial: Trial) -> bool:
        """Return False when the suite's share of the device time does not allow another repetition of this
        workload.

        The time is shared out among the suites by what their workloads usually take, when each begins.
        """
        suite, spent = trial.workload.suite, sum(item.spent for item in self.trials)
        if self.settings.budget is None:
            return True
        if suite not in self._until:
            open_trials = [item for item in self.trials if item.result is None]
            need = sum(item.usual * item.needs.seconds for item in open_trials)
            own = sum(item.usual * item.needs.seconds for item in open_trials if item.workload.suite == suite)
            self._until[suite] = spent + (self.settings.budget - spent) * (own / need if need else 1)
        return spent + trial.needs.seconds <= self._until[suite]

    def _advance(self, trial: Trial) -> None:
        """Measure one more repetition of a workload, and ask whether it was the last."""
        if not self._affordable(trial):
            trial.result = self._record(trial, "the device time of --io-budget is used up")
            return
        if trial.needs.target:
            self.bench.open()
        try:
            for label, workload in trial.preparations():
                trial.preparation.append(self._repeat(trial, workload, label))
            trial.take(self._repeat(trial, trial.workload, trial.label))
            if trial.sure:
                trial.result = self._record(trial)
        except IogateError as error:
            trial.result = self._fail(trial, error)

    def _repeat(self, trial: Trial, workload: Workload, label: int | str) -> Repetition:
        """Return one repetition. Raises MeasurementError if the audit finds that it cannot be trusted."""
        self.watcher.repetition(workload, label, trial.limit, trial.needs.seconds, self._left())
        gating = trial.gating if workload is trial.workload else ()
        repetition = self.bench.repeat(trial.id, workload, label, gating)
        self.watcher.repeated(workload, label, repetition)
        self._note_version(workload.engine, repetition.output.engine_version)
        invalid = [finding for finding in repetition.findings if finding.severity == "invalid"]
        if invalid:
            trial.warmup.append(repetition)
            raise MeasurementError("; ".join(item.message for item in invalid), remedy=invalid[0].remedy)
        return repetition

    def _note_version(self, engine: str, version: str) -> None:
        """Note an engine's version as part of what is under test: another one measures otherwise."""
        if version and engine not in self.environment.subject:
            subject = {**self.environment.subject, engine: version}
            self.environment = replace(self.environment, subject=subject)

    def _left(self) -> float:
        """Return seconds of device time still to come, if each workload takes as many repetitions as
        usual.
        """
        open_trials = [trial for trial in self.trials if trial.result is None]
        return sum(
            trial.needs.seconds * max(1, trial.usual - len(trial.repetitions)) for trial in open_trials
        )

    # ------------------------------------------------------------ deciding

    def _record(self, trial: Trial, cut_short: str = "") -> WorkloadResult:
        if not trial.repetitions:
            verdict = Verdict("inconclusive", f"not measured: {cut_short}")
        elif trial.judge:
            verdict = trial.judge.verdict(trial.repetitions, cut_short)
        elif cut_short:
            verdict = Verdict(
                "inconclusive", cut_short, undecided_metrics(trial.repetitions, {}, trial.gating)
            )
        else:
            verdict = self._verdict_on_recording(trial)
        failure = MeasurementError(verdict.reason) if verdict.verdict == "invalid" else None
        return self._complete(trial, verdict, failure)

    def _verdict_on_recording(self, trial: Trial) -> Verdict:
        """Return the verdict on a workload that is to become a baseline: recorded, if its gating metrics are
        there.
        """
        measured = trial.repetitions[-1].metrics
        lacking = [name for name in trial.gating if name not in measured]
        if lacking:
            known = ", ".join(sorted(measured))
            reason = f"the gating metric {lacking[0]} was not measured; measured were: {known}"
            return Verdict("invalid", reason, note_metrics(trial.repetitions, {}))
        reason = f"{len(trial.repetitions)} repetitions recorded as the baseline"
        return Verdict("recorded", reason, note_metrics(trial.repetitions, {}, gating=trial.gating))

    def _fail(self, trial: Trial, error: IogateError) -> WorkloadResult:
        verdict = Verdict("invalid", error.message, note_metrics(trial.repetitions, {}))
        return self._complete(trial, verdict, error)

    def _complete(self, trial: Trial, verdict: Verdict, failure: IogateError | None) -> WorkloadResult:
        """Return the result of a decided workload, with what else is known: findings, and what changed around
        it.
        """
        kept = (*trial.warmup, *trial.repetitions)
        found = [*trial.notes, *(finding for item in kept for finding in item.findings)]
        findings = tuple(dict.fromkeys(found))
        changed: tuple[str, ...] = ()
        if trial.baseline and trial.baseline.sessions:
            changed = tuple(differences(trial.baseline.environment, self.environment))
        return WorkloadResult(
            trial.id,
            trial.workload,
            replace(verdict, findings=_once(findings), repetitions=len(trial.repetitions)),
            tuple(trial.repetitions),
            failure,
            tuple(trial.warmup),
            trial.spent,
            changed,
        )


def _once(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return one finding of each check and severity: the first, as the others differ in their figures
    alone.
    """
    return tuple({(item.check, item.severity): item for item in reversed(findings)}.values())[::-1]
