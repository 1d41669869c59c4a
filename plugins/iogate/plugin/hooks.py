"""The pytest plugin: options, collection, the loop that measures, and the summary."""

from __future__ import annotations

import textwrap
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from iogate.errors import IogateError
from iogate.plugin.benchmark import remove_empty_storage
from iogate.plugin.coverage import (
    copies_text,
    deselected_text,
    has_suites,
    is_plain,
    looks_like_suite,
    not_plain_text,
    refusal_text,
    shown,
    warnings_text,
)
from iogate.plugin.devices.names import device_names
from iogate.plugin.devices.parent import end_with_parent
from iogate.plugin.gaps import WorkersGaps
from iogate.plugin.items import (
    LIE,
    SuiteModule,
    WorkloadItem,
    is_setup_only,
    is_suite,
    is_worker,
    will_run,
)
from iogate.plugin.junit import note_attachments
from iogate.plugin.options import add_options, path_of, settings_of
from iogate.plugin.others import MeasuringOrder, add_extras, leaves_out_unchanged, records
from iogate.plugin.run import RUN, PytestRun
from iogate.plugin.status import note_test, note_verdict, verdict_of
from iogate.units import no_commands

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

_PASSED = 40  # workloads that passed, in the table at the end; -v shows all
_QUESTIONS = ("help", "version", "markers", "showfixtures", "show_fixtures_per_test", "cacheshow")
_NOTHING_RAN = (pytest.ExitCode.NO_TESTS_COLLECTED, pytest.ExitCode.USAGE_ERROR)


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Measure several devices by a pytest of each, unless pytest is only asked something."""
    if len(device_names(config)) < 2 or any(config.getoption(name, False) for name in _QUESTIONS):
        return None
    from iogate.plugin.devices.measuring import measure_devices

    _refuse_parallel(config)
    return measure_devices(config)


@pytest.hookimpl(tryfirst=True)  # what is added first is cleaned up last
def pytest_configure(config: pytest.Config) -> None:
    end_with_parent()
    run = PytestRun(config, settings_of(config), path_of(config, "--io-json"))
    config.stash[RUN] = run
    config.add_cleanup(run.leave)
    config.pluginmanager.register(run.status, "iogate.status")
    config.pluginmanager.register(run.python_tests, "iogate.python_tests")
    config.pluginmanager.register(run.machine, "iogate.machine")
    config.pluginmanager.register(run.junit, "iogate.junit")
    config.pluginmanager.register(WorkersGaps(run.gaps), "iogate.workers_gaps")
    if len(device_names(config)) == 1:
        try:
            _ = run.subject.device
        except IogateError as error:
            raise pytest.UsageError(no_commands(str(error))) from None
    _refuse_parallel(config)


def _refuse_parallel(config: pytest.Config) -> None:
    """Parallel benchmarks on one target lie. Other tests of the same project may run in parallel.

    Suites behind links and options are found by the processes themselves, as they collect.
    """
    flag = _parallel(config)
    if not flag:
        return
    patterns = config.getini("io_suites")
    for argument in config.args:
        path = config.invocation_params.dir / argument.split("::")[0]
        files = path.rglob("*.y*ml") if path.is_dir() else [path]
        if any(is_suite(file.resolve(), patterns) for file in files):
            raise pytest.UsageError(
                f"{flag} cannot be used with suites ({argument}): {LIE}. Run the suites without {flag}."
            )


def _parallel(config: pytest.Config) -> str:
    """Return the option by which xdist is to start processes, if this is the one that starts them."""
    option = config.option
    if is_worker(config):
        return ""
    if getattr(option, "numprocesses", None):
        return "-n"
    return "--tx" if getattr(option, "tx", None) and option.dist != "no" else ""


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say which baselines are used, where there are any or will be."""
    run = config.stash.get(RUN, None)
    return run.subject.header if run else None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    config = parent.config
    run = config.stash[RUN]
    patterns = config.getini("io_suites")
    if not is_suite(file_path, patterns):
        if looks_like_suite(file_path):
            gap = (
                f"{shown(file_path, config.rootpath)} looks like a suite and is none of "
                f"{', '.join(patterns)}: move or rename it, or name its place by io_suites in an ini file"
            )
            if is_worker(config) and run.settings.strict:  # nobody hears what a process of xdist refuses
                raise parent.CollectError(refusal_text([gap]))
            run.gaps.found.append(gap)
        return None
    if run.subject.is_baseline(file_path):
        return None
    if is_worker(config):
        raise parent.CollectError(f"xdist cannot be used with suites: {LIE}. Run the suites without it.")
    if not is_plain(file_path.name):
        raise parent.CollectError(not_plain_text(file_path))
    try:
        suite = run.subject.suite_of(file_path)
        overrides = run.subject.overrides(suite)
    except IogateError as error:
        raise parent.CollectError(no_commands(str(error))) from None
    module: SuiteModule = SuiteModule.from_parent(
        parent,
        path=file_path,
        overrides=overrides,
        cli_overrides=run.subject.cli_overrides,
        allow_exec=run.settings.allow_exec,
        ask_engines=not config.option.io_plan and not run.subject.elsewhere,
        suite=suite,
        shown=shown(file_path, config.rootpath),
    )
    run.selected.modules.append(module)
    return module


