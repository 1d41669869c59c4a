"""Results files of iogate as sessions; nothing in them is believed unchecked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from iogate.errors import InputError, InputErrors, OptionError, Position
from iogate.formats.schema import Schema, check
from iogate.model import Environment, Finding, Repetition, Severity, Tolerance, Workload, metric
from iogate.offline.compare.sessions import StoredMeasurement, StoredSession, output_of
from iogate.report.results import read_results
from iogate.units import printable

_Number = Annotated[float, Field(strict=True)]
_Facts = dict[str, str]


class _Part(Schema):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Metric(_Part):
    unit: str
    direction: Literal["higher", "lower"]
    gating: bool
    values: tuple[_Number, ...]


class _Finding(_Part):
    check: str
    severity: Severity
    message: str
    remedy: str = ""
    waived: str = ""


class _Workload(_Part):
    id: str
    suite: str
    workload: str
    engine: str
    definition: dict[str, Any]
    verdict: str
    reason: str
    repetitions: Annotated[int, Field(ge=0, strict=True)]
    device_seconds: Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)] = 0.0
    metrics: dict[str, _Metric]
    gate: dict[str, tuple[_Number | None, _Number | None]] = Field(default_factory=dict)
    findings: tuple[_Finding, ...] = ()


class _Environment(_Part):
    identity: _Facts = Field(default_factory=dict)
    subject: _Facts = Field(default_factory=dict)
    state: _Facts = Field(default_factory=dict)


class _File(_Part):
    device: str
    session: str
    environment: _Environment = Field(default_factory=_Environment)
    workloads: tuple[_Workload, ...]


def is_results(data: bytes) -> bool:
    """Return whether a file means to be results of iogate."""
    return all(word in data for word in (b'"schema"', b'"workloads"')) and b'"fio version"' not in data


def read_stored(path: Path) -> StoredSession:
    """Return a results file as a session. Raises InputError for what iogate has not written."""
    data = read_results(path)
    position = Position(str(path))
    try:
        file = check(_File, data)
    except InputErrors as errors:
        raise InputErrors([_locate(error, position) for error in errors.errors]) from None
    measured: dict[tuple[str, str], StoredMeasurement] = {}
    for entry in file.workloads:
        item = _measurement(entry, position)
        if item.key in measured:
            message = f"{entry.suite}: {entry.workload} is here twice, so it is not clear what to compare"
            raise InputError(printable(message), position=position)
        measured[item.key] = item
    environment = Environment(**file.environment.model_dump())
    return StoredSession(file.session, (str(path),), measured, file.device, environment)


def _locate(error: InputError, position: Position) -> InputError:
    path = ".".join(map(str, error.path)) if isinstance(error, OptionError) else ""
    return InputError(printable(f"not results of iogate: {path}: {error.message}"), position=position)


def _measurement(entry: _Workload, position: Position) -> StoredMeasurement:
    options = {key: value for key, value in entry.definition.items() if key != "engine"}
    refused = ""
    if entry.verdict == "invalid" or not entry.repetitions:
        refused = f"{position.file}: {entry.verdict}: {entry.reason}"
    return StoredMeasurement(
        workload=Workload(
            entry.workload, entry.suite, entry.engine, options, position, gate=_tolerances(entry)
        ),
        repetitions=() if refused else _repetitions(entry, position),
        gating=tuple(name for name, item in entry.metrics.items() if item.gating),
        refused=printable(refused),
        seconds=entry.device_seconds,
        findings=_findings(entry.findings),
    )


def _tolerances(entry: _Workload) -> dict[str, Tolerance]:
    """Return the tolerances that the suite declared; one that says nothing is none."""
    sound = {
        name: bounds for name, bounds in entry.gate.items() if all(b is None or 0 < b < 1 for b in bounds)
    }
    return {name: Tolerance(*bounds) for name, bounds in sound.items() if name in entry.metrics}


def _repetitions(entry: _Workload, position: Position) -> tuple[Repetition, ...]:
    """Return the repetitions; a metric that some of them lack is left out, as nobody knows which."""
    known = {name: item.values for name, item in entry.metrics.items() if _is_known(name, item, position)}
    seconds = entry.device_seconds / entry.repetitions
    return tuple(
        Repetition(
            output_of({n: values[index] for n, values in known.items() if len(values) == entry.repetitions}),
            seconds,
            position.file,
        )
        for index in range(entry.repetitions)
    )


def _is_known(name: str, item: _Metric, position: Position) -> bool:
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


def _findings(found: Sequence[_Finding]) -> tuple[Finding, ...]:
    return tuple(Finding(item.check, item.severity, item.message, item.remedy, item.waived) for item in found)
