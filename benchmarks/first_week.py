"""Whether a gate with few sessions is right about a device whose speed changes by +-10% each second.

    sudo python benchmarks/first_week.py [RUNS [SESSIONS]]

A loop device under a cgroup throttle, whose limit is drawn anew every second, is recorded in three sessions
(or SESSIONS); then come as many runs (10, or RUNS) without a loss as at a loss of 10%, alternated, each a
whole `pytest suites` with real fio, judged with a tolerance of 5%. A run is red if any of its workloads fails
or is undecided. Beside it, on the same runs, stand a mean of up to five repetitions against +-5% and
pytest-benchmark's `min:5%` (the best repetition against the best of the newest session). Takes up to an hour.
Needs root, loop devices and cgroups.
"""

from __future__ import annotations

import collections
import random
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

from tabulate import tabulate

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/system"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "plugins"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/helpers"))

from iogate.host.mounts import block_number
from loops import MIB, Loops
from projects import Project, Result
from throttle import Throttle, throttle

SPEED, LOSS, CHANGES, TOLERANCE = 2000, 0.10, 0.10, 0.05
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
    """Changes the throttle every second, around `speed`."""

    def __init__(self, cgroup: Throttle) -> None:
        super().__init__(daemon=True)
        self.speed = float(SPEED)
        self.over = threading.Event()
        self._cgroup = cgroup
        self._random = random.Random(7)

    def run(self) -> None:
        while not self.over.is_set():
            self._cgroup.limit(round(self.speed * (1 + self._random.uniform(-CHANGES, CHANGES))))
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


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    sessions = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    started = time.monotonic()
    red: dict[str, collections.Counter[str]] = {kind: collections.Counter() for kind in ("no loss", "loss")}
    recorded: list[Values] = []
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name, Loops(Path(name)) as loops:
        device = loops.device(64 * MIB, "--direct-io=on")
        project = Project(Path(name) / "project")
        project.suite(SUITE)
        project.device("lab", f"target: {device}\n")
        with throttle(block_number(device) or "") as cgroup:
            weather = Weather(cgroup)
            weather.start()
            for _ in range(sessions):
                result = project.run(
                    "suites", "--device=lab", "--update-baselines=append", wrapper=cgroup.inside
                )
                if result.status:
                    sys.exit(result.text)
                recorded.append(values_of(result))
            for number in range(2 * runs):
                kind = ("no loss", "loss")[number % 2]
                weather.speed = SPEED * (1 - LOSS * (kind == "loss"))
                result = project.run("suites", "--device=lab", wrapper=cgroup.inside)
                if not result.verdicts:
                    sys.exit(result.text)
                verdicts = set(result.verdicts.values())
                red[kind]["iogate: regressed"] += "regressed" in verdicts
                red[kind]["iogate: inconclusive only"] += (
                    "regressed" not in verdicts and "inconclusive" in verdicts
                )
                red[kind].update(
                    {rule: int(alarm) for rule, alarm in rules(recorded, values_of(result)).items()}
                )
                print(f"{kind}: {dict(result.verdicts)}", flush=True)
            weather.over.set()
            weather.join()
    names = list(dict.fromkeys([*red["no loss"], *red["loss"]]))
    rows = [(rule, *(f"{red[kind][rule]} of {runs}" for kind in red)) for rule in names]
    headers = ("red runs by", "no loss", f"loss of {LOSS:.0%}")
    print(f"\n{sessions} sessions\n\n{tabulate(rows, headers)}\n\n{time.monotonic() - started:.0f} s in all")


if __name__ == "__main__":
    main()
