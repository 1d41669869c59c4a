"""What is thought of what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from iogate.errors import IogateError
from iogate.model.measured import Finding, Repetition
from iogate.model.metrics import Metric
from iogate.model.workload import Workload

VerdictName = Literal[
    "pass", "improved", "drift", "regressed", "inconclusive", "no_baseline", "invalid", "recorded"
]

PASSED: frozenset[str] = frozenset({"pass", "improved", "drift", "recorded"})
"""The verdicts that leave a pytest test passed."""


@dataclass(frozen=True)
class MetricVerdict:
    """What the gate says of one metric; `change`, `interval` and `tolerance` are relative and signed as the
    number moved.

    `bound` is the value at which the tolerance is used up, `values` the judged repetitions. After these many
    it passes on the better side of `passes` and fails on the worse side of `fails`. `sessions` are the
    baseline's values by session. `losing` says that it is undecided, or passes by a tolerance from the data,
    and has lost more than the noise that is usual on the device explains (`iogate.judge.loss`), or that each
    repetition is far worse than the worst of the baseline, `displaced` that
    it depends on its place in a session, which is another one than in those of the baseline, `assumed` that
    nothing has shown how sessions differ; `fallen` is the change since the first session where they got worse
    from one to the next (0: they did not). Of a pair:
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
    sessions: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    losing: bool = False
    displaced: bool = False
    assumed: bool = False
    fallen: float = 0.0


@dataclass(frozen=True)
class Verdict:
    """What the gate says of a workload: the worst of its gating metrics, with the reason in a sentence.

    `keep` says that what was measured becomes a baseline, or part of it, `unfit` that there is a baseline, of
    another definition or without a gating metric, beside which there is none.
    """

    verdict: VerdictName
    reason: str
    metrics: tuple[MetricVerdict, ...] = ()
    findings: tuple[Finding, ...] = ()
    repetitions: int = 0
    keep: bool = False
    unfit: bool = False

    @property
    def passed(self) -> bool:
        return self.verdict in PASSED


@dataclass(frozen=True)
class PairFacts:
    """How a pair was measured: what arm A is, what the places are (`iogate.measure.bench.Places`), and why it
    was by whole runs (empty: by slices). `candidate` is what arm B is, where it is another place. `slice` is
    the length of a slice in seconds where it was made longer than usual, for what comes in bursts.
    """

    base: str
    places: str
    why: str = ""
    candidate: str = ""
    slice: float = 0.0

    @property
    def way(self) -> tuple[str, str]:
        """How it was measured, and why so, for people; empty texts for the usual way."""
        if self.why:
            return "by whole runs, not slices", self.why
        if self.slice:
            return f"by slices of {self.slice * 1000:.0f} ms", "data move in bursts, which shorter ones cut"
        return "", ""


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
