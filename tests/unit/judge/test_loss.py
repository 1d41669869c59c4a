"""Losses that a verdict may hide."""

from __future__ import annotations

from iogate.judge.loss import is_below_all

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
