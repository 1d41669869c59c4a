"""`iogate show FILE...`: the metrics of any engine's output, in units that people read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iogate.errors import IogateError
from iogate.model import Output, metric
from iogate.offline.outputs import Understood, read_bytes, text_of, understood
from iogate.units import format_quantity, printable

_STATISTIC = re.compile(r"(.+)\.(min|mean|max|stddev|p\d+(?:\.\d+)?)")
_PREFERRED = ("p50", "p95", "p99", "p99.9", "p99.99")
_TOTAL = "all jobs"


@dataclass(frozen=True)
class _ShownFile:
    """What is known of a file: its `parts` by name (jobs, and all jobs together), or why it was `refused`."""

    file: str
    engine: str = ""
    parts: Mapping[str, Output] = field(default_factory=dict)
    note: str = ""
    refused: str = ""


def show(paths: Sequence[Path], as_json: bool) -> tuple[str, int]:
    """Return the metrics of engine outputs as text, or as JSON in bytes/s, IOPS, ns and s.

    Returns the text and an exit status: 1 if a file was refused, whose reason is in the text then.
    """
    shown = [item for path in paths for item in _read(path)]
    status = int(any(item.refused for item in shown))
    if as_json:
        return json.dumps([_plain(item) for item in shown], indent=2), status
    return printable("\n\n".join(_text(item) for item in shown)), status


def _read(path: Path) -> list[_ShownFile]:
    """Return what the engines whose output a file is, or holds, make of it."""
    name = str(path)
    try:
        return [_describe(name, item) for item in understood(text_of(read_bytes(path)), name)]
    except IogateError as error:
        return [_ShownFile(name, refused=str(error))]


def _describe(file: str, found: Understood) -> _ShownFile:
    parts = {part.name: part.output for part in found.parts}
    if found.whole is None:
        return _ShownFile(file, found.engine, parts, note=found.apart)
    return _ShownFile(file, found.engine, {**(parts if len(parts) > 1 else {}), _TOTAL: found.whole})


def _plain(item: _ShownFile) -> dict[str, Any]:
    if item.refused:
        return {"file": item.file, "refused": item.refused}
    parts = [{"name": name, **_plain_output(output)} for name, output in item.parts.items()]
    found = {"file": item.file, "engine": item.engine, "parts": parts}
    return found | {"note": item.note} if item.note else found


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
    if item.refused:
        return f"refused: {item.refused}"
    version = next(iter(item.parts.values())).engine_version
    known = version.startswith(item.engine)
    blocks = [f"{item.file}: {version if known else f'{item.engine} {version}'.rstrip()}"]
    for name, output in item.parts.items():
        blocks += [_heading(name, output), _table(output.metrics)]
        if name != _TOTAL or len(item.parts) == 1:  # together they have no others
            blocks += [f"remark: {remark}" for remark in (*output.contradictions, *output.remarks)]
    if item.note:
        blocks.append(f"not added up: {item.note}")
    return "\n".join(blocks)


def _heading(name: str, output: Output) -> str:
    keys = ("rw", "bs", "iodepth", "numjobs", "ioengine")
    stated = [f"{key}={output.options[key]}" for key in keys if key in output.options]
    counted = f"{output.jobs} jobs" if output.jobs > 1 else "1 job"
    return f"{name} ({', '.join([counted, *stated] if name == _TOTAL else stated or [counted])})"


def _table(metrics: Mapping[str, float]) -> str:
    """Return one line a figure, one column a statistic; a rate stands under `mean`, which it is, over the
    run.
    """
    from tabulate import tabulate

    rows: dict[str, dict[str, str]] = {}
    for name, value in metrics.items():
        match = _STATISTIC.fullmatch(name)
        figure, statistic = (match[1], match[2]) if match else (name, "mean")
        rows.setdefault(figure, {})[statistic] = format_quantity(value, metric(name).unit)
    present = {statistic for row in rows.values() for statistic in row}
    columns: list[str] = [name for name in ("mean", "min", "max", "stddev") if name in present]
    columns += _percentiles(present)
    lines = [[figure, *(row.get(column, "") for column in columns)] for figure, row in rows.items()]
    return tabulate(lines, headers=["", *columns], disable_numparse=True, stralign="right")


def _percentiles(present: Iterable[str]) -> list[str]:
    """Return the percentiles to show: the usual ones, or all if the run asked for others."""
    found = sorted((name for name in present if name[0] == "p"), key=lambda name: float(name[1:]))
    return [name for name in found if name in _PREFERRED] or found
