"""Bencher Metric Format: https://bencher.dev/docs/reference/bencher-metric-format.

Benchmarks are `suite/workload`, measures are the metrics by their names, with the range of the repetitions.
What is invalid is left out: the format has no verdicts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from iogate.errors import InputError
from iogate.report.export.selection import valid
from iogate.report.results import MetricRecord, Results
from iogate.units import printable

_LONGEST = {"benchmark": 1024, "measure": 64}
"""Characters that Bencher takes of a name."""


def export(sessions: Sequence[Results]) -> str:
    """Return a session in Bencher's format. Raises InputError for several sessions, which are several reports
    there, and for names that Bencher refuses.
    """
    if len(sessions) != 1:
        raise InputError(
            f"Bencher takes one session at a time, not {len(sessions)}",
            remedy="call it once for each session",
        )
    found = {
        _named("benchmark", f"{workload.suite}/{workload.workload}"): {
            _named("measure", name): _metric(item)
            for name, item in workload.metrics.items()
            if item.value is not None
        }
        for workload in valid(sessions[0])
    }
    return json.dumps({name: item for name, item in found.items() if item}, indent=2) + "\n"


def _named(kind: str, name: str) -> str:
    if len(name) > _LONGEST[kind]:
        raise InputError(
            printable(
                f"Bencher takes {_LONGEST[kind]} characters for the name of a {kind}, not {name[:80]}..."
            )
        )
    return printable(name)


def _metric(item: MetricRecord) -> dict[str, Any]:
    known = [value for value in item.values if value is not None]
    if not known or item.value is None or not min(known) <= item.value <= max(known):
        return {"value": item.value}
    return {"value": item.value, "lower_value": min(known), "upper_value": max(known)}
