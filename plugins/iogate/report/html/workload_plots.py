"""The plots of one workload: its repetitions by session, bandwidth over time, and latencies."""

from __future__ import annotations

import itertools
import math
import re
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from iogate.model import Histogram
from iogate.report.html.plot import DisplayUnit, Plot, whole_ticks
from iogate.report.results import MetricRecord, RepetitionRecord, WorkloadRecord
from iogate.units import printable

_SESSIONS = 20  # of a baseline, the newest
_SECONDS = 60  # points of a repetition's bandwidth over time
_PERCENTILES = (1, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99, 99.999)
_ENOUGH = 5  # percentiles that make a curve
_LABELLED = (10, 50, 90, 99, 99.9, 99.99, 99.999)  # on the axis
_BEYOND = 10  # I/Os that must be slower than a percentile to tell it from a histogram
_LATENCY = re.compile(r"(?:(?:read|write|trim)\.)?c?lat")
_PERCENTILE = re.compile(rf"({_LATENCY.pattern})\.p[\d.]+")


def common_plots(workload: WorkloadRecord) -> Iterator[Plot]:
    """Yield the plots that a workload has of whatever engine, unless it is a pair."""
    for name, item in workload.gating.items():
        if item.values:
            yield strip(name, item)
    yield from over_time(workload.measured)
    yield from latencies(workload)


def strip(name: str, item: MetricRecord) -> Plot:
    """Return a metric's repetitions, session by session, with what its baseline and its bound are."""
    scale = DisplayUnit.of([item.value, item.baseline], item.unit)
    kept = dict(itertools.islice(item.sessions.items(), max(0, len(item.sessions) - _SESSIONS), None))
    rows = [
        (printable(session), number, scale(value), "baseline")
        for session, values in kept.items()
        for number, value in enumerate(values, 1)
    ]
    rows += [("this session", number, scale(value), "now") for number, value in enumerate(item.values, 1)]
    more: dict[str, list[dict[str, str | float | int | None]]] = {}
    if item.baseline is not None:
        worse = item.baseline * (1 + (1 if item.direction == "lower" else -1) * (item.tolerance or 0.0))
        more["band"] = [{"base": scale(item.baseline), "bound": scale(worse)}]
    omitted = len(item.sessions) - len(kept)
    return Plot(
        "strip",
        f"{name}: repetitions by session",
        {"session": "session", "number": "repetition", "value": scale.head(name), "whose": "of"},
        rows,
        {"value": scale.head(name)},
        more,
        f"{omitted} older sessions are left out" if omitted else "",
    )


def over_time(repetitions: Sequence[RepetitionRecord]) -> Iterator[Plot]:
    """Yield the target's bandwidth second by second, a line for each repetition."""
    longest = max((len(item.series) for item in repetitions), default=0)
    if longest < 2:
        return
    scale = DisplayUnit.of([value for item in repetitions for value in item.series], "B/s")
    step = math.ceil(longest / _SECONDS)
    rows = [
        (number, start + step if step > 1 else start + 1, scale(statistics.fmean(chunk)))
        for number, item in enumerate(repetitions, 1)
        for start, chunk in _chunks(item.series, step)
    ]
    yield Plot(
        "over_time",
        "Bandwidth of the target over time",
        {"number": "repetition", "second": "second", "value": scale.head("bandwidth")},
        rows,
        {"value": scale.head("bandwidth"), "ticks": whole_ticks(1, longest)},
        note=f"means of {step} seconds" if step > 1 else "",
    )


def _chunks(series: Sequence[float], step: int) -> Iterator[tuple[int, Sequence[float]]]:
    for start in range(0, len(series), step):
        yield start, series[start : start + step]


def latencies(workload: WorkloadRecord) -> Iterator[Plot]:
    """Yield the latencies of each direction on a percentile axis, against the baseline's."""
    stated = (match[1] for name in workload.metrics if (match := _PERCENTILE.fullmatch(name)))
    counted = (name for item in workload.measured for name in item.histograms if _LATENCY.fullmatch(name))
    directions: dict[str, str] = {}
    for name in sorted({*stated, *counted}):  # clat comes before lat
        directions.setdefault(name.rpartition(".")[0], name)
    for name in sorted(directions.values()):
        plot = _latency(name, workload)
        if plot:
            yield plot


def _latency(name: str, workload: WorkloadRecord) -> Plot | None:
    now = _curve(name, workload)
    before = {
        percent: value for percent in _PERCENTILES if (value := _before(f"{name}.p{percent:g}", workload))
    }
    if len(now) < 3:
        return None
    scale = DisplayUnit.of(now.values(), "ns")
    own, other = ("B", "A") if workload.pair else ("this session", "baseline")
    whose = [own, other] if before else [own]
    ticks = [nines(percent) for percent in _LABELLED if percent in now or percent in before]
    rows = [
        (name, f"p{percent:g}", nines(percent), scale(value))
        for name, curve in ((own, now), (other, before))
        for percent, value in curve.items()
    ]
    return Plot(
        "latency",
        f"{name}: latency by percentile",
        {"whose": "of", "percentile": "percentile", "nines": "nines", "value": scale.head("latency")},
        rows,
        {"value": scale.head("latency"), "whose": whose, "ticks": ticks},
    )


def _before(name: str, workload: WorkloadRecord) -> float | None:
    """Return what a metric is held against: the baseline, or arm A."""
    if not workload.pair:
        item = workload.metrics.get(name)
        return item.baseline if item else None
    values = [value for block in workload.measured if block.base and (value := block.base.metrics.get(name))]
    return statistics.median(values) if values else None


def _curve(name: str, workload: WorkloadRecord) -> dict[float, float]:
    """Return latencies by percentile: as the engine states them; if it states few, from its histograms."""
    stated = {
        percent: item.value
        for percent in _PERCENTILES
        if (item := workload.metrics.get(f"{name}.p{percent:g}")) and item.value
    }
    if len(stated) >= _ENOUGH:
        return stated
    whole = merged([item.histograms[name] for item in workload.measured if name in item.histograms])
    counted = {percent: quantile(whole, percent) for percent in _PERCENTILES}
    return {percent: value for percent, value in counted.items() if value} or stated


def nines(percent: float) -> float:
    """Return where a percentile lies on an axis that shows the slow end: 90 -> 1, 99 -> 2, 99.9 -> 3."""
    return round(-math.log10(1 - percent / 100), 4)


def merged(histograms: Sequence[Histogram]) -> Mapping[int, tuple[int, int]]:
    """Return the sum of histograms: for the least value of each bin, its end and its count."""
    counts: Counter[int] = Counter()
    widths: dict[int, int] = {}
    for item in histograms:
        counts.update(item.bins)
        for least in item.bins:
            octave = 1 << max(0, least.bit_length() - 1)
            widths[least] = max(widths.get(least, 1), octave // item.per_octave, 1)
    return {least: (least + widths[least], counts[least]) for least in sorted(counts)}


def quantile(bins: Mapping[int, tuple[int, int]], percent: float) -> float | None:
    """Return a percentile of counted latencies, evenly spread within a bin; None if too few are slower."""
    total = sum(count for _, count in bins.values())
    wanted = total * percent / 100
    if total - wanted < _BEYOND or wanted < 1:
        return None
    below = 0
    for least, (end, count) in bins.items():
        if below + count >= wanted:
            return least + (end - least) * (wanted - below) / count
        below += count
    return None
