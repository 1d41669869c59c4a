"""What a session itself shows of the heat of its device, beside what its baselines tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iogate.judge.heat.fall import NO_FALL, Fall
from iogate.judge.heat.known import NO_HEAT, KnownHeat

_LONG, _NO_CHANCE = 5, 1e-4  # repetitions, and the part of sessions in which chance looks like that


@dataclass
class Heat:
    """What is `known` of a device's heat, and what a session saw of it. What has no course of its own is
    measured at the speed that those before it brought about.

    The session began at rest (`rested`), or did not. `seen` is how rates fell within it, and what passes
    behind as much work, until `steady`, has shown that it was the workload's own.
    """

    known: KnownHeat = NO_HEAT
    rested: bool = False
    seen: Fall = NO_FALL
    steady: float = 0.0

    @property
    def fall(self) -> float:
        """By how much the device may be slower in this session than it was at first."""
        return max(self._lasting(self.known.fall), self._lasting(self.seen))

    @property
    def whose(self) -> str:
        """Where that was seen, for people."""
        here = self._lasting(self.seen) >= self._lasting(self.known.fall)
        return "within this session" if here else "within sessions of the baselines"

    def _lasting(self, fall: Fall) -> float:
        return fall.share if self.steady <= fall.since else 0.0

    def see(self, values: Sequence[float], worked: Sequence[float | None], known: int) -> None:
        """Note by how much a rate falls within a workload behind the repetitions that are `known` of it, if
        it surely does, and for long: what falls before, falls in its baseline, too, or is its own.
        """
        from iogate.judge.gate import step_of

        places = range(max(known, 1), len(values))
        found = step_of(values, places, before=_LONG, behind=_LONG, chance=_NO_CHANCE)
        if found and -found.change > self._lasting(self.seen):
            self.seen = Fall(-found.change, worked[found.place] or 0.0)
