"""What the audit itself costs per repetition: two snapshots and all checks, on this machine.

    python benchmarks/audit_cost.py [FILE_OR_DEVICE]

Prints milliseconds. The promise is less than 20 ms per repetition.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tabulate import tabulate

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "plugins"))

from iogate import engines
from iogate.audit import CHECKS, audit, snapshot
from iogate.errors import Position
from iogate.model import Workload

SAMPLE = Path(__file__).resolve().parents[1] / "tests/data/fio/fio-3.33.jsonplus.json"
ROUNDS = 200
PROMISE = 20.0


def timed(action: Callable[[], object]) -> list[float]:
    """Median and 95th percentile of the wall time, and the median of the processor time, in ms."""
    walls, busy = [], []
    for _ in range(ROUNDS):
        wall, used = time.perf_counter(), time.process_time()
        action()
        walls.append((time.perf_counter() - wall) * 1e3)
        busy.append((time.process_time() - used) * 1e3)
    return [statistics.median(walls), sorted(walls)[int(0.95 * ROUNDS)], statistics.median(busy)]


def measure(path: Path) -> list[list[float | str]]:
    """Rows of a name and its times."""
    fio = engines.load("fio")
    options = fio.options({"rw": "randread", "size": "64M", "bs": "4k", "iodepth": 16, "numjobs": 1})
    workload = Workload("cost", "benchmark", "fio", options, Position("benchmark"))
    output = fio.parse(SAMPLE.read_text(), name=SAMPLE.name)
    before, after = snapshot(None, path), snapshot(None, path)

    def check() -> object:
        return audit(
            workload,
            output,
            needs=fio.needs(workload),
            seconds=60.0,
            before=before,
            after=after,
            gating=("read.iops", "read.clat.p99.99"),
        )

    def repetition() -> None:
        snapshot(None, path)
        snapshot(None, path)
        check()

    parts = {
        "snapshot": lambda: snapshot(None, path),
        f"{len(CHECKS)} checks": check,
        "repetition": repetition,
    }
    return [[name, *timed(action)] for name, action in parts.items()]


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder) / "data"
        if len(sys.argv) < 2:
            path.write_bytes(bytes(2**20))
        rows = measure(path)
    print(tabulate(rows, headers=["", "wall ms", "p95 ms", "CPU ms"], floatfmt=".2f"))
    kept = float(rows[-1][1]) < PROMISE
    print(f"\nless than {PROMISE:.0f} ms per repetition (median): {'yes' if kept else 'NO'}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
