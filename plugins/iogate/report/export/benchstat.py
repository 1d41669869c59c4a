"""Go's benchmark format, which benchstat compares: a line for each repetition, a unit for each metric.

https://go.googlesource.com/proposal/+/master/design/14313-benchmark-format.md
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from iogate.report.export.selection import valid
from iogate.report.results import Results, WorkloadRecord
from iogate.units import printable

_UNITS = {"B/s": "B/s", "ns": "sec", "s": "sec", "IOPS": "ops/s"}
"""benchstat knows bytes (`B`), and scales them by 1024, and seconds."""
_SCALES = {"ns": 1e-9}
_BLANK = re.compile(r"\s")


def export(sessions: Sequence[Results]) -> str:
    """Return sessions in Go's format; of a pair arm B. What is invalid is left out, as the format has no
    verdicts.

    benchstat makes a table for each value of a key such as `suite`, so that a session is not one of them.
    """
    lines = list(dict.fromkeys(_units(sessions)))
    for session in sessions:
        lines += ["", f"device: {_word(session.device)}"]
        for workload in valid(session):
            lines += [f"engine: {_word(workload.engine)}", f"suite: {_word(workload.suite)}"]
            lines += _results(workload)
    return "\n".join(lines) + "\n"


def _units(sessions: Sequence[Results]) -> Iterator[str]:
    for session in sessions:
        for workload in valid(session):
            for name, item in workload.metrics.items():
                yield f"Unit {_unit(name, item.unit)} better={item.direction}"


def _results(workload: WorkloadRecord) -> Iterator[str]:
    count = max((len(item.values) for item in workload.metrics.values()), default=0)
    for index in range(count):
        figures = [
            f"{value * _SCALES.get(item.unit, 1.0):.9g} {_unit(name, item.unit)}"
            for name, item in workload.metrics.items()
            for value in item.values[index : index + 1]
            if value is not None
        ]
        if figures:
            yield f"BenchmarkIO/{_word(workload.workload)} 1 {' '.join(figures)}"


def _unit(name: str, unit: str) -> str:
    """Return a metric's name with its unit behind it, as `L1-miss-ns/op` is named: `read.clat.p99-sec`."""
    return "-".join(filter(None, (_word(name), _UNITS.get(unit, _word(unit)))))


def _word(text: str) -> str:
    return _BLANK.sub("_", printable(text)) or "_"
