"""What the engine memory measures beside what peers do, one thread against one thread, in the same minutes.

    python benchmarks/memory.py [--rounds N] [--seconds S] [--no-latency]

Peers are Debian's `mbw`, `sysbench`, `stress-ng` and (non-free) `lmbench`; those that are missing are left
out. All take turns within a round. What they report is turned into bytes that the memory moves, which is what
the engine counts: a line that is written is read before, so that a copied line moves three times (mbw's
loop), a line changed in place twice (lmbench's rdwr), and to what STREAM counts the lines written have to be
added again (stress-ng). Small pages for all, as the peers have no others. The engine counts only what its
threads did while they had their processors; peers know nothing of that, so their figures are divided by the
share of their time in which they ran. Ratios are medians over the rounds, with the least and the greatest.

mbw and stress-ng write whole lines, and of those a processor may leave out the reading (Intel's SpecI2M,
Arm's write streaming): what is added here for it is the most that it can be, and a ratio down to 2/3 (mbw) or
5/7 (stress-ng) says that it was left out. `sysbench` and `bw_mem` leave nothing open.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tabulate import tabulate

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "plugins"))

from iogate.engines.memory.engine import engine
from iogate.engines.memory.machine import allowed_cpus, cache_line, cache_size
from iogate.errors import Position
from iogate.host.process import run
from iogate.model import Place, Workload

_MIB = 2**20
_LMBENCH = "/usr/lib/lmbench/bin"


@dataclass(frozen=True)
class Peer:
    """A program that does what the engine does with this `mix`; `bytes` reads bytes/s out of what it says."""

    name: str
    mix: str
    argv: Sequence[str]
    moved: Callable[[str], float]


def peers(size: int, seconds: float) -> Iterator[Peer]:
    """The peers that are here, on buffers of at least `size` bytes."""
    mebibytes = -(-size // _MIB)
    if shutil.which("sysbench"):
        block = 1 << (size - 1).bit_length()
        yield Peer(
            "sysbench memory read",
            "1:0",
            ["sysbench", "memory", f"--memory-block-size={block}", "--memory-total-size=1000T",
             f"--time={seconds:.0f}", "--memory-oper=read", "--memory-access-mode=seq", "run"],
            lambda said: _MIB * number(r"\((\S+) MiB/sec\)", said),
        )  # fmt: skip
    lmbench = next(Path(_LMBENCH).glob("*/bw_mem"), None)
    if lmbench:
        for what, mix, times in (("rd", "1:0", 1), ("rdwr", "1:1", 2)):
            argv = [str(lmbench), "-P", "1", "-N", "1", "-W", "0", f"{mebibytes}m", what]
            yield Peer(f"lmbench bw_mem {what}", mix, argv, _lmbench(times))
    if shutil.which("stress-ng"):
        yield Peer(
            "stress-ng --stream",
            "5:2",  # three reads for two writes, and those two lines read before
            ["stress-ng", "--stream", "1", f"--stream-l3-size={mebibytes // 3}M",
             "--stream-madvise=nohugepage", "-t", f"{max(seconds, 10):.0f}"],
            lambda said: 1e6 * (number(r"(\S+) MB read/sec", said) + 2 * number(r"(\S+) MB write/sec", said)),
        )  # fmt: skip
    if shutil.which("mbw"):
        argv = ["mbw", "-q", "-n", "10", "-t1", str(mebibytes)]
        yield Peer("mbw dumb", "2:1", argv, lambda said: 3 * _MIB * number(r"AVG.*Copy: (\S+) MiB/s", said))


def _lmbench(times: int) -> Callable[[str], float]:
    return lambda said: times * 1e6 * number(r"^\d+\.\d+ (\S+)$", said)


def number(pattern: str, said: str) -> float:
    """The number that a pattern finds in an output."""
    match = re.search(pattern, said, re.MULTILINE)
    if not match:
        raise SystemExit(f"not understood: {said}")
    return float(match[1])


def figure_of(peer: Peer, cpu: int) -> float:
    """What a peer reports, in bytes/s of the time in which it had the processor."""
    said, share = alone(peer.argv, cpu)
    return peer.moved(said) / share


def alone(argv: Sequence[str], cpu: int) -> tuple[str, float]:
    """What a program on one CPU says, and the share of its time in which it ran."""
    with tempfile.TemporaryFile("w+") as out:
        started = time.monotonic()
        process = subprocess.Popen(["taskset", "-c", str(cpu), *argv], stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        elapsed = time.monotonic() - started
        out.seek(0)
        return out.read(), min(1.0, (usage.ru_utime + usage.ru_stime) / elapsed)


def measure(mix: str, size: int, seconds: float) -> dict[str, float]:
    """The engine's metrics, without a delay and with a long one."""
    given = {"mix": mix, "threads": 1, "delays": [0, 20000], "huge_pages": False, "buffer_size": size}
    options = engine.options({**given, "runtime": seconds / 2, "cached": True})
    workload = Workload("", "", "memory", options, Position(""))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = engine.command(workload, Place(folder, None, folder))
        done = run(command.argv, folder=folder, timeout=command.timeout)
    return dict(engine.parse(done.stdout, name="memory", completed=done).metrics)


