"""Whether pairs are right about differences that the kernel makes, and not the benchmark itself.

    sudo python benchmarks/paired_truths.py throttles [LABS]   loop devices, the base gets 2000 I/Os a second
    sudo python benchmarks/paired_truths.py images [TRIALS]    ext4 images, data=ordered and data=journal

`throttles` compares two devices in each lab (`--io-against=BASE`, slices of half a second) where the
candidate gets as many I/Os a second, 5% and 10% fewer, and 5% more. The throttle hands out I/Os in portions,
which shorter slices would see. The labs work side by side, as they are throttled far below what their device
gives. `images` writes through two file systems that differ in nothing but how they keep data (tune2fs -o):
equal ones, and either as the candidate.

Each trial is a whole `pytest suites` with real fio, tolerance 5%. Needs root, loop devices and cgroups.
"""

from __future__ import annotations

import collections
import contextlib
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tabulate import tabulate

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "plugins"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/helpers"))

from iogate.host.mounts import block_number
from loops import MIB, Loops, format_device, run
from projects import Project, Result
from throttle import Throttle, throttle

SPEED = 2000
CHANGES = (0.0, -0.05, -0.10, 0.05)
READS = """\
defaults: {engine: fio, ioengine: libaio, direct: true, size: 16M, runtime: 3, time_based: true}
workloads:
  reads: {rw: randread, bs: 4k, iodepth: 16, gate: {read.iops: 5%}}
"""
WRITES = """\
defaults: {engine: fio, ioengine: libaio, direct: true, size: 32M, runtime: 3, time_based: true}
workloads:
  writes: {rw: randwrite, bs: 8k, iodepth: 16, gate: {write.iops: 5%}}
"""
MODES = {"none": ("ordered", "another"), "journal": ("ordered", "journal"), "ordered": ("journal", "ordered")}


class Trial(NamedTuple):
    """What a pair was found to be, in so many blocks and seconds; `change` and its bounds as shares."""

    truth: str
    verdict: str
    change: float
    low: float
    high: float
    blocks: int
    seconds: float


def trial(truth: str, result: Result) -> Trial:
    """Return what the one workload of a run was found to be. Raises RuntimeError for a run without pairs."""
    item = next(iter(result.results["workloads"] if result.verdicts else ()), None)
    metric = next((one for one in item["metrics"].values() if one["gating"]), None) if item else None
    if item is None or metric is None:
        raise RuntimeError(result.text)
    low, high = metric["interval"] or (float("nan"),) * 2
    found = Trial(
        truth, item["verdict"], metric["change"], low, high, item["repetitions"], item["device_seconds"]
    )
    print(*found, flush=True)
    return found


def throttled(
    number: int, folder: Path, points: tuple[Path, Path], cgroup: Throttle, numbers: list[str]
) -> list[Trial]:
    """Compare two throttled file systems at each change of the candidate."""
    project = Project(folder / f"lab-{number}")
    project.suite(READS)
    found = []
    base, candidate = points
    for change in CHANGES:
        for device, speed in zip(numbers, (SPEED, SPEED * (1 + change)), strict=True):
            cgroup.number = device
            cgroup.limit(round(speed))
        arguments = (f"--io-against={base}", f"--io-target={candidate}", "--io-slice=500ms")
        started = project.start("suites", *arguments, wrapper=cgroup.inside)
        found.append(trial(f"{change:+.0%}", project.finish(started, patience=1800)))
    return found


def throttles(labs: int) -> Iterator[Trial]:
    """Yield the trials of so many labs, which work side by side."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")))
        loops = stack.enter_context(Loops(folder))
        loops.into_memory()
        pool = stack.enter_context(ThreadPoolExecutor(labs))
        tasks = []
        for number in range(labs):
            devices = [loops.device(64 * MIB, "--direct-io=on") for _ in range(2)]
            for device in devices:
                format_device("ext4", device)
            points = (loops.mount(devices[0]), loops.mount(devices[1]))
            numbers = [block_number(device) or "" for device in devices]
            cgroup = stack.enter_context(throttle(numbers[0]))
            tasks.append(pool.submit(throttled, number, folder, points, cgroup, numbers))
        for task in tasks:
            yield from task.result()


def images(trials: int) -> Iterator[Trial]:
    """Yield so many trials of two images each way round."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")))
        files = {mode: folder / f"{mode}.img" for mode in ("ordered", "another", "journal")}
        for mode, file in files.items():
            with file.open("wb") as stream:
                stream.truncate(160 * MIB)
            run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", "-J", "size=16", file)
            run("tune2fs", "-o", "journal_data" if mode == "journal" else "journal_data_ordered", file)
        for number in range(trials):
            for truth, (base, candidate) in MODES.items():
                project = Project(folder / f"{truth}-{number}")
                (project.path / "slots").mkdir()
                project.device("lab", f"target: {project.path / 'slots'}\n")
                project.suite(WRITES)
                arguments = (f"--io-against={files[base]}", f"--io-target={files[candidate]}")
                started = project.start("suites", "--device=lab", *arguments)
                yield trial(truth, project.finish(started, patience=1800))


def verdicts(trials: list[Trial]) -> list[tuple[str, int]]:
    """Return how often each verdict was given, the usual first."""
    return collections.Counter(one.verdict for one in trials).most_common()


def main() -> None:
    """Print what became of each truth."""
    kind, *rest = sys.argv[1:] or ["throttles"]
    count = int(rest[0]) if rest else 4
    begun = time.monotonic()
    found = collections.defaultdict(list)
    for one in throttles(count) if kind == "throttles" else images(count):
        found[one.truth].append(one)
    rows = [
        (
            truth,
            ", ".join(
                f"{n} {verdict}" for verdict, n in collections.Counter(one.verdict for one in each).items()
            ),
            f"{min(one.change for one in each):+.1%} to {max(one.change for one in each):+.1%}",
            f"{statistics.median(one.blocks for one in each):.0f}",
            f"{statistics.median(one.seconds for one in each):.0f}",
        )
        for truth, each in found.items()
    ]
    print(
        tabulate(rows, headers=("truth", "verdicts", "changes found", "blocks", "seconds"), tablefmt="github")
    )
    print(f"\n{time.monotonic() - begun:.0f} s in all")


if __name__ == "__main__":
    main()
