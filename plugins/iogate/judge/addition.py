"""Whether a session may be added to a baseline: not if it regressed, as it would widen the baseline until the
loss lies within; nor if it changed for certain by much of its tolerance, as later losses would lie within.
(That it is of the same machine is known before it is measured.)
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace

from iogate.errors import MeasurementError
from iogate.judge.baseline import MAXIMUM_SESSIONS, not_here
from iogate.judge.baseline_judge import BaselineJudge
from iogate.judge.heat import Heat
from iogate.judge.judge import GateOptions
from iogate.judge.metrics import are_mixed
from iogate.model import PASSED, Baseline, Environment, MetricVerdict, Repetition, Verdict, Workload
from iogate.units import format_change, format_share, ordinal

FORCE = "--update-baselines=force appends it all the same"
ANEW = "if that stays so, begin anew: --update-baselines"
_APART = 0.01  # that a mean differs by what stands out
_HARMLESS = 0.5
"""The part of its tolerance that a metric may gain, or lose, without hiding a later loss of the tolerance."""


def require_same_machine(sessions: Mapping[str, Environment], environment: Environment) -> None:
    """Raise MeasurementError if a session to be added would lie beside some of another machine."""
    other = not_here(sessions, environment)
    if other:
        remedy = (
            "name the right --device, or record it on the machine of the baseline, or begin anew with "
            f"--update-baselines; {FORCE}"
        )
        raise MeasurementError(f"not appended: {other}", remedy=remedy)


def judge_session(
    workload: Workload,
    baseline: Baseline,
    gating: Sequence[str],
    gate_options: GateOptions,
    repetitions: Sequence[Repetition],
    *,
    heat: Heat | None = None,
) -> Verdict:
    """Return the verdict on a session against those before it, in one look at all its repetitions.

    Where the baseline lacks some of what gates, the rest is held against it all the same. By `heat` the
    device is another one as it gets hot (`iogate.judge.heat`).
    """
    whole = replace(workload, repetitions=None, max_repetitions=None)
    gate_options = replace(gate_options, max_repetitions=len(repetitions), extend=False)
    known = [name for name in gating if name in baseline.metrics]
    judge = BaselineJudge(whole, baseline, known or gating, gate_options, heat=heat)
    judge.look(repetitions)
    found = judge.verdict(repetitions)
    if len(known) in (0, len(gating)) or refusal(found) or known_changes(found):
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
            depends = f"{item.metric.name} depends on what was measured before, which is another work here"
            return f"{depends}: a loss would become part of the baseline"
        if item.fallen:
            tolerance = format_share(item.tolerance or 0.0)
            since = f"{format_change(item.fallen)} since the first, tolerance {tolerance}"
            worse = f"{item.metric.name} got worse from session to session ({since})"
            return f"{worse}: the loss would become part of the baseline; {ANEW}"
        if item.losing:
            lost = f"{item.metric.name} has lost more than the noise that is usual here explains"
            by = f"{_lost(item)}, tolerance {format_share(item.tolerance or 0.0)}"
            return f"{lost} ({by}): it would widen the baseline until the loss lies within; measure again"
        if item.gating and (why := _implausible(item)):
            return f"{item.metric.name} {why}"
    return ""


def _lost(item: MetricVerdict) -> str:
    """Return by how much a metric changed, and in the mean of all where some stood out that do not count."""
    change = item.change or 0.0
    mean = statistics.fmean(item.values) / item.baseline - 1 if item.values and item.baseline else change
    worse = mean - change if item.metric.direction == "lower" else change - mean
    told = f", and {format_change(mean)} in the mean of all repetitions" if worse > _APART else ""
    return f"{format_change(change)}{told}"


def known_changes(verdict: Verdict) -> str:
    """Return why a session that gained, or lost, for certain must not be added to a baseline; empty if it
    may. It may where nothing has shown how sessions differ: the change may be a lesson.
    """
    for changed, how in (("drift", "worse"), ("improved", "better")):
        if names := [item.metric.name for item in _certain(verdict, changed) if not item.assumed]:
            be = "is" if len(names) == 1 else "are"
            than = f"{how} than the noise explains that sessions have shown, and would hide losses"
            return f"{' and '.join(names)} {be} {than}"
    return ""


def losses_told(verdict: Verdict) -> str:
    """Return, as the end of a sentence, what seems to have lost more than its tolerance in a session that is
    added as nobody can tell.
    """
    lost = [
        f"{item.metric.name} ({format_change(item.change)})"
        for item in verdict.metrics
        if item.gating
        and item.change is not None
        and (item.change if item.metric.direction == "lower" else -item.change) > (item.tolerance or 0.0)
    ]
    told = f"; lost more than the tolerance, which may be noise: {', '.join(lost)}"
    return f"{told}; if that stays so, take it out: iogate baseline drop" if lost else ""


def gains_told(verdict: Verdict) -> str:
    """Return, as the end of a sentence, what is better beyond doubt in a session that is added."""
    gains = _certain(verdict, "improved")
    named = ", ".join(f"{item.metric.name} ({format_change(item.change or 0.0)})" for item in gains)
    return f"; better beyond doubt: {named}; {ANEW}" if named else ""


def _certain(verdict: Verdict, changed: str) -> list[MetricVerdict]:
    """Return the metrics that are better (`improved`), or worse (`drift`), beyond doubt, by more than a
    harmless part of their tolerance.
    """
    return [
        item
        for item in verdict.metrics
        if item.gating
        and item.verdict == changed
        and abs(item.change or 0.0) > _HARMLESS * (item.tolerance or 0.0)
    ]


def nth_session(number: int, of: str = "") -> str:
    """Return which session it is that is added to `number` - 1 others, of which only the newest are kept."""
    told = f"{ordinal(min(number, MAXIMUM_SESSIONS))} session{of}"
    return told if number <= MAXIMUM_SESSIONS else f"{told}, in place of the oldest"


def not_passed(verdict: Verdict) -> Verdict:
    """Return a verdict that is refused as what it is at the most: what passes is undecided."""
    metrics = tuple(
        replace(item, verdict="inconclusive") if item.losing and item.verdict in PASSED else item
        for item in verdict.metrics
    )
    return replace(verdict, verdict="inconclusive", metrics=metrics) if verdict.passed else verdict


def _implausible(item: MetricVerdict) -> str:
    from iogate.judge.gate.case import IMPLAUSIBLE

    if item.change is None:
        return "cannot be held against the baseline"
    if item.change <= -1 or abs(math.log1p(item.change)) > IMPLAUSIBLE:
        return "is so far off that another unit, set-up or device is likely"
    values = [*item.values, *(value for session in item.sessions.values() for value in session)]
    if are_mixed(values):
        return "would spread the baseline's own values a hundredfold, which nothing can be judged by"
    return ""


def admit(judged: Verdict, number: int, *, force: bool = False, other: str = "") -> Verdict:
    """Return the verdict on a session that is to be the `number`th of a baseline, judged by those before it:
    with what becomes of it as the last line of the reason, and `keep` if it is appended. One that changed
    too much to be appended passes as what it is.

    Without a verdict of the gate it is `recorded`, undecided or by `force`. `other` says that it is of
    another machine, if so.
    """
    refused = refusal(judged)
    if refused and (judged.verdict == "invalid" or not force):
        remedy = "" if judged.verdict == "invalid" else f"; {FORCE}"
        undecided = not_passed(judged)
        return replace(undecided, reason=f"{judged.reason}\nnot appended: {refused}{remedy}")
    changed = known_changes(judged)
    if changed and not force:
        return replace(judged, reason=f"{judged.reason}\nnot appended: {changed}; {ANEW}; {FORCE}")
    how = f"appended as the {nth_session(number, ' of the baseline')}"
    if other:
        how += f", by force, although {other}"
    if judged.verdict in ("pass", "improved", "drift"):
        how += (", by force" if (refused or changed) and not other else "") + gains_told(judged)
        return replace(judged, keep=True, reason=f"{judged.reason}\n{how}")
    why = f"by force, although {judged.verdict}" if refused else "undecided"
    return replace(judged, verdict="recorded", keep=True, reason=f"{how}, {why}: {judged.reason}")
