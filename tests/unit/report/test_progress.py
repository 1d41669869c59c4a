"""What is going on now: one living line on a terminal, plain lines elsewhere."""

from dataclasses import replace
from types import MappingProxyType

import pytest

from iogate.errors import Position
from iogate.model import Output, Repetition, Workload
from iogate.report.progress import Progress

WORKLOAD = Workload("random_read", "demo", "fio", MappingProxyType({}), Position("x"))
DONE = Repetition(Output({"read.bandwidth": 2.0**30, "read.iops": 2000.0}, {}), 3.0, "folder")


@pytest.fixture
def shown():
    return []


def test_a_terminal_shows_workload_repetition_bandwidth_and_time_left(shown):
    progress = Progress(shown.append, living=True, quiet=False)
    progress.repetition(WORKLOAD, 2, 5, seconds=3, left=30)
    progress.tick(1.0, 100 * 2.0**20)
    assert shown[-1] == "\r\x1b[Kdemo: random_read 2/5, 100.0 MiB/s, 1.0 s, 29 s left"
    progress.repeated(WORKLOAD, 2, DONE)
    assert shown[-1] == "\r\x1b[K"


def test_an_unknown_bandwidth_is_left_out(shown):
    progress = Progress(shown.append, living=True, quiet=False)
    progress.repetition(WORKLOAD, "pilot", 5, seconds=3, left=30)
    progress.tick(1.0, None)
    assert shown[-1].endswith("demo: random_read pilot, 1.0 s, 29 s left")


def test_elsewhere_there_is_one_plain_line_a_repetition(shown):
    progress = Progress(shown.append, living=False, quiet=False)
    progress.repetition(WORKLOAD, 2, 5, seconds=3, left=30)
    progress.tick(1.0, None)
    progress.repeated(WORKLOAD, 2, DONE)
    progress.ended()
    assert shown == ["demo: random_read 2/5: read.bandwidth 1024 MiB/s, read.iops 2.000 k IOPS\n"]


def test_of_a_block_both_arms_are_shown(shown):
    progress = Progress(shown.append, living=False, quiet=False)
    base = Repetition(Output({"read.iops": 1000.0}, {}), 3.0, "folder")
    progress.repetition(WORKLOAD, 2, 5, seconds=3, left=30)
    progress.repeated(WORKLOAD, 2, replace(DONE, base=base))
    assert shown == [
        "demo: random_read 2/5: read.bandwidth A ?, B 1024 MiB/s, read.iops A 1.000 k IOPS, B 2.000 k IOPS\n"
    ]


def test_nothing_is_shown_if_nothing_is_wanted(shown):
    progress = Progress(shown.append, living=True, quiet=True)
    progress.repetition(WORKLOAD, 1, 5, seconds=3, left=30)
    progress.laying_out(1, 2)
    progress.repeated(WORKLOAD, 1, DONE)
    assert shown == []


def test_the_living_line_is_taken_away_when_the_session_ends(shown):
    progress = Progress(shown.append, living=True, quiet=False)
    progress.laying_out(2**29, 2**30)
    assert "laying out 1.000 GiB of data, 50%" in shown[-1]
    progress.ended()
    assert shown[-1] == "\r\x1b[K"
