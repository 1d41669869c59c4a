"""What is asked of an engine and of a target."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from iogate.errors import Position
from iogate.model.metrics import Tolerance

_SLOWER = 30
"""Times that a device may be slower than estimates take it to be: cards, disks that sync each write."""


def hash_of(definition: Mapping[str, Any]) -> str:
    """Return twelve hexadecimal digits that change with a definition, not with the order of its keys."""
    text = json.dumps(definition, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Workload:
    """One declared I/O pattern.

    `options` are the engine's, checked and in plain types. `gate` maps gating metrics to tolerances and is
    empty where the engine's default holds. `repetitions` is the number that a fixed protocol asks for (None:
    as many as the gate needs, at most `max_repetitions` if given). `procedure` says how the target is
    brought to rest before (steady state, precondition), `waive` which checks of the audit do not count here,
    and why. `against` are the options of the same workload that it is held against, if it is. `notes` are
    what of its declaration has no effect.
    """

    name: str
    suite: str
    engine: str
    options: Mapping[str, Any]
    position: Position
    description: str = ""
    markers: tuple[str, ...] = ()
    gate: Mapping[str, Tolerance] = field(default_factory=dict)
    repetitions: int | None = None
    max_repetitions: int | None = None
    waive: Mapping[str, str] = field(default_factory=dict)
    procedure: Mapping[str, Any] = field(default_factory=dict)
    against: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()

    @property
    def rests(self) -> bool:
        """True where the device is brought to rest for this workload."""
        return not {"steady_state", "precondition"}.isdisjoint(self.procedure)

    @property
    def fixed(self) -> bool:
        """True where repetitions run back to back, apart from other workloads: a fixed protocol, or a device
        that was brought to rest for this workload.
        """
        return self.repetitions is not None or self.rests

    @property
    def definition(self) -> dict[str, Any]:
        """What a baseline of this workload depends on: the engine, its options, and how it is brought to
        rest. With `clients: all` it is as on a machine alone, until a device says how many there are.
        """
        options = {key: value for key, value in self.options.items() if (key, value) != ("clients", "all")}
        return {"engine": self.engine, **options, **self.procedure}

    @property
    def chosen_runtime(self) -> float | None:
        """The seconds of a repetition that `runtime: auto` chose; None where they are declared."""
        return float(self.options["runtime"]) if self.procedure.get("runtime") == "auto" else None

    @property
    def own_data(self) -> str:
        """What names data that nobody else works on."""
        return hash_of({"suite": self.suite, "name": self.name})[:8]

    @property
    def definition_hash(self) -> str:
        """The hash of its definition."""
        return hash_of(self.definition)


@dataclass(frozen=True)
class Steps:
    """What is read of a part of the data: `span` bytes of each `period`, from the byte `first` on, either
    way."""

    first: int
    period: int
    span: int


@dataclass(frozen=True)
class Region:
    """A part of the data: its first byte, its length in bytes, its `weight` among those of a job, and the
    `steps` in which it is read (None: all of it).
    """

    begin: int
    length: int
    weight: float = 1.0
    steps: Steps | None = None


@dataclass(frozen=True)
class Reads:
    """Where a job reads: at random within its regions, or each from its beginning on, however far it comes
    (`in_order`; `backwards`: from its end): so many jobs at once (`clones`), of which each passes over
    `stride` bytes for one that it reads, and has done so for `ramp` seconds before it counts. It reads for
    `longest` seconds, and `most` bytes, and may have ended before others. `name` is that of a section, as in
    the names of its metrics.
    """

    regions: tuple[Region, ...]
    in_order: bool = False
    name: str = ""
    clones: int = 1
    stride: float = 1.0
    ramp: float = 0.0
    backwards: bool = False
    longest: float = math.inf
    most: float = math.inf

    def places(self, bandwidth: float, seconds: float, *, all_the_way: bool = False) -> tuple[Region, ...]:
        """Return where it has read at a bandwidth (B/s, of all its clones) in so many seconds; with the
        places of its ramp, if `all_the_way`.
        """
        if not self.in_order:
            return self.regions
        pace = bandwidth / self.clones * self.stride
        begun = int(pace * self.ramp)
        come = int(min(pace * min(seconds, self.longest), self.most * self.stride))
        if all_the_way:
            begun, come = 0, begun + come
        return tuple(
            region if begun + come >= region.length else self.part(region, begun, come)
            for region in self.regions
        )

    def part(self, region: Region, begun: int, length: int) -> Region:
        """Return so many bytes of a region, from where it is when it has passed over `begun` bytes."""
        begin = region.length - begun - length if self.backwards else begun
        return replace(region, begin=region.begin + begin, length=length)


BACKING = "backing"
"""What the share of what is read that is nowhere in a loop device's file is called, behind the job's name."""


@dataclass(frozen=True)
class Needs:
    """What one repetition of a workload asks of its target.

    `size` bytes of laid-out data (0: none), whether it `reads` and `writes` them, past the page cache if
    `direct`, in blocks of `block` bytes. `seconds` is the longest that the engine should take, `written` the
    most bytes that it writes (None: bounded by time alone), `space` what files that it makes itself take.
    `target` is False for an engine that does no I/O (memory). `cached` is True where the page cache is
    what the workload is about. `files` is how many of `size` bytes there are. It `trims` blocks, which files
    have not. `own` names data that nobody else may fragment, if it reads and writes. What leads it `astray`
    on a block device, out of its `size`, is named (empty: nothing does).
    """

    size: int = 0
    reads: bool = False
    writes: bool = False
    direct: bool = False
    block: int = 0
    seconds: float = 0.0
    written: int | None = 0
    space: int = 0
    target: bool = True
    cached: bool = False
    files: int = 1
    clients: int = 1
    trims: bool = False
    own: str = ""
    astray: str = ""

    @property
    def kind(self) -> str:
        """Which workloads share a file where writes fragment it, and may compress it: those that only read
        one that nobody writes to, and those that only write another. What does both has one of its `own`.
        """
        if not self.writes:
            return ""
        return "-".join(filter(None, ("mixed", self.own))) if self.reads else "written"


@dataclass(frozen=True)
class Place:
    """Where a repetition works: its `data` (a laid-out file or a block device), a `scratch` folder for files
    of the engine's own (None on a block device), and the `folder` that keeps the job file and the raw output.
    `more` are further files like `data`. In a directory they lead through what iogate holds open,
    /proc/PID/fd/N, whatever is renamed.
    """

    data: Path
    scratch: Path | None
    folder: Path
    more: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Command:
    """What to run: `argv`; `files` (name to text) to write into the folder first; the time limit in seconds;
    the file in the folder that holds the output (empty: stdout); and the part of the time limit that was
    estimated from what is to be moved, as the run ends by it (`by_size`, in seconds; 0: by time alone)."""

    argv: tuple[str, ...]
    timeout: float
    files: Mapping[str, str] = field(default_factory=dict)
    output: str = ""
    by_size: float = 0.0

    @property
    def longest(self) -> float:
        """The seconds that it may take as long as the device moves data."""
        return self.timeout + _SLOWER * self.by_size
