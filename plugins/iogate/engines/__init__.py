"""The engines: the programs that do the I/O, one file each.

An engine is two pure functions around one impure call: `command` says what to run, `iogate.process` runs it,
`parse` turns what it said into metrics. Adding an engine is adding a module here that has an object named
`engine`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Protocol, runtime_checkable

from iogate.errors import InputError, OptionError
from iogate.model import Command, Needs, Output, Part, Place, Workload
from iogate.process import Completed


class Engine(Protocol):
    """What the session asks of an engine."""

    name: str
    program: str
    """The program that must be on PATH."""
    package: str
    """The system package that has it."""

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The engine's options, checked, in plain types and one spelling (`16384` and `16k` both give `16k`).

        Raises InputErrors of OptionError, whose paths lead to the options at fault within `given`.
        """
        ...

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the options (an object with `properties`), for editors and for messages."""
        ...

    def check(self, workloads: Sequence[Workload]) -> list[InputError]:
        """What the engine itself would refuse of these workloads, found without I/O; empty if nothing, or if
        it is missing.
        """
        ...

    def gating(self, workload: Workload) -> tuple[str, ...]:
        """The metrics that gate a workload which names none."""
        ...

    def needs(self, workload: Workload) -> Needs:
        """What one repetition asks of the target."""
        ...

    def command(self, workload: Workload, place: Place) -> Command:
        """What to run for one repetition. Raises EngineError if the program is missing."""
        ...

    def parse(self, text: str, *, name: str, completed: Completed | None = None) -> Output:
        """The metrics of an output; `name` is what messages call it, `completed` how the program ended
        (None: not known).

        Raises OutputError for what does not parse and for a run that must not be judged.
        """
        ...

    def recognises(self, text: str) -> bool:
        """Whether a text has marks that only this engine's output has, be it cut, damaged, or amid others."""
        ...


def names() -> list[str]:
    """The names of all engines, without importing any."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


@runtime_checkable
class RunsCommands(Protocol):
    """An engine that can be told to run commands, load code, or write beside its target."""

    def commands(self, options: Mapping[str, Any]) -> list[OptionError]:
        """The options that do so: refused, unless the user gives --io-allow-exec."""
        ...


@runtime_checkable
class TakesFiles(Protocol):
    """An engine with options that name files beside the suite; it is given their Attachments instead."""

    attachments: tuple[str, ...]


@runtime_checkable
class TellsJobsApart(Protocol):
    """An engine whose outputs may hold several jobs."""

    def parts(self, text: str, *, name: str) -> Sequence[Part]:
        """The jobs of an output, which has at least one. Raises OutputError."""
        ...


@cache
def known_options(name: str) -> frozenset[str]:
    """The options that the engine of that name knows. Raises KeyError if there is none."""
    return frozenset(load(name).schema()["properties"])


@cache
def load(name: str) -> Engine:
    """The engine of that name. Raises KeyError if there is none."""
    if name not in names():
        raise KeyError(name)
    found: Engine = importlib.import_module(f"{__name__}.{name}").engine
    return found


def recognised(text: str) -> list[str]:
    """The names of the engines whose output a text is, or holds; empty if it is nobody's."""
    return [name for name in names() if load(name).recognises(text)]
