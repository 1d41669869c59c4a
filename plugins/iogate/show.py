"""`iogate show FILE...`: the metrics of any engine's output, in units that people read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iogate import engines
from iogate.errors import OutputError
from iogate.model import Output, metric
from iogate.units import format_quantity, printable

_LARGEST = 256 * 2**20
_STATISTIC = re.compile(r"(.+)\.(min|mean|max|stddev|p\d+(?:\.\d+)?)")
_PREFERRED = ("p50", "p95", "p99", "p99.9", "p99.99")
_TOTAL = "all jobs"


@dataclass(frozen=True)
class _Shown:
    """What is known of a file: its `parts` by name (jobs, and all jobs together), or why it was `refused`."""

    file: str
    engine: str = ""
    parts: Mapping[str, Output] = field(default_factory=dict)
    note: str = ""
    refused: str = ""


def show(paths: Sequence[Path], as_json: bool) -> tuple[str, int]:
    """The metrics of engine outputs as text, or as JSON in bytes/s, IOPS, ns and s.

    Returns the text and an exit status: 1 if a file was refused, whose reason is in the text then.
    """
    shown = [_read(path) for path in paths]
    status = int(any(item.refused for item in shown))
    if as_json:
        return json.dumps([_plain(item) for item in shown], indent=2), status
    return printable("\n\n".join(_text(item) for item in shown)), status


def _read(path: Path) -> _Shown:
    name = str(path)
    try:
        with path.open("rb") as stream:
            data = stream.read(_LARGEST + 1)
    except OSError as error:
        return _Shown(name, refused=f"{name}: cannot be read: {error.strerror}")
    if len(data) > _LARGEST:
        return _Shown(name, refused=f"{name}: is larger than {_LARGEST >> 20} MiB")
    text = data.decode("utf-8", errors="replace")
    tried = [_parsed(engine, text, name) for engine in _candidates(text)]
    return next((item for item in tried if not item.refused), tried[0])


def _candidates(text: str) -> list[str]:
    """The engines, those first that the text names."""
    return sorted(engines.names(), key=lambda name: name not in text)


def _parsed(name: str, text: str, file: str) -> _Shown:
    """A file as this engine understands it."""
    engine = engines.load(name)
    parts_of = getattr(engine, "parts", None)
    try:
        parts: dict[str, Output] = parts_of(text, name=file) if parts_of else {}
        try:
            whole = engine.parse(text, name=file)
        except OutputError as error:
            if not parts:
                raise
            return _Shown(file, name, parts, note=str(error))
    except OutputError as error:
        return _Shown(file, name, refused=str(error))
    return _Shown(file, name, {**parts, _TOTAL: whole} if len(parts) > 1 else {_TOTAL: whole})


def _plain(item: _Shown) -> dict[str, Any]:
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
    }


def _text(item: _Shown) -> str:
    if item.refused:
        return f"refused: {item.refused}"
    blocks = [f"{item.file}: {next(iter(item.parts.values())).engine_version or item.engine}"]
    blocks += [f"{_heading(name, output)}\n{_table(output.metrics)}" for name, output in item.parts.items()]
    if item.note:
        blocks.append(f"not added up: {item.note}")
    return "\n".join(blocks)


def _heading(name: str, output: Output) -> str:
    keys = ("rw", "bs", "iodepth", "numjobs", "ioengine")
    stated = [f"{key}={output.options[key]}" for key in keys if key in output.options]
    counted = f"{output.jobs} jobs" if output.jobs > 1 else "1 job"
    return f"{name} ({', '.join([counted, *stated] if name == _TOTAL else stated or [counted])})"


def _table(metrics: Mapping[str, float]) -> str:
    """One line a figure, one column a statistic; a rate stands under `mean`, which it is, over the run."""
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
    """The percentiles to show: the usual ones, or all if the run asked for others."""
    found = sorted((name for name in present if name[0] == "p"), key=lambda name: float(name[1:]))
    return [name for name in found if name in _PREFERRED] or found
