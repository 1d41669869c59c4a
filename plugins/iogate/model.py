"""What the layers hand to each other: frozen values without behaviour of their own."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from iogate.errors import IogateError, Position

Direction = Literal["higher", "lower"]
Severity = Literal["note", "suspect", "invalid"]
VerdictName = Literal[
    "pass", "improved", "drift", "regressed", "inconclusive", "no_baseline", "invalid", "recorded"
]
UpdateMode = Literal["replace", "append", "force"]
PASSED: frozenset[str] = frozenset({"pass", "improved", "drift", "recorded"})
"""The verdicts that leave a pytest test passed."""

_SLOWER = 30
"""Times that a device may be slower than estimates take it to be: cards, disks that sync each write."""

_EMPTY: Mapping[str, Any] = MappingProxyType({})


def _empty() -> Mapping[str, Any]:
    return _EMPTY


@dataclass(frozen=True)
class Metric:
    """A named number: `unit` is B/s, IOPS, ns, s or empty (a ratio); `direction` is the better one."""

    name: str
    unit: str
    direction: Direction


_KINDS: Mapping[str, tuple[str, Direction]] = {
    "iops": ("IOPS", "higher"),
    "bandwidth": ("B/s", "higher"),
    "slat": ("ns", "lower"),
    "clat": ("ns", "lower"),
    "lat": ("ns", "lower"),
    "latency": ("ns", "lower"),
    "wall_time": ("s", "lower"),
    "completed": ("", "higher"),
    "speedup": ("", "higher"),
    "efficiency": ("", "higher"),
    "serial_fraction": ("", "lower"),
}
_SPREADS = frozenset({"stddev", "dev"})


@cache
def metric(name: str) -> Metric:
    """Return the metric of that name: one part of it says what it is (`read.iops`, `write.clat.p99.9`,
    `wall_time`).

    A standard deviation is better when lower, of whatever it is. Raises KeyError for a name without a known
    kind.
    """
    parts = name.split(".")
    for part in reversed(parts):
        if part in _KINDS:
            unit, direction = _KINDS[part]
            return Metric(name, unit, "lower" if parts[-1] in _SPREADS else direction)
    raise KeyError(name)


@dataclass(frozen=True)
class Tolerance:
    """The smallest change that matters, as fractions: `worse` in the bad direction, `better` in the good one.

    None: `worse` comes from the data; `better` has no bound.
    """

    worse: float | None = None
    better: float | None = None


def is_tolerance(worse: float, direction: Direction) -> bool:
    """Return whether a relative loss says something as a tolerance: more than nothing, and of what is better
    when higher less than all.
    """
    return 0 < worse < (1 if direction == "higher" else math.inf)


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
    gate: Mapping[str, Tolerance] = field(default_factory=_empty)
    repetitions: int | None = None
    max_repetitions: int | None = None
    waive: Mapping[str, str] = field(default_factory=_empty)
    procedure: Mapping[str, Any] = field(default_factory=_empty)
    against: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()

    @property
    def fixed(self) -> bool:
        """True where repetitions run back to back, apart from other workloads: a fixed protocol, or a device
        that was brought to rest for this workload.
        """
        return self.repetitions is not None or not {"steady_state", "precondition"}.isdisjoint(self.procedure)

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
    def definition_hash(self) -> str:
        """The hash of its definition."""
        return hash_of(self.definition)


@dataclass(frozen=True)
class Needs:
    """What one repetition of a workload asks of its target.

    `size` bytes of laid-out data (0: none), whether it `reads` and `writes` them, past the page cache if
    `direct`, in blocks of `block` bytes. `seconds` is the longest that the engine should take, `written` the
    most bytes that it writes (None: bounded by time alone), `space` what files that it makes itself take.
    `target` is False for an engine that does no I/O (memory). `cached` is True where the page cache is
    what the workload is about. `files` is how many of `size` bytes there are.
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
    files: Mapping[str, str] = field(default_factory=_empty)
    output: str = ""
    by_size: float = 0.0

    @property
    def longest(self) -> float:
        """The seconds that it may take as long as the device moves data."""
        return self.timeout + _SLOWER * self.by_size


