"""What one pytest run leaves out, or makes up, in silence, as it comes to light; `coverage` has the words."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from iogate.declare.project import has_all_of, may_measure
from iogate.errors import IogateError
from iogate.model import Device, WorkloadResult
from iogate.plugin import coverage
from iogate.plugin.items import SuiteModule, is_suite
from iogate.plugin.options import value_of
from iogate.plugin.others import is_skipped, leaves_out_unchanged, skips_benchmarks
from iogate.plugin.python_tests import PythonTests
from iogate.units import no_commands, printable

if TYPE_CHECKING:
    from iogate.declare.project import Project
    from iogate.judge.appointment import BaselineJudges
    from iogate.measure.settings import Settings

_OUTPUT = "iogate_gaps"
"""What a process of xdist tells is told by this name."""
_LAST_FAILED = "lfplugin-collskip"
"""What pytest registers as soon as `--lf` collects a test that failed last, and passes over all others."""


class Gaps:
    """What a run has found to be left out: `found` are sentences of what nobody asked for, which a strict run
    refuses, `deselected` those of what somebody did.
    """

    def __init__(
        self, config: pytest.Config, settings: Settings, project: Project, python_tests: PythonTests
    ) -> None:
        self.found: list[str] = []
        self.deselected: list[str] = []
        self.left_out = False
        """Whether pytest-testmon may leave out what measures."""
        self._config = config
        self._settings = settings
        self._project = project
        self._python_tests = python_tests
        self._told_to_ignore = [*(config.getoption("ignore") or ())]  # before a conftest.py adds to them
        self._told_to_ignore_glob = [*(config.getoption("ignore_glob") or ())]
        self._taken_out = False
        self._of_workers = False
        self._ignored: set[Path] = set()
        self._hidden: set[Path] = set()
        self._told: set[Path] = set()

    @property
    def concern(self) -> bool:
        """Whether suites, or what measures, are left out, though nothing else may be known of any."""
        return self.left_out or self._taken_out or bool(self._told) or self._of_workers

    def find_in_worker(self, find: Callable[..., None]) -> None:
        """Look for all that is left out in a process of xdist, if the run is strict."""
        if self._settings.strict:
            with contextlib.suppress(IogateError):  # told where suites are collected
                find(measures=False)

    @property
    def refused_of_workers(self) -> bool:
        """Whether processes of xdist found what a strict run refuses; the run is at its end by then."""
        return self._of_workers and self._settings.strict

    def tell_of_worker(self) -> None:
        """Tell the process that began this one, of xdist, what is left out, as text that can be sent."""
        concerned = self.concern or self._settings.strict
        output = getattr(self._config, "workeroutput", {})
        output[_OUTPUT] = list(map(printable, self.found)) if concerned else []

    def note_of_worker(self, found: Sequence[str]) -> None:
        """Note what a process of xdist has told; each finds the same."""
        new = [text for text in found if text not in self.found]
        self.found += new
        self._of_workers = self._of_workers or bool(new)

    @property
    def implicit(self) -> list[str]:
        """What nobody has said, and is assumed; what both arms do now has no baseline of any device."""
        if self._paired:
            return []
        named = bool(value_of(self._config, "--device"))
        return list(coverage.implicit(named, self._settings.baselines, self._config.inipath))

    def find(
        self, device: Device, modules: Collection[SuiteModule], judges: BaselineJudges, *, measures: bool
    ) -> None:
        """Add what the collected suites would leave out in silence, or, if anything `measures`, make up.
        Raises IogateError.
        """
        suites = {module.suite: module.loaded for module in modules if module.loaded}
        patterns = self._config.getini("io_suites")
        existing = self._project.suites(patterns)
        existing |= {module.suite for module in modules}

        def exists(name: str) -> bool:
            return name in existing or self._project.suite(name) is not None or self._is_tested(name)

        declared = {name: {item.name for item in suite.workloads} for name, suite in suites.items()}
        judged_apart = {
            name: {item.name for item in suite.workloads if item.against is not None}
            for name, suite in suites.items()
        }
        folder, root, paired = self._settings.baselines / device.name, self._project.root, self._paired
        stored = {} if paired else judges.stored(declared)
        self.found += self.implicit if measures else ()
        self.found += coverage.leading_nowhere(self._project.leading_nowhere(patterns), self._project.root)
        self.found += coverage.missing_suites(device, exists)
        self.found += coverage.without_workload(folder, root, declared, stored)
        self.found += coverage.unread(folder, root, judged_apart, stored)
        self.found += coverage.without_test(folder, root, {} if paired else self._without_test)
        self.found += coverage.without_suite(folder, root, exists)
        self.found += coverage.misnamed(folder, root)
        self._hidden.update(_place(module.path) for module in modules)  # those that were not read
        self.found += [] if paired else self._without_collection(folder)
        if leaves_out_unchanged(self._config):
            stored_too = map(self._python_tests.stored, self._python_tests.modules)
            self.left_out = self.left_out or bool(suites) or any(stored_too)
            self.found += [coverage.UNCHANGED] if self.left_out else ()
        if measures and skips_benchmarks(self._config):
            self.found.append(coverage.NO_BENCHMARKS)

    def _is_tested(self, name: str) -> bool:
        """Return whether there is a module of that name whose tests may be those that are stored: any other
        may be called as a suite that is gone.
        """
        file = self._project.module(name)
        if file is None or file.resolve() in self._python_tests.seen:
            return file is not None
        names, stored = self._config.getini("python_files"), self._python_tests.stored(file)
        if any(fnmatch(str(file) if "/" in each else file.name, each) for each in names):
            return True
        if not stored:
            return may_measure(file)
        patterns = [*self._config.getini("python_functions"), *self._config.getini("python_classes")]
        tests = {re.split(r"[.\[]", workload)[0] for workload in stored}
        return any(test.startswith(each) or fnmatch(test, each) for test in tests for each in patterns) or (
            has_all_of(file, tests)
        )

    @property
    def _paired(self) -> bool:
        """Whether workloads are judged against another target, and no baseline is read."""
        return bool(self._settings.against)

    @property
    def _without_test(self) -> dict[str, list[str]]:
        """What has a baseline and no test in Python, by module, of what pytest was told to collect."""
        if self.in_parts:
            return {}
        found = self._python_tests.without_test(self._labels_named)
        return {self._project.name(path): names for path, names in found}

    def _labels_named(self, module: Path) -> list[str] | None:
        """Return the labels of the tests and classes of a module that pytest was told to collect; None if it
        was told to collect all of them, as a folder of theirs is named, too.
        """
        ways = {module.resolve(), *module.resolve().parents, *module.parents}
        labels = [label for place, label in self._arguments if place in ways]
        return None if "" in labels else labels

    def _without_collection(self, folder: Path) -> Iterator[str]:
        """Yield a sentence for each suite, or module of tests, that has baselines, lies where pytest was told
        to look, and was neither collected nor ignored as the command line has it, nor told of with its
        folder.
        """
        if not self._python_tests.are_all or self.in_parts:
            return
        for name in coverage.stored_suites(folder, self._project.root):
            suite = self._project.suite(name)
            file, kind = (suite, "suite") if suite else (self._project.module(name), "module")
            if file is None or file.resolve() in self._python_tests.seen:
                continue
            ways = (file, *file.parents)  # by which pytest comes there, whatever links lead elsewhere
            places = set(map(_place, ways))
            known = self._ignored | (self._told if kind == "suite" else set())
            ignored = not known.isdisjoint(places) or any(map(self._is_ignored, ways))
            named = places | {way.resolve() for way in ways}
            if not (ignored or self._named.isdisjoint(named)):
                hidden = not self._hidden.isdisjoint(places)
                yield coverage.without_collection(folder, self._project.root, name, kind, hidden=hidden)

    @property
    def in_parts(self) -> bool:
        """Whether pytest collects parts of modules, and which cannot be told: those that failed last, where
        any of them was found.
        """
        return bool(self._config.pluginmanager.hasplugin(_LAST_FAILED))

    @property
    def _named(self) -> set[Path]:
        """The files and folders that pytest was told to look at."""
        return {place for place, _ in self._arguments}

    @property
    def _arguments(self) -> Iterator[tuple[Path, str]]:
        """What pytest was told to collect: files and folders, each with the label of the class or the test
        within, or nothing.
        """
        for each in self._config.args:
            names, bracket, rest = each.partition("[")
            file, *inner = names.split("::")
            label = f"{'.'.join(inner)}{bracket}{rest}" if inner else ""
            yield self._path(file if inner else each).resolve(), label

    def _path(self, argument: str) -> Path:
        """Return the file or folder that an argument names, with `--pyargs` first as Python imports it."""
        spec = None
        if self._config.option.pyargs:
            with contextlib.suppress(ImportError, AttributeError, ValueError):
                spec = importlib.util.find_spec(argument)
        if spec and spec.origin:
            return Path(spec.origin).parent if spec.submodule_search_locations else Path(spec.origin)
        if spec and spec.submodule_search_locations and self._config.getini("consider_namespace_packages"):
            return Path(next(iter(spec.submodule_search_locations)))
        return self._config.invocation_params.dir / argument

    def note_taken_out(self, ids: Sequence[str]) -> None:
        """Note tests that measure, and that somebody took out of the run without a word."""
        if ids:
            self._taken_out = True
            self.found.append(coverage.taken_out_text(ids))

    def note_not_run(self, ids: Sequence[str]) -> str:
        """Note tests that would measure, and were not run, though nothing had ended the run; a strict run
        fails, and why is returned.
        """
        return self._note_at_the_end(coverage.never_run_text(ids) if ids else "")

    def note_turned(self, ids: Sequence[str]) -> str:
        """Note tests that failed by their verdicts, and somebody reported otherwise; the same."""
        return self._note_at_the_end(coverage.turned_text(ids) if ids else "")

    def _note_at_the_end(self, text: str) -> str:
        if text and self._settings.strict:
            return f"ERROR: {no_commands(text)}"
        if text:
            self._taken_out = True
            self.found.append(text)
        return ""

    def note_skipped_as_benchmarks(self) -> None:
        """Note tests in Python that measure, and that pytest-benchmark is told to skip."""
        if skipped := [item.nodeid for item in self._python_tests.items if is_skipped(item)]:
            self._taken_out = True
            self.found.append(coverage.no_benchmarks_text(skipped))

    def note_ignored(self, path: Path) -> None:
        """Note a file or folder that pytest does not collect: as the command line has it, for the name of a
        folder, for what makes one a virtual environment, as pytest-testmon leaves it out, or as somebody else
        does, of whom nobody hears.
        """
        config = self._config
        why = self._why_passed_over(path) if path.is_dir() else None
        if self._is_ignored(path) or why == "":
            self._ignored.add(_place(path))
        elif why is not None:
            if (
                not path.name.startswith(".")  # what has a baseline is missed, there and in the others
                and self._project.holds(path)
                and coverage.has_suites(path, self._project.root, config.getini("io_suites"))
            ):
                self.found.append(coverage.passed_over(path, self._project.root, why))
                self._told.add(_place(path))
        elif leaves_out_unchanged(config):
            self._note_left_out(path)
            self._ignored.add(_place(path))
        else:
            self._hidden.add(_place(path))

    def _why_passed_over(self, folder: Path) -> str | None:
        environments = self._config.getoption("collect_in_virtualenv", False)
        patterns = self._config.getini("norecursedirs")
        return coverage.why_passed_over(folder, patterns, environments=environments)

    def _is_ignored(self, path: Path) -> bool:
        """Return whether the command line says that a file or folder is to be passed over."""
        here = self._config.invocation_params.dir
        exactly = {Path(os.path.abspath(here / each)) for each in self._told_to_ignore}
        return path in exactly or any(
            fnmatch(str(path), str(here / each)) for each in self._told_to_ignore_glob
        )

    def _note_left_out(self, file: Path) -> None:
        """Note a file of workloads, or of tests in Python that measure, that pytest-testmon leaves out."""
        if file.is_file() and not self._named.isdisjoint({file, *file.parents}):
            suite = is_suite(file, self._config.getini("io_suites"))
            self.left_out |= suite or (file.suffix == ".py" and bool(self._python_tests.stored(file)))

    def note_unmeasured(self, device: Device, item: pytest.Item) -> None:
        """Note what a test in Python has a baseline of, and passed without; a strict run fails it."""
        names = [] if self._paired else self._python_tests.unmeasured(item)
        if not names:
            return
        folder, suite = self._settings.baselines / device.name, self._project.name(item.path)
        gap = coverage.unmeasured(folder, self._project.root, suite, names)
        if self._settings.strict:
            pytest.fail(printable(f"--io-strict: {gap}"), pytrace=False)
        self.found.append(gap)

    def silent(self, results: Collection[WorkloadResult]) -> list[str]:
        """Return what was left out, or made up, and nobody asked for."""
        asked = bool(self._settings.update or self._settings.missing == "record")
        count = sum(_is_new(result) for result in results)
        return [*self.found, *(coverage.recorded_text(count) if count and not asked else ())]


class WorkersGaps:
    """Hears what processes of xdist have found to be left out, of what they alone collect."""

    def __init__(self, gaps: Gaps) -> None:
        self._gaps = gaps

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._gaps.note_of_worker(getattr(node, "workeroutput", {}).get(_OUTPUT, ()))


def _is_new(result: WorkloadResult) -> bool:
    """Return whether a workload was recorded for want of a baseline, not added to one that learns."""
    verdict = result.verdict
    return verdict.verdict == "recorded" and all(item.baseline is None for item in verdict.metrics)


def _place(path: Path) -> Path:
    """Return where a file or folder lies, itself maybe a link, which leads elsewhere."""
    return path.parent.resolve() / path.name
