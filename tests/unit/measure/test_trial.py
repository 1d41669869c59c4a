"""One workload on its way to a verdict: the length of a repetition, preconditioning, and the steady state."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fake_bench import QUIET, READ, FakeBench, Unsure, enroll, figures, measure, reads, session_on
from iogate.errors import MeasurementError
from iogate.judge.baseline_judge import BaselineJudge
from iogate.judge.judge import GateOptions
from iogate.judge.recorder import Recorder
from iogate.measure.bench import Arm
from iogate.measure.plan import expectations
from iogate.measure.steady import Criterion, steadiness
from iogate.measure.trial import Trial
from iogate.model import Baseline, Output, Repetition, Tolerance

STEADY = {"steady_state": {"rounds": 5, "range": 0.2, "slope": 0.1, "max_rounds": 8}}
PRECONDITION = {"precondition": {"fill": 2, "random": True}}
RISING = (100.0, 200.0, 400.0)
"""What a device says that has not come to rest."""


def trial_of(declared):
    return Trial(
        "id", (Arm("fake", declared, FakeBench()),), ("read.iops",), Recorder(declared, ("read.iops",))
    )


def repetition(figure):
    return Repetition(Output({"read.iops": figure}, {}), 10.0, "folder")


def decided(bench, declared, **known):
    """The trial of a workload, and its result."""
    session = session_on(bench, **known)
    trials = enroll(session, declared)
    measure(session, trials)
    return trials[0], trials[0].result


def test_no_judge_gets_more_repetitions_than_the_most():
    trial = trial_of(reads("a"))
    trial.judge = Unsure(maximum=5)
    for count in range(1, 6):
        trial.take(repetition(1000.0))
        assert trial.sure is (count == 5)


# ------------------------------------------------------------ a pilot run


def test_a_pilot_tells_how_long_repetitions_are_and_is_not_judged():
    bench = FakeBench(a=itertools.chain([5000.0], figures(1000)))
    trial, result = decided(bench, reads("a", seconds=20, procedure={"runtime": "auto"}))
    assert bench.labels("a") == ["pilot", 1, 2, 3, 4, 5]
    assert [item.folder for item in result.warmup] == ["results/a/pilot"]
    assert max(result.verdict.metrics[0].values) < 1100
    pilot, *others = [ran.options["runtime"] for ran, _ in bench.ran]
    assert pilot == 20
    assert set(others) == {5}  # equal seconds: the shortest repetition is long enough
    assert trial.needs.seconds == 5
    assert result.device_seconds == 20 + 5 * 5


def test_why_repetitions_are_that_long_is_noted():
    _, result = decided(FakeBench(), reads("a", seconds=20, procedure={"runtime": "auto"}))
    (noted,) = result.verdict.findings
    assert (noted.check, noted.severity) == ("repetition_length", "note")
    assert noted.message.startswith("repetitions of 5 s: ")


def scattering(tolerance, **limits):
    """The runtimes of a workload whose seconds scatter by 6%."""
    bench = ScatteringBench()
    gate = {"gate": {"read.iops": Tolerance(tolerance)}} if tolerance else {}
    decided(bench, reads("a", seconds=20, procedure={"runtime": "auto"}, **gate), **limits)
    return [ran.options["runtime"] for ran, _ in bench.ran[1:]]


class ScatteringBench(FakeBench):
    """A bench whose seconds differ."""

    def repeat(self, *arguments, **named):
        found = super().repeat(*arguments, **named)
        seconds = random.Random(1)
        return replace(found, series=tuple(seconds.gauss(1000, 60) for _ in found.series))


def test_repetitions_are_as_long_as_a_declared_tolerance_needs():
    assert max(scattering(None)) < min(scattering(0.05)) <= 60


def test_repetitions_are_no_longer_than_the_device_time_allows():
    assert scattering(0.03, budget=100) == [16] * 5  # 20 s are the pilot's
    assert min(scattering(0.03)) > 16


def test_what_is_judged_lasts_as_long_as_its_baseline_did():
    bench = FakeBench()
    declared = reads("a", seconds=20, procedure={"runtime": "auto"})
    baseline = Baseline("a", declared.definition, {READ: QUIET}, ("s1", "s2", "s3"), runtime=42.0)
    judge = BaselineJudge(declared, baseline, (READ,), GateOptions())
    _, result = decided(bench, declared, a=judge, budget=100)
    assert bench.labels("a") == [1, 2]
    assert {ran.options["runtime"] for ran, _ in bench.ran} == {42.0}
    assert result.workload.chosen_runtime == 42.0
    assert result.verdict.findings[0].message == "repetitions of 42 s, as those of the baseline"


def test_what_is_judged_begins_with_a_first_run_where_its_baseline_did():
    """Else one sees a cache, or credit for bursts, that the other's first run had used up."""
    bench = FakeBench()
    declared = reads("a", seconds=20, procedure={"runtime": "auto"})
    session = "2026-01-01T00:00:00Z-aaaa"
    baseline = Baseline("a", declared.definition, {READ: (QUIET[0],)}, (session,), runtime=42.0)
    judge = BaselineJudge(declared, baseline, (READ,), GateOptions(tolerance=0.05))
    trials = enroll(session_on(bench, a=judge), declared)
    assert "a: a first run of 20 s, as before those of its baseline" in expectations(trials)
    _, result = decided(bench, declared, a=judge)
    assert bench.labels("a") == ["pilot", 1, 2]
    assert [ran.options["runtime"] for ran, _ in bench.ran] == [20, 42.0, 42.0]
    assert [item.folder for item in result.warmup] == ["results/a/pilot"]
    assert result.workload.chosen_runtime == 42.0


