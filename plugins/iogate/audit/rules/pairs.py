"""Checks of a block of a pair: did one arm work alone in its slices?"""

from __future__ import annotations

from iogate.audit.evidence import Check, Evidence, Findings, finding
from iogate.units import format_quantity

_ASTIR = 0.01


def stopped_arm(evidence: Evidence) -> Findings:
    """Find I/O of the arm of a pair that was stopped, in the slices of the other.

    `suspect`: more than 1% of what was moved in the slices of an arm was moved by the other, which should
    have rested: the two have not been told apart.

    Look for I/O that goes on without its process, such as a thread of the kernel that submits it.
    """
    own = sum(item.read + item.written for item in evidence.slices)
    other = sum(item.other for item in evidence.slices)
    if other > _ASTIR * own:
        yield finding(
            "suspect",
            f"in {len(evidence.slices)} slices this arm moved {format_quantity(own, 'B')}, the one that was "
            f"stopped {format_quantity(other, 'B')}",
            "look for I/O that goes on without its process, such as a thread of the kernel that submits it",
        )


CHECKS: tuple[Check, ...] = (stopped_arm,)
