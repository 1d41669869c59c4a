"""What a baseline can resolve, known before anything runs: the tolerance that applies and what it costs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from iogate.judge.gate.distributions import normal_tail, student_bound
from iogate.judge.gate.noise import Noise, baseline_noise
from iogate.judge.gate.spending import nominal_levels
from iogate.judge.gate.values import BaselineValues, Scale, Unusable, check_options, read_sessions
from iogate.units import BEYOND, format_share

if TYPE_CHECKING:
    from iogate.model import Direction

SMALLEST_TOLERANCE = 0.03  # nobody is woken for less without having asked for it
ALPHA_POWER, BETA_POWER = 1.5, 1.0  # spending functions alpha t^1.5 and beta t


@dataclass(frozen=True)
class LookPlan:
    """The error rates of one decision: `alpha` is already shared between the metrics."""

    alpha: float
    beta: float
    first: int
    last: int

    def quantiles(self, unreduced: float, repetition: float, degrees: float, n: int) -> tuple[float, float]:
        """Return Student's t for FAIL and for PASS at the look after `n` repetitions."""
        ratio = unreduced / repetition if repetition > 0 else math.inf
        fail = nominal_levels(self.alpha, ALPHA_POWER, ratio, self.first, self.last)[n - self.first]
        passed = nominal_levels(self.beta, BETA_POWER, ratio, self.first, self.last)[n - self.first]
        return student_bound(degrees, fail), student_bound(degrees, passed)


def plan_looks(alpha: float, beta: float, metrics: int, max_repetitions: int, measured: int = 0) -> LookPlan:
    """Return looks after 2, 3, ... repetitions; a protocol of one repetition has one look."""
    return LookPlan(alpha / metrics, beta, min(2, max_repetitions), max(max_repetitions, measured))


def _expect(noise: Noise, plan: LookPlan, n: int) -> tuple[float, float, float]:
    """Return standard error and the two quantiles that a decision after n repetitions will have,
    typically.
    """
    degrees = max(1.0, noise.session_degrees)
    error = math.sqrt(noise.unreduced + noise.repetition / n)
    return (error, *plan.quantiles(noise.unreduced, noise.repetition, degrees, n))


def minimum_detectable(noise: Noise, plan: LookPlan) -> float:
    """Return the loss (a logarithm) that is found with probability 1 - beta at false alarms of alpha.

    (t_alpha + t_beta) SE at the last look. Student's t carries the uncertainty of the estimated variance:
    averaged over baselines, the rates hold exactly.
    """
    error, fail, passed = _expect(noise, plan, plan.last)
    return (fail + passed) * error


def default_margin(noise: Noise, plan: LookPlan) -> float:
    """Return the tolerance (a logarithm) that the data can support: max(3%, 2 x resolution, minimum
    detectable).
    """
    return max(-math.log1p(-SMALLEST_TOLERANCE), 2 * noise.resolution, minimum_detectable(noise, plan))


@dataclass(frozen=True)
class Sensitivity:
    """What a baseline can do.

    `tolerance` applies (given or from the data); `minimum_detectable` is the smallest relative loss that
    it resolves at the error rates; `resolves` says whether the tolerance is no smaller than that (one from
    the data never is, however wide it had to be).
    `repetitions` is their expected number on an unchanged device, `repetitions_to_detect` on one that has
    lost the tolerance. Noise is relative (0.01 is 1%). `text` says it in a sentence and `advice` what would
    help (empty if nothing is needed).
    """

    tolerance: float
    minimum_detectable: float
    resolves: bool
    repetitions: float
    repetitions_to_detect: float
    session_noise: float
    repetition_noise: float
    text: str
    advice: str


def sensitivity(
    baseline: BaselineValues,
    *,
    direction: Direction,
    tolerance: float | None = None,
    alpha: float = 0.01,
    beta: float = 0.05,
    max_repetitions: int = 12,
    metrics: int = 1,
    assumed_session_noise: float | None = None,
) -> Sensitivity | None:
    """Return what `decide` with the same arguments can resolve; None for a baseline that cannot be judged
    against with error rates: a published number, or values that are no measurements.

    Raises InputError for an option that says nothing.
    """
    check_options(direction, tolerance, alpha, beta, max_repetitions, metrics, assumed_session_noise)
    try:
        sessions = read_sessions(baseline)
    except Unusable:
        return None
    scale = Scale(reference_of(sessions), direction)
    noise = baseline_noise(scale.sessions(sessions), assumed_session_noise)
    looks = plan_looks(alpha, beta, metrics, max_repetitions)
    detectable = minimum_detectable(noise, looks)
    margin = default_margin(noise, looks) if tolerance is None else scale.margin(tolerance)
    quiet, loud = _expected_repetitions(noise, looks, margin)
    resolves = detectable <= margin
    found = max(margin, detectable)
    needed = round(_expected_repetitions(noise, looks, found)[1])
    text = (
        f"detects {_least(scale.tolerance(found))} at {100 * (1 - alpha):.4g}%/{100 * (1 - beta):.4g}% "
        f"in about {needed} repetition{'' if needed == 1 else 's'}"
    )
    if noise.young:
        text += f" (session noise assumed: {format_share(math.sqrt(noise.session))})"
    return Sensitivity(
        tolerance=scale.tolerance(margin),
        minimum_detectable=scale.tolerance(detectable),
        resolves=resolves,
        repetitions=quiet,
        repetitions_to_detect=loud,
        session_noise=math.sqrt(noise.session),
        repetition_noise=math.sqrt(noise.repetition),
        text=text,
        advice="" if resolves else _advice(noise, looks, margin),
    )


def _least(change: float) -> str:
    """Return the least change that is found, for people."""
    shown = format_share(change)
    return f"nothing but changes of {shown}" if shown == BEYOND else shown


def reference_of(sessions: tuple[tuple[float, ...], ...]) -> float:
    """Return a value of the baseline that does not depend on the order of its sessions."""
    values = sorted(value for session in sessions for value in session)
    return values[len(values) // 2]


def _expected_repetitions(noise: Noise, plan: LookPlan, margin: float) -> tuple[float, float]:
    """Return Mean repetitions until PASS without a change, and until FAIL at a loss of the margin."""
    quiet = loud = float(plan.first)
    for n in range(plan.first, plan.last):
        error, fail, passed = _expect(noise, plan, n)
        quiet += normal_tail(margin / error - passed)
        loud += normal_tail(margin / error - fail)
    return quiet, loud


def _advice(noise: Noise, plan: LookPlan, margin: float) -> str:
    """Return what would make this margin resolvable, cheapest first."""
    longer = replace(noise, repetition=noise.repetition / 4)
    if minimum_detectable(longer, plan) <= margin:
        return "more or longer repetitions would resolve it"
    for sessions in (3, 5, 8, 12, 20, 40):
        if sessions <= noise.sessions:
            continue
        more = replace(noise, sessions=sessions, session_degrees=sessions - 1.0)
        if minimum_detectable(more, plan) <= margin:
            return f"{sessions} baseline sessions would resolve it, if their noise stays as it is"
    return f"sessions differ by {format_share(math.sqrt(noise.session))}: only a quieter machine resolves it"
