"""Where a series of sessions changes."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from iogate.errors import InputError
from iogate.judge.history import CHANCE, find_levels
from iogate.judge.history.spikes import without_spikes

noises = st.integers(0, 10_000)


def noise(seed, count, share=0.01):
    return np.random.default_rng(seed).standard_normal(count) * share


def test_a_step_of_five_per_cent_is_found_where_it_is():
    values = noise(3, 40)
    values[25:] += math.log(0.95)
    found = find_levels(values)
    assert found.change_points == (25,)
    before, after = found.levels
    assert after.mean - before.mean == pytest.approx(math.log(0.95), abs=0.01)
    assert after.chance <= CHANCE


@pytest.mark.parametrize("step", [math.log(1.5), math.log(0.98)])
@pytest.mark.parametrize(("before", "behind"), [(5, 26), (8, 25), (15, 15), (16, 9), (20, 20)])
@pytest.mark.parametrize("error", [0.0, 0.2])
def test_a_step_between_levels_of_which_all_values_are_alike_is_found(step, before, behind, error):
    """As of a device whose latency is set, in fio's bins: what a computer rounds was taken for the noise."""
    values = [17.0] * before + [17.0 + step] * behind
    found = find_levels(values, [error * abs(step)] * len(values))
    assert found.change_points == (before,)
    assert found.levels[1].mean - found.levels[0].mean == pytest.approx(step)


@pytest.mark.parametrize("each", [0.01, 0.02])
@pytest.mark.parametrize("count", [10, 15, 20])
def test_what_goes_one_way_all_the_time_is_told_although_no_step_stands_out(each, count):
    values = noise(4, count, 0.004) - each * np.arange(count)
    found = find_levels(values)
    assert found.trend
    assert not found.change_points
    assert found.described[-1].mean - found.described[0].mean < -each * count / 2
    assert found.noise < each * 1.5
    assert find_levels(values[::-1]).trend


def test_what_wanders_goes_no_way_all_the_time():
    told = 0
    for seed in range(60):
        values = noise(seed, 40)
        values[1:] *= math.sqrt(0.75)
        for index in range(1, 40):
            values[index] += 0.5 * values[index - 1]
        told += sum(find_levels(values[:count]).trend for count in (8, 12, 20, 40))
    assert told <= 1


def test_a_step_that_was_taken_back_is_two():
    values = noise(2, 60)
    values[30:40] -= 0.05
    assert find_levels(values).change_points == (30, 40)


@given(noises, st.integers(6, 30), st.integers(0, 29), st.floats(-1.0, 1.0))
@settings(max_examples=60, deadline=None, derandomize=True)  # by chance it is one in 4000
def test_a_spike_of_one_session_is_none(seed, count, place, height):
    values = noise(seed, count)
    assume(not find_levels(values).change_points)
    values[place % count] += height
    assert find_levels(values).change_points == ()


def test_spikes_with_one_session_between_them_are_none():
    values = noise(5, 30)
    values[[12, 14, 16, 22]] -= 0.3
    found = find_levels(values)
    assert found.change_points == ()
    assert {12, 14, 16, 22} <= set(found.spikes)


@given(st.integers(0, 30), st.floats(-5, 25))
@settings(max_examples=30, deadline=None)
def test_a_constant_series_has_no_change(count, value):
    assert find_levels([value] * count).change_points == ()


@given(noises, st.integers(6, 40), st.integers(3, 37), st.floats(-0.2, 0.2), st.floats(1e-3, 1e9))
@settings(max_examples=40, deadline=None)
def test_a_factor_on_all_changes_nothing(seed, count, place, step, factor):
    values = noise(seed, count)
    values[min(place, count - 3) :] += step
    found, moved = find_levels(values), find_levels(values + math.log(factor))
    assert moved.change_points == found.change_points
    assert [level.chance for level in moved.levels] == [level.chance for level in found.levels]


@given(noises, st.integers(6, 40), st.integers(3, 37), st.floats(-0.2, 0.2))
@settings(max_examples=40, deadline=None)
def test_a_series_read_backwards_has_mirrored_changes(seed, count, place, step):
    """But for what was told before its last sessions came, which are therefore none of another level here."""
    values = noise(seed, count)
    values[min(place, count - 3) :] += step
    values[:2], values[-2:] = values[2], values[-3]
    errors = np.abs(noise(seed + 1, count))
    found = find_levels(values, errors).change_points
    back = find_levels(values[::-1], errors[::-1]).change_points
    assert back == tuple(count - point for point in reversed(found))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_refused(bad):
    with pytest.raises(InputError, match="no number"):
        find_levels([0.0] * 7 + [bad])
    with pytest.raises(InputError, match="no number"):
        find_levels([0.0] * 2, [0.1, bad])


def test_each_value_has_its_error():
    with pytest.raises(InputError, match="2 values and 1 errors"):
        find_levels([0.0, 1.0], [0.1])


def test_sessions_with_large_errors_of_their_own_make_no_change():
    values = noise(4, 30)
    values[27:] += 0.08
    assert find_levels(values, [0.002] * 30).change_points == (27,)
    assert find_levels(values, [0.002] * 27 + [0.05] * 3).change_points == ()


def test_fewer_than_six_sessions_have_none():
    assert find_levels([0.0, 0.0, 0.0, 5.0, 5.0]).change_points == ()
    assert find_levels([]).levels == ()


def test_few_false_alarms_of_independent_and_of_correlated_sessions():
    random = np.random.default_rng(6)
    alarms = 0
    for _ in range(300):
        values = random.standard_normal(60)
        for index in range(1, 60):
            values[index] += 0.3 * values[index - 1]
        alarms += len(find_levels(0.01 * values[30:]).change_points)
    assert alarms <= 2


