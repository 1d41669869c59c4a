"""Losses that a verdict may hide."""

from __future__ import annotations

import random

import pytest

from iogate.judge.gate import decide
from iogate.judge.loss import Terms, fall, is_below_all, seems_lost

WARMING = tuple(100.0 + 5 * place for place in range(20))


def test_a_session_is_held_against_the_best_of_as_many_repetitions():
    """The best of twenty is better than that of three by chance alone, or as a cache gets warm."""
    sessions = [[value + number / 10 for value in WARMING] for number in (1, 2, 3)]
    assert not is_below_all(WARMING[:4], sessions, "higher", 0.0)
    assert is_below_all([value * 0.79 for value in WARMING[:4]], sessions, "higher", 0.0)
    assert not is_below_all([0.0, 0.0], sessions, "higher", 0.0)


def test_latencies_lose_as_they_grow():
    sessions = [[100.0, 110.0], [101.0, 108.0], [99.0, 112.0]]
    assert is_below_all([120.1, 140.0], sessions, "lower", 0.0)
    assert not is_below_all([119.9, 140.0], sessions, "lower", 0.0)


def test_a_tolerance_beyond_the_largest_of_data_counts():
    sessions = [[100.0], [100.0], [100.0]]
    assert is_below_all([75.0], sessions, "higher", 0.2)
    assert not is_below_all([75.0], sessions, "higher", 0.3)


def test_sessions_that_lost_make_no_room_for_more():
    """One that was faster than usual had a device learn one loss of 15 to 20% after the other."""
    learnt = [[1000.0], [1000.0], [1180.0], [850.0], [850.0]]
    assert is_below_all([790.0], learnt, "higher", 0.0)
    assert not is_below_all([810.0], learnt, "higher", 0.0)
    assert not is_below_all([790.0], [*learnt, [780.0]], "higher", 0.0)  # the device is known to do that
    assert is_below_all([1270.0], [[1000.0], [1000.0], [850.0], [1180.0], [1180.0]], "lower", 0.0)


def test_of_few_sessions_all_repetitions_are_what_is_known():
    few = [[100.0, 80.0], [100.0, 90.0]]
    assert not is_below_all([79.0], few, "higher", 0.0)
    assert is_below_all([79.0], [*few, [100.0, 99.0]], "higher", 0.0)
    assert not is_below_all([79.0], [[], []], "higher", 0.0)


NOISY = ((934.0, 952.0, 984.0, 994.0, 993.0), (1004.0, 1001.0, 953.0, 1089.0, 1038.0))
TERMS: Terms = {
    "direction": "higher",
    "tolerance": 0.05,
    "alpha": 0.01,
    "beta": 0.05,
    "first_look": 2,
    "max_repetitions": 5,
    "metrics": 40,
    "borrowed": None,
    "resolution": 0.0,
}


@pytest.mark.parametrize(
    ("values", "lost"),
    [
        ([783.0, 804.0, 762.0, 796.0, 806.0], True),
        ([900.0, 921.0, 915.0, 899.0, 912.0], False),  # no more than twice the tolerance
        ([863.0, 874.0, 842.0, 866.0, 980.0], False),  # one was as fast as a session
    ],
)
@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_what_lost_twice_its_tolerance_and_was_never_so_slow_seems_lost(values, lost, direction):
    turned = [1e6 / value for value in values] if direction == "lower" else values
    sessions = [[1e6 / value for value in each] if direction == "lower" else each for each in NOISY]
    terms: Terms = {**TERMS, "direction": "lower" if direction == "lower" else "higher"}
    decision = decide(sessions, turned, **terms)
    assert decision.verdict in ("continue", "inconclusive")
    assert seems_lost(turned, sessions, sessions, decision, terms) == lost


def test_noise_of_any_size_explains_what_it_explains():
    """Three times the tolerance below sessions that differ widely is nothing new there."""
    wild = [[1000.0, 1003.0, 998.0], [1350.0, 1347.0, 1352.0], [1150.0, 1148.0, 1153.0]]
    values = [960.0, 962.0, 959.0]
    decision = decide(wild, values, **TERMS)
    assert not seems_lost(values, wild, wild, decision, TERMS)


STEPS = [[1000.0, 1004.0], [981.0], [960.0, 961.0], [941.0], [921.0], [902.0]]


def test_what_is_lost_in_small_steps_is_told_from_the_fifth_session_on():
    """Each widens the noise between sessions by as much as it is: a loss of a third was learnt."""
    assert not fall(STEPS[3], STEPS[:3], "higher", 0.05)
    assert fall(STEPS[4], STEPS[:4], "higher", 0.05)
    assert not fall(STEPS[4], STEPS[:4], "higher", 0.09)  # within the tolerance since the first
    assert not fall(STEPS[4], [STEPS[0], *reversed(STEPS[1:4])], "higher", 0.05)
    assert not fall([1.0], [], "higher", 0.05)


def test_one_rise_among_six_may_be_noise_and_two_may_not():
    assert fall(STEPS[5], [*STEPS[:3], STEPS[4], STEPS[3]], "higher", 0.05)
    assert not fall(STEPS[5], [STEPS[1], STEPS[0], STEPS[2], STEPS[4], STEPS[3]], "higher", 0.05)


def test_latencies_get_worse_as_they_grow_from_session_to_session():
    grown = [[1e6 / value for value in each] for each in STEPS]
    assert fall(grown[4], grown[:4], "lower", 0.05)
    assert not fall(STEPS[4], STEPS[:4], "lower", 0.05)


def test_hardly_any_sessions_of_one_speed_seem_to_fall():
    source = random.Random(3)
    found = [
        fall([drawn.pop()], [[value] for value in drawn], "higher", 0.05)
        for _ in range(3000)
        for drawn in [[source.gauss(1000, 50) for _ in range(source.randint(3, 12))]]
    ]
    assert sum(found) < 0.01 * len(found)
