"""The judge who holds a workload against its baseline: from the gate's decisions on single metrics to the
verdict.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from iogate import engines
from iogate.errors import MeasurementError
from iogate.host.environment import differences, identity_changes, lost_disk, shared_data
from iogate.judge.count import Count
from iogate.judge.enough import allowed_variances, extensible, usual_maximum
from iogate.judge.filling import filled_otherwise
from iogate.judge.heat import Heat, Likeness, OutOfPlace, Places
from iogate.judge.judge import Expectation, GateOptions
from iogate.judge.lending import borrows
from iogate.judge.loss import Terms, fall, is_below_all, seems_lost
from iogate.judge.metrics import note_metrics, resolution_of, typical_value, undecided_metrics, worst_of
from iogate.judge.sentence import sentence
from iogate.model import (
    PASSED,
    Baseline,
    Environment,
    MetricVerdict,
    Repetition,
    Tolerance,
    Verdict,
    VerdictName,
    Workload,
    metric,
)
from iogate.units import format_change, format_share, plural

if TYPE_CHECKING:
    from iogate.judge.borrowed import Borrowed
    from iogate.judge.gate import Decision, Sensitivity

_ANOTHER_MODEL = "name the right --device, or record this machine with --update-baselines"
_ANOTHER_ONE = (
    "name the right --device; or, if it took the place of the other, record it with --update-baselines; or, "
    "if machines of the model are held against that one, say so in the profile: accepts: model"
)
_NOT_MOUNTED = "is the right target mounted? Else name the right --device, or --io-target"
_NO_TOLERANCE = Tolerance()
_SHARPER = 0.75  # of what all suites resolve: less may be the luck of a few workloads


class BaselineJudge:
    """Asks the gate after each repetition of one workload; a metric once decided stays decided.

    By `heat` the device is another one as it gets hot (`iogate.judge.heat`): what has no course of its own
    is then measured as often as in its baseline, too, as others come behind it. Neither that nor what has
    one can be judged where it came behind other work than there (`Likeness`). Where a
    model is given (`of_model`: patterns of its identity), it may be another machine of that.
    """

    def __init__(
        self,
        workload: Workload,
        baseline: Baseline,
        gating: Sequence[str],
        gate_options: GateOptions,
        *,
        heat: Heat | None = None,
        of_model: Mapping[str, str] | None = None,
    ) -> None:
        self.workload = workload
        self.baseline = baseline
        self.gating = tuple(gating)
        self.gate_options = gate_options
        self.heat = heat or Heat()
        self._of_model = of_model
        self._likeness = Likeness(baseline, self.heat.known.beginnings, workload.rests)
        self.decisions: dict[str, Decision] = {}
        self.unmeasured: list[str] = []
        self._another = bool(baseline.devices)
        """Whether the baseline is of another machine of the model, as far as is known."""
        self._lenders: dict[str, Borrowed | None] = {}
        self._filled = ""
        """Why nothing can be judged, as the device held other data."""

    @property
    def _count(self) -> Count:
        hot, behind_more = self.heat.known.hot, self._likeness.behind_more
        return Count(self.workload, self.gate_options, self._places, self._efforts, hot, behind_more)

    @property
    def minimum(self) -> int:
        return self._count.minimum

    @property
    def usual(self) -> int:
        return self._count.usual

    @property
    def maximum(self) -> int:
        """The most repetitions that this workload gets."""
        return self._count.maximum

    @cached_property
    def _places(self) -> Places:
        """A number of repetitions that nobody gave does not bound them: a session that is recorded has more
        where speed depends on places, which is noise to it.
        """
        from iogate.judge.gate import MOST_EFFORT

        tolerances = {name: self.tolerance(name).worse for name in self.gating}
        most = usual_maximum(self.workload, self.gate_options)
        if extensible(self.workload, self.gate_options):
            most = math.ceil(most * MOST_EFFORT)
        return Places(self.baseline.metrics, tolerances, most)

    @cached_property
    def _efforts(self) -> dict[str, float]:
        """How many times as many repetitions as usual each metric may ask for, as its baseline has them."""
        from iogate.judge.gate import effort

        if not extensible(self.workload, self.gate_options):
            return {}
        allowed = allowed_variances(self.workload, self.gating, self.gate_options)
        metrics = self.baseline.metrics
        return {
            name: effort(metrics[name], most, borrowed=self._borrowed(name))
            for name, most in allowed.items()
            if name in metrics
        }

    @property
    def effort(self) -> str:
        return self._count.text

    @property
    def newest(self) -> str:
        return self.baseline.newest

    @property
    def runtime(self) -> float | None:
        return self.baseline.runtime

    @property
    def first_run(self) -> bool:
        return self.baseline.first_run

    @property
    def against(self) -> str:
        """How the baseline came to be, in a few words."""
        if self.baseline.devices:
            return f"a fleet of {len(self.baseline.devices)} devices"
        sessions = plural(len(self.baseline.sessions), "session")
        return "a published baseline" if self.baseline.published else sessions

    def check(self, environment: Environment) -> None:
        """Raise MeasurementError if the baseline is of another machine, or of another model if it holds for
        all machines of that; or of data that are laid out otherwise by now.
        """
        if lost := lost_disk(self.baseline.environment, environment):
            raise MeasurementError(f"the baseline is of another machine: {lost}", remedy=_NOT_MOUNTED)
        self.check_data(environment)
        known = self.baseline.environment.identity
        mismatch = identity_changes(known, environment.identity)
        if not mismatch:
            return
        unlike = identity_changes(known, environment.identity, self._of_model or {})
        if unlike or self._of_model is None:
            raise MeasurementError(
                f"the baseline is of another machine: {'; '.join(mismatch)}",
                remedy=_ANOTHER_MODEL if unlike else _ANOTHER_ONE,
            )
        self._another = True

    def check_data(self, environment: Environment) -> None:
        """Raise MeasurementError if the workload works on data that are laid out otherwise by now."""
        if not shared_data(self.baseline.environment, environment):
            return
        if engines.load(self.workload.engine).needs(self.workload).size:
            raise MeasurementError(
                "the baseline is of data that others wrote to as well: by now they are apart, as what they "
                "lie on does not write in place, or nobody can tell from here",
                remedy="record it again with --update-baselines",
            )

    def differences(self, environment: Environment) -> Sequence[str]:
        """Return what changed since the baseline's newest session; a published one does not say."""
        if self.baseline.published:
            return ()
        return differences(*map(self._around, (self.baseline.environment, environment)))

    def _around(self, environment: Environment) -> Environment:
        """Leave out the versions of other engines: they explain nothing here, and come as each is at work."""
        others = {*engines.names()} - {self.workload.engine}
        known = {name: text for name, text in environment.subject.items() if name not in others}
        return replace(environment, subject=known)

    def look(self, repetitions: Sequence[Repetition]) -> bool:
        """Ask the gate about every metric that is not decided yet; True when all are."""
        self._likeness.see(repetitions)
        self._filled = filled_otherwise(self.workload, self.baseline, repetitions, another=self._another)
        if self._filled:
            return True
        for name in self.gating:
            measured = all(name in item.metrics for item in repetitions)
            if not measured or name not in self.baseline.metrics:
                self.unmeasured.append(name)
                return True
        if len(repetitions) < self._count.first:
            return False
        for name in self.gating:
            known = self.decisions.get(name)
            if known and known.verdict != "continue":
                continue
            values = [item.metrics[name] for item in repetitions]
            self.decisions[name] = self._decide(name, values, self._terms(name))
        return all(decision.verdict != "continue" for decision in self.decisions.values())

    def _decide(self, name: str, values: Sequence[float], terms: Terms) -> Decision:
        """Ask the gate about the values of a metric, and those of the same places in its baseline."""
        from iogate.judge.gate import decide

        known, own = self._places.known(name, len(values)), self._places.own(name, values)
        return decide(known, own, **terms, means=self._places.means(name, values))

    def tolerance(self, name: str) -> Tolerance:
        """Return the tolerance that applies to a gating metric: the command line's, or the suite's."""
        declared = self.workload.gate.get(name, _NO_TOLERANCE)
        if self.gate_options.tolerance is not None:
            return Tolerance(self.gate_options.tolerance, declared.better)
        return declared

    @property
    def uncertainty(self) -> float:
        """How far the least certain metric is from a verdict: the width of its interval in tolerances."""
        widths = [
            (item.interval[1] - item.interval[0]) / (item.tolerance or 1.0)
            for item in self.decisions.values()
            if item.verdict == "continue" and item.interval
        ]
        return max(widths, default=math.inf)

    @property
    def losing(self) -> bool:
        """Whether an undecided metric has lost more than its tolerance, as it seems."""
        open_ones = {name: item for name, item in self.decisions.items() if item.verdict == "continue"}
        return any(
            (item.change if metric(name).direction == "lower" else -item.change) > (item.tolerance or 0.0)
            for name, item in open_ones.items()
            if item.change is not None
        )

    def resolution(self, measured: Mapping[str, tuple[float, ...]]) -> list[Sensitivity]:
        """Return what the baseline can resolve with a session more, of each metric that was `measured`."""
        from iogate.judge.gate import sensitivity

        found = []
        for name, values in measured.items():
            known = self._places.known(name)
            assert isinstance(known, tuple)
            found.append(sensitivity((*known, self._places.own(name, values)), **self._terms(name)))
        return [item for item in found if item]

    def expectations(self) -> Mapping[str, Expectation]:
        """Return what the baseline can resolve of each gating metric that it has."""
        from iogate.judge.gate import sensitivity

        return {
            name: Expectation(
                typical_value(self.baseline.metrics[name]),
                self.tolerance(name).worse,
                sensitivity(self._places.known(name), **self._terms(name)),
            )
            for name in self.gating
            if name in self.baseline.metrics
        }

    def _terms(self, name: str) -> Terms:
        """On what terms the gate decides about a metric."""
        places = self._places.count if name in self._places.courses else 0
        return {
            "direction": metric(name).direction,
            "resolution": resolution_of(self.workload, name, typical_value(self.baseline.metrics.get(name))),
            "tolerance": self.tolerance(name).worse,
            "alpha": self.gate_options.alpha,
            "beta": self.gate_options.beta,
            "first_look": min(places, self.minimum) if places else self.minimum,
            "max_repetitions": places or self.maximum,
            "metrics": self.gate_options.metrics,
            "borrowed": self._borrowed(name),
        }

    def _borrowed(self, name: str) -> Borrowed | None:
        """Return what others tell of a metric's noise."""
        if name not in self._lenders:
            lent = self.gate_options.borrowed
            borrowing = lent and borrows(self.workload, name)
            self._lenders[name] = self._sharper(name, lent) if lent and borrowing else None
        return self._lenders[name]

    def _sharper(self, name: str, lent: Borrowed) -> Borrowed:
        """Return what all suites lend; or, where a tolerance is left to the data, what its own suite does if
        its baseline resolves clearly more by it: else noisy workloads of others let losses of this one pass.
        """
        own = self.gate_options.of_suite
        if not (own and own.session_degrees) or self.tolerance(name).worse is not None:
            return lent
        return own if self._resolved(name, own) < _SHARPER * self._resolved(name, lent) else lent

    def _resolved(self, name: str, borrowed: Borrowed) -> float:
        """Return the least loss of a metric that its baseline finds with the usual repetitions."""
        from iogate.judge.gate import sensitivity

        options = self.gate_options
        found = sensitivity(
            self.baseline.metrics.get(name, ()),
            direction=metric(name).direction,
            alpha=options.alpha,
            beta=options.beta,
            metrics=options.metrics,
            borrowed=borrowed,
        )
        return found.minimum_detectable if found else math.inf

    def verdict(self, repetitions: Sequence[Repetition], cut_short: str = "") -> Verdict:
        """Return the verdict on what was measured; `cut_short` says why no more repetitions came, if so."""
        if self._filled:
            notes = note_metrics(repetitions, self.baseline.metrics)
            return Verdict("invalid", self._filled, notes, repetitions=len(repetitions))
        if self.unmeasured:
            return self._unmeasured_verdict(repetitions)
        if not self.decisions.keys() >= set(self.gating):  # interrupted within the first look
            undecided = undecided_metrics(repetitions, self.baseline.metrics, self.gating)
            return Verdict("inconclusive", cut_short, undecided)
        seen = self.heat.seen
        judged = [self._metric(name, repetitions, cut_short) for name in self.gating]
        worst = worst_of(item.verdict for item in judged)
        if worst in PASSED and self.heat.seen == seen:
            self.heat.steady = max(self.heat.steady, repetitions[-1].worked or 0.0)
        guilty = [item for item in judged if item.verdict == worst]
        reasons = [*map(sentence, guilty), *dict.fromkeys(item.reason for item in guilty if item.reason)]
        others = note_metrics(repetitions, self.baseline.metrics, skip=self.gating)
        return Verdict(worst, "\n".join(reasons), (*judged, *others), repetitions=len(repetitions))

    def _unmeasured_verdict(self, repetitions: Sequence[Repetition]) -> Verdict:
        name = self.unmeasured[0]
        if name in self.baseline.metrics:
            known = ", ".join(sorted(repetitions[-1].metrics)) or "none"
            reason = f"the gating metric {name} was not measured; measured were: {known}"
            return Verdict(
                "invalid",
                reason,
                note_metrics(repetitions, self.baseline.metrics),
                repetitions=len(repetitions),
            )
        reason = f"the baseline has no {name}, which gates this workload: refresh it with --update-baselines"
        return Verdict(
            "no_baseline",
            reason,
            note_metrics(repetitions, self.baseline.metrics),
            repetitions=len(repetitions),
            unfit=True,
        )

    def _metric(self, name: str, repetitions: Sequence[Repetition], cut_short: str) -> MetricVerdict:
        decision = self.decisions[name]
        named: VerdictName = "inconclusive" if decision.verdict == "continue" else decision.verdict
        reason = decision.reason
        if decision.verdict == "continue":
            reason = f"not decided after {plural(decision.repetitions, 'repetition')}: {cut_short or reason}"
        values = tuple(item.metrics[name] for item in repetitions if name in item.metrics)
        course = self._places.courses.get(name)
        places = OutOfPlace(self._likeness, self._places, self.heat)
        decide = partial(self._without, name)
        displaced = places.displaced(name, values, decision, decide)
        if elsewhere := displaced or places.beyond(name, repetitions, decision, decide):
            named, reason = "inconclusive", elsewhere
        elif course:
            differ = f"repetitions differ by {format_share(course.span)} for their place in a session"
            reason = f"{reason}; {differ}: like is held against like"
            if named == "inconclusive" and decision.baseline:
                changes = self._places.changes(name, values, decision.baseline)
                reason += f", place by place {', '.join(map(format_change, changes))}"
        if named == "regressed" and (unlike := self._likeness.unlike) and unlike.excuse:
            reason += f"; {unlike.excuse}"
        if named == "inconclusive" and not (cut_short or elsewhere):
            reason += f"; {self._help(decision, repetitions)}"
        if named == "regressed" and decision.repetitions < len(values):
            reason += f"; decided after {decision.repetitions} of {plural(len(values), 'repetition')}"
        fallen = self._fallen(name, named, values, decision)
        better = self.tolerance(name).better
        if better is not None and decision.interval and decision.change is not None:
            sign = 1 if metric(name).direction == "higher" else -1
            if min(sign * end for end in decision.interval) > better:
                named, reason = (
                    "invalid",
                    f"better than the suite holds possible (at most {format_share(better)}): {reason}",
                )
        return MetricVerdict(
            metric(name),
            named,
            decision.value if decision.value is not None else statistics.median(values),
            values,
            gating=True,
            reason=reason,
            baseline=decision.baseline,
            change=decision.change,
            interval=decision.interval,
            tolerance=decision.tolerance,
            bound=decision.bound,
            minimum_detectable=decision.minimum_detectable,
            passes=decision.passes,
            fails=decision.fails,
            sessions=self.baseline.by_session(name),
            losing=self._hides_a_loss(name, named, values, decision) or bool(fallen),
            fallen=fallen,
            displaced=bool(displaced),
            assumed=decision.assumed,
        )

    def _without(self, name: str, values: Sequence[float]) -> str:
        """Return the verdict on fewer repetitions of a metric, at one look at them."""
        terms: Terms = {**self._terms(name), "first_look": len(values), "max_repetitions": len(values)}
        return self._decide(name, values, terms).verdict

    def _may_hide_a_loss(self, name: str, named: VerdictName) -> bool:
        wide = self.tolerance(name).worse is None and named in ("pass", "drift")
        return named == "inconclusive" or wide

    def _fallen(self, name: str, named: VerdictName, values: Sequence[float], decision: Decision) -> float:
        """Return by how much a metric changed since the first session, if that is a loss that a verdict
        hides: sessions got worse from one to the next. A fleet has no order, nor do sessions without a time;
        and where repetitions differ for their places, so do the means of longer sessions.
        """
        if not self._may_hide_a_loss(name, named) or self.baseline.devices or name in self._places.courses:
            return 0.0
        known = self.baseline.by_session(name)
        sessions = [known[session] for session in sorted(self.baseline.dated) if session in known]
        return fall(values, sessions, metric(name).direction, decision.tolerance or 0.0)

    def _hides_a_loss(
        self, name: str, named: VerdictName, values: Sequence[float], decision: Decision
    ) -> bool:
        """Return whether a verdict says less than what is usual on the device would: it is undecided, or
        passes under a tolerance that is as wide as little is known; and the metric has lost.
        """
        tolerance, terms = self.tolerance(name).worse, self._terms(name)
        if not self._may_hide_a_loss(name, named):
            return False
        sessions = self.baseline.by_session(name).values()
        known = self._places.known(name, decision.repetitions)
        direction = terms["direction"]
        return is_below_all(values, sessions, direction, tolerance or 0.0) or seems_lost(
            values, sessions, known, decision, terms
        )

    def _help(self, decision: Decision, repetitions: Sequence[Repetition]) -> str:
        """Return what an undecided metric takes to be decided."""
        if decision.remedy:
            return decision.remedy.text(statistics.fmean(item.seconds for item in repetitions))
        what = "record sessions of this device" if self.baseline.published else "measure again"
        return f"{what} when nothing else uses the machine, or measure side by side: --io-against"
