"""How many repetitions a workload gets that is held against a baseline."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from iogate.judge.enough import usual_maximum
from iogate.judge.heat import Places
from iogate.judge.judge import GateOptions
from iogate.model import Workload

_MINIMUM = 2  # repetitions from which on the gate looks
_USUAL = 3  # repetitions that a quiet device takes


@dataclass(frozen=True)
class Count:
    """The numbers of one workload. `efforts` are how many times as many as usual each metric may ask for.

    Where speed depends on places, or the device gets `hot`, there are as many as in sessions of the
    baseline, unless this one came `behind_more` work, where no number makes them alike. Fewer say nothing
    of how fast the device is once it is hot, or its cache is full; and what is measured behind would find it
    less hot at the same places.
    """

    workload: Workload
    options: GateOptions
    places: Places
    efforts: Mapping[str, float]
    hot: bool = False
    behind_more: bool = False

    @property
    def first(self) -> int:
        """After how many the gate may look: a protocol, or a course, is judged when it is complete."""
        return max(self.workload.repetitions or 0, self._recorded)

    @property
    def minimum(self) -> int:
        return self.fixed or self.workload.repetitions or self._recorded or min(self.maximum, _MINIMUM)

    @property
    def usual(self) -> int:
        return self.fixed or self.workload.repetitions or max(self._recorded, min(self.maximum, _USUAL))

    @property
    def maximum(self) -> int:
        if self.places.count:
            return self.workload.repetitions or self.places.count
        return self.fixed or self._most

    @property
    def fixed(self) -> int:
        """The number that others fix, which make the device hot, where speed depends on no place; 0: none."""
        return 0 if self.places.count else self._recorded and self.first

    @property
    def _recorded(self) -> int:
        """How many repetitions the baseline asks for; 0: it does not."""
        if self.behind_more:
            return 0
        if self.places.count or not self.hot:
            return self.places.count
        recorded = max(self.places.usual, _MINIMUM)  # at least two, also of single runs that were imported
        return recorded if self.workload.repetitions else min(recorded, self._most)

    @property
    def _most(self) -> int:
        return math.ceil(usual_maximum(self.workload, self.options) * max(self.efforts.values(), default=1.0))

    @property
    def text(self) -> str:
        """What the number depends on, for people; empty where it is as usual."""
        if self.places.count:
            return (
                "repetitions differ for their place in a session: each of "
                f"{self.maximum} is held against those of its place (steady_state waits for a device at rest)"
            )
        if self.fixed > (self.workload.repetitions or 0):
            return (
                f"other workloads make this device hot, or fill its cache: {self.fixed} repetitions, as "
                "sessions of the baseline have"
            )
        usual = usual_maximum(self.workload, self.options)
        if self.maximum == usual:
            return ""
        return (
            f"repetitions differ by more than the tolerance bears: up to {self.maximum} of them instead of "
            f"{usual} (--io-max-repetitions)"
        )
