"""What the baselines of a device, of all suites, tell about its noise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from iogate import engines
from iogate.errors import IogateError, Position
from iogate.model import Baseline, Workload, metric

if TYPE_CHECKING:
    from iogate.judge.gate import Borrowed

Values = tuple[tuple[float, ...], ...]


def lend(baselines: Mapping[str, Mapping[str, Baseline]]) -> Borrowed:
    """Return what the baselines, by suite and workload, have in common.

    One metric speaks for each kind of I/O: those that its engine gates by default, so that it does not
    depend on which workloads are chosen for a run. Values of which less is better count as rates, so that
    workloads that slow down together are seen to.
    """
    from iogate.judge.gate import borrow

    return borrow(
        values
        for suite, entries in baselines.items()
        for baseline in entries.values()
        for values in _values(suite, baseline)
    )


def lend_within(suite: str, baselines: Mapping[str, Mapping[str, Baseline]]) -> Borrowed | None:
    """Return what the baselines of a suite have in common by themselves; None if it is the only one."""
    return lend({suite: baselines.get(suite, {})}) if baselines.keys() - {suite} else None


def borrows(workload: Workload, name: str) -> bool:
    """Return whether a metric of a workload may differ as those do that are lent. A rate that is limited
    does not: what lends of such a workload is its latency, which tells nothing of how steady the limit is.
    """
    lending = [metric(one).direction for one in _lending(workload)]
    return not lending or metric(name).direction in ("lower", *lending)


def _values(suite: str, baseline: Baseline) -> Iterator[Values]:
    for name in () if baseline.published else _gating(suite, baseline):
        values = baseline.metrics.get(name)
        if not isinstance(values, tuple):
            continue
        lower = metric(name).direction == "lower"
        yield tuple(tuple(1 / value if lower else value for value in row) for row in values)


def _gating(suite: str, baseline: Baseline) -> tuple[str, ...]:
    options = dict(baseline.definition)
    engine = str(options.pop("engine", ""))
    return _lending(Workload(baseline.workload, suite, engine, options, Position(suite)))


def _lending(workload: Workload) -> tuple[str, ...]:
    """Return the metrics that speak for a workload; none for one of an engine that is not here, or of other
    versions' options, which says nothing.
    """
    try:
        return engines.load(workload.engine).gating(workload)
    except (IogateError, KeyError, TypeError, ValueError):
        return ()
