"""Going on with a session that was cut off (`--io-resume`), from the results document that it kept."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from iogate.errors import InputError
from iogate.host.environment import identity_changes
from iogate.model import (
    Baseline,
    Environment,
    MetricVerdict,
    Output,
    Repetition,
    Verdict,
    Workload,
    WorkloadResult,
    hash_of,
    metric,
)
from iogate.report.json_file import NAME
from iogate.report.results import LARGEST, GateRecord, MetricRecord, RepetitionRecord, Results, WorkloadRecord
from iogate.report.session_folders import begun_sessions, newest_of_all, read_own
from iogate.units import printable

_HOST = "--io-host"
_DECIDED = frozenset({"pass", "improved", "drift", "regressed", "inconclusive", "recorded"})


def declaration_hash(workload: Workload) -> str:
    """Return a hash of all that a workload's declaration says of measuring and judging it, of what it is held
    against, and of whose it is: pytest may call workloads of two suites alike.
    """
    gate = {name: (bound.worse, bound.better) for name, bound in workload.gate.items()}
    repetitions = (workload.repetitions, workload.max_repetitions)
    terms = {"gate": gate, "repetitions": repetitions, "waive": dict(workload.waive)}
    base = {} if workload.against is None else {"against": dict(workload.against)}
    whose = {"suite": workload.suite, "name": workload.name}
    return hash_of({"definition": workload.definition, **whose, **terms, **base})


@dataclass(frozen=True)
class Selection:
    """What a run is to decide about: the workloads of its suites, and the tests in Python that measure, by
    their ids, on a device, at the `host` that its command line names: boards of a pool share a profile.
    """

    device: str
    workloads: Collection[str]
    tests: Collection[str]
    host: str | None = None

    def by(self, results: Results) -> bool:
        """Return whether a session was to decide about just that."""
        run = results.run
        same = run and run.suites == set(self.workloads) and set(run.tests) == set(self.tests)
        return bool(same) and results.device == self.device and _host(results) == self.host


def _host(results: Results) -> str | None:
    """Return the host that the command line named, if it did."""
    return results.run.options.get(_HOST) if results.run else None


def last_session(folder: Path, asked: Selection) -> Results | None:
    """Return the newest kept session that was to decide about just what is asked, if any."""
    paths = (folder / name / NAME for name in begun_sessions(folder))
    known = sorted(
        (path for path in paths if path.is_file() and not path.is_symlink()), key=_age, reverse=True
    )
    return next(filter(None, (session_in(path.parent, asked) for path in known)), None)


def why_none(folder: Path, asked: Selection) -> str:
    """Return what the newest of all sessions is, where none is of what is asked; empty if there is none."""
    name, own = newest_of_all(folder)
    if not name:
        return ""
    if not own:
        return f"the newest, {name}, is of another user"
    if not (folder / name / NAME).is_file():
        return f"the newest, {name}, has no verdicts"
    try:
        found = Results.read(folder / name / NAME)
    except InputError as error:
        return printable(f"the newest, {name}, cannot be read: {str(error).splitlines()[0]}")
    if found.session != name:
        return f"the newest, {name}, calls itself otherwise"
    if found.device != asked.device:
        return printable(f"the newest, {name}, is of device {found.device}")
    if (host := _host(found)) != asked.host:
        return printable(f"the newest, {name}, is of " + (f"{_HOST}={host}" if host else f"no {_HOST}"))
    return f"the newest, {name}, was to decide about others"


def session_in(folder: Path, asked: Selection) -> Results | None:
    """Return the session in its folder, if it is one of this user that was to decide about what is asked."""
    try:
        results = Results.parse(read_own(folder, NAME, LARGEST), str(folder / NAME))
    except (InputError, OSError):
        return None  # damaged, or of another version or user: nothing to go on with
    own = results.session == folder.name  # its name becomes a path
    return results if own and asked.by(results) else None


def _age(path: Path) -> tuple[str, float]:
    """Return what sorts sessions by age: their names begin with the second, their files know more."""
    begun, _, _ = path.parent.name.rpartition("-")
    try:
        return begun, path.stat().st_mtime
    except OSError:
        return begun, 0.0


def decided(results: Results) -> dict[str, WorkloadRecord]:
    """Return what stays decided, by id: not what was only begun, and not what had no measurement to judge."""
    assert results.run
    left = set(results.run.open)
    return {
        item.id: item
        for item in results.workloads
        if item.verdict in _DECIDED and item.id not in left and item.id in results.run.selection
    }


def obstacles(
    results: Results,
    workloads: Mapping[str, Workload],
    environment: Environment,
    gate: GateRecord,
    options: Mapping[str, str],
) -> Iterator[str]:
    """Yield why a session cannot be gone on with: its machine, options or suites differ."""
    assert results.run
    yield from identity_changes(results.environment.identity, environment.identity)
    yield from identity_changes(results.environment.subject, environment.subject)
    if results.environment.boot != environment.boot:  # of a device elsewhere; here there is the seal
        yield "the device was started anew since"
    for name in sorted({*results.run.options, *options}):
        before, now = results.run.options.get(name, "not given"), options.get(name, "not given")
        if before != now:
            yield f"{name} was {before}, is {now}"
    for name in ("alpha", "beta", "max_repetitions", "tolerance"):  # noise is learnt, not asked for
        if (was := getattr(results.gate, name, None)) != (now := getattr(gate, name)):
            yield f"of the gate's options, {name} was {was}, is {now}"
    for id, workload in workloads.items():
        if results.run.selection.get(id, known := declaration_hash(workload)) != known:
            yield f"{id} was declared otherwise"


def held_against_other(record: WorkloadRecord, baseline: Baseline | None) -> bool:
    """Return whether what a decided workload was held against is not this baseline, which it has now.

    What is to be stored was not judged, or may be in it already; a pair has its own base.
    """
    if record.keep or record.pair:
        return False
    return any(_was_other(item, name, baseline) for name, item in record.gating.items())


def _was_other(item: MetricRecord, name: str, baseline: Baseline | None) -> bool:
    """Return whether a metric was not held against what this baseline says of it."""
    known = baseline.metrics.get(name) if baseline else None
    if item.baseline is None or known is None:
        return (item.baseline is None) != (known is None)
    if isinstance(known, tuple):
        return dict(item.sessions) != (baseline.by_session(name) if baseline else {})
    return bool(item.sessions) or not math.isclose(item.baseline, known, rel_tol=1e-9)


def require_same(results: Results, reasons: Iterator[str]) -> None:
    """Raise InputError if there are reasons not to go on with a session."""
    found = [printable(reason) for reason in reasons]
    if found:
        raise InputError(
            f"cannot go on with session {results.session}: {'; '.join(found)}",
            remedy="leave out --io-resume to measure all anew",
        )


def restored(record: WorkloadRecord, workload: Workload, version: str) -> WorkloadResult:
    """Return the result that a record was made of; `version` is that of the engine."""
    metrics = tuple(_metric(name, item) for name, item in record.metrics.items())
    if record.runtime and workload.chosen_runtime:
        workload = replace(workload, options={**workload.options, "runtime": record.runtime})
    read_back = partial(_repetition, version=version, command=record.command, files=record.files)
    return WorkloadResult(
        record.id,
        workload,
        Verdict(record.verdict, record.reason, metrics, record.findings, record.repetitions, record.keep),
        tuple(map(read_back, record.measured)),
        None,
        tuple(map(read_back, record.warmup)),
        record.device_seconds,
        record.differences,
        record.pair,
    )


def _metric(name: str, item: MetricRecord) -> MetricVerdict:
    return MetricVerdict(
        metric(name),
        item.verdict,
        _number(item.value),
        tuple(map(_number, item.values)),
        item.gating,
        item.reason,
        item.baseline,
        item.change,
        item.interval,
        item.tolerance,
        item.bound,
        item.minimum_detectable,
        item.place_effect,
        item.noise,
        item.passes,
        item.fails,
        {name: tuple(map(_number, values)) for name, values in item.sessions.items()},
    )


def _repetition(
    item: RepetitionRecord, version: str, command: str = "", files: Mapping[str, str] | None = None
) -> Repetition:
    metrics = {name: _number(value) for name, value in item.metrics.items()}
    output = Output(metrics, {}, engine_version=version, histograms=item.histograms)
    return Repetition(
        output,
        item.seconds or 0.0,
        item.folder,
        item.findings,
        item.series,
        _repetition(item.base, version) if item.base else None,
        item.swapped,
        item.seed,
        item.slices,
        command,
        files or {},
        item.worked,
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else value
