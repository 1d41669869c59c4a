"""The results document, schema 1: all that a session found out, and all that a report, a comparison or a
history reads of it.

Within a schema keys may be added: a reader passes over those that it does not know, and an older document
lacks those that have a default here. What changes its meaning gets another schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache, cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NoReturn, TypeVar

from pydantic import AfterValidator, FailFast, Field, TypeAdapter

from iogate import __version__
from iogate.errors import InputError, InputErrors, OptionError, Position
from iogate.formats import yamlio
from iogate.formats.atomic import write_atomically
from iogate.formats.reading import read_at_once, read_input
from iogate.formats.schema import check_value
from iogate.model import MOST, Direction, Environment, Finding, Histogram, PairFacts, Slice, VerdictName
from iogate.units import printable, unbroken

SCHEMA: Final = 1
LARGEST: Final = 256 * 2**20
"""Bytes of the largest document that is read; a session of 500 workloads takes 17 MiB."""

_KEYS: Final = frozenset({"schema", "device", "session", "workloads"})
_OTHER_LINES: Final = re.compile(r'\\[ntu]|["\s]::')
"""Whether there may be texts in a document that are not one line as `one_line` has it."""
ToleranceSource = Literal["", "command line", "suite", "data"]

# Plain dataclasses: a run writes only, and pydantic takes 10 ms to make models that can be read.
_Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
_Seconds = Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)]
_Measured = _Number | None
"""A figure; None for one that is not finite, which JSON cannot say."""
_Count = Annotated[int, Field(strict=True, ge=0)]
_Flag = Annotated[bool, Field(strict=True)]
_Item = TypeVar("_Item")
_All = Annotated[tuple[_Item, ...], FailFast()]
"""A list; the first wrong item is told: each mistake takes a kilobyte, and two bytes of a file."""


def _possible(item: Slice) -> Slice:
    """Refuse a slice whose figures are no times or bytes that can be reckoned with."""
    figures = (item.start, item.seconds, item.read, item.written, item.other)
    if not all(abs(figure) <= MOST for figure in figures) or item.seconds < 0:
        raise ValueError("a slice of times or bytes without end")
    return item


def _lasting(pair: PairFacts) -> PairFacts:
    """Refuse slices of a pair that last no time that can be reckoned with."""
    if not 0 <= pair.slice <= MOST:
        raise ValueError("slices of a time without end")
    return pair


@dataclass(frozen=True)
class MetricRecord:
    """What was measured of a metric and what the gate says of it, as `iogate.model.MetricVerdict` has it.

    `values` are those of the repetitions that have the metric, `sessions` the baseline's by session. Of a
    pair `value` is arm B's, `baseline` arm A's. `tolerance_from` says who chose the tolerance: the command
    line, the suite, or the data of the baseline; nobody (empty) that of a pair for which it is the usual one.
    """

    unit: str
    direction: Direction
    gating: _Flag
    values: _All[_Measured]
    value: _Measured = None
    baseline: _Measured = None
    change: _Measured = None
    interval: tuple[_Number, _Number] | None = None
    tolerance: _Measured = None
    tolerance_from: ToleranceSource = ""
    bound: _Measured = None
    minimum_detectable: _Measured = None
    passes: _Measured = None
    fails: _Measured = None
    verdict: VerdictName = "recorded"
    reason: str = ""
    place_effect: _Measured = None
    noise: _Measured = None
    sessions: Mapping[str, _All[_Measured]] = field(default_factory=dict)


@dataclass(frozen=True)
class RepetitionRecord:
    """One engine invocation: the folder of its raw files, its wall time in seconds, and what it measured.

    `series` is the target's bandwidth second by second (bytes/s), `histograms` are latencies by direction
    and kind (`read.clat`). Of a pair it is a block, as `iogate.model.Repetition` has it: `base` is what arm A
    did in it. `worked` is for how many seconds its session had measured before.
    """

    metrics: Mapping[str, _Measured]
    folder: str = ""
    seconds: _Seconds | None = None
    findings: _All[Finding] = ()
    series: _All[_Number] = ()
    histograms: Mapping[str, Histogram] = field(default_factory=dict)
    base: RepetitionRecord | None = None
    swapped: _Flag = False
    seed: _Count = 0
    slices: _All[Annotated[Slice, AfterValidator(_possible)]] = ()
    worked: _Seconds | None = None


@dataclass(frozen=True)
class WorkloadRecord:
    """All that is known of one workload; `id` is its pytest id, `where` the place of its declaration.

    `gate` holds the tolerances that the suite declares: worse and better. `measured` are the repetitions
    that count, `repetitions` of them, in `folders`; documents of older versions have none. `warmup` are
    those before the device was steady. `pair` says what arm A is, where there was one, `keep` that
    what was measured became a baseline, or part of it. `command` is the last that was run, as in a shell, and
    `files` (name to text) what it read. `runtime` is the seconds of a repetition, where `runtime: auto` chose
    them.
    """

    id: str
    suite: str
    workload: str
    engine: str
    definition: Mapping[str, Any]
    verdict: VerdictName
    reason: str
    repetitions: _Count
    metrics: Mapping[str, MetricRecord]
    description: str = ""
    where: str = ""
    gate: Mapping[str, tuple[_Number | None, _Number | None]] = field(default_factory=dict)
    device_seconds: _Seconds = 0.0
    findings: _All[Finding] = ()
    differences: _All[str] = ()
    warmup: _All[RepetitionRecord] = ()
    folders: _All[str] = ()
    measured: _All[RepetitionRecord] = ()
    pair: Annotated[PairFacts, AfterValidator(_lasting)] | None = None
    keep: _Flag = False
    command: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    runtime: _Seconds | None = None

    @property
    def gating(self) -> dict[str, MetricRecord]:
        """The metrics that decide."""
        return {name: item for name, item in self.metrics.items() if item.gating}

    @cached_property
    def line(self) -> str:
        """The record as JSON on one line; made once, as a session writes it again after each workload."""
        return _json(self)

    @cached_property
    def digest(self) -> str:
        """A digest of the record, the same once it was written and read; made once, too."""
        return _digest(self.line)


def _agree(record: WorkloadRecord) -> WorkloadRecord:
    """Return a record that does not say two things of its repetitions. Raises ValueError."""
    if not record.measured:
        return record
    if len(record.measured) != record.repetitions:
        raise ValueError(f"repetitions: {len(record.measured)} are listed, {record.repetitions} counted")
    for name, item in record.metrics.items():
        if item.values != tuple(one.metrics[name] for one in record.measured if name in one.metrics):
            raise ValueError(f"the values of {name} are not those of the repetitions")
    return record


@dataclass(frozen=True)
class NoiseRecord:
    """What the gate learnt from all baselines of the device: the noise between sessions and between
    repetitions (0.01 is 1%), and how many degrees of freedom that is worth to one workload.
    """

    text: str
    session: _Number
    session_degrees: _Number
    repetition: _Number
    repetition_degrees: _Number
    workloads: _Count
    sessions: _Count


@dataclass(frozen=True)
class GateRecord:
    """How sure the gate had to be: the error rates, and the tolerance of the command line if it gave one.

    `noise` is what it borrowed from all baselines of the device (None: nothing).
    """

    alpha: _Number
    beta: _Number
    max_repetitions: _Count
    tolerance: _Number | None = None
    noise: NoiseRecord | None = None


@dataclass(frozen=True)
class RunRecord:
    """What a run was to decide about, so that another one can go on with it (`--io-resume`).

    `selection` are its workloads, those of suites, and what tests in Python have measured: a hash of each
    declaration, by id. Those in `open` are not decided, or not reported. `tests` are the tests in Python that
    measure, and whether each came to its end. `options` are those of the command line that change what is
    measured or decided.
    `ended` says whether it came to its end: its baselines are written, and all is told. `commit` is the one
    that the project was at, and `seal` shows that this machine wrote the verdicts (`iogate.report.origin`).
    `images` are what the images of a pair were when it began, by option.
    """

    selection: Mapping[str, str]
    open: _All[str] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    ended: bool = True
    commit: str = ""
    seal: str = ""
    tests: Mapping[str, _Flag] = field(default_factory=dict)
    images: Mapping[str, str] = field(default_factory=dict)

    @property
    def unfinished(self) -> bool:
        """Whether something is left to do, or to tell."""
        return bool(self.open) or not self.ended or not all(self.tests.values())

    @property
    def suites(self) -> set[str]:
        """The ids of the workloads of suites: those that no test in Python has measured."""
        return {id for id in self.selection if not any(_is_of(id, test) for test in self.tests)}


def _is_of(id: str, test: str) -> bool:
    """Return whether a workload is what a test in Python measures, by their ids."""
    return id == test or id.startswith(f"{test}.")


@dataclass(frozen=True)
class Results:
    """The results of one session. `versions` are those of iogate, pytest and the engines, by name."""

    schema: Literal[1]
    device: str
    session: str
    workloads: _All[Annotated[WorkloadRecord, AfterValidator(_agree)]]
    environment: Environment = field(default_factory=Environment)
    versions: Mapping[str, str] = field(default_factory=dict)
    gate: GateRecord | None = None
    run: RunRecord | None = None

    @property
    def begun(self) -> Mapping[str, bool]:
        """The ids of the run's workloads and tests in Python: whether the session came to them."""
        if self.run is None:
            return {}
        left = {*self.run.open, *(test for test, ended in self.run.tests.items() if not ended)}
        found = [workload.id for workload in self.workloads]
        known = dict.fromkeys([*self.run.selection, *self.run.open, *self.run.tests])
        return {one: one not in left or any(_is_of(id, one) for id in found) for one in known}

    @property
    def _head(self) -> str:
        return _json(
            {item.name: getattr(self, item.name) for item in fields(self) if item.name != "workloads"}
        )

    def text(self) -> str:
        """Return the document as it is written: JSON, each workload on a line of its own."""
        lines = ",\n".join(item.line for item in self.workloads)
        return f'{self._head[:-1]},"workloads":[\n{lines}\n]}}\n'

    def digests(self) -> list[str]:
        """Return digests of the document's parts, the same once it was written and read."""
        return [_digest(self._head), *(item.digest for item in self.workloads)]

    def write(self, path: Path) -> None:
        """Write the document, whole or not at all. Raises IogateError."""
        write_atomically(path, self.text())

    @classmethod
    def read(cls, path: Path) -> Results:
        """Return the document in a file. Raises InputError with file:line:column for one that is damaged or
        no results document, and for one of another schema.
        """
        return cls.parse(read_input(path, LARGEST), str(path))

    @classmethod
    def parse(cls, data: bytes, file: str) -> Results:
        """Return the document in the bytes of a file, as `read` does."""
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError("not a results file: no JSON text", position=Position(file)) from error
        found = _parse(text, file)
        _check_schema(found, file)
        try:
            return check_value(_shape(), found)
        except InputErrors as errors:
            raise _locate(errors, text, file) from None


