"""Metrics as tables for people: a line a figure, a row a point of a sweep, or a row a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from iogate.model import metric
from iogate.units import format_quantity

_STATISTIC = re.compile(r"(.+)\.(min|mean|max|stddev|p\d+(?:\.\d+)?)")
_POINT = re.compile(r"(\w+)\.([a-z]\w*(?:\.[a-z]\w*)?)\.(\d+\w?/\d+\w?)")
_PREFERRED = ("p50", "p95", "p99", "p99.9", "p99.99")
_OF_A_FILE = tuple(
    f"{direction}.{figure}"
    for direction in ("read", "write", "trim")
    for figure in ("iops", "bandwidth", "lat.mean", "clat.p99")
)
_FEW = 3
FileRow: TypeAlias = "tuple[str, str, Mapping[str, float], str]"
"""A file's name, whose output it is, its metrics, and what else is to be said of it."""
_POINTS = 8


def figures_table(metrics: Mapping[str, float]) -> str:
    """Return one line a figure, one column a statistic; of a sweep one line a point, one column a test.

    A rate without a statistic is that of the whole run: it stands under `mean`, which it is over the time,
    or under `total` where the statistics are those of single processes.
    """
    points = {name: found for name in metrics if (found := _POINT.fullmatch(name))}
    if len(points) <= _POINTS:
        return _statistics_table(metrics)
    tables = []
    for kind in dict.fromkeys(found[2] for found in points.values()):
        cells: dict[str, dict[str, str]] = {}
        for name, found in points.items():
            if found[2] == kind:
                cells.setdefault(found[3], {})[found[1]] = _quantity(name, metrics[name])
        tests = list(dict.fromkeys(test for row in cells.values() for test in row))
        rows = [[point, *(row.get(test, "") for test in tests)] for point, row in cells.items()]
        tables.append(table([kind, *tests], rows))
    rest = {name: value for name, value in metrics.items() if name not in points}
    return "\n".join([*tables, *([_statistics_table(rest)] if rest else [])])


def files_table(rows: Sequence[FileRow]) -> str:
    """Return a row for each file."""
    usual = [name for name in _OF_A_FILE if any(name in metrics for _, _, metrics, _ in rows)]
    lines = []
    for file, what, metrics, said in rows:
        cells = [_quantity(name, metrics[name]) if name in metrics else "" for name in usual]
        others = [] if any(cells) else [f"{name} {_quantity(name, metrics[name])}" for name in metrics]
        more = f", {len(others) - _FEW} more" if len(others) > _FEW else ""
        lines.append([file, what, *cells, "; ".join(filter(None, [", ".join(others[:_FEW]) + more, said]))])
    lines = [[cell.replace("\n", " ") for cell in row] for row in lines]
    return table(["file", "what", *usual, ""], lines, left=(0, 1, len(usual) + 2))


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = ()) -> str:
    """Return rows below their header, numbers to the right; the columns in `left` to the left."""
    widths = [max(map(len, cells)) for cells in zip(header, *rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if index in left else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [header, ["-" * width for width in widths], *rows]
    ]
    return "\n".join(lines)


def _statistics_table(metrics: Mapping[str, float]) -> str:
    rows: dict[str, dict[str, str]] = {}
    bare = "total" if any(f"{name}.mean" in metrics for name in metrics) else "mean"
    for name, value in metrics.items():
        figure, statistic = _figure(name)
        rows.setdefault(figure, {})[statistic or bare] = _quantity(name, value)
    present = {statistic for row in rows.values() for statistic in row}
    columns: list[str] = [name for name in ("total", "mean", "min", "max", "stddev") if name in present]
    columns += _percentiles(present)
    lines = [[figure, *(row.get(column, "") for column in columns)] for figure, row in rows.items()]
    return table(["", *columns], lines)


def _quantity(name: str, value: float) -> str:
    """Return the value of a metric as people read it."""
    return format_quantity(value, metric(name).unit)


@lru_cache(maxsize=1024)
def _figure(name: str) -> tuple[str, str]:
    """Return a metric's figure, and its statistic if it names one."""
    match = _STATISTIC.fullmatch(name)
    return (match[1], match[2]) if match else (name, "")


def _percentiles(present: Iterable[str]) -> list[str]:
    """Return the percentiles to show: the usual ones, or all if the run asked for others."""
    found = sorted((name for name in present if name[0] == "p"), key=lambda name: float(name[1:]))
    return [name for name in found if name in _PREFERRED] or found
