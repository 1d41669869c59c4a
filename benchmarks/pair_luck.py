"""What makes one of two equal processes luckier: the processor that it is on, and its buffers' pages.

    python benchmarks/pair_luck.py [BLOCKS [FOLDER]]

Equal arms on the same data, in blocks of which one in four keeps both arms to the same processor and asks for
huge pages, one does the first only, one the second, and one neither. Prints by how much blocks scatter: the
standard deviation of the logarithm of their ratios, and 1.48 times the median deviation in brackets.
"""

from __future__ import annotations

import math
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

from tabulate import tabulate

from iogate import engines
from iogate.host import alternation
from iogate.measure.pairing import Pairing
from paired import WORKLOADS, bench_of, workload_of

FREE = {
    "neither": ("shared_processors", "huge_pages"),
    "huge pages": ("shared_processors",),
    "same processor": ("huge_pages",),
    "both": (),
}
NOTHING = {"shared_processors": lambda *_: [], "huge_pages": dict}


def scatter(name: str, count: int, folder: Path) -> dict[str, list[float]]:
    """Return the logarithms of the ratios of so many blocks of a workload under each condition, by turns."""
    bench, workload = bench_of(folder, "one"), workload_of(name)
    gating = engines.load("fio").gating(workload)
    pairing = Pairing.of((workload, workload), gating, bench.places)
    found = defaultdict(list)
    try:
        bench.repeat("luck", workload_of(name, 0.2), "layout", ())
        for number in range(count * len(FREE)):
            condition = list(FREE)[number % len(FREE)]
            pair = pairing.pair((workload, workload), number, f"luck {time.time()}")
            chosen = {
                name: nothing if name in FREE[condition] else getattr(alternation, name)
                for name, nothing in NOTHING.items()
            }
            with mock.patch.multiple(alternation, **chosen):
                block = bench.alternate("luck", pair, number + 1, gating)
            assert block.base
            found[condition].append(math.log(block.metrics[gating[0]] / block.base.metrics[gating[0]]))
    finally:
        bench.close()
    return found


def shown(values: Sequence[float]) -> str:
    """Return by how much values scatter."""
    middle = statistics.median(values)
    robust = 1.4826 * statistics.median(abs(value - middle) for value in values)
    return f"{statistics.stdev(values):.1%} ({robust:.1%})"


def main(count: int = 16, around: str | None = None) -> None:
    """Print the table."""
    rows = []
    with tempfile.TemporaryDirectory(dir=around) as folder:
        for name in WORKLOADS:
            found = scatter(name, count, Path(folder))
            rows.append((name, *(shown(found[condition]) for condition in FREE)))
            print(rows[-1], file=sys.stderr, flush=True)
    print(tabulate(rows, headers=("scatter of blocks", *FREE), tablefmt="github"))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:3])
