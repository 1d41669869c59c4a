"""One pytest run: the settings, the device, and the measuring session behind the tests."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from iogate.errors import InputError, IogateError, raise_together
from iogate.host.interrupts import Interrupts
from iogate.model import Baseline, Workload, WorkloadResult
from iogate.plugin import coverage
from iogate.plugin.ahead import Ahead, need_target
from iogate.plugin.beforehand import ask_engines_there, hold_surroundings, require_writable
from iogate.plugin.benches import bench_of
from iogate.plugin.benchmark import MachineInfo
from iogate.plugin.document import RunDocument
from iogate.plugin.gaps import Gaps
from iogate.plugin.going_on import GoingOn
from iogate.plugin.items import WorkloadItem, refuse_shared_ids
from iogate.plugin.junit import JUnitNotes
from iogate.plugin.keeping import Keeping
from iogate.plugin.order_of_tests import OrderOfTests
from iogate.plugin.outcome import Gate
from iogate.plugin.python_tests import PythonTests, declared
from iogate.plugin.selected import Selected
from iogate.plugin.status import FailureStatus
from iogate.plugin.subject import Subject
from iogate.plugin.surroundings import Surroundings
from iogate.plugin.taken_out import TakenOut
from iogate.plugin.time_limit import unlimited
from iogate.units import plural

if TYPE_CHECKING:
    from iogate.judge.appointment import BaselineJudges
    from iogate.measure.session import Session
    from iogate.measure.settings import Settings
    from iogate.measure.trial import Trial
    from iogate.report.results import Results


RUN: pytest.StashKey[PytestRun] = pytest.StashKey()
"""Where pytest's configuration keeps the run."""


