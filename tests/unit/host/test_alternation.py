"""Two programs by turns: one works while the other is stopped, and none is left, stopped or not."""

import os
import random
import statistics
import sys
import time
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from iogate.errors import EngineError
from iogate.host import alternation
from iogate.host.alternation import Alternated, Call, Turns, alternate
from iogate.host.process import start
from projects import working_in
from waiting import eventually

TURNS = Turns(slice=0.02, settle=0.002, gap=0.001)
# Writes blocks to the disk until its time is over: the kernel counts them for the process at once.
WORKER = """
import os, sys, time
seconds, block = float(sys.argv[1]), b"x" * int(sys.argv[2])
file = os.open("data", os.O_CREAT | os.O_RDWR)
end = time.monotonic() + seconds
while time.monotonic() < end:
    os.pwrite(file, block, 0)
    os.fsync(file)
"""
FORKING = "import os, sys\nif os.fork():\n    os.wait()\n    sys.exit()\n" + WORKER
PLACED = (
    """
import os
with open("placed", "w") as file:
    print(sorted(os.sched_getaffinity(0)), os.environ.get("GLIBC_TUNABLES", ""), file=file)
"""
    + WORKER
)
# Dirties fresh pages of the cache, one each half a millisecond: neither the disk nor others set its pace.
PACED = """
import os, sys, time
seconds, block = float(sys.argv[1]), b"x" * int(sys.argv[2])
file = os.open("data", os.O_CREAT | os.O_RDWR | os.O_APPEND)
end = time.monotonic() + seconds
while time.monotonic() < end:
    os.write(file, block)
    time.sleep(0.0005)
"""
IDLE = "import time; time.sleep(60)"


@pytest.fixture
def folders(tmp_path):
    for name in "AB":
        (tmp_path / name).mkdir()
    return tmp_path / "A", tmp_path / "B"


def worker(folder, seconds=60.0, *, block=4096, program=WORKER, processes=1, lasting=1.0, timeout=60.0):
    """A program that works for so many seconds, on a file of its own that is there when it begins."""
    with (folder / "data").open("wb") as stream:
        stream.write(b"x" * block)
        os.fsync(stream.fileno())
    argv = (sys.executable, "-S", "-c", program, str(seconds), str(block))
    return Call(argv, folder, processes, lasting, timeout)


def by_turns(folders, seconds=1.2, lasting=1.0, **more) -> Alternated:
    calls = tuple(worker(folder, seconds, lasting=lasting, **more) for folder in folders)
    return alternate(calls, TURNS, seed=7)


def placed(folders, processors):
    """On which processors both ran."""
    calls = [replace(worker(folder, 1.2, program=PLACED), processors=processors) for folder in folders]
    alternate((calls[0], calls[1]), TURNS, seed=7)
    return [(folder / "placed").read_text() for folder in folders]


def gone(folders):
    """No program that worked in these folders is there any more."""
    eventually(lambda: not [line for folder in folders for line in working_in(folder)])
    return True


def test_either_arm_is_started_first(folders):
    """Who comes first may get the idler processor."""
    first = set()
    for seed in (0, 1):  # of which one draws 1, the other 0
        calls = [worker(folder, 1.2) for folder in folders]
        told = [
            replace(call, argv=("sh", "-c", 'echo $$ > begun; exec "$@"', "sh", *call.argv)) for call in calls
        ]
        alternate((told[0], told[1]), TURNS, seed=seed)
        first.add(min(folders, key=lambda folder: int((folder / "begun").read_text())))
    assert first == set(folders)


def test_each_four_slices_are_balanced_in_order(folders):
    done = by_turns(folders)
    arms = "".join(item.arm for item in done.slices)
    assert len(arms) >= 12 and len(arms) % 4 == 0
    assert {arms[at : at + 4] for at in range(0, len(arms), 4)} <= {"ABBA", "BAAB"}
    assert Counter(arms)["A"] == Counter(arms)["B"]


def test_the_order_comes_of_the_seed(folders):
    def order():
        done = by_turns(folders)
        return [item.arm for item in done.slices][:12]

    assert order() == order()


def test_one_works_while_the_other_is_stopped(folders):
    done = by_turns(folders)
    own = sum(item.written for item in done.slices)
    assert own > 0
    assert sum(item.other for item in done.slices) <= 0.05 * own
    assert {item.arm for item in done.slices if item.written} == {"A", "B"}


def test_slices_are_as_long_as_asked_and_one_after_the_other(folders):
    slices = by_turns(folders).slices
    assert min(item.seconds for item in slices) >= TURNS.slice
    pairs = pairwise(slices)
    assert all(one.start + one.seconds + TURNS.gap <= two.start for one, two in pairs)


def test_both_programs_have_ended_and_their_output_is_kept(folders):
    said = worker(folders[1], 1.5, program=WORKER + "print('done')")
    done = alternate((worker(folders[0], 1.5), said), TURNS, seed=1)
    assert [item.status for item in done.completed] == [0, 0]
    assert done.completed[1].stdout == "done\n"
    assert gone(folders)


def test_what_a_program_started_works_and_rests_with_it(folders):
    done = by_turns(folders, program=FORKING, processes=2)
    own = sum(item.written for item in done.slices)
    assert own > 0
    assert sum(item.other for item in done.slices) <= 0.05 * own
    assert gone(folders)


