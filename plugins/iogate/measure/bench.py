"""The bench: everything that touches the machine under test is behind it, and it may be anywhere.

What goes in and comes out are frozen values of plain parts, and errors of `iogate.errors`, which have nothing
but plain parts either: a bench on another machine sends them as JSON. That one would stand beside
`iogate.measure.local_bench`, and run it over there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol

from iogate import engines
from iogate.errors import TargetError
from iogate.model import Command, Environment, Needs, Place, Repetition, Workload

if TYPE_CHECKING:
    from iogate.target.resolve import Target

SLICE = 0.064
"""Seconds of a slice, unless the user says otherwise."""
Places = Literal["one", "copies", "targets", "images"]
"""Where the arms of a pair work: on the same data, on two copies of them on one target, on two targets, or in
the file systems of two images that lie in two slots.
"""


@dataclass(frozen=True)
class Pair:
    """Two workloads, A and B, that one block alternates; their options are those of A and B in the block.

    `slices` is the number of slices that there are time for, of whole runs by turns None, and `slice` the
    length of one in seconds. `swapped` says that the arms have changed places, `seed` chooses the order.
    """

    workloads: tuple[Workload, Workload]
    places: Places
    seed: int
    swapped: bool = False
    slices: int | None = None
    slice: float = SLICE


class Watcher(Protocol):
    """A listener to what goes on while the bench is at work, such as the terminal."""

    def tick(self, elapsed: float, bandwidth: float | None) -> None:
        """Hear that it has been running for `elapsed` seconds, with the target's bandwidth now in bytes/s."""

    def laying_out(self, done: int, total: int) -> None:
        """Hear that `done` of `total` bytes of a data file are written."""

    def notice(self, text: str) -> None:
        """Hear what a person should know now, such as what is waited for."""


class Bench(Protocol):
    """A machine under test with the target that the I/O goes to."""

    @property
    def name(self) -> str:
        """What people call it: the name of the device."""
        ...

    @property
    def target(self) -> Target:
        """Where the I/O goes, as it was found."""
        ...

    @property
    def hosts(self) -> tuple[str, ...]:
        """What people call the clients of the target that a workload may run on at once; none: it is a
        machine.
        """
        ...

    @property
    def places(self) -> Places:
        """Where pairs work; `one` where only options can differ."""
        ...

    @property
    def base(self) -> str:
        """What people call the place of arm A, where it is another than that of arm B; empty if not."""
        ...

    @property
    def candidate(self) -> str:
        """What people call the place of arm B, where it is another than that of arm A; empty if not."""
        ...

    @property
    def slice(self) -> float | None:
        """The length of a slice of a pair, in seconds, if the user has chosen it."""
        ...

    def observe(self) -> Environment:
        """Return what the machine is, what runs on it, and in which state it is now.

        Raises InputError if it is not the device that it should be.
        """
        ...

    def refusals(self, needs: Needs) -> Sequence[TargetError]:
        """Return why a workload cannot run on the target now; empty if it can. Nothing is written."""
        ...

    def command(self, workload: Workload, place: Place) -> Command:
        """Return what would be run there for one repetition; nothing is. Raises EngineError."""
        ...

    def open(self) -> None:
        """Take the target, unless it is taken already. Raises TargetError if another run has it."""
        ...

    def repeat(
        self, id: str, workload: Workload, label: int | str, gating: Sequence[str], arm: int = 1
    ) -> Repetition:
        """Lay out the data, run one repetition, keep its raw files, and audit what it says.

        `id` is the pytest id of the workload, `label` tells its repetitions apart, `gating` names the metrics
        that will be judged. It is where arm B of a pair works, or arm A (0).

        Raises EngineError, OutputError or TargetError; findings of the audit are in the repetition.
        """
        ...

    def alternate(self, id: str, pair: Pair, label: int | str, gating: Sequence[str]) -> Repetition:
        """Measure one block of a pair in fresh processes, as `repeat` does one repetition.

        Raises EngineError, OutputError or TargetError; findings of the audit of both arms are in the block.
        """
        ...

    def close(self) -> None:
        """Remove what was laid out and let go of the target."""
        ...


@dataclass(frozen=True)
class Arm:
    """A workload on a bench; `name` tells the arms of a trial apart."""

    name: str
    workload: Workload
    bench: Bench

    @cached_property
    def needs(self) -> Needs:
        """What one repetition asks of the target."""
        return engines.load(self.workload.engine).needs(self.workload)
