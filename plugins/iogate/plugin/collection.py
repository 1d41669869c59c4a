"""The hooks of collection: which suites there are, and what would be left out, or made up, in silence."""

from __future__ import annotations

from collections.abc import Collection, Generator
from pathlib import Path

import pytest

from iogate.errors import IogateError
from iogate.plugin.coverage import (
    copies_text,
    deselected_text,
    has_suites,
    is_plain,
    looks_like_suite,
    not_plain_text,
    refusal_text,
    shown,
)
from iogate.plugin.items import LIE, SuiteModule, WorkloadItem, is_suite, is_worker
from iogate.plugin.others import MeasuringOrder, leaves_out_unchanged
from iogate.plugin.parallel import started_by
from iogate.plugin.run import RUN, PytestRun
from iogate.units import no_commands


def pytest_sessionstart(session: pytest.Session) -> None:
    """Find what files alone tell to be left out in silence, where it is processes of xdist that collect."""
    run = session.config.stash[RUN]
    order = MeasuringOrder(session.config, run.python_tests.measures)
    session.config.pluginmanager.register(order, "iogate.order")
    session.config.pluginmanager.register(run.taken_out, "iogate.taken_out")
    if run.settings.strict and started_by(session.config):
        find_gaps(run, measures=False)


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
        applies = not _not_applicable(config, [(suite, file_path)])
    except IogateError as error:
        raise parent.CollectError(no_commands(str(error))) from None
    module: SuiteModule = SuiteModule.from_parent(
        parent,
        path=file_path,
        overrides=overrides,
        applies=applies,
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
    suites = _not_applicable(config, {(item.workload.suite, item.path) for item in workloads})
    left_out = [item for item in workloads if (item.workload.suite, item.path) in suites]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        ids = {id(item) for item in left_out}
        items[:] = [item for item in items if id(item) not in ids]
        run = config.stash[RUN]
        found = [item.workload for item in left_out]
        run.gaps.deselected.append(deselected_text(run.subject.device, found, run.settings.root))


def _not_applicable(
    config: pytest.Config, suites: Collection[tuple[str, Path]]
) -> Collection[tuple[str, Path]]:
    """Return which suites do not apply to the device, and were not asked for by the names of their files."""
    applicable = config.stash[RUN].subject.device.suites if suites else ()
    if not applicable:
        return ()
    here = config.invocation_params.dir
    named = {(here / argument.split("::")[0]).resolve() for argument in config.args}
    return {each for each in suites if each[0] not in applicable and each[1].resolve() not in named}


@pytest.hookimpl(tryfirst=True)  # what is left out is counted by pytest
def pytest_collection_finish(session: pytest.Session) -> None:
    """Find what would be left out, or made up, in silence; workloads may all be deselected by now."""
    run = session.config.stash[RUN]
    _leave_out_copies(session, run)
    run.python_tests.expect(session.items)
    note_taken_out(session, run)
    run.gaps.note_skipped_as_benchmarks()
    if is_worker(session.config):
        run.gaps.find_in_worker(run.find_gaps)
    elif is_concerned(run) or run.settings.strict or leaves_out_unchanged(session.config):
        find_gaps(run, measures=any(isinstance(item, WorkloadItem) for item in session.items))


def is_concerned(run: PytestRun) -> bool:
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


def note_taken_out(session: pytest.Session, run: PytestRun) -> bool:
    """Note what was taken out of the run by now, and return whether anything was. Raises UsageError for a
    suite that was not read, and cannot be.
    """
    try:
        return run.note_taken_out(session.items)
    except IogateError as error:  # of a suite that somebody hides
        raise pytest.UsageError(no_commands(str(error))) from None


def find_gaps(run: PytestRun, *, measures: bool) -> None:
    """Find what would be left out in silence, or, if anything `measures`, made up. Raises UsageError if a
    strict run has any of it.
    """
    try:
        run.find_gaps(measures=measures)
    except IogateError as error:
        if measures or run.settings.strict:
            raise pytest.UsageError(no_commands(str(error))) from None
    if run.gaps.found and run.settings.strict:
        raise pytest.UsageError(refusal_text(run.gaps.found))
