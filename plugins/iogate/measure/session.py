"""The measuring session: drives repetitions until the gate is sure.

Repetitions of the workloads of one suite are interleaved in rounds (A B C, A B C, ...), so that a slow drift
of the machine shows as noise between repetitions instead of hiding in the difference of two workloads. Fixed
protocols run apart.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import Protocol

from iogate.errors import IogateError, MeasurementError
from iogate.judge.appointment import gating_metrics
from iogate.judge.judge import Judge, Judges
from iogate.judge.metrics import note_metrics, undecided_metrics
from iogate.judge.recorder import Recorder
from iogate.measure.bench import Arm, Bench, Watcher
from iogate.measure.budget import Budget
from iogate.measure.clients import on_clients
from iogate.measure.pairing import Pairing
from iogate.measure.trial import Trial, allowed_variance, notes_of
from iogate.model import Environment, Finding, Repetition, Verdict, Workload, WorkloadResult

_INTERRUPTED = "the session was interrupted"
_UNTOLD = 0.1  # of the work, which a session that is killed leaves unnoted, beside its last repetition
_ROUND = 16  # workloads in one round: enough to average over drift, few enough for verdicts to come soon


def new_session_id() -> str:
    """Return a session's name: its start in UTC and four random hexadecimal digits."""
    return f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}-{os.urandom(2).hex()}"


class SessionWatcher(Watcher, Protocol):
    """A listener to how a session goes on, such as the terminal."""

    def repetition(
        self, workload: Workload, label: int | str, limit: int, seconds: float, left: float
    ) -> None:
        """Hear that a repetition begins: its label, the most there will be, its seconds, and all to come."""

    def repeated(self, workload: Workload, label: int | str, repetition: Repetition) -> None:
        """Hear that the repetition is over."""

    def ended(self) -> None:
        """Hear that the session is over, or was interrupted."""


