"""From the verdict on a measurement to the outcome of a test."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.outcomes import Failed

from iogate.units import plural, printable

if TYPE_CHECKING:
    from iogate.model import VerdictName, WorkloadResult


class VerdictFailure(Failed):
    """The failure of a test by a verdict, and by nothing else; pytest shows it as any other."""

    __module__, __qualname__ = "builtins", "Failed"

    def __init__(self, verdict: VerdictName, message: str) -> None:
        super().__init__(message, pytrace=False)
        self.verdict = verdict


class Gate:
    """Turns the verdict on a measurement into the outcome of a test."""

    def __init__(self, inconclusive: str, missing: str) -> None:
        self._asked = {"inconclusive": "--io-inconclusive=skip", "no_baseline": "--io-missing=skip"}
        self._skips = {"inconclusive": inconclusive == "skip", "no_baseline": missing == "skip"}

    def check(self, measurement: WorkloadResult) -> None:
        """Pass, or fail with the metric, the figures, the bound and the line of the suite."""
        verdict = measurement.verdict
        if verdict.passed:
            return
        message = failure_text(measurement)
        if self._skips.get(verdict.verdict):
            pytest.skip(f"{message}\nskipped and not failed, as {self._asked[verdict.verdict]} asks for")
        raise VerdictFailure(verdict.verdict, message)


def failure_text(result: WorkloadResult) -> str:
    """Return why a workload fails, for people: verdict and figures, what else was noticed, where it is
    declared.
    """
    verdict = result.verdict
    first, *rest = verdict.reason.splitlines()
    unit = "block" if result.pair else "repetition"
    count = f" ({plural(verdict.repetitions, unit)})" if verdict.repetitions else ""
    lines = [f"{verdict.verdict}: {first}{count}", *(f"  {line}" for line in rest)]
    doubtful = [item for item in verdict.findings if item.severity != "note"]
    lines += [f"  {item.severity} {item.check}: {item.message}" for item in doubtful]
    lines += [f"  changed since the baseline: {item}" for item in result.differences]
    if result.repetitions:
        lines.append(f"  raw output: {_near(result.repetitions[-1].folder)}")
    lines.append(f"{result.workload.position.file}:{result.workload.position.line}: {result.workload.name}")
    return printable("\n".join(lines))


def _near(path: str) -> str:
    """Return a path as short as it can be from where the user is."""
    return os.path.relpath(path) if Path(path).is_relative_to(Path.cwd()) else path


def require_trusted(result: WorkloadResult) -> WorkloadResult:
    """Return the same result. Fails the set-up of the test if its measurement cannot be trusted."""
    if result.failure is not None:
        where = f"{result.workload.position.file}:{result.workload.position.line}: {result.workload.name}"
        raw = f"\n  raw output: {_near(result.repetitions[-1].folder)}" if result.repetitions else ""
        raise VerdictFailure("invalid", printable(f"{result.failure}{raw}\n{where}"))
    return result