@pytest.hookimpl(wrapper=True)
def pytest_ignore_collect(
    collection_path: Path, config: pytest.Config
) -> Generator[None, bool | None, bool | None]:
    """Note a folder that pytest passes over for its name, and what it was told, or is made, to leave out.

    Refuse one of suites whose name pytest would print as it is, with each of their workloads.
    """
    ignored = yield
    if ignored:
        config.stash[RUN].gaps.note_ignored(collection_path)
    elif not is_plain(collection_path.name):
        anywhere = Path(collection_path.anchor)  # pytest goes wherever links lead
        if has_suites(collection_path, anywhere, config.getini("io_suites")):
            raise pytest.Collector.CollectError(not_plain_text(collection_path))
    return ignored


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the suites that do not apply to the device, unless they were asked for by name."""
    workloads = [item for item in items if isinstance(item, WorkloadItem)]
    if not workloads or not config.stash[RUN].subject.device.suites:
        return
    applicable = config.stash[RUN].subject.device.suites
    named = {(config.invocation_params.dir / argument.split("::")[0]).resolve() for argument in config.args}
    left_out = [
        item
        for item in workloads
        if item.workload.suite not in applicable and item.path.resolve() not in named
    ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        ids = {id(item) for item in left_out}
        items[:] = [item for item in items if id(item) not in ids]
        run = config.stash[RUN]
        found = [item.workload for item in left_out]
        run.gaps.deselected.append(deselected_text(run.subject.device, found, run.settings.root))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Find what files alone tell to be left out in silence, where it is processes of xdist that collect."""
    run = session.config.stash[RUN]
    order = MeasuringOrder(session.config, run.python_tests.measures)
    session.config.pluginmanager.register(order, "iogate.order")
    session.config.pluginmanager.register(run.taken_out, "iogate.taken_out")
    if run.settings.strict and _parallel(session.config):
        _find_gaps(run, measures=False)


@pytest.hookimpl(tryfirst=True)  # what is left out is counted by pytest
def pytest_collection_finish(session: pytest.Session) -> None:
    """Find what would be left out, or made up, in silence; workloads may all be deselected by now."""
    run = session.config.stash[RUN]
    _leave_out_copies(session, run)
    run.python_tests.expect(session.items)
    _note_taken_out(session, run)
    run.gaps.note_skipped_as_benchmarks()
    if is_worker(session.config):
        run.gaps.find_in_worker(run.find_gaps)
    elif _is_concerned(run) or run.settings.strict or leaves_out_unchanged(session.config):
        _find_gaps(run, measures=any(isinstance(item, WorkloadItem) for item in session.items))


def _is_concerned(run: PytestRun) -> bool:
    """Return whether anything was collected that measures, or has a baseline."""
    return bool(run.selected.modules) or run.python_tests.are_known or run.gaps.concern


