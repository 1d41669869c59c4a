"""How often a fleet of equal devices has one that is said to be slower, how often a slow one is found, how
often intervals hold what they should, and what a baseline of a fleet does with new devices.

    python benchmarks/fleet.py [FLEETS]

Devices differ by 2%, the sessions of one by 0.7%, the repetitions of a session by 2% (five of them). Of
each cell FLEETS are drawn (default: 4000; a tenth of it against baselines). Brackets are 95% Clopper-Pearson
bounds. About two minutes of one core.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import beta

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "plugins"))

from iogate.judge.fleet import Standing, beyond_chance, spread_of, standings
from iogate.judge.gate import decide
from iogate.judge.gate.distributions import student_bound

BETWEEN, WITHIN, REPETITION, RUNS = 0.02, 0.007, 0.02, 5
ALPHA, LOSS, SIZES = 0.01, -math.log1p(-0.10), (6, 10, 20)
Draw = Callable[[int], np.ndarray]
random = np.random.default_rng(20261122)


def normal(count: int) -> np.ndarray:
    return random.standard_normal(count)


def heavy(count: int) -> np.ndarray:
    return random.standard_t(3, count) / math.sqrt(3)


def share(count: int, of: int) -> str:
    low = beta.ppf(0.025, count, of - count + 1) if count else 0.0
    high = beta.ppf(0.975, count + 1, of - count) if count < of else 1.0
    digits = 2 if of >= 100_000 else 1
    return f"{count / of:.{digits}%} ({low:.{digits}%}-{high:.{digits}%})"


def sessions(counts: Sequence[int], devices: np.ndarray, within: float) -> list[list[float]]:
    """Return the values of sessions of devices: their noise is that of sessions and of repetitions."""
    noise = math.hypot(within, REPETITION / math.sqrt(RUNS))
    return [
        [float(device + step) for step in random.normal(0, noise, count)]
        for device, count in zip(devices, counts, strict=True)
    ]


def said(counts: Sequence[int], metrics: int, shared: bool, draw: Draw, loss: float = 0.0) -> list[bool]:
    """Return which devices of a fleet are said to be slower in any metric; the first one has lost so much."""
    common = draw(len(counts))
    rows: list[Standing] = []
    for _ in range(metrics):
        devices = BETWEEN * (common if shared else draw(len(counts)))
        devices[0] += loss
        rows += standings(sessions(counts, devices, WITHIN))
    found = np.array(beyond_chance(rows, ALPHA)).reshape(metrics, len(counts))
    return list(found.any(axis=0))


def level(fleets: int) -> None:
    """Count false alarms of one metric by the formula alone, of so many fleets that a tenth of 1% shows."""
    for size in SIZES:
        values = random.standard_normal((fleets, size))
        others = size - 1
        means = (values.sum(1, keepdims=True) - values) / others
        squares = (values**2).sum(1, keepdims=True) - values**2 - others * means**2
        distances = (values - means) / np.sqrt(squares / (others - 1) * (1 + 1 / others))
        bound = student_bound(others - 1.0, ALPHA / size)
        print(f"{size} devices: {share(int((distances.max(1) > bound).sum()), fleets)} of {fleets} fleets")


def alarms(fleets: int) -> None:
    print("\n| devices | sessions of each | metrics | devices | false alarm | the slow one | another said |")
    print("| ---: | --- | ---: | --- | ---: | ---: | ---: |")
    cases: list[tuple[int, str, int, bool, Draw]] = [
        *((size, each, 1, True, normal) for size in SIZES for each in ("1", "3")),
        *((size, "1 or 5", 1, True, normal) for size in SIZES),
        *((size, "3", 8, True, normal) for size in SIZES),
        *((size, "3", 8, False, normal) for size in SIZES),
        *((size, "3", 1, True, heavy) for size in SIZES),
    ]
    for size, each, metrics, shared, draw in cases:
        few = fleets if metrics == 1 else fleets // 4
        counts = [1 if place % 2 else 5 for place in range(size)] if "or" in each else [int(each)] * size
        null = sum(any(said(counts, metrics, shared, draw)) for _ in range(few))
        slow = [said(counts, metrics, shared, draw, LOSS) for _ in range(few)]
        how = "heavy tails (t, 3)" if draw is heavy else "alike" if shared else "each otherwise"
        how = "normal" if metrics == 1 and draw is normal else how
        found, wrong = sum(one[0] for one in slow), sum(any(one[1:]) for one in slow)
        told = " | ".join(share(one, few) for one in (null, found, wrong))
        print(f"| {size} | {each} | {metrics} | {how} | {told} |", flush=True)


def coverage(fleets: int) -> None:
    print("\n| devices | sessions of each | between, within | holds between | holds within |")
    print("| ---: | --- | --- | ---: | ---: |")
    for size in SIZES:
        for each, counts in (
            ("3", [3] * size),
            ("1 or 5", [1 if place % 2 else 5 for place in range(size)]),
        ):
            for between, within in ((0.02, 0.007), (0.005, 0.03)):
                held = [0, 0]
                noise = math.hypot(within, REPETITION / math.sqrt(RUNS))
                for _ in range(fleets):
                    found = spread_of(sessions(counts, between * normal(size), within))
                    for place, (interval, true) in enumerate(
                        ((found.between_interval, between), (found.within_interval, noise))
                    ):
                        held[place] += interval is not None and interval[0] <= true <= interval[1]
                told = " | ".join(share(one, fleets) for one in held)
                print(f"| {size} | {each} | {between:.1%}, {noise:.1%} | {told} |", flush=True)


def runs(device: float, count: int) -> list[float]:
    """Return the repetitions of a session of a device, as rates."""
    session = device + random.normal(0, WITHIN)
    return [float(1000 * math.exp(-value)) for value in session + random.normal(0, REPETITION, count)]


def judged(baseline: list[list[float]], loss: float, tolerance: float) -> str:
    """Return the verdict on a new device: of one session, as many repetitions as it takes."""
    values = runs(BETWEEN * float(normal(1)[0]) + loss, 12)
    for count in range(2, 13):
        found = decide(baseline, values[:count], direction="higher", tolerance=tolerance)
        if found.verdict != "continue":
            break
    return found.verdict


def acceptance(fleets: int) -> None:
    print("\n| baseline | tolerance | new device | fails | passes | inconclusive |")
    print("| --- | ---: | --- | ---: | ---: | ---: |")
    kinds = [(size, 1, "the newest session of each of {} devices") for size in SIZES]
    kinds.append((6, 3, "three sessions of each of {} devices, as 18 sessions"))
    for size, each, what in kinds:
        for loss in (0.0, -math.log1p(-0.10), -math.log1p(-0.20)):
            verdicts = []
            for _ in range(fleets):
                devices = [float(one) for one in BETWEEN * normal(size)]
                baseline = [runs(device, RUNS) for device in devices for _ in range(each)]
                verdicts.append(judged(baseline, loss, 0.10))
            failed, undecided = verdicts.count("regressed"), verdicts.count("inconclusive")
            passed = fleets - failed - undecided
            kind = f"{1 - math.exp(-loss):.0%} slow" if loss else "equal"
            told = " | ".join(share(one, fleets) for one in (failed, passed, undecided))
            print(f"| {what.format(size)} | 10% | {kind} | {told} |", flush=True)


if __name__ == "__main__":
    fleets = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    level(100 * fleets)
    alarms(fleets)
    coverage(fleets)
    acceptance(fleets // 10)
