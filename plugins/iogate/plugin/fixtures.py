"""Fixtures: the measurement of a workload, its baseline, and the gate; also for tests written in Python.

Measuring happens in a fixture, so that a measurement that cannot be trusted is an ERROR and a regression a
FAILED test.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from iogate.errors import InputErrors, IogateError
from iogate.plugin.items import LIE, WorkloadItem, is_setup_only, is_worker
from iogate.plugin.outcome import Gate, require_trusted, unmeasured
from iogate.plugin.python_tests import position_of, repeated
from iogate.plugin.run import RUN

if TYPE_CHECKING:
    from iogate.model import Baseline, WorkloadResult


@pytest.fixture
def measurement(request: pytest.FixtureRequest) -> WorkloadResult:
    """Return the measurement of the workload that this test is, judged by the gate."""
    if not isinstance(request.node, WorkloadItem):
        pytest.fail(
            f"{request.node.name} is no workload of a suite, which alone has a `measurement`: a test in "
            "Python makes its own by the fixture `measure`",
            pytrace=False,
        )
    _skip_setup_only(request)
    return require_trusted(request.config.stash[RUN].record_of(request.node))


def _skip_setup_only(request: pytest.FixtureRequest) -> None:
    if is_setup_only(request.config):
        pytest.skip("nothing is measured where tests are only set up")
    if request.config.option.io_plan:
        pytest.skip("a plan measures nothing")


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

    Keys are those of a workload in a suite; `name` tells several in one test apart, which each need one. What
    the test does not hand to `gate.check` itself is checked at its end, or at that of its teardown. The
    baseline is kept in `<device>/<module>.yaml` under the test's name with that of its class
    (`TestDeadline.test_read`), the module as its path in the project: `tests/test_disk`.
    """
    if is_worker(request.config):
        pytest.fail(f"`measure` cannot be used with xdist: {LIE}. Run this test without it.", pytrace=False)

    run, test = request.config.stash[RUN], request.node
    if os.getpid() != run.process:
        pytest.fail(
            "`measure` cannot be used in a process of a test's own (--forked): what is found out there is "
            "told to nobody. Run this test without it.",
            pytrace=False,
        )
    used: set[str] = set()

    def measured(name: str = "", **declaration: Any) -> WorkloadResult:
        __tracebackhide__ = True
        _skip_setup_only(request)
        if not isinstance(name, str):
            pytest.fail(
                "`measure` takes keys: measure(rw='randread', ...), or measure(**those)", pytrace=False
            )
        if name in used:
            raise repeated(test, name)
        used.add(name)
        try:
            return require_trusted(run.measure(test, name, declaration))
        except IogateError as error:
            where = position_of(test)
            own = error.position is not None and error.position.file == where.file
            if own or isinstance(error, InputErrors):  # the line of the test is the place that matters
                raise error.with_traceback(None) from None
            raise unmeasured(error, where, test.name) from None

    return measured
