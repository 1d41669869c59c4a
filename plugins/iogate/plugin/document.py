"""The results document of a run: what was to be decided, as it began, and what of it is decided or open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import pytest

from iogate.errors import IogateError, LostError, TargetError

if TYPE_CHECKING:
    from iogate.judge.judge import GateOptions
    from iogate.measure.session import Session
    from iogate.measure.settings import Settings
    from iogate.measure.trial import Trial
    from iogate.plugin.keeping import Keeping
    from iogate.plugin.python_tests import PythonTests
    from iogate.plugin.resume import Resumption
    from iogate.plugin.subject import Subject
    from iogate.report.results import Results, RunRecord


class RunDocument:
    """What the document of a run says beside its results: how each workload was declared, the images of a
    pair, and the project's commit, as they were when it began, for the run that may go on with it.
    """

    def __init__(self, settings: Settings, subject: Subject, python_tests: PythonTests) -> None:
        self.ended = False
        """Whether the run came to its end: its baselines are written, and all is told."""
        self.images = _images_of(settings)
        self._settings = settings
        self._subject = subject
        self._python_tests = python_tests
        self._selection: dict[str, str] = {}

    def select(self, trials: Iterable[Trial]) -> None:
        """Note how workloads are declared."""
        from iogate.report.resuming import declaration_hash

        for trial in trials:
            self._selection.setdefault(trial.id, declaration_hash(trial.workload))

    def select_as_then(self, hashes: Mapping[str, str]) -> None:
        """Note how workloads were declared that an earlier part of the session has decided."""
        self._selection.update(hashes)

    def options(self, session: Session) -> dict[str, str]:
        """Return the options, and what else there is, that change what is measured or decided."""
        from iogate.plugin.resume import deciding_options

        target = session.bench.target
        return deciding_options(self._settings, self._subject.device, target, self._subject.missing)

    @cached_property
    def commit(self) -> str | None:
        """The commit that the project is at, when first asked; None if git does not tell."""
        from iogate.host.git import head

        return head(self._settings.root)

    def of(
        self, session: Session, kept: Keeping, resumed: Resumption | None, gate_options: GateOptions
    ) -> Results | None:
        """Return the document of what is decided so far, here, and before by tests in Python that have not
        asked for it yet; None if nothing is.
        """
        from iogate.report.origin import sealed
        from iogate.report.recording import engine_versions, results_of

        records = [*kept.records, *(resumed.waiting if resumed else ())]
        if not records:
            return None
        before = resumed.engine_versions if resumed else {}
        return sealed(
            results_of(
                self._subject.device.name,
                session.id,
                session.environment,
                records,
                gate_options,
                {**before, "pytest": pytest.__version__, **engine_versions(kept.results)},
                self._run_record(session, kept),
            )
        )

    def _run_record(self, session: Session, kept: Keeping) -> RunRecord:
        from iogate.report.results import RunRecord

        return RunRecord(
            self._selection,
            tuple(trial.id for trial in session.trials if _is_open(trial, kept)),
            self.options(session),
            self.ended,
            self.commit or "",
            tests=dict(self._python_tests.ended),
            images=self.images,
        )


def _is_open(trial: Trial, kept: Keeping) -> bool:
    """Return whether a workload is not decided, or not reported; `--io-resume` measures it."""
    return trial.result is None or _is_lost(trial.result.failure) or not kept.knows(trial.id)


def _is_lost(failure: IogateError | None) -> bool:
    """Return whether a workload failed as its host was lost: while it was measured, or before its turn."""
    return isinstance(failure, LostError) or (isinstance(failure, TargetError) and failure.rule == "host")


def _images_of(settings: Settings) -> Mapping[str, str]:
    """Return what the images of a pair are as the run begins: at its end another may have the name of one."""
    if not settings.against:
        return {}
    from iogate.plugin.resume import images_of

    return images_of(settings)