def load(metrics: dict[str, float]) -> float:
    """What the thread of the load moved, without what the latency took."""
    return metrics["bandwidth.delay_0"] - cache_line() / metrics["latency.delay_0"] * 1e9


def compare(peer: Peer, size: int, seconds: float, rounds: int) -> tuple[str, ...]:
    """A row of the table."""
    cpu = allowed_cpus()[-1]
    own, other = [], []
    for _ in range(rounds):
        own.append(load(measure(peer.mix, size, seconds)))
        other.append(figure_of(peer, cpu))
    ratios = [one / two for one, two in zip(own, other, strict=True)]
    return (
        f"bandwidth, reads:writes {peer.mix}",
        f"{statistics.median(own) / 1e9:.2f} GB/s",
        peer.name,
        f"{statistics.median(other) / 1e9:.2f} GB/s",
        _spread(ratios),
    )


def compare_latency(size: int, seconds: float, rounds: int) -> tuple[str, ...] | None:
    """The same for the latency: lmbench's lat_mem_rd, whose last size is the largest. None without it."""
    program = next(Path(_LMBENCH).glob("*/lat_mem_rd"), None)
    if program is None:
        return None
    own = [measure("1:0", size, seconds)["latency.idle"] for _ in range(rounds)]
    argv = [str(program), "-t", "-P", "1", "-N", "1", "-W", "0", str(size // _MIB), "64"]
    said, share = alone(argv, allowed_cpus()[-1])
    other = float(said.split()[-1]) * share
    ratios = [one / other for one in own]
    return (
        "latency, idle",
        f"{statistics.median(own):.1f} ns",
        "lmbench lat_mem_rd -t",
        f"{other:.1f} ns",
        _spread(ratios),
    )


def _spread(ratios: Sequence[float]) -> str:
    return f"{statistics.median(ratios):.2f} [{min(ratios):.2f}, {max(ratios):.2f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each program in a round")
    parser.add_argument("--no-latency", action="store_true", help="leave lat_mem_rd out: it takes minutes")
    options = parser.parse_args()
    size = max(4 * cache_size(), 256 * _MIB)
    table = [compare(peer, size, options.seconds, options.rounds) for peer in peers(size, options.seconds)]
    latency = None if options.no_latency else compare_latency(size, options.seconds, options.rounds)
    print(
        f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}, {size // _MIB} MiB, {options.rounds} rounds\n"
    )
    headers = ("what", "memory", "peer", "peer's", "ratio [least, greatest]")
    rows = [*table, *([latency] if latency else [])]
    print(tabulate(rows, headers=headers, tablefmt="simple", disable_numparse=True))


if __name__ == "__main__":
    main()
