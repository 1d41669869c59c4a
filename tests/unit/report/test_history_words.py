"""Histories as people read them."""

from iogate.report.history.words import sparkline


def test_a_sparkline_goes_from_the_lowest_to_the_highest():
    assert sparkline([1.0, 2.0, 3.0, 8.0]) == "▁▂▃█"


def test_a_constant_metric_is_a_line():
    assert sparkline([5.0] * 4) == "▄▄▄▄"


def test_noise_is_no_mountain():
    assert sparkline([1.0, 1.01, 1.0], span=1.0) == "▄▅▄"


def test_many_sessions_are_as_many_medians_as_there_is_room():
    assert sparkline([1.0] * 100 + [2.0] * 100, width=4) == "▁▁██"
