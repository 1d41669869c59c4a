"""Whether the gate is right about a real block device: null runs and runs at a loss of the tolerance.

    sudo python benchmarks/throttled_device.py [RUNS]

A loop device under a cgroup throttle is recorded at 2000 IOPS in several sessions; then come as many runs at
2000 IOPS as at 1900, alternated, each a whole `pytest suites` with real fio, judged with a tolerance of 5%. A
run without a loss has to pass, one at a loss of 5% has to be regressed; anything else is wrong. Prints the
verdicts, the repetitions and the wrong ones. Needs root, loop devices and cgroups.
"""

from __future__ import annotations

import collections
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tabulate import tabulate

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/helpers"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "plugins"))

from iogate.host.mounts import block_number
from loops import MIB, Loops
from projects import Project, Result
from throttle import throttle

SPEED, LOSS = 2000, 0.05
SESSIONS = 10
SUITE = """\
defaults: {engine: fio, ioengine: libaio, direct: true, size: 32M, runtime: 1, time_based: true}
workloads:
  random_read: {rw: randread, bs: 4k, iodepth: 16, gate: {read.iops: 5%}}
"""
RIGHT = {"no loss": {"pass", "improved", "drift"}, "loss of 5%": {"regressed"}}


def described(result: Result) -> tuple[str, int, float]:
    """The verdict, the repetitions and the change of a run."""
    workload = result.workload("random_read")
    return workload["verdict"], workload["repetitions"], workload["metrics"]["read.iops"]["change"] or 0.0


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    started = time.monotonic()
    found: dict[str, list[tuple[str, int, float]]] = {kind: [] for kind in RIGHT}
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name, Loops(Path(name)) as loops:
        device = loops.device(64 * MIB, "--direct-io=on")
        project = Project(Path(name) / "project")
        project.suite(SUITE)
        project.device("lab", f"target: {device}\n")
        with throttle(block_number(device) or "") as cgroup:
            cgroup.limit(SPEED)
            for _ in range(SESSIONS):
                recorded = project.run(
                    "suites", "--device=lab", "--update-baselines=force", wrapper=cgroup.inside
                )
                if recorded.status:
                    sys.exit(recorded.text)
            print(f"{SESSIONS} sessions recorded in {time.monotonic() - started:.0f} s", flush=True)
            for number in range(2 * runs):
                kind = list(RIGHT)[number % 2]
                cgroup.limit(SPEED if kind == "no loss" else round(SPEED * (1 - LOSS)))
                result = project.run("suites", "--device=lab", wrapper=cgroup.inside)
                if not result.verdicts:
                    sys.exit(result.text)
                found[kind].append(described(result))
                verdict, repetitions, change = found[kind][-1]
                if verdict not in RIGHT[kind]:
                    print(f"WRONG: {kind}: {verdict} after {repetitions}, {change:+.2%}\n{result.text}")
    rows = []
    for kind, outcomes in found.items():
        verdicts = collections.Counter(verdict for verdict, _, _ in outcomes)
        changes = [change for _, _, change in outcomes]
        rows.append(
            (
                kind,
                len(outcomes),
                ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()),
                sum(count for verdict, count in verdicts.items() if verdict not in RIGHT[kind]),
                f"{statistics.mean(repetitions for _, repetitions, _ in outcomes):.2f}",
                f"{min(changes):+.2%} to {max(changes):+.2%}",
            )
        )
    headers = ("true change", "runs", "verdicts", "wrong", "mean repetitions", "measured")
    print(f"\n{tabulate(rows, headers, disable_numparse=True)}\n\n{time.monotonic() - started:.0f} s in all")


if __name__ == "__main__":
    main()
