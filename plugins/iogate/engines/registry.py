"""The engines by name: those that come with iogate, and those of installed packages.

A package adds engines by entry points of the group `iogate.engines`: `dd = "package.module:engine"`. A name
of iogate's own cannot be taken by another.
"""

from __future__ import annotations

import importlib
import sys
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from iogate.engines.protocol import BringsToRest, Engine
from iogate.errors import InputError
from iogate.units import printable

GROUP = "iogate.engines"
DEFAULT = "fio"
"""The engine of a workload that names none."""
_OWN = ("fio", "iozone", "memory", "mlc", "reader")


def names() -> list[str]:
    """Return the names of all engines, without importing any."""
    return sorted({*_OWN, *_entry_points(tuple(sys.path))})


def load(name: str) -> Engine:
    """Return the engine of that name. Raises KeyError if there is none, and InputError for a broken
    package.
    """
    if name in _OWN:
        return _own(name)
    return _foreign(_entry_points(tuple(sys.path))[name])


@cache
def known_options(name: str) -> frozenset[str]:
    """Return the options that the engine of that name knows. Raises KeyError if there is none."""
    return frozenset(load(name).schema()["properties"])


def recognise(text: str) -> list[str]:
    """Return the names of the engines whose output a text is, or holds; none if no engine has printed it.

    Raises InputError for a broken package if it may be the one whose output this is.
    """
    found, broken = [], []
    for name in names():
        try:
            if _recognises(name, text):
                found.append(name)
        except InputError as error:
            broken.append(error)
    if broken and not found:
        raise broken[0]
    return found


def _recognises(name: str, text: str) -> bool:
    """Ask an engine whether it knows a text. Raises InputError if one of another package fails at it."""
    engine = load(name)
    try:
        return engine.recognises(text)
    except Exception as error:  # whatever a package of others raises
        if name in _OWN:
            raise
        message = f"the engine {name!r} of an installed package failed when it was shown a file: {error!r}"
        raise InputError(printable(message), remedy="repair or remove that package") from error


@cache
def preconditioner() -> str:
    """Return the name of the engine that brings targets to rest. Raises KeyError if none can."""
    for name in (DEFAULT, *names()):
        if isinstance(load(name), BringsToRest):
            return name
    raise KeyError("no engine can precondition a target")


@cache
def _own(name: str) -> Engine:
    found: Engine = importlib.import_module(f"iogate.engines.{name}.engine").engine
    return found


@cache
def _entry_points(path: tuple[str, ...]) -> dict[str, EntryPoint]:
    """Find the engines of installed packages; `path` is where Python looks for packages."""
    return {point.name: point for point in entry_points(group=GROUP) if point.name not in _OWN}


@cache
def _foreign(point: EntryPoint) -> Engine:
    """Load the engine of another package. Raises InputError if it cannot be loaded, or is no engine."""
    package = point.dist.name if point.dist else point.value
    try:
        found = point.load()
    except Exception as error:  # whatever a package of others raises when it is imported
        message = f"the engine {point.name!r} of the package {package} cannot be loaded: {error}"
        raise InputError(printable(message), remedy="repair or remove that package") from error
    if not isinstance(found, Engine) or found.name != point.name:
        message = f"the package {package} names {point.value} as the engine {point.name!r}, which it is not"
        raise InputError(printable(message), remedy="see docs/engines.md for what an engine has")
    return found
