"""How devices differ: estimates, intervals, and what cannot be told."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iogate.judge.fleet import spread_of

VALUES = st.lists(st.lists(st.floats(-3, 3), min_size=1, max_size=5), min_size=2, max_size=8)


def test_the_components_of_balanced_data_are_those_of_the_analysis_of_variance():
    found = spread_of([[1.0, 1.2], [2.0, 2.2], [3.0, 3.4]])
    inner = (0.02 + 0.02 + 0.08) / 3
    outer = 2 * np.var([1.1, 2.1, 3.2], ddof=1)
    assert found.within == pytest.approx(math.sqrt(inner))
    assert found.between == pytest.approx(math.sqrt((outer - inner) / 2))
    assert found.together == pytest.approx(math.hypot(found.within, found.between))
    assert (found.devices, found.sessions) == (3, 6)


def test_a_single_session_each_cannot_tell_devices_from_sessions():
    found = spread_of([[1.0], [1.1], [0.9]])
    assert found.between is None
    assert found.within is None
    assert found.together == pytest.approx(0.1)
    low, high = found.together_interval
    assert low == pytest.approx(0.1 * math.sqrt(2 / 7.3778), rel=1e-3)  # of chi-square with 2 degrees
    assert high == pytest.approx(0.1 * math.sqrt(2 / 0.050636), rel=1e-3)


def test_devices_that_do_not_differ_beyond_their_sessions_may_not_differ_at_all():
    found = spread_of([[1.0, 1.4], [1.4, 1.0], [1.2, 1.2]])
    assert found.between == 0.0
    assert found.between_interval[0] == 0.0
    assert found.between_interval[0] <= 0.0 <= found.between_interval[1]


@given(VALUES)
def test_intervals_hold_what_was_estimated_and_are_finite(devices):
    found = spread_of(devices)
    pairs = (found.between, found.between_interval), (found.within, found.within_interval)
    for value, interval in (*pairs, (found.together, found.together_interval)):
        if value is None or interval is None:
            continue
        assert 0 <= interval[0] <= value * (1 + 1e-9) + 1e-9
        assert value <= interval[1] * (1 + 1e-9) + 1e-9
        assert math.isfinite(interval[1])


@given(VALUES, st.randoms())
def test_the_order_of_devices_does_not_matter(devices, random):
    shuffled = list(devices)
    random.shuffle(shuffled)
    one, other = spread_of(devices), spread_of(shuffled)
    assert one.together == pytest.approx(other.together, abs=1e-9)


@pytest.mark.parametrize("counts", [[3] * 6, [1, 5, 2, 4, 3, 3, 1, 5]], ids=["balanced", "unbalanced"])
def test_intervals_cover_what_they_should(counts):
    random = np.random.default_rng(7)
    between = within = 0
    for _ in range(400):
        devices = [random.normal(0, 0.02) + random.normal(0, 0.01, count) for count in counts]
        found = spread_of([list(map(float, device)) for device in devices])
        between += found.between_interval[0] <= 0.02 <= found.between_interval[1]
        within += found.within_interval[0] <= 0.01 <= found.within_interval[1]
    assert 364 <= between <= 396  # 95%, give or take four standard errors
    assert 364 <= within <= 396
