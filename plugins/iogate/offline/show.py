"""`iogate show FILE...`: the metrics of any engine's output, in units that people read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from iogate.errors import IogateError
from iogate.model import Output, metric
from iogate.offline.outputs import Understood, read_bytes, runs, text_of
from iogate.units import format_quantity, printable

_STATISTIC = re.compile(r"(.+)\.(min|mean|max|stddev|p\d+(?:\.\d+)?)")
_PREFERRED = ("p50", "p95", "p99", "p99.9", "p99.99")
_TOTAL = "all jobs"


@dataclass(frozen=True)
class _ShownFile:
    """What is known of a run in a file: its `parts` by name (jobs, and all jobs together), and why it was
    `refused`, or some of its jobs were. `line` is where it begins, 0 if the engine has no other there.
    """

    file: str
    engine: str = ""
    parts: Mapping[str, Output] = field(default_factory=dict)
    note: str = ""
    refused: str = ""
    line: int = 0


def show(paths: Sequence[Path], as_json: bool) -> tuple[str, int]:
    """Return the metrics of engine outputs as text, or as JSON in bytes/s, IOPS, ns and s.

    Returns the text and an exit status: 1 if a file was refused, whose reason is in the text then.
    """
    status, texts, plain = 0, [], []
    for path in paths:
        for item in _read(path):
            status |= bool(item.refused)
            if as_json:
                plain.append(_plain(item))
            else:
                texts.append(_text(item))
    return (json.dumps(plain, indent=2) if as_json else printable("\n\n".join(texts))), status


def _read(path: Path) -> Iterator[_ShownFile]:
    """Yield what the engines whose output a file is, or holds, make of it, run by run."""
    name = str(path)
    try:
        found = runs(text_of(read_bytes(path)), name)
        for _, group in groupby(found, key=lambda run: run.engine):
            yield from _describe_all(name, group)
    except IogateError as error:
        yield _ShownFile(name, refused=str(error))


def _describe_all(file: str, found: Iterator[Understood]) -> Iterator[_ShownFile]:
    """Yield the runs of one engine in a file; where there are several, each with its line."""
    first = next(found)
    second = next(found, None)
    if second is None:
        yield _describe(file, first, several=False)
        return
    for item in chain((first, second), found):
        yield _describe(file, item, several=True)


def _describe(file: str, found: Understood, *, several: bool) -> _ShownFile:
    parts = {part.name: part.output for part in found.parts}
    shown = _ShownFile(file, found.engine, parts, line=found.line if several else 0)
    if found.refused:
        return replace(shown, refused=str(found.refused))
    if found.whole is None:
        return replace(shown, note=found.apart)
    if several and len(parts) == 1:
        return shown
    return replace(shown, parts={**(parts if len(parts) > 1 else {}), _TOTAL: found.whole})


def _plain(item: _ShownFile) -> dict[str, Any]:
    where: dict[str, Any] = {"file": item.file, **({"line": item.line} if item.line else {})}
    refused = {"refused": printable(item.refused)} if item.refused else {}
    if refused and not item.parts:
        return where | refused
    parts = [{"name": name, **_plain_output(output)} for name, output in item.parts.items()]
    note = {"note": item.note} if item.note else {}
    return where | {"engine": item.engine, "parts": parts} | note | refused


def _plain_output(output: Output) -> dict[str, Any]:
    return {
        "version": output.engine_version,
        "jobs": output.jobs,
        "options": dict(output.options),
        "metrics": {
            name: {"value": value, "unit": metric(name).unit} for name, value in output.metrics.items()
        },
        "remarks": [*output.contradictions, *output.remarks],
    }


def _text(item: _ShownFile) -> str:
    if not item.parts:
        return f"refused: {item.refused}"
    version = next(iter(item.parts.values())).engine_version
    known = version.startswith(item.engine)
    place = f"{item.file}:{item.line}" if item.line else item.file
    blocks = [f"{place}: {version if known else f'{item.engine} {version}'.rstrip()}"]
    for name, output in item.parts.items():
        made_by = f", {output.engine_version}" if output.engine_version != version else ""
        blocks += [_heading(name, output) + made_by, _table(output.metrics)]
        if name != _TOTAL or len(item.parts) == 1:  # together they have no others
            blocks += [f"remark: {remark}" for remark in (*output.contradictions, *output.remarks)]
    if item.note:
        blocks.append(f"not added up: {item.note}")
    if item.refused:
        blocks.append(f"refused: {item.refused}")
    return "\n".join(blocks)


def _heading(name: str, output: Output) -> str:
    keys = ("rw", "bs", "iodepth", "numjobs", "ioengine")
    stated = [f"{key}={output.options[key]}" for key in keys if key in output.options]
    counted = f"{output.jobs} jobs" if output.jobs > 1 else "1 job"
    return f"{name} ({', '.join([counted, *stated] if name == _TOTAL else stated or [counted])})"


def _table(metrics: Mapping[str, float]) -> str:
    """Return one line a figure, one column a statistic.

    A rate without a statistic is that of the whole run: it stands under `mean`, which it is over the time,
    or under `total` where the statistics are those of single processes.
    """
    rows: dict[str, dict[str, tuple[str, float]]] = {}
    bare = "total" if any(f"{name}.mean" in metrics for name in metrics) else "mean"
    for name, value in metrics.items():
        figure, statistic = _figure(name)
        statistic = statistic or bare
        rows.setdefault(figure, {})[statistic] = name, value
    present = {statistic for row in rows.values() for statistic in row}
    columns: list[str] = [name for name in ("total", "mean", "min", "max", "stddev") if name in present]
    columns += _percentiles(present)
    lines = [[figure, *(_cell(row.get(column)) for column in columns)] for figure, row in rows.items()]
    widths = [max(map(len, cells)) for cells in zip(["", *columns], *lines, strict=True)]
    ruled = [["", *columns], ["-" * width for width in widths], *lines]
    padded = [[cell.rjust(width) for cell, width in zip(row, widths, strict=True)] for row in ruled]
    return "\n".join("  ".join(row).rstrip() for row in padded)


def _cell(known: tuple[str, float] | None) -> str:
    """Return the value of a metric as people read it; empty if there is none."""
    return format_quantity(known[1], metric(known[0]).unit) if known else ""


@lru_cache(maxsize=1024)
def _figure(name: str) -> tuple[str, str]:
    """Return a metric's figure, and its statistic if it names one."""
    match = _STATISTIC.fullmatch(name)
    return (match[1], match[2]) if match else (name, "")


def _percentiles(present: Iterable[str]) -> list[str]:
    """Return the percentiles to show: the usual ones, or all if the run asked for others."""
    found = sorted((name for name in present if name[0] == "p"), key=lambda name: float(name[1:]))
    return [name for name in found if name in _PREFERRED] or found
