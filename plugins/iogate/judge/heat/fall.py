"""Where rates fall within sessions for the work that they did, as heat or a full cache makes them: not at the
same place in each.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from iogate.model import Baseline, is_rate

_CHANCE = 0.005  # of a session without a fall
_HOT = 0.01
_SEVERAL = 2  # sessions: in one something else may have disturbed it
_FEWEST = 2  # repetitions before it, and behind it
_SHARED = 0.5
_STALLED = math.log(0.75)
_TRIED = 8  # of the largest: one workload alone may have made them
_NORMAL = 0.6745 * math.sqrt(2)  # of the standard deviation: the median difference of two repetitions


class Fall(NamedTuple):
    """That a rate fell by a share of itself within a session, behind so many seconds of work: in several
    sessions behind so many at the most, and at the least.
    """

    share: float = 0.0
    since: float = 0.0
    first: float = 0.0


NO_FALL = Fall()


class _Row(NamedTuple):
    """The repetitions of a rate in one session, in logarithms, with the work before each; and the noise of
    that rate, which two successive ones tell, so that a step counts but once.
    """

    logs: Sequence[float]
    worked: Sequence[float]
    noise: float
    direction: str


@dataclass
class _Split:
    """The repetitions of one session before some work, and behind it. Each row has a level of its own; what
    they differ by before and behind is weighed by what their noise leaves of it.
    """

    rows: Sequence[_Row]

    def __post_init__(self) -> None:
        self._before = [0] * len(self.rows)
        self._sums = [0.0] * len(self.rows)
        self._totals = [math.fsum(row.logs) for row in self.rows]
        self._weighed = self._weights = 0.0
        self._sides = (0, 0)

    def pass_by(self, place: int, value: float) -> None:
        """Count the next repetition of a row as one before."""
        self._count(place, -1)
        self._before[place] += 1
        self._sums[place] += value
        self._count(place, 1)

    def _count(self, place: int, sign: int) -> None:
        row, before = self.rows[place], self._before[place]
        behind = len(row.logs) - before
        if before and behind:
            weight = self._weight(place)
            self._weighed += sign * weight * self._step(place)
            self._weights += sign * weight
            self._sides = self._sides[0] + sign * before, self._sides[1] + sign * behind

    def _weight(self, place: int) -> float:
        row, before = self.rows[place], self._before[place]
        return before * (len(row.logs) - before) / len(row.logs) / row.noise**2

    def _step(self, place: int) -> float:
        before, sums = self._before[place], self._sums[place]
        return (self._totals[place] - sums) / (len(self.rows[place].logs) - before) - sums / before

    @property
    def change(self) -> float:
        """By how much rates are higher behind it, as a logarithm; 0 where too few repetitions tell."""
        return self._weighed / self._weights if min(self._sides) >= _FEWEST else 0.0

    @property
    def squares(self) -> float:
        """How much of the sum of squares that explains, in units of noise."""
        return self.change**2 * self._weights

    @property
    def shared(self) -> bool:
        """Whether most rows that it divides changed so, by half as much at least, and most repetitions of
        each: it was not one alone.
        """
        steps = [
            statistics.median_high(row.logs[before:]) - statistics.median_low(row.logs[:before])
            for row, before in zip(self.rows, self._before, strict=True)
            if 0 < before < len(row.logs)
        ]
        return statistics.median(steps) <= _SHARED * self.change

    @property
    def unmoved(self) -> frozenset[str]:
        """The directions whose rates did not change so, where several tell: reads beside a cache."""
        steps: defaultdict[str, list[float]] = defaultdict(list)
        for row, _, step in self._divided():
            steps[row.direction].append(step)
        told = {name: statistics.median(own) for name, own in steps.items() if len(own) >= _FEWEST}
        return frozenset(name for name, step in told.items() if step > _SHARED * self.change)

    def share(self, unmoved: frozenset[str]) -> float:
        """Return by which share the others fell."""
        moved = [part for part in self._divided() if part[0].direction not in unmoved]
        weights = math.fsum(weight for _, weight, _ in moved)
        return -math.expm1(math.fsum(weight * step for _, weight, step in moved) / weights) if moved else 0.0

    def _divided(self) -> Iterator[tuple[_Row, float, float]]:
        """Yield the rows that it divides, each with its weight and its step."""
        for place, (row, before) in enumerate(zip(self.rows, self._before, strict=True)):
            if 0 < before < len(row.logs):
                yield row, self._weight(place), self._step(place)


def falls_within(baselines: Sequence[Baseline]) -> dict[str, Fall]:
    """Return the largest falls of rates that two sessions have, each anywhere, by direction, and of all (the
    empty name); nothing if there is none. A device that began one of them hot, as it had laid out data, or in
    a warmer room, shows no course.

    All workloads of a session together tell it, each beside its own level (one-way layout of two groups in
    blocks of unlike noise; Scheffé, The Analysis of Variance, 1959, ch. 4 and 10): those of one direction,
    and of both where one does not say otherwise, as reads beside a cache of writes do.
    """
    sessions: defaultdict[str, list[_Row]] = defaultdict(list)
    for one in baselines:
        for name in _one_for_each_direction(one.metrics):
            for session, row in _rows(one, name):
                sessions[session].append(row)
    joint, unmoved = _several(sessions.values())
    falls = {}
    for name, apart in _by_direction(sessions.values()).items():
        own, _ = _several(apart)
        falls[name] = own if own.share or name in unmoved else joint
    largest = max([joint, *falls.values()])
    return {**falls, "": largest} if largest.share else {}


def _by_direction(sessions: Iterable[Sequence[_Row]]) -> Mapping[str, Sequence[Sequence[_Row]]]:
    """Return the rows of each direction, by session: each is looked at once, as there may be thousands."""
    found: defaultdict[str, list[list[_Row]]] = defaultdict(list)
    for rows in sessions:
        apart: defaultdict[str, list[_Row]] = defaultdict(list)
        for row in rows:
            apart[row.direction].append(row)
        for name, own in apart.items():
            found[name].append(own)
    return found


def _several(sessions: Iterable[Sequence[_Row]]) -> tuple[Fall, frozenset[str]]:
    """Return the fall that several sessions have, and the directions that did not fall in any of them."""
    found = [fall for rows in sessions if (fall := _fall_of(rows))]
    if len(found) < _SEVERAL:
        return NO_FALL, frozenset()
    shares = sorted(fall.share for fall, _ in found)
    since = [fall.since for fall, _ in found]
    unmoved = frozenset.intersection(*(unmoved for _, unmoved in found))
    return Fall(shares[-_SEVERAL], max(since), min(since)), unmoved


def _one_for_each_direction(metrics: Mapping[str, object]) -> Iterable[str]:
    rates = {name.partition(".")[0]: name for name in reversed([*metrics]) if is_rate(name)}
    return rates.values()


def _rows(baseline: Baseline, name: str) -> Iterator[tuple[str, _Row]]:
    """Yield the sessions of a rate that tell the work before each of their repetitions."""
    from iogate.judge.gate import NOISE_FLOOR

    known = {
        session: (_without_stalls([math.log(value) for value in row]), worked[: len(row)])
        for session, row in baseline.by_session(name).items()
        if len(worked := baseline.worked.get(session, ())) >= len(row) > 1
        and all(0 < value < math.inf for value in row)
    }
    differences = [
        abs(after - before) for logs, _ in known.values() for before, after in itertools.pairwise(logs)
    ]
    noise = max(statistics.median(differences or [0.0]) / _NORMAL, NOISE_FLOOR)
    for session, (logs, worked) in known.items():
        yield session, _Row(logs, worked, noise, name.partition(".")[0])


def _without_stalls(logs: Sequence[float]) -> list[float]:
    """Return repetitions without those that are slower by a quarter than the ones before and behind."""
    found = list(logs)
    for place in range(1, len(logs) - 1):
        beside = logs[place - 1], logs[place + 1]
        if logs[place] < min(beside) + _STALLED:
            found[place] = statistics.fmean(beside)
    return found


def _fall_of(rows: Sequence[_Row]) -> tuple[Fall, frozenset[str]] | None:
    """Return the fall of one session, if it is beyond chance, and the directions that did not fall."""
    from iogate.judge.gate.distributions import variance_ratio_bound

    degrees = sum(len(row.logs) - 1 for row in rows) - 1
    if degrees < 1:
        return None
    total = math.fsum(_squares(row.logs) / row.noise**2 for row in rows)
    order = sorted((work, place, n) for place, row in enumerate(rows) for n, work in enumerate(row.worked))
    bound = variance_ratio_bound(1, degrees, 1 - _CHANCE / len(order))
    split, found = _Split(rows), list[tuple[float, int]]()
    for number, (_, place, n) in enumerate(order[:-1], 1):
        split.pass_by(place, rows[place].logs[n])
        squares = split.squares
        noise = max((total - squares) / degrees, 1.0)
        if squares > noise * bound and split.change < 0:
            found.append((squares, number))
    for _, number in sorted(found, reverse=True)[:_TRIED]:
        split = _Split(rows)
        for _, place, n in order[:number]:
            split.pass_by(place, rows[place].logs[n])
        if split.shared:
            unmoved, behind = split.unmoved, order[number][0]
            share = split.share(unmoved)
            return (Fall(share, behind, behind), unmoved) if share >= _HOT else None
    return None


def _squares(logs: Sequence[float]) -> float:
    mean = math.fsum(logs) / len(logs)
    return math.fsum((value - mean) ** 2 for value in logs)
