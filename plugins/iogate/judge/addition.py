"""Whether a session may be added to a baseline: not if it regressed, as it would widen the baseline until the
loss lies within. (That it is of the same machine is known before it is measured.)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from iogate.errors import MeasurementError
from iogate.judge.baseline import foreign
from iogate.judge.baseline_judge import BaselineJudge
from iogate.judge.judge import GateOptions
from iogate.model import PASSED, Baseline, Environment, MetricVerdict, Repetition, Verdict, Workload
from iogate.units import ordinal

FORCE = "--update-baselines=force appends it all the same"


def require_same_machine(sessions: Mapping[str, Environment], environment: Environment) -> None:
    """Raise MeasurementError if a session to be added would lie beside some of another machine."""
    other = foreign(sessions, environment)
    if other:
        remedy = f"name the right --device, or begin anew with --update-baselines; {FORCE}"
        raise MeasurementError(f"not appended: {other}", remedy=remedy)


def judge_session(
    workload: Workload,
    baseline: Baseline,
    gating: Sequence[str],
    gate_options: GateOptions,
    repetitions: Sequence[Repetition],
    *,
    unlike: str = "",
) -> Verdict:
    """Return the verdict on a session against those before it, in one look at all its repetitions.

    Where the baseline lacks some of what gates, the rest is held against it all the same. `unlike` says why
    places of the session are not those of the baseline, if so (`iogate.judge.likeness`).
    """
    whole = replace(workload, repetitions=None, max_repetitions=None)
    gate_options = replace(gate_options, max_repetitions=len(repetitions), extend=False)
    known = [name for name in gating if name in baseline.metrics]
    judge = BaselineJudge(whole, baseline, known or gating, gate_options, unlike=unlike)
    judge.look(repetitions)
    found = judge.verdict(repetitions)
    if len(known) in (0, len(gating)) or refusal(found):
        return found
    lacking = ", ".join(name for name in gating if name not in known)
    return replace(found, verdict="no_baseline", reason=f"the baseline has no {lacking} yet")


def refusal(verdict: Verdict) -> str:
    """Return why a session with this verdict against a baseline must not be appended to it; empty if it may.

    One that cannot be decided may: that is how a baseline learns how sessions differ. It must not be so far
    off that it measured something else, nor have lost what only noise that nobody has seen could explain, nor
    be of other places in a session, which hide as much as there is between them.
    """
    if verdict.verdict == "invalid":
        return "what cannot be trusted never becomes a baseline"
    if verdict.verdict == "regressed":
        return "a regressed session would widen the baseline until the loss lies within its noise"
    for item in verdict.metrics:
        if item.displaced:
            depends = f"{item.metric.name} depends on its place in a session, which is another one here"
            return f"{depends}: a loss would become part of the baseline"
        if item.losing:
            lost = f"{item.metric.name} has lost more than the noise that is usual here explains"
            return f"{lost}: it would widen the baseline until the loss lies within"
        if item.gating and (why := _implausible(item)):
            return f"{item.metric.name} {why}"
    return ""


def not_passed(verdict: Verdict) -> Verdict:
    """Return a verdict that is refused as what it is at the most: what passes is undecided."""
    metrics = tuple(
        replace(item, verdict="inconclusive") if item.losing and item.verdict in PASSED else item
        for item in verdict.metrics
    )
    return replace(verdict, verdict="inconclusive", metrics=metrics) if verdict.passed else verdict


def _implausible(item: MetricVerdict) -> str:
    from iogate.judge.gate.decision import IMPLAUSIBLE, MIXED

    if item.change is None:
        return "cannot be held against the baseline"
    if item.change <= -1 or abs(math.log1p(item.change)) > IMPLAUSIBLE:
        return "is so far off that another unit, set-up or device is likely"
    values = [*item.values, *(value for session in item.sessions.values() for value in session)]
    if max(values) > MIXED * min(values):
        return "would spread the baseline's own values a hundredfold, which nothing can be judged by"
    return ""


def admit(judged: Verdict, number: int, *, force: bool = False, other: str = "") -> Verdict:
    """Return the verdict on a session that is to be the `number`th of a baseline, judged by those before it:
    with what becomes of it as the last line of the reason, and `keep` if it is appended.

    Without a verdict of the gate it is `recorded`, undecided or by `force`. `other` says that it is of
    another machine, if so.
    """
    refused = refusal(judged)
    if refused and (judged.verdict == "invalid" or not force):
        remedy = "" if judged.verdict == "invalid" else f"; {FORCE}"
        undecided = not_passed(judged)
        return replace(undecided, reason=f"{judged.reason}\nnot appended: {refused}{remedy}")
    how = f"appended as the {ordinal(number)} session of the baseline"
    if other:
        how += f", by force, although {other}"
    if judged.verdict in ("pass", "improved", "drift"):
        return replace(judged, keep=True, reason=f"{judged.reason}\n{how}")
    why = f"by force, although {judged.verdict}" if refused else "undecided"
    return replace(judged, verdict="recorded", keep=True, reason=f"{how}, {why}: {judged.reason}")
