"""Fixtures: the measurement of a workload, its baseline, and the gate; also for tests written in Python.

Measuring happens in a fixture, so that a measurement that cannot be trusted is an ERROR and a regression a
FAILED test.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from iogate.units import printable

if TYPE_CHECKING:
    from iogate.model import Baseline, Record
    from iogate.run import Run

RUN: pytest.StashKey[Run] = pytest.StashKey()


def check_workload(measurement: Record, gate: Gate) -> None:
    """What every workload's test does."""
    gate.check(measurement)


class Gate:
    """Turns the verdict on a measurement into the outcome of a test."""

    def __init__(self, inconclusive: str, missing: str) -> None:
        self._skips = {"inconclusive": inconclusive == "skip", "no_baseline": missing == "skip"}

    def check(self, measurement: Record) -> None:
        """Pass, or fail with the metric, the figures, the bound and the line of the suite."""
        verdict = measurement.verdict
        if verdict.passed:
            return
        message = failure_text(measurement)
        if self._skips.get(verdict.verdict):
            pytest.skip(message)
        pytest.fail(message, pytrace=False)


def failure_text(record: Record) -> str:
    """Why a workload fails, for people: verdict and figures, what else was noticed, where it is declared."""
    verdict = record.verdict
    first, *rest = verdict.reason.splitlines()
    count = f" ({verdict.repetitions} repetitions)" if verdict.repetitions else ""
    lines = [f"{verdict.verdict}: {first}{count}", *(f"  {line}" for line in rest)]
    lines += [f"  {item.severity}: {item.message}" for item in verdict.findings if item.severity != "note"]
    lines += [f"  changed since the baseline: {item}" for item in record.differences]
    if record.repetitions:
        lines.append(f"  raw output: {_near(record.repetitions[-1].folder)}")
    lines.append(f"{record.workload.position.file}:{record.workload.position.line}: {record.workload.name}")
    return printable("\n".join(lines))


def _near(path: str) -> str:
    """A path as short as it can be from where the user is."""
    return os.path.relpath(path) if Path(path).is_relative_to(Path.cwd()) else path


def trusted(record: Record) -> Record:
    """The same record. Fails the set-up of the test if its measurement cannot be trusted."""
    if record.failure is not None:
        where = f"{record.workload.position.file}:{record.workload.position.line}: {record.workload.name}"
        raw = f"\n  raw output: {_near(record.repetitions[-1].folder)}" if record.repetitions else ""
        pytest.fail(printable(f"{record.failure}{raw}\n{where}"), pytrace=False)
    return record


@pytest.fixture
def measurement(request: pytest.FixtureRequest) -> Record:
    """The measurement of the workload that this test is, judged by the gate."""
    return trusted(request.config.stash[RUN].record_of(request.node))


@pytest.fixture
def baseline(request: pytest.FixtureRequest) -> Baseline | None:
    """What is known of the workload that this test is, or None."""
    return request.config.stash[RUN].baseline_of(request.node)


@pytest.fixture
def gate(request: pytest.FixtureRequest) -> Gate:
    """`gate.check(measurement)` passes or fails the test."""
    return request.config.stash[RUN].gate


@pytest.fixture
def measure(request: pytest.FixtureRequest) -> Callable[..., Record]:
    """`measure(rw="randread", bs="4k", ...)` measures a workload declared in a test written in Python.

    Keys are those of a workload in a suite; `name` tells several in one test apart. The baseline is kept in
    `<device>/<module>.yaml` under the test's name.
    """

    def measured(name: str = "", **declaration: Any) -> Record:
        return trusted(request.config.stash[RUN].measure(request.node, name, declaration))

    return measured
