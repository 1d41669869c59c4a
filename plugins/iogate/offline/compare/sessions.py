"""Sessions that were stored: what each measured of each workload, repetition by repetition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from iogate.model import Environment, Finding, Output, Repetition, Workload
from iogate.offline.outputs import flags_of


@dataclass(frozen=True)
class StoredMeasurement:
    """What one session measured of one workload; `refused` says why that must not be judged.

    `whole` is False where the options of the workload are not known whole. `id` is the workload's in its
    results file, `verdict` the one that it got there.
    """

    workload: Workload
    repetitions: tuple[Repetition, ...]
    gating: tuple[str, ...]
    refused: str = ""
    whole: bool = True
    seconds: float = 0.0
    findings: tuple[Finding, ...] = ()
    id: str = ""
    verdict: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What it is paired by: suite and workload; of an engine's output no suite, and the job."""
        return self.workload.suite, self.workload.name


@dataclass(frozen=True)
class StoredSession:
    """One session that was stored; `files` are those it was read from, `parts` the identities of what was
    taken together in it (empty: it is one).

    `outputs` tells engines' outputs, of which neither device nor environment are known. `begun` are the ids
    of its workloads and tests in Python: False are those that it broke off before.
    """

    id: str
    files: tuple[str, ...]
    measured: Mapping[tuple[str, str], StoredMeasurement]
    device: str = ""
    environment: Environment = field(default_factory=Environment)
    outputs: bool = False
    parts: tuple[str, ...] = ()
    begun: Mapping[str, bool] = field(default_factory=dict)

    @property
    def identities(self) -> tuple[str, ...]:
        """What must not be in another session that is compared with it."""
        return self.parts or (self.id,)


def join(items: Sequence[StoredMeasurement]) -> StoredMeasurement:
    """Return several measurements of one workload as repetitions of one."""
    first = items[0]
    if len(items) == 1:
        return first
    whole = all(item.whole for item in items)
    refused = next((item.refused for item in items if item.refused), "")
    changed = next((text for item in items[1:] if (text := difference(first, item))), "")
    if changed and not refused:
        refused = f"its repetitions are of different workloads: {changed}"
    return replace(
        first,
        repetitions=tuple(repetition for item in items for repetition in item.repetitions),
        gating=tuple(dict.fromkeys(name for item in items for name in item.gating)),
        refused=refused,
        whole=whole,
        seconds=sum(item.seconds for item in items),
        findings=tuple(finding for item in items for finding in item.findings),
    )


def difference(old: StoredMeasurement, new: StoredMeasurement) -> str:
    """Return how the workloads of two measurements differ, as far as both are known; empty if they do not."""
    from iogate.judge.baseline import definition_changes

    before, after = old.workload.definition, new.workload.definition
    either = set(before) ^ set(after)
    unknown = either if not (old.whole and new.whole) else either & flags_of(new.workload.engine)
    if "auto" in (before.get("runtime"), after.get("runtime")):
        unknown |= {"runtime"}  # documents of older versions do not tell what was chosen
    return definition_changes(
        {key: value for key, value in before.items() if key not in unknown},
        {key: value for key, value in after.items() if key not in unknown},
    )


def output_of(metrics: Mapping[str, float]) -> Output:
    """Return metrics alone, as an output."""
    return Output(metrics=metrics, traffic={})
