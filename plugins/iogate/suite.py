"""Suites: one YAML file of workloads, expanded and checked before anything runs.

`defaults` hold for every workload of the file; mappings (`gate`, `fio`, `waive`) are merged key by key,
anything else is replaced. A `matrix` expands one declaration into the product of its values. Keys that
iogate does not know itself are the engine's options.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field

from iogate import engines
from iogate.errors import InputError, InputErrors, OptionError, Position
from iogate.model import Tolerance, Workload, metric
from iogate.schema import Schema, check, check_document
from iogate.units import parse_fraction, printable
from iogate.yamlio import Document, Path_, load, nearest

_MAXIMUM_WORKLOADS = 50_000
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_MARKER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_MERGED = ("gate", "fio", "waive")


def _tolerance(value: Any) -> Tolerance | Mapping[str, float | None]:
    """`5%`, `0.05`, null (from the data), or ReFrame's pair of a lower and an upper bound."""
    if value is None:
        return Tolerance()
    if isinstance(value, list):
        if len(value) != 2:
            raise ValueError("a pair of tolerances is [lower, upper], as in [-5%, 10%]")
        lower, upper = (None if bound is None else parse_fraction(bound) for bound in value)
        if (lower is not None and not -1 < lower <= 0) or (upper is not None and upper < 0):
            raise ValueError(
                "a pair of tolerances is [lower, upper] with lower <= 0 <= upper, as in [-5%, 10%]"
            )
        return {"lower": lower, "upper": upper}
    if not isinstance(value, (str, int, float)) or isinstance(value, bool):
        raise ValueError("a tolerance is 5%, 0.05, a pair [lower, upper], or empty to take it from the data")
    tolerance = parse_fraction(value)
    if not 0 < tolerance < 1:
        raise ValueError("a tolerance is above 0% and below 100%")
    return Tolerance(worse=tolerance)


def _gate(value: Any) -> dict[str, Tolerance]:
    """A list of metrics (tolerance from the data), or metrics with their tolerances."""
    if isinstance(value, list):
        value = dict.fromkeys(value)
    if not isinstance(value, Mapping):
        raise ValueError("gate is a mapping of metrics to tolerances, or a list of metrics")
    found: dict[str, Tolerance] = {}
    for name, written in value.items():
        try:
            direction = metric(str(name)).direction
        except KeyError:
            hint = nearest(str(name), _COMMON_METRICS)
            raise ValueError(f"unknown metric {name!r}{hint}") from None
        tolerance = _tolerance(written)
        if isinstance(tolerance, Mapping):
            lower, upper = tolerance["lower"], tolerance["upper"]
            worse, better = (lower, upper) if direction == "higher" else (upper, lower)
            tolerance = Tolerance(_magnitude(worse), _magnitude(better))
        found[str(name)] = tolerance
    return found


def _magnitude(bound: float | None) -> float | None:
    return None if bound is None else abs(bound)


_COMMON_METRICS = [
    f"{direction}.{kind}"
    for direction in ("read", "write", "trim")
    for kind in (
        "iops",
        "bandwidth",
        *(f"{lat}.{stat}" for lat in ("slat", "clat", "lat") for stat in ("mean", "p99")),
    )
] + ["wall_time", "speedup", "efficiency"]


def _named(pattern: re.Pattern[str], what: str, value: Any) -> Any:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise ValueError(f"{value!r} is not a {what}: letters, digits, _ . and - make one")
    return value


Marker = Annotated[str, BeforeValidator(partial(_named, _MARKER, "marker"))]
Gate = Annotated[dict[str, Any], BeforeValidator(_gate)]
Matrix = dict[str, Annotated[list[Any], Field(min_length=1)]]


