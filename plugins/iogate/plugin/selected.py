"""Which workloads a run measures, and which it leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iogate.declare.project import Project
    from iogate.plugin.items import SuiteModule, WorkloadItem
    from iogate.report.results import WorkloadRecord


class Selected:
    """Of the suites that pytest collected, its `modules`, the workloads that are to be measured: `items`, by
    id, without those that are `decided`, as a session that is gone on with has decided them: also what tests
    in Python measured.
    """

    def __init__(self, project: Project) -> None:
        self.modules: list[SuiteModule] = []
        self.items: dict[str, WorkloadItem] = {}
        self.decided: Mapping[str, WorkloadRecord] = {}
        self._project = project

    def has(self, suite: str, workload: str) -> bool:
        """Return whether there is such a workload; without a name, such a suite."""
        if not workload:
            return self._project.has(suite)
        loaded = [module.loaded for module in self.modules if module.suite == suite and module.loaded]
        return any(item.name == workload for each in loaded for item in each.workloads)