def test_a_kernel_that_lists_no_children_is_asked_for_parents(folders, monkeypatch):
    monkeypatch.setattr(alternation, "_lists_children", lambda: False)
    done = by_turns(folders, 4.0, lasting=3.5, program=FORKING, processes=2)
    own = sum(item.written for item in done.slices)
    assert own > 0
    assert sum(item.other for item in done.slices) <= 0.05 * own
    assert gone(folders)


def test_both_ways_of_looking_find_the_same_processes(tmp_path):
    program = "import os, time\nos.fork()\nos.fork()\nprint('up', flush=True)\ntime.sleep(60)"
    with start([((sys.executable, "-S", "-c", program), tmp_path)]) as (started,):
        eventually(lambda: (tmp_path / "stdout").read_text().count("up") == 4)
        root = started.process.pid

        def descendants(children):
            found, new = set(), [root]
            while new:
                new += children(found.add(member := new.pop()) or member)
            return found

        listed = descendants(alternation._listed)
        assert len(listed) == 4
        assert descendants(alternation._by_parents().__getitem__) == listed


def test_a_program_that_ends_too_early_is_told(folders):
    calls = worker(folders[0], 1.0), worker(folders[1], 0.1)
    with pytest.raises(EngineError, match="slices of 20 ms came about"):
        alternate(calls, TURNS, seed=1)
    assert gone(folders)


def test_a_program_that_fails_is_left_to_who_reads_its_output(folders):
    calls = worker(folders[0], 0.2), worker(folders[1], program="import sys; sys.exit('no disk')")
    done = alternate(calls, TURNS, seed=1)
    assert (done.completed[1].status, done.completed[1].stderr) == (1, "no disk\n")
    assert len(done.slices) < 12


def test_programs_without_io_are_told(folders, monkeypatch):
    monkeypatch.setattr(alternation, "_STARTING", 0.3)
    calls = worker(folders[0]), worker(folders[1], program=IDLE)
    with pytest.raises(EngineError, match="no I/O within 0 s of the start"):
        alternate(calls, TURNS, seed=1)
    assert gone(folders)


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_whatever_ends_it_no_program_is_left_stopped_or_not(folders, error):
    def tick(elapsed):
        raise error

    calls = tuple(worker(folder, program=FORKING, processes=2) for folder in folders)
    with pytest.raises(error):
        alternate(calls, TURNS, seed=1, tick=tick)
    assert gone(folders)


def test_a_program_that_hangs_is_ended_at_its_limit(folders):
    calls = tuple(worker(folder, 60.0, lasting=0.4, timeout=1.5) for folder in folders)
    started = time.monotonic()
    done = alternate(calls, TURNS, seed=1)
    assert [item.timed_out for item in done.completed] == [True, True]
    assert time.monotonic() - started < 30
    assert gone(folders)


def test_a_program_that_cannot_start_leaves_the_other_neither(folders):
    missing = Call(("/nonexistent/engine",), folders[1], 1, 1.0, 60.0)
    with pytest.raises(EngineError, match="cannot start"):
        alternate((worker(folders[0]), missing), TURNS, seed=1)
    assert gone(folders)


def test_a_handicap_takes_its_share_of_each_slice(folders):
    """Half of each slice: what is moved falls to about a half, whatever the machine does meanwhile.

    By the medians, as a busy machine makes a sleep longer now and then: a handicapped slice has more.
    """
    turns = Turns(slice=0.08, settle=0.002, gap=0.001, handicap=(0.0, 0.5))
    calls = tuple(worker(folder, 2.8, lasting=2.6, program=PACED) for folder in folders)
    slices = alternate(calls, turns, seed=3).slices
    moved = {arm: statistics.median(item.written for item in slices if item.arm == arm) for arm in "AB"}
    assert 0.2 < moved["B"] / moved["A"] < 0.8


def test_programs_last_as_long_as_their_turns_and_a_margin():
    assert TURNS.seconds == pytest.approx(0.023)
    assert TURNS.lasting(100) > 100 * TURNS.seconds


# ------------------------------------------------------------ the luck of a process


def test_both_keep_to_the_same_processor_and_ask_for_huge_pages(folders, monkeypatch):
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.check=0")
    usable = os.sched_getaffinity(0)
    first, second = placed(folders, processors=1)
    assert first == second
    if len(usable) > 1:
        assert first.partition("]")[0].count(",") == 0
    assert first.endswith("glibc.malloc.hugetlb=1:glibc.malloc.check=0\n")
    assert os.sched_getaffinity(0) == usable


def test_who_chooses_its_processors_or_memory_itself_is_left_alone(folders, monkeypatch):
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    assert placed(folders, processors=0) == [f"{sorted(os.sched_getaffinity(0))} \n"] * 2


def test_the_processors_are_as_many_as_both_need_and_drawn_anew_for_each_block(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {2, 3, 5, 7})
    drawn = [alternation.shared_processors([1, 2], random.Random(seed)) for seed in range(40)]
    assert {len(set(processors)) for processors in drawn} == {2}
    assert set().union(*drawn) == {2, 3, 5, 7}
    assert alternation.shared_processors([1, 4], random.Random(1)) == []
    assert alternation.shared_processors([0, 1], random.Random(1)) == []
