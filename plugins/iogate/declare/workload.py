"""One declared workload: the keys that every engine's workloads share, and the options of its engine."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    model_validator,
)
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_before_validator_function

from iogate import engines
from iogate.declare.against import check_figures, insisting, options_against, within_against
from iogate.declare.gate import check_directions, chosen, read_gate
from iogate.errors import InputError, InputErrors, OptionError, Position
from iogate.formats.attachment import Attachment, read_attachment
from iogate.formats.schema import KNOWN, Fraction, Schema, check
from iogate.formats.words import nearest, value_text
from iogate.model import Workload
from iogate.units import one_line, printable

PILOT_SECONDS = 20
"""The length of the first repetition where `runtime: auto` lets it tell how long the others should be."""

_MARKER = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}")  # pytest keeps those with _ before to itself
_PYTESTS_OWN = frozenset(
    {"skip", "skipif", "xfail", "usefixtures", "parametrize", "filterwarnings", "tryfirst", "trylast"}
)


def _check_name(pattern: re.Pattern[str], what: str, value: Any) -> Any:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise ValueError(f"{value_text(value)} is not a {what}: letters, digits, _ . and - make one")
    return value


def _check_marker(value: Any) -> Any:
    name = _check_name(_MARKER, "marker", value)
    if name in _PYTESTS_OWN:
        raise ValueError(
            f"{name!r} means something to pytest, and a workload's markers are for people, and for -m: "
            "leave a workload out with another one, as in -m 'not quarantined', with -k or --deselect"
        )
    return name


Marker = Annotated[str, BeforeValidator(_check_marker)]


def _waivers(value: Any) -> Any:
    """Check that waivers name checks that exist, each with a reason."""
    if not isinstance(value, dict) or not value:
        return value
    from iogate.audit import CHECKS

    for name, reason in value.items():
        if name not in CHECKS:
            raise ValueError(f"unknown check {name!r}{nearest(str(name), CHECKS)}")
        if not isinstance(reason, str) or not reason.strip():
            raise ValueError(f"{name} needs a reason why it does not count here")
    return {name: one_line(" ".join(reason.split())) for name, reason in value.items()}


Waivers = Annotated[dict[str, str], BeforeValidator(_waivers)]
GateMetrics = Annotated[dict[str, Any], BeforeValidator(read_gate)]
Matrix = dict[str, Annotated[list[Any], Field(min_length=1)]]


class SteadyState(Schema):
    """When the device is steady (SNIA PTS): the window's range and trend against its mean."""

    rounds: int = Field(5, ge=3, le=100, description="repetitions in a row that must be steady")
    range: Fraction = Field(0.20, description="the most that they may range over")
    slope: Fraction = Field(0.10, description="the most that their trend may move over the window")
    max_rounds: int = Field(25, ge=3, le=1000, description="the most repetitions to wait for it")

    @model_validator(mode="after")
    def _waits_long_enough(self) -> SteadyState:
        if self.max_rounds < self.rounds:
            raise ValueError(
                f"max_rounds is {self.max_rounds}, less than the {self.rounds} rounds that must be steady"
            )
        return self


class Precondition(Schema):
    """How the device is brought to rest before the first repetition."""

    fill: int = Field(2, ge=0, le=10, description="how often all data are written in sequence")
    random: bool = Field(True, description="then write at random until steady")


