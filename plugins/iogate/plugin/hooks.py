"""The pytest plugin: options, collection, the loop that measures, and the summary."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from iogate.errors import IogateError
from iogate.plugin.items import SuiteModule, WorkloadItem, is_suite
from iogate.plugin.options import add_options, path_of, settings_of, value_of
from iogate.plugin.run import RUN, PytestRun

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    run = PytestRun(config, settings_of(config), path_of(config, "--io-json"))
    config.stash[RUN] = run
    if value_of(config, "--device"):
        try:
            _ = run.device
        except IogateError as error:
            raise pytest.UsageError(str(error)) from None
    _refuse_parallel(config)


def _refuse_parallel(config: pytest.Config) -> None:
    """Parallel benchmarks on one target lie. Other tests of the same project may run in parallel."""
    if not getattr(config.option, "numprocesses", None) or hasattr(config, "workerinput"):
        return
    patterns = config.getini("io_suites")
    for argument in config.args:
        path = config.invocation_params.dir / argument.split("::")[0]
        files = path.rglob("*.yaml") if path.is_dir() else [path]
        if any(is_suite(file.resolve(), patterns) for file in files):
            raise pytest.UsageError(
                f"-n cannot be used with suites ({argument}): benchmarks that run in parallel on one target "
                "lie. Run the suites without -n."
            )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    config = parent.config
    if not is_suite(file_path, config.getini("io_suites")):
        return None
    run = config.stash[RUN]
    try:
        overrides = run.overrides(file_path.stem)
    except IogateError as error:
        raise parent.CollectError(str(error)) from None
    module: SuiteModule = SuiteModule.from_parent(
        parent,
        path=file_path,
        overrides=overrides,
        cli_overrides=run.cli_overrides,
        allow_exec=run.settings.allow_exec,
        shown=_display_path(file_path, config),
    )
    return module


def _display_path(path: Path, config: pytest.Config) -> str:
    """Return what messages call a file: its path below the root."""
    return path.relative_to(config.rootpath).as_posix() if path.is_relative_to(config.rootpath) else str(path)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the suites that do not apply to the device, unless they were asked for by name."""
    workloads = [item for item in items if isinstance(item, WorkloadItem)]
    if not workloads or not config.stash[RUN].device.suites:
        return
    applicable = config.stash[RUN].device.suites
    named = {(config.invocation_params.dir / argument.split("::")[0]).resolve() for argument in config.args}
    left_out = {
        id(item)
        for item in workloads
        if item.workload.suite not in applicable and item.path.resolve() not in named
    }
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if id(item) in left_out])
        items[:] = [item for item in items if id(item) not in left_out]


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests as pytest's own loop does, but each workload as soon as it is decided."""
    config = session.config
    items = [item for item in session.items if isinstance(item, WorkloadItem)]
    failed = session.testsfailed and not config.option.continue_on_collection_errors
    if not items or failed or config.option.collectonly:
        return None
    run = config.stash[RUN]
    try:
        run.enroll([item for item in items if not any(item.iter_markers("skip"))])
        if config.option.io_plan:
            reporter: TerminalReporter = config.pluginmanager.getplugin("terminalreporter")
            reporter.write_line("\n" + run.plan())
        else:
            _show_expectations(config, run)
            _run(session, run)
    except IogateError as error:
        raise pytest.UsageError(str(error)) from None
    return True


def _show_expectations(config: pytest.Config, run: PytestRun) -> None:
    """Tell before the run what each verdict will rest on."""
    text = run.expectations() if config.option.verbose >= 0 else ""
    if text:
        reporter: TerminalReporter = config.pluginmanager.getplugin("terminalreporter")
        reporter.write_line(f"\n{text}\n")


def _run(session: pytest.Session, run: PytestRun) -> None:
    for item, following in run.order(session.items):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Tell passed workloads apart: `PASSED (improved)`."""
    verdict = dict(report.user_properties).get("verdict") if report.when == "call" else None
    if report.outcome != "passed" or verdict in (None, "pass"):
        return None
    return "passed", ".", f"PASSED ({verdict})"


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, None, None]:
    """Clean the target and keep what was found out, before the reports of others are made."""
    run = session.config.stash.get(RUN, None)
    if run:
        try:
            run.finish()
        except IogateError as error:
            run.changes.append(f"ERROR: {error}")
            if session.exitstatus == pytest.ExitCode.OK:  # a status that says more stays
                session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
    return (yield)


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    run = config.stash.get(RUN, None)
    results = run.results if run else None
    if run is None or results is None:
        return
    from iogate.report.terminal import TerminalSummary

    TerminalSummary(terminalreporter.section, terminalreporter.write_line).write(results)
    for change in run.changes:
        terminalreporter.write_line("")
        terminalreporter.write_line(change)
