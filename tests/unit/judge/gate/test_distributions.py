"""Tails and quantiles agree with scipy's, over all that the gate may ask for and more."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from iogate.judge.gate.distributions import (
    at_least,
    normal_bound,
    normal_tail,
    student_bound,
    variance_ratio_bound,
)

TAILS = [*np.geomspace(1e-12, 0.4, 40).tolist(), 0.00135, 0.25, 0.26, 0.45, 0.499]
DEGREES = [0.01, 0.1, 0.5, 1, 1.3, 2, 2.5, 3, 4, 5.7, 9, 19, 38.2, 57, 100, 200, 999.5, 1e4, 1e5, 1e6]
ROUNDING = 1e-10  # neighbours this close may come out in either order

tails = st.floats(min_value=1e-12, max_value=0.5, exclude_max=True)
degrees = st.floats(min_value=0.5, max_value=1e6)


def student_tail(degrees: float, t: float) -> float:
    """P(T > t), and from its complement where that is the more precise."""
    return float(special.betainc(degrees / 2, 0.5, degrees / (degrees + t**2))) / 2


def student_centre(degrees: float, t: float) -> float:
    """P(-t < T < t)."""
    return float(special.betainc(0.5, degrees / 2, t**2 / (degrees + t**2)))


class TestNormal:
    @pytest.mark.parametrize("z", [-38, -8, -1.5, 0, 1e-9, 0.7, 2, 5, 10, 20, 37, math.inf])
    def test_tails_are_those_of_scipy(self, z):
        assert normal_tail(z) == pytest.approx(special.ndtr(-z), rel=1e-13)

    @pytest.mark.parametrize("tail", [1e-300, 1e-200, 1e-100, *TAILS, 0.5, 0.6, 0.999])
    def test_bounds_are_those_of_scipy(self, tail):
        assert normal_bound(tail) == pytest.approx(-special.ndtri(tail), rel=1e-13, abs=1e-15)

    @given(st.floats(min_value=1e-300, max_value=0.999))
    def test_a_bound_is_exceeded_with_its_tail(self, tail):
        assert normal_tail(normal_bound(tail)) == pytest.approx(tail, rel=1e-11)

    @pytest.mark.parametrize("tail", [0.0, 1.0, -0.1, math.nan, math.inf])
    def test_a_tail_that_is_no_probability_is_an_error(self, tail):
        with pytest.raises(ValueError, match="probability"):
            normal_bound(tail)


class TestStudent:
    @pytest.mark.parametrize("count", [count for count in DEGREES if 1 <= count <= 1e5])
    def test_bounds_are_those_of_scipy(self, count):
        for tail in TAILS:
            assert student_bound(count, tail) == pytest.approx(-special.stdtrit(count, tail), rel=1e-9)

    @pytest.mark.parametrize(
        ("count", "tail", "published"),
        [(1, 0.025, 12.706), (5, 0.005, 4.032), (10, 0.025, 2.228), (30, 0.0005, 3.646), (120, 0.05, 1.658)],
    )
    def test_bounds_are_those_in_print(self, count, tail, published):
        assert student_bound(count, tail) == pytest.approx(published, abs=0.0005)

    @given(degrees, tails)
    def test_a_bound_is_exceeded_with_its_tail(self, count, tail):
        """By scipy's own tail: its quantile is less precise at extreme arguments."""
        t = student_bound(count, tail)
        if tail < 0.25:
            assert student_tail(count, t) == pytest.approx(tail, rel=1e-9)
        else:
            assert student_centre(count, t) == pytest.approx(1 - 2 * tail, rel=1e-9)

    @given(degrees, tails, tails)
    def test_a_smaller_tail_never_has_a_smaller_bound(self, count, one, other):
        small, large = sorted((one, other))
        assert student_bound(count, small) >= student_bound(count, large) * (1 - ROUNDING)

    @given(degrees, degrees, tails)
    def test_more_degrees_never_have_a_larger_bound(self, one, other, tail):
        few, many = sorted((one, other))
        assert student_bound(few, tail) >= student_bound(many, tail) * (1 - ROUNDING)

    @pytest.mark.parametrize("count", [0.5, 1.0, 3.3, 57.0, 200.0, 1e4])
    def test_bounds_fall_strictly_along_a_fine_grid(self, count):
        bounds = [student_bound(count, tail) for tail in np.geomspace(1e-12, 0.499, 2000).tolist()]
        assert all(before > after for before, after in itertools.pairwise(bounds))

    @pytest.mark.parametrize("tail", [1e-9, 0.00135, 0.04, 0.24, 0.26])
    def test_bounds_fall_strictly_with_the_degrees(self, tail):
        bounds = [student_bound(count, tail) for count in np.geomspace(0.5, 1e4, 2000).tolist()]
        assert all(before > after for before, after in itertools.pairwise(bounds))

    @given(st.floats(min_value=0.01), st.floats(min_value=0, max_value=1, exclude_max=True))
    def test_there_is_always_a_bound(self, count, tail):
        bound = student_bound(count, tail)
        assert bound >= 0 if tail <= 0.5 else bound <= 0

    @given(degrees, st.floats(min_value=0.5, max_value=1 - 1e-9))
    def test_it_is_symmetric(self, count, tail):
        assert student_bound(count, tail) == -student_bound(count, 1 - tail)

    def test_infinitely_many_degrees_are_normal(self):
        assert student_bound(math.inf, 0.01) == pytest.approx(normal_bound(0.01), rel=1e-5)

    def test_no_tail_is_beyond_everything(self):
        assert student_bound(5.0, 0.0) == math.inf

    @pytest.mark.parametrize("count", [0.0, -1.0, math.nan])
    def test_degrees_that_are_none_are_an_error(self, count):
        with pytest.raises(ValueError, match="too few"):
            student_bound(count, 0.01)

    @pytest.mark.parametrize("tail", [-0.1, 1.0, math.nan, math.inf])
    def test_a_tail_that_is_no_probability_is_an_error(self, tail):
        with pytest.raises(ValueError, match="probability"):
            student_bound(5.0, tail)


