"""What the rest of iogate asks of an engine, and what an engine may offer beyond that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from iogate.errors import InputError, OptionError
from iogate.host.process import Completed
from iogate.model import Command, Needs, Output, Part, Place, Workload


@runtime_checkable
class Engine(Protocol):
    """What the session asks of an engine."""

    name: str
    program: str
    """The program that must be on PATH."""
    package: str
    """The system package that has it."""

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the engine's options, checked, in plain types and one spelling (`16384` and `16k` both give
        `16k`).

        Raises InputErrors of OptionError, whose paths lead to the options at fault within `given`.
        """
        ...

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the options (an object with `properties`), for editors and for
        messages.
        """
        ...

    def check(self, workloads: Sequence[Workload]) -> list[InputError]:
        """Return what the engine itself would refuse of these workloads, found without I/O; empty if nothing,
        or if it is missing.
        """
        ...

    def gating(self, workload: Workload) -> tuple[str, ...]:
        """Return the metrics that gate a workload which names none."""
        ...

    def needs(self, workload: Workload) -> Needs:
        """Return what one repetition asks of the target."""
        ...

    def command(self, workload: Workload, place: Place) -> Command:
        """Return what to run for one repetition. Raises EngineError if the program is missing."""
        ...

    def parse(self, text: str, *, name: str, completed: Completed | None = None) -> Output:
        """Return the metrics of an output; `name` is what messages call it, `completed` how the program ended
        (None: not known).

        Raises OutputError for what does not parse and for a run that must not be judged.
        """
        ...

    def recognises(self, text: str) -> bool:
        """Return whether a text has marks that only this engine's output has, be it cut, damaged, or amid
        others.
        """
        ...


@runtime_checkable
class RunsCommands(Protocol):
    """An engine that can be told to run commands, load code, or write beside its target."""

    def commands(self, options: Mapping[str, Any]) -> list[OptionError]:
        """Return the options that do so: refused, unless the user gives --io-allow-exec."""
        ...


@runtime_checkable
class TakesFiles(Protocol):
    """An engine with options that name files beside the suite; it is given their Attachments instead."""

    attachments: tuple[str, ...]


@runtime_checkable
class TellsJobsApart(Protocol):
    """An engine whose outputs may hold several jobs."""

    def parts(self, text: str, *, name: str) -> Sequence[Part]:
        """Return the jobs of an output, which has at least one. Raises OutputError."""
        ...
