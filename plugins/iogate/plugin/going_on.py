"""A run that goes on with a session that was cut off, and what of it is decided."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from iogate.plugin.document import RunDocument
from iogate.plugin.keeping import Keeping
from iogate.plugin.python_tests import PythonTests
from iogate.plugin.selected import Selected
from iogate.plugin.subject import Subject

if TYPE_CHECKING:
    from iogate.measure.session import Session
    from iogate.measure.settings import Settings
    from iogate.measure.trial import Trial
    from iogate.plugin.resume import Resumption
    from iogate.report.results import WorkloadRecord


class GoingOn:
    """What `--io-resume` asks for. What is decided is `kept` as if this run had decided it; a `plan` removes
    nothing of the rest.
    """

    def __init__(
        self,
        settings: Settings,
        subject: Subject,
        document: RunDocument,
        selected: Selected,
        python_tests: PythonTests,
        kept: Keeping,
        *,
        plan: bool,
    ) -> None:
        self.resumption: Resumption | None = None
        """The session that is gone on with, if there is one."""
        self.notice = ""
        """What is gone on with, or why nothing is, for people; empty before anything was looked for."""
        self._settings = settings
        self._subject = subject
        self._document = document
        self._selected = selected
        self._python_tests = python_tests
        self._kept = kept
        self._plan = plan

    @property
    def wanted(self) -> bool:
        """Whether somebody asked for it, and nothing was looked for yet."""
        return self._settings.resume and not (self.notice or self.resumption)

    @property
    def waiting(self) -> Sequence[WorkloadRecord]:
        """What tests in Python have decided before, and have not asked for yet."""
        return self.resumption.waiting if self.resumption else ()

    def look(self, ids: Collection[str]) -> None:
        """Find the session of these workloads, and of the tests in Python, that is to be gone on with."""
        from iogate.plugin.resume import session_to_resume
        from iogate.report.resuming import Selection

        device, host = self._subject.device.name, self._settings.host
        asked = Selection(device, ids, self._python_tests.ended, host)
        commit, images = self._document.commit, self._document.images
        self.resumption, self.notice = session_to_resume(self._settings, asked, commit, images)
        if self.resumption:
            self._selected.decided = self.resumption.decided
            self._kept.hold(self.resumption.folder)

    def begin(self, session: Session, trials: Sequence[Trial]) -> None:
        """Take over what a session has decided about. Raises InputError if that was another kind of session,
        and TargetError if it is still going on.
        """
        if resumption := self.resumption:
            outdated = self.take_over(session, trials)
            session.know(resumption.known.environment)
            resumption.going = True
            self._document.select_as_then(resumption.waiting_hashes)
            self.notice = resumption.text(trials, outdated)

    def take_over(self, session: Session, trials: Sequence[Trial]) -> str:
        """Take over what is decided of some workloads; what is not, as its baseline changed, is returned."""
        resumption = self.resumption
        if not resumption:
            return ""
        resumption.check(trials, session, self._settings, self._document.options(session))
        outdated = resumption.drop_outdated(trials)
        if not self._plan:
            resumption.clear(trials)
        for result, record in resumption.take_over(trials):
            self._kept.take_over(result, record)
        return outdated
