"""The results file, schema 1: what `--io-json` writes and every report reads.

It is written atomically after each workload, so that an interrupted session keeps all that it had finished.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from iogate.errors import InputError, Position
from iogate.formats.atomic import write_atomically
from iogate.model import Environment, Finding, MetricVerdict, WorkloadResult

SCHEMA = 1


class Results:
    """The results of one session as plain data (`data`), written to `path` if there is one."""

    def __init__(self, device: str, session: str, environment: Environment, path: Path | None) -> None:
        self.path = path
        self.data: dict[str, Any] = {
            "schema": SCHEMA,
            "device": device,
            "session": session,
            "environment": {
                "identity": dict(environment.identity),
                "subject": dict(environment.subject),
                "state": dict(environment.state),
            },
            "workloads": [],
        }

    def add(self, record: WorkloadResult) -> None:
        """Take a workload in and write the file. Raises IogateError if it cannot be written."""
        self.data["workloads"].append(_workload(record))
        self.write()

    def write(self) -> None:
        """Write the file as it is now."""
        if self.path:
            write_atomically(
                self.path, json.dumps(self.data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
            )


def read_results(path: Path) -> dict[str, Any]:
    """Return a results file. Raises InputError if it is none, or of a schema that this version does not
    know.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except json.JSONDecodeError as error:
        position = Position(str(path), error.lineno, error.colno)
        raise InputError(f"not JSON: {error.msg}", position=position) from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise InputError("not a results file: no JSON text", position=Position(str(path))) from error
    if not isinstance(data, dict) or "schema" not in data or not isinstance(data.get("workloads"), list):
        raise InputError("not a results file of iogate", position=Position(str(path)))
    if data["schema"] != SCHEMA:
        remedy = "read it with the version of iogate that wrote it"
        raise InputError(
            f"results of schema {data['schema']!r}, this version knows {SCHEMA}",
            position=Position(str(path)),
            remedy=remedy,
        )
    return data


def _workload(record: WorkloadResult) -> dict[str, Any]:
    workload, verdict = record.workload, record.verdict
    return {
        "id": record.id,
        "suite": workload.suite,
        "workload": workload.name,
        "engine": workload.engine,
        "description": workload.description,
        "where": str(workload.position),
        "definition": workload.definition,
        "gate": {name: [bound.worse, bound.better] for name, bound in workload.gate.items()},
        "verdict": verdict.verdict,
        "reason": str(record.failure) if record.failure else verdict.reason,
        "repetitions": len(record.repetitions),
        "device_seconds": round(record.device_seconds, 3),
        "metrics": {item.metric.name: _metric(item) for item in verdict.metrics},
        "findings": [_finding(item) for item in verdict.findings],
        "differences": list(record.differences),
        "warmup": [
            {"folder": item.folder, "metrics": _gating(record, item.metrics)} for item in record.warmup
        ],
        "folders": [item.folder for item in record.repetitions],
    }


def _gating(record: WorkloadResult, metrics: Mapping[str, float]) -> dict[str, float]:
    """Return the gating metrics of a repetition that was not judged."""
    names = [item.metric.name for item in record.verdict.metrics if item.gating]
    return {name: metrics[name] for name in names if name in metrics}


def _metric(item: MetricVerdict) -> dict[str, Any]:
    return {
        "value": item.value,
        "unit": item.metric.unit,
        "direction": item.metric.direction,
        "gating": item.gating,
        "values": list(item.values),
        "baseline": item.baseline,
        "change": item.change,
        "interval": list(item.interval) if item.interval else None,
        "tolerance": item.tolerance,
        "bound": item.bound,
        "minimum_detectable": item.minimum_detectable,
        "verdict": item.verdict,
        "reason": item.reason,
    }


def _finding(item: Finding) -> dict[str, str]:
    found = {"check": item.check, "severity": item.severity, "message": item.message}
    if item.remedy:
        found["remedy"] = item.remedy
    if item.waived:
        found["waived"] = item.waived
    return found
