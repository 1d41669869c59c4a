"""Workloads as pytest-benchmark shows them: in its tables, histograms, JSON and comparisons.

The engine has measured them with its own clock. pytest-benchmark is given that clock as its timer, and one
round of `benchmark.pedantic` for each repetition; nothing is run a second time.

It knows seconds and nothing else. Wall times and latencies are seconds; of a rate it is the time of one
operation or of one MiB, so that its column OPS shows the rate. The verdict is iogate's alone.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import math
import os
import statistics
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from iogate.model import Environment, MetricVerdict, WorkloadResult

_WALL_TIME = "wall_time"
_MIB = 2.0**20
_ASKING = ("json", "save", "autosave", "compare", "histogram", "columns", "only", "verbose", "enable", "skip")
"""The options of pytest-benchmark that ask to see benchmarks, to keep them, or to leave them out."""


class EngineClock:
    """The time in seconds that engines have measured; it moves when a measured duration passes."""

    __name__ = "engine_clock"

    def __init__(self) -> None:
        self._now = 0.0

    def __call__(self) -> float:
        return self._now

    def passes(self, seconds: float) -> None:
        """Move on by a measured duration."""
        self._now += seconds


CLOCK = EngineClock()


@dataclass(frozen=True)
class Benchmark:
    """What is a row of pytest-benchmark: seconds of each repetition. `part` tells the rows of a workload
    apart (empty: it has one), `group` is the table that it belongs to (None: that of no group).
    """

    part: str
    group: str | None
    seconds: Sequence[float]
    extra: Mapping[str, Any]


def is_asked_for(config: pytest.Config) -> bool:
    """Return whether pytest-benchmark is to do anything with benchmarks: then all workloads are some."""
    return any(config.getoption(f"benchmark_{name}", None) for name in _ASKING)


def is_timed(gating: Sequence[str]) -> bool:
    """Return whether metrics that gate a workload by default make it one that is all about wall time."""
    return any(name.rpartition(".")[2] == _WALL_TIME for name in gating)


def report_benchmarks(result: WorkloadResult, benchmark: Any) -> None:
    """Give the repetitions of a workload to pytest-benchmark's fixture, whose timer is `CLOCK`."""
    found = list(benchmarks(result))
    if not found:
        benchmark.disabled = True  # the fixture complains of a test that does not use it
        benchmark.pedantic(CLOCK)
        return
    rows = [benchmark, *(copy.copy(benchmark) for _ in range(len(found) - 1))]
    for row, item in zip(rows, found, strict=True):
        row.extra_info, row.group = dict(item.extra), item.group
        if item.part:
            row.name, row.fullname = f"{row.name}[{item.part}]", f"{row.fullname}[{item.part}]"
        durations = itertools.cycle(item.seconds)
        row.pedantic(
            CLOCK.passes, setup=lambda durations=durations: ((next(durations),), {}), rounds=len(item.seconds)
        )


def benchmarks(result: WorkloadResult) -> Iterator[Benchmark]:
    """Yield the benchmarks of a workload: each point of a scaling curve, in a group named after the workload,
    or each metric that decides, in a group of what is timed.
    """
    points = wall_times([item.metrics for item in result.repetitions])
    for point, seconds in points.items():
        extra = {**_medians(result, point, points), "verdict": result.verdict.verdict}
        yield Benchmark(point, result.workload.name if point else None, seconds, extra)
    if points:
        return
    gating = [item for item in result.verdict.metrics if item.gating]
    for item in gating:
        scale = _seconds_of(item)
        if scale:
            quantity, seconds = scale
            part = item.metric.name if len(gating) > 1 else ""
            yield Benchmark(part, quantity, seconds, {**_facts(result, item), "timed": quantity})


def _seconds_of(item: MetricVerdict) -> tuple[str, list[float]] | None:
    """Return what is timed and its seconds in each repetition; None for what is no time nor a rate."""
    values = item.values
    if not values or not all(math.isfinite(value) and value > 0 for value in values):
        return None
    if item.metric.unit == "IOPS":
        return "time of one operation", [1 / value for value in values]
    if item.metric.unit == "B/s":
        return "time of 1 MiB", [_MIB / value for value in values]
    if item.metric.unit in ("ns", "s"):
        return "latency", [value * (1e-9 if item.metric.unit == "ns" else 1.0) for value in values]
    return None


def _facts(result: WorkloadResult, item: MetricVerdict) -> dict[str, Any]:
    """Return what else is known: all metrics, and what the gate says of this one."""
    verdict = result.verdict
    known = {
        "metric": item.metric.name,
        "unit": item.metric.unit,
        "baseline": item.baseline,
        "change": item.change,
        "interval": item.interval,
        "tolerance": item.tolerance,
    }
    findings = [f"{found.severity} {found.check}: {found.message}" for found in verdict.findings]
    return {
        **{metric.metric.name: metric.value for metric in verdict.metrics},
        **{key: value for key, value in known.items() if value is not None},
        "verdict": verdict.verdict,
        **({"findings": findings} if findings else {}),
    }


def wall_times(repetitions: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
    """Return the seconds of each repetition by the point of the curve (`threads_4`; empty if there is but
    one).
    """
    names = [name for name in (repetitions[-1] if repetitions else {}) if is_timed([name])]
    return {name.rpartition(".")[0]: [metrics[name] for metrics in repetitions] for name in names}


def _medians(result: WorkloadResult, point: str, others: Collection[str]) -> dict[str, float]:
    """Return the medians of all metrics but the wall time, those of the `others` left out."""
    beside = tuple(f"{other}." for other in others if other != point)
    return {
        name.removeprefix(f"{point}."): statistics.median(item.metrics[name] for item in result.repetitions)
        for name in result.repetitions[-1].metrics
        if not name.startswith(beside) and not is_timed([name])
    }


class MachineInfo:
    """Puts the device and its environment into pytest-benchmark's `machine_info`."""

    def __init__(self, device: str) -> None:
        self._device = device
        self.environment: Environment | None = None

    @pytest.hookimpl(optionalhook=True)
    def pytest_benchmark_update_machine_info(self, machine_info: dict[str, Any]) -> None:
        """Add what a session was measured with, once there is one."""
        if self.environment is not None:
            known = self.environment
            machine_info["iogate"] = {
                "device": self._device,
                "identity": dict(known.identity),
                "subject": dict(known.subject),
                "state": dict(known.state),
            }

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_benchmark_compare_machine_info(self, compared_benchmark: dict[str, Any]) -> None:
        """Leave our part out of a comparison that is made before there is a session: it would always
        differ.
        """
        compared_benchmark.get("machine_info", {}).pop("iogate", None)


def remove_empty_storage(storage: str) -> None:
    """Remove the folder that pytest-benchmark makes when it starts, if nothing was stored there.

    `storage` is its option of that name.
    """
    path = storage.removeprefix("file://")
    if path and "://" not in path:
        with contextlib.suppress(OSError):  # it is not empty, or not there
            os.rmdir(path)
