"""Suites as pytest modules, workloads as pytest tests.

A workload is a `pytest.Function` made of one generic check function, so that fixtures, `-k`, `-m`, `--lf`,
`-x`, JUnit and other plugins treat it as any test; its place is the line of the YAML file.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from iogate.errors import InputError, InputErrors, IogateError
from iogate.plugin.benchmark import CLOCK, is_asked_for, is_timed, report_benchmarks
from iogate.plugin.outcome import Gate
from iogate.units import no_commands, printable

if TYPE_CHECKING:
    from _pytest._code.code import ExceptionInfo, TerminalRepr

    from iogate.declare.overrides import Overrides
    from iogate.declare.suite import Suite
    from iogate.model import Workload, WorkloadResult


LIE = "benchmarks that run in parallel on one target lie"


def is_worker(config: pytest.Config) -> bool:
    """Return whether this is a process of xdist's: others may run tests beside it, and what is found out here
    at the end is told to nobody.
    """
    return hasattr(config, "workerinput")


def is_setup_only(config: pytest.Config) -> bool:
    """Return whether tests are set up and not called: what is measured then would be held against nothing."""
    return bool(config.getoption("setuponly", False) or config.getoption("setupplan", False))


def is_suite(path: Path, patterns: list[str]) -> bool:
    """Return True if a path matches one of the `io_suites` patterns, wherever the folder that they begin with
    lies.
    """
    return any(fnmatch(path.as_posix(), "*/" + pattern.replace("**/", "*")) for pattern in patterns)


def refuse_shared_ids(items: Sequence[WorkloadItem], root: Path) -> None:
    """Raise InputError if pytest calls two workloads alike, as it may where its root is not above them: one
    would pass for the other.
    """
    known: dict[str, Workload] = {}
    for item in items:
        other = known.setdefault(item.nodeid, item.workload)
        if other != item.workload:
            raise InputError(
                f"{item.workload.suite}: {item.workload.name} and {other.suite}: {other.name} are both "
                f"{printable(item.nodeid)} to pytest, whose root {printable(str(root))} does not hold them",
                remedy="say --rootdir=DIR, a folder above the suites, or run them one by one",
            )


def will_run(item: pytest.Item) -> bool:
    """Return False if the marks of a test end it before its set-up: skip, skipif, an xfail not to be run."""
    skipping = item.config.pluginmanager.getplugin("skipping")
    try:
        if skipping:
            skipping.pytest_runtest_setup(item)
    except (pytest.skip.Exception, pytest.xfail.Exception, pytest.fail.Exception, TypeError):
        return False
    return True


def check_workload(measurement: WorkloadResult, gate: Gate) -> None:
    """Check a workload: what every workload's test does."""
    gate.check(measurement)


def check_benchmark(measurement: WorkloadResult, gate: Gate, benchmark: Any) -> None:
    """Check a workload that pytest-benchmark is shown as well."""
    report_benchmarks(measurement, benchmark)
    gate.check(measurement)


def _ask_engines(workloads: Sequence[Workload]) -> None:
    """Raise InputErrors for what the engines' own programs would refuse of these workloads."""
    from iogate import engines

    mistakes = []
    for name in dict.fromkeys(workload.engine for workload in workloads):
        mistakes += engines.load(name).check([item for item in workloads if item.engine == name])
    if mistakes:
        raise InputErrors(mistakes)


