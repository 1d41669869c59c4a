"""Location and scale of values among which there may be stalls."""

from __future__ import annotations

import itertools
import random
import statistics
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iogate.judge.gate.robust import rough_scale

values = st.lists(st.floats(min_value=-1, max_value=1), min_size=2, max_size=65)


@given(st.lists(values, min_size=1, max_size=3))
def test_the_rough_scale_is_that_of_all_pairs_in_a_session(sessions):
    pairs = [abs(a - b) for session in sessions for a, b in itertools.combinations(session, 2)]
    assert rough_scale(sessions) == pytest.approx(statistics.median(pairs) / (0.6745 * 2**0.5))


def test_many_repetitions_take_memory_in_proportion():
    """A baseline of 400 KB, somebody else's, took 24 GB."""
    generator = random.Random(1)
    session = [generator.random() for _ in range(16_000)]
    tracemalloc.start()
    found = rough_scale([session] * 3)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 * 2**20
    assert found == pytest.approx((1 - 0.5**0.5) / (0.6745 * 2**0.5), rel=0.02)
