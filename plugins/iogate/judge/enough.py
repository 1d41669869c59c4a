"""How often a workload is measured: more often where repetitions differ by more than its tolerance bears.

A declared tolerance says what there is to see, and repetitions that hide it are the cheapest noise to lessen:
by more of them. No number that somebody gave is changed, be it a protocol's or that of the command line.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from iogate.judge.judge import GateOptions
from iogate.model import Repetition, Workload, metric
from iogate.units import format_share

ENOUGH = 5  # repetitions that a baseline is made of, at least


def declared_tolerances(workload: Workload, gating: Sequence[str], options: GateOptions) -> dict[str, float]:
    """Return the tolerances that somebody declared, by metric."""
    if options.tolerance is not None:
        return dict.fromkeys(gating, options.tolerance)
    declared = {name: workload.gate[name].worse for name in gating if name in workload.gate}
    return {name: worse for name, worse in declared.items() if worse is not None}


def usual_maximum(workload: Workload, options: GateOptions) -> int:
    """Return the most repetitions that a workload gets whatever its noise."""
    return workload.repetitions or workload.max_repetitions or options.max_repetitions


def allowed_variances(workload: Workload, gating: Sequence[str], options: GateOptions) -> dict[str, float]:
    """Return the variance between repetitions that each declared tolerance bears, by metric."""
    from iogate.judge import gate

    most = usual_maximum(workload, options)
    return {
        name: gate.allowed_variance(
            worse,
            metric(name).direction,
            alpha=options.alpha,
            beta=options.beta,
            most=most,
            metrics=options.metrics,
        )
        for name, worse in declared_tolerances(workload, gating, options).items()
    }


def extensible(workload: Workload, options: GateOptions) -> bool:
    """Return whether the number of repetitions is the gate's to choose."""
    return options.extend and not workload.fixed and workload.max_repetitions is None


@dataclass(frozen=True)
class Enough:
    """How many repetitions are recorded: `usual`, or as many more as their noise asks for, up to `most`.

    `allowed` is the variance that each metric may have without, `known` what earlier sessions have of it.
    """

    usual: int = ENOUGH
    allowed: Mapping[str, float] = field(default_factory=dict)
    known: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        workload: Workload,
        gating: Sequence[str],
        options: GateOptions,
        known: Mapping[str, object] | None = None,
    ) -> Enough:
        """Return what is enough of a workload, whose baseline has the values `known`."""
        usual = max(ENOUGH, workload.repetitions or 0)
        if not extensible(workload, options):
            return cls(usual)
        return cls(usual, allowed_variances(workload, gating, options), known or {})

    @property
    def most(self) -> int:
        """The most that may be asked for."""
        from iogate.judge.gate import MOST_EFFORT

        return math.ceil(self.usual * MOST_EFFORT) if self.allowed else self.usual

    @property
    def text(self) -> str:
        """What it depends on, for people; empty where that is nothing."""
        if not self.allowed:
            return ""
        bears = format_share(math.sqrt(min(self.allowed.values())))
        return f"{self.usual} repetitions are recorded, up to {self.most} if they differ by {bears} or more"

    def asked(self, repetitions: Sequence[Repetition]) -> int:
        """Return how many repetitions there should be, by those there are."""
        if len(repetitions) < self.usual:
            return self.usual
        return max((self._asked(name, repetitions) for name in self.allowed), default=self.usual)

    def _asked(self, name: str, repetitions: Sequence[Repetition]) -> int:
        from iogate.judge.gate import effort

        known = self.known.get(name)
        earlier = known if isinstance(known, tuple) else ()
        own = tuple(item.metrics[name] for item in repetitions if name in item.metrics)
        return math.ceil(self.usual * effort((*earlier, own), self.allowed[name], sure=True))
