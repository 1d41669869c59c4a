"""The plots of workloads whose every repetition is a whole curve: strong scaling, and memory under load."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from iogate.report.html.plot import Cell, DisplayUnit, Plot, percent
from iogate.report.results import MetricRecord, WorkloadRecord
from iogate.units import format_quantity

_THREADS = re.compile(r"threads_(\d+)\.wall_time")
_DELAY = re.compile(r"bandwidth\.delay_(\d+)")
_SHOWN: tuple[tuple[str, Callable[[MetricRecord], float | None]], ...] = (
    ("this session", lambda item: item.value),
    ("baseline", lambda item: item.baseline),
)


def curve_plots(workload: WorkloadRecord) -> Iterator[Plot]:
    """Yield the plots of a workload that measures curves; none of another."""
    threads = sorted(int(match[1]) for name in workload.metrics if (match := _THREADS.fullmatch(name)))
    if len(threads) > 1:
        yield from _scaling(workload.metrics, threads)
    delays = sorted(int(match[1]) for name in workload.metrics if (match := _DELAY.fullmatch(name)))
    if len(delays) > 1:
        yield from _loaded(workload.metrics, delays)


def _scaling(metrics: Mapping[str, MetricRecord], threads: list[int]) -> Iterator[Plot]:
    """Yield wall time, speed-up and efficiency by the number of threads."""
    times = {count: metrics[f"threads_{count}.wall_time"] for count in threads}
    scale = DisplayUnit.of([item.value for item in times.values()], "s")
    rows: list[tuple[Cell, ...]] = [
        (whose, count, scale(value(item)))
        for whose, value in _SHOWN
        for count, item in times.items()
        if value(item) is not None
    ]
    yield _by_threads("Wall time by threads", scale.head("wall time"), rows)
    first = threads[0]
    serial = metrics.get("serial_fraction")
    note = f"serial fraction (Amdahl): {serial.value:.3g}" if serial and serial.value is not None else ""
    ideal = [("ideal", count, count / first) for count in threads]
    gains = [(whose, count, gain) for whose, count, gain in _ratios(times, threads)]
    yield _by_threads("Speed-up against the ideal", "speed-up", [*_rounded(gains), *_rounded(ideal)], note)
    shares: list[tuple[Cell, ...]] = [
        (whose, count, percent(gain * first / count)) for whose, count, gain in gains
    ]
    perfect: list[tuple[Cell, ...]] = [("ideal", count, 100) for count in threads]
    yield _by_threads("Efficiency", "efficiency (%)", [*shares, *perfect])


def _ratios(times: Mapping[int, MetricRecord], threads: list[int]) -> Iterator[tuple[str, int, float]]:
    for whose, value in _SHOWN:
        alone = value(times[threads[0]])
        for count in threads:
            seconds = value(times[count])
            if alone and seconds:
                yield whose, count, alone / seconds


def _rounded(rows: list[tuple[str, int, float]]) -> list[tuple[Cell, ...]]:
    return [(whose, count, round(value, 4)) for whose, count, value in rows]


def _by_threads(title: str, value: str, rows: list[tuple[Cell, ...]], note: str = "") -> Plot:
    columns = {"whose": "of", "threads": "threads", "value": value}
    ticks = sorted({float(str(row[1])) for row in rows})
    whose = list(dict.fromkeys(str(row[0]) for row in rows))
    return Plot(
        "by_threads", title, columns, rows, {"value": value, "whose": whose, "ticks": ticks}, note=note
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
