"""The digamma and trigamma functions, which the moments of a logarithm of a variance are made of."""

from __future__ import annotations

import math

_ASYMPTOTIC = 10.0  # from here on the series below are exact to the last digits
_LARGEST = 1e8


def digamma(x: float) -> float:
    """Return the derivative of log Gamma(x), x > 0 (DLMF 5.5.2 up to 10, then 5.11.2)."""
    shift = 0.0
    while x < _ASYMPTOTIC:
        shift += 1 / x
        x += 1
    s = 1 / x**2
    series = s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - s * (1 / 132 - s * 691 / 32760)))))
    return math.log(x) - 1 / (2 * x) - series - shift


def trigamma(x: float) -> float:
    """Return the second derivative of log Gamma(x), x > 0 (DLMF 5.15.5 up to 10, then 5.15.8)."""
    shift = 0.0
    while x < _ASYMPTOTIC:
        shift += 1 / x**2
        x += 1
    s = 1 / x**2
    series = s * (1 / 6 - s * (1 / 30 - s * (1 / 42 - s * (1 / 30 - s * (5 / 66 - s * 691 / 2730)))))
    return shift + (1 + 1 / (2 * x) + series) / x


def inverse_trigamma(y: float) -> float:
    """Return the x with trigamma(x) = y > 0: 1e8 where it is more.

    Newton's method on 1 / trigamma, which is convex and nearly linear, so that it comes down to the root
    from above: Smyth (2004), appendix.
    """
    x = 0.5 + 1 / max(y, 1 / _LARGEST)
    if y <= 1 / _LARGEST:
        return _LARGEST
    for _ in range(50):
        value = trigamma(x)
        step = value * (1 - value / y) / _tetragamma(x)
        x += step
        if abs(step) < 1e-12 * x:
            break
    return x


def _tetragamma(x: float) -> float:
    """Return the derivative of trigamma."""
    shift = 0.0
    while x < _ASYMPTOTIC:
        shift += 2 / x**3
        x += 1
    s = 1 / x**2
    series = s * (1 + s * (1 / 2 - s * (1 / 6 - s * (1 / 6 - s * (3 / 10 - s * (5 / 6))))))
    return -shift - series - 1 / x**3
