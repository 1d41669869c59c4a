"""From the verdict on a measurement to the outcome of a test."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.outcomes import Failed

from iogate.units import no_commands, plural

if TYPE_CHECKING:
    from iogate.errors import Position
    from iogate.model import Verdict, VerdictName, WorkloadResult


_WORST: tuple[VerdictName, ...] = ("regressed", "invalid", "no_baseline", "inconclusive")
"""Verdicts that fail a test, as exit statuses rank them."""


class VerdictFailure(Failed):
    """The failure of a test by a verdict, and by nothing else; pytest shows it as any other."""

    __module__, __qualname__ = "builtins", "Failed"

    def __init__(self, verdict: VerdictName, message: str) -> None:
        super().__init__(message, pytrace=False)
        self.verdict = verdict


class Gate:
    """Turns the verdict on a measurement into the outcome of a test. `missing` says what it means if there is
    no baseline; one that does not fit is not missing, where that is to be `strict`.
    """

    def __init__(self, inconclusive: str, missing: Callable[[], str], *, strict: bool) -> None:
        self._inconclusive = inconclusive
        self._missing = missing
        self._strict = strict
        self._unchecked: dict[str, WorkloadResult] = {}
        self._skips: dict[str, str] = {}
        self.failed: VerdictName | None = None
        """The verdict by which a check of the test at hand failed, whatever the test makes of that."""

    def check(self, measurement: WorkloadResult) -> None:
        """Pass, or fail with the metric, the figures, the bound and the line of the suite. What is to be
        skipped skips its test at the end: it says nothing of what else the test measures.
        """
        self._unchecked.pop(measurement.id, None)
        verdict = measurement.verdict
        if verdict.passed:
            return
        if self.fails(measurement):
            self.failed = verdict.verdict
        require_trusted(measurement)
        message = failure_text(measurement)
        if asked := self._skipped(verdict):
            self._skips[measurement.id] = f"{message}\nskipped and not failed, as {asked} asks for"
            return
        raise VerdictFailure(verdict.verdict, message)

    def expect(self, measurement: WorkloadResult) -> None:
        """Note what the test at hand has measured, and is to check."""
        self._unchecked[measurement.id] = measurement

    @contextlib.contextmanager
    def checking_rest(self) -> Iterator[None]:
        """Check at the end what was measured by then and not checked, unless the test failed otherwise than
        by a milder verdict; then skip the test if that is asked for.
        """
        self.failed = None
        try:
            yield
            self._check_rest(_WORST)
            if self._skips:
                pytest.skip("\n".join(self._skips.values()))
        except VerdictFailure as failure:
            self._check_rest(_WORST[: _WORST.index(failure.verdict)])
            raise
        finally:
            self.let_go()

    def _check_rest(self, verdicts: Sequence[VerdictName]) -> None:
        """Check what is left and has one of these verdicts, in their order."""
        rest = tuple(self._unchecked.values())
        for measurement in (item for name in verdicts for item in rest if item.verdict.verdict == name):
            self.check(measurement)

    def let_go(self) -> None:
        """Leave unchecked what was measured."""
        self._unchecked.clear()
        self._skips.clear()

    def fails(self, measurement: WorkloadResult) -> bool:
        """Return whether a verdict fails its test, as it neither passes nor is to be skipped."""
        verdict = measurement.verdict
        return not (verdict.passed or self._skipped(verdict))

    def _skipped(self, verdict: Verdict) -> str:
        """Return which option asks for a skipped test, if one does."""
        if verdict.verdict == "inconclusive" and self._inconclusive == "skip":
            return "--io-inconclusive=skip"
        missing = verdict.verdict == "no_baseline" and not (self._strict and verdict.unfit)
        return "--io-missing=skip" if missing and self._missing() == "skip" else ""


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
    return no_commands("\n".join(lines))


def _near(path: str) -> str:
    """Return a path as short as it can be from where the user is."""
    return os.path.relpath(path) if Path(path).is_relative_to(Path.cwd()) else path


def require_trusted(result: WorkloadResult) -> WorkloadResult:
    """Return the same result. Fails the set-up of the test if its measurement cannot be trusted."""
    if result.failure is not None:
        raw = f"\n  raw output: {_near(result.repetitions[-1].folder)}" if result.repetitions else ""
        raise unmeasured(f"{result.failure}{raw}", result.workload.position, result.workload.name)
    return result


def unmeasured(why: object, position: Position, name: str) -> VerdictFailure:
    """Return the failure of a test of this name whose measurement cannot be trusted, or had."""
    return VerdictFailure("invalid", no_commands(f"{why}\n{position.file}:{position.line}: {name}"))
