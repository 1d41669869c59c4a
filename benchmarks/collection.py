"""How long collecting takes: the quick suite beside bare pytest, and a matrix of 10,000 workloads.

    python benchmarks/collection.py [ROUNDS]

Prints seconds of wall time of whole processes, `pytest --collect-only`: the fastest and the median of the
rounds. The promises: the quick suite within 0.4 s of bare pytest, the matrix in 3 s.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tabulate import tabulate

ROOT = Path(__file__).resolve().parents[1]
MATRIX = """\
workloads:
  point:
    size: 1G
    runtime: 1
    time_based: true
    matrix:
      rw: [randread, randwrite, read, write, randrw]
      bs: [4k, 8k, 16k, 32k, 64k, 128k, 256k, 512k, 1M, 2M]
      iodepth: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
      numjobs: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
"""
PYTEST = (sys.executable, "-m", "pytest", "--collect-only", "-qq", "-p", "no:cacheprovider")
IOGATE = ("-p", "iogate.plugin")
BARE = ("-p", "no:iogate.plugin")


def environment() -> dict[str, str]:
    """As users have it: with cached byte code, and nothing else loaded by way of variables."""
    strange = ("PYTEST_", "PYTHONDONTWRITEBYTECODE")
    plain = {key: text for key, text in os.environ.items() if not key.startswith(strange)}
    return {**plain, "PYTHONPATH": str(ROOT / "plugins")}


def wall(argv: Sequence[str], folder: Path) -> float:
    """Seconds that a process takes; one that fails ends the benchmark."""
    started = time.perf_counter()
    done = subprocess.run(argv, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    if done.returncode not in (0, 5):  # 5: nothing was collected, as by bare pytest
        sys.exit(f"{' '.join(argv)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return time.perf_counter() - started


def measured(cases: Mapping[str, Sequence[str]], folder: Path, rounds: int) -> dict[str, list[float]]:
    """The seconds of each case, alternated so that a busy moment of the machine spares none of them."""
    for argv in cases.values():
        wall(argv, folder)  # byte code and the page cache
    found: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, argv in cases.items():
            found[name].append(wall(argv, folder))
    return found


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pytest.ini").write_text("[pytest]\n")
        for suites in ("quick", "matrix"):
            (folder / suites / "suites").mkdir(parents=True)
        shutil.copy(ROOT / "suites/quick.yaml", folder / "quick/suites")
        (folder / "matrix/suites/matrix.yaml").write_text(MATRIX)
        cases = {
            "bare pytest": [*PYTEST, *BARE, "quick"],
            "iogate, no suite": [*PYTEST, *IOGATE, "quick/none"],
            "quick suite": [*PYTEST, *IOGATE, "quick"],
            "10,000 workloads": [*PYTEST, *IOGATE, "matrix"],
        }
        (folder / "quick/none").mkdir()
        seconds = measured(cases, folder, rounds)
    bare = seconds["bare pytest"]
    promises = {"quick suite": min(bare) + 0.4, "10,000 workloads": 3.0}
    rows = [
        (
            name,
            f"{min(values):.2f}",
            f"{statistics.median(values):.2f}",
            f"{min(values) - min(bare):+.2f}",
            f"{promises[name]:.2f}" if name in promises else "",
        )
        for name, values in seconds.items()
    ]
    headers = ("pytest --collect-only", "fastest", "median", "beyond bare", "promised")
    print(f"seconds of wall time, {rounds} rounds, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print(tabulate(rows, headers, disable_numparse=True, colalign=("left", *["right"] * 4)))


if __name__ == "__main__":
    main()
