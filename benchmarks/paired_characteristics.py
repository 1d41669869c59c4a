"""How often the paired gate is right: verdicts on simulated and on recorded blocks, beside other tests.

    python benchmarks/paired_characteristics.py                 two minutes of one core
    python benchmarks/paired_characteristics.py --quick         a quarter of a minute, wider bounds
    python benchmarks/paired_characteristics.py --recorded=FILE.json

Every verdict is on a pair drawn anew: up to 60 blocks, whose log ratios have noise of a given kind and
size. Trials are judged together, by their ranks, which takes a hundredth of the time; some of each kind are
judged by `iogate.judge.pair.decide` as well, and have to agree.

FILE.json has ratios of recorded blocks of equal arms by workload, {"randread_4k": [1.012, 0.987, ...]}, in
the order of measuring. They are centred, as two places differ, and drawn again with replacement.
The other tests come from scipy, which the extra `dev` installs.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "plugins"))

from iogate.judge.gate.spending import nominal_levels  # noqa: E402
from iogate.judge.pair import decide  # noqa: E402
from iogate.judge.pair.looks import ALPHA_POWER, BETA_POWER, PairLooks  # noqa: E402
from iogate.judge.pair.ranks import rank_sum_count, signed_rank_count  # noqa: E402

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]
Noise = Callable[[np.random.Generator, tuple[int, int]], Values]
Reject = Callable[[Values, float], Flags]

TOLERANCE, ALPHA, BETA, BLOCKS = 0.05, 0.01, 0.05, 60
MARGIN = -math.log(1 - TOLERANCE)
SIZES = (0.005, 0.01, 0.023, 0.05, 0.1)
PLACE = 0.1  # what the places differ by, where they change
HALF = 6  # blocks before the arms change places half-way
UNDECIDED, PASSED, FAILED = 0, 1, 2


def normal(rng: np.random.Generator, shape: tuple[int, int]) -> Values:
    """The noise of textbooks."""
    return rng.normal(size=shape)


def heavy(rng: np.random.Generator, shape: tuple[int, int]) -> Values:
    """Student's t with three degrees of freedom, its middle half as wide as the normal's."""
    return rng.standard_t(3, size=shape) * 0.6745 / 0.7649


def stray(share: float, distance: float, *, one_sided: bool = False) -> Noise:
    """Normal, but for a share of blocks that are off by so many standard deviations."""

    def noise(rng: np.random.Generator, shape: tuple[int, int]) -> Values:
        sides = np.ones(shape) if one_sided else rng.choice([-1.0, 1.0], size=shape)
        return rng.normal(size=shape) + distance * sides * (rng.random(shape) < share)

    return noise


def skewed(rng: np.random.Generator, shape: tuple[int, int]) -> Values:
    """Two arms whose blocks are lognormal, with a long tail to the slow side."""
    return (np.exp(0.6 * rng.normal(size=shape)) - np.exp(0.6 * rng.normal(size=shape))) / 0.92


def two_modes(rng: np.random.Generator, shape: tuple[int, int]) -> Values:
    """Pairs of processes of two kinds, lucky or not, and little else."""
    return rng.choice([-1.0, 1.0], size=shape) + 0.15 * rng.normal(size=shape)


def correlated(rng: np.random.Generator, shape: tuple[int, int]) -> Values:
    """Normal; successive blocks have a correlation of 0.2."""
    noise = rng.normal(size=shape)
    for i in range(1, shape[1]):
        noise[:, i] = 0.2 * noise[:, i - 1] + math.sqrt(1 - 0.2**2) * noise[:, i]
    return noise


KINDS: dict[str, Noise] = {
    "normal": normal,
    "Student's t, 3 degrees": heavy,
    "10% off by 5 sd": stray(0.1, 5),
    "2% off by 12 sd": stray(0.02, 12),
    "lognormal arms": skewed,
    "two modes": two_modes,
    "autocorrelation 0.2": correlated,
    "10% slow by 5 sd": stray(0.1, 5, one_sided=True),
}
SCHEDULES = ("fixed", "twos", "half-way")


def arrangement(rng: np.random.Generator, shape: tuple[int, int], schedule: str) -> Flags | None:
    """In which blocks the arms have changed places: never, at random once in two blocks, or half-way."""
    trials, blocks = shape
    if schedule == "fixed":
        return None
    if schedule == "twos":
        first = rng.random((trials, blocks // 2)) < 0.5
        return np.stack([first, ~first], axis=-1).reshape(shape)
    turns = [True, False] * blocks  # after the first two halves: second, first, second, ...
    once = [False] * HALF + [True] * HALF + turns[: blocks - 2 * HALF]
    return np.broadcast_to(np.array(once), shape)


@dataclass(frozen=True)
class Outcome:
    """The verdicts of many trials, and after how many blocks they came."""

    verdicts: NDArray[np.int64]
    blocks: NDArray[np.int64]

    def share(self, verdict: int) -> float:
        """The share of one verdict, in percent."""
        return 100 * float((self.verdicts == verdict).mean())

    @property
    def cost(self) -> str:
        """Blocks in the median and the 95th percentile."""
        return f"{np.median(self.blocks):.0f} / {np.quantile(self.blocks, 0.95):.0f}"


@dataclass(frozen=True)
class Test:
    """A way to find out whether values are above 0: the looks it uses, and whether it says so."""

    levels: Callable[[int], tuple[float, float]]
    above: Callable[[Values, Flags | None, float], Flags]


def ranks(values: Values, swapped: Flags | None, level: float) -> Flags:
    """Signed ranks, or rank sums where the arms change places: what iogate does."""
    blocks = values.shape[1]
    if swapped is None:
        order = np.abs(values).argsort(axis=1).argsort(axis=1) + 1
        below = (order * (values < 0)).sum(axis=1)
        return np.asarray(below < signed_rank_count(blocks, level))
    plain = blocks - int(swapped[0].sum())
    order = np.where(swapped, -values, values).argsort(axis=1).argsort(axis=1) + 1
    over = (order * ~swapped).sum(axis=1) - plain * (plain + 1) // 2
    below = plain * (blocks - plain) - over
    return np.asarray(below < rank_sum_count(plain, blocks - plain, level))


def student(values: Values, swapped: Flags | None, level: float) -> Flags:
    """Student's t on the mean."""
    blocks = values.shape[1]
    error = values.std(axis=1, ddof=1) / math.sqrt(blocks)
    return np.asarray(values.mean(axis=1) > stats.t.isf(level, blocks - 1) * error)


