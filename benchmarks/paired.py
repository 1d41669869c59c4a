"""Real pairs on this machine as it is: equal arms, arms that have lost a known share, and what else the same
device time buys.

    python benchmarks/paired.py record FILE MINUTES [SITUATION ...]   measure, and append to FILE
    python benchmarks/paired.py table FILE                            what the trials in FILE say
    python benchmarks/paired.py blocks FILE                           their blocks, as JSON

A trial is a workload on its way to a verdict, as `--io-against=same` (two copies) or `against:` (the same
data) makes it. `loss` is a copy whose arm B is stopped for 5% of each of its slices, of random I/O only.
`rivals` are whole runs of 2.5 s, one after another: of them single runs, five runs each and the unpaired gate
are made.
"""

from __future__ import annotations

import itertools
import json
import math
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from iogate import engines
from iogate.errors import Position
from iogate.judge.judge import GateOptions
from iogate.judge.pair_judge import PairJudge
from iogate.measure.bench import Watcher
from iogate.measure.local_bench import LocalBench
from iogate.measure.pairing import Pairing
from iogate.measure.settings import Settings
from iogate.model import Device, Repetition, Workload

SIZE = "512M"
WORKLOADS = {
    "random read 4k, depth 16": {"rw": "randread", "bs": "4k", "iodepth": 16},
    "random read 8k, depth 32": {"rw": "randread", "bs": "8k", "iodepth": 32},
    "random write 8k, depth 32": {"rw": "randwrite", "bs": "8k", "iodepth": 32},
    "random mixed 64k, depth 8": {"rw": "randrw", "bs": "64k", "iodepth": 8},
    "sequential read 1M, depth 8": {"rw": "read", "bs": "1M", "iodepth": 8},
    "sequential write 1M, depth 8": {"rw": "write", "bs": "1M", "iodepth": 8},
}
SITUATIONS = ("copies", "one", "loss", "rivals")
LOSS = 0.05


class Silent(Watcher):
    """Hears nothing."""

    def tick(self, elapsed: float, bandwidth: float | None) -> None: ...

    def laying_out(self, done: int, total: int) -> None: ...

    def notice(self, text: str) -> None: ...


def workload_of(name: str, runtime: float = 10.0) -> Workload:
    """Return a workload of that name."""
    given = {**WORKLOADS[name], "size": SIZE, "runtime": runtime, "time_based": True}
    return Workload(name, "paired", "fio", engines.load("fio").options(given), Position("paired.py"))


def bench_of(folder: Path, places: str, handicap: float = 0.0) -> LocalBench:
    """Return this machine with a target in `folder`, whose arm B is stopped for a share of its slices."""
    target = folder / "target"
    target.mkdir(exist_ok=True)
    device = Device("paired", str(target))
    settings = Settings(root=folder, device="paired", against="same" if places == "copies" else None)
    return LocalBench(settings, device, folder / "results", Silent(), (0.0, handicap))


def trial(bench: LocalBench, name: str, seed: str) -> dict[str, Any]:
    """Measure blocks until there is a verdict, and return what happened."""
    workload = workload_of(name)
    gating = engines.load("fio").gating(workload)
    pairing = Pairing.of((workload, workload), gating, bench.places)
    judge = PairJudge(workload, gating, GateOptions(), "itself", crossover=bool(pairing.crossover))
    blocks: list[Repetition] = []
    bench.repeat(seed, workload_of(name, 0.2), "layout", ())  # so that no trial pays for laying out
    begun = time.monotonic()
    while len(blocks) < judge.maximum and not (blocks and judge.look(blocks)):
        pair = pairing.pair((workload, workload), len(blocks), seed)
        blocks.append(bench.alternate(seed, pair, len(blocks) + 1, gating))
    seconds = time.monotonic() - begun
    judge.look(blocks)
    verdict = judge.verdict(blocks)
    ratios = {
        metric: [block.metrics[metric] / block.base.metrics[metric] for block in blocks if block.base]
        for metric in gating
    }
    return {
        "workload": name,
        "verdict": verdict.verdict,
        "blocks": len(blocks),
        "seconds": seconds,
        "measuring": sum(item.seconds for block in blocks for item in block.slices),
        "ratios": ratios,
        "swapped": [block.swapped for block in blocks],
        "places": [item.place_effect for item in verdict.metrics if item.gating],
        "detectable": [item.minimum_detectable for item in verdict.metrics if item.gating],
        "suspect": sorted(
            {item.check for block in blocks for item in block.findings if item.severity != "note"}
        ),
    }


