"""What is going on now: living lines on a terminal, plain lines elsewhere."""

from dataclasses import replace
from types import MappingProxyType

import pyte
import pytest

from iogate.errors import Position
from iogate.model import Output, Repetition, Workload
from iogate.report.progress import Progress, Screen

WORKLOAD = Workload("random_read", "demo", "fio", MappingProxyType({}), Position("x"))
DONE = Repetition(Output({"read.bandwidth": 2.0**30, "read.iops": 2000.0}, {}), 3.0, "folder")


class Terminal:
    """A terminal of 60 columns, and what was written to it."""

    def __init__(self, columns=60):
        self.screen = pyte.Screen(columns, 10)
        self.screen.set_mode(pyte.modes.LNM)  # as a terminal's driver has it: a line feed returns, too
        self.stream = pyte.Stream(self.screen)
        self.text = ""

    def write(self, text):
        self.text += text
        self.stream.feed(text)

    @property
    def lines(self):
        return [line.rstrip() for line in self.screen.display if line.strip()]

    def progress(self, **more):
        return Progress(self.write, Screen(lambda: self.screen.columns, **more), quiet=False)


@pytest.fixture
def terminal():
    return Terminal()


@pytest.fixture
def shown():
    return []


def test_a_terminal_shows_workload_repetition_bandwidth_and_time_left(terminal):
    progress = terminal.progress()
    progress.repetition(WORKLOAD, 2, 5, seconds=3, left=30)
    progress.tick(1.5, 100 * 2.0**20)
    first, second = terminal.lines
    assert first.startswith("demo: random_read 2/5 ━") and first.endswith("100.0 MiB/s")
    assert first.count("━") in (10, 11)
    assert second.startswith("28 s left") and second.count("━") == 1


def test_the_time_spent_on_repetitions_before_counts(terminal):
    progress = terminal.progress()
    progress.repetition(WORKLOAD, 1, 2, seconds=10, left=20)
    progress.tick(10.0, None)
    progress.repetition(WORKLOAD, 2, 2, seconds=10, left=10)
    assert terminal.lines[1].startswith("10 s left") and terminal.lines[1].count("━") == 10


def test_an_unknown_bandwidth_is_left_out(terminal):
    progress = terminal.progress()
    progress.repetition(WORKLOAD, "pilot", 5, seconds=3, left=30)
    progress.tick(1.0, None)
    assert terminal.lines[0].startswith("demo: random_read pilot ━") and "B/s" not in terminal.lines[0]


@pytest.mark.parametrize("columns", [40, 60, 200])
def test_no_line_is_longer_than_the_terminal_is_wide_and_nothing_stays(columns):
    terminal = Terminal(columns)
    progress = terminal.progress()
    long = Workload("sweep[bs=4k,iodepth=128]" * 5, "demo", "fio", MappingProxyType({}), Position("x"))
    terminal.write("before\n")
    for left in (30, 27, 24):
        progress.repetition(long, 2, 5, seconds=3, left=left)
        progress.tick(1.0, 2.0**30)
    assert len(terminal.lines) == 3 and "1024 MiB/s" in terminal.lines[1]
    progress.repeated(long, 2, DONE)
    assert terminal.lines == ["before"]
    terminal.write("after\n")
    assert terminal.lines == ["before", "after"]


def test_a_terminal_that_became_narrower_is_drawn_for_as_it_is(terminal):
    progress = terminal.progress()
    progress.repetition(WORKLOAD, 2, 5, seconds=3, left=30)
    terminal.screen.columns = 30
    progress.tick(1.0, 2.0**30)
    drawn = terminal.text[terminal.text.rindex("\x1b[2K") :].replace("\x1b[2K", "").splitlines()
    assert "1024 MiB/s" in drawn[0] and max(map(len, drawn)) <= 30


def test_only_a_coloured_terminal_gets_colours(terminal):
    for colour in (False, True):
        terminal.progress(colour=colour).laying_out(1, 2)
        assert ("m━" in terminal.text) == colour


def test_a_terminal_of_ascii_gets_ascii(terminal):
    terminal.progress(encoding="ascii").tick(1.0, 2.0**20)
    assert terminal.text.isascii()


def test_names_of_suites_steer_no_terminal(terminal):
    bad = Workload("[red]x[/]\x1b[2J", "demo", "fio", MappingProxyType({}), Position("x"))
    terminal.progress().repetition(bad, 1, 2, seconds=3, left=30)
    assert terminal.lines[0].startswith("demo: [red]x[/]?[2J 1/2")


def test_the_cursor_is_never_hidden(terminal):
    progress = terminal.progress()
    progress.laying_out(1, 2)
    progress.ended()
    assert "\x1b[?25l" not in terminal.text


def test_elsewhere_there_is_one_plain_line_a_repetition(shown):
    progress = Progress(shown.append, quiet=False)
    progress.repetition(WORKLOAD, 2, 5, seconds=3, left=30)
    progress.tick(1.0, None)
    progress.repeated(WORKLOAD, 2, DONE)
    progress.ended()
    assert shown == ["demo: random_read 2/5: read.bandwidth 1024 MiB/s, read.iops 2.000 k IOPS\n"]


def test_of_a_block_both_arms_are_shown(shown):
    progress = Progress(shown.append, quiet=False)
    base = Repetition(Output({"read.iops": 1000.0}, {}), 3.0, "folder")
    progress.repetition(WORKLOAD, 2, 5, seconds=3, left=30)
    progress.repeated(WORKLOAD, 2, replace(DONE, base=base))
    assert shown == [
        "demo: random_read 2/5: read.bandwidth A ?, B 1024 MiB/s, read.iops A 1.000 k IOPS, B 2.000 k IOPS\n"
    ]


def test_nothing_but_notices_is_shown_if_nothing_is_wanted(shown):
    progress = Progress(shown.append, Screen(lambda: 80), quiet=True)
    progress.repetition(WORKLOAD, 1, 5, seconds=3, left=30)
    progress.laying_out(1, 2)
    progress.repeated(WORKLOAD, 1, DONE)
    assert shown == []
    progress.notice("another run is on the same disk")
    assert shown == ["another run is on the same disk\n"]


def test_the_living_lines_are_taken_away_when_the_session_ends(terminal):
    progress = terminal.progress()
    progress.laying_out(2**29, 2**30)
    assert terminal.lines[0].startswith("laying out 1.000 GiB of data ━")
    assert terminal.lines[0].endswith("50%")
    progress.ended()
    assert terminal.lines == []
