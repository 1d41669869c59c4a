"""Sessions of a metric as points."""

import math
import random
from types import SimpleNamespace

import pytest

from iogate.judge.history import find_levels
from iogate.report.history.points import points_of

IOPS = "read.iops"
WARMING = (0.75, 0.83, 0.89, 0.93, 0.95)


def points(lengths, course, noise=0.01):
    source = random.Random(1)
    items = [
        SimpleNamespace(
            values={IOPS: tuple(2000 * place * source.gauss(1, noise) for place in course[:length])},
            session=SimpleNamespace(id=str(number), date="2026-01-01", file="results.json"),
        )
        for number, length in enumerate(lengths)
    ]
    return points_of(items, IOPS)


@pytest.mark.parametrize("lengths", [[5] * 4 + [2] * 8, [5] * 4 + [1] * 8, [5] * 8 + [2] * 3], ids=str)
def test_two_repetitions_of_a_device_that_warms_up_are_no_slower_than_five(lengths):
    found = points(lengths, WARMING)
    long, short = found[0].value, found[-1].value
    assert short == pytest.approx(long, rel=0.03)
    assert [point.repetitions for point in found] == lengths


def test_where_places_are_alike_all_repetitions_count():
    found = points([5] * 4 + [2] * 8, (1.0, 1.0, 1.0, 1.0, 1.05), noise=0.001)
    assert found[0].value == pytest.approx(2000, rel=0.005)  # an outlier of five
    assert points([5] * 4, WARMING)[0].value == pytest.approx(1740, rel=0.02)


def bin_of_fio(value):
    """Return the middle of the bin of fio's histogram that a latency in ns falls into: 64 for each octave."""
    width = 2.0 ** (math.floor(math.log2(value)) - 6)
    return (math.floor(value / width) + 0.5) * width


def change_points(source, behind=1.0, noise=0.005):
    """Return where a series of 24 sessions changes whose values fio bins; it does so after the twelfth."""
    centre = 100_000 * 2 ** source.random()
    items = []
    for number in range(24):
        level = centre * (behind if number >= 12 else 1.0) * source.gauss(1, noise)
        values = tuple(bin_of_fio(level * source.gauss(1, noise / 3)) for _ in range(3))
        session = SimpleNamespace(id=str(number), date="2026-01-01", file="results.json")
        items.append(SimpleNamespace(values={IOPS: values}, session=session))
    found = points_of(items, IOPS)
    return find_levels(
        [math.log(point.value) for point in found], [point.error for point in found]
    ).change_points


@pytest.mark.parametrize("noise", [0.002, 0.005])
def test_bins_that_a_quiet_device_is_between_are_no_changes(noise):
    """Sessions in the next bin were taken for spikes, until three came in a row: in one series of six."""
    source = random.Random(4)
    assert [change_points(source, noise=noise) for _ in range(40)] == [()] * 40


def test_and_a_change_of_some_bins_is_one():
    source = random.Random(5)
    found = [change_points(source, behind=1.05) for _ in range(10)]
    assert all(len(places) == 1 and abs(places[0] - 12) <= 1 for places in found)
