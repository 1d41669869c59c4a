"""Quantiles and tails of the usual distributions, from `scipy.special`; `scipy.stats` is slow to import."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


def normal_tail(z: float) -> float:
    """P(Z > z) of the standard normal."""
    from scipy.special import ndtr

    return float(ndtr(-z))


def normal_cdf(z: NDArray[Any]) -> NDArray[Any]:
    """P(Z <= z) for each element."""
    from scipy.special import ndtr

    result: NDArray[Any] = ndtr(z)
    return result


def normal_bound(tail: float) -> float:
    """The z with P(Z > z) = `tail`."""
    from scipy.special import ndtri

    return -float(ndtri(tail))


@functools.lru_cache(maxsize=4096)
def student_bound(degrees: float, tail: float) -> float:
    """The t with P(T > t) = `tail` at so many degrees of freedom."""
    from scipy.special import stdtrit

    return -float(stdtrit(min(degrees, 1e6), tail))


@functools.lru_cache(maxsize=4096)
def variance_ratio_bound(degrees: float, known_degrees: float, confidence: float) -> float:
    """The ratio of two equal variances' estimates that is exceeded with 1 - `confidence` (Snedecor's F)."""
    from scipy.special import fdtri

    return float(fdtri(degrees, known_degrees, confidence))
