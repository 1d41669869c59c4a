"""The plots of a pair: slices over time, and the difference of each block with what places add to it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence

from iogate.report.html.plot import Cell, DisplayUnit, Plot, percent, whole_ticks
from iogate.report.html.workload_plots import latencies
from iogate.report.results import MetricRecord, RepetitionRecord, WorkloadRecord
from iogate.units import format_change

_SLICES = 600  # in one plot


def pair_plots(workload: WorkloadRecord) -> Iterator[Plot]:
    """Yield the plots of a workload that was measured by turns."""
    for name, item in workload.gating.items():
        plot = blocks(name, item, workload.measured)
        if plot:
            yield plot
    yield from slices(workload.measured)
    if not any(block.slices for block in workload.measured):  # a stop would be a part of each latency
        yield from latencies(workload)


def slices(measured: Sequence[RepetitionRecord]) -> Iterator[Plot]:
    """Yield the bandwidth of each slice, block after block; of many blocks some, evenly spread."""
    count = sum(len(block.slices) for block in measured)
    if not count:
        return
    every = math.ceil(count / _SLICES)
    rates = [
        (item.read + item.written) / item.seconds
        for block in measured
        for item in block.slices
        if item.seconds
    ]
    scale = DisplayUnit.of(rates, "B/s")
    rows: list[tuple[Cell, ...]] = []
    starts: list[dict[str, Cell]] = []
    begun = 0.0
    for number, block in enumerate(measured, 1):
        if not block.slices or (number - 1) % every:
            continue
        starts.append({"second": round(begun, 2), "text": str(number)})
        rows += [
            (number, item.arm, round(begun + item.start, 3), scale((item.read + item.written) / item.seconds))
            for item in block.slices
            if item.seconds
        ]
        begun += max(item.start + item.seconds for item in block.slices)
    yield Plot(
        "slices",
        "Bandwidth of each slice, A and B by turns",
        {"block": "block", "arm": "arm", "second": "second", "value": scale.head("bandwidth")},
        rows,
        {"value": scale.head("bandwidth")},
        {"starts": starts},
        f"each {every}th block is shown" if every > 1 else "",
    )


def blocks(name: str, item: MetricRecord, measured: Sequence[RepetitionRecord]) -> Plot | None:
    """Return by how much B differs from A in each block, with the verdict's interval and the place effect."""
    found = [
        (number, "changed" if block.swapped else "as they were", percent(ratio - 1))
        for number, block in enumerate(measured, 1)
        if (ratio := _ratio(name, block)) is not None
    ]
    if not found:
        return None
    more: dict[str, list[dict[str, Cell]]] = {"zero": [{"value": 0}]}
    if item.interval:
        low, high = map(percent, item.interval)
        more["band"] = [{"low": low, "high": high, "value": percent(item.change or 0.0)}]
    if item.tolerance:
        worse = item.tolerance if item.direction == "lower" else -item.tolerance
        more["bound"] = [{"value": percent(worse)}]
    swapped = {block.swapped for block in measured}
    more["places"] = [
        {"places": places, "value": round(statistics.median(values), 3)}
        for places in ("as they were", "changed")
        if len(swapped) > 1 and (values := [row[2] for row in found if row[1] == places])
    ]
    note = "The band is the interval that decided, the line within it the change."
    if item.place_effect is not None:
        note += (
            f" Place effect {format_change(item.place_effect)}: what the place alone makes of it, removed "
            "from the change; dashed lines are the medians of each arrangement."
        )
    return Plot(
        "blocks",
        f"{name}: B against A, block by block",
        {"block": "block", "places": "places", "value": "difference (%)"},
        found,
        {"ticks": whole_ticks(1, len(measured))},
        more,
        note,
    )


def _ratio(name: str, block: RepetitionRecord) -> float | None:
    """Return B/A; None where one of them is missing or zero."""
    value = block.metrics.get(name)
    base = block.base.metrics.get(name) if block.base else None
    return value / base if value is not None and base else None
