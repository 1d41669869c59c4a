"""What the gate says of each workload of a session against the sessions before."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from iogate.errors import InputError, Position
from iogate.host.environment import identity_changes
from iogate.judge.baseline_judge import BaselineJudge
from iogate.judge.gate import borrow
from iogate.judge.heat import Heat, heat_of
from iogate.judge.judge import GateOptions
from iogate.judge.metrics import note_metrics, undecided_metrics
from iogate.model import Baseline, Finding, Repetition, Verdict, Workload, WorkloadResult, metric
from iogate.offline.compare.sessions import StoredMeasurement, StoredSession, difference
from iogate.offline.outputs import refuse_twice
from iogate.units import one_line, plural, printable

_FEW = 2
"""Old values that, with a single new one, say too little of the noise: with two, 9% of the verdicts on an
unchanged device of 10% repetition noise were false alarms.
"""


@dataclass(frozen=True)
class _Pair:
    """A workload: its measurements of old sessions, named by their files, and the new one (None: it is
    missing).
    """

    old: tuple[tuple[str, StoredMeasurement], ...]
    new: StoredMeasurement | None

    @property
    def suite(self) -> str:
        """The suite, as it was called before."""
        known = self.old[0][1] if self.old else self.new
        return known.key[0] if known else ""


def check_comparable(old: Sequence[StoredSession], new: StoredSession, *, across_devices: bool) -> list[str]:
    """Return which of the old sessions are of other machines than the new one, as who reads the result must
    know. Raises InputError for sessions that must not be compared: the same one twice, of two kinds, or of
    two machines unless `across_devices`.
    """
    others = []
    refuse_twice(
        (identity, ", ".join(session.files)) for session in (*old, new) for identity in session.identities
    )
    for session in old:
        if session.outputs != new.outputs:
            kinds = {True: "an output of an engine", False: "a results file of iogate"}
            raise InputError(
                f"{session.files[0]} is {kinds[session.outputs]}, {new.files[0]} is {kinds[new.outputs]}",
                remedy="compare like with like",
            )
        changes = identity_changes(session.environment.identity, new.environment.identity)
        if session.device != new.device:
            changes.insert(0, f"the device was {session.device}, is {new.device}")
        if changes:
            others.append(one_line(f"{session.files[0]} is of another machine: {'; '.join(changes)}"))
            if not across_devices:
                raise InputError(others[0], remedy="to compare machines, say so: --across-devices")
    return others


def judge_workloads(
    old: Sequence[StoredSession], new: StoredSession, gate_options: GateOptions, changed: Sequence[str]
) -> list[WorkloadResult]:
    """Return the verdict on each workload that either side has, in the order of the new session.

    `changed` is what is known to have changed between the two.
    """
    pairs = list(_pairs(old, new))
    gating = sum(len(_gating(pair)) for pair in pairs if pair.old and pair.new)
    values = {suite: [one for pair in own for one in _lent(pair)] for suite, own in _by_suite(pairs).items()}
    lent = borrow(itertools.chain(*values.values()))
    gate_options = replace(gate_options, metrics=max(1, gating), borrowed=lent)
    options = {
        suite: replace(gate_options, of_suite=borrow(own) if len(values) > 1 else None)
        for suite, own in values.items()
    }
    heat = Heat(heat_of(_baseline(usable) for pair in pairs if (usable := _usable(pair))))
    known = {item.id for session in old for item in session.measured.values()}
    broke_off = [_not_measured(id, new) for id, came in new.begun.items() if not came and id not in known]
    judged = [_result(pair, options.get(pair.suite, gate_options), heat, changed) for pair in pairs]
    return [*judged, *broke_off]


def _by_suite(pairs: Sequence[_Pair]) -> Mapping[str, list[_Pair]]:
    """Return those that were measured before, by their suites."""
    found: dict[str, list[_Pair]] = {}
    for pair in pairs:
        if pair.old:
            found.setdefault(pair.suite, []).append(pair)
    return found


def _not_measured(id: str, new: StoredSession) -> WorkloadResult:
    """Return that the new session broke off before a workload: of old ones that did, too, nothing says so."""
    suite, _, name = id.partition("::")
    workload = Workload(name, suite, "", {}, Position(new.files[-1]))
    verdict = Verdict("inconclusive", "not measured: the session broke off before it")
    return WorkloadResult(id, workload, verdict)


def _pairs(old: Sequence[StoredSession], new: StoredSession) -> Iterator[_Pair]:
    """Yield workloads of one name; then jobs of other names whose options fit one only."""
    before: dict[tuple[str, str], list[tuple[str, StoredMeasurement]]] = {}
    for session in old:
        for key, item in session.measured.items():
            before.setdefault(key, []).append((", ".join(session.files), item))
    lonely = {key: items for key, items in before.items() if key not in new.measured}
    unnamed = [item for key, item in new.measured.items() if key not in before]
    for key, item in new.measured.items():
        found = before.get(key, [])
        if not found and new.outputs:
            fitting = [known for known, items in lonely.items() if not difference(items[0][1], item)]
            rivals = [one for one in unnamed if fitting and not difference(lonely[fitting[0]][0][1], one)]
            found = lonely.pop(fitting[0]) if len(fitting) == len(rivals) == 1 else []
        yield _Pair(tuple(found), item)
    for items in lonely.values():
        yield _Pair(tuple(items), None)


def _usable(pair: _Pair) -> list[tuple[str, StoredMeasurement]]:
    return [(file, item) for file, item in pair.old if not item.refused]


def _lent(pair: _Pair) -> Iterator[tuple[tuple[float, ...], ...]]:
    """Yield the old values of the metrics that decide, as rates."""
    usable = _usable(pair)
    known = _baseline(usable).metrics if usable else {}
    for name in _gating(pair):
        values = known.get(name)
        if isinstance(values, tuple):
            lower = metric(name).direction == "lower"
            yield tuple(tuple(1 / value if lower and value else value for value in row) for row in values)


def _gating(pair: _Pair) -> tuple[str, ...]:
    """Return the metrics that decide: those of the new session's suite; of outputs all that either has."""
    older = [name for _, item in pair.old for name in item.gating]
    new = pair.new.gating if pair.new else ()
    of_suite = pair.new is not None and pair.new.workload.suite
    return new if new and of_suite else tuple(dict.fromkeys([*new, *older]))