def test_a_first_run_counts_where_device_time_is_short():
    declared = reads("a", seconds=20, procedure={"runtime": "auto"})
    session = "2026-01-01T00:00:00Z-aaaa"
    baseline = Baseline("a", declared.definition, {READ: QUIET[:1]}, (session,), runtime=42.0)
    for budget, labels in ((103, []), (104, ["pilot", 1, 2])):
        bench = FakeBench()
        judge = BaselineJudge(declared, baseline, (READ,), GateOptions(tolerance=0.05))
        decided(bench, declared, a=judge, budget=budget)
        assert bench.labels("a") == labels


def test_a_length_that_the_budget_bounds_leaves_time_to_begin_and_to_end():
    """Nothing was measured: five repetitions of 22 s need 110, and 109.4 were left behind the first run."""
    declared = reads("a", seconds=20, procedure={"runtime": "auto"})
    rested = replace(declared, options={**declared.options, "startdelay": 5.0})
    for workload, seconds in ((declared, 21), (rested, 15)):
        _, result = decided(SlowToBegin(), workload, budget=130)
        assert (result.verdict.verdict, len(result.repetitions)) == ("recorded", 5)
        assert result.workload.chosen_runtime == seconds
        assert result.device_seconds <= 130


class SlowToBegin(FakeBench):
    """A bench whose seconds differ, and whose repetitions take 0.6 s more than their engine runs."""

    def repeat(self, id, workload, *arguments, **named):
        found = super().repeat(id, workload, *arguments, **named)
        series = tuple(figure * (1 if number < 10 else 2) for number, figure in enumerate(found.series))
        return replace(found, series=series, seconds=found.seconds + workload.options["startdelay"] + 0.6)


def test_before_a_pilot_is_told_what_it_is_for():
    declared = reads("a", seconds=20, procedure={"runtime": "auto"}, gate={READ: Tolerance(0.05)})
    text = expectations(enroll(session_on(FakeBench()), declared))
    assert (
        text == "a: a first run of 20 s tells how long the others are, 5 to 60 s, by what the tolerance needs"
    )


def test_a_baseline_that_does_not_tell_how_long_its_repetitions_were_is_told():
    declared = reads("a", seconds=20, procedure={"runtime": "auto"})
    baseline = Baseline("a", declared.definition, {READ: QUIET}, ("s1", "s2", "s3"))
    for runtime, told in ((None, True), (42.0, False)):
        known = replace(baseline, runtime=runtime)
        judge = BaselineJudge(declared, known, (READ,), GateOptions())
        text = expectations(enroll(session_on(FakeBench(), a=judge), declared))
        assert ("a: a first run of 20 s" in text) is told
        assert ("its baseline does not tell how long its own were" in text) is told


def test_pilots_are_part_of_the_rounds():
    bench = FakeBench()
    session = session_on(bench)
    automatic = [reads(name, seconds=20, procedure={"runtime": "auto"}) for name in "ab"]
    measure(session, enroll(session, *automatic))
    assert bench.runs[0] == ("a", "pilot")
    assert sorted(bench.labels("b"), key=str) == [1, 2, 3, 4, 5, "pilot"]


# ------------------------------------------------------------ the steady state


def test_repetitions_before_the_steady_state_are_kept_and_not_judged():
    bench = FakeBench(a=itertools.chain(RISING, figures(1000)))
    _, result = decided(bench, reads("a", procedure=STEADY))
    assert bench.labels("a") == [f"round-{number}" for number in range(1, 9)]
    assert [item.metrics["read.iops"] for item in result.warmup] == list(RISING)
    assert result.verdict.verdict == "recorded"
    assert len(result.repetitions) == 5
    assert min(item.metrics["read.iops"] for item in result.repetitions) > 990


def test_more_repetitions_follow_the_steady_rounds_until_the_judge_is_sure():
    bench = FakeBench(a=figures(970, noise=0.05))
    _, result = decided(bench, reads("a", procedure=STEADY), a=QUIET)
    assert bench.labels("a")[4:7] == ["round-5", 6, 7]
    assert len(result.repetitions) == len(bench.runs)


