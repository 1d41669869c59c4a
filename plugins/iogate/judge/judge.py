"""What a session asks of a judge, whatever it holds a workload against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from iogate.judge.borrowed import Borrowed
from iogate.model import Environment, Repetition, Verdict, Workload

if TYPE_CHECKING:
    from iogate.judge.gate import Sensitivity


@dataclass(frozen=True)
class GateOptions:
    """How sure the gate has to be: error rates, and the repetitions that it may ask for.

    `max_blocks` are the most blocks of a pair. `tolerance` replaces those of the suites (None: theirs hold).
    With `extend` noisy repetitions may take more than `max_repetitions`, which nobody asked for then.
    `metrics` counts the gating metrics of the whole session, among which a false alarm is shared out.
    `borrowed` is what other baselines tell about the noise, and `of_suite` what those of the workload's own
    suite do by themselves (None: there are no others).
    """

    alpha: float = 0.01
    beta: float = 0.05
    max_repetitions: int = 12
    extend: bool = False
    max_blocks: int = 60
    tolerance: float | None = None
    metrics: int = 1
    borrowed: Borrowed | None = None
    of_suite: Borrowed | None = None


@dataclass(frozen=True)
class Expectation:
    """What a judge will do with a gating metric, known beforehand.

    `typical` is what the metric is held against and `tolerance` the smallest change that matters, as a
    fraction (None: not known). `sensitivity` is None where there are no error rates.
    """

    typical: float | None
    tolerance: float | None
    sensitivity: Sensitivity | None


class Judge(Protocol):
    """Who says when a workload was measured often enough, and what to think of it."""

    @property
    def against(self) -> str:
        """What the workload is held against, for people."""
        ...

    @property
    def minimum(self) -> int:
        """The fewest repetitions that can be decided about."""
        ...

    @property
    def newest(self) -> str:
        """The newest session known of the workload: its name, which begins with its time; empty if none."""
        ...

    @property
    def maximum(self) -> int:
        """The most repetitions that the workload gets."""
        ...

    @property
    def usual(self) -> int:
        """The repetitions that it usually takes."""
        ...

    @property
    def runtime(self) -> float | None:
        """The seconds that `runtime: auto` chose for what the workload is held against; None: none."""
        ...

    @property
    def first_run(self) -> bool:
        """Whether a first run came before what the workload is held against."""
        ...

    @property
    def effort(self) -> str:
        """What the number of repetitions depends on, for people; empty where it is as usual."""
        ...

    @property
    def uncertainty(self) -> float:
        """How far the last look was from a verdict: the greater, the more another repetition is worth."""
        ...

    def check(self, environment: Environment) -> None:
        """Raise MeasurementError if what is measured there could not be judged."""
        ...

    def look(self, repetitions: Sequence[Repetition]) -> bool:
        """Look at all repetitions so far; True when no further one is needed."""
        ...

    def verdict(self, repetitions: Sequence[Repetition], cut_short: str = "") -> Verdict:
        """Return the verdict on what was measured and looked at; `cut_short` says why no more repetitions
        came, if so.
        """
        ...

    def expectations(self) -> Mapping[str, Expectation]:
        """Return what will be done with each gating metric that is held against something."""
        ...

    def differences(self, environment: Environment) -> Sequence[str]:
        """Return what differs between this environment and that of what the workload is held against."""
        ...


class Judges(Protocol):
    """Who appoints a judge for each workload of a session, who is to be as sure as `options` say."""

    @property
    def options(self) -> GateOptions:
        """How sure a judge has to be."""
        ...

    def expect(self, metrics: int) -> None:
        """Hear how many gating metrics are to be judged together."""
        ...

    def appoint(self, workload: Workload, gating: Sequence[str]) -> Judge | Verdict:
        """Return the judge of a workload, or the verdict on it if there is no point in measuring.

        Raises IogateError if what it would be held against cannot be read.
        """
        ...

    def appoint_for_pair(
        self, workload: Workload, gating: Sequence[str], against: str, *, crossover: bool
    ) -> Judge:
        """Return the judge of a workload that is measured by turns with an arm A, `against` in a few words;
        `crossover` if the arms change places.
        """
        ...
