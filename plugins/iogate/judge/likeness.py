"""Whether places of a session are those of a baseline: the same is measured with a workload, and as often."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from iogate.judge.baseline import Exists
from iogate.judge.places import gets_hot
from iogate.model import Baseline, Workload
from iogate.units import plural

Beside = Callable[[Workload], Iterable[tuple[str, str]]]
"""Which workloads are measured before one, or by turns with it: suite and name of each."""


@dataclass(frozen=True)
class Unequal:
    """A workload that this session measured in `count` repetitions, and its baseline's in `usual` ones: what
    comes behind finds the device more, or less, hot or worn out.
    """

    count: int
    usual: int


class Likeness:
    """How a session differs from those of the baselines that are `known`, by suite and workload.

    `leaves_out` tells whether it is not to measure a workload that there is, `beside` what it measures before
    a workload, or by turns with it; it `records` what has no baseline, or does not measure that.
    """

    def __init__(
        self,
        known: Callable[[], Mapping[str, Mapping[str, Baseline]]],
        leaves_out: Exists,
        beside: Beside,
        *,
        records: bool = False,
    ) -> None:
        self.unequal: list[Unequal] = []
        """The workloads that were not measured as often as in their baselines, where speed depends on
        places.
        """
        self._unmeasured: set[tuple[str, str]] = set()
        self._known = known
        self._leaves_out = leaves_out
        self._beside = beside
        self._records = records

    def unlike(self, workload: Workload, baseline: Baseline) -> str:
        """Return why places of a workload are not those of its baseline; empty if they are."""
        return unlike_places(self._left_out(baseline), self._added(workload, baseline))

    def leave_out(self, workload: Workload) -> None:
        """Note a workload that is not measured after all, as there is nothing to hold it against."""
        self._unmeasured.add((workload.suite, workload.name))
        self.look_again()

    def look_again(self) -> None:
        """Ask anew what is left out: tests in Python have ended, and did not measure all of theirs."""
        self.__dict__.pop("_idle", None)

    def _left_out(self, baseline: Baseline) -> int:
        """Return how many workloads most sessions of a baseline measured, too, which this one leaves out."""
        own, half = set(baseline.sessions), len(baseline.sessions) / 2
        return sum(len(own.intersection(sessions)) > half for sessions in self._idle)

    def _added(self, workload: Workload, baseline: Baseline) -> int:
        """Return how many workloads this session measures beside one that were never measured in a session
        with it, as those that are recorded for the first time, or were recorded anew by themselves.
        """
        own, known = set(baseline.sessions), self._known()
        found = [known.get(suite, {}).get(name) for suite, name in self._beside(workload)]
        if self._records:
            return sum(other is None or _never_together(own, other) for other in found)
        return sum(other is not None and _never_together(own, other) for other in found)

    @cached_property
    def hot(self) -> bool:
        """Whether the device gets hot, or its cache fills, as its baselines tell."""
        return gets_hot(baseline for entries in self._known().values() for baseline in entries.values())

    @cached_property
    def _idle(self) -> list[tuple[str, ...]]:
        """The sessions of each workload that this session leaves out."""
        return [
            baseline.sessions
            for suite, entries in self._known().items()
            for name, baseline in entries.items()
            if self._leaves_out(suite, name) or (suite, name) in self._unmeasured
        ]


def _never_together(sessions: set[str], other: Baseline) -> bool:
    return bool(other.dated) and sessions.isdisjoint(other.sessions)


def unlike_places(left_out: int, added: int, unequal: Sequence[Unequal] = ()) -> str:
    """Return why places of a session are not those of a baseline, and what would help; empty: they are.

    `left_out` is how many workloads the baseline's sessions measured that this one does not, `added` how many
    it measures that those did not, `unequal` what it measured more, or less, often before.
    """
    told, helps = [], []
    shorter, longer = ([one for one in unequal if (one.count < one.usual) is less] for less in (True, False))
    if left_out:
        told.append(f"leaves out {plural(left_out, 'workload')} that those of the baseline measured")
        helps.append("measure all in one run")
    if added:
        told.append(f"measures {plural(added, 'workload')} that those of the baseline did not")
        helps.append("record all together, three times: --update-baselines, then =append")
    if longer:
        told.append(
            f"measured {plural(len(longer), 'workload')} before more often than those of the baseline"
        )
        helps.append("record all together, three times: --update-baselines, then =append")
    if shorter:
        told.append(
            f"measured {plural(len(shorter), 'workload')} before less often than those of the baseline"
        )
        helps.append("allow as many repetitions: --io-budget, --io-max-repetitions, max_repetitions")
    if not told:
        return ""
    return (
        f"and so do sessions: this one {', and '.join(told)}, and cannot be held against them "
        f"({', '.join(dict.fromkeys(helps))}, or wait for a device at rest: steady_state)"
    )
