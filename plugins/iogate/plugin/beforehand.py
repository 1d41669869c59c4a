"""What is looked at, and held, before anything is measured."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from iogate.plugin.subject import Subject

if TYPE_CHECKING:
    from iogate.measure.bench import Bench
    from iogate.measure.settings import Settings
    from iogate.measure.trial import Trial
    from iogate.model import Workload


def hold_surroundings(
    stack: ExitStack, settings: Settings, subject: Subject, notice: Callable[[str], None]
) -> None:
    """Keep what fixtures make from being made, or undone, by another run, until `stack` is left. Raises
    TargetError if another run has done so, and is not waited for.
    """
    from iogate.target import locks

    device = subject.device
    named = os.path.abspath(settings.target or settings.root / device.target)
    for target in sorted({named, os.path.realpath(named)}):  # a link may be what a fixture makes
        where = " ".join([settings.host or device.host, *device.hosts, target]).strip()
        hold = functools.partial(locks.hold_surroundings, where, notice=notice)
        locks.until_free(stack, hold, settings.wait, notice)


def require_writable(trials: Iterable[Trial], settings: Settings, subject: Subject) -> None:
    """Raise BaselineError if what these workloads are to be recorded in could not be written."""
    from iogate.declare.project import require_within
    from iogate.judge import baseline
    from iogate.judge.learner import Learner
    from iogate.judge.recorder import Recorder

    undecided = [trial for trial in trials if trial.result is None]
    recorded = [trial for trial in undecided if isinstance(trial.judge, Recorder | Learner)]
    named = settings.baselines != subject.project.baselines
    if recorded and not named:
        require_within(settings.baselines, subject.project.root)
    for suite in dict.fromkeys(trial.workload.suite for trial in recorded):
        baseline.require_writable(subject.own_baselines / f"{suite}.yaml", suite)


def ask_engines_there(bench: Bench, workloads: Sequence[Workload]) -> None:
    """Raise IogateError for what the engines of a device elsewhere would refuse, as here `collect` does."""
    from iogate.remote.bench import RemoteBench
    from iogate.remote.clients import ClientsBench

    assert isinstance(bench, RemoteBench | ClientsBench)
    bench.check(workloads)