class _Switch:
    """Mark of a mapping whose defaults `true` asks for, and `false` for none of it."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_before_validator_function(
            lambda value: ({} if value else None) if isinstance(value, bool) else value, handler(source)
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"anyOf": [{"type": "boolean"}, handler(schema)]}


class WorkloadEntry(Schema):
    """One declared workload; keys that are not here are options of its engine."""

    model_config = ConfigDict(extra="allow", frozen=True)

    engine: str = Field(engines.DEFAULT, description="the program that does the I/O")
    description: str = Field("", description="what it is for, in free text")
    markers: list[Marker] = Field([], description="pytest markers, for -m")
    matrix: Matrix = Field({}, description="keys and the values to combine")
    exclude: list[dict[str, Any]] = Field([], description="points of the matrix to leave out")
    gate: GateMetrics = Field({}, description="the metrics that decide, each with its tolerance")
    repetitions: int | None = Field(None, ge=1, le=1000, description="a fixed number of repetitions")
    max_repetitions: int | None = Field(None, ge=2, le=1000, description="the most repetitions to ask for")
    steady_state: Annotated[SteadyState | None, _Switch] = Field(
        None, description="repeat until steady, and judge from there; true: by the defaults"
    )
    precondition: Annotated[Precondition | None, _Switch] = Field(
        None, description="bring the device to rest before; true: by the defaults"
    )
    against: dict[str, Any] | None = Field(
        None, description="options of the same workload that it is held against, measured by turns"
    )
    waive: Waivers = Field({}, description="checks of the audit that do not count here, with the reason")


def declare_workload(
    name: str,
    suite: str,
    data: Mapping[str, Any],
    position: Position,
    cli_overrides: Mapping[str, Any],
    *,
    allow_exec: bool = False,
    folder: Path | None = None,
) -> Workload:
    """Make the workload that these keys declare. `cli_overrides` replace those options that its engine knows.
    Options that run commands are refused unless `allow_exec`; those that name files are read below `folder`.

    Raises InputErrors of OptionError, with paths within `data`.
    """
    try:
        entry = check(WorkloadEntry, data)
    except InputErrors as errors:
        raise InputErrors([*errors.errors, *_mistaken_options(data)]) from None
    try:
        engine = engines.load(entry.engine)
    except KeyError:
        hint = nearest(entry.engine, engines.names()) or f"; there are {', '.join(engines.names())}"
        message = f"unknown engine {printable(entry.engine)!r}{hint}"
        raise InputErrors([OptionError(message, ("engine",))]) from None
    except InputError as error:  # a broken package of others
        raise InputErrors([OptionError(error.message, ("engine",), remedy=error.remedy)]) from error
    given = dict(entry.model_extra or {})
    procedure, where = _procedure(entry), f"{position.file}:{position.line}: {name}"
    if given.get("runtime") == "auto":
        if "runtime" in cli_overrides:
            given["runtime"] = cli_overrides["runtime"]
        else:
            procedure["runtime"] = "auto"
            given["runtime"] = PILOT_SECONDS
        if "time_based" in engines.known_options(entry.engine):
            given["time_based"] = True
    try:
        known = {
            key: value for key, value in cli_overrides.items() if key in engines.known_options(entry.engine)
        }
        files = _attachments(engine, given, folder, {})
        given |= files
        if files:  # what they leave out the command line may say
            given = insisting(given, known)
        options = engine.options(given)
        if known:
            shorter = _shorter_rest(options, known)
            options = _overridden(engine, insisting(given, {**known, **shorter}), known, where)
        against = options_against(engine, {**given, **known}, entry.against, WorkloadEntry.model_fields)
        if "runtime" in procedure and "runtime" not in options:
            raise InputErrors([OptionError("runtime: auto is for workloads of one runtime", ("runtime",))])
        if entry.precondition and "size" not in options:
            raise InputErrors([OptionError("precondition is for workloads of one size", ("precondition",))])
        commands = _commands(engine, options)
        if against:
            commands += [within_against(item, entry.against or {}) for item in _commands(engine, against)]
        if commands and not allow_exec:
            raise InputErrors(commands)
        notes = engine.left_out(given) if files and isinstance(engine, engines.ReadsJobFiles) else ()
        workload = Workload(
            name=name,
            suite=suite,
            engine=entry.engine,
            options=options,
            position=position,
            description=entry.description,
            markers=tuple(entry.markers),
            gate=entry.gate,
            repetitions=entry.repetitions,
            max_repetitions=entry.max_repetitions,
            waive=entry.waive,
            procedure=procedure,
            against=against,
            notes=tuple(notes),
        )
        workload = replace(workload, gate=chosen(engine, workload))
        check_directions(engine, workload)
        check_figures(engine, workload)
    except InputErrors as errors:
        raise InputErrors([_with_hint(error, engine) for error in errors.errors]) from None
    return workload


def _commands(engine: engines.Engine, options: Mapping[str, Any]) -> list[OptionError]:
    """Return the options that run commands."""
    return engine.commands(options) if isinstance(engine, engines.RunsCommands) else []


def _mistaken_options(data: Mapping[str, Any]) -> list[InputError]:
    """Return what else is wrong where the shared keys are: the options of the engine, as far as they can be
    looked at alone.
    """
    given = {key: value for key, value in data.items() if key not in WorkloadEntry.model_fields}
    try:
        engine = engines.load(str(data.get("engine", engines.DEFAULT)))
        files = engine.attachments if isinstance(engine, engines.TakesFiles) else ()
        if given.get("runtime") != "auto" and not any(key in given for key in files):
            engine.options(given)
    except InputErrors as errors:
        return [_with_hint(error, engine) for error in errors.errors]
    except (InputError, KeyError):  # an engine that is not known is told when the rest is right
        pass
    return []


def declared_parts(
    data: Mapping[str, Any], yielding: Collection[str], folder: Path, variables: Mapping[str, str]
) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the workloads that the keys of one declaration stand for, each with what tells it apart: several
    where a file that they name says so. The `variables` are for those files, which hold instead of what is
    `yielding`: defaults that stand for other workloads, too. Raises InputErrors of OptionError.
    """
    try:
        engine = engines.load(data.get("engine", engines.DEFAULT))
    except (KeyError, TypeError, InputError):
        return [("", data)]  # it is told when the workload is declared
    files = _attachments(engine, data, folder, variables)
    if not files.keys() & yielding:  # else the file is a default, too
        files = {key: replace(file, yielding=frozenset(yielding)) for key, file in files.items()}
    if not files or not isinstance(engine, engines.ReadsJobFiles):
        return [("", {**data, **files})]
    return [(label, {**data, **files, **part}) for label, part in engine.phases({**data, **files})]