class PytestRun:
    """What the plugin's hooks and the fixtures share. The session begins with the first measurement."""

    def __init__(self, config: pytest.Config, settings: Settings, json_path: Path | None) -> None:
        self.config = config
        self.process = os.getpid()
        self.settings = settings
        self.subject = Subject(config, settings)
        self.gate = Gate(settings.inconclusive, lambda: self.subject.missing, strict=settings.strict)
        self.json_path = json_path
        self.changes: list[str] = []
        self.status = FailureStatus()
        self.machine = MachineInfo(settings.device)
        self.junit = JUnitNotes(config)
        self.python_tests = PythonTests(self._names_stored)
        self.gaps = Gaps(config, settings, self.subject.project, self.python_tests)
        self.selected = Selected(self.subject.project)
        self.taken_out = TakenOut(
            config, self.selected.modules, self.python_tests, lambda: self.gaps.in_parts
        )
        self._document = RunDocument(settings, self.subject, self.python_tests)
        self._kept = Keeping(settings, lambda: self.results)
        self._interrupts = Interrupts()
        self._session: Session | None = None
        self._is_taken = False  # the target, if it is waited for
        self._trials: dict[str, Trial] = {}
        self.ahead = Ahead(
            self._trials,
            lambda: self.session,
            self._kept,
            self.gate,
            self.gaps,
            lambda: self.subject.elsewhere,
        )
        self.surroundings = Surroundings(self._let_go)
        self._gone: list[IogateError] | None = None
        self.going_on = GoingOn(
            settings,
            self.subject,
            self._document,
            self.selected,
            self.python_tests,
            self._kept,
            plan=config.option.io_plan,
        )
        self.order = OrderOfTests(
            self._trials,
            lambda: self.session,
            self.surroundings,
            self._kept,
            stepwise=config.getoption("stepwise", False),
        )

    @property
    def session(self) -> Session:
        """The measuring session. Raises TargetError or InputError if there can be none."""
        if self._session is None:
            self._begin()
        assert self._session is not None
        return self._session

    def _begin(self) -> None:
        from iogate.measure.session import Session, new_session_id
        from iogate.plugin.reporters import named_reporters, progress_of
        from iogate.report.markdown_file import step_trouble
        from iogate.report.places import require_folder

        if self.settings.strict and self.gaps.implicit:
            raise InputError(coverage.refusal_text(self.gaps.implicit))
        if self.going_on.wanted:
            self.changes.append(coverage.NOT_GONE_ON)
        require_folder(self.settings.results, "raw outputs", "name another folder: --io-results=DIR")
        named = named_reporters(self.config, self.json_path)
        self._interrupts.watch()
        resumed = self.going_on.resumption
        id = resumed.session if resumed else new_session_id()
        settings = replace(self.settings, session=id)
        progress = progress_of(self.config)
        folder = settings.results / id
        bench = bench_of(self.config, settings, self.subject.device, folder, progress, self.selected.items)
        budget = settings.budget
        if budget is not None and resumed:
            budget -= resumed.spent
        self._session = Session(id, bench, self._judges, progress, budget)
        self._kept.begin(folder, named, plan=self.config.option.io_plan)
        if not self.config.option.io_plan:
            self.changes += filter(None, [step_trouble()])
            _ = self._document.commit  # as it is before anything is measured

    @cached_property
    def _judges(self) -> BaselineJudges:
        from iogate.judge.appointment import BaselineJudges

        device = self.subject.device
        return BaselineJudges(
            self.subject.own_baselines,
            self.settings.gate_options,
            update=self.settings.update,
            exists=self.selected.has,
            record_missing=self.subject.missing == "record",
            of_model=device.identity if device.accepts == "model" else None,
            learn=device.learn and not self.settings.strict,
        )

    def find_gaps(self, *, measures: bool) -> None:
        """Find what the collected suites would leave out in silence, or, if anything `measures`, make up.
        Raises IogateError.
        """
        self.gaps.find(self.subject.device, self.selected.modules, self._judges, measures=measures)

    def note_taken_out(self, items: Iterable[pytest.Item]) -> bool:
        """Note what was taken out of the run, whose `items` are left, and return whether anything was. Raises
        IogateError for a suite that was not read, and cannot be.
        """
        lost = self.taken_out.lost(items)
        self.gaps.note_taken_out(lost)
        return bool(lost)

    def note_not_run(self) -> int:
        """Note what neither was measured nor came to a report, though the run was not ended before its end;
        return the number of failures that these are.
        """
        collected = self.taken_out.collected
        run = [item for item in collected if item.nodeid in self.status.reported or self._decided(item)]
        lost = self.taken_out.lost(run)
        return self._failures(self.gaps.note_not_run(lost), len(lost))

    def note_turned(self) -> int:
        """Note what failed, and was reported as passed; return the number of failures that these are."""
        return self._failures(self.gaps.note_turned(self.status.turned), len(self.status.turned))

    def _failures(self, told: str, count: int) -> int:
        self.changes += filter(None, [told])
        return count if told else 0

    def _decided(self, item: pytest.Item) -> bool:
        """Return whether the workload of a test was measured, whatever became of that test."""
        trial = self._trials.get(item.nodeid)
        return trial is not None and trial.result is not None

    @property
    def silent(self) -> list[str]:
        """What was left out, or made up, and nobody asked for."""
        return self.gaps.silent(self._kept.results)

    # ------------------------------------------------------------ the tests

    def enroll(self, items: Sequence[WorkloadItem]) -> None:
        """Tell the session which workloads there are. Raises IogateError if none of them can be measured."""
        refuse_shared_ids(items, self.config.rootpath)
        self.selected.items.update({item.nodeid: item for item in items})
        if self.going_on.wanted and self._session is None:
            self.going_on.look([item.nodeid for item in items])
        if not items and not self.going_on.resumption:
            return  # the session begins with what a test in Python measures
        self._ask_target([item.workload for item in items])
        workloads = {item.nodeid: item.workload for item in items}.items()  # named twice, it is one
        trials = self.session.enroll(workloads, coming=self.python_tests.coming.total())
        self._trials.update({trial.id: trial for trial in trials})
        self._document.select(trials)
        self.going_on.begin(self.session, trials)
        if not self.config.option.io_plan:
            require_writable(trials, self.settings, self.subject)

    def _ask_target(self, workloads: Sequence[Workload]) -> None:
        """Take the target before it is asked what it refuses. Engines elsewhere are asked, too; a plan does
        neither.
        """
        if self.config.option.io_plan:
            return
        self._take_target(workloads)
        if self.subject.elsewhere:
            ask_engines_there(self.session.bench, workloads)

    def _take_target(self, workloads: Sequence[Workload]) -> None:
        """Take the target, if these workloads need it and it is waited for, as another run uses it, and begin
        behind what was measured there by then.
        """
        from iogate.target.rest import noting, unrested_work

        if self._is_taken or not need_target(workloads):
            return
        if self.settings.wait:
            self.session.bench.open()
        self._is_taken = True
        device, environment = self.subject.device.name, self.session.environment
        work = unrested_work(device, environment)
        self.session.begin_behind(work, noting(device, environment))
        self._judges.begun_behind = work > 0

    def prepare(self, items: Sequence[WorkloadItem]) -> list[WorkloadItem]:
        """Set up what fixtures make for the session, and return the workloads that can be measured in it.
        Raises TargetError if another run has done so, and is not waited for.
        """
        self._interrupts.watch()
        exclusive = need_target(item.workload for item in items)
        return self.surroundings.of_session(items, self._hold_surroundings if exclusive else None)

    def _hold_surroundings(self, stack: ExitStack) -> None:
        from iogate.plugin.reporters import progress_of

        hold_surroundings(stack, self.settings, self.subject, progress_of(self.config).notice)

    def expectations(self) -> str:
        """Return what the gate will do with each workload, for people; empty if nothing is to be judged."""
        from iogate.measure.plan import expectations

        brief = self.config.getoption("verbose", 0) <= 0
        return expectations(list(self._trials.values()), brief=brief)

    def plan(self) -> str:
        """Return what would run, for people."""
        from iogate.measure.plan import plan_text
        from iogate.target.wear import wear_text

        text = plan_text(
            self.session.bench.target,
            list(self._trials.values()),
            self.settings.budget,
            wear=wear_text(self.subject.device, elsewhere=self.subject.elsewhere),
            verbose=self.config.getoption("verbose", 0) > 0,
        )
        try:
            require_writable(self._trials.values(), self.settings, self.subject)
        except IogateError as error:
            text += f"\nrefused: {error}"
        return text

    def record_of(self, item: WorkloadItem) -> WorkloadResult:
        """Return the result of a workload's test."""
        if item.nodeid not in self._trials:  # its marks have changed since the tests began
            self.enroll([item])
        trial = self._trials[item.nodeid]
        if trial.result is None:
            self.surroundings.require(item)
        result = trial.result or self.session.decide([trial]).result
        assert result is not None
        self._kept.keep(trial)
        result = self.ahead.confirmed(trial, result)
        self._tell(item, result)
        return result

    def _tell(self, item: pytest.Item, result: WorkloadResult, name: str = "") -> None:
        """Tell the plugins of others what the results document says of a test's workload."""
        from iogate.plugin.others import tell

        self.machine.environment = self.session.environment
        tell(item, self._kept.record(result.id), name)

    def baseline_of(self, item: pytest.Item) -> Baseline | None:
        """Return the baseline of a workload's test, if it is judged by one."""
        from iogate.plugin.baselines import baseline_of

        return baseline_of(self._trials[item.nodeid].judge) if item.nodeid in self._trials else None

    def measure(self, item: pytest.Item, name: str, declaration: Mapping[str, Any]) -> WorkloadResult:
        """Measure a workload declared in a test written in Python. Raises IogateError."""
        suite = self.subject.project.name(item.path)
        overrides, allow_exec = self.subject.overrides(suite), self.settings.allow_exec
        workload = declared(item, name, declaration, suite, overrides, self.subject.cli_overrides, allow_exec)
        id = f"{item.nodeid}.{name}" if name else item.nodeid
        self.surroundings.let_go_before(item.session)
        with contextlib.nullcontext() if self._is_taken else unlimited(item):
            self._take_target([workload])
        trial = self.python_tests.trial(self.session, item, id, workload)
        self._document.select([trial])
        if not self._kept.knows(id):
            self.changes += filter(None, [self.going_on.take_over(self.session, [trial])])
        if trial.result is None:
            require_writable([trial], self.settings, self.subject)
        result = trial.result or self.session.decide([trial]).result
        assert result is not None
        self._kept.keep(trial)
        self._tell(item, result, name)
        self.gate.expect(result)
        return result

    def _names_stored(self, module: Path) -> Collection[str]:
        """Return the workloads of a module of tests that have a baseline; a test hears why one is no good."""
        with contextlib.suppress(IogateError, OSError):  # of a name that is too long for one of ours
            suite = self.subject.project.name(module)
            if (self.subject.own_baselines / f"{suite}.yaml").exists():  # else it takes time
                (names,) = self._judges.stored([suite]).values()
                return names
        return ()

    # ------------------------------------------------------------ what is kept

    @property
    def results(self) -> Results | None:
        """The results document of what is decided so far, or None."""
        if self._session is None:
            return None
        return self._document.of(self._session, self._kept, self.going_on.resumption, self._judges.options)

    def require_uninterrupted(self) -> None:
        """Raise KeyboardInterrupt if the run is to end, which a plugin that retries tests may have caught."""
        self._interrupts.require_none()

    def interruption(self, reason: str) -> str:
        """Return what is known of a session that was interrupted, for people."""
        text = reason or "by Ctrl-C"
        waiting = len(self.going_on.waiting)
        if self._session is None or not (self._session.trials or waiting):
            return f"{text}; nothing was measured"
        decided = waiting + sum(trial.result is not None for trial in self._session.trials)
        folder = coverage.shown(self.settings.results / self._session.id, self.settings.root)
        coming = max(waiting, self.python_tests.left)
        count = plural(len(self._session.trials) + coming, "workload")
        how = "; --io-resume goes on" if decided else ""
        return f"{text}; {decided} of {count} decided, kept in {folder}{how}"

    def finish(self) -> None:
        """End the session: clean the target, keep what was begun, write baselines. Raises IogateError."""
        self._interrupts.ignore()
        try:
            if self._session is not None:
                self._conclude(self._session)
        finally:
            if not self._interrupts.came:  # else a second Ctrl-C would end pytest itself with a traceback
                self._interrupts.restore()

    def leave(self) -> None:
        """Note that the run came to its end, which by now has been told, and let signals do what they did."""
        if self._document.ended:
            self._kept.report()
        self._kept.release()
        self._interrupts.restore()

    def _conclude(self, session: Session) -> None:
        """Take each step even if another one fails; the target comes last, as it may be what fails. Raises
        IogateError for all that failed.
        """
        failed = _failures(self._keep_begun, self._drop, self._write_baselines)
        whole = not (failed or self._interrupts.came or self.config.option.io_plan)
        self._document.ended = whole and bool(self._kept.records or self.going_on.waiting)
        failed += _failures(self._kept.close)
        self._document.ended &= not failed
        self._let_go()
        raise_together(failed + (self._gone or []))

    def _let_go(self) -> None:
        """Clean the target and let go of it, once: what a fixture mounted cannot be unmounted before."""
        if self._session is not None and self._gone is None:
            self._gone = _failures(self._session.close)

    def _keep_begun(self) -> None:
        for result in self.session.interrupt(self.session.trials):
            self._kept.add(result)

    def _drop(self) -> None:
        self.changes += self.ahead.drop()

    def _write_baselines(self) -> None:
        from iogate.plugin.baselines import write_baselines

        verbosity = self.config.getoption("verbose", 0)
        kept, judges, device = self._kept.results, self._judges, self.subject.device.name
        texts = write_baselines(kept, self.session, self.settings, judges, device, verbosity=verbosity)
        self.changes += filter(None, texts)


def _failures(*steps: Callable[[], None]) -> list[IogateError]:
    """Take steps one after the other; those that fail keep no other from being taken."""
    failed = []
    for step in steps:
        try:
            step()
        except IogateError as error:
            failed.append(error)
    return failed
