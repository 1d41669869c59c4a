"""How much worse a candidate is than its baseline, and what the noise of both says about that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from iogate.judge.gate.distributions import WELL_KNOWN, at_least, variance_ratio_bound
from iogate.judge.gate.noise import NOISE_FLOOR, Noise
from iogate.judge.gate.robust import (
    huber,
    outlier_limit,
    rough_scale,
    satterthwaite,
    sum_of_squares,
    winsorise,
)

_NOISIER = 0.999  # confidence at which a candidate counts as noisier than its baseline,
_NOISIER_ALONE = 0.95  # one with single repetitions, which cannot tell how those differ,
_DISAGREE = 0.99  # and at which two repetitions do: one of them is a stall, and neither outvotes the other


@dataclass(frozen=True)
class Difference:
    """How much worse (positive) the candidate is, in logarithms, and what the noise says about it.

    `unreduced` and `repetition` make the squared standard error `unreduced + repetition / n`; `session` is
    the variance between sessions that it contains. `noisier` says that the repetitions scatter more than the
    baseline's, `doubted_degrees` are those if the device's workloads differ more than they seem to (0: the
    same). If a third of the repetitions or more are outliers on the better side, `kept` is how much worse
    than the baseline the best third is at most; if a quarter or more are on the worse side, `lost` is how
    much worse the worst quarter is at least. `unexplained` is how much worse those repetitions are which
    the baseline's stalls do not explain; None: no stalls explain any.
    """

    worse: float
    unreduced: float
    repetition: float
    degrees: float
    outliers: int = 0
    noisier: bool = False
    session: float = 0.0
    kept: float = math.inf
    doubted_degrees: float = 0.0
    lost: float = -math.inf
    unexplained: tuple[float, ...] | None = None

    def error(self, repetitions: int) -> float:
        """Return standard error of the difference after so many repetitions."""
        return math.sqrt(self.unreduced + self.repetition / repetitions)


def difference(
    noise: Noise, candidate: Sequence[float], *, assumed: float | None = None, chance: float = 1.0
) -> Difference:
    """Compare a candidate session's values (logarithms, larger is worse) with a baseline's noise. Stalls may
    be called a change by `chance`.
    """
    if noise.repetition_degrees == 0:
        return _without_replication(noise, candidate, assumed)
    n = len(candidate)
    scale = max(math.sqrt(noise.repetition), noise.resolution / math.sqrt(12), NOISE_FLOOR / 10)
    centre = huber(candidate, scale)
    reach = scale * outlier_limit(noise.repetition_degrees)
    found = Difference(
        worse=centre - noise.centre,
        unreduced=noise.unreduced,
        repetition=noise.repetition,
        degrees=noise.session_degrees,
        session=noise.session,
    )
    worse = [value - noise.centre for value in candidate]
    unexplained = _unexplained(noise, worse, reach, chance)
    found = replace(_with_outliers(found, worse, reach), unexplained=unexplained)
    squares = sum_of_squares(winsorise(candidate, centre, reach))
    if n > 1 and _noisier(squares / (n - 1), n - 1, scale**2, noise.repetition_degrees):
        own = sum_of_squares(candidate) / (n - 1)
        degrees = satterthwaite([(noise.unreduced, noise.session_degrees), (own / n, n - 1.0)])
        return replace(found, repetition=own, degrees=degrees, noisier=True)
    return _pool(noise, found, squares, n)


def _with_outliers(found: Difference, worse: Sequence[float], reach: float) -> Difference:
    """Return `found` with what it says of outliers: those repetitions whose distance from the baseline is
    further than `reach` from what was found.
    """
    better = sorted(value for value in worse if value < found.worse - reach)
    lost = sorted((value for value in worse if value > found.worse + reach), reverse=True)
    third, quarter = math.ceil(len(worse) / 3), math.ceil(len(worse) / 4)
    return replace(
        found,
        outliers=len(better) + len(lost),
        kept=better[third - 1] if len(better) >= third else math.inf,
        lost=lost[quarter - 1] if len(lost) >= quarter else -math.inf,
    )


def _unexplained(
    noise: Noise, worse: Sequence[float], reach: float, chance: float
) -> tuple[float, ...] | None:
    """Return the repetitions that are no stalls, if so many that are come by more than `chance` where they
    come as often, and as bad, as in the baseline (by Laplace's rule of succession); else None.
    """
    if not noise.stalls:
        return None
    worst = max(noise.stalls) + reach
    stalls = [value for value in worse if reach < value <= worst]
    if not stalls:
        return None
    known = sum(stall > min(stalls) - reach for stall in noise.stalls)
    likely = at_least(len(stalls), len(worse), (known + 1) / (noise.values + 2)) > chance
    return tuple(value for value in worse if not reach < value <= worst) if likely else None


def _pool(noise: Noise, found: Difference, squares: float, n: int) -> Difference:
    """Return `found` with the repetition noise of baseline and candidate together."""
    pooled_degrees = noise.repetition_degrees + n - 1
    pooled = (noise.repetition * noise.repetition_degrees + squares) / pooled_degrees
    inverse = 1 / noise.sessions
    sessions = noise.session * (1 + inverse)
    unreduced = sessions + pooled * inverse / noise.repetitions
    spread = sessions if noise.assumed else max(noise.spread, noise.session) * (1 + inverse)
    rest = unreduced - sessions + pooled / n if noise.assumed else pooled * (1 / n - 1 / noise.repetitions)

    def degrees(session_degrees: float) -> float:
        both = satterthwaite([(spread, session_degrees), (rest, pooled_degrees)])
        return both if noise.assumed else max(session_degrees, both)

    return replace(
        found,
        unreduced=unreduced,
        repetition=pooled,
        degrees=degrees(noise.session_degrees),
        doubted_degrees=degrees(noise.doubted_degrees),
    )


def _without_replication(noise: Noise, candidate: Sequence[float], assumed: float | None) -> Difference:
    """Return one repetition per session: `noise.session` holds both kinds of noise, and cannot tell them
    apart.
    """
    n = len(candidate)
    own = sum_of_squares(candidate) / (n - 1) if n > 1 else 0.0
    scale = max(rough_scale([candidate]) if n > 2 else 0.0, math.sqrt(noise.session))
    found = Difference(
        worse=huber(candidate, scale) - noise.centre,
        unreduced=noise.unreduced,
        repetition=0.0,
        degrees=noise.session_degrees,
        session=noise.session,
    )
    reach = scale * outlier_limit(n - 1)  # the candidate alone has repetitions that tell them
    found = _with_outliers(found, [value - noise.centre for value in candidate], reach)
    if noise.assumed:
        session = noise.session if assumed is not None else max(noise.session, own)
        unreduced = session * (1 + 1 / noise.sessions) + own / noise.sessions
        degrees = satterthwaite([(unreduced, noise.session_degrees), (own / n, max(1.0, n - 1.0))])
        return replace(found, unreduced=unreduced, repetition=own, degrees=degrees, session=session)
    if n > 1 and _noisier(own, n - 1, noise.session, noise.session_degrees, _NOISIER_ALONE):
        degrees = satterthwaite([(noise.unreduced, noise.session_degrees), (own / n, n - 1.0)])
        return replace(found, repetition=own, degrees=degrees, noisier=True)
    return found


def own_difference(candidate: Sequence[float], resolution: float = 0.0) -> Difference:
    """Return a candidate's distance from 0 by its own repetitions alone. Where values come in steps of
    `resolution`, both are known to half a step: a variance of 1/12 of its square each.
    """
    n = len(candidate)
    own = max(sum_of_squares(candidate) / (n - 1) if n > 1 else 0.0, NOISE_FLOOR**2)
    scale = rough_scale([candidate]) if n > 2 else 0.0
    centre = huber(candidate, scale) if scale > 0 else math.fsum(candidate) / n
    rounding = 2 * resolution**2 / 12
    degrees = satterthwaite([(rounding, WELL_KNOWN), (own / n, max(1.0, n - 1.0))])
    found = Difference(centre, rounding, own, degrees)
    return _with_outliers(found, candidate, scale * outlier_limit(n - 1)) if scale > 0 else found


def _noisier(
    variance: float, degrees: float, known: float, known_degrees: float, confidence: float = _NOISIER
) -> bool:
    asked = confidence if degrees > 1 else min(confidence, _DISAGREE)
    return known > 0 and variance / known > variance_ratio_bound(degrees, known_degrees, asked)
