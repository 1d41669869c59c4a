"""Each device against the others: false alarms, what is found, and when nothing is tested."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iogate.judge.fleet import FEWEST, Standing, beyond_chance, standings

ALPHA = 0.01


def draw(random, counts, between=0.02, within=0.007, slow=0.0):
    devices = [list(map(float, random.normal(0, between) + random.normal(0, within, n))) for n in counts]
    devices[0] = [value + slow for value in devices[0]]
    return devices


def test_a_device_is_held_against_a_prediction_from_the_others():
    devices = [[0.1], [0.0], [0.02], [-0.02], [0.01], [-0.01]]
    first = standings(devices)[0]
    others = np.array([0.0, 0.02, -0.02, 0.01, -0.01])
    assert first.worse == pytest.approx(0.1)
    assert first.error == pytest.approx(others.std(ddof=1) * math.sqrt(1 + 1 / 5))
    assert first.degrees == 4


def test_below_six_devices_nothing_is_tested():
    assert FEWEST == 6
    found = standings([[0.0], [0.0], [0.0], [0.0], [9.0]])
    assert [one.degrees for one in found] == [0.0] * 5
    assert beyond_chance(found, ALPHA) == [False] * 5


def test_sessions_of_a_device_do_not_count_as_devices():
    many, few = ([[value] * count for value in (0.1, 0, 0.02, -0.02, 0.01, -0.01)] for count in (9, 1))
    assert [one.error for one in standings(many)] == pytest.approx([one.error for one in standings(few)])


def test_a_device_that_was_measured_less_than_the_others_is_known_less_well():
    rows = [[value - 0.05, value + 0.05, value] for value in (0.1, 0, 0.02, -0.02, 0.01, -0.01)]
    fewer = [[0.1], *rows[1:]]
    assert standings(fewer)[0].error > standings(rows)[0].error


def test_identical_values_are_known_no_better_than_anybody_measures():
    found = standings([[0.0003], *[[0.0]] * 9])
    assert beyond_chance(found, ALPHA) == [False] * 10


@pytest.mark.parametrize("counts", [[1] * 6, [3] * 10, [1, 5, 5, 5, 5, 5]], ids=["6", "10", "unbalanced"])
def test_equal_devices_raise_at_most_one_false_alarm_in_a_hundred_fleets(counts):
    random = np.random.default_rng(11)
    alarms = sum(any(beyond_chance(standings(draw(random, counts)), ALPHA)) for _ in range(800))
    assert alarms <= 20  # 1% and four standard errors


def test_a_device_that_is_slow_is_found_and_a_fast_one_is_not_meant():
    random = np.random.default_rng(5)
    found = [beyond_chance(standings(draw(random, [2] * 20, slow=0.16)), ALPHA) for _ in range(100)]
    assert sum(one[0] for one in found) > 90
    fast = [beyond_chance(standings(draw(random, [2] * 20, slow=-0.5)), ALPHA) for _ in range(50)]
    assert not any(map(any, fast))


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=12), st.floats(0.001, 0.2))
def test_what_is_found_is_what_holms_procedure_finds(distances, alpha):
    scipy = pytest.importorskip("scipy.stats")
    chances = [float(scipy.t.sf(distance, 5)) for distance in distances]
    rejected, order = set(), sorted(range(len(chances)), key=chances.__getitem__)
    for step, index in enumerate(order):
        if chances[index] > alpha / (len(chances) - step):
            break
        rejected.add(index)
    found = beyond_chance([Standing(distance, 1.0, 5.0) for distance in distances], alpha)
    assert {index for index, one in enumerate(found) if one} == rejected
