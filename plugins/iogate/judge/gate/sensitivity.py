"""What a baseline can resolve, known before anything runs: the tolerance that applies and what it costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iogate.judge.gate.distributions import normal_tail
from iogate.judge.gate.looks import (
    LookPlan,
    applied_margin,
    minimum_detectable,
    plan_looks,
    reach,
    standard_error,
    suited_looks,
)
from iogate.judge.gate.noise import Noise, baseline_noise
from iogate.judge.gate.remedy import Remedy, remedy
from iogate.judge.gate.values import (
    FIRST_LOOK,
    BaselineValues,
    Scale,
    Unusable,
    check_options,
    read_sessions,
    reference_of,
)
from iogate.units import BEYOND, format_share

if TYPE_CHECKING:
    from iogate.judge.borrowed import Borrowed
    from iogate.model import Direction


@dataclass(frozen=True)
class Sensitivity:
    """What a baseline can do.

    `tolerance` applies (given or from the data); `minimum_detectable` is the smallest relative loss that
    it resolves at the error rates; `resolves` says whether the tolerance is no smaller than that.
    `repetitions` is their expected number on an unchanged device, `repetitions_to_detect` on one that has
    lost the tolerance. Noise is relative (0.01 is 1%); that of sessions may be `assumed`. `text` says it in a
    sentence and `remedy` what would
    help (None if nothing is needed).
    """

    tolerance: float
    minimum_detectable: float
    resolves: bool
    repetitions: float
    repetitions_to_detect: float
    session_noise: float
    repetition_noise: float
    assumed: bool
    text: str
    remedy: Remedy | None


def sensitivity(
    baseline: BaselineValues,
    *,
    direction: Direction,
    tolerance: float | None = None,
    alpha: float = 0.01,
    beta: float = 0.05,
    first_look: int = FIRST_LOOK,
    max_repetitions: int = 12,
    metrics: int = 1,
    assumed_session_noise: float | None = None,
    borrowed: Borrowed | None = None,
    resolution: float = 0.0,
) -> Sensitivity | None:
    """Return what `decide` with the same arguments can resolve; None for a baseline that cannot be judged
    against with error rates: a published number, or values that are no measurements.

    Raises InputError for an option that says nothing.
    """
    check_options(
        direction, tolerance, alpha, beta, first_look, max_repetitions, metrics, assumed_session_noise
    )
    try:
        sessions = read_sessions(baseline)
    except Unusable:
        return None
    scale = Scale(reference_of(sessions), direction)
    noise = baseline_noise(scale.sessions(sessions), assumed_session_noise, borrowed, resolution)
    looks = plan_looks(alpha, beta, metrics, first_look, max_repetitions)
    margin = applied_margin(noise, looks, scale, tolerance)
    looks = suited_looks(noise, looks, margin)
    detectable = minimum_detectable(noise, looks)
    quiet, loud = _expected_repetitions(noise, looks, margin)
    resolves = detectable <= margin
    found = max(margin, detectable)
    needed = round(_expected_repetitions(noise, looks, found)[1])
    text = (
        f"detects {_least(scale.tolerance(found))} at {100 * (1 - alpha):.4g}%/{100 * (1 - beta):.4g}% "
        f"in about {needed} repetition{'' if needed == 1 else 's'}"
    )
    if noise.assumed:
        text += f" (session noise assumed: {format_share(math.sqrt(noise.session))})"
    elif noise.learnt:
        text += f" ({noise.learnt})"
    return Sensitivity(
        tolerance=scale.tolerance(margin),
        minimum_detectable=scale.tolerance(detectable),
        resolves=resolves,
        repetitions=quiet,
        repetitions_to_detect=loud,
        session_noise=math.sqrt(noise.session),
        repetition_noise=math.sqrt(noise.repetition),
        assumed=noise.assumed,
        text=text,
        remedy=None if resolves else remedy(noise, looks, margin),
    )


def _least(change: float) -> str:
    """Return the least change that is found, for people."""
    shown = format_share(change)
    return f"nothing but changes of {shown}" if shown == BEYOND else shown


def _expected_repetitions(noise: Noise, plan: LookPlan, margin: float) -> tuple[float, float]:
    """Return Mean repetitions until PASS without a change, and until FAIL at a loss of the margin."""
    quiet = loud = float(plan.first)
    for n in range(plan.first, plan.last):
        fail, passed = reach(noise, plan, n)
        quiet += normal_tail((margin - passed) / standard_error(noise.passing, n))
        loud += normal_tail((margin - fail) / standard_error(noise, n))
    return quiet, loud