class Session:
    """All repetitions of one run on a bench, in at most `budget` seconds of device time (None: as long as it
    takes). Close it, and the target is as it was.

    Raises InputError if the bench is not the device that it should be.
    """

    def __init__(
        self, id: str, bench: Bench, judges: Judges, watcher: SessionWatcher, budget: float | None = None
    ) -> None:
        self.id = id
        self.bench = bench
        self.environment = bench.observe()
        self.trials: list[Trial] = []
        self._judges = judges
        self._watcher = watcher
        self._budget = Budget(budget)
        self._earlier: Mapping[str, str] = {}
        self._worked = self._begun = self._noted = 0.0  # seconds of work so far, at first, as was noted last
        self._note: Callable[[float], None] = lambda work: None

    def begin_behind(self, work: float, note: Callable[[float], None]) -> None:
        """Begin behind so many seconds of work of another session, from which the device has not rested.
        `note` notes for the next one for how many seconds this has measured.
        """
        self._worked += work
        self._begun, self._noted, self._note = work, self._worked, note

    def _note_work(self) -> None:
        if self._worked > self._noted:
            self._noted = self._worked
            self._note(self._worked - self._begun)

    def know(self, environment: Environment) -> None:
        """Take over what was measured with earlier in this session: other versions make another session."""
        self._earlier = environment.subject
        subject = {**environment.subject, **self.environment.subject}
        self.environment = replace(self.environment, subject=subject)

    def close(self) -> None:
        """Remove what was laid out and let go of the target."""
        self._note_work()
        self._watcher.ended()
        self.bench.close()

    def enroll(self, workloads: Iterable[tuple[str, Workload]], coming: int = 0) -> list[Trial]:
        """Prepare workloads, given with their ids; those that need no measuring are decided at once. Of later
        ones `coming` gating metrics are known to come, with which these share false alarms.

        Raises InputError for one that is for more clients than there are, and IogateError if what one of them
        would be held against cannot be read.
        """
        trials = [self._trial(id, workload) for id, workload in workloads]
        self._judges.expect(sum(len(trial.gating) for trial in (*self.trials, *trials)) + coming)
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
                self._note_work()
                return decided
            self._advance(self._next(trials))

    def interrupt(self, trials: Iterable[Trial]) -> list[WorkloadResult]:
        """Return what is known of workloads that were begun and not decided when the session was stopped:
        none of it becomes a baseline.
        """
        begun = [trial for trial in trials if trial.result is None and trial.repetitions]
        return [self._interrupted(trial) for trial in begun]

    def _interrupted(self, trial: Trial) -> WorkloadResult:
        result = self._record(trial, _INTERRUPTED)
        if not result.verdict.keep:
            return result
        undecided = undecided_metrics(trial.repetitions, {}, trial.gating)
        return self._complete(
            trial, Verdict("inconclusive", f"not recorded: {_INTERRUPTED}", undecided), None
        )

    # ------------------------------------------------------------ before measuring

    def _trial(self, id: str, workload: Workload) -> Trial:
        """Return the trial of a workload: it is recorded, until another judge is appointed.

        It has two arms where it is held against another place, or against itself with other options.
        """
        bench, workload = self.bench, on_clients(workload, self.bench)
        gating, own = gating_metrics(workload), workload.against
        judge, notes = Recorder(workload, gating), notes_of(workload)
        if own is None and bench.places == "one":
            return Trial(id, (Arm(bench.name, workload, bench),), gating, judge, notes=notes)
        base = workload if own is None else replace(workload, options=own)
        places = bench.places if own is None else "one"
        pairing = Pairing.of((base, workload), gating, places, bench.slice)
        return Trial(
            id, (Arm("A", base, bench), Arm("B", workload, bench)), gating, judge, pairing, notes=notes
        )

    def _prepare(self, trial: Trial) -> WorkloadResult | None:
        """Find who judges a workload; a result if it need not or cannot be measured."""
        refused = [error for arm in trial.arms for error in arm.bench.refusals(arm.needs)]
        if refused:
            return self._fail(trial, refused[0])
        judge = self._appoint(trial)
        if isinstance(judge, Verdict):
            return self._complete(trial, judge, None)
        trial.judge = judge
        if judge.runtime:
            trial.keep_length(judge.runtime, first_run=judge.first_run)
        if trial.needs_pilot and not trial.chosen:
            trial.allowed = allowed_variance(trial.workload, trial.gating, self._judges.options)
        try:
            judge.check(self.environment)
        except MeasurementError as error:
            return self._fail(trial, error)
        return None

    def _appoint(self, trial: Trial) -> Judge | Verdict:
        if trial.pairing is None:
            return self._judges.appoint(trial.workload, trial.gating)
        return self._judges.appoint_for_pair(
            trial.workload,
            trial.gating,
            trial.base,
            crossover=bool(trial.pairing.crossover),
        )

    # ------------------------------------------------------------ measuring

    def _next(self, trials: Sequence[Trial]) -> Trial:
        """Return the workload whose turn it is: in rounds; by need, once each can be judged, if device time
        is short.
        """
        if trials[0].apart:
            return trials[0]
        loose = itertools.takewhile(lambda trial: not trial.apart, trials)
        if self._budget.seconds is None:
            return min(itertools.islice(loose, _ROUND), key=lambda trial: len(trial.repetitions))
        return min(loose, key=_urgency)

    def _advance(self, trial: Trial) -> None:
        """Measure one more repetition of a workload, and ask whether it was the last."""
        refusal = self._budget.refusal(trial, self.trials)
        if refusal:
            trial.result = self._record(trial, refusal)
            return
        if trial.needs.target:
            trial.arm.bench.open()
        try:
            for label, workload, arm in trial.preparations():
                trial.preparation.append(self._repeat(trial, workload, label, arm))
            taken = self._block(trial) if trial.pairing else self._repeat(trial, trial.coming, trial.label)
            trial.take(taken, self._budget.longest(trial, self.trials, taken.seconds))
            if trial.sure:
                trial.result = self._record(trial)
        except IogateError as error:
            trial.result = self._fail(trial, error)

    def _repeat(self, trial: Trial, workload: Workload, label: int | str, arm: int = 1) -> Repetition:
        """Return one repetition. Raises MeasurementError if the audit finds that it cannot be trusted."""
        self._watcher.repetition(workload, label, trial.limit, trial.seconds, self._left())
        gating = trial.gating if workload is trial.coming else ()
        with self._working():
            repetition = trial.arm.bench.repeat(trial.id, workload, label, gating, arm)
        return self._heard(trial, workload, label, repetition)

    def _block(self, trial: Trial) -> Repetition:
        """Return one block of a pair. Raises MeasurementError if the audit finds that it cannot be
        trusted.
        """
        workload, label = trial.workload, trial.label
        self._watcher.repetition(workload, label, trial.limit, trial.seconds, self._left())
        with self._working():
            block = trial.arm.bench.alternate(trial.id, trial.pair(self.id), label, trial.gating)
        return self._heard(trial, workload, label, block)

    @contextlib.contextmanager
    def _working(self) -> Iterator[None]:
        """Count as work what is not told of a repetition that fails."""
        begun = time.monotonic()
        try:
            yield
        except IogateError:
            self._worked += time.monotonic() - begun
            raise

    def _heard(
        self, trial: Trial, workload: Workload, label: int | str, repetition: Repetition
    ) -> Repetition:
        """Return the same repetition, behind how much work it came, once all was told of it that there is to
        tell. Raises MeasurementError.
        """
        repetition = replace(repetition, worked=self._worked)
        self._worked += repetition.work + (0.0 if repetition.base else _ramp(workload))
        if self._worked - self._noted > _UNTOLD * (self._worked - self._begun):
            self._note_work()
        self._watcher.repeated(workload, label, repetition)
        self._note_version(workload.engine, repetition.output.engine_version)
        invalid = [finding for finding in repetition.findings if finding.severity == "invalid"]
        if invalid:
            trial.warmup.append(repetition)
            raise MeasurementError("; ".join(item.message for item in invalid), remedy=invalid[0].remedy)
        return repetition

    def _note_version(self, engine: str, version: str) -> None:
        """Note an engine's version as part of what is under test: another one measures otherwise.

        Raises MeasurementError if it was another one before the session was cut off.
        """
        earlier = self._earlier.get(engine, version)
        if version and version != earlier:
            raise MeasurementError(
                f"{engine} was {earlier} earlier in this session, is {version} now",
                remedy="leave out --io-resume to measure all anew",
            )
        if version and engine not in self.environment.subject:
            subject = {**self.environment.subject, engine: version}
            self.environment = replace(self.environment, subject=subject)

    def _left(self) -> float:
        """Return seconds of device time still to come, if each workload takes as many repetitions as
        usual.
        """
        open_trials = [trial for trial in self.trials if trial.result is None]
        return sum(trial.seconds * max(1, trial.usual - len(trial.repetitions)) for trial in open_trials)

    # ------------------------------------------------------------ deciding

    def _record(self, trial: Trial, cut_short: str = "") -> WorkloadResult:
        if not trial.repetitions:
            verdict = Verdict("inconclusive", f"not measured: {cut_short}")
        else:
            verdict = trial.judge.verdict(trial.repetitions, cut_short)
        failure = MeasurementError(verdict.reason) if verdict.verdict == "invalid" else None
        return self._complete(trial, verdict, failure)

    def _fail(self, trial: Trial, error: IogateError) -> WorkloadResult:
        verdict = Verdict("invalid", error.message, note_metrics(trial.repetitions, {}))
        return self._complete(trial, verdict, error)

    def distrust(self, trial: Trial, error: IogateError) -> WorkloadResult:
        """Return what a workload that was decided is instead, as it was not measured where it should have
        been: invalid.
        """
        assert trial.result
        known = trial.result.verdict
        metrics = note_metrics(trial.result.repetitions, {})
        verdict = replace(known, verdict="invalid", reason=error.message, metrics=metrics, keep=False)
        trial.result = replace(trial.result, verdict=verdict, failure=error)
        return trial.result

    def _complete(self, trial: Trial, verdict: Verdict, failure: IogateError | None) -> WorkloadResult:
        """Return the result of a decided workload, with what else is known: findings, and what changed around
        it.
        """
        kept = (*trial.unjudged, *trial.repetitions)
        found = [*trial.notes, *(finding for item in kept for finding in item.findings)]
        findings = tuple(dict.fromkeys(found))
        return WorkloadResult(
            trial.id,
            trial.workload,
            replace(verdict, findings=_once(findings), repetitions=len(trial.repetitions)),
            tuple(trial.repetitions),
            failure,
            trial.unjudged,
            trial.spent,
            tuple(trial.judge.differences(self.environment)),
            trial.facts,
        )


def _ramp(workload: Workload) -> float:
    """Return the seconds of work that its engine does not count: of several jobs the longest ramp."""
    jobs = workload.options.get("jobs")
    each = jobs.values() if jobs else (workload.options,)
    return max(float(options.get("ramp_time") or 0.0) for options in each)


def _urgency(trial: Trial) -> tuple[bool, int, str, float]:
    """Return what to sort by when device time is short: first come those that cannot be decided yet, and
    begin in the order in which they have a right to it: repetitions may take longer than they should.
    """
    count, enough = len(trial.repetitions), len(trial.repetitions) >= trial.judge.minimum
    return enough, 0 if enough else count, "" if count else trial.judge.newest, -trial.judge.uncertainty


def _once(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return one finding of each check and severity: the first, as the others differ in their figures
    alone.
    """
    return tuple({(item.check, item.severity): item for item in reversed(findings)}.values())[::-1]
