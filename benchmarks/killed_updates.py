"""SIGKILL of pytest while it stores a baseline: is the old or the new one whole each time?

Each round runs the real pytest with the real fio and --update-baselines in a project of its own, and kills
it: at a random moment of the whole run, or, every other round, of its end, where the file is written.

    python benchmarks/killed_updates.py [ROUNDS]
"""

from __future__ import annotations

import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "plugins"), str(ROOT / "tests" / "helpers")]

from iogate.judge.baseline import load_baselines  # noqa: E402
from projects import Project  # noqa: E402

SUITE = """\
defaults: {engine: fio, direct: false, size: 1M, runtime: 0.05, time_based: true}
workloads:
  reader: {rw: randread, bs: 4k}
"""
UPDATE = ("suites", "-q", "--update-baselines=force", "--io-reason=" + "why " * 100)


def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory(prefix="iogate-") as folder:
        project = Project(Path(folder) / "project")
        project.suite(SUITE)
        started = time.monotonic()
        project.run(*UPDATE)
        usual = time.monotonic() - started
        counts: Counter[str] = Counter()
        for number in range(rounds):
            counts[_round(project, usual, at_the_end=bool(number % 2))] += 1
            counts["processes left"] += len(project.processes())
        again = project.run(*UPDATE)
        counts["scratch folders left by the next run"] = len(project.leftovers)
        folder_now = sorted(path.name for path in (project.path / "baselines" / "local").iterdir())
        print(f"{rounds} kills, the next run ended with status {again.status}")
        for name, count in sorted(counts.items()):
            print(f"{count:6d}  {name}")
        print("beside the baseline:", ", ".join(folder_now))


def _round(project: Project, usual: float, *, at_the_end: bool) -> str:
    """Kill one update; what became of the baseline."""
    file = project.path / "baselines" / "local" / "demo.yaml"
    before = file.read_bytes()
    process = project.start(*UPDATE)
    if at_the_end:
        results = project.path / "results.json"
        deadline = time.monotonic() + 30
        while not results.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.0005)
        time.sleep(random.uniform(0.0, 0.12))
    else:
        time.sleep(random.uniform(0.0, usual))
    process.send_signal(signal.SIGKILL)
    status = process.wait()
    process.communicate()
    deadline = time.monotonic() + 5
    while project.processes() and time.monotonic() < deadline:
        time.sleep(0.01)
    after = file.read_bytes()
    load_baselines(file)  # raises for a file that is not whole
    ended = "killed" if status == -signal.SIGKILL else f"ended with status {status}"
    return f"{ended}, the baseline is {'the old one' if after == before else 'the new one'}"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
