"""A bench without a machine, whose figures are given and whose time is none; and who else a session needs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from iogate import engines
from iogate.errors import Position, TargetError
from iogate.judge.baseline_judge import BaselineJudge
from iogate.judge.judge import GateOptions, Judge
from iogate.judge.pair_judge import PairJudge
from iogate.judge.recorder import Recorder
from iogate.measure.bench import Pair, Places
from iogate.measure.session import Session
from iogate.measure.trial import Trial
from iogate.model import (
    Baseline,
    Command,
    Environment,
    Finding,
    Needs,
    Output,
    Place,
    Repetition,
    Slice,
    Verdict,
    Workload,
)
from iogate.target.resolve import Target

READ = "read.iops"
QUIET = ((1000.0, 1002.0, 998.0), (1001.0, 999.0, 1003.0), (997.0, 1000.0, 1002.0))
"""Sessions of a quiet device."""
Known: TypeAlias = "tuple[tuple[float, ...], ...] | Judge | Verdict"
_NOISE = (0.3, -0.8, 0.5, -0.1, 0.9, -0.6, 0.2, -0.4, 0.7, -0.9, 0.1, -0.2)


def figures(value: float = 1000.0, noise: float = 0.001) -> Iterator[float]:
    """Yield figures that scatter about a value, in every test alike."""
    for part in itertools.cycle(_NOISE):
        yield value * (1 + noise * part)


def reads(name: str, suite: str = "demo", seconds: float = 10.0, **declared: Any) -> Workload:
    """A workload of random reads, whose repetitions take so many seconds."""
    given = {"rw": "randread", "bs": "4k", "size": "1M", "runtime": seconds, "time_based": True}
    options = engines.load("fio").options(given)
    return Workload(name, suite, "fio", options, Position("suites/demo.yaml"), **declared)


class FakeBench:
    """A bench that says, for each workload by name, one figure after the other as its IOPS.

    An exception among the figures is raised. `findings` are those of a workload's repetition, by name and
    label; `runs` tells what was run: name and label.
    """

    name = "fake"
    target = Target(Path("/fake"), "directory", "8:0", "ext4", 10**12, 512)
    hosts: tuple[str, ...] = ()
    places: Places = "one"
    base = "another place"
    candidate = ""
    slice: float | None = None
    slices: Mapping[int | str, tuple[Slice, ...]] = {}
    """What slices of a block moved, by its label."""

    def __init__(self, **says: Iterable[float | BaseException]) -> None:
        self.environment = Environment(identity={"machine": "fake"})
        self.findings: dict[tuple[str, int | str], Finding] = {}
        self.refused: dict[Needs, TargetError] = {}
        self.metric = {READ, "write.iops"}
        self.version = "1.0"
        self.taken = False
        self.runs: list[tuple[str, int | str]] = []
        self.ran: list[tuple[Workload, tuple[str, ...]]] = []
        self.pairs: list[Pair] = []
        self.place = 1.0
        self._says = {name: iter(script) for name, script in says.items()}

    def observe(self) -> Environment:
        return self.environment

    def refusals(self, needs: Needs) -> Sequence[TargetError]:
        return [self.refused[needs]] if needs in self.refused else []

    def command(self, workload: Workload, place: Place) -> Command:
        return engines.load(workload.engine).command(workload, place)

    def open(self) -> None:
        self.taken = True

    def repeat(
        self, id: str, workload: Workload, label: int | str, gating: Sequence[str], arm: int = 1
    ) -> Repetition:
        self.runs.append((workload.name, label))
        self.ran.append((workload, tuple(gating)))
        figure = next(self._says.setdefault(workload.name, figures()))
        if isinstance(figure, BaseException):
            raise figure
        output = Output(dict.fromkeys(sorted(self.metric), figure), {}, engine_version=self.version)
        found = self.findings.get((workload.name, label))
        seconds = float(workload.options["runtime"]) if "runtime" in workload.options else 1.0
        folder = f"results/{workload.name}/{label}"
        return Repetition(output, seconds, folder, (found,) if found else (), (figure,) * int(seconds))

    def alternate(self, id: str, pair: Pair, label: int | str, gating: Sequence[str]) -> Repetition:
        """Arm B says the next figure of the workload by its name, arm A that of its name with `-A`. One place
        is `place` times as good as the other.
        """
        self.pairs.append(pair)
        base, candidate = pair.workloads
        first = self.repeat(id, replace(base, name=f"{base.name}-A"), label, gating, 0)
        second = self.repeat(id, candidate, label, gating)
        effect = self.place ** (-0.5 if pair.swapped else 0.5)
        return replace(
            _times(second, effect),
            base=_times(first, 1 / effect),
            swapped=pair.swapped,
            seed=pair.seed,
            slices=self.slices.get(label, ()),
            seconds=2.5,
        )

    def close(self) -> None:
        self.taken = False

    def labels(self, name: str) -> list[int | str]:
        """What the repetitions of a workload were called, in their order."""
        return [label for one, label in self.runs if one == name]


def _times(repetition: Repetition, factor: float) -> Repetition:
    metrics = {name: value * factor for name, value in repetition.metrics.items()}
    return replace(repetition, output=replace(repetition.output, metrics=metrics))


class Unsure(Recorder):
    """A judge who always wants more repetitions, by so much uncertainty."""

    def __init__(self, uncertainty: float = 1.0, maximum: int = 12) -> None:
        super().__init__(reads("any"), ())
        self.uncertainty = uncertainty
        self.minimum, self.maximum = 2, maximum

    def look(self, repetitions: Sequence[Repetition]) -> bool:
        return False


class FakeJudges:
    """Appoints a judge for each workload that has sessions of a baseline, by name; others are recorded.

    Instead of sessions there may be a judge, or the verdict that makes measuring needless.
    """

    def __init__(self, options: GateOptions, **known: Known) -> None:
        self.options = options
        self.environment = Environment()
        self.expected: list[int] = []
        self._known = known

    def expect(self, metrics: int) -> None:
        self.expected.append(metrics)

    def appoint(self, workload: Workload, gating: Sequence[str]) -> Judge | Verdict:
        known = self._known.get(workload.name)
        if known is None:
            return Recorder(workload, gating)
        if not isinstance(known, tuple):
            return known
        sessions = tuple(map(str, range(len(known))))
        metrics: Mapping[str, Any] = dict.fromkeys(gating, known)
        baseline = Baseline(workload.name, {}, metrics, sessions, environment=self.environment)
        return BaselineJudge(workload, baseline, gating, self.options)

    def appoint_for_pair(
        self, workload: Workload, gating: Sequence[str], against: str, *, crossover: bool
    ) -> Judge:
        return PairJudge(workload, gating, self.options, against, crossover=crossover)


class FakeWatcher:
    """Remembers what the session told of repetitions: label, limit, seconds, and seconds left."""

    def __init__(self) -> None:
        self.told: list[tuple[int | str, int, float, float]] = []
        self.over = False

    def tick(self, elapsed: float, bandwidth: float | None) -> None:
        pass

    def notice(self, text: str) -> None:
        pass

    def laying_out(self, done: int, total: int) -> None:
        pass

    def repetition(
        self, workload: Workload, label: int | str, limit: int, seconds: float, left: float
    ) -> None:
        self.told.append((label, limit, seconds, left))

    def repeated(self, workload: Workload, label: int | str, repetition: Repetition) -> None:
        pass

    def ended(self) -> None:
        self.over = True


def session_on(
    bench: FakeBench,
    *,
    budget: float | None = None,
    options: GateOptions | None = None,
    watcher: FakeWatcher | None = None,
    judges: FakeJudges | None = None,
    **known: Known,
) -> Session:
    """A session on a bench; `known` are the baselines of workloads, as FakeJudges takes them."""
    judges = judges or FakeJudges(options or GateOptions(), **known)
    return Session("session", bench, judges, watcher or FakeWatcher(), budget)


def enroll(session: Session, *workloads: Workload) -> list[Trial]:
    """Enroll workloads under ids like pytest's."""
    return session.enroll((f"{item.suite}::{item.name}", item) for item in workloads)


def measure(session: Session, trials: Sequence[Trial]) -> list[str]:
    """Decide one trial after the other, as the plugin does; the names in the order of being decided."""
    pending, decided = list(trials), []
    while pending:
        trial = session.decide(pending)
        pending.remove(trial)
        decided.append(trial.workload.name)
    return decided