def _result(pair: _Pair, gate_options: GateOptions, heat: Heat, changed: Sequence[str]) -> WorkloadResult:
    subject = pair.new or pair.old[0][1]
    verdict, remarks = _verdict(pair, gate_options, heat)
    found = dict.fromkeys([*remarks, *(pair.new.findings if pair.new else ())])
    suite, name = subject.key
    return WorkloadResult(
        id=f"{suite}::{name}" if suite else name,
        workload=subject.workload,
        verdict=replace(verdict, findings=tuple(found)),
        repetitions=pair.new.repetitions if pair.new else (),
        device_seconds=pair.new.seconds if pair.new else 0.0,
        differences=tuple(changed) if pair.new and pair.old else (),
    )


def _verdict(pair: _Pair, gate_options: GateOptions, heat: Heat) -> tuple[Verdict, list[Finding]]:
    if pair.new is None:
        return Verdict("inconclusive", "not measured: it is in OLD only"), []
    if pair.new.refused:
        return Verdict("invalid", pair.new.refused), []
    if not pair.old:
        return Verdict("no_baseline", "it is in NEW only"), []
    usable, remarks = [], []
    for file, item in pair.old:
        why = item.refused or difference(item, pair.new)
        if why:
            remarks.append(Finding("left_out", "suspect", printable(f"{file} does not count: {why}")))
        else:
            usable.append((file, item))
        if not why and item.verdict == "regressed":
            slow = f"{file} was itself regressed, by its baseline: what is as fast is, too"
            remarks.append(Finding("regressed_before", "suspect", printable(slow)))
        if item.key != pair.new.key:
            remarks.append(Finding("renamed", "suspect", printable(f"in {file} it is {item.key[1]}")))
    if not usable:
        return Verdict("no_baseline", "; ".join(remark.message for remark in remarks)), []
    judged, said = _judge(pair.new, _baseline(usable), _gating(pair), gate_options, heat)
    return judged, [*remarks, *said]


