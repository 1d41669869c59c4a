"""An engine invocation: what of its data it reads through the page cache."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from fake_bench import reads
from iogate.measure.invocation import Invocation
from iogate.model import Command, Needs, Place

DATA = Path("/data"), Path("/data-1")
BUFFERED = Needs(size=2**20, reads=True)


def invocation(needs, backing="ext4"):
    site = SimpleNamespace(target=SimpleNamespace(backing=backing))
    place = Place(DATA[0], None, Path("/folder"), DATA[1:])
    return Invocation(reads("a"), needs, site, place, Command(("fio",), 1.0), (), Path("/held"))


def test_what_is_read_ahead_is_of_the_data_that_go_through_the_page_cache():
    assert invocation(BUFFERED).buffered == DATA


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"direct": True}, id="past it"),
        pytest.param({"reads": False, "writes": True}, id="writes"),
        pytest.param({"cached": True}, id="meant to be there"),
        pytest.param({"target": False}, id="without a target"),
    ],
)
def test_nothing_else_is_waited_for(change):
    assert invocation(replace(BUFFERED, **change)).buffered == ()


def test_nor_is_memory_which_drops_nothing():
    assert invocation(BUFFERED, backing="tmpfs").buffered == ()
