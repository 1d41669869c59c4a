"""What the reader costs beside a bare pread loop in C, and beside fio: interleaved runs on the same data.

    python benchmarks/reader.py [--folder DIR] [--rounds N]

All programs of a comparison take turns within a round, in an order that rotates, and a round gives one ratio:
what else the machine does hits all of them alike. Shown are medians over the rounds, and the interval that
holds the median of the ratios with 95% confidence (order statistics; Conover, Practical Nonparametric
Statistics, 3.2). Beside them stands the ratio of processor time, which hardly depends on who else is busy.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import NamedTuple

from tabulate import tabulate

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "plugins"))

from iogate.engines.reader.engine import engine
from iogate.errors import Position
from iogate.host.native import compile_program
from iogate.host.process import find_program, run
from iogate.model import Place, Workload
from iogate.target.layout import lay_out
from iogate.units import parse_size, size_text


class Cost(NamedTuple):
    """Nanoseconds of one operation: by the clock, and of the processor."""

    wall: float
    processor: float


Program = Callable[[], Cost]
"""Runs once."""


@dataclass(frozen=True)
class Comparison:
    """The reader against a peer: its time per operation should be at most `limit` times the peer's."""

    what: str
    reader: Program
    peers: Mapping[str, tuple[Program, float]]


def reader(data: Path, folder: Path, **given: object) -> Program:
    """The reader as a suite would run it."""
    workload = Workload("", "", "reader", engine.options(given), Position(""))
    command = engine.command(workload, Place(data, None, folder))
    threads = engine.options(given)["threads"]

    def once() -> Cost:
        done = run(command.argv, folder=folder, timeout=command.timeout)
        output = engine.parse(done.stdout, name="reader", completed=done)
        wall = threads * 1e9 / output.metrics["read.iops"]
        return Cost(wall, wall * ((output.user or 0.0) + (output.system or 0.0)))

    return once


