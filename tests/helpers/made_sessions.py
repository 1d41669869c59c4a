"""Sessions as results documents, made up: all that a report can show of one."""

from __future__ import annotations

import math
from random import Random

from iogate.model import Environment, Finding, Histogram
from iogate.report.results import (
    SCHEMA,
    GateRecord,
    MetricRecord,
    RepetitionRecord,
    Results,
    RunRecord,
    WorkloadRecord,
)

PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
JOB_FILE = """\
[global]
ioengine=libaio
direct=1
size=16G
runtime=30
time_based=1
group_reporting=1
randrepeat=0
norandommap=1
[job]
filename=/mnt/data/.iogate-scratch-1000/data
rw=randrw
bs=64k
iodepth=16
"""


def many(count: int, seed: int = 1) -> Results:
    """A session of so many workloads: five repetitions of 30 s that read and write, 48 metrics each."""
    random = Random(seed)
    return session(*(mixed(f"mixed_{number}", random) for number in range(count)))


def session(*workloads: WorkloadRecord, open: tuple[str, ...] = (), device: str = "orin") -> Results:
    """A session of these workloads; those in `open` are not decided."""
    environment = Environment(
        {"cpu": "Cortex-A78AE", "disk": "KXG60ZNV256G"}, {"kernel": "5.15.136"}, {"load": "0.1"}
    )
    selection = dict.fromkeys([*(item.id for item in workloads), *open], "0123456789ab")
    return Results(
        SCHEMA,
        device,
        "2026-11-21T02:11:47Z-b132",
        workloads,
        environment,
        {"iogate": "0.1.0", "fio": "fio-3.36"},
        GateRecord(0.01, 0.05, 12),
        RunRecord(selection, open),
    )


def mixed(name: str, random: Random, seconds: int = 30, repetitions: int = 5) -> WorkloadRecord:
    """A workload that reads and writes, held against a baseline of ten sessions."""
    change = random.choice([0.0, 0.0, 0.0, 0.02, -0.02, -0.08])
    runs = [_metrics(random, 1 + change) for _ in range(repetitions)]
    measured = tuple(
        RepetitionRecord(
            metrics,
            f".iogate/results/2026-11-21T02:11:47Z-b132/{name}-781e9d5b/{number}",
            30.2,
            series=tuple(round(random.gauss(8e8, 2e7)) for _ in range(seconds)),
            histograms={"read.clat": _histogram(random), "write.clat": _histogram(random)},
        )
        for number, metrics in enumerate(runs, 1)
    )
    verdict = "regressed" if change < -0.05 else "drift" if change < 0 else "pass"
    metrics = {key: _record(key, tuple(run[key] for run in runs), change, verdict, random) for key in runs[0]}
    return WorkloadRecord(
        id=f"suites/acceptance.yaml::{name}",
        suite="acceptance",
        workload=name,
        engine="fio",
        definition={
            "engine": "fio",
            "rw": "randrw",
            "bs": "64k",
            "iodepth": 16,
            "size": "16G",
            "runtime": 30,
        },
        verdict=verdict,
        reason=f"read.iops is 12.35 k IOPS against 12.72 k IOPS, {change:+.1%}; passes above 12.1 k IOPS",
        repetitions=repetitions,
        metrics=metrics,
        description="Blocks of medium size at random places.",
        where="suites/acceptance.yaml:30:3",
        device_seconds=151.0,
        findings=(
            Finding("short_run", "suspect", "a run of 30 s says little of this device", "--io-runtime=60"),
        ),
        differences=("kernel was 5.15.120, is 5.15.136",),
        folders=tuple(item.folder for item in measured),
        measured=measured,
        command="fio --output-format=json+ job.fio",
        files={"job.fio": JOB_FILE},
    )


def _record(key: str, values: tuple[float, ...], change: float, verdict: str, random: Random) -> MetricRecord:
    gating = key in ("read.iops", "write.iops")
    value = sorted(values)[len(values) // 2]
    unit = "IOPS" if "iops" in key else "B/s" if "bandwidth" in key else "ns"
    direction = "lower" if unit == "ns" else "higher"
    base = value / (1 + change)
    more = (
        {
            "interval": (change - 0.01, change + 0.01),
            "tolerance": 0.05,
            "bound": base * 0.95,
            "tolerance_from": "suite",
            "verdict": verdict,
            "sessions": {
                f"2026-11-{day:02}T02:11:47Z-b132": tuple(
                    round(base * random.gauss(1, 0.01), 3) for _ in range(5)
                )
                for day in range(1, 11)
            },
        }
        if gating
        else {}
    )
    return MetricRecord(unit, direction, gating, values, value, base, value / base - 1, **more)


def _metrics(random: Random, factor: float) -> dict[str, float]:
    found = {}
    for side in ("read", "write"):
        found[f"{side}.iops"] = round(random.gauss(12500, 100) * factor, 6)
        found[f"{side}.bandwidth"] = round(found[f"{side}.iops"] * 65536, 1)
        for kind in ("slat", "clat", "lat"):
            found[f"{side}.{kind}.mean"] = round(random.gauss(1.2e6, 1e4), 6)
        for kind in ("min", "max"):
            found[f"{side}.clat.{kind}"] = round(random.gauss(1.2e6, 1e4), 6)
        for percent in PERCENTILES:
            found[f"{side}.clat.p{percent:g}"] = round(1e6 * (1 - math.log10(1 - percent / 100)), 1)
    return found


def _histogram(random: Random) -> Histogram:
    bins = [2**17 * (8 + step) // 8 << octave for octave in range(8) for step in range(8)]
    return Histogram(8, {least: random.randrange(1, 9000) for least in bins})
