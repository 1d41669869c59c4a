"""Device time that is short (`--io-budget`): shared out so that something becomes whole.

A workload that cannot be measured as often as a verdict or a baseline needs is not begun, and one that is
begun gets as much, also of what repetitions took beside what they should. Those without a baseline come
first, then those whose baseline is the oldest: so runs that are too short for all get round to each. What is
then left is shared out among the suites by what they usually take.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from iogate.measure.trial import Trial
from iogate.units import format_duration


def whole(trial: Trial, beside: float = 0.0) -> float:
    """Return the seconds of device time that a trial still needs before it can be decided, where a repetition
    takes so many `beside` those that it should.
    """
    return trial.lead + max(0, trial.judge.minimum - len(trial.repetitions)) * _each(trial, beside)


def admitted(trials: Iterable[Trial], seconds: float, beside: float = 0.0) -> list[Trial]:
    """Return those of the trials that can become whole in so many seconds of device time."""
    chosen = []
    for trial in sorted(trials, key=lambda trial: trial.judge.newest):
        if whole(trial, beside) <= seconds:
            seconds -= whole(trial, beside)
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
        beside = _beside(trials)
        begun = admitted((item for item in undecided if not item.repetitions), left, beside)
        spare = left - sum(whole(item, beside) for item in begun)
        if not trial.repetitions:
            return "" if trial in begun else _too_short(whole(trial, beside), spare)
        if len(trial.repetitions) < trial.judge.minimum:
            return ""
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
        beside = _beside(trials)
        kept = sum(max(0, item.usual - len(item.repetitions)) * _each(item, beside) for item in others)
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


def _beside(trials: Iterable[Trial]) -> float:
    """Return the seconds that repetitions take beside those that they should, to begin, to lay out, and to
    end: the least of those that take any and last for a time, and no more than that time. What one needs for
    itself, as to flush, or where it ends by size, is not to be kept for others.
    """
    lasting = (item for item in trials if item.repetitions and item.workload.options.get("runtime"))
    longer = (min(_each(item) - item.seconds, item.seconds) for item in lasting)
    return min((seconds for seconds in longer if seconds > 0), default=0.0)


def _each(trial: Trial, beside: float = 0.0) -> float:
    """Return the seconds of one repetition: as they were, or as they should be, and so many beside."""
    if not trial.repetitions:
        return trial.seconds + beside
    return sum(item.seconds for item in trial.repetitions) / len(trial.repetitions)


def _too_short(needed: float, left: float) -> str:
    return (
        "the device time of --io-budget does not suffice: "
        f"{format_duration(needed)} are needed for it, of {format_duration(max(left, 0.0))} left"
    )
