"""What the baselines of a device tell about its noise, as the gate takes it."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Borrowed:
    """What is usual among the workloads of a device, in natural logarithms (0.01 is 1%).

    `session` is the usual variance between sessions and `session_degrees` how many degrees of freedom that
    is worth to one workload (0: nothing is known), `doubted_degrees` if workloads differ more than they
    seem to; `evidence` is how many independent degrees it was learnt
    from, which no sum can exceed. `repetition` and `repetition_degrees` are the same for repetitions.
    `workloads` of so many `sessions` told it.
    """

    session: float = 0.0
    session_degrees: float = 0.0
    doubted_degrees: float = 0.0
    evidence: float = 0.0
    repetition: float = 0.0
    repetition_degrees: float = 0.0
    workloads: int = 0
    sessions: int = 0

    @property
    def text(self) -> str:
        """In words: `session noise 0.8%, learnt from 8 workloads x 3 sessions`; empty if nothing was."""
        if not self.session_degrees:
            return ""
        noise = f"session noise {math.sqrt(self.session):.1%}"
        return f"{noise}, learnt from {self.workloads} workloads x {self.sessions} sessions"