def yuen(values: Values, swapped: Flags | None, level: float) -> Flags:
    """Yuen's t on the mean without a tenth at each end."""
    blocks = values.shape[1]
    cut = blocks // 10
    left = blocks - 2 * cut
    ordered = np.sort(values, axis=1)
    pulled = np.clip(ordered, ordered[:, [cut]], ordered[:, [blocks - cut - 1]])
    error = pulled.std(axis=1, ddof=1) * math.sqrt((blocks - 1) / (left * (left - 1)))
    return np.asarray(ordered[:, cut : blocks - cut].mean(axis=1) > stats.t.isf(level, left - 1) * error)


@functools.lru_cache(maxsize=128)
def _signs(blocks: int) -> Values:
    return np.random.default_rng(blocks).choice([-1.0, 1.0], size=(2000, blocks))


def flips(values: Values, swapped: Flags | None, level: float) -> Flags:
    """2000 flips of the signs of the mean of values pulled in to two median distances."""
    signs = _signs(values.shape[1])
    sizes = np.abs(values)
    sizes = np.minimum(sizes, 2 * np.median(sizes, axis=1, keepdims=True))
    seen = (sizes * np.sign(values)).sum(axis=1)
    as_far = ((sizes @ signs.T) >= seen[:, None] - 1e-12).sum(axis=1)
    return np.asarray((as_far + 1) / (len(signs) + 1) <= level)


def any_look(n: int, metrics: int = 1) -> tuple[float, float]:
    """The levels of tests that could decide from six blocks on."""
    if n < 6:
        return 0.0, 0.0
    fail = nominal_levels(ALPHA / metrics, ALPHA_POWER, 0.0, 6, BLOCKS)
    return fail[n - 6], nominal_levels(BETA, BETA_POWER, 0.0, 6, BLOCKS)[n - 6]


def run(values: Values, swapped: Flags | None, test: Test) -> Outcome:
    """Judge trials, log ratios turned so that more is worse, after each block."""
    verdicts = np.zeros(len(values), dtype=np.int64)
    blocks = np.full(len(values), values.shape[1], dtype=np.int64)
    open_ = np.arange(len(values))
    for n in range(2, values.shape[1] + 1):
        fail, passed = test.levels(n)
        flags = None if swapped is None else swapped[open_, :n]
        if not len(open_) or (flags is not None and 2 * int(flags[0].sum()) != n) or not (fail or passed):
            continue
        seen = values[open_, :n]
        result = (
            np.where(test.above(seen, flags, fail), FAILED, UNDECIDED) if fail else np.zeros(len(seen), int)
        )
        if passed:
            result[test.above(MARGIN - seen, flags, passed)] = PASSED
        done = result != UNDECIDED
        verdicts[open_[done]], blocks[open_[done]] = result[done], n
        open_ = open_[~done]
    return Outcome(verdicts, blocks)


def iogate(metrics: int = 1, *, crossover: bool) -> Test:
    """The test that iogate uses."""
    return Test(PairLooks(ALPHA / metrics, BETA, BLOCKS, crossover).levels, ranks)


