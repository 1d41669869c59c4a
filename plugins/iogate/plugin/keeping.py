"""What is kept of a run: each result as it is decided, in the session's folder and where somebody named."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from iogate.errors import IogateError
from iogate.formats.held import held_folder, make_within
from iogate.model import WorkloadResult

if TYPE_CHECKING:
    from iogate.measure.settings import Settings
    from iogate.measure.trial import Trial
    from iogate.report.protocol import Reporter
    from iogate.report.results import Results, WorkloadRecord
    from iogate.report.session_folders import SessionFolder


class Keeping:
    """The results of a run, and those who write them; `document` makes one of all that is kept so far."""

    def __init__(self, settings: Settings, document: Callable[[], Results | None]) -> None:
        self.results: list[WorkloadResult] = []
        self.records: list[WorkloadRecord] = []
        self._settings = settings
        self._document = document
        self._reporters: list[Reporter] = []
        self._named: list[Reporter] = []
        self._unwritten: dict[Reporter, IogateError] = {}
        self._folder: SessionFolder | None = None
        self._plan = False

    def hold(self, folder: SessionFolder) -> None:
        """Keep results in the folder of an earlier session, which this run has locked."""
        self._folder = folder

    def begin(self, folder: Path, named: Iterable[Reporter], *, plan: bool) -> None:
        """Keep results in the session's `folder`, of which a `plan` makes nothing, and by the reporters that
        somebody `named`.
        """
        from iogate.report.json_file import SessionFile
        from iogate.report.session_folders import SessionFolder

        self._named = [*named]
        self._reporters = [*self._named]
        self._plan = plan
        if not plan:
            self._folder = self._folder or SessionFolder(folder)
            self._reporters.insert(0, SessionFile(self._folder))
            self._hide_from_git()

    def take_over(self, result: WorkloadResult, record: WorkloadRecord) -> None:
        """Keep what an earlier part of the session has decided and reported."""
        self.results.append(result)
        self.records.append(record)

    def add(self, result: WorkloadResult) -> None:
        """Keep a result, and have it reported. That it could not be is told at the end, if no later one
        could be: what is measured should not be lost to a disk that is full for a while.
        """
        from iogate.report.recording import record_workload

        self.take_over(result, record_workload(result, self._settings.gate_options))
        self.report()

    def keep(self, trial: Trial) -> None:
        """Keep what a workload came to, once; nothing, while it is undecided."""
        if trial.result and not self.knows(trial.id):
            self.add(trial.result)

    def amend(self, result: WorkloadResult) -> None:
        """Keep a result in the place of one of the same test, and have it reported."""
        from iogate.report.recording import record_workload

        index = next(index for index, kept in enumerate(self.results) if kept.id == result.id)
        self.results[index] = result
        self.records[index] = record_workload(result, self._settings.gate_options)
        self.report()

    def knows(self, id: str) -> bool:
        """Return whether the result of that test is kept."""
        return any(result.id == id for result in self.results)

    def record(self, id: str) -> WorkloadRecord:
        """Return what the document says of that test."""
        return next(record for record in self.records if record.id == id)

    def report(self) -> None:
        """Have the document as it is now written."""
        document = self._document()
        assert document is not None
        self._report_to(self._reporters, document)

    def _report_to(self, reporters: Iterable[Reporter], document: Results) -> None:
        for reporter in reporters:
            try:
                reporter.write(document)
                self._unwritten.pop(reporter, None)
            except IogateError as error:
                self._unwritten[reporter] = error

    def close(self) -> None:
        """End the reporting, of which what is written once hears how the run ended, and remove old sessions.
        Raises IogateError for what could not be written.
        """
        if document := self._document():
            self._report_to(self._named, document)
        for reporter in self._reporters:
            reporter.close()
        self._prune()
        if self._unwritten:
            raise next(iter(self._unwritten.values()))

    def release(self) -> None:
        """Let go of the session's folder: nothing more is written there."""
        if self._folder:
            self._folder.close()

    def _hide_from_git(self) -> None:
        ignore = self._settings.results.parent / ".gitignore"
        if ignore.parent.name != ".iogate" or os.path.islink(ignore.parent):  # a link may have chosen it
            return
        # it is there, or a full disk shows where something matters
        with contextlib.suppress(OSError), held_folder(ignore.parent, make=True) as folder:
            make_within(folder, ignore.name, "*\n")

    def _prune(self) -> None:
        """Remove old sessions: where nobody chose the folder, or where it was said how many to keep."""
        from iogate.report.session_folders import USUAL

        if self._plan or self._folder is None:
            return
        settings = self._settings
        usual = settings.results == settings.root / ".iogate" / "results"
        # chosen by a link; not asked of pathlib, which raises OSError where a mount died meanwhile
        linked = os.path.islink(settings.results) or os.path.islink(settings.results.parent)
        if settings.keep or (usual and not linked):
            self._folder.prune(settings.keep or USUAL)
