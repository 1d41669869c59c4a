"""Suites: one YAML file of workloads, expanded and checked before anything runs.

`defaults` hold for every workload of the file. A `matrix` expands one declaration into the product of its
values. Mappings (`gate`, `waive`, and the options passed through to the engine, under its name) are merged
key by key, also with what a device's profile sets; anything else is replaced.
"""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from iogate import engines
from iogate.declare.overrides import Overrides, check_expanded, merged
from iogate.declare.workload import declare_workload, declared_parts
from iogate.errors import InputError, InputErrors, OptionError
from iogate.formats.reading import Held
from iogate.formats.schema import MOST, Schema, check_document
from iogate.formats.yamlio import Document, Path_, load
from iogate.model import Workload
from iogate.units import printable

_MAXIMUM_WORKLOADS = 50_000
_MOST_COMPARISONS = 20_000_000  # of points of a matrix with what is excluded: they take three seconds
_MOST_VALUES = 4_000_000  # of all workloads together: they take half a minute, and 300 MB
_EXPANDED = frozenset({"matrix", "exclude"})  # of these each workload has a point
_LONGEST_LABEL = 300  # of a value of a matrix
_MOST_VARIABLES = 256
_LONGEST_VALUE = 4000  # of a variable, which a line of a job file may have many times
_VARIABLE = re.compile(r"[A-Za-z_]\w{0,99}", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


def _variables(value: Any) -> Any:
    """Read the variables of job files: plain values by name."""
    for name, text in value.items() if isinstance(value, dict) else ():
        if not isinstance(name, str) or not _VARIABLE.fullmatch(name):
            raise ValueError(f"{name!r} is not the name of a variable: letters, digits and _ make one")
        if not isinstance(text, (str, int, float)) or printable(str(text)) != str(text) or "\n" in str(text):
            raise ValueError(f"{name} is one line of text, a number, true or false")
        if len(str(text)) > _LONGEST_VALUE:
            raise ValueError(f"{name} is longer than a line of a job file, {_LONGEST_VALUE} characters")
    if not isinstance(value, dict):
        return value
    if len(value) > _MOST_VARIABLES:
        raise ValueError(f"{len(value)} variables: at most {_MOST_VARIABLES} can be meant")
    return {key: str(int(text) if isinstance(text, bool) else text) for key, text in value.items()}


Variables = Annotated[dict[str, str], BeforeValidator(_variables)]


class SuiteFile(Schema):
    """A suite: workloads and what they share."""

    description: str = Field("", description="what the suite is for, in free text")
    defaults: dict[str, Any] = Field({}, description="keys that every workload has unless it says otherwise")
    variables: Variables = Field({}, description="what stands for ${NAME} in the job files of the suite")
    workloads: dict[str, dict[str, Any] | None] = Field(min_length=1)


@dataclass(frozen=True)
class Suite:
    """A loaded suite; `workloads` in the order of the file, matrices expanded."""

    name: str
    description: str
    workloads: tuple[Workload, ...]


@dataclass(frozen=True)
class _Declaration:
    """One entry of the file: its merged data, where in the file each key came from, and which options are
    those of the defaults alone.
    """

    name: str
    data: Mapping[str, Any]
    origin: Mapping[str, Path_]
    yielding: frozenset[str]


def load_suite(
    path: Path,
    *,
    suite: str = "",
    name: str | None = None,
    file: Held | None = None,
    overrides: Overrides | None = None,
    cli_overrides: Mapping[str, Any] | None = None,
    allow_exec: bool = False,
) -> Suite:
    """Return the suite of a file, called `suite` (if not given: as the file, without its suffix); `name` is
    what messages call the file, `file` the file itself, if somebody holds it.

    `overrides` (a device's) replace options of every workload; `cli_overrides` (size and runtime of the
    command line) replace those that a workload's engine knows; `allow_exec` lets options run commands. Raises
    InputErrors, each with file:line:column.
    """
    document = load(file.path if file else path, name or str(path))
    folder = file.folder if file else Path(os.path.realpath(path.parent))
    entries = check_document(SuiteFile, document)
    suite = suite or path.stem
    mistakes: list[InputError] = []
    workloads: list[Workload] = []
    overrides = overrides or Overrides()
    instead = {**overrides.options, **(cli_overrides or {})}
    declare = partial(
        declare_workload, cli_overrides=cli_overrides or {}, allow_exec=allow_exec, folder=folder
    )
    parts = partial(declared_parts, folder=folder, variables=entries.variables)
    compared = weight = 0
    for key, entry in entries.workloads.items():
        if len(mistakes) > MOST:
            mistakes.append(InputError("what else is wrong is not shown", position=document.position(())))
            break
        declaration = _merge(key, entries.defaults, entry or {})
        compared += _comparisons(declaration)
        if compared > _MOST_COMPARISONS:
            where = document.position(("workloads", key), key=True)
            message, remedy = "more points and exclusions than can be meant", "name smaller matrices"
            mistakes.append(InputError(message, position=where, remedy=remedy))
            break
        said = sum(_weight(value) for name, value in declaration.data.items() if name not in _EXPANDED)
        try:
            for workload in _expand(suite, document, declaration, overrides, instead, declare, parts):
                workloads.append(workload)
                weight += said + _weight(_expanded(workload))
                if len(workloads) > _MAXIMUM_WORKLOADS:
                    raise InputErrors([_too_many(document, key, f"more than {_MAXIMUM_WORKLOADS}")])
                if weight > _MOST_VALUES:
                    break
        except InputErrors as errors:
            mistakes += errors.errors
        if weight > _MOST_VALUES:
            where = document.position(("workloads", key), key=True)
            message, remedy = "more options, with defaults and job files, than can be meant", "say fewer"
            mistakes.append(InputError(message, position=where, remedy=remedy))
            break
    if mistakes := mistakes or list(_namesakes(workloads)):
        raise InputErrors(_distinct(mistakes))
    return Suite(suite, entries.description, tuple(workloads))


def _expanded(workload: Workload) -> list[Any]:
    """Return what of a workload is its own, beside what its declaration says."""
    return [workload.name, workload.options, workload.against or {}, workload.notes]


def _weight(value: Any) -> int:
    """Return how many values there are; long texts count for more."""
    if isinstance(value, Mapping):
        return sum(_weight(item) for item in value.values())
    if isinstance(value, list | tuple):
        return sum(map(_weight, value))
    return 1 + len(value) // 100 if isinstance(value, str) else 1


def _too_many(document: Document, key: str, count: object) -> InputError:
    where = document.position(("workloads", key), key=True)
    return InputError(f"{count} workloads: too many to be meant", position=where)


def _namesakes(workloads: Sequence[Workload]) -> Iterator[InputError]:
    """Yield workloads of a name that an earlier one has: they would share a baseline."""
    seen: set[str] = set()
    for workload in workloads:
        if workload.name in seen:
            message = f"two workloads would be called {workload.name!r}"
            yield InputError(message, position=workload.position, remedy="give them other names or labels")
        seen.add(workload.name)


def _distinct(errors: list[InputError]) -> list[InputError]:
    """Return one of each: a mistake in the defaults shows in every workload."""
    return list({str(error): error for error in errors}.values())


def _merge(name: str, defaults: Mapping[str, Any], entry: Mapping[str, Any]) -> _Declaration:
    origin: dict[str, Path_] = {key: ("defaults", key) for key in defaults}
    origin |= {key: ("workloads", name, key) for key in entry}
    return _Declaration(name, merged(defaults, entry), origin, _options(defaults) - _options(entry))


def _options(data: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of options, those that are passed through, too."""
    own = (key for key, value in data.items() if not isinstance(value, Mapping))
    passed = (value for key, value in data.items() if key in engines.names() and isinstance(value, Mapping))
    return frozenset(own).union(*passed)


def _expand(
    suite: str,
    document: Document,
    declaration: _Declaration,
    overrides: Overrides,
    instead: Mapping[str, Any],
    declare: Callable[..., Workload],
    parts: Callable[[Mapping[str, Any], Collection[str]], list[tuple[str, Mapping[str, Any]]]],
) -> Iterator[Workload]:
    """Yield the workloads of one declaration; `instead` is what holds whatever it says. Raises InputErrors
    with positions.
    """
    name = declaration.name
    where = document.position(("workloads", name), key=True)
    if not _NAME.fullmatch(name):
        message = f"{printable(name)!r} is not the name of a workload: letters, digits, _ . and - make one"
        raise InputErrors([InputError(message, position=where)])
    for chosen in _points(document, declaration):
        labels = [f"{key}={_label(value)}" for key, value in chosen.items()]
        held = merged(chosen, overrides.options)
        data = merged(declaration.data, held)
        try:
            check_expanded(overrides.options, "the overrides of a profile")
            for part, keys in parts(data, declaration.yielding - _options(held)):
                label = ",".join([*labels, *([_label(part)] if part else [])])
                workload = declare(f"{name}[{label}]" if label else name, suite, keys, where)
                yield replace(workload, notes=(*workload.notes, *_misnamed(chosen, instead)))
        except InputErrors as errors:
            places = [_place(error, document, declaration, chosen, overrides) for error in errors.errors]
            raise InputErrors(places) from None


def _misnamed(chosen: Mapping[str, Any], instead: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the name of a point of a matrix says and does not hold."""
    for key, held in merged(chosen, instead).items():
        value = chosen.get(key)
        if isinstance(value, Mapping) and isinstance(held, Mapping):
            held = {name: held[name] for name in value if name in held}
        if key in chosen and _label(held) != _label(value):
            yield f"{key} is {_label(held)}, as profile or command line say, whatever the name says"


def _points(document: Document, declaration: _Declaration) -> Iterator[dict[str, Any]]:
    """Yield the points of a declaration's matrix, in order; a single empty one without a matrix. Raises
    InputErrors.
    """
    matrix, exclude = declaration.data.get("matrix", {}), declaration.data.get("exclude", [])
    origin = declaration.origin.get("matrix", ("workloads", declaration.name))
    if not isinstance(matrix, dict) or not isinstance(exclude, list):
        yield {}  # its shape is wrong, and said so when the workload is declared
        return
    for key, values in matrix.items():
        if not isinstance(values, list) or not values:
            message = f"matrix: {printable(str(key))} needs a list of at least one value"
            raise InputErrors([InputError(message, position=document.position((*origin, key), key=True))])
        for number, value in enumerate(values):
            if len(_label(value)) > _LONGEST_LABEL:
                message = f"matrix: this value of {printable(str(key))} is too long for a name"
                where = document.position((*origin, key, number))
                raise InputErrors([InputError(message, position=where, remedy="it is part of each name")])
        if key in ("matrix", "exclude", "description"):
            message = f"matrix: {key} cannot be a key of a matrix"
            raise InputErrors([InputError(message, position=document.position((*origin, key), key=True))])
    count = math.prod(len(values) for values in matrix.values())
    if count > _MAXIMUM_WORKLOADS:
        raise InputErrors([_too_many(document, declaration.name, count)])
    points = [dict(zip(matrix, values, strict=True)) for values in itertools.product(*matrix.values())]
    kept = [point for point in points if not any(_is_part(one, point) for one in exclude)]
    if not kept:
        where = document.position(declaration.origin.get("exclude", origin))
        raise InputErrors([InputError("exclude leaves nothing of this workload", position=where)])
    yield from kept


def _comparisons(declaration: _Declaration) -> int:
    """Return how often a point of a matrix is to be compared with what is excluded."""
    matrix, exclude = declaration.data.get("matrix", {}), declaration.data.get("exclude", [])
    if not isinstance(matrix, dict) or not isinstance(exclude, list):
        return 0
    return len(exclude) * math.prod(len(values) for values in matrix.values() if isinstance(values, list))


def _is_part(excluded: Any, point: Mapping[str, Any]) -> bool:
    return isinstance(excluded, dict) and excluded.items() <= point.items()


def _label(value: Any) -> str:
    """Return a matrix value as it reads in a pytest id: mappings as `readers:3/writers:1`, no brackets, no
    control characters.
    """
    if isinstance(value, Mapping):
        return "/".join(f"{key}:{_label(item)}" for key, item in value.items())
    if isinstance(value, list):
        return "/".join(_label(item) for item in value)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return re.sub(r"[\[\],\s]|::", "_", printable(text))


def _place(
    error: InputError,
    document: Document,
    declaration: _Declaration,
    chosen: Mapping[str, Any],
    overrides: Overrides,
) -> InputError:
    """Return the same error with the position of the key at fault: in the device's profile, the matrix, the
    workload, or the defaults.
    """
    if not isinstance(error, OptionError):
        return error
    if blamed := overrides.blame(error):
        return blamed
    key = str(error.path[0]) if error.path else ""
    path: Path_ = ("workloads", declaration.name)
    if key in chosen:
        values = declaration.data["matrix"][key]
        path = (*declaration.origin["matrix"], key, values.index(chosen[key]), *error.path[1:])
    elif key in declaration.origin:
        path = (*declaration.origin[key], *error.path[1:])
    where, message = document.position(path, key=error.key), error.message
    if path[0] == "defaults" and declaration.origin.get("engine", path)[0] != "defaults":
        engine = printable(str(declaration.data["engine"]))
        message += f" (defaults, as they stand for {declaration.name!r} with engine: {engine})"
    return OptionError(message, error.path, key=error.key, position=where, remedy=error.remedy)