def runs(bench: LocalBench, name: str, seed: str, count: int = 10) -> dict[str, Any]:
    """Measure whole runs one after another, and return what each did."""
    workload = workload_of(name, 2.5)
    (metric, *_) = engines.load("fio").gating(workload)
    found = [bench.repeat(seed, workload, number, ()).metrics[metric] for number in range(1, count + 1)]
    return {"workload": name, "metric": metric, "values": found}


def record(file: Path, minutes: float, situations: Sequence[str]) -> None:
    """Measure in turns, each workload in each situation, until the time is over."""
    end = time.monotonic() + 60 * minutes
    with tempfile.TemporaryDirectory(dir=file.resolve().parent) as folder:
        for number in itertools.count():
            for name in WORKLOADS:
                for situation in situations:
                    if time.monotonic() > end:
                        return
                    if situation == "loss" and name.startswith("sequential"):
                        continue  # what is in flight lasts longer than the stop: nothing would be lost
                    bench = bench_of(
                        Path(folder),
                        "one" if situation in ("one", "rivals") else "copies",
                        LOSS if situation == "loss" else 0.0,
                    )
                    seed = f"{time.time()} {number}"
                    measure: Callable[..., dict[str, Any]] = runs if situation == "rivals" else trial
                    try:
                        found = {"situation": situation, **measure(bench, name, seed)}
                    finally:
                        bench.close()
                    with file.open("a") as stream:
                        stream.write(json.dumps(found) + "\n")
                    shown = {
                        key: found.get(key)
                        for key in ("situation", "workload", "verdict", "blocks", "seconds")
                    }
                    print(shown, flush=True)


def load(file: Path) -> Iterator[dict[str, Any]]:
    """Yield what was recorded."""
    for line in file.read_text().splitlines():
        yield json.loads(line)


def table(file: Path) -> None:
    """Print verdicts, blocks and seconds by situation and workload; then what rivals would have said."""
    from tabulate import tabulate

    found = [item for item in load(file) if item["situation"] != "rivals"]
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for item in found:
        groups[item["situation"], item["workload"]].append(item)
        groups[item["situation"], "all"].append(item)
    rows = [_row(*key, items) for key, items in groups.items()]
    headers = (
        "situation",
        "workload",
        "trials",
        "verdicts",
        "blocks",
        "seconds",
        "resolved",
        "place",
        "not measuring",
    )
    print(tabulate(rows, headers=headers, tablefmt="github", disable_numparse=True))
    rivals = [item for item in load(file) if item["situation"] == "rivals"]
    print()
    smallest = ("smallest loss in 60 s", "two copies", "the same data", "gate, one session", "gate, all")
    print(tabulate(_smallest(found, rivals), headers=smallest, tablefmt="github"))
    if rivals:
        print()
        print(
            tabulate(_rivals(rivals), headers=("rival", "trials", "off by", "said worse"), tablefmt="github")
        )


def _row(situation: str, workload: str, items: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    verdicts = Counter(item["verdict"] for item in items)
    blocks, seconds = [item["blocks"] for item in items], [item["seconds"] for item in items]
    places = [abs(place) for item in items for place in item["places"] if place is not None]
    idle = 1 - sum(item["measuring"] for item in items) / sum(seconds)
    return (
        situation,
        workload,
        str(len(items)),
        ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()),
        _spread(blocks, ".0f"),
        _spread(seconds, ".0f"),
        f"{statistics.median(worst for item in items if (worst := _worst(item))):.1%}",
        f"{statistics.median(places):.1%}" if places else "",
        f"{idle:.0%}",
    )


def _worst(item: dict[str, Any]) -> float | None:
    return max((value for value in item["detectable"] if value is not None), default=None)


