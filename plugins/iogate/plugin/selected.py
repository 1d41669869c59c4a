"""Which workloads a run measures, and which it leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iogate.declare.project import Project
    from iogate.judge.baseline import Exists
    from iogate.model import Workload
    from iogate.plugin.items import SuiteModule, WorkloadItem
    from iogate.plugin.python_tests import PythonTests
    from iogate.report.results import WorkloadRecord


class Selected:
    """Of the suites that pytest collected, its `modules`, the workloads that are to be measured: `items`, by
    id, without those that are `decided`, as a session that is gone on with has decided them: also what tests
    in Python measured. `has_no_test` tells which of those have no test any more.
    """

    def __init__(self, project: Project, python_tests: PythonTests, has_no_test: Exists) -> None:
        self.modules: list[SuiteModule] = []
        self.items: dict[str, WorkloadItem] = {}
        self.decided: Mapping[str, WorkloadRecord] = {}
        self._project = project
        self._python_tests = python_tests
        self._has_no_test = has_no_test

    def has(self, suite: str, workload: str) -> bool:
        """Return whether there is such a workload; without a name, such a suite."""
        if not workload:
            return self._project.has(suite)
        loaded = [module.loaded for module in self.modules if module.suite == suite and module.loaded]
        return any(item.name == workload for each in loaded for item in each.workloads)

    def leaves_out(self, suite: str, workload: str) -> bool:
        """Return whether a workload of a suite is not to be measured, though it is there. A test in Python
        that is to run is taken to measure what it has a baseline of.
        """
        if module := self._project.module(suite):
            if any((one.suite, one.workload) == (suite, workload) for one in self.decided.values()):
                return True
            measured = self._python_tests.are_to_measure(module, suite, workload)
            return not (measured or self._has_no_test(suite, workload))
        if not any(module.suite == suite and module.loaded for module in self.modules):
            return self._project.has(suite)
        return self.has(suite, workload) and (suite, workload) not in self._measured

    def beside(self, workload: Workload) -> Iterable[tuple[str, str]]:
        """Return what is measured before a workload, or by turns with it: its suite, and those that come
        before.
        """
        measured = self._measured
        suites = list(dict.fromkeys(suite for suite, _ in measured))
        earlier = suites[: suites.index(workload.suite) + 1] if workload.suite in suites else suites
        return [one for one in measured if one[0] in earlier]

    @property
    def _measured(self) -> dict[tuple[str, str], None]:
        """The workloads that are to be measured, in their order: suite and name."""
        left = (item.workload for id, item in self.items.items() if id not in self.decided)
        return dict.fromkeys((workload.suite, workload.name) for workload in left)
