"""How often the gate is right about devices that become others with their work, or within each run.

    python benchmarks/changing_devices.py [DEVICES [LOSS]]

Drawn, not measured: of each kind so many devices (50) at each of two noises, with the workloads one after the
other and by turns. A suite of eight readers, five repetitions of 2 s each, is recorded in three sessions, on
three days (each at rest) or in a row, and judged at rest, on another day, with a tolerance of 10%: whole, its
second half alone, or one workload alone (`-k`). A line tells which share of the verdicts on the unchanged
device are `regressed` (false) and undecided, and of those on one that lost LOSS (0.12) pass (missed) and are
undecided, in percent. Takes about six minutes on two cores.
"""

from __future__ import annotations

import itertools
import math
import multiprocessing
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tabulate import tabulate

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "plugins"))

from iogate.errors import Position
from iogate.judge.baseline_judge import BaselineJudge
from iogate.judge.heat import Heat, KnownHeat, heat_of
from iogate.judge.judge import GateOptions
from iogate.judge.lending import lend
from iogate.model import PASSED, Baseline, Output, Repetition, Tolerance, Workload

WORKLOADS, REPETITIONS, SECONDS, SESSIONS = 8, 5, 2.0, 3
NIGHT = 86400.0  # of rest
IOPS = "read.iops"
OPTIONS = {"engine": "fio", "rw": "randread", "bs": "4k"}
WORKS = [
    Workload(f"w{number}", "suite", "fio", OPTIONS, Position("suite"), gate={IOPS: Tolerance(0.1)})
    for number in range(WORKLOADS)
]

Speed = Callable[[float, int], float]
"""The speed of a device by the seconds of work before, and by the number of a repetition in its run."""

