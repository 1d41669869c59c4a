"""pytest's exit status: why a run failed, if it failed by verdicts other than `regressed` alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pytest

from iogate.plugin.outcome import VerdictFailure

if TYPE_CHECKING:
    from iogate.model import VerdictName

STATUSES: Mapping[str, int] = {"inconclusive": 10, "no_baseline": 11, "invalid": 12}
"""Exit statuses beside pytest's own, 0 to 5: of several the highest; 1 if anything failed otherwise."""

_VERDICT = "iogate_verdict"
_TEST = "iogate_test"


def verdict_of(call: pytest.CallInfo[None]) -> VerdictName | None:
    """Return by which verdict a test failed, if by one."""
    failure = call.excinfo.value if call.excinfo else None
    return failure.verdict if isinstance(failure, VerdictFailure) else None


def note_test(report: pytest.TestReport, item: pytest.Item) -> None:
    """Note in a report whose it is: some conftest.py gives it another id, for people."""
    setattr(report, _TEST, item.nodeid)


def note_verdict(report: pytest.TestReport, verdict: VerdictName | None) -> None:
    """Note in a report by which verdict its test failed."""
    if verdict:
        setattr(report, _VERDICT, verdict)


class FailureStatus:
    """Counts the failures of a run as pytest does, those that are verdicts apart."""

    def __init__(self) -> None:
        self._verdicts: list[str] = []
        self._others = False  # whether anything failed otherwise
        self._failing: dict[str, str] = {}
        self._told: set[str] = set()  # of which a failure tells the verdict, as that of a subtest does
        self.reported: set[str] = set()
        """The tests of which a report came that says what they came to, by id."""
        self.turned: list[str] = []
        """The ids of those that failed by a verdict, and somebody reported as passed, or as skipped."""

    @contextlib.contextmanager
    def watching(self, item: pytest.Item) -> Iterator[None]:
        """Note by which verdict the call of a test fails, whatever is made of that failure then."""
        self._failing.pop(item.nodeid, None)  # it may run again
        try:
            yield
        except VerdictFailure as failure:
            self._failing[item.nodeid] = failure.verdict
            raise

    def note_swallowed(self, item: pytest.Item, verdict: VerdictName | None) -> None:
        """Note by which verdict a test failed that goes on as if it had not."""
        if verdict:
            self._failing[item.nodeid] = verdict

    @pytest.hookimpl(tryfirst=True)  # as pytest counts: those that show it fail what has failed subtests
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a failure; what is expected to fail, or skipped, is none."""
        id: str = getattr(report, _TEST, report.nodeid)
        if report.when == "call" or not report.passed:  # else it was but set up
            self.reported.add(id)
        verdict: str = getattr(report, _VERDICT, "")
        if report.when == "call" and not verdict:
            verdict = self._failing.get(id, "")
        if hasattr(report, "wasxfail"):
            return
        if report.failed:
            self._note_failure(verdict)
            self._told |= {id} if verdict else set()
        elif verdict and (report.passed or report.skipped) and id not in self._told:
            self.turned.append(id)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Count what cannot be collected."""
        if report.failed:
            self.note_other()

    def note_other(self) -> None:
        """Note that something failed which is in no report of a test."""
        self._note_failure("")

    def _note_failure(self, verdict: str) -> None:
        if verdict in STATUSES:
            self._verdicts.append(verdict)
        else:
            self._others = True

    def of(self, session: pytest.Session) -> int:
        """Return the exit status of a session. Of what failed and ran again some plugins count less."""
        failed = session.exitstatus == pytest.ExitCode.TESTS_FAILED and not _broke_off(session)
        if failed and not self._others and 0 < session.testsfailed <= len(self._verdicts):
            return max(STATUSES[verdict] for verdict in self._verdicts)
        return session.exitstatus


def _broke_off(session: pytest.Session) -> bool:
    """Return whether something else than `-x` ended a session, such as `--session-timeout`: then it is not
    verdicts alone that failed it, as what it did not decide is in none.
    """
    most: int = session.config.getoption("maxfail", 0) or 0
    return bool(session.shouldfail) and not 0 < most <= session.testsfailed
