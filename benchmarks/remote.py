"""What a host costs over the same bench here: at the beginning, at the end, and in each repetition.

    python benchmarks/remote.py [HOST]

HOST is one as in docs/remote.md (default: popen). A repetition is one of fio, 0.1 s of random reads of
1 MiB in the page cache; what it takes beside fio's own time is told, the least and the median of 20, and the
CPU time of the near side.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))

from fake_bench import FakeWatcher, reads
from iogate import engines
from iogate.measure.local_bench import LocalBench
from iogate.measure.settings import Settings
from iogate.model import Device
from iogate.remote.bench import RemoteBench

GIVEN = {"rw": "randread", "bs": "4k", "size": "1M", "runtime": 0.1, "time_based": True, "direct": False}
WORKLOAD = replace(reads("reads"), options=engines.load("fio").options(GIVEN))
TIMES = 20


def cost(bench_of: type[LocalBench | RemoteBench], folder: Path, host: str | None) -> str:
    """Measure on a bench; what it costs, for people."""
    started = time.monotonic()
    settings = Settings(folder, target=str(folder), host=host)
    bench = bench_of(settings, Device("any", "."), folder / "results", FakeWatcher())
    bench.observe()
    bench.open()
    begun = time.monotonic()
    bench.repeat("suite::reads", WORKLOAD, "first", ())
    used, beside = time.process_time(), []
    for number in range(TIMES):
        before = time.monotonic()
        repetition = bench.repeat("suite::reads", WORKLOAD, number, ())
        beside.append((time.monotonic() - before - repetition.seconds) * 1000)
    used = (time.process_time() - used) / TIMES * 1000
    ending = time.monotonic()
    bench.close()
    return (
        f"begins in {begun - started:.2f} s, ends in {time.monotonic() - ending:.2f} s, a repetition takes "
        f"{min(beside):.1f} ms at least, {statistics.median(beside):.1f} ms usually beside fio, "
        f"{used:.1f} ms of this CPU"
    )


def main() -> None:
    host = sys.argv[1] if len(sys.argv) > 1 else "popen"
    with tempfile.TemporaryDirectory() as folder:
        print(f"here:  {cost(LocalBench, Path(folder), None)}")
        print(f"there: {cost(RemoteBench, Path(folder), host)}")


if __name__ == "__main__":
    main()