def is_results(path: Path) -> bool:
    """Return whether a file is a results document, of whatever schema, or empty as mktemp(1) makes it."""
    try:
        if path.stat().st_size > LARGEST:
            return False
        text = read_at_once(path, LARGEST).decode("utf-8-sig")
        found = _parse(text, str(path)) if text else None
    except (OSError, UnicodeDecodeError, InputError):
        return False
    return not text or (isinstance(found, dict) and found.keys() >= _KEYS)


@cache
def _shape() -> TypeAdapter[Results]:
    return TypeAdapter(Results)


def _json(value: Any) -> str:
    """Return a value as JSON; text that is no Unicode, as names of files can be, gets a `?`."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_mapping, separators=(",", ":"))
    return text.encode("utf-8", errors="replace").decode()


def _digest(text: str) -> str:
    """Return a digest of JSON in which a whole number is the same as an integer."""
    plain = json.dumps(_record_in_lines(json.loads(text, parse_int=float)), sort_keys=True)
    return blake2b(plain.encode(), digest_size=32).hexdigest()


def _mapping(value: Any) -> dict[str, Any]:
    if is_dataclass(value):
        return {item.name: getattr(value, item.name) for item in fields(value)}
    return dict(value)


def results_schema() -> dict[str, Any]:
    """Return the JSON Schema of the document."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_shape().json_schema()}


