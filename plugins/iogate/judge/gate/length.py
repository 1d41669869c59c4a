"""How long one repetition should be, from how its seconds hang together and what is to be resolved."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iogate.judge.gate.distributions import normal_bound
from iogate.judge.gate.values import Scale
from iogate.units import plural

if TYPE_CHECKING:
    from iogate.model import Direction

_STORED = 15  # repetitions of a young baseline: three sessions of five
_ASSUMED_REPETITION_NOISE = 0.01


@dataclass(frozen=True)
class RepetitionLength:
    """`seconds` to run, and why, in words: `reason`.

    `long_run_variance` is that of a one-second mean (relative, squared), `repetition_noise` the standard
    deviation between repetitions that no length removes (relative), `inefficiency` the number of seconds that
    are worth one independent second. They are NaN where there was nothing to learn from.
    """

    seconds: float
    long_run_variance: float
    repetition_noise: float
    inefficiency: float
    reason: str


def repetition_length(
    series_per_second: Sequence[Sequence[float]],
    setup_seconds: float,
    *,
    shortest: float = 5.0,
    longest: float = 60.0,
    allowed: float = math.inf,
) -> RepetitionLength:
    """Return the length that gives the most information per second of device time.

    `series_per_second` holds one series of one-second values for each repetition measured so far;
    `setup_seconds` is what a repetition costs besides measuring. n repetitions of L seconds cost n (c + L)
    and leave a variance of (var_r + lrv / L) / n; the product is least at L = sqrt(c lrv / var_r). With one
    series var_r is assumed to be 1% squared. It is longer where var_r + lrv / L would be more than
    is `allowed` (`allowed_variance`), unless no length makes it less. Without a usable series the longest is
    taken, and the reason says so.
    """
    usable = [list(series) for series in series_per_second if _usable(series)]
    if not usable:
        return RepetitionLength(
            longest, math.nan, math.nan, math.nan, "no series of 8 positive seconds to learn from"
        )
    centred = []
    for series in usable:
        logs = [math.log(value) for value in series]
        mean = math.fsum(logs) / len(logs)
        centred.append([value - mean for value in logs])
    variance = math.fsum(v * v for s in centred for v in s) / max(1, sum(len(s) - 1 for s in centred))
    inefficiency = _inefficiency(centred)
    long_run = variance * inefficiency
    if len(usable) > 1:
        means = [math.fsum(map(math.log, series)) / len(series) for series in usable]
        within = statistics.fmean(long_run / len(series) for series in usable)
        between = max(statistics.variance(means) - within, 0.0)
        origin = f"measured over {plural(len(usable), 'repetition')}"
    else:
        between, origin = _ASSUMED_REPETITION_NOISE**2, "assumed, from one repetition"
    ideal = math.sqrt(max(setup_seconds, 0.0) * long_run / between) if between > 0 else math.inf
    asked = long_run / (allowed - between) if allowed > between else 0.0
    seconds = min(max(ideal, asked, shortest), longest) if long_run > 0 else shortest
    noise = math.sqrt(between)
    reason = (
        f"{seconds:.0f} s: one second scatters by {math.sqrt(variance):.1%}, "
        f"{inefficiency:.1f} seconds are worth one independent second, "
        f"repetitions differ by {noise:.1%} whatever their length ({origin})"
        + _asked_text(asked, max(ideal, shortest), longest, allowed > between)
    )
    return RepetitionLength(seconds, long_run, noise, inefficiency, reason)


def allowed_variance(
    tolerance: float, direction: Direction, *, alpha: float, beta: float, most: int, metrics: int = 1
) -> float:
    """Return the variance between repetitions (relative, squared) that leaves half of what a tolerance allows
    to sessions, against a young baseline, after the `most` repetitions.

    A loss of the tolerance is found at a standard error of margin / (z_alpha + z_beta); its square is halved.
    """
    error = Scale(1.0, direction).margin(tolerance) / (normal_bound(alpha / metrics) + normal_bound(beta))
    return error**2 / 2 / (1 / most + 1 / _STORED)


def _asked_text(asked: float, usual: float, longest: float, possible: bool) -> str:
    """Return what the tolerance has to do with the length; empty if nothing."""
    if not possible:
        return ", which no length makes small enough for the tolerance"
    if asked <= usual:
        return ""
    wanted = f"the tolerance asks for {asked:.0f} s"
    return f", {wanted}" if asked <= longest else f", {wanted}, which is more than there may be"


def _usable(series: Sequence[float]) -> bool:
    return len(series) >= 8 and all(math.isfinite(value) and value > 0 for value in series)


def _inefficiency(centred: Sequence[Sequence[float]]) -> float:
    """Return 1 + 2 sum rho_k, cut where the sums of neighbouring pairs turn negative.

    Geyer (1992), "Practical Markov chain Monte Carlo", Statistical Science 7: the initial positive sequence.
    """
    longest = min(map(len, centred))

    def covariance(lag: int) -> float:
        total = sum(len(s) for s in centred)
        return math.fsum(s[i] * s[i + lag] for s in centred for i in range(len(s) - lag)) / total

    zero = covariance(0)
    if zero <= 0:
        return 1.0
    total = -1.0
    for lag in range(0, longest - 1, 2):
        pair = (covariance(lag) + covariance(lag + 1)) / zero
        if pair <= 0:
            break
        total += 2 * pair
    return max(total, 0.1)