def _baseline(old: Sequence[tuple[str, StoredMeasurement]]) -> Baseline:
    """Return old sessions as a baseline; a session without a metric is not in its values."""
    metrics: dict[str, list[tuple[float, ...]]] = {}
    files: dict[str, list[str]] = {}
    for file, item in old:
        for name in item.repetitions[0].metrics:
            values = tuple(one.metrics[name] for one in item.repetitions if name in one.metrics)
            if len(values) == len(item.repetitions):
                metrics.setdefault(name, []).append(values)
                files.setdefault(name, []).append(file)
    workload = old[-1][1].workload
    worked = {file: [one.worked for one in item.repetitions if one.worked is not None] for file, item in old}
    return Baseline(
        workload=workload.name,
        definition=workload.definition,
        metrics={name: tuple(sessions) for name, sessions in metrics.items()},
        sessions=tuple(file for file, _ in old),
        partial={name: tuple(own) for name, own in files.items() if len(own) < len(old)},
        worked={
            file: tuple(worked[file]) for file, item in old if len(worked[file]) == len(item.repetitions)
        },
    )


def _judge(
    new: StoredMeasurement, baseline: Baseline, gating: Sequence[str], gate_options: GateOptions, heat: Heat
) -> tuple[Verdict, list[Finding]]:
    """Return the gate's verdict in one look at all repetitions."""
    repetitions = new.repetitions
    if not gating:
        return Verdict(
            "inconclusive", "no metric of it is known to decide", note_metrics(repetitions, {})
        ), []
    gate_options = replace(gate_options, max_repetitions=len(repetitions), extend=False)
    known = max(_values(baseline, name) for name in gating)
    single = len(repetitions) == 1
    remarks = []
    if single and 0 < known <= _FEW:
        said = f"{plural(known, 'value')} against one: the noise is not known"
        if gate_options.tolerance is None:
            return _undecided_verdict(repetitions, baseline, gating, said), []
        baseline = replace(baseline, metrics={name: _median(rows) for name, rows in baseline.metrics.items()})
        remarks.append(Finding("few_values", "suspect", f"{said}, so the tolerance alone decides"))
    judge = BaselineJudge(new.workload, baseline, gating, gate_options, heat=heat)
    judge.look(repetitions)
    verdict = judge.verdict(repetitions)
    if single and not remarks and verdict.verdict == "regressed":
        remarks.append(Finding("one_repetition", "suspect", "a stall looks the same: measure it again"))
    return verdict, remarks


def _values(baseline: Baseline, name: str) -> int:
    rows = baseline.metrics.get(name, ())
    return sum(map(len, rows)) if isinstance(rows, tuple) else 1


def _median(rows: float | tuple[tuple[float, ...], ...]) -> float:
    return statistics.median(value for row in rows for value in row) if isinstance(rows, tuple) else rows


def _undecided_verdict(
    repetitions: Sequence[Repetition], baseline: Baseline, gating: Sequence[str], why: str
) -> Verdict:
    """Return what was measured beside the old, without a verdict."""
    metrics = undecided_metrics(repetitions, baseline.metrics, gating)
    reason = f"{why}; give --tolerance to judge by that alone, or more repetitions or sessions"
    return Verdict("inconclusive", reason, metrics, repetitions=len(repetitions))
