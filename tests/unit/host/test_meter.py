"""What is waited for as long as a device moves data."""

import pytest

from iogate.host import meter, sysfs
from iogate.host.meter import Meter


@pytest.fixture
def device(monkeypatch):
    """A device that has moved so many sectors, and a clock; both as a test sets them."""
    state = {"sectors": 0, "now": 1000.0}
    monkeypatch.setattr(sysfs, "text", lambda path: f"1 0 {state['sectors']} 0 0 0 0 0 0 0 0")
    monkeypatch.setattr(meter.time, "monotonic", lambda: state["now"])
    return state


def test_a_device_that_moves_data_is_waited_for_until_the_longest_has_passed(device):
    read = Meter("7:0")
    for second in range(1, 500):
        device["now"] += 1
        device["sectors"] += second % 50 == 0
        read.tick()
        assert read.goes_on(second, 500)
    assert not read.goes_on(500, 500)


@pytest.mark.parametrize("number", ["7:0", None])
def test_one_that_stands_still_or_is_not_known_is_not(device, number):
    read = Meter(number)
    device["now"] += meter.PATIENCE
    read.tick()
    assert not read.goes_on(meter.PATIENCE, 3600)
