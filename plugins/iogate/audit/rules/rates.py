"""Checks of rates: bandwidth, IOPS and block size against each other, and what a ramp makes of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from iogate.audit.evidence import Check, Evidence, Findings, finding
from iogate.audit.rules.figures import SYNCHRONOUS
from iogate.units import format_duration, format_quantity

_WRONG, _DOUBTFUL, _ROUNDED = 0.5, 0.05, 0.01
_OF_A_RAMP, _TOLD_OF_A_RAMP = 0.1, 0.05
"""By how much what is in flight at the end of a ramp may put a rate off that decides, and without a word."""


@dataclass(frozen=True)
class _Clash:
    """That a `bandwidth` (B/s) is not `iops` x `block` (bytes): by the share `error` of that, beyond what fio
    rounds.
    """

    direction: str
    bandwidth: float
    iops: float
    block: float
    error: float

    @property
    def above(self) -> bool:
        return self.bandwidth > self.iops * self.block

    def __str__(self) -> str:
        expected = self.iops * self.block
        return (
            f"{self.direction} bandwidth {format_quantity(self.bandwidth, 'B/s')} is "
            f"{abs(self.bandwidth / expected - 1):.1%} {'above' if self.above else 'below'} "
            f"{format_quantity(self.iops, 'IOPS')} x {self.block:.0f} B = {format_quantity(expected, 'B/s')}"
        )


def bandwidth(evidence: Evidence) -> Findings:
    """Check that bandwidth = IOPS x block size, or lies between those of the least and the largest block.

    `invalid` if it is more than 50% off, `suspect` above 5%, `note` above 1%; for the first two the share
    that the longest I/O has of the run is allowed on top, as what began in a ramp is counted of what ended.
    Where `ramp` tells of it, nothing is said here.

    Find the block size or the unit that was meant.
    """
    for direction, traffic in evidence.traffic.items():
        rate, shown = evidence.metric(direction, "iops"), evidence.metric(direction, "bandwidth")
        if rate and shown is not None and not (traffic.bytes or evidence.blocks):
            words = f"{direction} bandwidth is {format_quantity(shown, 'B/s')}"
            words += f" at {format_quantity(rate, 'IOPS')}"
            yield finding("invalid", words, "so few digits say nothing (fio's significant_figures)")
        clash = _clash(evidence, direction)
        if clash is None or any(True for _ in _of_a_ramp(evidence, direction)):
            continue
        edge, remedy = _edge(evidence), "another block size or unit than said"
        if clash.error < _DOUBTFUL + edge / max(1 - edge, 0.1):
            remedy = "I/Os of seconds at the end of a ramp do that: a longer runtime makes it small"
        wrong, doubtful = (clash.error > most + edge for most in (_WRONG, _DOUBTFUL))
        yield finding("invalid" if wrong else "suspect" if doubtful else "note", str(clash), remedy)


def ramp(evidence: Evidence) -> Findings:
    """Find rates that what was in flight at the end of a ramp (`ramp_time`) puts off, where they decide.

    fio counts that as bytes, and not as I/Os. `invalid` where bandwidth and IOPS x block size differ by more
    than 10%, `suspect` above 5%: one of the two is off by as much, and which one depends on how the queue
    comes to its end. Bandwidth is right where the run was longer than asked for by what was in flight: where
    it alone decides, that is `suspect`. Of blocks of several sizes as much as was in flight is taken.

    Take a longer `runtime`, fewer I/Os in flight, or no `ramp_time`.
    """
    for direction in evidence.traffic:
        yield from _of_a_ramp(evidence, direction)


def _of_a_ramp(evidence: Evidence, direction: str) -> Findings:
    if not _decides_behind_a_ramp(evidence, direction):
        return
    in_flight = _in_flight_share(evidence, direction)
    if _has_several_sizes(evidence) and in_flight > _TOLD_OF_A_RAMP:
        yield finding(
            "invalid" if in_flight > _OF_A_RAMP else "suspect",
            f"{in_flight:.1%} of the I/Os were in flight when the ramp ended: bytes to fio, and no I/Os",
            _longer(evidence, in_flight),
        )
        return
    clash = _clash(evidence, direction)
    if clash is None or clash.error <= _TOLD_OF_A_RAMP:
        return
    right = clash.above and _bandwidth_holds(evidence, direction, clash.error)
    most = _WRONG + _edge(evidence) if right else _OF_A_RAMP
    yield finding(
        "invalid" if clash.error > most else "suspect",
        f"{clash}: what is in flight at the end of a ramp is bytes to fio, and no I/Os",
        _longer(evidence, clash.error),
    )


def _clash(evidence: Evidence, direction: str) -> _Clash | None:
    """Return how bandwidth and IOPS of a direction differ; None where they do not, or one is not known."""
    traffic = evidence.traffic[direction]
    rate, shown = evidence.metric(direction, "iops"), evidence.metric(direction, "bandwidth")
    if not rate or shown is None:
        return None
    mean = traffic.bytes / traffic.operations
    least, most = evidence.blocks or (mean, mean)
    block = min(max(shown / rate, least), most)
    if not block:
        return None
    slack = 1024 + block / max(evidence.duration, 1e-3)  # fio rounds to KiB/s, and counts the I/O at the edge
    error = max(0.0, abs(shown - rate * block) - slack) / (rate * block)
    return None if error < _ROUNDED else _Clash(direction, shown, rate, block, error)


def _edge(evidence: Evidence) -> float:
    """Return the share that the longest I/O has of the run."""
    return evidence.longest / evidence.duration if evidence.duration else 0.0


def _has_several_sizes(evidence: Evidence) -> bool:
    return evidence.blocks is not None and evidence.blocks[0] != evidence.blocks[1]


def _longer(evidence: Evidence, error: float) -> str:
    """Return how long a run has to be so that an error of its ramp is small."""
    small = _TOLD_OF_A_RAMP
    enough = format_duration(math.ceil(evidence.duration * error / small))
    return f"a runtime of {enough} makes it {small:.0%}; or keep fewer I/Os in flight, or leave out ramp_time"


def _in_flight_share(evidence: Evidence, direction: str) -> float:
    """Return what share of the I/Os of a direction is in flight at a time, as far as that is known; none of
    them is left behind a ramp where each is begun and ended in one call.
    """
    if evidence.options.get("ioengine") in SYNCHRONOUS:
        return 0.0
    rate, latency = evidence.metric(direction, "iops"), evidence.latency(direction)
    flying = rate * latency / 1e9 if rate and latency else None
    known = [count for count in (evidence.possible, flying) if count is not None]
    return min(known, default=0.0) / evidence.traffic[direction].operations


def _bandwidth_holds(evidence: Evidence, direction: str, error: float) -> bool:
    """Return whether bandwidth alone decides, and is right: what was in flight came to its end in the time
    that counts, by which the run was longer than asked for.
    """
    asked = evidence.number("runtime")
    alone = not any(name.endswith(f"{direction}.iops") for name in evidence.gating)
    ending = evidence.duration * error / (1 + error)
    return alone and asked is not None and evidence.duration - asked > ending / 2


def _decides_behind_a_ramp(evidence: Evidence, direction: str) -> bool:
    """Return whether a rate of this direction decides on a workload whose figures begin behind a ramp."""
    return evidence.declared and _decides(evidence, direction) and evidence.given_to_any("ramp_time")


def _decides(evidence: Evidence, direction: str) -> bool:
    rates = (f"{direction}.iops", f"{direction}.bandwidth")
    return any(name.endswith(rates) for name in evidence.gating)


CHECKS: tuple[Check, ...] = (bandwidth, ramp)