def _smallest(
    trials: Sequence[dict[str, Any]], rivals: Sequence[dict[str, Any]]
) -> Iterator[tuple[str, ...]]:
    """Yield the loss of each workload that 60 s of measuring find with 95% at false alarms of 1%: by pairs
    (the median of the trials), and by the gate with one session and with all that were recorded.
    """
    for name in WORKLOADS:
        own = [item for item in trials if item["workload"] == name]
        sessions = [item["values"] for item in rivals if item["workload"] == name]
        yield (
            name,
            *(
                _median(_found_in_a_minute(item) for item in own if item["situation"] == situation)
                for situation in ("copies", "one")
            ),
            _median(_found([session]) for session in sessions),
            _median([_found(sessions)]),
        )


def _median(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{statistics.median(known):.1%}" if known else ""


def _found_in_a_minute(item: dict[str, Any]) -> float | None:
    """Return the smallest loss that as many blocks as 60 s have room for would find, by a trial's noise."""
    from iogate.judge.pair.shift import read_shift

    known = []
    for ratios in item["ratios"].values():
        swapped = item["swapped"] if item["situation"] == "copies" else None
        shift = read_shift([-math.log(ratio) for ratio in ratios], swapped)
        room = round(60 / item["seconds"] * item["blocks"]) - item["blocks"]
        known.append(shift.detectable(0.01, 0.05, room))
    return max((-math.expm1(-value) for value in known if value is not None), default=None)


def _found(sessions: Sequence[Sequence[float]]) -> float | None:
    """Return the smallest loss that the gate would find by 24 runs of 2.5 s, with these as its baseline."""
    from iogate.judge.gate import sensitivity

    known = sensitivity(sessions, direction="higher", max_repetitions=24) if sessions else None
    return known.minimum_detectable if known else None


def _spread(values: Sequence[float], form: str) -> str:
    """Return the median and the 95th percentile."""
    ordered = sorted(values)
    high = ordered[min(len(ordered) - 1, math.ceil(0.95 * len(ordered)) - 1)]
    return f"{statistics.median(ordered):{form}} / {high:{form}}"


def _rivals(rivals: Sequence[dict[str, Any]]) -> list[tuple[str, int, str, str]]:
    """Return what single runs, five runs of 2.5 s each, and the gate would have said of equal arms."""
    from iogate.judge.gate import decide
    from iogate.judge.gate.distributions import student_bound

    single: list[float] = []
    five: list[tuple[float, bool]] = []
    gated: list[str] = []
    for item in rivals:
        first, second = item["values"][:5], item["values"][5:]
        change = statistics.fmean(second) / statistics.fmean(first) - 1
        single.append(change)
        logs = [list(map(math.log, values)) for values in (first, second)]
        errors = [statistics.variance(values) / len(values) for values in logs]
        error = math.sqrt(sum(errors))
        degrees = sum(errors) ** 2 / sum(part**2 / 4 for part in errors) if error else 1.0
        worse = (statistics.fmean(logs[0]) - statistics.fmean(logs[1])) > student_bound(degrees, 0.01) * error
        five.append((change, worse))
        gated.append(decide([first], second, direction="higher", tolerance=0.05, max_repetitions=5).verdict)
    count = len(rivals)
    off = f"{statistics.median(map(abs, single)):.1%}"
    verdicts = ", ".join(f"{number} {verdict}" for verdict, number in Counter(gated).most_common())
    return [
        ("12 s each, worse by 5%", count, off, f"{sum(change < -0.05 for change in single)}"),
        ("5 runs each, Welch at 1%", count, off, f"{sum(worse for _, worse in five)}"),
        ("the gate, one session of 5 runs", count, off, verdicts),
    ]


def blocks(file: Path) -> None:
    """Print the blocks of equal arms by workload and situation, as paired_characteristics.py reads them."""
    found: dict[str, list[float]] = defaultdict(list)
    for item in load(file):
        if item["situation"] in ("copies", "one"):
            for metric, ratios in item["ratios"].items():
                found[f"{item['workload']} {metric} {item['situation']}"] += ratios
    print(json.dumps(found))


def main(arguments: Sequence[str]) -> None:
    """Do what the arguments say."""
    match arguments:
        case ["record", file, minutes, *situations]:
            record(Path(file), float(minutes), situations or SITUATIONS)
        case ["table", file]:
            table(Path(file))
        case ["blocks", file]:
            blocks(Path(file))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
