"""Sessions of a metric as points."""

import random
from types import SimpleNamespace

import pytest

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
