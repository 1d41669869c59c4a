"""Whether a gate with few sessions is right about a device whose speed changes by +-10% each second.

    sudo python benchmarks/first_week.py [RUNS [SESSIONS [CHANGES [LOSS]]]]

Each of ten loop devices in memory, under a cgroup throttle whose limit is drawn anew every second, is
recorded in three sessions (or SESSIONS); then come as many runs without a loss as at a loss of 10% (one of
each, or RUNS, alternated), each a whole `pytest suites` with real fio, judged with a tolerance of 5%. A run
is red if any of its workloads fails or is undecided. Beside it, on the same runs, stand a mean of up to five
repetitions against +-5% and pytest-benchmark's `min:5%` (the best repetition against the best of the newest
session). CHANGES and LOSS are other shares than 0.10: 0 and 0.05 make a quiet device. The devices work side
by side, as they are throttled far below what memory gives. Takes about twenty minutes. Needs root, loop
devices and cgroups.
"""

from __future__ import annotations

import collections
import contextlib
import random
import statistics
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tabulate import tabulate

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "plugins"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/helpers"))

from iogate.host.mounts import block_number
from loops import MIB, Loops
from projects import Project, Result
from throttle import Throttle, throttle

SPEED, TOLERANCE = 2000, 0.05
LABS = 10
KINDS = ("no loss", "loss")
SUITE = """\
defaults: {engine: fio, ioengine: libaio, direct: true, size: 32M, runtime: 3, time_based: true}
workloads:
  read_4k: {rw: randread, bs: 4k, iodepth: 16, gate: {read.iops: 5%}}
  read_8k: {rw: randread, bs: 8k, iodepth: 8, gate: {read.iops: 5%}}
  read_16k: {rw: randread, bs: 16k, iodepth: 8, gate: {read.iops: 5%}}
  read_64k: {rw: read, bs: 64k, iodepth: 4, gate: {read.iops: 5%}}
"""
Values = dict[str, list[float]]


class Weather(threading.Thread):
    """Changes the throttle every second, around `speed`, by up to a share of it either way."""

    def __init__(self, cgroup: Throttle, seed: int, changes: float) -> None:
        super().__init__(daemon=True)
        self._changes = changes
        self.speed = float(SPEED)
        self.over = threading.Event()
        self._cgroup = cgroup
        self._random = random.Random(seed)

    def run(self) -> None:
        while not self.over.is_set():
            self._cgroup.limit(round(self.speed * (1 + self._random.uniform(-self._changes, self._changes))))
            self.over.wait(1.0)


def values_of(result: Result) -> Values:
    """The repetitions of the gating metric of each workload."""
    return {
        item["workload"]: next(one["values"] for one in item["metrics"].values() if one["gating"])
        for item in result.results["workloads"]
    }


def rules(sessions: list[Values], run: Values) -> dict[str, bool]:
    """Whether the rules of others are red about a run."""
    means = {name: statistics.fmean(value for session in sessions for value in session[name]) for name in run}
    last = sessions[-1]
    return {
        "mean of five, +-5%": any(
            abs(statistics.fmean(values[:5]) / means[name] - 1) > TOLERANCE for name, values in run.items()
        ),
        "best, min:5% (pytest-benchmark)": any(
            max(values[:5]) < max(last[name]) * (1 - TOLERANCE) for name, values in run.items()
        ),
    }


class Lab:
    """A device with its weather, and a project whose baseline is of it."""

    def __init__(self, number: int, folder: Path, device: Path, cgroup: Throttle, changes: float) -> None:
        self.project = Project(folder / f"lab-{number}")
        self.project.suite(SUITE)
        self.project.device("lab", f"target: {device}\n")
        self.red = {kind: collections.Counter[str]() for kind in KINDS}
        self._cgroup = cgroup
        self._weather = Weather(cgroup, number, changes)

    def measure(self, runs: int, sessions: int, loss: float) -> None:
        """Record the sessions, and judge so many runs of each kind."""
        self._weather.start()
        recorded = [values_of(self._run("--update-baselines=append")) for _ in range(sessions)]
        counts = [[len(values) for values in session.values()] for session in recorded]
        print(f"recorded: {counts} repetitions", flush=True)
        for kind in KINDS * runs:
            self._weather.speed = SPEED * (1 - loss * (kind == "loss"))
            result = self._run()
            verdicts = set(result.verdicts.values())
            undecided = "regressed" not in verdicts and "inconclusive" in verdicts
            self.red[kind]["iogate: regressed"] += "regressed" in verdicts
            self.red[kind]["iogate: inconclusive only"] += undecided
            for rule, alarm in rules(recorded, values_of(result)).items():
                self.red[kind][rule] += alarm
            counts = [item["repetitions"] for item in result.results["workloads"]]
            print(f"{kind}: {result.seconds:.0f} s, {dict(result.verdicts)}, {counts}", flush=True)
        self._weather.over.set()

    def _run(self, *arguments: str) -> Result:
        started = self.project.start("suites", "--device=lab", *arguments, wrapper=self._cgroup.inside)
        result = self.project.finish(started, patience=1800)
        if not result.verdicts or (arguments and result.status):
            raise RuntimeError(result.text)
        return result


def main() -> None:
    given = dict(enumerate(map(float, sys.argv[1:])))
    runs, sessions = int(given.get(0, 1)), int(given.get(1, 3))
    changes, loss = given.get(2, 0.10), given.get(3, 0.10)
    started = time.monotonic()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")))
        loops = stack.enter_context(Loops(folder))
        loops.into_memory()
        labs = []
        for number in range(LABS):
            device = loops.device(64 * MIB, "--direct-io=on")
            cgroup = stack.enter_context(throttle(block_number(device) or ""))
            labs.append(Lab(number, folder, device, cgroup, changes))
        pool = stack.enter_context(ThreadPoolExecutor(LABS))
        for done in [pool.submit(lab.measure, runs, sessions, loss) for lab in labs]:
            done.result()
    names = list(labs[0].red["loss"])
    rows = [
        (rule, *(f"{sum(lab.red[kind][rule] for lab in labs)} of {runs * LABS}" for kind in KINDS))
        for rule in names
    ]
    headers = ("red runs by", "no loss", f"loss of {loss:.0%}")
    print(f"\n{sessions} sessions\n\n{tabulate(rows, headers)}\n\n{time.monotonic() - started:.0f} s in all")


if __name__ == "__main__":
    main()