class WorkloadEntry(Schema):
    """One declared workload; keys that are not here are options of its engine."""

    model_config = ConfigDict(extra="allow", frozen=True)

    engine: str = Field("fio", description="the program that does the I/O")
    description: str = Field("", description="what it is for, in free text")
    markers: list[Marker] = Field([], description="pytest markers, for -m")
    matrix: Matrix = Field({}, description="keys and the values to combine")
    exclude: list[dict[str, Any]] = Field([], description="points of the matrix to leave out")
    gate: Gate = Field({}, description="the metrics that decide, each with its tolerance")
    repetitions: int | None = Field(None, ge=1, le=1000, description="a fixed number of repetitions")
    max_repetitions: int | None = Field(None, ge=2, le=1000, description="the most repetitions to ask for")
    waive: dict[str, str] = Field(
        {}, description="checks of the audit that do not count here, with the reason"
    )


class SuiteFile(Schema):
    """A suite: workloads and what they share."""

    description: str = Field("", description="what the suite is for, in free text")
    defaults: dict[str, Any] = Field({}, description="keys that every workload has unless it says otherwise")
    workloads: dict[str, dict[str, Any] | None] = Field(min_length=1)


@dataclass(frozen=True)
class Suite:
    """A loaded suite; `workloads` in the order of the file, matrices expanded."""

    name: str
    description: str
    workloads: tuple[Workload, ...]


@dataclass(frozen=True)
class _Declaration:
    """One entry of the file: its merged data, and where in the file each key came from."""

    name: str
    data: Mapping[str, Any]
    origin: Mapping[str, Path_]


def load_suite(
    path: Path,
    *,
    name: str | None = None,
    overrides: Mapping[str, Any] | None = None,
    limits: Mapping[str, Any] | None = None,
) -> Suite:
    """The suite of a file; `name` is what messages call the file.

    `overrides` (a device's) replace options of every workload; `limits` (the command line's size and
    runtime) replace those that a workload's engine knows. Raises InputErrors, each with file:line:column.
    """
    document = load(path, name)
    entries = check_document(SuiteFile, document)
    mistakes: list[InputError] = []
    workloads: list[Workload] = []
    expand = partial(_expand, path.stem, document, overrides or {}, limits or {})
    for key, entry in entries.workloads.items():
        try:
            _named(_NAME, "name of a workload", key)
            workloads.extend(expand(_merge(key, entries.defaults, entry or {})))
        except ValueError as error:
            where = document.position(("workloads", key), key=True)
            mistakes.append(InputError(printable(str(error)), position=where))
        except InputErrors as errors:
            mistakes.extend(errors.errors)
        if len(workloads) > _MAXIMUM_WORKLOADS:
            raise InputError(
                f"more than {_MAXIMUM_WORKLOADS} workloads",
                position=document.position(("workloads", key), key=True),
            )
    if mistakes:
        raise InputErrors(_distinct(mistakes))
    return Suite(path.stem, entries.description, tuple(workloads))


def _distinct(errors: list[InputError]) -> list[InputError]:
    """One of each: a mistake in the defaults shows in every workload."""
    return list({str(error): error for error in errors}.values())


def _merge(name: str, defaults: Mapping[str, Any], entry: Mapping[str, Any]) -> _Declaration:
    data: dict[str, Any] = dict(defaults)
    origin: dict[str, Path_] = {key: ("defaults", key) for key in defaults}
    for key, value in entry.items():
        shared = data.get(key)
        if key in _MERGED and isinstance(shared, dict) and isinstance(value, dict):
            value = {**shared, **value}
        data[key] = value
        origin[key] = ("workloads", name, key)
    return _Declaration(name, data, origin)


def _expand(
    suite: str,
    document: Document,
    overrides: Mapping[str, Any],
    limits: Mapping[str, Any],
    declaration: _Declaration,
) -> Iterator[Workload]:
    """The workloads of one declaration. Raises InputErrors with positions."""
    entry = _located(WorkloadEntry, document, declaration, declaration.data)
    axes = list(entry.matrix)
    count = 1
    for values in entry.matrix.values():
        count *= len(values)
    if count > _MAXIMUM_WORKLOADS:
        where = document.position((*declaration.origin["matrix"],), key=True)
        raise InputErrors(
            [InputError(f"the matrix makes {count} workloads: too many to be meant", position=where)]
        )
    for point in itertools.product(*entry.matrix.values()):
        chosen = dict(zip(axes, point, strict=True))
        if any(all(chosen.get(key) == value for key, value in left.items()) for left in entry.exclude):
            continue
        data = {**declaration.data, **chosen, **overrides}
        yield _workload(suite, document, declaration, data, chosen, limits)


