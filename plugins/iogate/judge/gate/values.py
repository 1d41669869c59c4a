"""From what was stored and measured to logarithms that can be compared, or to a sentence why not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, TypeGuard

from iogate.errors import InputError
from iogate.model import is_measured, is_tolerance

if TYPE_CHECKING:
    from iogate.model import Direction

BaselineValues = Sequence[Sequence[float]] | float
"""Values `[session][repetition]`, or a single number for a published one."""


FIRST_LOOK = 2
"""Repetitions after which the gate looks first: one tells nothing of their noise."""


class Unusable(Exception):
    """A value that cannot be judged; the message names it. Never leaves this package."""


@dataclass(frozen=True)
class Scale:
    """A logarithmic scale on which larger is worse: 0 at `reference`, 0.01 is 1% worse."""

    reference: float
    direction: Direction

    @property
    def sign(self) -> int:
        """1 where a larger value is worse, else -1."""
        return 1 if self.direction == "lower" else -1

    def worse(self, value: float) -> float:
        """Return the place of a positive value on the scale."""
        return self.sign * math.log(value / self.reference)

    def sessions(self, sessions: Sequence[Sequence[float]]) -> tuple[tuple[float, ...], ...]:
        """Return the places of a baseline's values, sorted: the order of sessions must not matter, not even
        in the last digit.
        """
        return tuple(sorted(tuple(map(self.worse, session)) for session in sessions))

    def value(self, worse: float) -> float:
        """Return the value at a place on the scale."""
        return self.reference * math.exp(self.sign * worse)

    def change(self, worse: float) -> float:
        """Return a distance on the scale as a relative change, signed as the number moves."""
        return math.expm1(min(self.sign * worse, 700.0))

    def margin(self, tolerance: float) -> float:
        """Return a relative tolerance (0.05: 5% in the bad direction) as a distance on the scale."""
        return math.log1p(tolerance) if self.direction == "lower" else -math.log1p(-tolerance)

    def tolerance(self, margin: float) -> float:
        """Return the relative tolerance of a distance on the scale."""
        return abs(self.change(margin))


def check_options(
    direction: Direction,
    tolerance: float | None,
    alpha: float,
    beta: float,
    first_look: int,
    max_repetitions: int,
    metrics: int,
    assumed_session_noise: float | None,
) -> None:
    """Raise InputError for an option that says nothing."""
    if direction not in ("higher", "lower"):
        raise InputError(f"direction is {direction!r}", remedy="use 'higher' or 'lower'")
    if tolerance is not None and not is_tolerance(tolerance, direction):
        raise InputError(f"a tolerance of {tolerance!r} says nothing", remedy="0.05 means 5%")
    for name, level in (("alpha", alpha), ("beta", beta)):
        if not 0 < level < 0.5:
            raise InputError(f"{name} is {level!r}", remedy="give an error rate between 0 and 0.5")
    if min(first_look, max_repetitions, metrics) < 1:
        raise InputError("first_look, max_repetitions and metrics count from 1")
    if assumed_session_noise is not None and not 0 <= assumed_session_noise < 1:
        raise InputError(f"a session noise of {assumed_session_noise!r} says nothing", remedy="0.01 means 1%")


def check_value(value: object, name: str) -> float:
    """Return `value` as a float that may have been measured; raises Unusable."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise Unusable(f"{name} is missing or not a number ({str(value)[:40]!r})")
    number = float(value)
    if not is_measured(number):
        raise Unusable(f"{name} is {number:g}, which is no measurement")
    return number


def read_sessions(baseline: object) -> tuple[tuple[float, ...], ...]:
    """Return the values of a measured baseline; raises Unusable."""
    if not _is_sequence(baseline) or not baseline:
        raise Unusable("the baseline has no sessions")
    sessions = []
    for number, session in enumerate(baseline, 1):
        if not _is_sequence(session) or len(session) == 0:
            raise Unusable(f"session {number} of the baseline has no values")
        sessions.append(
            tuple(
                check_value(value, f"repetition {index} of session {number} of the baseline")
                for index, value in enumerate(session, 1)
            )
        )
    return tuple(sessions)


def reference_of(sessions: tuple[tuple[float, ...], ...]) -> float:
    """Return a value of the baseline that does not depend on the order of its sessions."""
    values = sorted(value for session in sessions for value in session)
    return values[len(values) // 2]


def read_candidate(candidate: object) -> tuple[float, ...]:
    """Return the values of this session; raises Unusable."""
    if not _is_sequence(candidate) or len(candidate) == 0:
        raise Unusable("no value was measured")
    return tuple(check_value(value, f"repetition {i}") for i, value in enumerate(candidate, 1))


def _is_sequence(value: object) -> TypeGuard[Sequence[object]]:
    return (
        hasattr(value, "__len__") and hasattr(value, "__iter__") and not isinstance(value, (str, bytes, dict))
    )
