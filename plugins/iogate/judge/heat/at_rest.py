"""What sessions that began at rest were, beside those that came soon behind another one."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from iogate.judge.heat.likeness import Beginnings
from iogate.model import Baseline, is_rate

if TYPE_CHECKING:
    from iogate.judge.gate import SpreadWithin

_CHANCE, _SMALL_CHANCE = 0.02, 0.005  # where it costs only verdicts on changes of about as much
_BORNE_OUT, _THROUGHOUT = 0.5, 0.6
_SEVERAL = 3  # workloads: within one or two a device may not have time to get as it is later
_ALIKE = 0.75  # of how slowly the first workloads of a session begin: the last ones, where each does so
_MOST = 0.99  # of a rate: what stood still has no speed


class _AtRest(NamedTuple):
    """A rate of sessions that began at rest beside those in a row: by which share its repetitions were slower
    (negative: faster), each with the work before it, the mean of the first ones, and whether that is beyond
    what chance makes of one rate: by its `own` sessions alone, or by how those of all rates differ.
    """

    shares: Sequence[tuple[float, float]]
    first: float
    own: bool
    surely: bool

    @property
    def work(self) -> float:
        """Seconds of work before its first repetition."""
        return self.shares[0][0]


def shares_at_rest(baselines: Sequence[Baseline], beginnings: Beginnings) -> Iterator[tuple[float, float]]:
    """Yield by which share repetitions of sessions that began at rest were slower than the same ones of
    sessions in a row (negative: faster), each with the work before it, of workloads that began otherwise
    beyond what the first ones of these differ by: it takes one such session, which shows no course.

    Of many workloads chance makes one another one now and then: what the device made of it, it made half of
    at least of one next to it. The first of a session needs none, as devices wake up, if its own sessions
    differ by less: it may be noisier than others. And what work makes of a device comes and goes within a
    session: one that was as much faster in each third was so throughout.
    """
    known = _between(baselines, beginnings)
    rates = [rate for one in baselines for rate in _beside_rested(one, beginnings, known)]
    works = sorted({rate.work for rate in rates})
    if len(works) >= _SEVERAL and _were_throughout(sorted(share for rate in rates for share in rate.shares)):
        return
    for rate in filter(lambda rate: rate.own or rate.surely, rates):
        place = works.index(rate.work)
        near = (*works[max(place - 1, 0) : place], *works[place + 1 : place + 2])
        beside = (other.first for other in rates if other.work in near)
        if (rate.own and not place) or any(other / rate.first >= _BORNE_OUT for other in beside):
            yield from rate.shares


def slowly_begun(baselines: Sequence[Baseline], beginnings: Beginnings) -> Iterator[tuple[float, float]]:
    """Yield by which share repetitions of sessions that began at rest were slower than later ones of the same
    workload, each with the work before it. Those of all workloads: that they are no slower tells behind how
    much work the device is as it is later. Where those that come last begin as slowly as the first ones do,
    it is how each begins, and nothing that work makes of the device.
    """
    begun = sorted(filter(None, (list(shares) for shares in _slower_than_later(baselines, beginnings))))
    if not begun:
        return
    third = math.ceil(len(begun) / 3)
    first, last = (
        statistics.median(shares[0][1] for shares in part) for part in (begun[:third], begun[-third:])
    )
    if last < _ALIKE * first:
        yield from itertools.chain.from_iterable(begun)


def _slower_than_later(
    baselines: Sequence[Baseline], beginnings: Beginnings
) -> Iterator[Iterator[tuple[float, float]]]:
    for one in baselines:
        for name in filter(is_rate, one.metrics):
            rows = {
                each: row for each, row in one.by_session(name).items() if not beginnings.begun.get(each, 1)
            }
            places = min(map(len, rows.values()), default=0)
            usual = _later(rows.values(), places)
            if usual:
                yield _shares(one, rows, places, usual)


def _shares(
    baseline: Baseline, rows: Mapping[str, Sequence[float]], places: int, usual: float
) -> Iterator[tuple[float, float]]:
    for place in range(places):
        worked = [row[place] for each in rows if place < len(row := baseline.worked.get(each, ()))]
        share = 1 - statistics.fmean(row[place] for row in rows.values()) / usual
        if worked:
            yield statistics.median(worked), max(share, 0.0)


def _later(rows: Iterable[Sequence[float]], places: int) -> float:
    """Return the mean of the second half of so many repetitions."""
    return statistics.fmean([value for row in rows for value in row[places // 2 : places]] or [0.0])


def _were_throughout(shares: Sequence[tuple[float, float]]) -> bool:
    """Return whether shares, by the work before them, are about as much in each third of them."""
    third = len(shares) / 3
    parts = [shares[round(third * place) : round(third * (place + 1))] for place in range(3)]
    least, *_, most = sorted((statistics.fmean(share for _, share in part) for part in parts), key=abs)
    return most != 0 and least / most >= _THROUGHOUT


def _between(baselines: Sequence[Baseline], beginnings: Beginnings) -> SpreadWithin:
    """Return how much sessions in a row differ in the first repetition of a workload's first rate."""
    from iogate.judge.gate import spread_within

    rows = []
    for one in baselines:
        for name in itertools.islice(filter(is_rate, one.metrics), 1):
            behind = [row for each, row in one.by_session(name).items() if beginnings.begun.get(each)]
            rows.append([row[0] for row in behind if row and row[0] > 0])
    return spread_within(rows)


def _beside_rested(baseline: Baseline, beginnings: Beginnings, known: SpreadWithin) -> Iterator[_AtRest]:
    """Yield the rates of a baseline that has sessions that began at rest, and others in a row."""
    from iogate.judge.gate import NOTHING_KNOWN, step_of

    for name in filter(is_rate, baseline.metrics):
        rows = {
            session: row
            for session, row in baseline.by_session(name).items()
            if row and baseline.worked.get(session)
        }
        rested = [session for session in rows if not beginnings.begun[session]]
        behind = [session for session in rows if beginnings.begun[session]]
        if not (rested and behind):
            continue
        places = range(min(map(len, rows.values())))
        usual = [statistics.fmean(rows[session][place] for session in behind) for place in places]
        shares = [
            (work, min(1 - value / beside, _MOST))
            for session in rested
            for work, value, beside in zip(baseline.worked[session], rows[session], usual, strict=False)
            if beside
        ]
        firsts = [rows[session][0] for session in (*rested, *behind)]
        if shares and usual[0]:
            first = 1 - statistics.fmean(firsts[: len(rested)]) / usual[0]
            own, surely = (
                first != 0 and step_of(firsts, [len(rested)], before=1, behind=1, chance=chance, known=spread)
                for chance, spread in ((_CHANCE, NOTHING_KNOWN), (_SMALL_CHANCE, known))
            )
            yield _AtRest(shares, first, bool(own), bool(surely))