def test_a_pilot_is_no_round_of_the_steady_state():
    bench = FakeBench()
    _, result = decided(bench, reads("a", seconds=20, procedure={"runtime": "auto", **STEADY}))
    assert bench.labels("a") == ["pilot", *(f"round-{number}" for number in range(1, 6))]
    assert [item.folder for item in result.warmup] == ["results/a/pilot"]
    assert {item.seconds for item in result.repetitions} == {5.0}
    assert (result.verdict.verdict, len(result.repetitions)) == ("recorded", 5)


def test_a_pilot_comes_before_the_rounds_that_are_not_steady_yet():
    bench = FakeBench(a=itertools.chain([1000.0], RISING, figures(1000)))
    _, result = decided(bench, reads("a", seconds=20, procedure={"runtime": "auto", **STEADY}), a=QUIET)
    assert [item.metrics[READ] for item in result.warmup] == [1000.0, *RISING]
    assert bench.labels("a").count("pilot") == 1


def test_a_device_that_does_not_come_to_rest_gives_no_verdict():
    bench = FakeBench(a=itertools.cycle((500.0, 1000.0)))
    _, result = decided(bench, reads("a", procedure=STEADY))
    assert len(bench.runs) == 8
    assert isinstance(result.failure, MeasurementError)
    assert result.failure.message.startswith(
        "read.iops is not steady after 8 rounds: the last 5 rounds range"
    )
    assert (len(result.warmup), len(result.repetitions)) == (8, 0)


@given(st.lists(st.floats(1, 2000), min_size=1, max_size=25))
def test_no_round_is_lost_and_what_is_judged_was_steady(rates):
    trial = trial_of(reads("a", procedure={"steady_state": {**STEADY["steady_state"], "max_rounds": 25}}))
    taken = []
    for rate in rates:
        taken.append(repetition(rate))
        try:
            trial.take(taken[-1])
        except MeasurementError:
            assert len(taken) == 25
    assert [*trial.warmup, *trial.repetitions] == taken
    if trial.repetitions:
        first = [item.metrics["read.iops"] for item in trial.repetitions[:5]]
        assert steadiness(first, Criterion()).reached
    else:
        assert not any(steadiness(rates[:end], Criterion()).reached for end in range(5, len(rates) + 1))


# ------------------------------------------------------------ preconditioning


def test_all_data_are_written_in_sequence_and_then_at_random_until_that_is_steady():
    bench = FakeBench(a=itertools.chain([1.0, 1.0], RISING, figures(1000)))
    _, result = decided(bench, reads("a", seconds=30, procedure=PRECONDITION))
    random = [f"random-{number}" for number in range(1, 9)]
    assert bench.labels("a") == ["fill-1", "fill-2", *random, 1, 2, 3, 4, 5]
    patterns = [(ran.options["rw"], ran.options["size"], ran.options.get("runtime")) for ran, _ in bench.ran]
    assert patterns[:3] == [("write", "1M", None), ("write", "1M", None), ("randwrite", "1M", 30)]
    assert len(result.repetitions) == 5
    assert result.warmup == ()


def test_preconditioning_costs_device_time_and_is_not_audited_for_what_gates():
    bench = FakeBench()
    _, result = decided(bench, reads("a", seconds=10, procedure=PRECONDITION))
    assert result.device_seconds == 2 * 1 + 5 * 10 + 5 * 10
    assert [gating for _, gating in bench.ran] == [()] * 7 + [("read.iops",)] * 5


def test_random_writes_take_a_minute_at_most():
    bench = FakeBench()
    decided(bench, reads("a", seconds=600, procedure={"precondition": {"fill": 0, "random": True}}))
    assert bench.ran[0][0].options["runtime"] == 60


def test_fills_alone_precondition_as_well():
    bench = FakeBench()
    decided(bench, reads("a", procedure={"precondition": {"fill": 1, "random": False}}))
    assert bench.labels("a") == ["fill-1", 1, 2, 3, 4, 5]


def test_writes_that_never_become_steady_give_no_verdict():
    bench = FakeBench(a=itertools.cycle((500.0, 1000.0)))
    _, result = decided(bench, reads("a", procedure={**PRECONDITION, **STEADY}))
    assert bench.labels("a")[-1] == "random-8"
    assert result.verdict.verdict == "invalid"
    assert "preconditioning did not make the device steady" in result.failure.message


def test_an_error_while_preconditioning_is_that_workloads():
    bench = FakeBench(a=[1000.0, MeasurementError("the fill failed")])
    _, result = decided(bench, reads("a", procedure=PRECONDITION))
    assert bench.labels("a") == ["fill-1", "fill-2"]
    assert str(result.failure) == "the fill failed"


# ------------------------------------------------------------ arms
