"""The results document, schema 1: all that a session found out, and all that a report, a comparison or a
history reads of it.

Within a schema keys may be added: a reader passes over those that it does not know, and an older document
lacks those that have a default here. What changes its meaning gets another schema.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NoReturn

from pydantic import ConfigDict, Field, model_validator

from iogate import __version__
from iogate.errors import InputError, InputErrors, OptionError, Position
from iogate.formats import yamlio
from iogate.formats.atomic import write_atomically
from iogate.formats.schema import Schema, check
from iogate.model import Direction, Finding, Histogram, VerdictName
from iogate.units import printable

SCHEMA: Final = 1
ToleranceSource = Literal["", "command line", "suite", "data"]

_Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
_Measured = _Number | None
"""A figure; None for one that is not finite, which JSON cannot say."""
_Count = Annotated[int, Field(strict=True, ge=0)]
_Flag = Annotated[bool, Field(strict=True)]
_Facts = dict[str, str]


class _Record(Schema):
    model_config = ConfigDict(extra="ignore", frozen=True)


class MetricRecord(_Record):
    """What was measured of a metric and what the gate says of it, as `iogate.model.MetricVerdict` has it.

    `values` are those of the repetitions that have the metric. `tolerance_from` says who chose the
    tolerance: the command line, the suite, or the data of the baseline.
    """

    value: _Measured = None
    unit: str
    direction: Direction
    gating: _Flag
    values: tuple[_Measured, ...]
    baseline: _Measured = None
    change: _Measured = None
    interval: tuple[_Number, _Number] | None = None
    tolerance: _Measured = None
    tolerance_from: ToleranceSource = ""
    bound: _Measured = None
    minimum_detectable: _Measured = None
    verdict: VerdictName = "recorded"
    reason: str = ""


class RepetitionRecord(_Record):
    """One engine invocation: the folder of its raw files, its wall time in seconds, and what it measured.

    `series` is the target's bandwidth second by second (bytes/s), `histograms` are latencies by direction
    and kind (`read.clat`).
    """

    folder: str = ""
    seconds: _Number | None = None
    metrics: dict[str, _Measured]
    findings: tuple[Finding, ...] = ()
    series: tuple[_Number, ...] = ()
    histograms: dict[str, Histogram] = Field(default_factory=dict)


class WorkloadRecord(_Record):
    """All that is known of one workload; `id` is its pytest id, `where` the place of its declaration.

    `gate` holds the tolerances that the suite declares: worse and better. `measured` are the repetitions
    that count, `repetitions` of them, in `folders`; documents of older versions have none. `warmup` are
    those before the device was steady.
    """

    id: str
    suite: str
    workload: str
    engine: str
    description: str = ""
    where: str = ""
    definition: dict[str, Any]
    gate: dict[str, tuple[_Number | None, _Number | None]] = Field(default_factory=dict)
    verdict: VerdictName
    reason: str
    repetitions: _Count
    device_seconds: Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)] = 0.0
    metrics: dict[str, MetricRecord]
    findings: tuple[Finding, ...] = ()
    differences: tuple[str, ...] = ()
    warmup: tuple[RepetitionRecord, ...] = ()
    folders: tuple[str, ...] = ()
    measured: tuple[RepetitionRecord, ...] = ()

    @property
    def gating(self) -> dict[str, MetricRecord]:
        """The metrics that decide."""
        return {name: item for name, item in self.metrics.items() if item.gating}

    @model_validator(mode="after")
    def _agree(self) -> WorkloadRecord:
        """Refuse a record that says two things of its repetitions."""
        if not self.measured:
            return self
        if len(self.measured) != self.repetitions:
            raise ValueError(f"{len(self.measured)} repetitions are listed, {self.repetitions} counted")
        for name, item in self.metrics.items():
            if item.values != tuple(one.metrics[name] for one in self.measured if name in one.metrics):
                raise ValueError(f"the values of {name} are not those of the repetitions")
        return self


class EnvironmentRecord(_Record):
    """Where the session ran, as `iogate.model.Environment` has it."""

    identity: _Facts = Field(default_factory=dict)
    subject: _Facts = Field(default_factory=dict)
    state: _Facts = Field(default_factory=dict)


class GateRecord(_Record):
    """How sure the gate had to be: the error rates, and the tolerance of the command line if it gave one."""

    alpha: _Number
    beta: _Number
    max_repetitions: _Count
    tolerance: _Number | None = None


class Results(_Record):
    """The results of one session. `versions` are those of iogate, pytest and the engines, by name."""

    version: Literal[1] = Field(alias="schema")
    device: str
    session: str
    environment: EnvironmentRecord = Field(default_factory=EnvironmentRecord)
    versions: _Facts = Field(default_factory=dict)
    gate: GateRecord | None = None
    workloads: tuple[WorkloadRecord, ...]

    def text(self) -> str:
        """Return the document as it is written: JSON, each workload on a line of its own."""
        head = self.model_dump_json(by_alias=True, exclude={"workloads"})
        lines = ",\n".join(item.model_dump_json() for item in self.workloads)
        return f'{head[:-1]},"workloads":[\n{lines}\n]}}\n'

    def write(self, path: Path) -> None:
        """Write the document, whole or not at all. Raises IogateError."""
        write_atomically(path, self.text())

    @classmethod
    def read(cls, path: Path) -> Results:
        """Return the document in a file. Raises InputError with file:line:column for one that is damaged or
        no results document, and for one of another schema.
        """
        try:
            text = path.read_bytes().decode("utf-8-sig")
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise InputError("not a results file: no JSON text", position=Position(str(path))) from error
        data = _parse(text, str(path))
        _check_schema(data, str(path))
        try:
            return check(cls, data)
        except InputErrors as errors:
            raise _locate(errors, text, str(path)) from None


def results_schema() -> dict[str, Any]:
    """Return the JSON Schema of the document."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Results.model_json_schema()}


def _parse(text: str, file: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        position = Position(file, error.lineno, error.colno)
        raise InputError(f"not JSON: {error.msg}", position=position) from error
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, nesting without end
        raise InputError(f"not JSON: {printable(str(error))}", position=Position(file)) from error


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


def _check_schema(data: Any, file: str) -> None:
    if not isinstance(data, dict) or "schema" not in data or not isinstance(data.get("workloads"), list):
        raise InputError("not a results file of iogate", position=Position(file))
    found = data["schema"]
    if type(found) is int and found == SCHEMA:
        return
    newer = type(found) is int and found > SCHEMA
    raise InputError(
        printable(f"results of schema {str(found)[:40]}; iogate {__version__} knows schema {SCHEMA}"),
        position=Position(file),
        remedy="read them with the version of iogate that wrote them" if newer else "",
    )


def _locate(errors: InputErrors, text: str, file: str) -> InputErrors:
    """Return the errors with the lines and columns of the document, which is YAML as any JSON is."""
    try:
        document = yamlio.loads(text, file)
    except InputError:  # too long, or not what YAML takes
        document = yamlio.Document(file, None, {}, {})
    found = []
    for error in errors.errors:
        path = error.path if isinstance(error, OptionError) else ()
        message = f"not results of iogate: {'.'.join(map(str, path))}: {error.message}"
        found.append(InputError(printable(message), position=document.position(path)))
    return InputErrors(found)
