"""Fixtures: the measurement of a workload, its baseline, and the gate; also for tests written in Python.

Measuring happens in a fixture, so that a measurement that cannot be trusted is an ERROR and a regression a
FAILED test.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from iogate.plugin.items import LIE, is_one_of_several
from iogate.plugin.outcome import Gate, require_trusted
from iogate.plugin.run import RUN

if TYPE_CHECKING:
    from iogate.model import Baseline, WorkloadResult


@pytest.fixture
def measurement(request: pytest.FixtureRequest) -> WorkloadResult:
    """Return the measurement of the workload that this test is, judged by the gate."""
    return require_trusted(request.config.stash[RUN].record_of(request.node))


@pytest.fixture
def baseline(request: pytest.FixtureRequest) -> Baseline | None:
    """Return what is known of the workload that this test is, or None."""
    return request.config.stash[RUN].baseline_of(request.node)


@pytest.fixture
def gate(request: pytest.FixtureRequest) -> Gate:
    """Return the gate: `gate.check(measurement)` passes or fails the test."""
    return request.config.stash[RUN].gate


@pytest.fixture
def measure(request: pytest.FixtureRequest) -> Callable[..., WorkloadResult]:
    """Return `measure(rw="randread", bs="4k", ...)`, which measures a workload declared in a Python test.

    Keys are those of a workload in a suite; `name` tells several in one test apart. The baseline is kept in
    `<device>/<module>.yaml` under the test's name, the module as its path in the project: `tests/test_disk`.
    """
    if is_one_of_several(request.config):
        pytest.fail(f"`measure` cannot be used with xdist: {LIE}. Run this test without it.", pytrace=False)

    def measured(name: str = "", **declaration: Any) -> WorkloadResult:
        return require_trusted(request.config.stash[RUN].measure(request.node, name, declaration))

    return measured