def _workload(
    suite: str,
    document: Document,
    declaration: _Declaration,
    data: Mapping[str, Any],
    chosen: Mapping[str, Any],
    limits: Mapping[str, Any],
) -> Workload:
    entry = _located(WorkloadEntry, document, declaration, data, chosen)
    where = document.position(("workloads", declaration.name), key=True)
    try:
        engine = engines.load(entry.engine)
    except KeyError:
        hint = nearest(entry.engine, engines.names()) or f"; there are {', '.join(engines.names())}"
        at = document.position(declaration.origin.get("engine", ("workloads", declaration.name)))
        raise InputErrors(
            [InputError(f"unknown engine {printable(entry.engine)!r}{hint}", position=at)]
        ) from None
    given = dict(entry.model_extra or {})
    try:
        options = engine.options(given)
        known = {key: value for key, value in limits.items() if key in options}
        if known:
            options = engine.options({**given, **known})
    except InputErrors as errors:
        raise InputErrors(
            [_place(error, document, declaration, chosen, engine) for error in errors.errors]
        ) from None
    label = f"[{','.join(f'{key}={_label(value)}' for key, value in chosen.items())}]" if chosen else ""
    return Workload(
        name=f"{declaration.name}{label}",
        suite=suite,
        engine=entry.engine,
        options=options,
        position=where,
        description=entry.description,
        markers=tuple(entry.markers),
        gate=entry.gate,
        repetitions=entry.repetitions,
        max_repetitions=entry.max_repetitions,
        waive=entry.waive,
    )


def _label(value: Any) -> str:
    """A matrix value as it reads in a pytest id: mappings as `readers:3/writers:1`, no brackets, no control
    characters.
    """
    if isinstance(value, Mapping):
        return "/".join(f"{key}:{_label(item)}" for key, item in value.items())
    if isinstance(value, list):
        return "/".join(_label(item) for item in value)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return re.sub(r"[\[\],\s]|::", "_", printable(text))


def _located(
    shape: type[WorkloadEntry],
    document: Document,
    declaration: _Declaration,
    data: Mapping[str, Any],
    chosen: Mapping[str, Any] | None = None,
) -> WorkloadEntry:
    try:
        return check(shape, data)
    except InputErrors as errors:
        raise InputErrors(
            [_place(error, document, declaration, chosen or {}) for error in errors.errors]
        ) from None


def _place(
    error: InputError,
    document: Document,
    declaration: _Declaration,
    chosen: Mapping[str, Any],
    engine: engines.Engine | None = None,
) -> InputError:
    """The same error with the position of the key at fault: in the matrix, the workload, or the defaults."""
    if not isinstance(error, OptionError) or error.position is not None:
        return error
    key = str(error.path[0]) if error.path else ""
    path: Path_ = ("workloads", declaration.name)
    if key in chosen:
        axis = (*declaration.origin["matrix"], key)
        values = list(declaration.data["matrix"][key])
        path = (*axis, values.index(chosen[key]), *error.path[1:])
    elif key in declaration.origin:
        path = (*declaration.origin[key], *error.path[1:])
    message, remedy = error.message, error.remedy
    if engine and error.key and len(error.path) == 1:
        known = [*WorkloadEntry.model_fields, *engine.schema()["properties"]]
        message = f"unknown key {printable(key)!r}{nearest(key, known)}"
        remedy = f"the keys of a workload: {', '.join(sorted(known))}"
    where: Position = document.position(path, key=error.key)
    return OptionError(message, error.path, key=error.key, position=where, remedy=remedy)