@dataclass(frozen=True)
class Finding:
    """What the audit says of a measurement, with its evidence in numbers and a remedy."""

    check: str
    severity: Severity
    message: str
    remedy: str = ""
    waived: str = ""


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
    `latency_step` is the step in ns in which the engine prints latencies (0: fine enough).
    """

    metrics: Mapping[str, float]
    traffic: Mapping[str, Traffic]
    engine_version: str = ""
    jobs: int = 1
    user: float | None = None
    system: float | None = None
    options: Mapping[str, Any] = field(default_factory=_empty)
    complete: bool = False
    steady: bool | None = None
    remarks: tuple[str, ...] = ()
    contradictions: tuple[str, ...] = ()
    space: int = 0
    synchronous: str = ""
    latency_step: float = 0.0
    histograms: Mapping[str, Histogram] = field(default_factory=_empty)


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
    run, as one writes it in a shell, and `files` (name to text) what it read: job files.

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
    files: Mapping[str, str] = field(default_factory=_empty)

    @property
    def metrics(self) -> Mapping[str, float]:
        return self.output.metrics


@dataclass(frozen=True)
class Environment:
    """Where a session ran, in three parts of flat names and values.

    `identity` must match or there is no verdict; `subject` (kernel, image, firmware) is what the gate is
    there to judge; `state` (governor, load, temperature) explains. `boot` is another text once the machine
    was started anew.
    """

    identity: Mapping[str, str] = field(default_factory=_empty)
    subject: Mapping[str, str] = field(default_factory=_empty)
    state: Mapping[str, str] = field(default_factory=_empty)
    boot: str = ""


@dataclass(frozen=True)
class Device:
    """A named machine under test with its profile.

    `identity` maps names of the environment's identity to patterns of fnmatch(3). `target` is a directory or
    a block device, `host` where the machine is, as execnet has it (empty: here), `hosts` where the clients of
    the target are, if it has several. `link` is the limit of its link in B/s. `suites` are the names of the
    suites that apply (empty: all). `overrides` are engine options by suite name (`*`: all suites). `missing`
    says what a workload without a baseline means; with `learn` a session is added to a baseline that cannot
    judge yet. `places` are where the keys below `overrides` stand, by their path.
    """

    name: str
    target: str
    description: str = ""
    identity: Mapping[str, str] = field(default_factory=_empty)
    link: float | None = None
    suites: tuple[str, ...] = ()
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=_empty)
    missing: Literal["fail", "skip", "record"] = "fail"
    target_id: Mapping[str, str] = field(default_factory=_empty)
    wear: Mapping[str, Any] = field(default_factory=_empty)
    learn: bool = False
    host: str = ""
    hosts: tuple[str, ...] = ()
    position: Position | None = None
    places: Mapping[tuple[str | int, ...], Position] = field(default_factory=dict)


@dataclass(frozen=True)
class Baseline:
    """What is known of one workload on one device.

    `metrics` maps a name to replicate values `[session][repetition]`, or to a single number where the
    baseline is a published one; `sessions` are the identifiers of those sessions, `source` says where
    published figures come from. `environment` is that of the newest session that says on which machine it
    was, with what those before it tell of that machine. `devices` are those of a fleet,
    one a session: what differs between sessions is then what differs between devices. `partial` has the
    sessions of the metrics that were not measured in all of them. `runtime` is how many seconds a repetition
    lasted, where `runtime: auto` chose them (None: declared, or not known).
    """

    workload: str
    definition: Mapping[str, Any]
    metrics: Mapping[str, float | tuple[tuple[float, ...], ...]]
    sessions: tuple[str, ...] = ()
    source: str = ""
    environment: Environment = field(default_factory=Environment)
    devices: tuple[str, ...] = ()
    partial: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    runtime: float | None = None

    @property
    def published(self) -> bool:
        return not self.sessions

    @property
    def dated(self) -> tuple[str, ...]:
        """The sessions whose names begin with their time, as those of imported ones do not."""
        return tuple(name for name in self.sessions if name[:1].isdigit())

    @property
    def newest(self) -> str:
        """The newest session of which the time is known (empty if there is none)."""
        return max(self.dated, default="")

    @property
    def since(self) -> str:
        """When the oldest one began, to a second: names of sessions from then on are no less."""
        return min(self.dated, default="").partition("Z")[0]

    @property
    def first_run(self) -> bool:
        """Whether a first run came before its repetitions, as `runtime: auto` makes one: not before imported
        ones.
        """
        return self.runtime is not None and bool(self.newest)

    def by_session(self, name: str) -> dict[str, tuple[float, ...]]:
        """Return a metric's values by session; none if it is a published one, or is not known."""
        known = self.metrics.get(name)
        if not isinstance(known, tuple):
            return {}
        return dict(zip(self.partial.get(name, self.sessions), known, strict=False))


