"""The hooks of the loop that measures, and of the tests in it."""

from __future__ import annotations

import textwrap
from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

from iogate.errors import IogateError
from iogate.plugin.collection import note_taken_out
from iogate.plugin.coverage import refusal_text
from iogate.plugin.items import WorkloadItem, is_setup_only, is_worker, will_run
from iogate.plugin.junit import note_attachments
from iogate.plugin.others import add_extras, records
from iogate.plugin.reporters import width_of
from iogate.plugin.run import RUN, PytestRun
from iogate.plugin.status import note_test, note_verdict, verdict_of
from iogate.units import no_commands

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

    _Status = tuple[str, str, str | tuple[str, dict[str, bool]]] | None
    """Category, letter and word of a report, as pytest has it; None if nobody says."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests as pytest's own loop does, but each workload as soon as it is decided."""
    config = session.config
    run = config.stash[RUN]
    if note_taken_out(session, run):  # behind all others that are told what was collected
        run.python_tests.expect(session.items)
        if run.settings.strict and not is_worker(config):
            raise pytest.UsageError(refusal_text(run.gaps.found))
    items = [item for item in session.items if isinstance(item, WorkloadItem)]
    in_python = run.python_tests.items and not is_worker(config)
    failed = session.testsfailed and not config.option.continue_on_collection_errors
    if (items or in_python) and run.settings.strict and is_setup_only(config):
        raise pytest.UsageError(
            "--io-strict has nothing to judge with --setup-only or --setup-plan: leave one out"
        )
    if not (items or in_python) or failed or config.option.collectonly or is_setup_only(config):
        return None
    try:
        coming = [item for item in items if will_run(item)]
        if not config.option.io_plan:
            coming = run.prepare(coming)
        run.enroll(coming)
        if config.option.io_plan:
            reporter: TerminalReporter | None = config.pluginmanager.getplugin("terminalreporter")
            plan = run.plan() if items else ""
            text = "\n" + "\n\n".join(filter(None, (run.going_on.notice, plan, run.python_tests.plan)))
            (reporter.write_line if reporter else print)(text)
        else:
            _show_expectations(config, run)
            _run(session, run)
    except IogateError as error:
        raise pytest.UsageError(no_commands(str(error))) from None
    except session.Interrupted:
        raise
    except KeyboardInterrupt as error:  # pytest would name a line of iogate's
        raise session.Interrupted(run.interruption(str(error))) from None
    return True


def _show_expectations(config: pytest.Config, run: PytestRun) -> None:
    """Tell before the run what is taken over from another, and what each verdict will rest on."""
    reporter: TerminalReporter | None = config.pluginmanager.getplugin("terminalreporter")
    known = run.expectations() if reporter and config.getoption("verbose", 0) >= 0 else ""
    text = "\n\n".join(filter(None, (run.going_on.notice, known)))
    width = width_of(reporter)
    if width is not None and config.getoption("verbose", 0) <= 0:  # no table: it can be filled
        text = "\n".join(textwrap.fill(line, width, break_on_hyphens=False) for line in text.splitlines())
    if reporter and text:
        reporter.write_line(f"\n{text}\n")


def _run(session: pytest.Session, run: PytestRun) -> None:
    for item, following in run.order.of(session.items):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        run.require_uninterrupted()
        reported = item.nodeid in run.status.reported
        if not reported and (failure := run.ahead.note_not_run(item, strict=run.settings.strict)):
            run.status.note_other()
            run.changes.append(failure)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)


@pytest.hookimpl(wrapper=True, tryfirst=True)  # what is expected to fail is known then
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note whose a report is, by which verdict the test failed, and how long its workload was measured before
    its set-up.
    """
    report = yield
    note_test(report, item)
    note_verdict(report, verdict_of(call))
    if report.skipped and not hasattr(report, "wasxfail"):
        run = item.config.stash[RUN]
        run.ahead.note_skipped(item, report, strict=run.settings.strict)
    add_extras(item, report)
    note_attachments(report, records(item))
    if report.when == "call":
        item.config.stash[RUN].python_tests.passed = item.nodeid if report.passed else ""
    if report.when == "call" or not report.passed:
        report.duration += item.config.stash[RUN].order.measured_before(item)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)  # around those that skip
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    """Tell what failed as it was set up ahead of a test, or was decided, whatever a plugin makes of that."""
    __tracebackhide__ = True
    run = item.config.stash[RUN]
    try:
        with run.surroundings.telling(item):
            yield
    except BaseException:
        run.ahead.note_set_up(item, done=False)
        raise
    run.ahead.note_set_up(item, done=True)


@pytest.hookimpl(wrapper=True, trylast=True)  # as if the test itself had asked the gate
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Check what a test and its fixtures have measured, and forgot to; a workload's does not, where a fixture
    of the user's is called as one of ours, a hook of theirs takes its call, or drops its failure.
    """
    run = item.config.stash[RUN]
    with run.status.watching(item), run.gate.checking_rest():
        measured = run.record_of(item) if isinstance(item, WorkloadItem) else None
        if measured:
            run.gate.expect(measured)
        yield
        if measured:
            run.gate.expect(measured)
    run.status.note_swallowed(item, run.gate.failed)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, None, None]:
    """Check what the fixtures of a test measure behind it, and note what was not measured by then."""
    run = item.config.stash[RUN]
    run.gate.let_go()  # of a set-up that failed
    with run.gate.checking_rest():
        yield
    if run.python_tests.passed == item.nodeid:
        run.gaps.note_unmeasured(run.subject.device, item)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport) -> Generator[None, _Status, _Status]:
    """Tell passed workloads apart: `PASSED (improved)`. A test passed if all others say so: that of failed
    subtests did not.
    """
    status = yield
    verdict = dict(report.user_properties).get("verdict") if report.when == "call" else None
    if not status or status[:2] != ("passed", ".") or verdict in (None, "pass"):
        return status
    return "passed", ".", f"PASSED ({verdict})"
