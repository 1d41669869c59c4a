"""One workload on its way to a verdict: bringing the device to rest, and the repetitions that count."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from iogate import engines
from iogate.errors import MeasurementError
from iogate.judge.enough import allowed_variances
from iogate.judge.judge import GateOptions, Judge
from iogate.measure.bench import SLICE, Arm, Pair
from iogate.measure.pairing import Pairing
from iogate.measure.steady import Criterion, steadiness
from iogate.model import Finding, Needs, PairFacts, Repetition, Workload, WorkloadResult, metric

SHORTEST, LONGEST = 5.0, 60.0
"""Seconds of a repetition whose length is chosen."""


_FIRST_BLOCKS = 4  # none of which can decide


def notes_of(workload: Workload) -> list[Finding]:
    """Return what of a workload's declaration has no effect."""
    return [Finding("left_out", "note", text) for text in workload.notes]


def allowed_variance(workload: Workload, gating: Sequence[str], options: GateOptions) -> float:
    """Return the variance between repetitions that the declared tolerances of a workload allow; those of
    throughput, as its seconds are known.
    """
    allowed = allowed_variances(workload, gating, options).items()
    return min((each for name, each in allowed if metric(name).direction == "higher"), default=math.inf)


@dataclass
class Trial:
    """One workload on its way to a verdict, which rests on the `gating` metrics.

    `pilot` and `warmup` are kept and not judged: a first run to find the length of a repetition, and what was
    measured before the steady state, or in slices that were too short. `preparation` are those that only
    brought the device to rest. `allowed` is the variance between repetitions that its tolerances allow, by
    which that length is chosen; `chosen` says that it is. `first` is what a first run that is still to come
    will measure.
    """

    id: str
    arms: tuple[Arm, ...]
    gating: tuple[str, ...]
    judge: Judge
    pairing: Pairing | None = None
    repetitions: list[Repetition] = field(default_factory=list)
    pilot: Repetition | None = None
    warmup: list[Repetition] = field(default_factory=list)
    preparation: list[Repetition] = field(default_factory=list)
    notes: list[Finding] = field(default_factory=list)
    allowed: float = math.inf
    chosen: bool = False
    result: WorkloadResult | None = None
    first: Workload | None = field(init=False)

    def __post_init__(self) -> None:
        automatic = self.workload.procedure.get("runtime") == "auto" and not self.pairing
        self.first = self.workload if automatic else None

    @property
    def arm(self) -> Arm:
        """The arm that is judged: the only one, or B."""
        return self.arms[-1]

    @property
    def workload(self) -> Workload:
        """The workload that is measured."""
        return self.arm.workload

    @property
    def needs(self) -> Needs:
        """What one repetition asks of the target."""
        return self.arm.needs

    @property
    def seconds(self) -> float:
        """What one repetition takes at most, in seconds; of a pair a block."""
        return self.pairing.seconds if self.pairing else self.needs.seconds

    @property
    def apart(self) -> bool:
        """True where repetitions run back to back, apart from other workloads."""
        return self.workload.fixed and not self.pairing

    @property
    def base(self) -> str:
        """What arm A is, in a few words."""
        if self.pairing is None:
            return ""
        if self.workload.against is None:
            return self.arm.bench.base
        return "the same data with " + ", ".join(
            _differences(self.workload.against or {}, self.workload.options)
        )

    @property
    def facts(self) -> PairFacts | None:
        """How a pair is measured."""
        if self.pairing is None:
            return None
        candidate = self.arm.bench.candidate if self.workload.against is None else ""
        pairing = self.pairing
        longer = pairing.slice if pairing.slices and pairing.slice > SLICE and not pairing.chosen else 0.0
        return PairFacts(self.base, pairing.places, pairing.why, candidate, longer)

    def pair(self, session: str) -> Pair:
        """Return what the next block alternates, in a session of this name. Raises IogateError."""
        assert self.pairing
        first, second = self.arms
        number = len(self.repetitions)
        return self.pairing.pair((first.workload, second.workload), number, f"{session} {self.id}")

    @property
    def sure(self) -> bool:
        """True when no further repetition is needed: the judge is sure, or the limit is reached."""
        if not self.repetitions:
            return False
        return self.judge.look(self.repetitions) or len(self.repetitions) >= self.judge.maximum

    @property
    def limit(self) -> int:
        """The number of the last repetition that it may get."""
        return self.judge.maximum + (len(self.warmup) if self.pairing else 0)

    @property
    def usual(self) -> int:
        """The repetitions that it usually takes."""
        return self.judge.usual

    @property
    def label(self) -> int | str:
        """What the next repetition is called: `pilot`, `round-3` until the device is steady, or a number."""
        if self.needs_pilot:
            return "pilot"
        if self.criterion and not self.repetitions:
            return f"round-{len(self.warmup) + 1}"
        return len(self.repetitions) + 1 + (len(self.warmup) if self.pairing else 0)

    @property
    def needs_pilot(self) -> bool:
        """True while a first run is still to come: to tell how long the others should be, or as there was one
        before those of the baseline.
        """
        return self.first is not None

    @property
    def coming(self) -> Workload:
        """What the next repetition measures: the workload, or what a first run does."""
        return self.first or self.workload

    @property
    def lead(self) -> float:
        """Seconds that a first run takes which is to tell nothing; 0 if there is none to come."""
        return replace(self.arm, workload=self.first).needs.seconds if self.first and self.chosen else 0.0

    @property
    def spent(self) -> float:
        """Seconds of device time so far."""
        return sum(item.seconds for item in (*self.preparation, *self.unjudged, *self.repetitions))

    @property
    def unjudged(self) -> tuple[Repetition, ...]:
        """The repetitions of the workload that are kept and not judged, in their order."""
        return (*([self.pilot] if self.pilot else ()), *self.warmup)

    @property
    def criterion(self) -> Criterion | None:
        """When the device is steady enough for this workload; None if it need not be, as what changes befalls
        both arms of a pair.
        """
        asked = self.workload.procedure.get("steady_state")
        if asked is None or self.pairing:
            return None
        return Criterion(asked["rounds"], asked["range"], asked["slope"], asked["max_rounds"])

    def take(self, repetition: Repetition, longest: float = LONGEST) -> None:
        """Take a repetition in; those that follow a pilot take `longest` seconds at most. Raises
        MeasurementError if the device does not come to rest.
        """
        if self.first:
            self.first, self.pilot = None, repetition
            if not self.chosen:
                self._choose_length(repetition, longest)
        elif self.criterion and not self.repetitions:
            self.warmup.append(repetition)
            self._settle(self.criterion)
        else:
            self.repetitions.append(repetition)
            self._alternate_otherwise()

    def _alternate_otherwise(self) -> None:
        """Begin anew where two of the first blocks show that their slices do not hold what the arms do. Later
        ones were looked at: what is left out then would be chosen by what it showed.
        """
        if self.pairing is None or len(self.repetitions) > _FIRST_BLOCKS:
            return
        workloads = [arm.workload for arm in self.arms]
        instead = self.pairing.otherwise(self.repetitions[-2:], workloads)
        if instead:
            self.pairing = instead
            self.warmup += self.repetitions
            self.repetitions = []

    def keep_length(self, seconds: float, *, first_run: bool) -> None:
        """Let repetitions last as long as those of the baseline did, behind a first run if those were: a
        device that slows down as it works, as one with a cache that fills, has another speed in others.
        """
        if not self.first:
            return
        behind = ", and behind a first run as they were" if first_run else ""
        self._last(seconds, f"{seconds:g} s, as those of the baseline{behind}")
        if not first_run:
            self.first = None

    def _last(self, seconds: float, reason: str) -> None:
        self.chosen = True
        self.notes.append(Finding("repetition_length", "note", f"repetitions of {reason}"))
        options = {**self.workload.options, "runtime": seconds}
        workload = replace(self.workload, options=engines.load(self.workload.engine).options(options))
        self.arms = (replace(self.arm, workload=workload),)

    def _choose_length(self, pilot: Repetition, longest: float) -> None:
        """Let the seconds of a first repetition tell how long the others should be."""
        from iogate.judge.gate import repetition_length

        beside = pilot.seconds - float(self.workload.options["runtime"])  # to begin, to rest, and to end
        length = repetition_length(
            [pilot.series],
            max(beside, 1.0),
            shortest=SHORTEST,
            longest=max(SHORTEST, math.floor(min(longest - max(beside, 0.0), LONGEST))),
            allowed=self.allowed,
        )
        self._last(float(round(length.seconds)), length.reason)

    def _settle(self, criterion: Criterion) -> None:
        tracked = [item.metrics.get(self.gating[0], 0.0) for item in self.warmup]
        state = steadiness(tracked, criterion)
        if state and state.reached:
            self.repetitions = self.warmup[-criterion.rounds :]
            self.warmup = self.warmup[: -criterion.rounds]
        elif len(self.warmup) >= criterion.limit:
            assert state
            raise MeasurementError(
                f"{self.gating[0]} is not steady after {criterion.limit} rounds: {state.text(criterion)}",
                remedy="precondition the device for longer, or allow more rounds",
            )

    def preparations(self) -> Iterator[tuple[str, Workload, int]]:
        """Yield what to run before the first repetition, with labels, and where, by the number of the arm:
        sequential fills, then random writes until steady. The caller appends each to `preparation`.
        """
        asked = self.workload.procedure.get("precondition")
        if not asked or self.preparation:
            return
        apart = self.pairing is not None and self.pairing.places != "one"
        for arm in (0, 1) if apart else (1,):
            for label, workload in self._bring_to_rest(asked):
                yield f"{self.arms[arm].name}-{label}" if apart else label, workload, arm

    def _bring_to_rest(self, asked: Mapping[str, Any]) -> Iterator[tuple[str, Workload]]:
        engine = engines.load(engines.preconditioner())
        assert isinstance(engine, engines.BringsToRest)
        for number in range(1, asked["fill"] + 1):
            yield f"fill-{number}", self._preparation(engine.fill(self.workload.options))
        if asked["random"]:
            criterion = self.criterion or Criterion()
            rates: list[float] = []
            while not (state := steadiness(rates, criterion)) or not state.reached:
                if len(rates) >= criterion.limit:
                    assert state
                    raise MeasurementError(
                        f"preconditioning did not make the device steady: {state.text(criterion)}"
                    )
                yield f"random-{len(rates) + 1}", self._preparation(engine.overwrite(self.workload.options))
                rates.append(self.preparation[-1].metrics.get("write.iops", 0.0))

    def _preparation(self, options: dict[str, Any]) -> Workload:
        own = self.workload
        return Workload(own.name, own.suite, engines.preconditioner(), options, own.position)


def _differences(base: Mapping[str, Any], own: Mapping[str, Any], within: str = "") -> Iterator[str]:
    """Yield the options of arm A, the `base`, that differ from the workload's own, `within` what they are."""
    for name in dict.fromkeys([*base, *own]):
        known, other, called = base.get(name), own.get(name), f"{within}{name}"
        if known == other:
            continue
        if isinstance(known or other, Mapping):
            yield from _differences(known or {}, other or {}, f"{called}.")
        else:
            yield f"{called}: {known}" if name in base else f"no {called}"
