"""The frozen values of a bench as plain parts, and back by their types; on the standard library alone.

What comes from another machine is not trusted: a part of another type than was declared, or a name that is
not known, raises ValueError.
"""

from __future__ import annotations

import collections.abc
import json
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

from iogate import errors
from iogate.errors import IogateError, OptionError, Position, TargetError
from iogate.units import no_commands, one_line

_LARGEST = 64 * 2**20  # characters of a value; read, they take up to thirty times as much
_SEQUENCES = (tuple, list, collections.abc.Sequence)
_MAPPINGS = (dict, collections.abc.Mapping)
_ERRORS: dict[str, type[IogateError]] = {
    kind.__name__: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, IogateError)
}


def packed(value: Any) -> str:
    """Return a value as JSON."""
    return json.dumps(_plain(value))


def unpacked(kind: Any, text: str, *, foreign: bool = False) -> Any:
    """Return the value of a type that JSON stands for; where that is `foreign`, what is not fit for a
    terminal is taken out of its texts. Raises ValueError if it stands for none.
    """
    if foreign and len(text) > _LARGEST:
        raise ValueError(f"a value of {len(text)} characters")
    try:
        data = json.loads(text)
        return _value(kind, _clean(data) if foreign else data)
    except RecursionError:
        raise ValueError("too deep") from None


def _clean(data: Any) -> Any:
    if isinstance(data, dict):
        return {one_line(key): _clean(item) for key, item in data.items()}
    if isinstance(data, list):
        return [_clean(item) for item in data]
    return no_commands(data) if isinstance(data, str) else data


def _plain(value: Any) -> Any:
    if isinstance(value, IogateError):
        return _error_parts(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _value(kind: Any, data: Any) -> Any:
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return data
    if origin in (typing.Union, types.UnionType):
        return _one_of(parts, data)
    if origin is typing.Literal:
        return _checked(data in parts, kind, data)
    if origin in _SEQUENCES:
        return _sequence(origin, parts, _checked(isinstance(data, list), kind, data))
    if origin in _MAPPINGS:
        _checked(isinstance(data, dict), kind, data)
        return {_key(parts[0], key): _value(parts[1], item) for key, item in data.items()}
    if kind is type(None):
        return _checked(data is None, kind, data)
    if is_dataclass(kind):
        return _record(kind, data)
    if isinstance(kind, type) and issubclass(kind, IogateError):
        return _error(kind, data)
    return _scalar(kind, data)


def _checked(holds: bool, kind: Any, data: Any) -> Any:
    if not holds:
        raise ValueError(f"{str(data)[:80]!r} is no {kind}")
    return data


def _scalar(kind: Any, data: Any) -> Any:
    if kind is Path:
        return Path(_checked(isinstance(data, str), kind, data))
    if kind is float and type(data) is int:
        return float(data)
    return _checked(type(data) is kind, kind, data)


def _one_of(kinds: tuple[Any, ...], data: Any) -> Any:
    for kind in kinds:
        try:
            return _value(kind, data)
        except ValueError:
            continue
    return _checked(False, kinds, data)


def _key(kind: Any, key: str) -> Any:
    return int(key) if kind is int else _value(kind, key)


def _sequence(origin: Any, parts: tuple[Any, ...], data: list[Any]) -> Any:
    if origin is tuple and parts[-1:] != (Ellipsis,):
        _checked(len(data) == len(parts), parts, data)
        return tuple(_value(kind, item) for kind, item in zip(parts, data, strict=True))
    values = (_value(parts[0], item) for item in data)
    return list(values) if origin is list else tuple(values)


def _record(kind: Any, data: Any) -> Any:
    _checked(isinstance(data, dict), kind, data)
    hints = _hints(kind)
    _checked(data.keys() <= hints.keys() and _required(kind) <= data.keys(), kind, sorted(data))
    return kind(**{name: _value(hints[name], item) for name, item in data.items()})


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


@cache
def _required(kind: Any) -> frozenset[str]:
    each = fields(kind)
    return frozenset(item.name for item in each if item.default is item.default_factory is MISSING)


def _error_parts(error: IogateError) -> dict[str, Any]:
    """Return an error of `iogate.errors`; of another module's the one that it is a kind of."""
    kind = next(base.__name__ for base in type(error).__mro__ if base.__name__ in _ERRORS)
    position = asdict(error.position) if error.position else None
    parts: dict[str, Any] = {
        "kind": kind,
        "message": error.message,
        "position": position,
        "remedy": error.remedy,
    }
    if isinstance(error, TargetError):
        parts["rule"] = error.rule
    if isinstance(error, OptionError):
        parts |= {"path": list(error.path), "key": error.key}
    return parts


def _error(kind: Any, data: Any) -> Any:
    _checked(isinstance(data, dict) and data.get("kind") in _ERRORS, kind, data)
    found = _ERRORS[data["kind"]]
    _checked(issubclass(found, kind), kind, data)
    position, message, remedy = data.get("position"), str(data.get("message")), str(data.get("remedy"))
    if found is errors.InputErrors:
        found = errors.InputError
    more: dict[str, Any] = {"rule": str(data.get("rule"))} if issubclass(found, TargetError) else {}
    if issubclass(found, OptionError):
        path = _value(tuple[str | int, ...], data.get("path"))
        return found(message, path, key=data.get("key") is True, remedy=remedy)
    where = _value(Position, position) if position else None
    return found(message, position=where, remedy=remedy, **more)