KINDS: dict[str, Speed] = {
    "keeps its speed": lambda work, place: 1.0,
    "wakes up: the first run 10% slower": lambda work, place: 0.9 if not work else 1.0,
    "each run begins 5% slower": lambda work, place: 0.95 if not place else 1.0,
    "each run begins 4% faster": lambda work, place: 1.04 if not place else 1.0,
    "warms up by 10%, 5 s": lambda work, place: 1 - 0.1 * math.exp(-work / 5),
    "warms up by 8%, 25 s": lambda work, place: 1 - 0.08 * math.exp(-work / 25),
    "warms up by 12%, evenly": lambda work, place: 1 - 0.12 * max(0.0, 1 - work / 80),
    "throttles by 20% behind 14 s": lambda work, place: 1.0 if work < 14 else 0.8,
    "throttles by 25%, 30 s": lambda work, place: 1 - 0.25 * (1 - math.exp(-work / 30)),
    "slows by 8%, evenly": lambda work, place: 1 - 0.08 * min(1.0, work / 80),
}  # fmt: skip
NOISES = ((0.003, 0.005), (0.01, 0.015))  # of sessions, and of repetitions
RECORDED = ("three days", "in a row")
ORDERS = ("one by one", "by turns")
JUDGED = {"whole": range(WORKLOADS), "second half": range(WORKLOADS // 2, WORKLOADS), "-k": range(0)}


class Task(NamedTuple):
    """Devices to draw of a kind, and how they are recorded."""

    kind: str
    noise: tuple[float, float]
    recorded: str
    order: str
    devices: int
    loss: float


class Device:
    """One device with its clock: so many seconds of work since it was at rest, in the session's reckoning."""

    def __init__(self, task: Task, seed: int) -> None:
        self._speed = KINDS[task.kind]
        self._noise = task.noise
        self._random = random.Random(f"{task} {seed}")
        self.work = 0.0
        self.factor = 1.0

    def begin(self, loss: float = 0.0, *, rested: bool = True) -> None:
        """Begin a session."""
        self.work = 0.0 if rested else self.work
        self.factor = (1 - loss) * math.exp(self._random.gauss(0, self._noise[0]))

    def measure(self, place: int) -> Repetition:
        """Measure once, as the repetition of this number of its workload."""
        noise = math.exp(self._random.gauss(0, self._noise[1]))
        value = 10_000 * self._speed(self.work, place) * self.factor * noise
        repetition = Repetition(Output({IOPS: value}, {}), SECONDS, "", worked=self.work)
        self.work += SECONDS
        return repetition

    def choose(self) -> int:
        """One workload that others came before."""
        return self._random.randrange(1, WORKLOADS)


def turns(order: str, open_ones: list[int]) -> Iterator[int]:
    """The workload that comes next, as long as some are open."""
    while open_ones:
        yield from list(open_ones[:1] if order == ORDERS[0] else open_ones)


def record(device: Device, task: Task) -> list[Baseline]:
    """The baselines that sessions make."""
    rows: list[list[tuple[float, ...]]] = [[] for _ in WORKS]
    worked: list[dict[str, tuple[float, ...]]] = [{} for _ in WORKS]
    names = tuple(f"2026-01-{day:02}T08:00:00Z-0000" for day in range(1, SESSIONS + 1))
    for number, name in enumerate(names):
        device.begin(rested=not number or task.recorded == RECORDED[0])
        measured: list[list[Repetition]] = [[] for _ in WORKS]
        open_ones = list(range(WORKLOADS))
        for each in turns(task.order, open_ones):
            measured[each].append(device.measure(len(measured[each])))
            if len(measured[each]) == REPETITIONS:
                open_ones.remove(each)
        for each, repetitions in enumerate(measured):
            rows[each].append(tuple(item.metrics[IOPS] for item in repetitions))
            worked[each][name] = tuple(item.worked or 0.0 for item in repetitions)
    return [
        Baseline(work.name, OPTIONS, {IOPS: tuple(row)}, sessions=names, worked=own)
        for work, row, own in zip(WORKS, rows, worked, strict=True)
    ]


def judge(
    device: Device, task: Task, baselines: Sequence[Baseline], known: KnownHeat, judged: Sequence[int]
) -> list[str]:
    """The verdicts of a session at rest."""
    borrowed = lend({"suite": {one.workload: one for one in baselines}})
    options = GateOptions(metrics=WORKLOADS, borrowed=borrowed)
    heat = Heat(known, rested=True)
    judges = {
        each: BaselineJudge(WORKS[each], baselines[each], (IOPS,), options, heat=heat) for each in judged
    }
    measured: dict[int, list[Repetition]] = {each: [] for each in judged}
    open_ones, verdicts = list(judged), []
    for each in turns(task.order, open_ones):
        repetitions = measured[each]
        repetitions.append(device.measure(len(repetitions)))
        if judges[each].look(repetitions) or len(repetitions) >= judges[each].maximum:
            open_ones.remove(each)
            verdicts.append(judges[each].verdict(repetitions).verdict)
    return verdicts


def outcomes(task: Task) -> tuple[Task, dict[str, tuple[Counter[str], Counter[str]]]]:
    """The verdicts by what was judged: on unchanged devices, and on ones that lost speed."""
    found: dict[str, tuple[Counter[str], Counter[str]]] = {name: (Counter(), Counter()) for name in JUDGED}
    for seed in range(task.devices):
        device = Device(task, seed)
        baselines = record(device, task)
        known = heat_of(baselines)
        for name, workloads in JUDGED.items():
            for counter, loss in zip(found[name], (0.0, task.loss), strict=True):
                device.begin(loss)
                counter.update(judge(device, task, baselines, known, workloads or (device.choose(),)))
    return task, found


def share(count: int, total: int) -> str:
    """A share in percent, empty if there is none."""
    return f"{100 * count / total:.1f}" if count else ""


def cells(found: dict[str, tuple[Counter[str], Counter[str]]]) -> Iterator[str]:
    """What a line says of each way to judge."""
    for unchanged, lost in found.values():
        yield share(unchanged["regressed"], unchanged.total())
        yield share(unchanged["inconclusive"], unchanged.total())
        yield share(sum(lost[name] for name in PASSED), lost.total())
        yield share(lost["inconclusive"], lost.total())


def main() -> None:
    given = dict(enumerate(sys.argv[1:]))
    devices, loss = int(given.get(0, "50")), float(given.get(1, "0.12"))
    tasks = [Task(*each, devices, loss) for each in itertools.product(KINDS, NOISES, RECORDED, ORDERS)]
    lines: dict[tuple[str, str], dict[str, tuple[Counter[str], Counter[str]]]] = {}
    with multiprocessing.Pool() as pool:
        for task, found in pool.imap(outcomes, tasks):
            line = lines.setdefault(
                (task.kind, task.recorded), {name: (Counter(), Counter()) for name in JUDGED}
            )
            for name, counters in found.items():
                for sums, counter in zip(line[name], counters, strict=True):
                    sums.update(counter)
    columns = (f"{name}: {what}" for name in JUDGED for what in ("false", "undecided", "missed", "undecided"))
    rows = [(*key, *cells(line)) for key, line in lines.items()]
    print(tabulate(rows, ("device", "recorded", *columns), tablefmt="github", disable_numparse=True))


if __name__ == "__main__":
    main()
