"""Names of workloads that tell them apart: two suites may have workloads of one name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from iogate.report.results import Results, WorkloadRecord

if TYPE_CHECKING:
    from iogate.report.history.values import MetricHistory

_Named = TypeVar("_Named", WorkloadRecord, "MetricHistory")


def names_told_apart(results: Results) -> Results:
    """Return a session as it is shown: see `told_apart`."""
    return replace(results, workloads=tuple(told_apart(results.workloads)))


def told_apart(items: Sequence[_Named]) -> list[_Named]:
    """Return what is shown of workloads: where their name is one of another suite's, too, they are called
    `suite: name`, as the progress calls them.
    """
    suites: dict[str, set[str]] = {}
    for item in items:
        suites.setdefault(item.workload, set()).add(item.suite)
    return [
        replace(item, workload=f"{item.suite}: {item.workload}") if len(suites[item.workload]) > 1 else item
        for item in items
    ]
