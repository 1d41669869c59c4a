"""Tails and quantiles of the normal, Student's and Snedecor's distributions, and tails of the binomial, for
single numbers.

Written here because importing a library for them takes longer than all decisions of a run.
"""

from __future__ import annotations

import functools
import math
from statistics import NormalDist

_STANDARD = NormalDist()
_FEWEST_DEGREES = 0.01  # with fewer, digits are lost
WELL_KNOWN = 1e6
"""Degrees of freedom of what is known and not estimated: more count as so many, where Student's t differs
from the normal by less than 1e-5 of itself.
"""
_TINY = 1e-300  # stands for a denominator of zero in the continued fraction
_LARGEST = 700.0  # exp() of more overflows


def normal_tail(z: float) -> float:
    """Return P(Z > z) of the standard normal."""
    return math.erfc(z / math.sqrt(2)) / 2


def normal_bound(tail: float) -> float:
    """Return the z with P(Z > z) = `tail`, by Wichura's algorithm AS 241 (1988), Applied Statistics 37.

    Raises ValueError for a `tail` outside (0, 1).
    """
    if not 0 < tail < 1:
        raise ValueError(f"no normal deviate is exceeded with a probability of {tail!r}")
    return -_STANDARD.inv_cdf(tail)


def at_least(count: int, of: int, share: float) -> float:
    """Return the chance of `count` or more successes `of` so many, each of a chance of `share` above 0
    (binomial). By logarithms, as there are more ways to choose of some thousand than a float can hold.
    """
    if share >= 1:
        return 1.0
    hit, miss, ways = math.log(share), math.log1p(-share), math.lgamma(of + 1)
    return math.fsum(
        math.exp(ways - math.lgamma(n + 1) - math.lgamma(of - n + 1) + n * hit + (of - n) * miss)
        for n in range(count, of + 1)
    )


@functools.lru_cache(maxsize=4096)
def student_bound(degrees: float, tail: float) -> float:
    """Return the t with P(T > t) = `tail` at so many degrees of freedom; infinite where it is no float.

    The first guess is Wallace's (1959), Ann. Math. Stat. 30. Raises ValueError for a `tail` outside [0, 1) or
    fewer than 0.01 degrees.
    """
    degrees = _limit_degrees(degrees)
    if not 0 <= tail < 1:
        raise ValueError(f"no Student's t is exceeded with a probability of {tail!r}")
    if tail > 0.5:
        return -student_bound(degrees, 1 - tail)
    if tail in (0, 0.5):
        return 0.0 if tail else math.inf
    exponent = (normal_bound(tail) * (8 * degrees + 3) / (8 * degrees + 1)) ** 2 / degrees
    guess = math.log(degrees * math.expm1(min(exponent, _LARGEST)))
    square = _log_ratio(1.0, degrees, 2 * tail, 1 - 2 * tail, guess)  # t² is a ratio with one degree above
    return math.exp(square / 2) if square < 2 * _LARGEST else math.inf


@functools.lru_cache(maxsize=4096)
def variance_ratio_bound(degrees: float, known_degrees: float, confidence: float) -> float:
    """Return the ratio of two equal variances' estimates that is exceeded with 1 - `confidence` (Snedecor's
    F); infinite where it is no float.

    Raises ValueError for a `confidence` outside (0, 1) or fewer than 0.01 degrees.
    """
    degrees, known_degrees = _limit_degrees(degrees), _limit_degrees(known_degrees)
    if not 0 < confidence < 1:
        raise ValueError(f"no ratio is exceeded with a probability of 1 - {confidence!r}")
    mean = known_degrees * (degrees + 2) / (degrees * (known_degrees + 2))
    logarithm = _log_ratio(degrees, known_degrees, 1 - confidence, confidence, math.log(mean))
    return math.exp(logarithm) if logarithm < _LARGEST else math.inf


def _limit_degrees(degrees: float) -> float:
    if not degrees >= _FEWEST_DEGREES:
        raise ValueError(f"{degrees!r} degrees of freedom are too few")
    return min(float(degrees), WELL_KNOWN)


def _log_ratio(degrees: float, known_degrees: float, above: float, below: float, guess: float) -> float:
    """Return the logarithm of the ratio of variances that is exceeded with probability `above` = 1 -
    `below`.
    """
    if above <= below:
        return _log_bound(known_degrees / 2, degrees / 2, above, guess)
    return -_log_bound(degrees / 2, known_degrees / 2, below, -guess)  # the reciprocal falls below


def _log_bound(a: float, b: float, tail: float, u: float) -> float:
    """Return the logarithm of the ratio of variances, with 2b degrees of freedom over 2a, that is exceeded
    with probability `tail`, from a guess `u`.

    The ratio e^u is exceeded with probability I_x(a, b), x = a / (a + b e^u). The density of u is
    logarithmically concave, therefore so is this tail (Bagnoli & Bergstrom (2005), Economic Theory 26): the
    first of Newton's iterates for its logarithm is above the root, and from there on they come down to it.
    """
    scale = _stirling(a + b) - _stirling(a) - _stirling(b) + math.log(a * b / (a + b) / (2 * math.pi)) / 2
    target = math.log(tail)
    for _ in range(100):
        density = scale + _exponent(a, b, u)  # its logarithm
        weight = b * math.exp(min(u, _LARGEST))
        x, y = a / (a + weight), weight / (a + weight)
        if x * (a + b + 2) < a + 1:
            mills = _fraction(a, b, x) / a  # tail over density
        else:
            mills = math.exp(-density) - _fraction(b, a, y) / b
        excess = density + math.log(mills) - target
        u += excess * mills
        if abs(excess) < 2e-8:  # what is left is its square
            break
    return u


def _exponent(a: float, b: float, u: float) -> float:
    """Return (a + b) log((a + b) / (a + b e^u)) + b u, without the cancellation where a or b is large."""
    if b > a:
        a, b, u = b, a, -u  # it is symmetric
    if u > 100:  # e^u may overflow, and nothing else counts
        return -a * u - (a + b) * math.log(b / (a + b))
    return b * u - (a + b) * math.log1p(b / (a + b) * math.expm1(u))


def _stirling(z: float) -> float:
    """Return the error of Stirling's formula, log Gamma(z) - (z - 1/2) log z + z - log(2 pi) / 2 (DLMF
    5.11.1).
    """
    if z < 16:
        return math.lgamma(z) - (z - 0.5) * math.log(z) + z - math.log(2 * math.pi) / 2
    s = 1 / z**2
    return (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s / 1188)))) / z


def _fraction(a: float, b: float, x: float) -> float:
    """Return a B(a, b) I_x(a, b) / (x^a (1 - x)^b) by the continued fraction DLMF 8.17.22 and the modified
    method of Lentz (Thompson & Barnett (1986), J. Comput. Phys. 64).

    It converges fast for x < (a + 1) / (a + b + 2); elsewhere I_x(a, b) = 1 - I_(1-x)(b, a), 8.17.4.
    """
    c = 1.0
    d = result = 1 / (1 - (a + b) * x / (a + 1) or _TINY)
    for m in range(1, 10_000):
        n = a + 2 * m
        term = m * (b - m) * x / ((n - 1) * n)
        d = 1 / (1 + term * d or _TINY)
        c = 1 + term / c or _TINY
        result *= c * d
        term = -(a + m) * (a + b + m) * x / (n * (n + 1))
        d = 1 / (1 + term * d or _TINY)
        c = 1 + term / c or _TINY
        result *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return result
