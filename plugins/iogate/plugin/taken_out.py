"""The account of what measures: what was collected, less what was told, is run, or is lost without a word."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

from iogate.plugin.items import SuiteModule, WorkloadItem
from iogate.plugin.others import leaves_out_unchanged, shares

if TYPE_CHECKING:
    from iogate.model import Workload
    from iogate.plugin.python_tests import PythonTests

_Known: TypeAlias = "tuple[Path, str]"
"""What a test is known by, whoever copies it: its file and id, or a workload's name, whoever renames it."""


class TakenOut:
    """Knows what the collected suites, `modules`, declare of what pytest was told to collect, which tests it
    collected that measure, also in Python, and what was told to be left out. Of what is left out and was not
    told, nobody hears. `in_parts` tells whether pytest chooses itself what it collects of a suite, so that
    only that is known.
    """

    def __init__(
        self,
        config: pytest.Config,
        modules: Sequence[SuiteModule],
        python_tests: PythonTests,
        in_parts: Callable[[], bool],
    ) -> None:
        self._config = config
        self._modules = modules
        self._python_tests = python_tests
        self._in_parts = in_parts
        named = config.args_source is pytest.Config.ArgsSource.ARGS
        self._named = [*config.args] if named else []  # before a conftest.py names others
        self.collected: list[pytest.Item] = []
        """All tests that were collected, also those that were left out later."""
        self._not_collected: set[str] = set()
        self._told: set[_Known] = set()
        self.begun = False
        """Whether pytest came to run tests, as it does not where it only shows fixtures."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Generator[None, bool | None, bool | None]:
        """Note that tests are to be run, whoever runs them."""
        self.begun = True
        return (yield)

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Note what is collected, before anybody takes something out."""
        self.collected.append(item)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note what failed, or was skipped, as a whole: that is told."""
        if not report.passed:
            self._not_collected.add(report.nodeid)

    def pytest_deselected(self, items: Sequence[object]) -> None:
        """Note what is left out as pytest has it, which counts it: pytest-testmon hands over no more."""
        self._told.update(_known(item) for item in items if isinstance(item, pytest.Item))

    def lost(self, left: Iterable[pytest.Item]) -> list[str]:
        """Return the ids of what was lost since this was last asked: what measures, is none of the tests that
        are `left`, and was told by nobody. Raises IogateError for a suite that was not read, and cannot be.
        """
        told = shares(self._config) or leaves_out_unchanged(self._config)  # by those plugins themselves
        if told or not self._python_tests.are_all:  # or what came amid a mistake
            return []
        accounted = self._told.union(map(_known, left))
        collected = {_known(item): item for item in self.collected}
        found = {
            known: item.nodeid
            for known, item in collected.items()
            if known not in accounted
            and (isinstance(item, WorkloadItem) or self._python_tests.measures(item))
        }
        accounted.update(collected)
        for module, workload in self._declared():
            known = (module.path, workload.name)
            if known not in accounted:
                found[known] = f"{module.nodeid}::{workload.name}"
        self._told.update(found)
        return list(found.values())

    def _declared(self) -> Iterator[tuple[SuiteModule, Workload]]:
        """Yield what the suites declare of what pytest was told to collect, also of one that was not read, as
        somebody keeps it from that.
        """
        read = {module.path for module in self._modules if module.loaded}
        for module in self._modules if not self._in_parts() else ():
            ways = (module.path, *module.path.parents)
            whole = any("" in self._asked.get(way, ()) for way in ways)
            names = self._asked.get(module.path, set())
            told = module.nodeid in self._not_collected
            if told or not (whole or names) or (module.path in read and not module.loaded):
                continue
            for workload in (module.loaded or module.load()).workloads:
                if whole or not names.isdisjoint({workload.name, workload.name.partition("[")[0]}):
                    yield module, workload

    @cached_property
    def _asked(self) -> dict[Path, set[str]]:
        """Which tests the command line names, by their file; of what is named as a whole, none: ''. No link
        is followed, as pytest follows none: it makes a suite of each file beside one that is named.
        """
        found: dict[Path, set[str]] = {}
        for argument in (*self._named, *self._config.args):
            place, _, name = argument.partition("::")
            file = Path(os.path.abspath(self._config.invocation_params.dir / place))
            found.setdefault(file, set()).add(name)
        return found


def _known(item: pytest.Item) -> _Known:
    return item.path, item.workload.name if isinstance(item, WorkloadItem) else item.nodeid
