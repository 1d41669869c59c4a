"""What the rest of iogate asks of an engine, and what an engine may offer beyond that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

from iogate.engines.sections import Description, Section
from iogate.errors import InputError, OptionError
from iogate.host.process import Completed
from iogate.model import ClientOutputs, Command, Needs, Output, Part, Place, Reads, Workload


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
        """Return what to run for one repetition; nothing is started or written for it, as plans show it, too.

        Raises EngineError if the program is missing.
        """
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
class TellsPlaces(Protocol):
    """An engine whose jobs may read a part of the data alone."""

    def reads(self, workload: Workload) -> Sequence[Reads]:
        """Return where each job reads, of those that do."""
        ...


@runtime_checkable
class PreparesProgram(Protocol):
    """An engine whose program must be compiled, or asked for its version, before it may run."""

    def prepare(self) -> None:
        """Do that, as often as it is called. Raises EngineError if the program cannot serve."""
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
class ReadsJobFiles(Protocol):
    """An engine with files that may stand for several workloads, and say what has no effect here."""

    def phases(self, given: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        """Return the workloads that options with Attachments stand for: the label of each, and the keys that
        make it. Raises InputErrors of OptionError.
        """
        ...

    def left_out(self, given: Mapping[str, Any]) -> list[str]:
        """Return what the Attachments say without effect, for people. Raises InputErrors of OptionError."""
        ...


@runtime_checkable
class TellsJobsApart(Protocol):
    """An engine whose outputs may hold several jobs."""

    def parts(self, text: str, *, name: str) -> Sequence[Part]:
        """Return the jobs of an output, which has at least one. Raises OutputError."""
        ...


@runtime_checkable
class StatesOptions(Protocol):
    """An engine whose outputs state what was asked for, in a spelling of their own."""

    flags: frozenset[str]
    """Options that an output may leave out although they were given."""

    def stated_options(self, output: Output) -> dict[str, Any]:
        """Return the options that an output states, in the types and spelling of a workload."""
        ...

    def effective(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options that tell what is done, as it is done: without those that leave the figures as
        they are, a place, or a way of reporting.
        """
        ...


@runtime_checkable
class GatesOutputs(Protocol):
    """An engine that knows what gates an output of which no workload is known."""

    def gating_of(self, output: Output) -> tuple[str, ...]:
        """Return the metrics that gate by default, for what was done in an output."""
        ...


@runtime_checkable
class ReadsReports(Protocol):
    """An engine whose outputs can be found within other text: notes, tickets, published reports."""

    def blocks(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield the outputs in a text, each with the number of its first line (from 1)."""
        ...

    def sections(self, text: str, *, name: str) -> Sequence[Section]:
        """Return what an output consists of, for people. Raises OutputError."""
        ...

    def descriptions(self, lines: Sequence[str]) -> list[Description]:
        """Return what a text says of how its figures were made: job files and command lines in it."""
        ...


@runtime_checkable
class PrintsWholeNumbers(Protocol):
    """An engine that rounds figures so far that it matters how far apart they are."""

    def step(self, options: Mapping[str, Any], metric: str) -> float:
        """Return how far apart neighbouring values of a metric are, in its unit; 0 where that is fine."""
        ...


@runtime_checkable
class BringsToRest(Protocol):
    """An engine that can precondition a target: fill it in sequence, and write to it at random."""

    def fill(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options that write all data of a workload with these options once, in sequence."""
        ...

    def overwrite(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options that write at random to the data of a workload with these options."""
        ...


@runtime_checkable
class Alternates(Protocol):
    """An engine whose runs can be cut into slices: they may be stopped and go on, and the kernel counts what
    they move.
    """

    def indivisible(self, options: Mapping[str, Any], gating: Sequence[str]) -> str:
        """Return why slices of such a run would misstate these metrics; empty if they would not."""
        ...

    def lasting(self, options: Mapping[str, Any], seconds: float, seed: int) -> dict[str, Any]:
        """Return options for the same I/O, going on for so long, at random offsets that come of `seed`."""
        ...

    def shortened(self, options: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Return options for the same I/O, for so long at most."""
        ...

    def processes(self, options: Mapping[str, Any]) -> int:
        """Return of how many processes a run consists while it is at work."""
        ...

    def processors(self, options: Mapping[str, Any]) -> int:
        """Return how many processors a run can keep busy at most; 0 if it chooses them or its memory itself,
        or starts threads of its own: then nobody else may choose.
        """
        ...


class Conversation(Protocol):
    """What the conductor and a server say to each other: each hears what the other may say, and no more."""

    def to_server(self, data: bytes) -> bytes:
        """Return what the conductor has said by now that may be passed on. Raises MeasurementError."""
        ...

    def to_conductor(self, data: bytes) -> bytes:
        """Return what the server has said by now that may be passed on. Raises MeasurementError."""
        ...


@runtime_checkable
class RunsOnClients(Protocol):
    """An engine that runs a workload on many machines at once: a server of it on each, and a conductor that
    has all of them do their part.
    """

    def clients(self, options: Mapping[str, Any]) -> tuple[int, ...] | Literal["all"] | None:
        """Return how many clients options ask for: one number, several that make a curve, or all there are;
        None if they ask for none.
        """
        ...

    def on_clients(self, options: Mapping[str, Any], counts: Sequence[int] | None) -> dict[str, Any]:
        """Return the same options for so many clients; None: for the machine itself."""
        ...

    def alone(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of what each client does, with what tells when it did it."""
        ...

    def version(self) -> str:
        """Return the version of the program here. Raises EngineError."""
        ...

    def server(self, socket: str) -> tuple[str, ...]:
        """Return the command of a server that listens on a unix socket of that name in its folder, and
        nowhere else. Raises EngineError.
        """
        ...

    def conductor(self, commands: Mapping[str, Command]) -> Command:
        """Return the command that has servers each do what its own command says, by the names of the sockets
        in its folder. Raises EngineError.
        """
        ...

    def conversation(self, command: Command) -> Conversation:
        """Return what looks at what the conductor and the server that does this command say: they are on two
        machines, neither of which may command the other.
        """
        ...

    def outputs(
        self,
        text: str,
        logs: Mapping[str, str],
        offsets: Mapping[str, float],
        *,
        name: str,
        completed: Completed | None = None,
    ) -> ClientOutputs:
        """Return what the conductor's output says of the clients, whose rates are summed over the time when
        all of them ran; `logs` are the other files that it wrote, `offsets` by how many seconds the clock of
        each client is ahead.

        Raises OutputError for what does not parse, and where a client is missing.
        """
        ...
