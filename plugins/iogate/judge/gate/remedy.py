"""What it takes to resolve a tolerance that a baseline cannot: the true cause, and the cheapest plan."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from iogate.judge.gate.distributions import WELL_KNOWN
from iogate.judge.gate.looks import LookPlan, minimum_detectable, suited_looks
from iogate.judge.gate.noise import YOUNG, Noise
from iogate.units import format_duration

SIDE_BY_SIDE = "--io-against"
_SESSIONS = (3, 5, 8, 12, 20)
_LENGTHS = (1, 2, 4, 8)
_STORED = 5  # repetitions of a session that is recorded
_TELLING = 8  # sessions; what fewer tell of how they differ may be twice as much as is true


@dataclass(frozen=True)
class Remedy:
    """The cheapest plan that resolves a tolerance, if the noise stays as it is.

    `cause` is what limits the gate, in words. `sessions` are those that the baseline needs in all (0: no
    number of them would do, as far as is known), `more` of them are still to be recorded, of repetitions
    `length` times as long (which makes another workload of it, so that all are recorded again).
    `repetitions` is what recording them takes, in repetitions of the present length.
    """

    cause: str
    sessions: int = 0
    more: int = 0
    length: int = 1
    repetitions: int = 0

    def text(self, seconds: float | None = None) -> str:
        """In words; with the `seconds` of one repetition also in device time and days."""
        if not self.sessions:
            first = f"{self.more} more tell better; " if self.more else ""
            return (
                f"{self.cause}: {first}a quieter machine resolves it, or measure side by side: {SIDE_BY_SIDE}"
            )
        plan = f"{self.sessions} baseline sessions"
        if self.length > 1:
            plan += f" of {self.length} times longer repetitions"
        elif self.more < self.sessions:
            plan += f", {self.more} more than now,"
        cost = f"on as many days, {self.more}"
        if seconds:
            cost += f", and {format_duration(self.repetitions * seconds)} of device time"
        return f"{self.cause}: {plan} would resolve it ({cost}), or measure side by side: {SIDE_BY_SIDE}"


def remedy(noise: Noise, plan: LookPlan, margin: float) -> Remedy:
    """Return what would make this margin resolvable for the least device time."""
    cause = _cause(noise, plan, margin)
    options = sorted(_options(noise, cause), key=lambda option: option.repetitions)
    return next((option for option in options if _resolves(noise, plan, margin, option)), _none(noise))


def _options(noise: Noise, cause: str) -> Iterator[Remedy]:
    for length in _LENGTHS:
        for sessions in _SESSIONS:
            more = sessions if length > 1 else sessions - noise.sessions
            if more > 0:
                yield Remedy(cause, sessions, more, length, more * length * _STORED)


def _resolves(noise: Noise, plan: LookPlan, margin: float, option: Remedy) -> bool:
    prior = noise.session_degrees - (0 if noise.assumed else noise.sessions - 1)
    degrees = option.sessions - 1 + max(prior, 0.0)
    more = replace(
        noise,
        sessions=option.sessions,
        repetitions=float(_STORED) if option.length > 1 else noise.repetitions,
        session=noise.lenient,
        session_degrees=degrees,
        doubted_degrees=degrees,
        repetition=noise.repetition / option.length,
        assumed=option.sessions < YOUNG,
    )
    return minimum_detectable(more, suited_looks(more, plan, margin)) <= margin


def _none(noise: Noise) -> Remedy:
    """Return what is to be said where neither sessions nor longer repetitions help: sessions differ too much,
    or seem to, as long as few have told.
    """
    cause = f"sessions differ by {math.sqrt(noise.session):.1%}"
    if noise.sessions >= _TELLING or noise.session_degrees >= _TELLING - 1:
        return Remedy(cause)
    return Remedy(f"{cause}, as far as {_told(noise)}", more=_TELLING - noise.sessions)


def _told(noise: Noise) -> str:
    return "1 session tells" if noise.sessions == 1 else f"{noise.sessions} sessions tell"


def _cause(noise: Noise, plan: LookPlan, margin: float) -> str:
    """Return what limits the gate most: that without which it could resolve most."""
    known = replace(noise, session_degrees=WELL_KNOWN, doubted_degrees=WELL_KNOWN, session=noise.lenient)
    causes = {
        f"repetitions differ by {math.sqrt(noise.repetition):.1%}": replace(noise, repetition=0.0),
        f"sessions differ by {math.sqrt(noise.session):.1%}": replace(noise, session=0.0, lenient=0.0),
        f"{_told(noise)} little of how sessions differ": known,
    }
    return min(causes, key=lambda name: minimum_detectable(causes[name], plan))
