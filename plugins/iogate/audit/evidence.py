"""What a check gets to see, and what it answers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

from iogate.audit.snapshot import Snapshot
from iogate.model import (
    FILLED,
    Finding,
    Needs,
    Output,
    Severity,
    Slice,
    Span,
    Traffic,
    Workload,
)
from iogate.units import parse_size

Findings: TypeAlias = Iterator[Finding]
PERCENTILE = re.compile(r"(?P<series>.+)\.p(?P<percent>\d+(?:\.\d+)?)")
"""The name of a metric that is a percentile."""
_CLOCK = 0.0015  # s: engines round times to milliseconds
RINGS = frozenset({"io_uring", "io_uring_cmd"})
"""ioengines of fio that keep as many I/Os in flight as `ring_depth` says."""
_BLOCK_OPTIONS = ("bs", "blocksize", "bsrange", "blocksize_range", "bssplit")


def finding(severity: Severity, message: str, remedy: str = "") -> Finding:
    """Make a finding: how bad, the evidence in numbers, and what to do. The name of its check comes later."""
    return Finding("", severity, message, remedy)


@dataclass(frozen=True)
class ClientRun:
    """What one of several clients did, called `name` on `host`: the `version` of its engine, when it ran (on
    our clock), by how many seconds its own is `ahead` and has `moved` in the run, both as far as can be told
    (`uncertain`), and its `rate` in B/s.
    """

    name: str
    host: str
    version: str
    span: Span
    ahead: float
    moved: float
    uncertain: float
    rate: float


@dataclass(frozen=True)
class Evidence:
    """One repetition as the checks see it.

    `options` are the workload's over those that the output states. `seconds` is the engine's wall time (None
    for an existing output), `before` and `after` are the readings around it, `link` is the limit of the link
    in B/s (None: what /sys says), `memory` the machine's in bytes where nothing was read, `file_system` the
    type of the target's (empty: none, or not known), `blank` the share of blocks without data in a sample of
    a block device (None: not looked at; `blank_beside` in that of the other arm), `gating` the metrics that
    will be judged. `declared` is False for an existing output of which no workload is known. `beside` is what
    another engine of ours did on the same disk at the time, by direction (`apart`: on another partition of
    it), and `slices` are those of this arm of a pair. `clients` are those whose output this is, where there
    were several. `series` is the bandwidth of what is under the target second by second, by its own counters
    (B/s; empty: not known).
    """

    output: Output
    options: Mapping[str, Any]
    needs: Needs
    engine: str = "fio"
    seconds: float | None = None
    before: Snapshot | None = None
    after: Snapshot | None = None
    link: float | None = None
    memory: int | None = None
    file_system: str = ""
    blank: Mapping[str, float] | None = None
    blank_beside: Mapping[str, float] | None = None
    gating: tuple[str, ...] = ()
    declared: bool = True
    beside: Mapping[str, Traffic] = field(default_factory=dict)
    apart: bool = False
    slices: Sequence[Slice] = ()
    clients: Sequence[ClientRun] = ()
    series: Sequence[float] = ()

    @classmethod
    def of(
        cls,
        workload: Workload,
        output: Output,
        needs: Needs,
        *,
        gating: Sequence[str] = (),
        **known: Any,
    ) -> Evidence:
        """Take the evidence of an output that stands for a workload; `known` is what else there is."""
        passed = workload.options.get(workload.engine)
        own = passed if isinstance(passed, Mapping) else {}
        options = {**output.options, **workload.options, **own}
        found = cls(output, options, needs, workload.engine, gating=tuple(gating), **known)
        mount = found.after.mount if found.after else None
        return replace(found, file_system=mount.file_system) if mount else found

    @cached_property
    def duration(self) -> float:
        """The longest time that the engine claims, in seconds; 0 if it did nothing."""
        return max((traffic.seconds for traffic in self.traffic.values()), default=0.0)

    @cached_property
    def traffic(self) -> Mapping[str, Traffic]:
        """The directions in which something was done."""
        return {name: traffic for name, traffic in self.output.traffic.items() if traffic.operations > 0}

    @property
    def filled(self) -> Mapping[str, float]:
        """The share of blocks that held data of what each job read of a block device, by the name of a
        metric, as a sample of 256 tells, which can tell nothing below half of one; none if nothing was read.
        """
        if not self.blank or not self.claimed("read"):
            return {}
        shares = {name: max(1 - share, 0.5 / 256) for name, share in self.blank.items()}
        return {f"{name}.{FILLED}" if name else FILLED: share for name, share in shares.items()}

    @property
    def moved(self) -> int:
        """The bytes that the engine claims to have read and written."""
        return self.claimed("read") + self.claimed("write")

    def claimed(self, direction: str) -> int:
        """Return the bytes that the engine claims to have moved in a direction (`mixed` is neither)."""
        traffic = self.output.traffic.get(direction)
        return traffic.bytes if traffic else 0

    def metric(self, *parts: str) -> float | None:
        """Return the value of a metric, or None."""
        return self.output.metrics.get(".".join(parts))

    def number(self, name: str) -> float | None:
        """Return a numeric option; None if it is not given, not a number, or several numbers."""
        value = self.options.get(name)
        if isinstance(value, bool) or value is None:
            return None
        try:
            figure = float(value)
        except (TypeError, ValueError, OverflowError):
            return None
        return figure if math.isfinite(figure) else None

    def flag(self, name: str) -> bool:
        """Return a truth option as fio states it: `1`, `true`, or present without a value."""
        value = self.options.get(name, False)
        return value in (True, 1, "") or str(value).lower() in {"1", "true", "yes"}

    def given(self, *names: str) -> bool:
        """Return whether any option of these names, or beginning with one that ends in `*`, is set."""
        return _has(self._set, names)

    def given_to_any(self, *names: str) -> bool:
        """Return the same of options that are set for some of several jobs alone, or unlike."""
        jobs = (self.options.get("jobs") or {}).values()
        own = frozenset().union(*(_set_in(_flat(job)) for job in jobs))
        return _has(self._set.union(self.output.unlike, own), names)

    @cached_property
    def _set(self) -> frozenset[str]:
        """The options that are given and not off."""
        return _set_in(self.options)

    @property
    def seeks_depth(self) -> bool:
        """Whether fio looks for the queue depth that keeps a latency, and ends as soon as it has found it."""
        return self.given("latency_target") and not self.given("latency_run")

    @cached_property
    def block(self) -> int | None:
        """The one block size of all I/O in bytes; None if there are several, or it is not known."""
        least, most = self.blocks or (None, None)
        return least if least == most else None

    @cached_property
    def blocks(self) -> tuple[int, int] | None:
        """The least and the largest block of all jobs in bytes; None if they are not known."""
        jobs = self.options.get("jobs")
        each = [{**self.options, **_flat(job)} for job in jobs.values()] if jobs else [self.options]
        try:
            sizes = [parse_size(text) for options in each for text in _block_texts(options)]
        except (TypeError, ValueError, OverflowError):
            return None
        return (min(sizes), max(sizes)) if sizes and min(sizes) > 0 else None

    @cached_property
    def possible(self) -> float | None:
        """The most I/Os that can be in flight: iodepth x jobs; None if not known."""
        depth = self.number("iodepth")
        if depth and self.options.get("ioengine") in RINGS:
            depth = ring_depth(depth)
        return depth * max(self.output.jobs, 1) if depth else None

    @cached_property
    def in_flight(self) -> float | None:
        """I/Os in flight by Little's law (Operations Research 9(3), 1961): rate x mean total latency."""
        if self.given("verify"):
            return None  # reading back comes after writing: the two do not add up
        each = [self.in_flight_of(direction) for direction in self.traffic]
        known = [flying for flying in each if flying is not None]
        return sum(known) if known and len(known) == len(each) else None

    def in_flight_of(self, direction: str) -> float | None:
        """Return the same of one direction."""
        rate, latency = self.metric(direction, "iops"), self.latency(direction)
        return None if rate is None or latency is None else rate * latency / 1e9

    @property
    def may_read_back(self) -> bool:
        """Whether reads may be those of a `verify` that the output does not state, as fio's text never does:
        there are some in a job that writes, directions ran for different times, or are not told apart. Then
        fewer may have been in flight.
        """
        if self.declared or self.output.complete:
            return False
        mode = str(self.options.get("rw", ""))
        if "mixed" in self.traffic:
            return mode not in ("read", "randread")
        times = [traffic.seconds for traffic in self.traffic.values()]
        differ = max(times, default=0.0) > min(times, default=0.0) * 1.01 + _CLOCK
        return differ or (mode in ("write", "randwrite") and "read" in self.traffic)

    def latency(self, direction: str) -> float | None:
        """Return the mean total latency of a direction in ns: fio's `lat`, other engines' `latency`."""
        mean = self.metric(direction, "lat", "mean")
        return mean if mean is not None else self.metric(direction, "latency", "mean")

    @cached_property
    def longest(self) -> float:
        """The longest latency that was seen, in seconds."""
        return max(map(self.longest_of, self.traffic), default=0.0)

    def longest_of(self, direction: str) -> float:
        """Return the same of one direction."""
        values = [self.metric(direction, kind, "max") for kind in ("lat", "latency")]
        return max((value for value in values if value is not None), default=0.0) / 1e9


def ring_depth(depth: float) -> int:
    """Return how many I/Os fio keeps in flight by io_uring, asked for this `depth`: it makes the ring, and
    with it the depth, as large as the next power of two (its engines/io_uring.c).
    """
    return 1 << (math.ceil(depth) - 1).bit_length() if depth > 1 else 1


def _set_in(options: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(option for option, value in options.items() if value not in (None, 0, "0", False))


def _has(given: Iterable[str], names: Sequence[str]) -> bool:
    return any(
        option.startswith(name[:-1]) if name[-1] == "*" else option == name
        for name in names
        for option in given
    )


def _flat(job: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options of one of several jobs, with those that are passed through to fio."""
    return {**job, **job.get("fio", {})}


def _block_texts(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield the block sizes of one job as fio spells them: `4k,64k`, `4k-16k`, `4k/60:64k/40`. What is given
    beside a range or a split may not hold, and makes the answer no narrower.
    """
    for key in _BLOCK_OPTIONS:
        if value := options.get(key):
            yield from (re.sub(r"/.*", "", text) for text in re.split(r"[,:-]", str(value)))


Check: TypeAlias = "Callable[[Evidence], Findings]"
