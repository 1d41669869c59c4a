"""How often the gate is right: verdicts on simulated and on real noise, beside the rules in use today.

    python benchmarks/gate_operating_characteristics.py            about 10 minutes on two cores
    python benchmarks/gate_operating_characteristics.py --quick    about one minute, wider bounds
    python benchmarks/gate_operating_characteristics.py --picture docs/gate.svg

A device is drawn anew for every verdict: a baseline of 20 sessions of 3 repetitions, and a candidate session
that has lost a given share. All rules judge the same draws. Numbers in brackets are Clopper-Pearson bounds
(95%, two-sided). The other rules and the bounds come from scipy, which the extra `dev` installs.
"""

from __future__ import annotations

import argparse
import collections
import csv
import math
import multiprocessing
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "plugins"))

from iogate.judge.gate import Borrowed, borrow, decide, sensitivity  # noqa: E402
from iogate.judge.gate.distributions import normal_bound  # noqa: E402
from iogate.judge.gate.noise import baseline_noise  # noqa: E402
from iogate.judge.gate.values import Scale, read_sessions, reference_of  # noqa: E402

TRACES = ROOT / "tests" / "data" / "traces" / "noisy_vm_iops_1s.csv"
TOLERANCE = 0.05
SESSIONS, STORED, LONGEST = 20, 3, 12
LOSSES = (0.0, 0.025, 0.05, 0.075, 0.1)
STALL_LOSS = 0.15
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Cell:
    """A kind of device: relative noise, correlation of successive repetitions, share of them that stalls."""

    session: float
    repetition: float
    autocorrelation: float = 0.0
    stalls: float = 0.0
    loss: float = 0.0

    def __str__(self) -> str:
        extra = f", autocorrelation {self.autocorrelation}" if self.autocorrelation else ""
        extra += f", {self.stalls:.0%} stalls of -{STALL_LOSS:.0%}" if self.stalls else ""
        return f"session noise {self.session:.1%}, repetition noise {self.repetition:.1%}{extra}"


def draw(rng: np.random.Generator, cell: Cell, devices: int) -> tuple[Values, Values]:
    """Baselines [device][session][repetition] and candidates [device][repetition]."""

    def sessions(*shape: int) -> Values:
        noise = rng.normal(size=shape)
        rho = cell.autocorrelation
        for i in range(1, shape[-1]):
            noise[..., i] = rho * noise[..., i - 1] + math.sqrt(1 - rho**2) * noise[..., i]
        logs = rng.normal(size=(*shape[:-1], 1)) * cell.session + noise * cell.repetition
        logs = logs + math.log(1 - STALL_LOSS) * (rng.random(shape) < cell.stalls)
        return np.asarray(1000 * np.exp(logs))

    return sessions(devices, SESSIONS, STORED), sessions(devices, LONGEST) * (1 - cell.loss)


def judge(
    baseline: list[list[float]],
    candidate: list[float],
    tolerance: float | None,
    metrics: int = 1,
    longest: int = LONGEST,
    borrowed: Borrowed | None = None,
) -> tuple[str, int]:
    """The verdict and the repetitions it took."""
    for n in range(2, longest + 1):
        decision = decide(
            baseline,
            candidate[:n],
            direction="higher",
            tolerance=tolerance,
            metrics=metrics,
            max_repetitions=longest,
            borrowed=borrowed,
        )
        if decision.verdict != "continue":
            break
    return {"regressed": "FAIL", "inconclusive": "INCONCLUSIVE"}.get(decision.verdict, "PASS"), n


def rules(baseline: Values, candidate: Values) -> dict[str, int]:
    """False or true alarms of the rules in use today, one count each."""
    pooled = baseline.reshape(len(baseline), -1)
    mean, five = pooled.mean(axis=1), candidate[:, :5]
    lower = five.mean(axis=1) < mean
    rank = stats.mannwhitneyu(five, pooled, axis=1, method="asymptotic").pvalue
    welch = stats.ttest_ind(five, pooled, axis=1, equal_var=False).pvalue
    alarms = {
        "single run, +-5% (ReFrame)": abs(candidate[:, 0] / mean - 1) > TOLERANCE,
        "mean of five, +-5%": abs(five.mean(axis=1) / mean - 1) > TOLERANCE,
        "Mann-Whitney, p < .05": (rank < 0.05) & lower,
        "Welch's t, p < .05": (welch < 0.05) & lower,
        "best of five, min:5% (pytest-benchmark)": five.max(axis=1)
        < baseline[:, -1].max(axis=1) * (1 - TOLERANCE),
    }
    return {name: int(alarm.sum()) for name, alarm in alarms.items()}