class WorkloadItem(pytest.Function):
    """A workload as a pytest test."""

    workload: Workload

    @classmethod
    def of(cls, parent: SuiteModule, workload: Workload) -> WorkloadItem:
        """Return the test of a workload, marked with its markers. It is a benchmark of pytest-benchmark's if
        that is asked for some, or if it is all about wall time.
        """
        from iogate import engines

        clocked = parent.config.pluginmanager.hasplugin("benchmark") and (
            is_asked_for(parent.config) or is_timed(engines.load(workload.engine).gating(workload))
        )
        check = check_benchmark if clocked else check_workload
        known = parent.fixtures.get(check)
        if known:  # each has a list of its own: a hook may add to that of one
            known = replace(known, names_closure=[*known.names_closure])
        item: WorkloadItem = cls.from_parent(parent, name=workload.name, callobj=check, fixtureinfo=known)
        parent.fixtures.setdefault(check, replace(item._fixtureinfo, names_closure=[*item.fixturenames]))
        item.workload = workload
        if clocked:
            item.add_marker(pytest.mark.benchmark(timer=CLOCK))
        for name in workload.markers:
            item.add_marker(name)
        return item

    @property
    def id(self) -> Any:
        """What pytest knows a test by, from 9.2 on, as it reads it from its cache: what stands in brackets is
        apart. Else `--lf` would not know the points of a matrix again, and leave out those that failed.
        """
        known = super().id
        return type(known).parse(str(known))

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        return self.path, self.workload.position.line - 1, self.name


class SuiteModule(pytest.Module):
    """A suite file. `overrides`, `cli_overrides` and `allow_exec` are those of `load_suite`; one that
    `applies` is for the device, or was asked for by its name.
    """

    def __init__(
        self,
        *,
        overrides: Overrides,
        cli_overrides: Mapping[str, Any],
        allow_exec: bool,
        ask_engines: bool,
        applies: bool,
        suite: str,
        shown: str,
        **rest: Any,
    ) -> None:
        super().__init__(**rest)
        self.overrides = overrides
        self.cli_overrides = cli_overrides
        self.allow_exec = allow_exec
        self.ask_engines = ask_engines
        self.applies = applies
        self.suite = suite
        self.shown = shown
        self.loaded: Suite | None = None
        self.fixtures: dict[Callable[..., None], Any] = {}
        """What pytest found out of the fixtures of a check: the same for all workloads that have it."""

    def _getobj(self) -> ModuleType:
        """Return an empty module: there is no Python behind a suite, and so neither fixtures nor marks; but
        fixtures of others ask for its file.
        """
        module = ModuleType(self.path.stem)
        module.__file__ = str(self.path)
        return module

    def collect(self) -> Iterator[WorkloadItem]:
        """Yield the workloads of the file, checked as far as can be without I/O. Raises InputErrors.

        With `ask_engines` the engines' own programs are asked: not for a plan, which starts no process, nor
        for a device elsewhere, where they are.
        """
        suite = self.load()
        self.loaded = suite
        for marker in dict.fromkeys(marker for item in suite.workloads for marker in item.markers):
            self.config.addinivalue_line("markers", f"{marker}: workloads so marked in {self.shown}")
        for workload in suite.workloads:
            yield WorkloadItem.of(self, workload)

    def load(self) -> Suite:
        """Return what the file declares. Raises InputErrors.

        A suite that does not apply to the device, and is only counted, may have an engine that knows none of
        the options that the profile sets for all, or be incomplete without them.
        """
        from iogate.declare.overrides import Overrides

        try:
            return self._load(self.overrides)
        except IogateError:
            if self.applies:
                raise
            with contextlib.suppress(IogateError):
                return self._load(Overrides())
            raise

    def _load(self, overrides: Overrides) -> Suite:
        from iogate.declare.project import find_project, hide_what_lies_elsewhere
        from iogate.declare.suite import load_suite
        from iogate.formats.reading import held_input

        root = find_project(self.path, self.config.rootpath).root
        with (
            held_input(self.path, self.shown) as file,
            hide_what_lies_elsewhere(root, self.path, file, self.shown),
        ):
            suite = load_suite(
                self.path,
                suite=self.suite,
                name=self.shown,
                file=file,
                overrides=overrides,
                cli_overrides=self.cli_overrides,
                allow_exec=self.allow_exec,
            )
            if self.ask_engines:
                _ask_engines(suite.workloads)
            return suite

    def repr_failure(self, excinfo: ExceptionInfo[BaseException], style: Any = None) -> str | TerminalRepr:
        """Return mistakes in a suite in words: no traceback, no command to a job's runner."""
        if isinstance(excinfo.value, IogateError):
            return no_commands(str(excinfo.value))
        return super().repr_failure(excinfo)