def bare(data: Path, block: int, size: int) -> Program:
    """pread in a loop."""
    program = compile_program(Path(__file__).with_name("bare_pread.c"))

    def once() -> Cost:
        argv = [str(program), str(data), str(size), str(block)]
        wall, processor = map(int, subprocess.check_output(argv).split())
        return Cost(wall / (size // block), processor / (size // block))

    return once


def fio(data: Path, threads: int = 1, **options: object) -> Program:
    """fio with threads, on a warm cache if not direct; sizes are shared out as the reader does."""
    argv = [find_program("fio", "fio"), "--name=x", f"--filename={data}", "--thread", "--invalidate=0"]
    argv += ["--output-format=json", "--group_reporting", f"--numjobs={threads}", "--allow_file_create=0"]
    argv += [f"--{name}={value}" for name, value in options.items()]

    def once() -> Cost:
        done = subprocess.run(argv, check=True, capture_output=True, text=True)
        job = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
        wall = threads * 1e9 / float(job["read"]["iops"])
        return Cost(wall, wall * (job["usr_cpu"] + job["sys_cpu"]) / 100)

    return once


def comparisons(data: Path, folder: Path, size: int) -> list[Comparison]:
    """All that is to be compared; `size` bytes of data are there."""

    def from_cache(bs: int, amount: int, limit: float) -> Comparison:
        shared = {"rw": "read", "bs": bs, "size": amount}
        peers = {"bare pread loop": (bare(data, bs, amount), limit)}
        if bs <= 4096:
            peers["fio psync"] = (fio(data, ioengine="psync", **shared), 0.75)
        return Comparison(
            f"bs={size_text(bs)} cached, 1 thread", reader(data, folder, cached=True, **shared), peers
        )

    def two_threads(bs: int, amount: int) -> Comparison:
        each = {"rw": "read", "bs": bs, "size": amount // 2, "offset_increment": amount // 2}
        return Comparison(
            f"bs={size_text(bs)} cached, 2 threads",
            reader(data, folder, rw="read", bs=bs, size=amount, cached=True, threads=2),
            {"fio psync": (fio(data, 2, ioengine="psync", **each), 0.75)},
        )

    direct = {"rw": "randread", "bs": 4096, "size": size // 4}
    deep = {"rw": "randread", "bs": 4096, "size": size, "ioengine": "io_uring", "iodepth": 32}
    return [
        from_cache(8, 8 * 2**20, 1.05),
        from_cache(4096, size, 1.05),
        from_cache(8 * 2**20, size, 1 / 0.98),
        two_threads(8, 8 * 2**20),
        two_threads(4096, size),
        Comparison(
            "bs=4k direct, random, depth 1",
            reader(data, folder, **direct),
            {"fio psync": (fio(data, ioengine="psync", direct=1, norandommap=1, **direct), 1.0)},
        ),
        Comparison(
            "bs=4k direct, random, io_uring depth 32",
            reader(data, folder, **deep),
            {"fio io_uring": (fio(data, direct=1, norandommap=1, **deep), 1.0)},
        ),
        Comparison(
            "bs=4k cached, random, io_uring depth 32",
            reader(data, folder, cached=True, **deep),
            {"fio io_uring": (fio(data, norandommap=1, **deep), 1.0)},
        ),
    ]


def rounds(comparison: Comparison, count: int) -> dict[str, list[Cost]]:
    """The cost of an operation of each program in each round."""
    programs = {"reader": comparison.reader, **{name: once for name, (once, _) in comparison.peers.items()}}
    found: dict[str, list[Cost]] = {name: [] for name in programs}
    names = list(programs)
    for number in range(count):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            found[name].append(programs[name]())
    return found


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """The order statistics that hold the median with at least 95% confidence (all values, if few)."""
    ordered, n = sorted(values), len(values)
    cut, tail = 0, 0.5**n
    while tail + comb(n, cut + 1) * 0.5**n <= 0.025:
        cut += 1
        tail += comb(n, cut) * 0.5**n
    return ordered[cut], ordered[n - 1 - cut]


def rows(comparison: Comparison, measured: Mapping[str, Sequence[Cost]]) -> list[tuple[str, ...]]:
    """The table's rows: one for each peer."""
    found = []
    for name, (_, limit) in comparison.peers.items():
        pairs = list(zip(measured["reader"], measured[name], strict=True))
        ratios = [own.wall / other.wall for own, other in pairs]
        processor = statistics.median(own.processor / max(other.processor, 1e-9) for own, other in pairs)
        low, high = median_interval(ratios)
        verdict = "yes" if statistics.median(ratios) <= limit else "no"
        if low <= limit <= high:
            verdict += ", within the noise"
        found.append(
            (
                comparison.what,
                f"{statistics.median(cost.wall for cost in measured['reader']):.1f}",
                name,
                f"{statistics.median(cost.wall for cost in measured[name]):.1f}",
                f"{statistics.median(ratios):.3f} [{low:.3f}, {high:.3f}]",
                f"{processor:.3f}",
                f"{limit:.2f}",
                verdict,
            )
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path.cwd(), help="where the data are laid out")
    parser.add_argument("--size", type=parse_size, default="256M", help="how much data")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--only", default="", help="comparisons whose name holds this text")
    options = parser.parse_args()
    table: list[tuple[str, ...]] = []
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="iogate-benchmark-") as name:
        folder, data = Path(name), Path(name, "data")
        lay_out(data, options.size, direct=False)
        for comparison in comparisons(data, folder, options.size):
            if options.only in comparison.what:
                table += rows(comparison, rounds(comparison, options.rounds))
    print(
        f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}, {options.rounds} rounds, ns per operation\n"
    )
    headers = ("what", "reader", "peer", "peer's", "ratio [95%]", "processor", "at most", "reached")
    print(tabulate(table, headers=headers, tablefmt="simple", disable_numparse=True))


if __name__ == "__main__":
    main()
