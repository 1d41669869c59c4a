"""Device time that is short (`--io-budget`): shared out so that something becomes whole.

A workload that cannot be measured as often as a verdict or a baseline needs is not begun, and one that is
begun gets as much. Those without a baseline come first, then those whose baseline is the oldest: so runs that
are too short for all get round to each. What is then left is shared out among the suites by what they usually
take.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from iogate.measure.trial import Trial
from iogate.units import format_duration


def whole(trial: Trial) -> float:
    """Return the seconds of device time that a trial still needs before it can be decided."""
    return trial.lead + max(0, trial.judge.minimum - len(trial.repetitions)) * _each(trial)


def admitted(trials: Iterable[Trial], seconds: float) -> list[Trial]:
    """Return those of the trials that can become whole in so many seconds of device time."""
    chosen = []
    for trial in sorted(trials, key=lambda trial: trial.judge.newest):
        if whole(trial) <= seconds:
            seconds -= whole(trial)
            chosen.append(trial)
    return chosen


class Budget:
    """The device time of a session in seconds; None: as long as it takes."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._until: dict[str, float] = {}

    def refusal(self, trial: Trial, trials: Sequence[Trial]) -> str:
        """Return why a trial, one of all `trials`, gets no further repetition; empty if it gets one."""
        if self.seconds is None:
            return ""
        spent = sum(item.spent for item in trials)
        undecided = [item for item in trials if item.result is None]
        left = self.seconds - spent - sum(whole(item) for item in undecided if item.repetitions)
        begun = admitted((item for item in undecided if not item.repetitions), left)
        if not trial.repetitions:
            return "" if trial in begun else _too_short(trial, left - sum(map(whole, begun)))
        if len(trial.repetitions) < trial.judge.minimum:
            return ""
        spare = left - sum(map(whole, begun))
        until = self._share(trial.workload.suite, spent, [*begun, *(i for i in undecided if i.repetitions)])
        if _each(trial) <= spare and spent + _each(trial) <= until:
            return ""
        return "the device time of --io-budget is used up"

    def longest(self, trial: Trial, trials: Sequence[Trial], took: float) -> float:
        """Return the seconds that a repetition of a trial may take after the one that it just had, which
        `took` so many, so that it and the others, as long as they are, get as many as usual; infinite without
        a budget.
        """
        if self.seconds is None:
            return math.inf
        others = [item for item in trials if item.result is None and item is not trial]
        kept = sum(max(0, item.usual - len(item.repetitions)) * _each(item) for item in others)
        left = self.seconds - sum(item.spent for item in trials) - kept - took
        return left / max(1, trial.usual)

    def _share(self, suite: str, spent: float, trials: Sequence[Trial]) -> float:
        """Return what may be spent in all when a suite ends, as it was when it began."""
        assert self.seconds is not None
        if suite not in self._until:
            need = sum(item.usual * _each(item) for item in trials)
            own = sum(item.usual * _each(item) for item in trials if item.workload.suite == suite)
            self._until[suite] = spent + (self.seconds - spent) * (own / need if need else 1)
        return self._until[suite]


def _each(trial: Trial) -> float:
    """Return the seconds of one repetition: as they were, or as they should be."""
    if not trial.repetitions:
        return trial.seconds
    return sum(item.seconds for item in trial.repetitions) / len(trial.repetitions)


def _too_short(trial: Trial, left: float) -> str:
    return (
        "the device time of --io-budget does not suffice: "
        f"{format_duration(whole(trial))} are needed for it, of {format_duration(max(left, 0.0))} left"
    )
