"""The plots of a matrix: how latency, bandwidth and IOPS go along its axes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from iogate.report.html.plot import Cell, DisplayUnit, Plot
from iogate.report.results import Results, WorkloadRecord
from iogate.units import parse_size

_NAME = re.compile(r"(.[^\[]*)\[(.+)\]")
_FEWEST = 3  # points that make a sweep
_DEPTHS = ("iodepth", "threads", "numjobs", "processes")
_BLOCKS = ("bs", "record_size")
_LATENCIES = ("clat.mean", "lat.mean")
_TAILS = ("clat.p99", "lat.p99")
_DIRECTIONS = ("read", "write")
_MOST_MAPS = 6  # of one direction


@dataclass(frozen=True)
class SweepPoint:
    """One workload of a matrix: where it lies on each axis, and what was measured there."""

    place: Mapping[str, str]
    record: WorkloadRecord

    def value(self, names: str | Sequence[str]) -> float | None:
        """Return the first of these metrics that was measured."""
        for name in [names] if isinstance(names, str) else names:
            item = self.record.metrics.get(name)
            if item and item.value is not None:
                return item.value
        return None


@dataclass(frozen=True)
class Matrix:
    """The points of one declaration; `axes` have at least two values each, in their order. So many more are
    `invalid`: what was measured there is not to be believed.
    """

    suite: str
    name: str
    points: Sequence[SweepPoint]
    invalid: int = 0

    @property
    def axes(self) -> dict[str, list[str]]:
        """The values of each axis."""
        names = dict.fromkeys(name for point in self.points for name in point.place)
        found = {name: _ordered([point.place.get(name, "") for point in self.points]) for name in names}
        return {name: values for name, values in found.items() if len(values) > 1}

    def measured(self, metric: str) -> Matrix:
        """Return the points that have a metric, in the order of the axes."""
        axes = self.axes
        kept = [point for point in self.points if point.value(metric) is not None]
        kept.sort(key=lambda one: [values.index(one.place.get(name, "")) for name, values in axes.items()])
        return Matrix(self.suite, self.name, kept)


def matrices(results: Results) -> list[Matrix]:
    """Return the matrices of a session that have enough points to be looked at as one."""
    found: dict[tuple[str, str], list[SweepPoint]] = {}
    for record in results.workloads:
        match = _NAME.fullmatch(record.workload)
        labels = dict(part.split("=", 1) for part in match[2].split(",") if "=" in part) if match else {}
        if match and labels:
            found.setdefault((record.suite, match[1]), []).append(SweepPoint(labels, record))
    return [_matrix(*key, points) for key, points in found.items() if len(points) >= _FEWEST]


def _matrix(suite: str, name: str, points: Sequence[SweepPoint]) -> Matrix:
    believed = [point for point in points if point.record.verdict != "invalid"]
    return Matrix(suite, name, believed, len(points) - len(believed))


def sweep_plots(matrix: Matrix) -> Iterator[Plot]:
    """Yield the plots of a matrix, direction by direction."""
    for direction in _DIRECTIONS:
        side = matrix.measured(f"{direction}.iops")
        if len(side.points) < _FEWEST:
            continue
        axes = side.axes
        depth = next((name for name in _DEPTHS if name in axes), "")
        block = next((name for name in _BLOCKS if name in axes), "")
        if depth:
            yield from _frontier(side, direction, depth)
        if block:
            yield _by_block(side, direction, block)
        yield from _maps(side, direction, block, depth)


def _frontier(side: Matrix, direction: str, depth: str) -> Iterator[Plot]:
    """Yield latency against bandwidth, along the queue depth; the knee of each curve is where bandwidth by
    latency is greatest, as `iogate.engines.common.loaded_latency.knee` has it.
    """
    latency = [f"{direction}.{name}" for name in _LATENCIES]
    points = [
        (_series(side, point, depth), point.place[depth], x, y)
        for point in side.points
        if (x := point.value(f"{direction}.bandwidth")) and (y := point.value(latency))
    ]
    if not points:
        return
    speed = DisplayUnit.of([max(one[2] for one in points)], "B/s")
    time = DisplayUnit.of([one[3] for one in points], "ns")
    powers: dict[str, float] = {}
    for series, _, x, y in points:
        powers[series] = max(powers.get(series, 0.0), x / y)
    rows: list[tuple[Cell, ...]] = [
        (series, label, speed(x), time(y), "knee" if x / y == powers[series] else "")
        for series, label, x, y in points
    ]
    heads = {"x": speed.head(f"{direction} bandwidth"), "y": time.head("mean latency")}
    columns = {"series": "workloads", "depth": depth, **heads, "knee": "knee"}
    title = f"{direction}: latency against bandwidth, along {depth}"
    yield Plot("frontier", title, columns, rows, heads, note="Numbers are the depth, ringed ones the knee.")


def _by_block(side: Matrix, direction: str, block: str) -> Plot:
    scale = DisplayUnit.of([point.value(f"{direction}.iops") for point in side.points], "IOPS")
    rows: list[tuple[Cell, ...]] = [
        (_series(side, point, block), point.place[block], scale(point.value(f"{direction}.iops")))
        for point in side.points
    ]
    head = f"{direction} {scale.unit}"
    columns = {"series": "workloads", "block": block, "value": head}
    return Plot(
        "by_block", f"{direction}: {scale.unit} by {block}", columns, rows, {"value": head, "block": block}
    )


def _maps(side: Matrix, direction: str, block: str, depth: str) -> Iterator[Plot]:
    """Yield heat maps over two axes, one for each point of the others."""
    axes = side.axes
    chosen = [name for name in (block, depth) if name]
    chosen += [name for name in axes if name not in chosen]
    if len(chosen) < 2:
        return
    across, down = chosen[:2]
    others = chosen[2:]
    shown = {"": (f"{direction}.iops",), "p99 latency": [f"{direction}.{name}" for name in _TAILS]}
    places = list(itertools.product(*(axes[name] for name in others)))[:_MOST_MAPS]
    for place, (what, names) in itertools.product(places, shown.items()):
        fixed = dict(zip(others, place, strict=True))
        points = [point for point in side.points if fixed.items() <= point.place.items()]
        plot = _map(points, names, across, down)
        where = "".join(f", {name}={value}" for name, value in fixed.items())
        if plot:
            head = plot.head(what) if what else plot.unit
            yield Plot(
                "heat",
                f"{direction}: {head} by {across} and {down}{where}",
                {"x": across, "y": down, "value": head},
                [(p.place[across], p.place[down], plot(p.value(names))) for p in points],
                {"x": across, "y": down},
            )


def _map(points: Sequence[SweepPoint], names: Sequence[str], across: str, down: str) -> DisplayUnit | None:
    """Return the unit of a heat map; None if it would be none."""
    known = [point.value(names) for point in points]
    spread = all(len({point.place[axis] for point in points}) > 1 for axis in (across, down))
    if not spread or None in known or len(known) < _FEWEST:
        return None
    unit = next(item.unit for name, item in points[0].record.metrics.items() if name in names)
    return DisplayUnit.of(known, unit)


def _series(side: Matrix, point: SweepPoint, without: str) -> str:
    """Return what a line is called: the place of its points on all axes but one."""
    said = [f"{name}={point.place[name]}" for name in side.axes if name != without and name in point.place]
    return ", ".join(said) or side.name


def _ordered(values: Sequence[str]) -> list[str]:
    """Return the values of an axis: sizes and numbers by size, others as they come."""
    distinct = list(dict.fromkeys(values))
    try:
        return sorted(distinct, key=parse_size)
    except ValueError:
        return distinct
