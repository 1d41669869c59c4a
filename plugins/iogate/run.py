"""One pytest run: the settings, the device, the measuring session behind the tests, and what is kept of
it.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from iogate.collect import WorkloadItem
from iogate.errors import IogateError, Position
from iogate.fixtures import Gate
from iogate.interrupts import Interrupts
from iogate.model import Baseline, Device, Record
from iogate.units import printable

if TYPE_CHECKING:
    from iogate.course import Course
    from iogate.results import Results
    from iogate.session import Session
    from iogate.settings import Settings


class Run:
    """What the plugin's hooks and the fixtures share. The session begins with the first measurement."""

    def __init__(self, config: pytest.Config, settings: Settings, json_path: Path | None) -> None:
        self.config = config
        self.settings = settings
        self.gate = Gate(settings.inconclusive, settings.missing or "fail")
        self.json_path = json_path
        self.results: Results | None = None
        self.changes: list[str] = []
        self._unwritten: IogateError | None = None
        self._interrupts = Interrupts()
        self._device: Device | None = None
        self._session: Session | None = None
        self._courses: dict[str, Course] = {}
        self._records: list[Record] = []

    @property
    def device(self) -> Device:
        """The device under test. Raises InputError if there is none of that name, or its profile is wrong."""
        if self._device is None:
            from iogate.device import load_device

            self._device = load_device(self.settings.device, self.settings.baselines)
            self.gate = Gate(self.settings.inconclusive, self.settings.missing or self._device.missing)
        return self._device

    def overrides(self, suite: str) -> dict[str, Any]:
        """The engine options that the device's profile sets for a suite."""
        return {**self.device.overrides.get("*", {}), **self.device.overrides.get(suite, {})}

    @property
    def limits(self) -> dict[str, Any]:
        """The engine options that the command line sets."""
        given = {"size": self.settings.size, "runtime": self.settings.runtime}
        return {key: value for key, value in given.items() if value is not None}

    @property
    def session(self) -> Session:
        """The measuring session. Raises TargetError or InputError if there can be none."""
        if self._session is None:
            self._begin()
        assert self._session is not None
        return self._session

    def _begin(self) -> None:
        from iogate.report.progress import Progress
        from iogate.results import Results
        from iogate.session import Session
        from iogate.target import resolve

        self._interrupts.watch()
        target = resolve(self.device, self.settings.root, self.settings.target)
        terminal = self.config.pluginmanager.getplugin("terminalreporter")
        progress = Progress(
            self._write,
            living=terminal is not None and terminal.isatty,
            quiet=terminal is None or self.config.option.verbose < 0,
        )
        self._session = Session(self.settings, self.device, target, progress)
        self.results = Results(self.device.name, self._session.id, self._session.environment, self.json_path)
        ignore = self.settings.results.parent / ".gitignore"
        if self.settings.results.parent.name == ".iogate" and not ignore.exists():
            with contextlib.suppress(OSError):  # a full disk shows where something matters
                ignore.parent.mkdir(parents=True, exist_ok=True)
                ignore.write_text("*\n", encoding="utf-8")

    def _write(self, text: str) -> None:
        """Put text on a line of its own, past pytest's capture if a test is running."""
        terminal = self.config.pluginmanager.getplugin("terminalreporter")
        capture = self.config.pluginmanager.getplugin("capturemanager")
        with capture.global_and_fixture_disabled() if capture else contextlib.nullcontext():
            terminal.ensure_newline()
            terminal.write(text, flush=True)

    # ------------------------------------------------------------ the tests

    def enroll(self, items: Sequence[WorkloadItem]) -> None:
        """Tell the session which workloads there are. Raises IogateError if none of them can be measured."""
        courses = self.session.enroll((item.nodeid, item.workload) for item in items)
        self._courses.update({course.id: course for course in courses})

    def expectations(self) -> str:
        """What the gate will do with each workload, for people; empty if nothing is to be judged."""
        from iogate.plan import expectations

        return expectations(list(self._courses.values()))

    def plan(self) -> str:
        """What would run, for people."""
        from iogate.plan import plan_text

        courses = list(self._courses.values())
        return plan_text(self.device, self.session.target, courses, self.settings.destroy)

    def ordered(self, items: Sequence[pytest.Item]) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
        """The tests in the order in which they are decided, each with the one that may come next.

        Workloads change places within their suite only, so that set-up and teardown of modules stay as
        pytest has them.
        """
        pending = list(items)
        while pending:
            item = self._next(pending)
            pending.remove(item)
            yield item, (pending[0] if pending else None)

    def _next(self, pending: Sequence[pytest.Item]) -> pytest.Item:
        first = pending[0]
        if first.nodeid not in self._courses:
            return first
        same = itertools.takewhile(lambda item: item.parent is first.parent, pending)
        block = {item.nodeid: item for item in same if item.nodeid in self._courses}
        decided = self.session.decide([self._courses[id] for id in block])
        self._keep(decided)
        return block[decided.id]

    def record_of(self, item: pytest.Item) -> Record:
        """The record of a workload's test."""
        course = self._courses[item.nodeid]
        record = course.record or self.session.decide([course]).record
        assert record is not None
        item.user_properties += list(_properties(record))
        return record

    def baseline_of(self, item: pytest.Item) -> Baseline | None:
        """The baseline of a workload's test, if it is judged by one."""
        course = self._courses.get(item.nodeid)
        return course.baseline if course else None

    def measure(self, item: pytest.Item, name: str, declaration: Mapping[str, Any]) -> Record:
        """Measure a workload declared in a test written in Python. Raises IogateError."""
        from iogate.workload import declared

        path, line, _ = item.location
        suite = Path(path).stem
        label = f"{item.name}.{name}" if name else item.name
        position = Position(path, (line or 0) + 1)
        data, allow_exec = {**declaration, **self.overrides(suite)}, self.settings.allow_exec
        workload = declared(label, suite, data, position, self.limits, allow_exec=allow_exec)
        course = self.session.enroll([(f"{item.nodeid}.{name}" if name else item.nodeid, workload)])[0]
        record = self.session.decide([course]).record
        assert record is not None
        self._keep(course)
        item.user_properties += list(_properties(record))
        return record

    # ------------------------------------------------------------ what is kept

    def _keep(self, course: Course) -> None:
        if course.record and all(record.id != course.id for record in self._records):
            self._records.append(course.record)
            self._add(course.record)

    def _add(self, record: Record) -> None:
        """Write a record to the results file. That it could not be written is told at the end, if no later
        record could be: what is measured should not be lost to a disk that is full for a while.
        """
        try:
            if self.results:
                self.results.add(record)
            self._unwritten = None
        except IogateError as error:
            self._unwritten = error

    def finish(self) -> None:
        """End the session: clean the target, keep what was begun, write baselines. Raises IogateError."""
        self._interrupts.ignore()
        try:
            if self._session is not None:
                self._conclude(self._session)
        finally:
            self._interrupts.restore()

    def _conclude(self, session: Session) -> None:
        session.close()
        for record in session.interrupt(self._courses.values()):
            self._add(record)
        self.changes = self._write_baselines(session)
        if self._unwritten:
            raise self._unwritten

    def _write_baselines(self, session: Session) -> list[str]:
        """Write what was recorded into the baseline files; the tables of what changed."""
        from iogate.baseline import changes_table, update

        tables = []
        recorded = [record for record in self._records if record.verdict.verdict == "recorded"]
        for suite in dict.fromkeys(record.workload.suite for record in recorded):
            records = [record for record in recorded if record.workload.suite == suite]
            changes = update(
                self.settings.baselines / self.device.name / f"{suite}.yaml",
                device=self.device.name,
                suite=suite,
                session=session.id,
                environment=session.environment,
                reason=self.settings.reason,
                measured={
                    record.workload.name: (record.workload.definition, _values(record)) for record in records
                },
                mode=self.settings.update or "replace",
            )
            if any(change.old is not None for change in changes):
                tables.append(changes_table(changes))
            tables.append(self._strength(session, suite, records))
        return tables

    def _strength(self, session: Session, suite: str, records: Sequence[Record]) -> str:
        """How strong the baseline of a suite is now, for people."""
        path = self.settings.baselines / self.device.name / f"{suite}.yaml"
        count = "1 workload" if len(records) == 1 else f"{len(records)} workloads"
        lines = [f"{count} recorded in {_shown(path, self.settings.root)}"]
        for name, known in session.strengths([record.workload for record in records]).items():
            lines.append(f"  {name}: {known.text}" if known else f"  {name}: cannot be judged yet")
        return printable("\n".join(lines))


def _shown(path: Path, root: Path) -> Path:
    return path.relative_to(root) if path.is_relative_to(root) else path


def _values(record: Record) -> dict[str, list[float]]:
    return {item.metric.name: list(item.values) for item in record.verdict.metrics}


def _properties(record: Record) -> Iterator[tuple[str, object]]:
    """What JUnit shows of a measurement."""
    yield "verdict", record.verdict.verdict
    yield "repetitions", record.verdict.repetitions
    yield "device_seconds", round(record.device_seconds, 3)
    for item in record.verdict.metrics:
        yield item.metric.name, item.value
        if item.gating and item.change is not None:
            yield f"{item.metric.name}.change", round(item.change, 5)