class TestVarianceRatio:
    @pytest.mark.parametrize("known", [1, 2, 3, 5.5, 10, 40, 57, 200, 5000])
    @pytest.mark.parametrize("count", [1, 2, 3, 5.5, 11, 40, 200, 5000])
    def test_bounds_are_those_of_scipy(self, count, known):
        for confidence in (0.01, 0.3, 0.5, 0.7, 0.95, 0.99, 0.999, 1 - 1e-6):
            expected = special.fdtri(count, known, confidence)
            assert variance_ratio_bound(count, known, confidence) == pytest.approx(expected, rel=1e-8)

    @given(degrees, degrees, st.floats(min_value=0.01, max_value=1 - 1e-9))
    def test_a_bound_is_exceeded_with_the_rest(self, count, known, confidence):
        """By scipy's own tail: its quantile is less precise at extreme arguments."""
        weight = count * variance_ratio_bound(count, known, confidence)
        above = float(special.betainc(known / 2, count / 2, known / (known + weight)))
        below = float(special.betainc(count / 2, known / 2, weight / (known + weight)))
        closest = min(abs(above / (1 - confidence) - 1), abs(below / confidence - 1))
        assert closest < 1e-8

    @given(degrees, tails)
    def test_the_square_of_student_is_a_ratio_with_one_degree_above(self, count, tail):
        confidence = 1 - 2 * tail
        bound = student_bound(count, (1 - confidence) / 2)
        if 0 < confidence < 1:
            assert variance_ratio_bound(1, count, confidence) == pytest.approx(bound**2, rel=1e-9)

    @given(degrees, degrees, st.floats(min_value=0.01, max_value=0.99))
    def test_the_reciprocal_is_the_ratio_of_the_other_two(self, count, known, confidence):
        one = variance_ratio_bound(count, known, confidence)
        assert one * variance_ratio_bound(known, count, 1 - confidence) == pytest.approx(1, rel=1e-9)

    @given(degrees, degrees, *[st.floats(min_value=0.01, max_value=1 - 1e-12)] * 2)
    def test_more_confidence_never_has_a_smaller_bound(self, count, known, one, other):
        less, more = (variance_ratio_bound(count, known, confidence) for confidence in sorted((one, other)))
        assert less <= more * (1 + ROUNDING)

    @given(*[st.floats(min_value=0.01)] * 2, st.floats(0, 1, exclude_min=True, exclude_max=True))
    def test_there_is_always_a_bound(self, count, known, confidence):
        assert variance_ratio_bound(count, known, confidence) >= 0

    @pytest.mark.parametrize(
        "arguments", [(0.0, 5.0, 0.99), (5.0, math.nan, 0.99), (1.0, 5.0, 0.0), (1.0, 5.0, 1.0)]
    )
    def test_arguments_without_a_ratio_are_an_error(self, arguments):
        with pytest.raises(ValueError):
            variance_ratio_bound(*arguments)


@given(st.integers(1, 3000), st.floats(0, 1), st.floats(0.001, 1))
def test_the_chance_of_so_many_successes_or_more(of, part, share):
    count = round(part * of)
    assert at_least(count, of, share) == pytest.approx(
        stats.binom.sf(count - 1, of, share), rel=1e-6, abs=1e-12
    )