@dataclass(frozen=True)
class MetricVerdict:
    """What the gate says of one metric; `change`, `interval` and `tolerance` are relative and signed as the
    number moved.

    `bound` is the value at which the tolerance is used up, `values` the judged repetitions. After these many
    it passes on the better side of `passes` and fails on the worse side of `fails`. `sessions` are the
    baseline's values by session. `losing` says that it is undecided, or passes by a tolerance from the data,
    and its level would have regressed if its noise were surely what is usual on the device, or that each
    repetition is far worse than the worst of the baseline, `displaced` that
    it depends on its place in a session, which is another one than in those of the baseline. Of a pair:
    `place_effect` is by how much the place of arm B is better for the number than that of A (it is not in
    `change`), `noise` by how much a block scatters.
    """

    metric: Metric
    verdict: VerdictName
    value: float
    values: tuple[float, ...]
    gating: bool
    reason: str = ""
    baseline: float | None = None
    change: float | None = None
    interval: tuple[float, float] | None = None
    tolerance: float | None = None
    bound: float | None = None
    minimum_detectable: float | None = None
    place_effect: float | None = None
    noise: float | None = None
    passes: float | None = None
    fails: float | None = None
    sessions: Mapping[str, tuple[float, ...]] = field(default_factory=_empty)
    losing: bool = False
    displaced: bool = False


@dataclass(frozen=True)
class Verdict:
    """What the gate says of a workload: the worst of its gating metrics, with the reason in a sentence.

    `keep` says that what was measured becomes a baseline, or part of it.
    """

    verdict: VerdictName
    reason: str
    metrics: tuple[MetricVerdict, ...] = ()
    findings: tuple[Finding, ...] = ()
    repetitions: int = 0
    keep: bool = False

    @property
    def passed(self) -> bool:
        return self.verdict in PASSED


@dataclass(frozen=True)
class PairFacts:
    """How a pair was measured: what arm A is, what the places are (`iogate.measure.bench.Places`), and why it
    was by whole runs (empty: by slices). `candidate` is what arm B is, where it is another place.
    """

    base: str
    places: str
    why: str = ""
    candidate: str = ""


@dataclass(frozen=True)
class WorkloadResult:
    """All that a session found out about one workload; `id` is its pytest id.

    `failure` says why the measurement cannot be trusted (then the verdict is `invalid`), or is None.
    `warmup` are the repetitions before the device was steady, kept and not judged. `device_seconds` is the
    wall time of all engine runs. `pair` is there where it was judged against an arm A.
    """

    id: str
    workload: Workload
    verdict: Verdict
    repetitions: tuple[Repetition, ...] = ()
    failure: IogateError | None = None
    warmup: tuple[Repetition, ...] = ()
    device_seconds: float = 0.0
    differences: tuple[str, ...] = ()
    pair: PairFacts | None = None
