"""Wall times as pytest-benchmark shows them: in its tables, histograms, JSON and comparisons.

The engine has measured them with its own clock. pytest-benchmark is given that clock as its timer, and one
round of `benchmark.pedantic` for each repetition; nothing is run a second time.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import os
import statistics
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from iogate.model import WorkloadResult

_WALL_TIME = "wall_time"


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


def is_timed(gating: Sequence[str]) -> bool:
    """Return whether metrics that gate a workload by default make it one that is all about wall time."""
    return any(name.rpartition(".")[2] == _WALL_TIME for name in gating)


def report_wall_times(result: WorkloadResult, benchmark: Any) -> None:
    """Give the wall times of all repetitions to pytest-benchmark's fixture, whose timer is `CLOCK`.

    Each point of a scaling curve is a row of its own, in a group named after the workload. The medians of
    the other metrics go along as `extra_info`.
    """
    points = wall_times([item.metrics for item in result.repetitions])
    if not points:
        benchmark.disabled = True  # the fixture complains of a test that does not use it
        benchmark.pedantic(CLOCK)
        return
    rows = [benchmark, *(copy.copy(benchmark) for _ in range(len(points) - 1))]
    for row, (point, seconds) in zip(rows, points.items(), strict=True):
        row.extra_info = {**_medians(result, point, points), "verdict": result.verdict.verdict}
        if point:
            row.group = result.workload.name
            row.name, row.fullname = f"{row.name}[{point}]", f"{row.fullname}[{point}]"
        durations = itertools.cycle(seconds)
        row.pedantic(
            CLOCK.passes, setup=lambda durations=durations: ((next(durations),), {}), rounds=len(seconds)
        )


def remove_empty_storage(storage: str) -> None:
    """Remove the folder that pytest-benchmark makes when it starts, if nothing was stored there.

    `storage` is its option of that name.
    """
    path = storage.removeprefix("file://")
    if path and "://" not in path:
        with contextlib.suppress(OSError):  # it is not empty, or not there
            os.rmdir(path)


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
