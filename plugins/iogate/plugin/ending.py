"""The hooks of the end of a run: what is kept and told of it."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

from iogate.errors import IogateError
from iogate.plugin.benchmark import remove_empty_storage
from iogate.plugin.collection import is_concerned
from iogate.plugin.coverage import refusal_text, warnings_text
from iogate.plugin.items import is_setup_only, is_worker
from iogate.plugin.reporters import width_of
from iogate.plugin.run import RUN, PytestRun
from iogate.units import no_commands

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

_PASSED = 40  # workloads that passed, in the table at the end; -v shows all
_NOTHING_RAN = (pytest.ExitCode.NO_TESTS_COLLECTED, pytest.ExitCode.USAGE_ERROR)


def _note_lost(session: pytest.Session, run: PytestRun) -> None:
    """Note what was lost of the run, and fail a strict one."""
    try:
        failures = run.note_turned() + (run.note_not_run() if _came_to_its_end(session, run) else 0)
    except IogateError as error:  # of a suite that somebody hides, and that cannot be read any more
        run.changes.append(no_commands(f"ERROR: {error}"))
        failures = 1
    if failures:
        run.status.note_other()
        session.testsfailed += failures
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _came_to_its_end(session: pytest.Session, run: PytestRun) -> bool:
    """Return whether all tests were to be run, here, and nothing has ended that before."""
    config = session.config
    runs = not (config.option.collectonly or config.option.io_plan or is_setup_only(config))
    stopped = session.shouldstop or session.shouldfail
    ended = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    return run.taken_out.begun and runs and ended and not stopped and not is_worker(config)


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, None, None]:
    """Clean the target and keep what was found out, before the reports of others are made."""
    run = session.config.stash.get(RUN, None)
    if run:
        _note_lost(session, run)
        try:
            run.finish()
        except IogateError as error:
            run.changes.append(no_commands(f"ERROR: {error}"))
            if session.exitstatus == pytest.ExitCode.OK:  # a status that says more stays
                session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
        session.exitstatus = run.status.of(session)
        if is_worker(session.config):
            run.gaps.tell_of_worker()
        if run.gaps.refused_of_workers and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        run.junit.describe(run.results)
    return (yield)


def pytest_unconfigure(config: pytest.Config) -> None:
    remove_empty_storage(config.getoption("benchmark_storage", ""))


def pytest_terminal_summary(
    terminalreporter: TerminalReporter, exitstatus: pytest.ExitCode, config: pytest.Config
) -> None:
    run = config.stash.get(RUN, None)
    if run is None:
        return
    results, verbosity = run.results, config.getoption("verbose", 0)
    if results is not None:
        from iogate.report.table import Look
        from iogate.report.terminal import TerminalSummary

        look = Look(
            width_of(terminalreporter), terminalreporter.hasmarkup, everything=verbosity > 0, most=_PASSED
        )
        section, line = terminalreporter.section, terminalreporter.write_line
        TerminalSummary(section, line, look, quiet=verbosity < 0).write(results)
    concerned = is_concerned(run) or results is not None or exitstatus in _NOTHING_RAN
    silent = run.silent if concerned and not run.settings.strict else []
    if run.gaps.refused_of_workers:
        terminalreporter.write_line(f"\nERROR: {refusal_text(run.gaps.found)}")
    gaps = [warnings_text(silent)] if silent else []
    for text in (*run.changes, *gaps, *run.gaps.deselected):
        terminalreporter.write_line("")
        terminalreporter.write_line(text)