def work(task: tuple[int, Cell, int]) -> tuple[collections.Counter[str], int, dict[str, int]]:
    """Judge so many devices of one cell; a task of the pool."""
    seed, cell, devices = task
    baseline, candidate = draw(np.random.default_rng(seed), cell, devices)
    verdicts: collections.Counter[str] = collections.Counter()
    repetitions = 0
    for sessions, values in zip(baseline.tolist(), candidate.tolist(), strict=True):
        verdict, n = judge(sessions, values, TOLERANCE)
        verdicts[verdict] += 1
        repetitions += n
    return verdicts, repetitions, rules(baseline, candidate)


def share(count: int, total: int, digits: int = 1) -> str:
    """A share with its Clopper-Pearson bounds."""
    low = stats.beta.ppf(0.025, count, total - count + 1) if count else 0.0
    high = stats.beta.ppf(0.975, count + 1, total - count) if count < total else 1.0
    return f"{100 * count / total:5.{digits}f} [{100 * low:4.{digits}f},{100 * high:5.{digits}f}]"


@dataclass(frozen=True)
class Outcome:
    """What happened to `total` devices of a cell."""

    verdicts: collections.Counter[str]
    repetitions: float
    rules: collections.Counter[str]
    total: int


def simulate(pool: multiprocessing.pool.Pool, cell: Cell, devices: int) -> Outcome:
    """Judge `devices` devices of a cell on all cores."""
    parts = 8
    results = pool.map(work, [(seed, cell, devices // parts) for seed in range(parts)], chunksize=1)
    verdicts: collections.Counter[str] = collections.Counter()
    alarms: collections.Counter[str] = collections.Counter()
    for part, _, counts in results:
        verdicts.update(part)
        alarms.update(counts)
    total = devices // parts * parts
    return Outcome(verdicts, sum(result[1] for result in results) / total, alarms, total)


def table(pool: multiprocessing.pool.Pool, cell: Cell, devices: int) -> None:
    """Print the operating characteristics of one kind of device."""
    outcomes = [(loss, simulate(pool, replace(cell, loss=loss), devices)) for loss in LOSSES]
    print(f"\n## {cell} ({outcomes[0][1].total} verdicts a line)\n")
    print("| true change | P(FAIL) % | P(PASS) % | P(INCONCLUSIVE) % | mean repetitions |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for loss, outcome in outcomes:
        shares = " | ".join(
            share(outcome.verdicts[name], outcome.total) for name in ("FAIL", "PASS", "INCONCLUSIVE")
        )
        print(f"| {0 - 100 * loss:.1f}% | {shares} | {outcome.repetitions:.2f} |")
    print("\nP(FAIL) % of today's rules on the same draws\n")
    print("| rule | " + " | ".join(f"{0 - 100 * loss:.1f}%" for loss in LOSSES) + " |")
    print("| --- |" + " ---: |" * len(LOSSES))
    for rule in outcomes[0][1].rules:
        shares = " | ".join(share(outcome.rules[rule], outcome.total) for _, outcome in outcomes)
        print(f"| {rule} | {shares} |")
    sys.stdout.flush()


def tail_work(task: tuple[int, Cell, int]) -> int:
    """False alarms at alpha / 40.

    Only devices whose difference ever exceeds 1.9 true standard errors are judged: the others cannot fail at
    a bound of 3.5 estimated ones unless the estimate is half of the truth.
    """
    seed, cell, devices = task
    rng = np.random.default_rng(1000 + seed)
    alarms = 0
    n = np.arange(1, LONGEST + 1)
    error = np.sqrt(
        cell.session**2 * (1 + 1 / SESSIONS) + cell.repetition**2 * (1 / n + 1 / (SESSIONS * STORED))
    )
    for start in range(0, devices, 10000):
        baseline, candidate = draw(rng, cell, min(10000, devices - start))
        logs = np.log(candidate)
        differences = np.log(baseline).mean(axis=(1, 2))[:, None] - np.cumsum(logs, axis=1) / n
        for index in np.nonzero((differences / error)[:, 1:].max(axis=1) > 1.9)[0]:
            verdict, _ = judge(baseline[index].tolist(), candidate[index].tolist(), TOLERANCE, metrics=40)
            alarms += verdict == "FAIL"
    return alarms


def tails(pool: multiprocessing.pool.Pool, devices: int) -> None:
    """Print false alarms at the corrected level for 40 metrics."""
    print("\n## Far tails: false alarms at 1% shared by 40 metrics (nominal 0.025%)\n")
    print("| device | false alarms | of | per nominal | upper bound |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for cell in (Cell(0.007, 0.021), Cell(0.01, 0.01), Cell(0.007, 0.021, stalls=0.03)):
        alarms = sum(pool.map(tail_work, [(seed, cell, devices // 8) for seed in range(8)], chunksize=1))
        high = float(stats.beta.ppf(0.975, alarms + 1, devices - alarms))
        nominal = 0.01 / 40
        print(f"| {cell} | {alarms} | {devices} | {alarms / devices / nominal:.2f} | {high / nominal:.2f} |")
        sys.stdout.flush()


WORKLOADS, RECORDED, SPREAD = 8, 5, 0.5


@dataclass(frozen=True)
class Week:
    """A device in its first week: so many `workloads`, whose session noise differs by `spread` (the standard
    deviation of its logarithm), whose sessions are correlated by `together`, with `known` baseline sessions.
    """

    session: float
    repetition: float
    known: int
    workloads: int = WORKLOADS
    spread: float = SPREAD
    together: float = 0.0
    metrics: int = 1
    loss: float = 0.0
    alone: bool = False


def draw_week(rng: np.random.Generator, week: Week) -> tuple[Values, Values]:
    """Baselines [workload][session][repetition] and candidates [workload][repetition] of one device."""
    own = week.session * np.exp(week.spread * rng.normal(size=(week.workloads, 1)))

    def sessions(count: int, repetitions: int) -> Values:
        luck = math.sqrt(week.together) * rng.normal(size=(1, count))
        luck = luck + math.sqrt(1 - week.together) * rng.normal(size=(week.workloads, count))
        noise = rng.normal(size=(week.workloads, count, repetitions)) * week.repetition
        return np.asarray(1000 * np.exp((own * luck)[..., None] + noise))

    return sessions(week.known, RECORDED), sessions(1, LONGEST)[:, 0] * (1 - week.loss)


def week_work(task: tuple[int, Week, int]) -> tuple[collections.Counter[str], int, int]:
    """Judge so many devices; verdicts, repetitions, and sessions with a failure."""
    seed, week, devices = task
    rng = np.random.default_rng(seed)
    verdicts: collections.Counter[str] = collections.Counter()
    repetitions = alarms = 0
    for _ in range(devices):
        baselines, candidates = (values.tolist() for values in draw_week(rng, week))
        known = None if week.alone else borrow(baselines)
        judged = [
            judge(baseline, values, TOLERANCE, metrics=week.metrics, borrowed=known)
            for baseline, values in zip(baselines, candidates, strict=True)
        ]
        verdicts.update(verdict for verdict, _ in judged)
        repetitions += sum(n for _, n in judged)
        alarms += any(verdict == "FAIL" for verdict, _ in judged)
    return verdicts, repetitions, alarms


def simulate_week(
    pool: multiprocessing.pool.Pool, week: Week, devices: int
) -> tuple[collections.Counter[str], float, int]:
    """Verdicts, mean repetitions and sessions with a failure."""
    parts = pool.map(week_work, [(seed, week, devices // 8) for seed in range(8)], chunksize=1)
    verdicts = sum((found for found, _, _ in parts), collections.Counter())
    total = sum(verdicts.values())
    return verdicts, sum(n for _, n, _ in parts) / total, sum(alarms for _, _, alarms in parts)


def first_week(pool: multiprocessing.pool.Pool, devices: int) -> None:
    """Print what a gate with few sessions does, each workload alone and with what it borrows."""
    print(f"\n## First week: {WORKLOADS} workloads, spread {SPREAD}, sessions of {RECORDED}\n")
    print("Each workload is judged as the only gating metric.\n")
    print("| noise | sessions | | null: FAIL % | null: INCONCLUSIVE % | -5%: FAIL % | -5%: PASS % |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: |")
    for session, repetition in ((0.007, 0.021), (0.005, 0.042)):
        for known in (1, 2, 3, 5, 8):
            for alone in (True, False):
                week = Week(session, repetition, known, alone=alone)
                null, _, _ = simulate_week(pool, week, devices)
                lost, _, _ = simulate_week(pool, replace(week, loss=TOLERANCE), devices)
                total = sum(null.values())
                print(
                    f"| {session:.1%}, {repetition:.1%} | {known} | {'alone' if alone else 'borrowed'} "
                    f"| {share(null['FAIL'], total)} | {share(null['INCONCLUSIVE'], total)} "
                    f"| {share(lost['FAIL'], total)} | {share(lost['PASS'], total)} |",
                    flush=True,
                )
    print("\n### False alarms of whole sessions, alpha shared by all gating metrics\n")
    print("| device | sessions | null sessions with a FAIL % | -5%: FAIL % |")
    print("| --- | ---: | ---: | ---: |")
    quiet = Week(0.007, 0.021, 3, metrics=WORKLOADS)
    for name, week, count in (
        ("8 workloads, 0.7%/2.1%", quiet, devices),
        ("8 workloads, 0.5%/4.2%", replace(quiet, session=0.005, repetition=0.042), devices),
        ("8 that move together", replace(quiet, together=1.0), devices),
        (
            "8 that differ wildly (spread 1.0), 0.7%/0.7%",
            replace(quiet, spread=1.0, repetition=0.007),
            devices,
        ),
        ("40 workloads, 0.7%/2.1%", replace(quiet, workloads=40, metrics=40), devices // 2),
    ):
        for known in (2, 3, 5):
            _, _, alarms = simulate_week(pool, replace(week, known=known), count)
            lost, _, _ = simulate_week(pool, replace(week, known=known, loss=TOLERANCE), max(8, count // 8))
            found = share(lost["FAIL"], sum(lost.values()))
            print(f"| {name} | {known} | {share(alarms, count // 8 * 8)} | {found} |", flush=True)


def cannot_fail(baseline: Values, candidate: Values, metrics: int, known: Borrowed | None) -> bool:
    """Whether no look at these values can be a failure, whatever else the gate thinks of them.

    A failure is further from the baseline than the normal quantile of alpha / metrics times a standard error
    that the candidate's own repetitions can lessen no more than its degrees of freedom allow. A third of that
    is left for robust means, which differ a little from the plain ones here.
    """
    sessions = read_sessions(baseline.tolist())
    scale = Scale(reference_of(sessions), "higher")
    noise = baseline_noise(scale.sessions(sessions), None, known)
    n = np.arange(2, len(candidate) + 1)
    least = noise.repetition * noise.repetition_degrees / (noise.repetition_degrees + n - 1)
    reduced = noise.session * (1 + 1 / noise.sessions) + least * (1 / n + 1 / baseline.size)
    worse = np.cumsum([scale.worse(value) for value in candidate.tolist()])[1:] / n - noise.centre
    limit = normal_bound(0.01 / metrics) * 2 / 3
    return bool(np.all(worse < limit * np.sqrt(reduced)))


def suite_work(task: tuple[int, Week, int]) -> int:
    """Null sessions with a false alarm, of so many that are drawn; a task of the pool."""
    seed, week, devices = task
    rng = np.random.default_rng(5000 + seed)
    alarms = 0
    for _ in range(devices):
        baselines, candidates = draw_week(rng, week)
        known = borrow(baselines.tolist())
        alarms += any(
            judge(baseline.tolist(), values.tolist(), TOLERANCE, metrics=week.metrics, borrowed=known)[0]
            == "FAIL"
            for baseline, values in zip(baselines, candidates, strict=True)
            if not cannot_fail(baseline, values, week.metrics, known)
        )
    return alarms


def suite_wide(pool: multiprocessing.pool.Pool, devices: int) -> None:
    """Print how many whole null sessions raise a false alarm, alpha shared by all their gating metrics."""
    print(f"\n## Suite-wide: null sessions with a false alarm, spread {SPREAD}, sessions of {RECORDED}\n")
    print("| device | sessions | alarms | of | share % (95%, two-sided) |")
    print("| --- | ---: | ---: | ---: | ---: |")
    quiet, loud = Week(0.007, 0.021, 1, metrics=WORKLOADS), Week(0.005, 0.042, 1, metrics=WORKLOADS)
    many = {"workloads": 40, "metrics": 40}
    rows = [
        (f"{week.workloads} workloads, {week.session:.1%}, {week.repetition:.1%}", week)
        for week in (quiet, loud, replace(quiet, **many), replace(loud, **many))
    ]
    rows.append(("8 that move together, 0.7%, 2.1%", replace(quiet, together=1.0)))
    wild = replace(quiet, spread=1.0, repetition=0.007)
    rows.append(("8 that differ wildly (a spread of 1.0), 0.7%, 0.7%", wild))
    for name, week in rows:
        for known in (1, 2, 3, 5, 8):
            each = max(1, devices // (8 if week.workloads == WORKLOADS else 16))
            tasks = [(seed, replace(week, known=known), each) for seed in range(8)]
            alarms, drawn = sum(pool.imap_unordered(suite_work, tasks)), 8 * each
            print(f"| {name} | {known} | {alarms} | {drawn} | {share(alarms, drawn, 2)} |", flush=True)


def read_traces() -> dict[str, list[list[float]]]:
    """Per workload, ten runs of ten seconds on a shared virtual machine."""
    runs: dict[str, dict[str, list[float]]] = {}
    with TRACES.open() as file:
        for row in csv.DictReader(file):
            runs.setdefault(row["workload"], {}).setdefault(row["round"], []).append(float(row["iops"]))
    return {workload: list(rounds.values()) for workload, rounds in runs.items()}


def session_of_runs(
    rng: np.random.Generator, runs: list[list[float]]
) -> tuple[list[list[float]], list[float]]:
    """A repetition is a whole run; the ten runs are dealt to two stored sessions of three and a candidate."""
    means = [float(np.mean(runs[i])) for i in rng.permutation(len(runs))]
    return [means[:3], means[3:6]], means[6:]


def session_of_seconds(
    rng: np.random.Generator, runs: list[list[float]]
) -> tuple[list[list[float]], list[float]]:
    """A session is a whole run and a repetition two of its seconds; one run is the candidate's."""
    halves = [np.asarray(run).reshape(5, 2).mean(axis=1).tolist() for run in runs]
    chosen = [halves[i] for i in rng.permutation(len(halves))[:9]]
    return chosen[:-1], chosen[-1]


def traces(sessions: int) -> None:
    """Print verdicts on sessions drawn from real noise, with the tolerance from the data."""
    print("\n## Real noise: runs on a shared virtual machine, which differ by 19-39%\n")
    print("The tolerance comes from the data. Sessions are dealt again and again from the same 70 runs:")
    print("the bounds are too narrow.\n")
    print("| sessions | true change | P(FAIL) % | P(PASS) % | P(INCONCLUSIVE) % | median tolerance |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    workloads = read_traces()
    for name, deal in (
        ("2 stored sessions of 3 runs", session_of_runs),
        ("8 stored sessions of one run", session_of_seconds),
    ):
        for loss in (0.0, 0.3, 0.5, 0.7):
            rng = np.random.default_rng(7)
            verdicts: collections.Counter[str] = collections.Counter()
            tolerances = []
            for runs in workloads.values():
                for _ in range(sessions // len(workloads)):
                    baseline, candidate = deal(rng, runs)
                    values = [value * (1 - loss) for value in candidate]
                    verdicts[judge(baseline, values, None, longest=len(values))[0]] += 1
                    known = sensitivity(baseline, direction="higher", max_repetitions=len(values))
                    assert known is not None
                    tolerances.append(known.tolerance)
            total = sum(verdicts.values())
            shares = " | ".join(share(verdicts[key], total) for key in ("FAIL", "PASS", "INCONCLUSIVE"))
            print(f"| {name} | {0 - 100 * loss:.0f}% | {shares} | {np.median(tolerances):.0%} |")


def picture(pool: multiprocessing.pool.Pool, path: Path, devices: int) -> None:
    """Draw the chance of each verdict against the true change, as SVG."""
    losses = [0.0125 * step for step in range(9)]
    outcomes = [simulate(pool, Cell(0.007, 0.021, loss=loss), devices) for loss in losses]
    single = "single run, +-5% (ReFrame)"
    lines = {
        "iogate: FAIL": ("#c0392b", [item.verdicts["FAIL"] / item.total for item in outcomes], ""),
        "iogate: PASS": ("#27864b", [item.verdicts["PASS"] / item.total for item in outcomes], ""),
        "single run at 5%: FAIL": ("#777777", [item.rules[single] / item.total for item in outcomes], "6 4"),
    }
    left, top, width, height = 60, 20, 520, 260
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 360" '
        'font-family="sans-serif" font-size="13">',
        '<rect width="640" height="360" fill="#ffffff"/>',
    ]
    for step in range(5):
        y = top + height * (1 - step / 4)
        parts.append(f'<path d="M{left} {y:.0f}h{width}" stroke="#dddddd"/>')
        parts.append(f'<text x="{left - 8}" y="{y + 4:.0f}" text-anchor="end">{25 * step}%</text>')
        x = left + width * step / 4
        parts.append(
            f'<text x="{x:.0f}" y="{top + height + 18}" text-anchor="middle">{-2.5 * step:g}%</text>'
        )
    parts.append(
        f'<path d="M{left + width / 2:.0f} {top}v{height}" stroke="#999999" stroke-dasharray="2 3"/>'
    )
    parts.append(f'<text x="{left + width / 2 + 5:.0f}" y="{top + 12}">tolerance 5%</text>')
    for row, (label, (color, shares, dash)) in enumerate(lines.items()):
        points = " ".join(
            f"{left + width * loss / 0.1:.1f},{top + height * (1 - value):.1f}"
            for loss, value in zip(losses, shares, strict=True)
        )
        style = f'fill="none" stroke="{color}" stroke-width="2.5" stroke-dasharray="{dash or "none"}"'
        parts.append(f'<polyline points="{points}" {style}/>')
        x, y = left + 180 * row, top + height + 62
        parts.append(f'<polyline points="{x},{y - 4} {x + 24},{y - 4}" {style}/>')
        parts.append(f'<text x="{x + 30}" y="{y}">{label}</text>')
    parts.append(
        f'<text x="{left + width / 2:.0f}" y="{top + height + 38}" text-anchor="middle">'
        "true change of the device (chance of each verdict; session noise 0.7%, repetition noise 2.1%)</text>"
    )
    path.write_text("\n".join([*parts, "</svg>", ""]))


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer devices and cells")
    parser.add_argument(
        "--first-week", type=int, metavar="DEVICES", help="print that part only, of so many devices a line"
    )
    parser.add_argument(
        "--suite-wide",
        type=int,
        metavar="SESSIONS",
        help="print that part only, of so many sessions of 8 workloads a line",
    )
    parser.add_argument(
        "--picture", type=Path, metavar="FILE.svg", help="draw the picture and do nothing else"
    )
    options = parser.parse_args()
    devices = 400 if options.quick else 4000
    reference = Cell(0.007, 0.021)
    grid = [Cell(session, repetition) for session in (0.0, 0.007, 0.01) for repetition in (0.01, 0.021, 0.03)]
    harder = [replace(reference, autocorrelation=0.4), replace(reference, stalls=0.03)]
    with multiprocessing.Pool() as pool:
        if options.picture:
            picture(pool, options.picture, devices)
            return
        if options.first_week:
            first_week(pool, options.first_week)
            return
        if options.suite_wide:
            suite_wide(pool, options.suite_wide)
            return
        print("# Operating characteristics of the gate")
        print(f"\ntolerance {TOLERANCE:.0%}, alpha 1%, beta 5%, {SESSIONS} baseline sessions of {STORED},")
        print(f"2 to {LONGEST} repetitions")
        for cell in [reference, Cell(0.0, 0.021)] if options.quick else grid:
            table(pool, cell, devices)
        for cell in harder:
            table(pool, cell, devices)
        tails(pool, 16000 if options.quick else 320000)
        traces(700 if options.quick else 7000)
        first_week(pool, 80 if options.quick else 800)
        suite_wide(pool, 400 if options.quick else 4000)


if __name__ == "__main__":
    main()