def _attachments(
    engine: engines.Engine, given: Mapping[str, Any], folder: Path | None, variables: Mapping[str, str]
) -> dict[str, Attachment]:
    """Return what options that name files stand for. Raises InputErrors."""
    found = {}
    for key in engine.attachments if isinstance(engine, engines.TakesFiles) else ():
        if key not in given:
            continue
        if isinstance(given[key], Attachment):
            found[key] = given[key]
            continue
        try:
            if folder is None or not isinstance(given[key], str):
                raise InputError(f"{key} is a path below the folder of a suite")
            found[key] = replace(read_attachment(folder, given[key]), variables=variables)
        except InputError as error:
            mistake = OptionError(error.message, (key,), remedy=error.remedy)
            raise InputErrors([mistake]) from None
    return found


def _shorter_rest(options: Mapping[str, Any], cli_overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rest before a run whose length the command line sets: no longer than the run itself."""
    rest, runtime = options.get("startdelay") or 0, cli_overrides.get("runtime")
    return {"startdelay": runtime} if runtime is not None and rest > runtime else {}


def _procedure(entry: WorkloadEntry) -> dict[str, Any]:
    """Return how the device is brought to rest, in plain types."""
    steps = {"steady_state": entry.steady_state, "precondition": entry.precondition}
    return {name: step.model_dump() for name, step in steps.items() if step}


def _overridden(
    engine: engines.Engine, given: Mapping[str, Any], known: Mapping[str, Any], where: str
) -> dict[str, Any]:
    """Return the engine's options where the command line sets some that are `known`. Raises InputErrors that
    blame it: without it these options are sound.
    """
    try:
        return engine.options(given)
    except InputErrors as errors:
        flags = " ".join(
            f"--io-{key}={value:g}" if isinstance(value, float) else f"--io-{key}={value}"
            for key, value in known.items()
        )
        raise InputErrors(
            [
                InputError(f"{flags}: does not fit {where}: {error.message}", remedy=error.remedy)
                for error in errors.errors
            ]
        ) from None


def _with_hint(error: InputError, engine: engines.Engine) -> InputError:
    """Return an engine's word on an unknown key, with the shared keys among those that may have been
    meant.
    """
    if not isinstance(error, OptionError) or not error.key or len(error.path) != 1:
        return error
    word = str(error.path[0])
    known = [*WorkloadEntry.model_fields, *engine.schema()["properties"]]
    hint = nearest(word, known)
    advice = [] if error.remedy.startswith(KNOWN) else [error.remedy]
    names = [] if hint else [f"the keys of a workload: {', '.join(sorted(known))}"]
    remedy = "; ".join(filter(None, [*advice, *names]))
    return OptionError(f"unknown key {printable(word)!r}{hint}", error.path, key=True, remedy=remedy)
