"""How the two arms of a trial are alternated, block by block.

docs/paired.md says why: short slices cancel the machine's noise, a block has fresh processes, and what two
places differ by goes away when the arms change places (a crossover).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, Literal

from iogate import engines
from iogate.errors import EngineError
from iogate.measure.bench import SLICE, Pair, Places
from iogate.model import ARMS, Output, Repetition, Slice, Workload

_SWITCH = 0.006  # what a turn takes beyond its slice
_SLICES = 28  # of a block: two seconds, of which the start of the engines takes a part that is worth it
_STARTED = 0.5  # seconds that the engines take to start and to end
_WHOLE_BURSTS = 0.2  # seconds of a slice: a multiple of those from one burst to the next
_NEXT_TO_NOTHING = 0.25  # of what a slice moves in the mean
_EMPTY = 1 / 6  # of the slices of a block
_UNLIKE, _UNLIKE_ON_TARGETS = 1.25, 1.1
"""Times that the ratio of the arms in slices may be that in all of their time: on one disk who is started
first has it for himself for a moment (a sixth, as measured), on two it is 1.02 where there is no limit.
"""
_ALIKE = 2  # blocks in a row: in one something else may have stalled
_SHORT = 2.0  # seconds of a whole run, of which many are worth more than few long ones
LONG = 1.5
"""Seconds of a whole run of both arms from which on a block has but one of each."""
_CLAIMED, _BESIDE = 1.1, 2**20
"""How much more than the engine claims the kernel may count for it, in parts and in bytes."""
_HALF = 6  # blocks of one arrangement, where a change of places takes long
_UNLIKE_SETTINGS = "what unlike settings have in flight where they are stopped is not alike"
Crossover = Literal["", "blocks", "halves"]


@dataclass(frozen=True)
class Pairing:
    """How the arms of a trial are alternated: by `slices` in a block, or by whole runs (None) and `why`.

    The arms change places from block to block (`blocks`), half-way (`halves`), or not at all. `seconds` is
    what a block takes, about, and `slice` what a slice of it does, which may be `chosen` by the user.
    """

    places: Places
    slices: int | None
    crossover: Crossover
    seconds: float
    why: str = ""
    slice: float = SLICE
    chosen: bool = False

    @classmethod
    def of(
        cls,
        workloads: Sequence[Workload],
        gating: Sequence[str],
        places: Places,
        slice: float | None = None,
    ) -> Pairing:
        """Choose for arms A and B; `slice` is what the user has chosen.

        Arms of unlike settings are measured by whole runs: what one has in flight when it is stopped ends in
        the turn of the other, and as many begin at once when it goes on. That is as much for both arms only
        where these do the same.
        """
        whole = ((item, engines.load(item.engine)) for item in workloads)
        why = next(filter(None, (_indivisible(item, engine, gating) for item, engine in whole)), "")
        if not why and workloads[0].options != workloads[1].options:
            why = _UNLIKE_SETTINGS
        crossovers: Mapping[Places, Crossover] = {"copies": "blocks", "images": "halves"}
        crossover = crossovers.get(places, "")
        if why:
            return cls(places, None, crossover, _whole_runs_of(workloads), why)
        own = SLICE if slice is None else slice
        return cls(places, _SLICES, crossover, _block_of(own), slice=own, chosen=slice is not None)

    def otherwise(self, blocks: Sequence[Repetition], workloads: Sequence[Workload]) -> Pairing | None:
        """Return how to alternate these workloads instead where two blocks show that their slices do not hold
        what the arms do; None if all is well as it is.

        Longer slices, where what they moved came in bursts that they cut, so that many were empty. A throttle
        of Linux (io.max of a cgroup) lets I/Os through each 100 ms (each 20 ms before SSDs): throtl_slice in
        block/blk-throttle.c. Whole runs, where the arms do not stand to each other in their slices as they do
        in all of their time, as behind a throttle each: what it grants to a stopped arm, one does when its
        turn comes, and the other before that. So they do where bursts are those of two targets.
        """
        if self.slices is None or len(blocks) != _ALIKE:
            return None
        why = ""
        if all(_in_bursts(block.slices) for block in blocks):
            if self.places == "targets":
                why = "two targets let I/Os through in bursts, as behind a limit each"
            elif not self.chosen and self.slice < _WHOLE_BURSTS:
                return replace(self, slice=_WHOLE_BURSTS, seconds=_block_of(_WHOLE_BURSTS))
        most = _UNLIKE_ON_TARGETS if self.places == "targets" else _UNLIKE
        if min(abs(math.log(_apart_from_all_time(block))) for block in blocks) > math.log(most):
            why = "slices do not hold what the arms do, as behind a limit each"
        return replace(self, slices=None, seconds=_whole_runs_of(workloads), why=why) if why else None

    def pair(self, workloads: tuple[Workload, Workload], number: int, seed: str) -> Pair:
        """Return what block `number` (from 0) of a trial alternates; `seed` is the trial's."""
        own = _number(f"{seed} {number}")
        swapped = self._swapped(number, seed)
        if self.slices is None:
            first, second = map(_shortened, workloads)
            return Pair((first, second), self.places, own, swapped)
        seconds = (self.seconds - _STARTED) * 1.05 + 0.2  # beyond the last slice, so that it is a whole one
        first, second = (_lasting(workload, seconds, own + arm) for arm, workload in enumerate(workloads))
        return Pair((first, second), self.places, own, swapped, self.slices, self.slice)

    def _swapped(self, number: int, seed: str) -> bool:
        """Return whether the arms have changed places in a block: of two blocks in one, chosen at random, or
        in the second half of twelve, then in the first of the next, so that they change seldom.
        """
        if self.crossover == "blocks":
            return bool(Random(f"{seed} {number // 2}").randrange(2) ^ (number % 2))
        return self.crossover == "halves" and bool((number + _HALF) // (2 * _HALF) % 2)


def _block_of(slice: float) -> float:
    """Return what a block of slices takes, in seconds."""
    return _SLICES * (slice + _SWITCH) + _STARTED


def _whole_runs_of(workloads: Sequence[Workload]) -> float:
    """Return what a block of whole runs takes, in seconds."""
    seconds = sum(_needs_seconds(_shortened(item)) for item in workloads)
    return seconds * (1 if seconds > LONG else 2)


def _apart_from_all_time(block: Repetition) -> float:
    """Return the ratio of arm B to arm A in their slices, over that in all the time of their engines, which
    was the same; 1 if that is not known.
    """
    rates = []
    for arm, whole in zip(ARMS, (block.base, block), strict=True):
        own = [item for item in block.slices if item.arm == arm]
        done = whole.output.traffic.values() if whole else ()
        moved = sum(item.read + item.written for item in own)
        seconds, lasted = sum(item.seconds for item in own), max((one.seconds for one in done), default=0.0)
        claimed = sum(one.bytes for one in done)
        if not (moved and seconds and lasted and claimed):
            return 1.0
        rates.append((moved / seconds) / (claimed / lasted))
    return rates[1] / rates[0]


def _in_bursts(slices: Sequence[Slice]) -> bool:
    """Return whether many slices moved next to nothing of what those of their arm do in the mean."""
    empty = 0
    for arm in ARMS:
        moved = [item.read + item.written for item in slices if item.arm == arm]
        empty += sum(one * len(moved) < _NEXT_TO_NOTHING * sum(moved) for one in moved)
    return empty > _EMPTY * len(slices)


def figures_of_slices(output: Output, slices: Sequence[Slice], arm: str) -> Output:
    """Return the output of an arm with what it did in its slices as its only metrics: the engine's rates are
    over a time in which it was stopped, and its latencies contain the stops.

    Raises EngineError if it moved nothing in a direction in which it claims to have worked.
    """
    seconds = sum(item.seconds for item in slices)
    metrics: dict[str, float] = {}
    for direction, traffic in output.traffic.items():
        moved = sum(item.read if direction == "read" else item.written for item in slices)
        if not traffic.operations or direction not in ("read", "write"):
            continue
        if not moved:
            raise EngineError(
                f"arm {arm}: the kernel counted no {direction} in {len(slices)} slices, the engine claims "
                f"{traffic.bytes} bytes in all of its run",
                remedy="longer slices (--io-slice) hold more I/Os",
            )
        if moved > _CLAIMED * traffic.bytes + _BESIDE:
            raise EngineError(
                f"arm {arm}: the kernel counted {moved} bytes of {direction}s in {len(slices)} slices, the "
                f"engine claims {traffic.bytes} in all of its run",
                remedy="gate a latency as well: then whole runs are measured, by turns",
            )
        metrics[f"{direction}.bandwidth"] = moved / seconds
        metrics[f"{direction}.iops"] = moved / seconds / (traffic.bytes / traffic.operations)
    return replace(output, metrics=metrics, histograms={})


def arm_of(runs: Sequence[Repetition], folder: Path) -> Repetition:
    """Return the runs of one arm in a block as one: the mean of each metric that all have."""
    names = [name for name in runs[0].metrics if all(name in run.metrics for run in runs)]
    metrics = {name: statistics.fmean(run.metrics[name] for run in runs) for name in names}
    output = replace(runs[-1].output, metrics=metrics, histograms={})
    findings = tuple(dict.fromkeys(item for run in runs for item in run.findings))
    last = runs[-1]
    return replace(
        Repetition(output, sum(run.seconds for run in runs), str(folder), findings),
        command=last.command,
        files=last.files,
    )


def block_of(arms: Sequence[Repetition], slices: tuple[Slice, ...]) -> Repetition:
    """Return a block of both arms: what B did, with what A did as its base; findings say which arm it is."""
    base, candidate = arms
    named = [
        replace(item, message=f"{name}: {item.message}")
        for name, arm in zip(ARMS, arms, strict=True)
        for item in arm.findings
    ]
    return replace(candidate, findings=tuple(named), base=base, slices=slices)


def _indivisible(workload: Workload, engine: engines.Engine, gating: Sequence[str]) -> str:
    if not isinstance(engine, engines.Alternates):
        return f"a run of {workload.engine} is a whole"
    return engine.indivisible(workload.options, gating)


def _lasting(workload: Workload, seconds: float, seed: int) -> Workload:
    engine = engines.load(workload.engine)
    assert isinstance(engine, engines.Alternates)
    return replace(workload, options=engine.lasting(workload.options, seconds, seed))


def _shortened(workload: Workload) -> Workload:
    engine = engines.load(workload.engine)
    if not isinstance(engine, engines.Alternates):
        return workload
    options: dict[str, Any] = engine.shortened(workload.options, _SHORT)
    return replace(workload, options=options)


def _needs_seconds(workload: Workload) -> float:
    return engines.load(workload.engine).needs(workload).seconds


def _number(text: str) -> int:
    return int(sha256(text.encode()).hexdigest()[:7], 16)
