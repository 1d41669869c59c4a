"""How many times as many repetitions a tolerance asks for, by how far they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iogate.judge.gate.distributions import WELL_KNOWN, variance_ratio_bound
from iogate.judge.gate.noise import baseline_noise
from iogate.judge.gate.values import BaselineValues, Scale, Unusable, read_sessions, reference_of

if TYPE_CHECKING:
    from iogate.judge.borrowed import Borrowed

MOST_EFFORT = 4.0  # device time has an end
_SURE = 0.75  # how sure it is that the noise of a recorded session is no larger


def effort(
    baseline: BaselineValues, allowed: float, *, borrowed: Borrowed | None = None, sure: bool = False
) -> float:
    """Return how many times as many repetitions make up for their noise, from 1 to 4.

    That is their variance over the one that is `allowed` (`allowed_variance`), with `sure` the largest that
    they may have by what is known of it. It is 1 where four times as many leave no room for a tolerance
    (at twice the allowed variance the noise of repetitions is all that a tolerance can bear), and where
    values tell nothing.
    """
    try:
        sessions = read_sessions(baseline)
    except Unusable:
        return 1.0
    scale = Scale(reference_of(sessions), "higher")
    noise = baseline_noise(scale.sessions(sessions), None, borrowed)
    if not noise.repetition_degrees or noise.repetition > 2 * MOST_EFFORT * allowed:
        return 1.0
    doubt = variance_ratio_bound(WELL_KNOWN, noise.repetition_degrees, _SURE) if sure else 1.0
    return min(max(noise.repetition * doubt / allowed, 1.0), MOST_EFFORT)
