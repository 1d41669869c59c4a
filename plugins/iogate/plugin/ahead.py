"""Workloads are measured ahead of their tests: what becomes of that where a test turns out otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import pytest

from iogate.errors import IogateError, MeasurementError, TargetError
from iogate.model import Needs, Workload, WorkloadResult
from iogate.plugin import coverage
from iogate.plugin.gaps import Gaps
from iogate.plugin.keeping import Keeping
from iogate.plugin.outcome import Gate, failure_text
from iogate.plugin.status import note_verdict
from iogate.units import no_commands, printable

if TYPE_CHECKING:
    from iogate.measure.bench import Bench
    from iogate.measure.session import Session
    from iogate.measure.trial import Trial


class Ahead:
    """What a run has decided of workloads before their tests were set up; `trials` are known by the ids of
    these, `session` gives the session once there is one, and `elsewhere` whether the target is at a host.
    """

    def __init__(
        self,
        trials: Mapping[str, Trial],
        session: Callable[[], Session],
        kept: Keeping,
        gate: Gate,
        gaps: Gaps,
        elsewhere: Callable[[], bool],
    ) -> None:
        self._trials = trials
        self._session = session
        self._kept = kept
        self._gate = gate
        self._gaps = gaps
        self._elsewhere = elsewhere
        self._not_set_up: set[str] = set()

    def confirmed(self, trial: Trial, result: WorkloadResult) -> WorkloadResult:
        """Return what was decided, or that it is invalid, where the test has another target."""
        measured = result.repetitions and not result.failure and need_target([trial.workload])
        if measured and (error := _moved(self._session().bench, here=not self._elsewhere())):
            result = self._session().distrust(trial, error)
            self._kept.amend(result)
        return result

    def note_set_up(self, item: pytest.Item, *, done: bool) -> None:
        """Note whether a test was set up, which may run again; else what it was measured on is looked at now,
        as nobody will ask for its result.
        """
        if done:
            self._not_set_up.discard(item.nodeid)
            return
        self._not_set_up.add(item.nodeid)
        trial = self._trials.get(item.nodeid)
        if trial and trial.result:
            self.confirmed(trial, trial.result)

    def note_skipped(self, item: pytest.Item, report: pytest.TestReport, *, strict: bool) -> None:
        """Note a workload that does not pass, and whose test is skipped though no option of ours asks for
        that; a strict run fails it.
        """
        trial = self._trials.get(item.nodeid)
        ended = report.when == "teardown"  # what the test came to, it came to before
        if ended or trial is None or trial.result is None or not self._gate.fails(trial.result):
            return
        if strict:
            report.outcome, report.longrepr = "failed", failure_text(trial.result)
            note_verdict(report, trial.result.verdict.verdict)
        else:
            self._gaps.found.append(coverage.skipped_text(item.nodeid, trial.result.verdict))

    def note_not_run(self, item: pytest.Item, *, strict: bool) -> str:
        """Note a workload that does not pass, and whose test a hook took away; a strict run fails, and why
        is returned.
        """
        trial = self._trials.get(item.nodeid)
        if trial is None or trial.result is None or not self._gate.fails(trial.result):
            return ""
        text = coverage.not_run_text(item.nodeid, trial.result.verdict)
        if not strict:
            self._gaps.found.append(text)
            return ""
        item.session.testsfailed += 1
        return f"ERROR: {no_commands(text)}"

    def drop(self) -> Iterator[str]:
        """Let nothing become a baseline of a test that was not set up; yield a sentence of it."""
        trials = [self._trials[id] for id in sorted(self._not_set_up) if id in self._trials]
        lost = [each for each in trials if each.result and each.result.verdict.keep]
        for trial in lost:
            error = MeasurementError(
                "the set-up of its test failed, or skipped it, once it was measured",
                remedy="skip by a marker that a conftest.py adds, or by a fixture of the session: "
                "both are seen before",
            )
            self._kept.amend(self._session().distrust(trial, error))
        if lost:
            yield coverage.not_kept_text([trial.workload.name for trial in lost])


def need_target(workloads: Iterable[Workload]) -> bool:
    """Return whether one of these workloads does I/O."""
    from iogate import engines

    return any(engines.load(workload.engine).needs(workload).target for workload in workloads)


def _moved(bench: Bench, *, here: bool) -> TargetError | None:
    """Return why what was measured there is not what the test has: a fixture of a single test, or of a class,
    may have mounted it, or made a link lead elsewhere, if it is `here`; None if it is, or if that cannot be
    told.
    """
    from iogate.target import leads_elsewhere

    everywhere = Needs(clients=max(1, len(bench.hosts)))
    try:
        changed = any(error.rule == "changed" for error in bench.refusals(everywhere))
    except IogateError:
        return None
    if not (changed or (here and leads_elsewhere(bench.target))):
        return None
    return TargetError(
        f"{printable(str(bench.target.path))} was mounted, unmounted or replaced since it was measured",
        rule="changed",
        remedy="find out who did it; a fixture of a single test or class comes too late: mount it by one of "
        'the session (scope="session", autouse=True)',
    )
