"""The looks at the data that a decision may take, what they cost, and what they can resolve."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from iogate.judge.gate.distributions import student_bound
from iogate.judge.gate.noise import DOUBTED_SHARE, Noise
from iogate.judge.gate.spending import nominal_levels
from iogate.judge.gate.values import Scale

SMALLEST_TOLERANCE = 0.03  # nobody is woken for less without having asked for it
LARGEST_TOLERANCE = 0.20  # what loses more is not "as fast as it was", whatever the data can tell
EAGER = 1.5, 1.0  # spending functions alpha t^1.5 and beta t: soon done
PATIENT = 8.0, 10.0  # the early looks spend next to nothing: a weak baseline needs it at the last one
_MANY = 10  # sessions from which on a baseline is not weak for its youth, and waiting only takes time
ALONE = 1.5, 10.0  # the same where few degrees of freedom are known: waiting finds no more losses there


@dataclass(frozen=True)
class LookPlan:
    """The error rates of one decision: `alpha` is already shared between the metrics.

    `powers` are those of the spending functions of alpha and beta.
    """

    alpha: float
    beta: float
    first: int
    last: int
    powers: tuple[float, float] = EAGER

    def quantiles(
        self, unreduced: float, repetition: float, degrees: float, n: int, doubted_degrees: float = 0.0
    ) -> tuple[float, float]:
        """Return Student's t for FAIL and for PASS at the look after `n` repetitions.

        A share of devices has fewer degrees of freedom than it seems, the `doubted_degrees` (0: none): a FAIL
        has to be sure for them, too, which matters far out in the tail.
        """
        ratio = unreduced / repetition if repetition > 0 else math.inf
        fail = nominal_levels(self.alpha, self.powers[0], ratio, self.first, self.last)[n - self.first]
        passed = nominal_levels(self.beta, self.powers[1], ratio, self.first, self.last)[n - self.first]
        doubted = student_bound(doubted_degrees or degrees, min(0.5, fail / DOUBTED_SHARE))
        return max(student_bound(degrees, fail), doubted), student_bound(degrees, passed)


def plan_looks(
    alpha: float, beta: float, metrics: int, first_look: int, max_repetitions: int, measured: int = 0
) -> LookPlan:
    """Return looks after `first_look` repetitions and each that follows; a protocol has one, at its end."""
    first = min(first_look, max_repetitions)
    return LookPlan(alpha / metrics, beta, first, max(max_repetitions, measured))


def suited_looks(noise: Noise, plan: LookPlan, margin: float) -> LookPlan:
    """Return the looks that suit a baseline: where it is young and weak, the early ones spend little."""
    weak = noise.sessions < _MANY and minimum_detectable(noise, plan) > margin
    return replace(plan, powers=PATIENT if noise.learnt else ALONE) if weak else plan


def reach(noise: Noise, plan: LookPlan, n: int) -> tuple[float, float]:
    """Return how far FAIL and PASS keep away from what a decision after n repetitions finds, typically."""
    degrees = max(1.0, noise.session_degrees)
    doubted = max(1.0, noise.doubted_degrees)
    fail, _ = plan.quantiles(noise.unreduced, noise.repetition, degrees, n, doubted)
    _, passed = plan.quantiles(noise.passing.unreduced, noise.repetition, degrees, n)
    return fail * standard_error(noise, n), passed * standard_error(noise.passing, n)


def standard_error(noise: Noise, n: int) -> float:
    """Return the standard error of the difference after n repetitions, typically."""
    return math.sqrt(noise.unreduced + noise.repetition / n)


def minimum_detectable(noise: Noise, plan: LookPlan) -> float:
    """Return the loss (a logarithm) that is found with probability 1 - beta at false alarms of alpha.

    (t_alpha + t_beta) SE at the last look. Student's t carries the uncertainty of the estimated variance:
    averaged over baselines, the rates hold exactly.
    """
    return sum(reach(noise, plan, plan.last))


def applied_margin(noise: Noise, plan: LookPlan, scale: Scale, tolerance: float | None) -> float:
    """Return the tolerance as a logarithm: the one that is given, or else what the data can support, max(3%,
    2 x resolution, minimum detectable), but no more than 20%.
    """
    if tolerance is not None:
        return scale.margin(tolerance)
    supported = max(-math.log1p(-SMALLEST_TOLERANCE), 2 * noise.resolution, minimum_detectable(noise, plan))
    return min(supported, scale.margin(LARGEST_TOLERANCE))
