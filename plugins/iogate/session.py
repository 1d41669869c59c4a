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
from iogate.baseline import find, load_baselines
from iogate.bench import Bench, Watcher
from iogate.course import TO_RECORD, Course
from iogate.environment import differences, identity_changes, identity_mismatch, observe
from iogate.errors import InputError, IogateError, MeasurementError
from iogate.judge import Judge, noted, undecided
from iogate.model import Baseline, Device, Environment, Finding, Record, Repetition, Verdict, Workload
from iogate.settings import Settings
from iogate.target import Target, refusals

if TYPE_CHECKING:
    from iogate.gate import Strength

_ROUND = 16  # workloads in one round: enough to average over drift, few enough for verdicts to come soon
_TO_JUDGE = 2  # repetitions from which on the gate looks


def new_session_id() -> str:
    """A session's name: its start in UTC and four random hexadecimal digits."""
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
        self.courses: list[Course] = []
        self.bench = Bench(settings, device, target, self.id, watcher)
        self._rates = settings.rates
        self._until: dict[str, float] = {}
        self._baselines: dict[str, Mapping[str, Baseline]] = {}

    def close(self) -> None:
        """Remove what was laid out and let go of the target."""
        self.watcher.ended()
        self.bench.close()

    def enroll(self, workloads: Iterable[tuple[str, Workload]]) -> list[Course]:
        """Prepare workloads, given with their ids; those that need no measuring are decided at once.

        Raises BaselineError for a baseline file that cannot be read.
        """
        courses = [Course(id, workload, self._gating(workload)) for id, workload in workloads]
        metrics = sum(len(course.gating) for course in courses)
        self._rates = replace(self._rates, metrics=max(metrics, self._rates.metrics))
        for course in courses:
            course.record = self._prepare(course)
        self.courses += courses
        return courses

    def decide(self, courses: Sequence[Course]) -> Course:
        """Measure in rounds until one of these workloads is decided, and return the first that is.

        Raises TargetError if the target cannot be opened.
        """
        while True:
            decided = next((course for course in courses if course.record), None)
            if decided:
                return decided
            self._advance(self._next(courses))

    def interrupt(self, courses: Iterable[Course]) -> list[Record]:
        """What is known of workloads that were begun and not decided when the session was stopped."""
        begun = [course for course in courses if course.record is None and course.repetitions]
        return [self._record(course, "the session was interrupted") for course in begun]

    def strengths(self, workloads: Iterable[Workload]) -> dict[str, Strength | None]:
        """What the baselines, as they are on file now, can resolve of `workload: metric`."""
        self._baselines.clear()
        found: dict[str, Strength | None] = {}
        for workload in workloads:
            baseline, _ = self._known(workload)
            if baseline:
                judge = Judge(workload, baseline, self._gating(workload), self._rates)
                found.update({f"{workload.name}: {name}": known for name, known in judge.strengths().items()})
        return found

    # ------------------------------------------------------------ before measuring

    def _gating(self, workload: Workload) -> tuple[str, ...]:
        return tuple(workload.gate) or engines.load(workload.engine).gating(workload)

    def _known(self, workload: Workload) -> tuple[Baseline | None, str]:
        """The baseline of a workload, or the reason why it has none."""
        if workload.suite not in self._baselines:
            path = self.settings.baselines / self.device.name / f"{workload.suite}.yaml"
            self._baselines[workload.suite] = load_baselines(path)
        return find(self._baselines[workload.suite], workload)

    def _prepare(self, course: Course) -> Record | None:
        """Find the baseline of a workload and what to do with it; a record if that needs no measuring."""
        workload = course.workload
        course.needs = engines.load(workload.engine).needs(workload)
        refused = refusals(self.target, course.needs, device=self.device, consent=self.settings.destroy)
        if refused:
            return self._failed(course, refused[0])
        course.limit = max(TO_RECORD, workload.repetitions or 0)
        if self.settings.update:
            return None
        course.baseline, why = self._known(workload)
        if course.baseline is None:
            if (self.settings.missing or self.device.missing) == "record":
                return None
            why = why or f"{self.device.name} has no baseline of this workload"
            reason = f"{why}; record one with --update-baselines (or see --io-missing)"
            return Record(course.id, workload, Verdict("no_baseline", reason))
        mismatch = identity_changes(course.baseline.environment.identity, self.environment.identity)
        if mismatch:
            message = f"the baseline is of another machine: {'; '.join(mismatch)}"
            remedy = "name the right --device, or record this machine with --update-baselines"
            return self._failed(course, MeasurementError(message, remedy=remedy))
        course.judge = Judge(workload, course.baseline, course.gating, self._rates)
        course.limit = course.judge.maximum
        return None

    # ------------------------------------------------------------ measuring

    def _next(self, courses: Sequence[Course]) -> Course:
        """The workload whose turn it is: in rounds; by need, once each can be judged, if device time is
        short.
        """
        if courses[0].workload.fixed:
            return courses[0]
        loose = itertools.takewhile(lambda course: not course.workload.fixed, courses)
        if self.settings.budget is None:
            return min(itertools.islice(loose, _ROUND), key=lambda course: len(course.repetitions))
        return min(loose, key=lambda course: (min(len(course.repetitions), _TO_JUDGE), -course.uncertainty))

    def _affordable(self, course: Course) -> bool:
        """False when the suite's share of the device time does not allow another repetition of this workload.

        The time is shared out among the suites by what their workloads usually take, when each begins.
        """
        suite, spent = course.workload.suite, sum(item.spent for item in self.courses)
        if self.settings.budget is None:
            return True
        if suite not in self._until:
            open_courses = [item for item in self.courses if item.record is None]
            need = sum(item.usual * item.needs.seconds for item in open_courses)
            own = sum(
                item.usual * item.needs.seconds for item in open_courses if item.workload.suite == suite
            )
            self._until[suite] = spent + (self.settings.budget - spent) * (own / need if need else 1)
        return spent + course.needs.seconds <= self._until[suite]

    def _advance(self, course: Course) -> None:
        """One more repetition of a workload, and the question whether it was the last."""
        if not self._affordable(course):
            course.record = self._record(course, "the device time of --io-budget is used up")
            return
        if course.needs.target:
            self.bench.open()
        try:
            for label, workload in course.preparations():
                course.preparation.append(self._repeat(course, workload, label))
            course.take(self._repeat(course, course.workload, course.label))
            if course.sure:
                course.record = self._record(course)
        except IogateError as error:
            course.record = self._failed(course, error)

    def _repeat(self, course: Course, workload: Workload, label: int | str) -> Repetition:
        """One repetition. Raises MeasurementError if the audit finds that it cannot be trusted."""
        self.watcher.repetition(workload, label, course.limit, course.needs.seconds, self._left())
        gating = course.gating if workload is course.workload else ()
        repetition = self.bench.repeat(course.id, workload, label, gating)
        self.watcher.repeated(workload, label, repetition)
        self._note_version(workload.engine, repetition.output.engine_version)
        invalid = [finding for finding in repetition.findings if finding.severity == "invalid"]
        if invalid:
            course.settling.append(repetition)
            raise MeasurementError("; ".join(item.message for item in invalid), remedy=invalid[0].remedy)
        return repetition

    def _note_version(self, engine: str, version: str) -> None:
        """An engine's version is part of what is under test: another one measures otherwise."""
        if version and engine not in self.environment.subject:
            subject = {**self.environment.subject, engine: version}
            self.environment = replace(self.environment, subject=subject)

    def _left(self) -> float:
        """Seconds of device time still to come, if each workload takes as many repetitions as usual."""
        open_courses = [course for course in self.courses if course.record is None]
        return sum(
            course.needs.seconds * max(1, course.usual - len(course.repetitions)) for course in open_courses
        )

    # ------------------------------------------------------------ deciding

    def _record(self, course: Course, cut_short: str = "") -> Record:
        if not course.repetitions:
            verdict = Verdict("inconclusive", f"not measured: {cut_short}")
        elif course.judge:
            verdict = course.judge.verdict(course.repetitions, cut_short)
        elif cut_short:
            verdict = Verdict("inconclusive", cut_short, undecided(course.repetitions, {}, course.gating))
        else:
            verdict = self._recorded(course)
        failure = MeasurementError(verdict.reason) if verdict.verdict == "invalid" else None
        return self._complete(course, verdict, failure)

    def _recorded(self, course: Course) -> Verdict:
        """The verdict on a workload that is to become a baseline: recorded, if its gating metrics are
        there.
        """
        measured = course.repetitions[-1].metrics
        lacking = [name for name in course.gating if name not in measured]
        if lacking:
            known = ", ".join(sorted(measured))
            reason = f"the gating metric {lacking[0]} was not measured; measured were: {known}"
            return Verdict("invalid", reason, noted(course.repetitions, {}))
        reason = f"{len(course.repetitions)} repetitions recorded as the baseline"
        return Verdict("recorded", reason, noted(course.repetitions, {}, gating=course.gating))

    def _failed(self, course: Course, error: IogateError) -> Record:
        verdict = Verdict("invalid", error.message, noted(course.repetitions, {}))
        return self._complete(course, verdict, error)

    def _complete(self, course: Course, verdict: Verdict, failure: IogateError | None) -> Record:
        """The record of a decided workload, with what else is known: findings, and what changed around it."""
        kept = (*course.settling, *course.repetitions)
        found = [*course.notes, *(finding for item in kept for finding in item.findings)]
        findings = tuple(dict.fromkeys(found))
        changed: tuple[str, ...] = ()
        if course.baseline and course.baseline.sessions:
            changed = tuple(differences(course.baseline.environment, self.environment))
        return Record(
            course.id,
            course.workload,
            replace(verdict, findings=_once(findings), repetitions=len(course.repetitions)),
            tuple(course.repetitions),
            failure,
            tuple(course.settling),
            course.spent,
            changed,
        )


def _once(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """One finding of each check and severity: the first, as the others differ in their figures alone."""
    return tuple({(item.check, item.severity): item for item in reversed(findings)}.values())[::-1]
