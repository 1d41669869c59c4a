"""How old sessions are, by their names."""

from datetime import datetime, timedelta, timezone

import pytest

from iogate.offline.ages import age_text, began, newest

NOW = datetime(2026, 1, 3, tzinfo=timezone.utc)


@pytest.mark.parametrize("name", ["imported-3f2a", "", "2026-13-45T00:00:00Z-aaaa", "2026-01-02"])
def test_a_name_that_tells_no_time_tells_no_age(name):
    assert began(name) is None
    assert age_text(began(name), NOW) == "not known"


def test_the_newest_is_that_of_the_latest_time_whatever_else_is_there():
    assert newest(
        ["2026-01-01T00:00:00Z-aaaa", "imported-x", "2026-01-02T00:00:00Z-aaaa"]
    ) == NOW - timedelta(1)
    assert newest([]) is None


@pytest.mark.parametrize(
    ("ago", "text"),
    [
        (timedelta(minutes=5), "5 min"),
        (timedelta(hours=47), "47 h"),
        (timedelta(days=12, hours=23), "12 days"),
        (timedelta(seconds=-1), "in the future"),
    ],
)
def test_ages_are_told_in_units_that_people_use(ago, text):
    assert age_text(NOW - ago, NOW) == text