def test_sessions_of_two_speeds_that_chance_puts_side_by_side_are_no_change():
    """One session in five is slow: three in a row were a change with a chance of 1.5e-10."""
    told = 0
    for seed in range(12):
        values = noise(seed, 40, 0.003)
        slow = np.random.default_rng(1000 + seed).random(40) < 0.2
        values[slow] -= 0.08
        told += any(find_levels(values[:count]).change_points for count in range(12, 41, 2))
    assert told <= 1


@pytest.mark.parametrize("slow", [(4, 11, 19), (4, 5, 19)], ids=["alone", "two side by side"])
def test_what_lasts_is_a_change_also_where_single_sessions_were_as_slow(slow):
    values = noise(5, 40, 0.003)
    values[list(slow)] -= 0.08
    values[32:] -= 0.08
    assert find_levels(values).change_points == (32,)
    assert not find_levels(values[:35]).change_points  # three of them may be chance


def test_a_level_of_three_sessions_is_their_mean_however_they_scatter():
    """It was the best of the three, and the other two were said to stand out alone."""
    values = noise(4, 14, 0.004)
    dip = np.log([1113 / 1453, 1130 / 1453, 1233 / 1453])
    values[7:10] = dip
    found = find_levels(values)
    assert found.change_points == (7, 10) and not found.spikes
    assert found.levels[1].mean == pytest.approx(dip.mean(), abs=1e-6)


def test_a_level_that_was_there_before_is_no_session_that_stands_out_alone():
    values = noise(6, 60, 0.003)
    values[10:20] -= 0.08
    values[45:] -= 0.08
    assert find_levels(values).change_points == (10, 20, 45)


@pytest.mark.parametrize("loss", [0.05, 0.2])
@pytest.mark.parametrize("places", [(15, 30, 45), (10, 20, 30, 40, 50), (20, 30, 50)], ids=str)
def test_losses_that_came_and_went_do_not_hide_one_another(loss, places):
    """Each is one of several levels, and no stretch differed enough from all the rest together."""
    values = noise(8, 60, 0.004)
    for number, (start, stop) in enumerate(zip(places, (*places[1:], 60), strict=True)):
        values[start:stop] += math.log(1 - loss) * (1 - number % 2)
    assert find_levels(values).change_points == places


def test_what_follows_a_dip_at_the_end_is_not_the_spike():
    values = np.array([0.1, -0.2, 0.3, 0.0, -0.1, 0.2, -0.7, -2.2, -2.8, 0.0, -0.3])
    assert without_spikes(values, 2.2)[-2:].tolist() == [0.0, -0.3]
    assert without_spikes(values[::-1], 2.2)[:2].tolist() == [-0.3, 0.0]


def test_where_sessions_often_stand_out_three_in_a_row_are_chance():
    values = noise(7, 32) * 0.4
    values[[6, 15, 18, 22]] -= 0.03
    values[29:] -= 0.022
    found = find_levels(values)
    assert found.spikes and found.change_points == ()


def test_what_comes_at_once_is_told_from_what_wanders():
    random = np.random.default_rng(5)
    missed = 0
    for _ in range(20):
        values = random.standard_normal(27)
        for index in range(1, 27):
            values[index] = 0.5 * values[index - 1] + math.sqrt(0.75) * values[index]
        values *= 0.01
        values[22:] += math.log(0.95)
        missed += not any(abs(point - 22) <= 3 for point in find_levels(values).change_points)
    assert missed <= 4


def test_less_is_left_to_chance_the_longer_one_looks():
    def told(count):
        values = noise(13, count)
        for share in np.arange(0.005, 0.1, 0.0005):
            values[-4:] -= 0.0005
            if found := find_levels(values).levels[1:]:
                return found[0].chance, share
        raise AssertionError

    assert told(14)[0] <= CHANCE
    assert told(64)[0] <= CHANCE / 16


@pytest.mark.parametrize("level", [0.0, 0.06, 0.2, -0.2, -0.05])
@pytest.mark.parametrize("further", [1, 2])
@pytest.mark.parametrize("scatter", [0.003, 0.01])
def test_what_is_told_stays_told_when_one_or_two_sessions_come_at_another_level(level, further, scatter):
    """As on the night on which the device that was slow for weeks has been repaired."""
    for seed in range(10):
        values = noise(seed, 15, scatter)
        values[10:] -= 0.1
        told = find_levels(values)
        later = np.append(values, level + noise(seed + 100, further, scatter))
        found = find_levels(later)
        assert told.change_points == (10,) == found.change_points
        assert found.levels[-1].stop == len(later)
        if level > 0:
            assert found.levels[1].mean == pytest.approx(told.levels[1].mean)
            assert set(found.spikes) >= set(range(15, len(later)))


@pytest.mark.parametrize("behind", [(0.0, -0.1), (-0.1, 0.0), (0.06, 0.0), (0.0, 0.2)])
def test_what_is_told_stays_told_whatever_the_last_two_sessions_are(behind):
    for seed in range(10):
        values = noise(seed, 17, 0.005)
        values[10:15] -= 0.1
        values[15:] += behind
        assert find_levels(values).change_points[:1] == (10,)


def test_what_goes_one_way_all_the_time_stays_told_when_it_is_repaired():
    values = noise(4, 20, 0.004) - 0.02 * np.arange(20)
    assert find_levels(values).trend
    for further in ([0.0], [0.0, 0.001]):
        found = find_levels(np.append(values, further))
        assert found.trend or found.change_points
        assert found.described[-1].mean - found.described[0].mean < -0.2


def test_one_or_two_sessions_of_another_level_make_no_change():
    for seed in range(40):
        values = noise(seed, 14)
        values[12:] -= 0.1
        for count in (13, 14):
            assert not find_levels(values[:count]).change_points