def agree(values: Values, swapped: Flags | None, outcome: Outcome) -> None:
    """Raise if `decide` says anything else of these trials."""
    names = {"regressed": FAILED, "inconclusive": UNDECIDED}
    for index, trial in enumerate(np.exp(-values).tolist()):
        flags = None if swapped is None else swapped[index].tolist()
        for n in range(1, BLOCKS + 1):
            decision = decide(trial[:n], swapped=flags and flags[:n], direction="higher", tolerance=TOLERANCE)
            if decision.verdict != "continue":
                break
        found = (names.get(decision.verdict, PASSED), decision.blocks)
        expected = (int(outcome.verdicts[index]), int(outcome.blocks[index]))
        if found != expected:
            raise SystemExit(f"decide says {found}, the ranks of all trials say {expected}")


def trials(
    kind: Noise, size: float, loss: float, schedule: str, count: int, *, of_place: bool = False
) -> tuple[Values, Flags | None]:
    """Draw pairs whose candidate has lost so much; noise `of_place` goes with the place, not with the arm."""
    rng = np.random.default_rng(2)
    noise = size * kind(rng, (count, BLOCKS))
    swapped = arrangement(rng, noise.shape, schedule)
    values = noise - math.log(1 - loss)
    if swapped is not None:
        signs = np.where(swapped, -1.0, 1.0)
        values = (noise * signs if of_place else noise) - math.log(1 - loss) + PLACE * signs
    return values, swapped


def characteristics(schedule: str, count: int) -> None:
    """Print what becomes of equal arms and of a loss of the tolerance."""
    rows: dict[str, list[list[str]]] = {}
    kinds = [(name, kind, False) for name, kind in KINDS.items()]
    if schedule != "fixed":
        kinds += [(f"{name}, of the place", kind, True) for name, kind in list(KINDS.items())[-2:]]
    for name, kind, of_place in kinds:
        cells = []
        for size in SIZES:
            outcomes = []
            for loss in (0.0, TOLERANCE):
                values, swapped = trials(kind, size, loss, schedule, count, of_place=of_place)
                outcome = run(values, swapped, iogate(crossover=swapped is not None))
                agree(values[:20], None if swapped is None else swapped[:20], outcome)
                outcomes.append(outcome)
            null, lost = outcomes
            alarms = f"{null.share(FAILED):.2f} / {null.share(UNDECIDED):.1f}"
            found = f"{lost.share(FAILED):.1f} / {lost.share(PASSED):.1f}"
            cells.append([alarms, null.cost, found, lost.cost])
        rows[name] = cells
    titles = (
        "equal arms: regressed / inconclusive, %",
        "equal arms: blocks, median / 95%",
        "loss of 5%: regressed / passed, %",
        "loss of 5%: blocks, median / 95%",
    )
    print(f"\n## Places: {schedule}")
    for index, title in enumerate(titles):
        print(f"\n| {title} | " + " | ".join(f"sd {size:.1%}" for size in SIZES) + " |")
        print("| --- |" + " ---: |" * len(SIZES))
        for name, cells in rows.items():
            print(f"| {name} | " + " | ".join(cell[index] for cell in cells) + " |")
        sys.stdout.flush()


