"""From what a session found out to the results document."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from iogate import __version__
from iogate.model import Environment, MetricVerdict, Repetition, WorkloadResult
from iogate.report.results import SCHEMA, Results, ToleranceSource, WorkloadRecord

if TYPE_CHECKING:
    from iogate.judge.judge import GateOptions


def results_of(
    device: str,
    session: str,
    environment: Environment,
    workloads: Sequence[WorkloadRecord],
    gate_options: GateOptions,
    versions: Mapping[str, str],
) -> Results:
    """Return the document of a session; `versions` are those of programs beside iogate, by name."""
    head = {
        "schema": SCHEMA,
        "device": device,
        "session": session,
        "environment": {
            "identity": environment.identity,
            "subject": environment.subject,
            "state": environment.state,
        },
        "versions": {"iogate": __version__, **versions},
        "gate": {
            "alpha": gate_options.alpha,
            "beta": gate_options.beta,
            "max_repetitions": gate_options.max_repetitions,
            "tolerance": gate_options.tolerance,
        },
    }
    return Results.model_validate({**_plain(head), "workloads": tuple(workloads)})


def engine_versions(results: Iterable[WorkloadResult]) -> dict[str, str]:
    """Return the versions of the engines that measured, as their outputs state them."""
    return {
        result.workload.engine: repetition.output.engine_version
        for result in results
        for repetition in result.repetitions
        if repetition.output.engine_version
    }


def record_workload(result: WorkloadResult, gate_options: GateOptions) -> WorkloadRecord:
    """Return what the document says of a workload that was judged by these options."""
    workload, verdict = result.workload, result.verdict
    record = {
        "id": result.id,
        "suite": workload.suite,
        "workload": workload.name,
        "engine": workload.engine,
        "description": workload.description,
        "where": str(workload.position),
        "definition": workload.definition,
        "gate": {name: (bound.worse, bound.better) for name, bound in workload.gate.items()},
        "verdict": verdict.verdict,
        "reason": str(result.failure) if result.failure else verdict.reason,
        "repetitions": len(result.repetitions),
        "device_seconds": round(result.device_seconds, 3),
        "metrics": {
            item.metric.name: _metric(item, _tolerance_source(item, result, gate_options))
            for item in verdict.metrics
        },
        "findings": [asdict(item) for item in verdict.findings],
        "differences": result.differences,
        "warmup": [_repetition(item) for item in result.warmup],
        "folders": [item.folder for item in result.repetitions],
        "measured": [_repetition(item) for item in result.repetitions],
    }
    return WorkloadRecord.model_validate(_plain(record))


def _tolerance_source(
    item: MetricVerdict, result: WorkloadResult, gate_options: GateOptions
) -> ToleranceSource:
    if item.tolerance is None:
        return ""
    if gate_options.tolerance is not None:
        return "command line"
    declared = result.workload.gate.get(item.metric.name)
    return "suite" if declared and declared.worse is not None else "data"


def _metric(item: MetricVerdict, tolerance_from: ToleranceSource) -> dict[str, Any]:
    bounded = item.interval is not None and all(map(math.isfinite, item.interval))
    return {
        "value": item.value,
        "unit": item.metric.unit,
        "direction": item.metric.direction,
        "gating": item.gating,
        "values": item.values,
        "baseline": item.baseline,
        "change": item.change,
        "interval": item.interval if bounded else None,
        "tolerance": item.tolerance,
        "tolerance_from": tolerance_from,
        "bound": item.bound,
        "minimum_detectable": item.minimum_detectable,
        "verdict": item.verdict,
        "reason": item.reason,
    }


def _repetition(item: Repetition) -> dict[str, Any]:
    return {
        "folder": item.folder,
        "seconds": round(item.seconds, 3),
        "metrics": item.metrics,
        "findings": [asdict(finding) for finding in item.findings],
        "series": [round(value) for value in item.series],
        "histograms": {
            name: {"per_octave": one.per_octave, "bins": one.bins}
            for name, one in item.output.histograms.items()
        },
    }


def _plain(value: Any) -> Any:
    """Return a value as JSON can say it: None for what is not finite, escapes for what is no text."""
    if isinstance(value, str):
        return value.encode("utf-8", errors="backslashreplace").decode()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {_plain(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, int) else _plain(str(value))
