"""How soon a lasting loss is told from the history of a metric, and how often one is told that is none.

    pip install apache-otava ruptures asv    # each that is missing is left out
    python benchmarks/history.py [SERIES [SERIES_OF_PEERS]] [NOISE...]

A device is looked at after each session, as a lab does: each method sees the series so far, from six sessions
on. Of series without a change (60 sessions) it counts the looks at which any change is said to be there, and
the sessions at which one is said that was not said before. Of series with a loss of 5% after 10, 20 or 40
sessions it counts the sessions of the loss until it is told, by a change at most three sessions off; NEVER
is within 12: the median delay, and the share never told. Sessions scatter by 1%, but for two speeds. All
methods see the same series, the peers the first of them. About a quarter of an hour with two cores.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "plugins"))

from iogate.judge.history import find_levels

NOISE, LOSS, FIRST, LENGTH, LATEST, NEAR = 0.01, 0.05, 6, 60, 12, 3
HISTORIES = (10, 20, 40)
Method = Callable[[np.ndarray], Sequence[int]]


def independent(random: np.random.Generator, count: int) -> np.ndarray:
    return random.standard_normal(count)


def correlated(correlation: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    def noise(random: np.random.Generator, count: int) -> np.ndarray:
        values = random.standard_normal(count)
        values[1:] *= math.sqrt(1 - correlation**2)
        for index in range(1, count):
            values[index] += correlation * values[index - 1]
        return values

    return noise


def heavy(random: np.random.Generator, count: int) -> np.ndarray:
    return random.standard_t(3, count) / math.sqrt(3)


def skewed(random: np.random.Generator, count: int) -> np.ndarray:
    """Sessions that are sometimes much slower, never much faster."""
    values = -np.exp(0.7 * random.standard_normal(count))
    return (values + math.exp(0.245)) / math.sqrt((math.exp(0.49) - 1) * math.exp(0.49))


def spiked(random: np.random.Generator, count: int) -> np.ndarray:
    """One session in twenty is 10% to 30% slower."""
    spikes = random.uniform(10, 30, count) * (random.random(count) < 0.05)
    return random.standard_normal(count) - spikes


def of_two_speeds(share: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    """A share of the sessions is 5% slower than the others, which scatter by 0.3%."""

    def noise(random: np.random.Generator, count: int) -> np.ndarray:
        return 0.3 * random.standard_normal(count) - 5 * (random.random(count) < share)

    return noise


NOISES = {
    "independent": independent,
    "AR(1) 0.3": correlated(0.3),
    "AR(1) 0.5": correlated(0.5),
    "heavy tails (t, 3)": heavy,
    "skewed": skewed,
    "spikes, 5%": spiked,
    "two speeds, 10%": of_two_speeds(0.1),
    "two speeds, 20%": of_two_speeds(0.2),
}


def own(values: np.ndarray) -> Sequence[int]:
    return find_levels(values).change_points


def methods() -> dict[str, Method]:
    """Return the methods that are installed, at their defaults; otava and asv see values, not logarithms."""
    found: dict[str, Method] = {"iogate": own}
    try:
        from otava.analysis import compute_change_points
    except ImportError:
        print("apache-otava is not installed", file=sys.stderr)
    else:
        found["otava"] = lambda values: [one.index for one in compute_change_points(list(np.exp(values)))[0]]
    try:
        from ruptures import Pelt
    except ImportError:
        print("ruptures is not installed", file=sys.stderr)
    else:

        def pelt(values: np.ndarray) -> Sequence[int]:
            """PELT with the price of BIC, sigma by the differences of neighbours."""
            sigma = np.median(np.abs(np.diff(values))) / (0.6745 * math.sqrt(2))
            price = 3 * math.log(len(values)) * sigma**2
            return Pelt(model="l2", min_size=3, jump=1).fit(values).predict(pen=price)[:-1]

        found["ruptures (PELT, BIC)"] = pelt
    try:
        from asv.step_detect import detect_steps
    except ImportError:
        print("asv is not installed", file=sys.stderr)
    else:
        found["asv"] = lambda values: [step[0] for step in detect_steps(list(np.exp(values)))[1:]]
    return found


def looks(method: Method, values: np.ndarray) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the number of sessions and the change points told, after each session."""
    for count in range(FIRST, len(values) + 1):
        yield count, tuple(method(values[:count]))


def false_alarms(method: Method, series: Sequence[np.ndarray]) -> tuple[int, int, int]:
    """Return looks, looks that say there is a change, and sessions at which a new one is said."""
    seen = told = new = 0
    for values in series:
        known: set[int] = set()
        for _, points in looks(method, values):
            seen += 1
            told += bool(points)
            new += any(all(abs(point - old) > NEAR for old in known) for point in points)
            known |= set(points)
    return seen, told, new


def delay(method: Method, values: np.ndarray, before: int) -> int:
    """Return the sessions of a loss until it is told; LATEST + 1: never."""
    for after in range(1, LATEST + 1):
        points = method(values[: before + after])
        if any(abs(point - before) <= NEAR for point in points):
            return after
    return LATEST + 1


def rows(name: str, own_series: int, peer_series: int) -> Iterator[tuple[str, ...]]:
    """Yield what each method says of series of a noise."""
    noise, random = NOISES[name], np.random.default_rng((7, list(NOISES).index(name)))
    series = [NOISE * noise(random, LENGTH) for _ in range(own_series)]
    losses = []
    for before in HISTORIES:
        step = np.concatenate([np.zeros(before), np.full(LATEST, math.log1p(-LOSS))])
        losses.append([NOISE * noise(random, before + LATEST) + step for _ in range(own_series)])
    for label, method in methods().items():
        count = own_series if label == "iogate" else min(peer_series, own_series)
        if not count:
            continue
        begin = time.perf_counter()
        seen, told, new = false_alarms(method, series[:count])
        each = (time.perf_counter() - begin) / seen * 1e3
        cells = []
        for before, with_loss in zip(HISTORIES, losses, strict=True):
            delays = [delay(method, values, before) for values in with_loss[:count]]
            never = sum(one > LATEST for one in delays) / len(delays)
            cells.append(f"{statistics.median(delays):g} ({never:.0%})")
        alarms = str(told), str(new), f"{1000 * new / seen:.1f}"
        yield label, str(seen), *alarms, *cells, f"{each:.0f} ms"


def main() -> None:
    from tabulate import tabulate

    counts = [int(text) for text in sys.argv[1:] if text.isdigit()]
    names = [text for text in sys.argv[1:] if not text.isdigit()] or list(NOISES)
    own_series, peer_series = (*counts, *(100, 12)[len(counts) :])
    heads = ("method", "looks", "with a change", "new", "new per 1,000 sessions")
    heads += (*(f"delay after {before}" for before in HISTORIES), "a look takes")
    for name in names:
        found = list(rows(name, own_series, peer_series))
        print(f"{name}\n\n{tabulate(found, heads, tablefmt='github', disable_numparse=True)}\n", flush=True)


if __name__ == "__main__":
    main()
