"""What was measured: an engine's output, what the audit says of it, and repetitions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Severity = Literal["note", "suspect", "invalid"]


@dataclass(frozen=True)
class Finding:
    """What the audit says of a measurement, with its evidence in numbers and a remedy."""

    check: str
    severity: Severity
    message: str
    remedy: str = ""
    waived: str = ""


@dataclass(frozen=True)
class Audited:
    """What the audit finds in an output, and the `metrics` that are known beside those of the engine."""

    findings: tuple[Finding, ...]
    metrics: Mapping[str, float]


@dataclass(frozen=True)
class Traffic:
    """What an engine claims to have moved in one direction: bytes, operations, seconds, short operations.

    `rounding` is by how many bytes `bytes` may be off, where the engine prints few digits.
    """

    bytes: int
    operations: int
    seconds: float
    short: int = 0
    rounding: int = 0


@dataclass(frozen=True)
class Histogram:
    """Latencies in ns, counted: `bins` maps the least value of each bin to its count.

    From each power of two to the next there are `per_octave` bins of one width (1: the octave itself).
    """

    per_octave: int
    bins: Mapping[int, int]


@dataclass(frozen=True)
class Output:
    """An engine's output, parsed: one value per metric, and the claims that the audit checks.

    `metrics` by name in the units of `Metric`; `traffic` by direction (`read`, `write`, `trim`). `user` and
    `system` are the mean CPU shares of a job, as fractions of one core. `jobs` counts the processes or
    threads whose I/O is in here. `options` are the engine's options as its output states them, `complete` if
    no others were given. `remarks` are what it says about its figures in words, `contradictions` figures
    that say different things of the same. `space` is the bytes of the files that the engine made itself,
    `histograms` are latencies by direction and kind (`read.clat`) where the engine counts them. `synchronous`
    names the ioengine that had one I/O in flight per job, where the options name none.
    `latency_step` is the step in ns in which the engine prints latencies, or the least and the largest of
    them (0: fine enough). `unlike` are the names of options that some of several jobs state, and not all
    alike. An output is `uncounted` if it may be of more jobs than it tells.
    """

    metrics: Mapping[str, float]
    traffic: Mapping[str, Traffic]
    engine_version: str = ""
    jobs: int = 1
    user: float | None = None
    system: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    complete: bool = False
    steady: bool | None = None
    remarks: tuple[str, ...] = ()
    contradictions: tuple[str, ...] = ()
    space: int = 0
    synchronous: str = ""
    unlike: tuple[str, ...] = ()
    latency_step: float = 0.0
    uncounted: bool = False
    histograms: Mapping[str, Histogram] = field(default_factory=dict)


@dataclass(frozen=True)
class Span:
    """A time from `start` to `end`, in seconds of some clock."""

    start: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.start


@dataclass(frozen=True)
class ClientOutputs:
    """What clients of one target did at the same time: `whole` is all of them together, with rates summed
    over the time when all ran; `each` and `spans` (when it ran) are by the name of a client.
    """

    whole: Output
    each: Mapping[str, Output]
    spans: Mapping[str, Span]


@dataclass(frozen=True)
class Part:
    """A job that an output tells apart, at `line` (from 1) of it. Those of one `group` ran together."""

    name: str
    output: Output
    line: int = 1
    group: str = ""


ARMS = ("A", "B")
"""The arms of a pair: the base and the candidate."""


@dataclass(frozen=True)
class Slice:
    """A fraction of a second in which one arm of a pair (`A` or `B`) worked and the other was stopped.

    `start` and `seconds` are on the clock of the block; `read` and `written` are the bytes that the arm
    moved, `other` those of the arm that was stopped.
    """

    arm: str
    start: float
    seconds: float
    read: int
    written: int
    other: int = 0


@dataclass(frozen=True)
class Repetition:
    """One engine invocation of a workload; `seconds` is its wall time, `folder` holds its raw files.

    `series` is the target's bandwidth (bytes/s) second by second, by its own counters. `command` is what was
    run, as one writes it in a shell, and `files` (name to text) what it read: job files. `worked` is the work
    of its session before, in seconds (None: not known).

    In a pair it is a block: this is what arm B did, `base` is what arm A did in the same time, both in fresh
    processes, and `seconds` is the wall time of both. `slices` are those that they worked in (none: whole
    runs by turns), in an order that came of `seed`; `swapped` where the arms had changed places.
    """

    output: Output
    seconds: float
    folder: str
    findings: tuple[Finding, ...] = ()
    series: tuple[float, ...] = ()
    base: Repetition | None = None
    swapped: bool = False
    seed: int = 0
    slices: tuple[Slice, ...] = ()
    command: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    worked: float | None = None

    @property
    def work(self) -> float:
        """The seconds that it took by its engine's account, which knows no start on a busy machine; by ours
        where that says nothing.
        """
        told = max((item.seconds for item in self.output.traffic.values()), default=0.0)
        return told if told > 0 and not self.base else self.seconds

    @property
    def metrics(self) -> Mapping[str, float]:
        return self.output.metrics
