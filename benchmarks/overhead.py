"""What the harness costs: a run of pytest beside the same job files run from a shell loop.

    python benchmarks/overhead.py [ROUNDS]

Prints seconds of wall time. "engines" is the time inside the engines as the results file has it. What the
run takes beyond that is split into a cost per repetition, by runs of two lengths, and a cost per run; bare
pytest on an empty test is part of the latter and shown beside it. The promises: 0.5 s per run and 20 ms per
repetition.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tabulate import tabulate

from collection import environment

SIZE = 4 * 2**20
SHORT, LONG = 5, 35
SUITE = """\
defaults: {{engine: fio, ioengine: libaio, direct: true, size: {size}, runtime: 0.1, time_based: true}}
workloads:
  reader: {{rw: randread, bs: 4k, iodepth: 1, repetitions: {repetitions}, gate: {{read.iops: 99%}}}}
"""
LOOP = 'for folder in "$@"; do (cd "$folder" && fio --output=again.json --output-format=json+ job.fio); done'
PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "iogate.plugin", "-p", "no:cacheprovider")


@dataclass(frozen=True)
class Run:
    """Seconds of wall time of one run, those inside engines, and those of a shell loop over its job files."""

    repetitions: int
    wall: float
    engines: float
    shell: float

    @property
    def beyond(self) -> float:
        """What the run took beyond its engines."""
        return self.wall - self.engines


def timed(argv: list[str], folder: Path) -> float:
    """Seconds that a process takes; one that fails ends the benchmark."""
    started = time.perf_counter()
    done = subprocess.run(argv, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(argv)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return time.perf_counter() - started


def measured(folder: Path, *options: str) -> Run:
    """One run of pytest, and a shell loop over the job files that it left."""
    wall = timed([*PYTEST, "--io-json=results.json", *options, "suites"], folder)
    [workload] = json.loads((folder / "results.json").read_text())["workloads"]
    for job in workload["folders"]:  # the laid-out file went with the run: a file of our own stands in
        text = (Path(job) / "job.fio").read_text()
        lines = [f"filename={folder}/data" if "filename=" in line else line for line in text.splitlines()]
        (Path(job) / "job.fio").write_text("\n".join(lines) + "\n")
    shell = timed(["sh", "-c", LOOP, "sh", *workload["folders"]], folder)
    return Run(workload["repetitions"], wall, workload["device_seconds"], shell)


def project(folder: Path, repetitions: int) -> Path:
    """A project with one workload of that many repetitions."""
    (folder / "suites").mkdir(parents=True)
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "data").write_bytes(os.urandom(SIZE))
    (folder / "suites/reader.yaml").write_text(SUITE.format(size=SIZE, repetitions=repetitions))
    return folder


def fastest(runs: list[Run]) -> Run:
    """The run that was disturbed least."""
    return min(runs, key=lambda run: run.beyond)


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    update = "--update-baselines"
    kinds = {"record": (SHORT, update), "record more": (LONG, update), "gate": (SHORT,)}
    found: dict[str, list[Run]] = {kind: [] for kind in kinds}
    bare: list[float] = []
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp")) as name:
        folders = {length: project(Path(name) / str(length), length) for length in (SHORT, LONG)}
        (folders[SHORT] / "test_empty.py").write_text("def test_empty(): pass\n")
        for count in range(rounds + 1):  # the first round warms caches
            for kind, (length, *options) in kinds.items():
                run = measured(folders[length], *options)
                found[kind] += [run] if count else []
            bare.append(timed([*PYTEST[:4], "-p", "no:iogate.plugin", "test_empty.py"], folders[SHORT]))
    print(
        f"seconds, the fastest of {rounds} rounds, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n"
    )
    print(table(found))
    few, many = fastest(found["record"]), fastest(found["record more"])
    each = (many.beyond - few.beyond) / (many.repetitions - few.repetitions)
    print(f"\nper repetition {each * 1e3:.1f} ms (promised: 20 ms); bare pytest {min(bare):.2f} s")
    for kind in ("record", "gate"):
        run = fastest(found[kind])
        print(f"per run, {kind}: {run.beyond - run.repetitions * each:.2f} s (promised: 0.50 s)")


def table(found: dict[str, list[Run]]) -> str:
    """The fastest run of each kind, and the median of what such runs took beyond their engines."""
    rows = []
    for kind, runs in found.items():
        best, usual = fastest(runs), statistics.median(run.beyond for run in runs)
        shell = min(run.wall - run.shell for run in runs)
        rows.append((kind, best.repetitions, best.wall, best.engines, best.beyond, usual, shell))
    headers = ("run", "repetitions", "wall", "engines", "beyond engines", "(median)", "beyond shell loop")
    return tabulate(rows, headers, floatfmt=".3f")


if __name__ == "__main__":
    main()
