"""Steady state by the criterion of SNIA's Performance Test Specification."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iogate.measure.steady import Criterion, steadiness

PTS = Criterion()


def test_too_few_rounds_say_nothing():
    assert steadiness([100, 100, 100, 100], PTS) is None


def test_equal_rounds_are_steady():
    state = steadiness([100] * 5, PTS)
    assert state is not None
    assert (state.reached, state.range, state.slope) == (True, 0, 0)


@pytest.mark.parametrize(
    ("rounds", "reached"),
    [
        ([110, 90, 110, 90, 100], True),  # a range of exactly 20%, no trend
        ([111, 89, 111, 89, 100], False),  # a range of 22%
        ([105, 102.5, 100, 97.5, 95], True),  # a trend of exactly 10%
        ([106, 103, 100, 97, 94], False),  # a range of 12% and a trend of 12%
        ([900, 500, 300, 100, 100, 101, 99, 100], True),  # only the last five count
    ],
)
def test_range_and_trend_are_held_against_the_mean_of_the_last_rounds(rounds, reached):
    state = steadiness(rounds, PTS)
    assert state is not None
    assert state.reached is reached


def test_nothing_moved_is_never_steady():
    state = steadiness([0] * 5, PTS)
    assert state is not None
    assert not state.reached


def test_how_far_off_it_is_is_said_in_numbers():
    state = steadiness([100, 100, 100, 100, 200], PTS)
    assert state is not None
    assert "range over 83.3% (20% allowed)" in state.text(PTS)


@given(st.lists(st.floats(1, 1e6), min_size=5, max_size=9), st.floats(0.001, 1000))
def test_the_unit_does_not_matter(values, factor):
    one, other = steadiness(values, PTS), steadiness([value * factor for value in values], PTS)
    assert one is not None
    assert other is not None
    assert one.range == pytest.approx(other.range)
    assert one.slope == pytest.approx(other.slope, abs=1e-9)
