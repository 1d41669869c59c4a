"""Two programs by turns: one is always stopped, the other works for a fraction of a second.

Whatever the machine does in such a short time befalls both, and cancels in the ratio of what they move. They
are stopped by SIGSTOP: it takes effect within 0.1 ms, needs neither root nor a cgroup, and a stopped process
still dies of SIGKILL, which one in a frozen cgroup of version 1 does not. What each moved is in
/proc/PID/io (proc(5)): direct I/O counts when it is submitted, in the process that submits it.

A process is luckier than another for as long as it lives, for two reasons that were found: the processor
that it is on, and how its buffers lie in memory, since a request of 1 MiB in scattered pages has more
segments than a device takes at once. So both keep to the same processors, as many as they can keep busy,
drawn for each block; and malloc asks for huge pages.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from iogate.errors import EngineError
from iogate.host import sysfs
from iogate.host.process import NOTHING_MORE, Completed, Program, start
from iogate.model import ARMS, Slice

_POLL = 0.005
_STARTING = 30.0  # seconds that engines get to begin their I/O
_LEAST = 3  # balanced turns of a block, below which it says nothing


@dataclass(frozen=True)
class Call:
    """A program to run: `argv` in a `folder`.

    At work it is `processes` processes, which keep `processors` processors busy at most (0: it chooses them,
    or its memory, itself); it ends by itself `lasting` seconds after it has begun, within `timeout` of its
    start.
    """

    argv: Sequence[str]
    folder: Path
    processes: int
    lasting: float
    timeout: float
    processors: int = 0


@dataclass(frozen=True)
class Turns:
    """How long a turn of one arm is, in seconds: nobody works for `gap`, what comes in the next `settle` does
    not count, and then comes the slice.

    `handicap` is the share of each slice in which arms A and B are stopped although it is theirs: a loss that
    is known, to try the method with.
    """

    slice: float = 0.064
    settle: float = 0.004
    gap: float = 0.002
    handicap: tuple[float, float] = (0.0, 0.0)

    @property
    def seconds(self) -> float:
        """The length of a turn."""
        return self.gap + self.settle + self.slice

    def lasting(self, turns: int) -> float:
        """Return how long so many turns take, with a little for what each takes longer; programs must go on
        for longer than that, or their last slices would be cut short unseen.
        """
        return turns * self.seconds * 1.02 + 0.05


class TooFewSlices(EngineError):
    """Two programs did not work side by side for long enough to be compared; nothing is known of either."""


@dataclass(frozen=True)
class Alternated:
    """What two programs did, A and B, and in which slices."""

    completed: tuple[Completed, Completed]
    slices: tuple[Slice, ...]
    seconds: float


def alternate(
    calls: tuple[Call, Call], turns: Turns, seed: int, tick: Callable[[float], None] | None = None
) -> Alternated:
    """Run two programs side by side, by turns, as long as they last.

    The order is ABBA or BAAB, each time chosen by a generator of this `seed`, so that what changes evenly
    over four turns cancels. It also chooses who is started first, and so perhaps gets the idler processor:
    what that is worth must hit both arms as often. `tick` is called after each four with the seconds since
    the start. However this ends, both programs and all that they started are gone, stopped or not.

    Raises EngineError if they cannot be started or do no I/O, TooFewSlices if they end too early.
    """
    order = random.Random(seed)
    turned = 1 - 2 * order.randrange(2)  # 1: as given; -1: the other way round
    same = shared_processors([call.processors for call in calls], order)
    programs = [(call.argv, call.folder) for call in calls[::turned]]
    memory = huge_pages() if all(call.processors for call in calls) else NOTHING_MORE
    with start(programs, processors=same, environment=memory) as started:
        arms = started[::turned]
        trees = tuple(_Tree(program, call) for program, call in zip(arms, calls, strict=True))
        begun = started[0].started
        try:
            end = _wait_for_io(trees, begun) + min(call.lasting for call in calls)
            slices = tuple(_slices(trees, turns, order, begun, end, tick))
        finally:
            for tree in trees:
                tree.resume()
        for program, call, tree in zip(arms, calls, trees, strict=True):
            program.wait(call.timeout, tick=tree.wake)
    first, second = (program.completed() for program in arms)
    if len(slices) < 4 * _LEAST and not (first.status or second.status):
        raise TooFewSlices(
            f"only {len(slices)} slices of {turns.slice * 1000:.0f} ms came about: the engines began too "
            "late, or ended too early",
            remedy="is the machine overloaded? See stdout and stderr in the folders of both arms",
        )
    return Alternated((first, second), slices, time.monotonic() - begun)


def shared_processors(wanted: Sequence[int], order: random.Random) -> list[int]:
    """Return the processors that programs share which keep so many busy at most, drawn by `order` from those
    that this process may use; none where they need them all, or where one chooses them itself (0).
    """
    usable = sorted(os.sched_getaffinity(0))
    return order.sample(usable, max(wanted)) if all(wanted) and max(wanted) < len(usable) else []


def huge_pages() -> dict[str, str]:
    """Return the environment in which glibc's malloc (2.35 or newer) asks for huge pages, see
    "Memory Allocation Tunables" in its manual.
    """
    own = os.environ.get("GLIBC_TUNABLES")
    return {"GLIBC_TUNABLES": ":".join(filter(None, ("glibc.malloc.hugetlb=1", own)))}


def _slices(
    trees: Sequence[_Tree],
    turns: Turns,
    order: random.Random,
    begun: float,
    end: float,
    tick: Callable[[float], None] | None,
) -> Iterator[Slice]:
    """Yield the slices, four turns after four, as long as there is time for them and both programs live."""
    for tree in trees:
        tree.stop()
    while time.monotonic() + 4 * turns.seconds <= end and all(tree.alive for tree in trees):
        first = order.randrange(2)
        four = [_turn(trees, arm, turns, begun) for arm in (first, 1 - first, 1 - first, first)]
        if not all(tree.alive for tree in trees):
            return  # of the last turn nobody knows how much of it was work
        yield from four
        if tick:
            tick(time.monotonic() - begun)


def _turn(trees: Sequence[_Tree], arm: int, turns: Turns, begun: float) -> Slice:
    tree, other = trees[arm], trees[1 - arm]
    time.sleep(turns.gap)
    resting = tree.moved()
    tree.resume()
    time.sleep(turns.settle)
    if tree.moved() == resting:
        tree.wake()
    stopped, before, start = other.moved(), tree.moved(), time.monotonic()
    _work(tree, turns.slice, turns.handicap[arm])
    after, now, idle = tree.moved(), time.monotonic(), other.moved()
    tree.stop()
    return Slice(
        ARMS[arm],
        start - begun,
        now - start,
        after[0] - before[0],
        after[1] - before[1],
        sum(idle) - sum(stopped),
    )


def _work(tree: _Tree, seconds: float, handicap: float) -> None:
    """Let a program work for so long, but for a share of the time in the middle."""
    if not handicap:
        time.sleep(seconds)
        return
    time.sleep(seconds * (1 - handicap) / 2)
    tree.stop()
    time.sleep(seconds * handicap)
    tree.resume()
    time.sleep(seconds * (1 - handicap) / 2)


def _wait_for_io(trees: Sequence[_Tree], begun: float) -> float:
    """Return when the first of the programs began its I/O, once all have. Raises EngineError."""
    first = 0.0
    waiting = list(trees)
    while waiting:
        if time.monotonic() - begun > _STARTING:
            raise EngineError(
                f"no I/O within {_STARTING:.0f} s of the start",
                remedy="see stdout and stderr in the folder of the arm",
            )
        time.sleep(_POLL)
        waiting = [tree for tree in waiting if tree.alive and not tree.at_work()]
        if len(waiting) < len(trees) and not first:
            first = time.monotonic()
    return first


class _Tree:
    """A program and all that it started, looked for each time that it is stopped or resumed: it may start
    more.
    """

    def __init__(self, program: Program, call: Call) -> None:
        self._root = program.process
        self._processes = call.processes
        self._at_first: int | None = None
        self._known = [self._root.pid]

    @property
    def alive(self) -> bool:
        """True until the program ends; it is not reaped, so that its figures stay."""
        return os.waitid(os.P_PID, self._root.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def at_work(self) -> bool:
        """Return whether all of its processes are there, and have done I/O since."""
        if len(self._members()) < self._processes:
            return False
        moved = sum(self.moved())
        if self._at_first is None:
            self._at_first = moved
        return moved > self._at_first

    def stop(self) -> None:
        """Stop it, children that come about meanwhile included."""
        stopped: set[int] = set()
        while members := set(self._members()) - stopped:
            self._signal(members, signal.SIGSTOP)
            stopped |= members

    def resume(self) -> None:
        """Let it go on."""
        self._signal(self._members(), signal.SIGCONT)

    def wake(self, elapsed: float = 0.0) -> None:
        """Interrupt what it waits for. fio's libaio waits for ever where io_getevents(2) was interrupted with
        some of the I/Os for which a job waits at the end of its data: it then asks for as many again.
        """
        self.stop()
        self.resume()

    def moved(self) -> tuple[int, int]:
        """Return the bytes read and written so far, by living processes and by those that it has reaped: of
        those that there were when it was last stopped or resumed, so that nothing is looked for in a slice.
        """
        read = written = 0
        for member in self._known:
            for line in sysfs.text(f"/proc/{member}/io").splitlines():
                name, _, value = line.partition(": ")
                read += int(value) if name == "read_bytes" else 0
                written += int(value) if name == "write_bytes" else 0
        return read, written

    def _members(self) -> list[int]:
        children = _listed if _lists_children() else _by_parents().__getitem__
        found, new = [], [self._root.pid]
        while new:
            member = new.pop()
            found.append(member)
            new += children(member)
        self._known = found
        return found

    def _signal(self, members: Sequence[int] | set[int], number: signal.Signals) -> None:
        for member in members:
            with contextlib.suppress(OSError):
                os.kill(member, number)


@cache
def _lists_children() -> bool:
    """Return whether this kernel lists the children of a task (CONFIG_PROC_CHILDREN, proc(5))."""
    return Path(f"/proc/self/task/{os.getpid()}/children").exists()


def _listed(process: int) -> list[int]:
    """Return the children of a process, by the list that the kernel keeps of those of each task."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{process}/task"):
            found += map(int, sysfs.text(f"/proc/{process}/task/{task}/children").split())
    return found


def _by_parents() -> defaultdict[int, list[int]]:
    """Return the children of every process, by what each says of its parent."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for process in Path("/proc").glob("[0-9]*"):
        if stat := sysfs.text(process / "stat"):
            found[int(stat.rpartition(")")[2].split()[1])].append(int(process.name))
    return found
