"""How a device's speed goes along the work of sessions that began at rest: what each workload shows of it is
a part, and one that is measured alone misses all that others made of the device before.
"""

from __future__ import annotations

import itertools
import math
import statistics
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from iogate.judge.heat.likeness import Beginnings
from iogate.model import Baseline, is_rate

_CHANCE = 0.03  # of devices without such a course, where it costs verdicts on changes of about as much
_HOT = 0.01
_MOST = 1.0  # a factor of 2.7
_SHORTEST = 0.01  # seconds, to which it is stored
_FEWEST = 3  # sessions, as of a course, and repetitions, of which the first tells nothing


class _Slope(NamedTuple):
    """By how much a rate rose a second, as a logarithm, within the workload that `begins` and `ends` behind
    so many seconds of work; over so many `seconds` it was seen. `rises` are those of each session.
    """

    begins: float
    ends: float
    seconds: float
    rises: Sequence[float]

    @property
    def value(self) -> float:
        return statistics.fmean(self.rises) / self.seconds

    @property
    def noise(self) -> float:
        """The variance of that, by what sessions differ by."""
        return statistics.variance(self.rises) / len(self.rises) / self.seconds**2


@dataclass(frozen=True)
class Along:
    """What is left to come of a rate's rise, as a logarithm (`left`, below 0 if it falls), behind so many
    seconds of work (`works`, ascending). Nothing if chance may make as much.
    """

    works: tuple[float, ...] = ()
    left: tuple[float, ...] = ()

    def slower(self, worked: Iterable[float], known: Iterable[float]) -> float:
        """Return by which share a device is slower behind so much work than behind what was `known`
        (negative: faster).
        """
        return 1 - math.exp(self._mean(known) - self._mean(worked)) if self.works else 0.0

    def _mean(self, worked: Iterable[float]) -> float:
        return statistics.fmean([self._behind(work) for work in worked] or [0.0])

    def _behind(self, work: float) -> float:
        place = bisect_right(self.works, work)
        if place in (0, len(self.works)):
            return self.left[max(place - 1, 0)]
        before, behind = self.works[place - 1 : place + 1]
        left, then = self.left[place - 1 : place + 1]
        return left + (then - left) * (work - before) / (behind - before)


NO_COURSE = Along()


def along(baselines: Sequence[Baseline], beginnings: Beginnings) -> Along:
    """Return how a device goes along the work of the sessions of its baselines that began at rest.

    Each workload shows how it went meanwhile; of those by turns it is their mean, and of work between two
    nobody knows. The first repetition of each is left out, which is how a run begins; where runs go on so for
    several, nobody can tell that from what work makes of the device. The sum has to be beyond what
    repetitions differ by from session to session (a sum of independent means of unlike noise: Welch,
    Biometrika 34, 1947, 28-35), and no more than a device changes.
    """
    from iogate.judge.gate.distributions import variance_ratio_bound

    slopes = [slope for one in baselines for slope in _slopes(one, beginnings)]
    if not slopes:
        return NO_COURSE
    spans, shares = _parts(slopes)
    total = math.fsum(seconds * slope for _, seconds, slope in spans)
    if not _HOT <= abs(total) <= _MOST:
        return NO_COURSE
    noises = [each.noise * (shares[each.ends] - shares[each.begins]) ** 2 for each in slopes]
    noise = math.fsum(noises)
    if noise:
        parts = ((own / noise) ** 2 / (len(each.rises) - 1) for own, each in zip(noises, slopes, strict=True))
        if total**2 < noise * variance_ratio_bound(1, 1 / math.fsum(parts), 1 - _CHANCE):
            return NO_COURSE
    rises = [seconds * slope for _, seconds, slope in spans]
    left = [total - done for done in itertools.accumulate(rises, initial=0.0)]
    return Along((*(begins for begins, _, _ in spans), spans[-1][0] + spans[-1][1]), tuple(left))


def _slopes(baseline: Baseline, beginnings: Beginnings) -> Iterator[_Slope]:
    """Yield how the first rate of a workload goes, if it has sessions and repetitions enough."""
    from iogate.judge.gate import undisturbed

    name = next(filter(is_rate, baseline.metrics), "")
    rows = [
        (row, worked)
        for each, row in (baseline.by_session(name) if name else {}).items()
        if not beginnings.begun.get(each, 1)
        and len(worked := baseline.worked.get(each, ())) >= len(row)
        and all(value > 0 for value in row)
    ]
    places = min((len(row) for row, _ in rows), default=0)
    if places < _FEWEST or len(rows) < _FEWEST:
        return
    first, second, *_, last = (
        statistics.median(worked[place] for _, worked in rows) for place in range(places)
    )
    if min(second - first, last - second) >= _SHORTEST:
        logs = undisturbed([[math.log(value) for value in row[:places]] for row, _ in rows])
        rises = [row[places - 1] - row[1] for row in logs]
        yield _Slope(first, last + (last - second) / (places - 2), last - second, rises)


def _parts(slopes: Sequence[_Slope]) -> tuple[list[tuple[float, float, float]], Mapping[float, float]]:
    """Return the parts of the work, each with where it begins, its seconds and how it rises there; and by
    work how many seconds a slope that covers all would count for, up to there, beside others.
    """
    begins: defaultdict[float, list[float]] = defaultdict(list)
    ends: defaultdict[float, list[float]] = defaultdict(list)
    for each in slopes:
        begins[each.begins].append(each.value)
        ends[each.ends].append(each.value)
    spans, shares = [], {}
    total, count, share = 0.0, 0, 0.0
    for work, behind in itertools.pairwise(sorted({*begins, *ends})):
        total += math.fsum(begins[work]) - math.fsum(ends[work])
        count += len(begins[work]) - len(ends[work])
        slope = total / count if count else 0.0
        spans.append((work, behind - work, slope))
        shares[work] = share
        share += (behind - work) / max(count, 1)
        shares[behind] = share
    return spans, shares
