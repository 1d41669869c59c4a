"""How fast another clock runs."""

import random

import pytest

from iogate.remote.pace import Pace


def heard(speed, *, beats=30, held_up=lambda number: 0.0, apart=2.0):
    """A pace after so many beats of a clock that runs at this speed, and says any time at first."""
    pace, source = Pace(), random.Random(1)
    for number in range(beats):
        pace.hear(5e5 + speed * apart * number, apart * number + source.uniform(0, 0.05) + held_up(number))
    return pace.ratio


@pytest.mark.parametrize("speed", [0.25, 0.8, 0.94, 1.0, 1.0005, 1.3])
def test_a_clock_is_as_fast_as_its_beats_tell(speed):
    assert heard(speed) == pytest.approx(speed, abs=0.01)


@pytest.mark.parametrize("late", [(29,), range(23, 30), range(6, 13), (12, 13, 20)])
def test_beats_that_were_held_up_make_no_other_clock(late):
    ratio = heard(1.0, held_up=lambda number: 10.0 if number in late else 0.0)
    assert ratio is None or ratio == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(("beats", "apart"), [(0, 2.0), (15, 2.0), (16, 0.1)])
def test_of_few_beats_nothing_is_known(beats, apart):
    assert heard(0.5, beats=beats, apart=apart) is None


def test_a_clock_that_slows_down_later_is_told():
    pace = Pace()
    for number in range(200):
        pace.hear(2.0 * min(number, 150) + 1.6 * max(number - 150, 0), 2.0 * number)
    assert pace.ratio == pytest.approx(0.8, abs=0.01)
