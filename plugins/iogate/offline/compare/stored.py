"""Results files of iogate as sessions; nothing in them is believed unchecked."""

from __future__ import annotations

from dataclasses import replace

from iogate import engines
from iogate.errors import InputError, Position
from iogate.model import Repetition, Tolerance, Workload, is_tolerance, metric
from iogate.offline.compare.sessions import StoredMeasurement, StoredSession, output_of
from iogate.report.results import MetricRecord, Results, WorkloadRecord
from iogate.units import one_line, printable


def read_stored(data: bytes, file: str) -> StoredSession:
    """Return a results file as a session. Raises InputError for what iogate has not written."""
    results = Results.parse(data, file)
    position = Position(file)
    measured: dict[tuple[str, str], StoredMeasurement] = {}
    for record in results.workloads:
        item = _measurement(record, position)
        if item.key in measured:
            message = f"{record.suite}: {record.workload} is here twice, so it is not clear what to compare"
            raise InputError(printable(message), position=position)
        measured[item.key] = item
    return StoredSession(
        results.session, (file,), measured, results.device, results.environment, begun=results.begun
    )


def _measurement(record: WorkloadRecord, position: Position) -> StoredMeasurement:
    options = {key: value for key, value in record.definition.items() if key != "engine"}
    if record.runtime:
        options["runtime"] = record.runtime
    refused = ""
    if record.pair:
        refused = (
            f"{position.file}: measured by turns with {record.pair.base}: what arm B did then says nothing "
            f"beside what it does alone; its verdict stands: {record.verdict}"
        )
    elif record.verdict == "invalid" or not record.repetitions:
        refused = f"{position.file}: {record.verdict}: {record.reason}"
    elif record.engine not in engines.names():
        refused = (
            f"{position.file}: the engine {record.engine!r} is not installed here, which alone knows how far "
            "apart two figures are that it can tell: install its package"
        )
    return StoredMeasurement(
        workload=Workload(
            record.workload, record.suite, record.engine, options, position, gate=_tolerances(record)
        ),
        repetitions=() if refused else _repetitions(record, position),
        gating=tuple(record.gating),
        refused=one_line(refused),
        seconds=record.device_seconds,
        findings=record.findings,
        id=record.id,
        verdict=record.verdict,
    )


def _tolerances(record: WorkloadRecord) -> dict[str, Tolerance]:
    """Return the tolerances that the suite declared; one that says nothing is none."""
    return {
        name: Tolerance(worse, better)
        for name, (worse, better) in record.gate.items()
        if name in record.metrics
        and (worse is None or is_tolerance(worse, record.metrics[name].direction))
        and (better is None or better >= 0)
    }


def _repetitions(record: WorkloadRecord, position: Position) -> tuple[Repetition, ...]:
    """Return the repetitions; a metric that some of them lack is left out: documents that list no
    repetitions do not say which.
    """
    whole = {name: _finite(item) for name, item in record.metrics.items() if _is_known(name, item, position)}
    values = {name: known for name, known in whole.items() if len(known) == record.repetitions}
    seconds = record.device_seconds / record.repetitions
    found = []
    for index in range(record.repetitions):
        output = output_of({name: known[index] for name, known in values.items()})
        if record.measured:
            item = record.measured[index]
            output = replace(output, histograms=item.histograms)
            taken = seconds if item.seconds is None else item.seconds
            found.append(
                Repetition(output, taken, item.folder, item.findings, item.series, worked=item.worked)
            )
        else:
            found.append(Repetition(output, seconds, position.file))
    return tuple(found)


def _finite(item: MetricRecord) -> tuple[float, ...]:
    return tuple(value for value in item.values if value is not None)


def _is_known(name: str, item: MetricRecord, position: Position) -> bool:
    """Return whether this version knows a metric. Raises InputError if it knows it as another quantity, or if
    it decides and is not known.
    """
    try:
        known = metric(name)
    except KeyError:
        if not item.gating:
            return False
        message = f"the gating metric {printable(name)!r} is not known to this version of iogate"
        raise InputError(message, position=position) from None
    if (item.unit, item.direction) != (known.unit, known.direction):
        message = f"{name} is in {item.unit or 'no unit'}, {item.direction} is better; known is "
        message += f"{known.unit or 'no unit'}, {known.direction} is better"
        raise InputError(printable(message), position=position)
    return True
