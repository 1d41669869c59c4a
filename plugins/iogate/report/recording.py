"""From what a session found out to the results document."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from iogate import __version__
from iogate.model import Environment, MetricVerdict, Repetition, Slice, WorkloadResult
from iogate.report.results import (
    SCHEMA,
    GateRecord,
    MetricRecord,
    NoiseRecord,
    RepetitionRecord,
    Results,
    RunRecord,
    ToleranceSource,
    WorkloadRecord,
)

if TYPE_CHECKING:
    from iogate.judge.gate import Borrowed
    from iogate.judge.judge import GateOptions


def results_of(
    device: str,
    session: str,
    environment: Environment,
    workloads: Sequence[WorkloadRecord],
    gate_options: GateOptions,
    versions: Mapping[str, str],
    run: RunRecord | None = None,
) -> Results:
    """Return the document of a session; `versions` are those of programs beside iogate, by name."""
    return Results(
        schema=SCHEMA,
        device=device,
        session=session,
        environment=environment,
        versions={"iogate": __version__, **versions},
        gate=gate_record(gate_options),
        run=run,
        workloads=tuple(workloads),
    )


def gate_record(gate_options: GateOptions) -> GateRecord:
    """Return what the document says of the gate."""
    return GateRecord(
        alpha=gate_options.alpha,
        beta=gate_options.beta,
        max_repetitions=gate_options.max_repetitions,
        tolerance=gate_options.tolerance,
        noise=_noise(gate_options.borrowed),
    )


def _noise(borrowed: Borrowed | None) -> NoiseRecord | None:
    if borrowed is None or not borrowed.text:
        return None
    return NoiseRecord(
        text=borrowed.text,
        session=math.sqrt(borrowed.session),
        session_degrees=borrowed.session_degrees,
        repetition=math.sqrt(borrowed.repetition),
        repetition_degrees=borrowed.repetition_degrees,
        workloads=borrowed.workloads,
        sessions=borrowed.sessions,
    )


def engine_versions(results: Iterable[WorkloadResult]) -> dict[str, str]:
    """Return the versions of the engines that measured, as their outputs state them."""
    return {
        result.workload.engine: repetition.output.engine_version
        for result in results
        for repetition in (*result.warmup, *result.repetitions)
        if repetition.output.engine_version
    }


def record_workload(result: WorkloadResult, gate_options: GateOptions) -> WorkloadRecord:
    """Return what the document says of a workload that was judged by these options."""
    workload, verdict = result.workload, result.verdict
    last = next(reversed((*result.warmup, *result.repetitions)), None)
    return WorkloadRecord(
        id=result.id,
        suite=workload.suite,
        workload=workload.name,
        engine=workload.engine,
        description=workload.description,
        where=str(workload.position),
        definition={str(key): _plain(value) for key, value in workload.definition.items()},
        gate={name: (bound.worse, bound.better) for name, bound in workload.gate.items()},
        verdict=verdict.verdict,
        reason=str(result.failure) if result.failure else verdict.reason,
        repetitions=len(result.repetitions),
        device_seconds=round(result.device_seconds, 3),
        metrics={
            item.metric.name: _metric(item, _tolerance_source(item, result, gate_options))
            for item in verdict.metrics
        },
        findings=verdict.findings,
        differences=result.differences,
        warmup=tuple(map(_repetition, result.warmup)),
        folders=tuple(item.folder for item in result.repetitions),
        measured=tuple(map(_repetition, result.repetitions)),
        pair=result.pair,
        keep=verdict.keep,
        command=last.command if last else "",
        files=last.files if last else {},
        runtime=workload.chosen_runtime if result.repetitions else None,
    )


def _tolerance_source(
    item: MetricVerdict, result: WorkloadResult, gate_options: GateOptions
) -> ToleranceSource:
    if _finite(item.tolerance) is None:
        return ""
    if gate_options.tolerance is not None:
        return "command line"
    declared = result.workload.gate.get(item.metric.name)
    if declared and declared.worse is not None:
        return "suite"
    return "" if result.pair else "data"


def _metric(item: MetricVerdict, tolerance_from: ToleranceSource) -> MetricRecord:
    bounded = item.interval is not None and all(map(math.isfinite, item.interval))
    return MetricRecord(
        unit=item.metric.unit,
        direction=item.metric.direction,
        gating=item.gating,
        values=tuple(map(_finite, item.values)),
        value=_finite(item.value),
        baseline=_finite(item.baseline),
        change=_finite(item.change),
        interval=item.interval if bounded else None,
        tolerance=_finite(item.tolerance),
        tolerance_from=tolerance_from,
        bound=_finite(item.bound),
        minimum_detectable=_finite(item.minimum_detectable),
        passes=_finite(item.passes),
        fails=_finite(item.fails),
        verdict=item.verdict,
        reason=item.reason,
        place_effect=_finite(item.place_effect),
        noise=_finite(item.noise),
        sessions={name: tuple(map(_finite, values)) for name, values in item.sessions.items()},
    )


def _repetition(item: Repetition) -> RepetitionRecord:
    return RepetitionRecord(
        metrics={name: _finite(value) for name, value in item.metrics.items()},
        folder=item.folder,
        seconds=round(item.seconds, 3),
        findings=item.findings,
        series=tuple(round(value) for value in item.series),
        histograms=item.output.histograms,
        base=_repetition(item.base) if item.base else None,
        swapped=item.swapped,
        seed=item.seed,
        slices=tuple(map(_rounded, item.slices)),
        worked=None if item.worked is None else round(item.worked, 3),
    )


def _rounded(item: Slice) -> Slice:
    return replace(item, start=round(item.start, 5), seconds=round(item.seconds, 5))


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _plain(value: Any) -> Any:
    """Return a value of a definition in the types of JSON."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return _finite(value)
    return value if value is None or isinstance(value, (str, int)) else str(value)
