"""Digamma and trigamma against values of the tables and of scipy."""

from __future__ import annotations

import math

import pytest
from scipy import special

from iogate.judge.gate.gamma import digamma, inverse_trigamma, trigamma

EULER = 0.57721566490153286061


@pytest.mark.parametrize(
    ("x", "psi", "derivative"),
    [
        (0.5, -EULER - 2 * math.log(2), math.pi**2 / 2),
        (1.0, -EULER, math.pi**2 / 6),
        (2.0, 1 - EULER, math.pi**2 / 6 - 1),
        (10.0, 2.25175258906672110765, 0.10516633568168574612),
        (100.0, 4.60016185273808740020, 0.01005016666333357140),
    ],
)
def test_known_values(x, psi, derivative):
    assert digamma(x) == pytest.approx(psi, rel=1e-13)
    assert trigamma(x) == pytest.approx(derivative, rel=1e-13)


@pytest.mark.parametrize("x", [0.01, 0.3, 1.43, 2.5, 9.999, 10.001, 37.0, 1e4, 1e7])
def test_scipy_agrees(x):
    assert digamma(x) == pytest.approx(special.digamma(x), rel=1e-12)
    assert trigamma(x) == pytest.approx(special.polygamma(1, x), rel=1e-12)


@pytest.mark.parametrize("y", [1e-7, 1e-3, 0.1, 1.0, 4.93, 100.0, 1e6])
def test_the_inverse_is_one(y):
    assert trigamma(inverse_trigamma(y)) == pytest.approx(y, rel=1e-10)


def test_no_variance_at_all_is_as_many_degrees_as_there_may_be():
    assert inverse_trigamma(0.0) == inverse_trigamma(-1.0) == 1e8