def comparison(size: float, count: int) -> None:
    """Print what other tests make of the same trials, places fixed."""
    tests = {
        "Student": (student, count),
        "Yuen, 10% trimmed": (yuen, count),
        "sign flips, pulled in": (flips, count // 10),
        "signed ranks": (ranks, count),
    }
    print(f"\n## Other tests: sd {size:.1%}, places fixed\n")
    print(
        "| noise | test | equal: regressed % | the same, 40 metrics, per nominal | inconclusive % | blocks |"
        " -5%: regressed % | passed % | blocks |"
    )
    print("| --- | --- |" + " ---: |" * 7)
    for name, kind in KINDS.items():
        for label, (above, draws) in tests.items():
            one, forty = (
                iogate(metrics, crossover=False)
                if above is ranks
                else Test(functools.partial(any_look, metrics=metrics), above)
                for metrics in (1, 40)
            )
            null, lost = (run(*trials(kind, size, loss, "fixed", draws), one) for loss in (0.0, TOLERANCE))
            alarms = "-"  # 2000 flips cannot be that rare
            if above is not flips:
                shared = run(*trials(kind, size, 0.0, "fixed", 5 * draws), forty)
                alarms = f"{shared.share(FAILED) / (100 * ALPHA / 40):.1f}"
            said = f"{null.share(FAILED):.2f} | {alarms} | {null.share(UNDECIDED):.1f} | {null.cost}"
            found = f"{lost.share(FAILED):.1f} | {lost.share(PASSED):.1f} | {lost.cost}"
            print(f"| {name} | {label} | {said} | {found} |")
            sys.stdout.flush()


def crossings(count: int) -> None:
    """Print how often equal arms would be called regressed if no pass ended their trials."""
    print("\n## Equal arms that cross the bound at any look, in multiples of the error rate\n")
    print("| places | 1% | 0.1% |")
    print("| --- | ---: | ---: |")
    for schedule in SCHEDULES:
        cells = []
        for metrics in (1, 10):
            test = iogate(metrics, crossover=schedule != "fixed")
            failing = Test(functools.partial(_only_failing, test), ranks)
            found = 0
            for seed in range(10):
                rng = np.random.default_rng(10 + seed)
                values = rng.normal(size=(count, BLOCKS))
                outcome = run(values, arrangement(rng, values.shape, schedule), failing)
                found += int((outcome.verdicts == FAILED).sum())
            cells.append(f"{found * metrics / (10 * count * ALPHA):.2f}")
        print(f"| {schedule} | {' | '.join(cells)} |")
        sys.stdout.flush()


def _only_failing(test: Test, n: int) -> tuple[float, float]:
    return test.levels(n)[0], 0.0


def recorded(path: Path, count: int) -> None:
    """Print the verdicts on trials drawn from recorded blocks of equal arms."""
    known: dict[str, list[float]] = json.loads(path.read_text(encoding="utf-8"))
    print(f"\n## Recorded blocks: {count} trials each\n")
    print(
        "| workload | recorded | sd | autocorrelation | drawn | places |"
        " regressed % | inconclusive % | blocks | -5%: regressed % | passed % | blocks |"
    )
    print("| --- | ---: | ---: | ---: | --- | --- |" + " ---: |" * 6)
    for workload, ratios in known.items():
        logs = -np.log(np.array(ratios))
        logs = logs - centre(logs.tolist())
        size = statistics.median(abs(a - b) for a in logs for b in logs if a != b) / (0.6745 * math.sqrt(2))
        pulled = np.clip(logs, -3 * size, 3 * size)
        correlation = float((pulled[1:] * pulled[:-1]).sum() / (pulled**2).sum())
        for drawn in ("centred", "signs flipped", "stretches of ten"):
            for schedule in SCHEDULES[:2]:
                rng = np.random.default_rng(3)
                values = resample(rng, logs, drawn, count)
                swapped = arrangement(rng, values.shape, schedule)
                test = iogate(crossover=swapped is not None)
                null, lost = run(values, swapped, test), run(values + MARGIN, swapped, test)
                print(
                    f"| {workload} | {len(logs)} | {size:.1%} | {correlation:.2f} | {drawn} | {schedule} |"
                    f" {null.share(FAILED):.2f} | {null.share(UNDECIDED):.1f} | {null.cost} |"
                    f" {lost.share(FAILED):.1f} | {lost.share(PASSED):.1f} | {lost.cost} |"
                )
                sys.stdout.flush()


def centre(values: Sequence[float]) -> float:
    """The median of the means of two values each."""
    return statistics.median((a + b) / 2 for i, a in enumerate(values) for b in values[i:])


def resample(rng: np.random.Generator, logs: Values, drawn: str, count: int) -> Values:
    """Draw trials: single blocks as they are, with a sign at random, or stretches with a sign each, which
    keep the correlation of neighbours. Equal values are told apart in the tenth digit, for their ranks.
    """
    if drawn == "stretches of ten":
        starts = rng.integers(len(logs), size=(count, BLOCKS // 10))
        index = (starts[:, :, None] + np.arange(10)) % len(logs)
        signs = rng.choice([-1.0, 1.0], size=starts.shape)
        values = (logs[index] * signs[:, :, None]).reshape(count, BLOCKS)
    else:
        values = logs[rng.integers(len(logs), size=(count, BLOCKS))]
        if drawn == "signs flipped":
            values = values * rng.choice([-1.0, 1.0], size=values.shape)
    return np.asarray(values + 1e-10 * rng.normal(size=values.shape))


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the trials")
    parser.add_argument(
        "--recorded", type=Path, metavar="FILE.json", help="recorded blocks, and nothing else"
    )
    options = parser.parse_args()
    count = 1000 if options.quick else 10000
    if options.recorded:
        recorded(options.recorded, count)
        return
    print("# Operating characteristics of the paired gate")
    print(f"\ntolerance {TOLERANCE:.0%}, alpha {ALPHA:.0%}, beta {BETA:.0%}, at most {BLOCKS} blocks,")
    print(f"{count} trials of each kind")
    for schedule in SCHEDULES:
        characteristics(schedule, count)
    for size in (0.023, 0.05):
        comparison(size, count)
    crossings(4 * count)


if __name__ == "__main__":
    main()
