"""The plots of workloads whose every repetition is a whole curve: scaling over threads or clients, and memory
under load."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from iogate.report.html.plot import Cell, DisplayUnit, Plot, percent
from iogate.report.results import MetricRecord, WorkloadRecord
from iogate.units import format_quantity

_THREADS = re.compile(r"threads_(\d+)\.wall_time")
_CLIENTS = re.compile(r"clients_(\d+)\.(?:read|write|trim)\.bandwidth")
_DELAY = re.compile(r"bandwidth\.delay_(\d+)")
_SHOWN: tuple[tuple[str, Callable[[MetricRecord], float | None]], ...] = (
    ("this session", lambda item: item.value),
    ("baseline", lambda item: item.baseline),
)


def curve_plots(workload: WorkloadRecord) -> Iterator[Plot]:
    """Yield the plots of a workload that measures curves; none of another."""
    yield from _scaling(_wall_times(workload.metrics), workload.metrics)
    yield from _scaling(_rates(workload.metrics), workload.metrics)
    delays = sorted(int(match[1]) for name in workload.metrics if (match := _DELAY.fullmatch(name)))
    if len(delays) > 1:
        yield from _loaded(workload.metrics, delays)


@dataclass(frozen=True)
class _Scaling:
    """A figure by whose it is (this session's, the baseline's) and the number of those at work, who are
    called `each`; it is a time, or a `rate`.
    """

    each: str
    what: str
    unit: str
    rate: bool
    figures: Mapping[str, Mapping[int, float]]


def _wall_times(metrics: Mapping[str, MetricRecord]) -> _Scaling:
    """Return the wall time by the number of threads."""
    found: dict[str, dict[int, float]] = {}
    for name, item in metrics.items():
        if match := _THREADS.fullmatch(name):
            for whose, value in _SHOWN:
                if figure := value(item):
                    found.setdefault(whose, {})[int(match[1])] = figure
    return _Scaling("threads", "wall time", "s", rate=False, figures=found)


def _rates(metrics: Mapping[str, MetricRecord]) -> _Scaling:
    """Return the bandwidth by the number of clients, in all directions together."""
    found: dict[str, dict[int, float]] = {}
    for name, item in metrics.items():
        if match := _CLIENTS.fullmatch(name):
            for whose, value in _SHOWN:
                if figure := value(item):
                    rates = found.setdefault(whose, {})
                    rates[int(match[1])] = rates.get(int(match[1]), 0.0) + figure
    return _Scaling("clients", "bandwidth", "B/s", rate=True, figures=found)


def _scaling(found: _Scaling, metrics: Mapping[str, MetricRecord]) -> Iterator[Plot]:
    """Yield the figure, speed-up and efficiency by the number of those at work, if there are several."""
    counts = sorted({count for figures in found.figures.values() for count in figures})
    if len(counts) < 2:
        return
    first = counts[0]
    scale = DisplayUnit.of([value for each in found.figures.values() for value in each.values()], found.unit)
    rows: list[tuple[Cell, ...]] = [
        (whose, count, scale(figures[count]))
        for whose, figures in found.figures.items()
        for count in counts
        if count in figures
    ]
    what = f"{found.what[0].upper()}{found.what[1:]} by {found.each}"
    yield _by_count(found.each, what, scale.head(found.what), rows)
    serial = metrics.get("serial_fraction")
    note = f"serial fraction (Amdahl): {serial.value:.3g}" if serial and serial.value is not None else ""
    ideal = [("ideal", count, count / first) for count in counts]
    gains = list(_ratios(found, counts))
    title = "Speed-up against the ideal"
    yield _by_count(found.each, title, "speed-up", [*_rounded(gains), *_rounded(ideal)], note)
    shares: list[tuple[Cell, ...]] = [
        (whose, count, percent(gain * first / count)) for whose, count, gain in gains
    ]
    perfect: list[tuple[Cell, ...]] = [("ideal", count, 100) for count in counts]
    yield _by_count(found.each, "Efficiency", "efficiency (%)", [*shares, *perfect])


def _ratios(found: _Scaling, counts: list[int]) -> Iterator[tuple[str, int, float]]:
    for whose, figures in found.figures.items():
        alone = figures.get(counts[0])
        for count in counts:
            if alone and count in figures:
                yield whose, count, figures[count] / alone if found.rate else alone / figures[count]


def _rounded(rows: list[tuple[str, int, float]]) -> list[tuple[Cell, ...]]:
    return [(whose, count, round(value, 4)) for whose, count, value in rows]


def _by_count(each: str, title: str, value: str, rows: list[tuple[Cell, ...]], note: str = "") -> Plot:
    columns = {"whose": "of", "count": each, "value": value}
    ticks = sorted({float(str(row[1])) for row in rows})
    whose = list(dict.fromkeys(str(row[0]) for row in rows))
    return Plot(
        "by_count",
        title,
        columns,
        rows,
        {"value": value, "whose": whose, "ticks": ticks, "each": each},
        note=note,
    )


def _loaded(metrics: Mapping[str, MetricRecord], delays: list[int]) -> Iterator[Plot]:
    """Yield latency against bandwidth, point by point of the injected delay, with the knee."""
    pairs = {
        delay: (metrics[f"bandwidth.delay_{delay}"], metrics[f"latency.delay_{delay}"])
        for delay in delays
        if f"latency.delay_{delay}" in metrics
    }
    speed = DisplayUnit.of([max(one.value or 0.0 for one, _ in pairs.values())], "B/s")
    time = DisplayUnit.of([one.value for _, one in pairs.values()], "ns")
    rows: list[tuple[Cell, ...]] = [
        (whose, delay, speed(value(bandwidth)), time(value(latency)))
        for whose, value in _SHOWN
        for delay, (bandwidth, latency) in pairs.items()
        if value(bandwidth) is not None and value(latency) is not None
    ]
    best = max(
        (
            (one.value / two.value, speed(one.value), time(two.value))
            for one, two in pairs.values()
            if one.value and two.value
        ),
        default=None,
    )  # as `iogate.engines.common.loaded_latency.knee` has it, of the curve that is shown
    marked: list[dict[str, Cell]] = [{"x": best[1], "y": best[2], "text": "knee"}] if best else []
    idle = metrics.get("latency.idle")
    note = f"without load: {format_quantity(idle.value, idle.unit)}" if idle and idle.value else ""
    yield Plot(
        "loaded",
        "Latency of memory under load",
        {
            "whose": "of",
            "delay": "delay (cycles)",
            "x": speed.head("bandwidth"),
            "y": time.head("latency"),
        },
        rows,
        {
            "x": speed.head("bandwidth"),
            "y": time.head("latency"),
            "whose": list(dict.fromkeys(str(row[0]) for row in rows)),
        },
        {"knee": marked},
        note,
    )