def _leave_out_copies(session: pytest.Session, run: PytestRun) -> None:
    """Leave out tests of workloads that are there once more, as some conftest.py makes them: what is decided
    stays decided, and pytest cannot run the same test twice in a row.
    """
    seen: set[pytest.Item] = set()
    kept: list[pytest.Item] = []
    copies: list[pytest.Item] = []
    for item in session.items:
        (copies if isinstance(item, WorkloadItem) and item in seen else kept).append(item)
        seen.add(item)
    if copies:
        session.items[:] = kept
        session.config.hook.pytest_deselected(items=copies)
        run.gaps.deselected.append(copies_text(len(copies)))


def _note_taken_out(session: pytest.Session, run: PytestRun) -> bool:
    try:
        return run.note_taken_out(session.items)
    except IogateError as error:  # of a suite that somebody hides
        raise pytest.UsageError(no_commands(str(error))) from None


def _find_gaps(run: PytestRun, *, measures: bool) -> None:
    try:
        run.find_gaps(measures=measures)
    except IogateError as error:
        if measures or run.settings.strict:
            raise pytest.UsageError(no_commands(str(error))) from None
    if run.gaps.found and run.settings.strict:
        raise pytest.UsageError(refusal_text(run.gaps.found))


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests as pytest's own loop does, but each workload as soon as it is decided."""
    config = session.config
    run = config.stash[RUN]
    if _note_taken_out(session, run):  # behind all others that are told what was collected
        run.python_tests.expect(session.items)
        if run.settings.strict and not is_worker(config):
            raise pytest.UsageError(refusal_text(run.gaps.found))
    items = [item for item in session.items if isinstance(item, WorkloadItem)]
    in_python = run.python_tests.items and not is_worker(config)
    failed = session.testsfailed and not config.option.continue_on_collection_errors
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
    if reporter and reporter.isatty and config.getoption("verbose", 0) <= 0:  # no table: it can be filled
        width = reporter._tw.fullwidth
        text = "\n".join(textwrap.fill(line, width, break_on_hyphens=False) for line in text.splitlines())
    if reporter and text:
        reporter.write_line(f"\n{text}\n")


def _run(session: pytest.Session, run: PytestRun) -> None:
    for item, following in run.turns.of(session.items):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if item.nodeid not in run.status.reported:
            run.changes += filter(None, [run.ahead.note_not_run(item, strict=run.settings.strict)])
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
        report.duration += item.config.stash[RUN].turns.measured_before(item)
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


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, None, None]:
    """Check what the fixtures of a test measure behind it, and note what was not measured by then."""
    run = item.config.stash[RUN]
    run.gate.let_go()  # of a set-up that failed
    with run.gate.checking_rest():
        yield
    if run.python_tests.passed == item.nodeid:
        run.gaps.note_unmeasured(run.subject.device, item)


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Tell passed workloads apart: `PASSED (improved)`."""
    verdict = dict(report.user_properties).get("verdict") if report.when == "call" else None
    if report.outcome != "passed" or verdict in (None, "pass"):
        return None
    return "passed", ".", f"PASSED ({verdict})"


def _note_lost(session: pytest.Session, run: PytestRun) -> None:
    """Note what was lost of the run, and fail a strict one."""
    try:
        failures = run.note_turned() + (run.note_not_run() if _came_to_its_end(session, run) else 0)
    except IogateError as error:  # of a suite that somebody hides, and that cannot be read any more
        run.changes.append(no_commands(f"ERROR: {error}"))
        failures = 1
    if failures:
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

        width = terminalreporter._tw.fullwidth if terminalreporter.isatty else None
        look = Look(width, terminalreporter.hasmarkup, everything=verbosity > 0, most=_PASSED)
        section, line = terminalreporter.section, terminalreporter.write_line
        TerminalSummary(section, line, look, quiet=verbosity < 0).write(results)
    concerned = _is_concerned(run) or results is not None or exitstatus in _NOTHING_RAN
    silent = run.silent if concerned and not run.settings.strict else []
    if run.gaps.refused_of_workers:
        terminalreporter.write_line(f"\nERROR: {refusal_text(run.gaps.found)}")
    gaps = [warnings_text(silent)] if silent else []
    for text in (*run.changes, *gaps, *run.gaps.deselected):
        terminalreporter.write_line("")
        terminalreporter.write_line(text)