def _parse(text: str, file: str) -> Any:
    try:
        found = json.loads(text, parse_constant=_refuse_constant)
        workloads = found.get("workloads") if isinstance(found, dict) else None
        if not isinstance(workloads, list) or not _OTHER_LINES.search(text):
            return found
        return {**_in_lines({**found, "workloads": ()}), "workloads": [*map(_record_in_lines, workloads)]}
    except json.JSONDecodeError as error:
        position = Position(file, error.lineno, error.colno)
        raise InputError(f"not JSON: {error.msg}", position=position) from error
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, nesting without end
        raise InputError(f"not JSON: {printable(str(error))}", position=Position(file)) from error


def _record_in_lines(data: Any) -> Any:
    """Return what a document says of a workload with each text on one line, but for its reason, which is of
    our own lines, and the files that an engine read.
    """
    found = _in_lines(data)
    if isinstance(data, dict):
        found |= {"files": data["files"]} if "files" in data else {}
        found |= (
            {"reason": "\n".join(map(unbroken, data["reason"].split("\n")))}
            if isinstance(data.get("reason"), str)
            else {}
        )
    return found


def _in_lines(data: Any) -> Any:
    if isinstance(data, dict):
        return {unbroken(key): _in_lines(item) for key, item in data.items()}
    if isinstance(data, list):
        return [_in_lines(item) for item in data]
    return unbroken(data) if isinstance(data, str) else data


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
        within = f"{'.'.join(map(str, path))}: " if path else ""
        message = f"not results of iogate: {within}{error.message}"
        found.append(InputError(printable(message), position=document.position(path)))
    return InputErrors(found)
