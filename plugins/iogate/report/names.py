"""Names of workloads that tell them apart: two suites may have workloads of one name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import Field, replace
from typing import Any, ClassVar, Protocol, TypeVar

from iogate.report.results import Results


class _OfWorkload(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def suite(self) -> str: ...

    @property
    def workload(self) -> str: ...


_Shown = TypeVar("_Shown", bound=_OfWorkload)


def names_told_apart(results: Results) -> Results:
    """Return a session as it is shown: see `told_apart`."""
    return replace(results, workloads=tuple(told_apart(results.workloads)))


def told_apart(items: Sequence[_Shown]) -> list[_Shown]:
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
