"""The estimates by two blocks each, and their bounds, on numbers that can be checked by hand."""

import math

import pytest

from iogate.judge.pair.looks import PairLooks, fewest_blocks
from iogate.judge.pair.shift import read_shift


def test_one_arrangement_takes_the_means_of_any_two_blocks():
    shift = read_shift([3.0, 1.0, 8.0], None)
    assert shift.pairs == [1.0, 2.0, 3.0, 4.5, 5.5, 8.0]
    assert shift.worse == 3.75
    assert shift.place is None
    assert shift.bound(1 / 8, -1) == 1.0
    assert shift.bound(1 / 8, 1) == 8.0
    assert shift.bound(2 / 8, -1) == 2.0
    assert shift.bound(0.12, -1) == -math.inf
    assert shift.bound(0.12, 1) == math.inf


def test_two_arrangements_take_a_block_of_each():
    shift = read_shift([11.0, -8.0, 13.0, -10.0], [False, True, False, True])
    assert shift.pairs == [0.5, 1.5, 1.5, 2.5]
    assert shift.worse == 1.5
    assert shift.place == pytest.approx(10.5)
    assert shift.bound(1 / 6, -1) == 0.5
    assert shift.bound(1 / 6, 1) == 2.5
    assert shift.bound(0.16, 1) == math.inf


def test_both_arrangements_weigh_equally_however_many_blocks_they_have():
    shift = read_shift([10.0] * 9 + [-10.0], [False] * 9 + [True])
    assert shift.worse == 0.0
    assert not shift.balanced


def test_the_noise_does_not_contain_the_place_effect():
    shift = read_shift([1.0, -1.0, 1.01, -0.99, 1.02, -1.01], [False, True] * 3)
    assert shift.noise < 0.03


def test_what_lies_far_off_is_an_outlier_of_its_side():
    values = [0.01 * (i % 5 - 2) for i in range(20)]
    assert read_shift([*values, 0.5, -0.6, -0.7], None).outliers == (2, 1)
    swapped = [i % 2 == 0 for i in range(22)]
    turned = [value - 1 if moved else value + 1 for value, moved in zip(values, swapped, strict=False)]
    assert read_shift([*turned, -1.0, 2.0], swapped).outliers == (0, 1)


@pytest.mark.parametrize(
    ("crossover", "metrics", "passing", "failing"),
    [(False, 1, 7, 10), (False, 40, 7, 15), (True, 1, 10, 12), (True, 40, 10, 18)],
)
def test_looks_begin_where_ranks_can_be_rare_enough(crossover, metrics, passing, failing):
    looks = PairLooks(0.01 / metrics, 0.05, 60, crossover)
    levels = {n: looks.levels(n) for n in range(1, 61)}
    assert next(n for n, (_, passed) in levels.items() if passed) == passing
    assert next(n for n, (fail, _) in levels.items() if fail) == failing
    assert fewest_blocks(0.01, 0.05, 60, metrics, crossover=crossover) == passing
    assert all(fail < 0.01 / metrics and passed < 0.05 for fail, passed in levels.values())
    assert all(fail <= passed for fail, passed in levels.values()), "a loss is no harder to call a gain"
