"""A session: whose turn it is, what errors and interruptions do, and what is known in the end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fake_bench import (
    QUIET,
    READ,
    FakeBench,
    FakeJudges,
    FakeWatcher,
    Unsure,
    enroll,
    figures,
    measure,
    reads,
    session_on,
)
from iogate.errors import EngineError, MeasurementError, OutputError, TargetError
from iogate.judge.baseline_judge import BaselineJudge
from iogate.judge.enough import Enough
from iogate.judge.judge import GateOptions
from iogate.judge.recorder import Recorder
from iogate.model import Baseline, Environment, Finding, Verdict

A, B, C = reads("a"), reads("b"), reads("c")


def verdicts(trials):
    return {trial.workload.name: trial.result.verdict.verdict for trial in trials}


# ------------------------------------------------------------ whose turn it is


def test_each_repetition_tells_behind_how_much_work_it_came():
    """Also behind that of one that failed once it had worked."""
    bench = FakeBench(b=[1000.0, EngineError("died")])
    session = session_on(bench)
    trials = enroll(session, reads("a", seconds=10), reads("b", seconds=5), reads("c", seconds=1))
    assert measure(session, trials) == ["b", "a", "c"]
    worked = {trial.workload.name: [one.worked for one in trial.repetitions] for trial in trials}
    assert worked["a"] == pytest.approx([0, 16, 27, 38, 49], abs=0.5)
    assert worked["b"] == [10.0]
    assert worked["c"] == pytest.approx([15, 26, 37, 48, 59], abs=0.5)


def test_a_ramp_is_work_which_its_engine_does_not_count():
    """A suite by itself was called faster, whatever it had lost: a ramp before it had made the device hot."""
    session = session_on(FakeBench())
    ramped = reads("a", seconds=1)
    trials = enroll(session, replace(ramped, options={**ramped.options, "ramp_time": 2.0}))
    measure(session, trials)
    assert [one.worked for one in trials[0].repetitions] == [0.0, 3.0, 6.0, 9.0, 12.0]


def test_a_session_begins_behind_what_the_device_has_not_rested_from():
    session, noted = session_on(FakeBench()), []
    session.begin_behind(40.0, noted.append)
    trials = enroll(session, reads("a", seconds=1), reads("b", seconds=10))
    assert not noted
    measure(session, trials)
    assert trials[0].repetitions[0].worked == 40.0
    session.close()
    session.close()
    assert noted == sorted(set(noted))  # its own, each time more
    assert noted[-1] == pytest.approx(sum(item.work for one in trials for item in one.repetitions))


def test_what_a_killed_session_has_not_noted_is_little():
    """Of ten workloads by turns nothing was noted until one of them was decided."""
    session, noted = session_on(FakeBench()), []
    session.begin_behind(40.0, noted.append)
    trials = enroll(session, *(reads(f"w{number}", seconds=1) for number in range(10)))
    done = [each.work for one in [session.decide(trials)] for each in one.repetitions]
    assert len(noted) > len(done) and noted[-1] >= 0.9 * sum(
        item.work for one in trials for item in one.repetitions
    )
    assert len(noted) < sum(len(one.repetitions) for one in trials)  # and not each time


def test_workloads_are_interleaved_in_rounds():
    bench = FakeBench()
    session = session_on(bench)
    assert measure(session, enroll(session, A, B, C)) == ["a", "b", "c"]
    assert bench.runs == [(name, number) for number in range(1, 6) for name in "abc"]


def test_a_round_has_sixteen_workloads_so_that_verdicts_come_soon():
    bench = FakeBench()
    session = session_on(bench)
    many = [reads(f"w{number}") for number in range(18)]
    session.decide(enroll(session, *many))
    assert {name for name, _ in bench.runs} == {f"w{number}" for number in range(16)}


def test_a_workload_joins_the_rounds_when_another_is_decided():
    bench = FakeBench()
    session = session_on(bench)
    measure(session, enroll(session, *(reads(f"w{number}") for number in range(17))))
    assert bench.runs[16 * 4 : 16 * 4 + 3] == [("w0", 5), ("w16", 1), ("w16", 2)]


def test_a_fixed_protocol_runs_apart_and_as_often_as_it_says():
    bench = FakeBench()
    session = session_on(bench, a=QUIET, b=QUIET, c=QUIET)
    measure(session, enroll(session, reads("a", repetitions=2), B, C))
    assert bench.runs[:2] == [("a", 1), ("a", 2)]
    assert bench.runs[2:4] == [("b", 1), ("c", 1)]
    assert bench.labels("a") == [1, 2]


def test_what_comes_after_a_fixed_protocol_waits_for_it():
    bench = FakeBench()
    session = session_on(bench)
    measure(session, enroll(session, A, reads("fixed", repetitions=5), C))
    assert [name for name, _ in bench.runs] == [*("a" * 5), *["fixed"] * 5, *("c" * 5)]


def test_repetitions_end_as_soon_as_the_judge_is_sure():
    bench = FakeBench(a=figures(1000), b=figures(500))
    session = session_on(bench, a=QUIET, b=QUIET)
    trials = enroll(session, A, B)
    measure(session, trials)
    assert verdicts(trials) == {"a": "pass", "b": "regressed"}
    assert max(map(len, (bench.labels("a"), bench.labels("b")))) < 5


def test_who_is_never_sure_stops_at_the_limit():
    bench = FakeBench(a=figures(970, noise=0.03))
    session = session_on(bench, options=GateOptions(max_repetitions=4, tolerance=0.03), a=QUIET)
    trials = enroll(session, A)
    measure(session, trials)
    assert verdicts(trials) == {"a": "inconclusive"}
    assert bench.labels("a") == [1, 2, 3, 4]


def test_what_is_decided_stays_decided():
    bench = FakeBench()
    session = session_on(bench)
    trials = enroll(session, A, B)
    first = session.decide(trials)
    result, runs = first.result, list(bench.runs)
    assert session.decide(trials) is first
    assert (first.result, bench.runs) == (result, runs)
    measure(session, trials)
    assert bench.labels("a") == [1, 2, 3, 4, 5]
    assert first.result is result


# ------------------------------------------------------------ device time that is short


def test_device_time_that_is_used_up_leaves_workloads_inconclusive():
    bench = FakeBench()
    session = session_on(bench, budget=55, options=GateOptions(tolerance=1e-4), a=QUIET, b=QUIET)
    trials = enroll(session, A, B)
    measure(session, trials)
    assert bench.runs == [("a", 1), ("b", 1), ("a", 2), ("b", 2), ("a", 3)]
    for trial in trials:
        assert trial.result.verdict.verdict == "inconclusive"
        assert "the device time of --io-budget is used up" in trial.result.verdict.reason


def test_what_was_never_measured_for_want_of_time_says_so():
    bench = FakeBench()
    session = session_on(bench, budget=5, a=QUIET)
    trials = enroll(session, A)
    measure(session, trials)
    assert bench.runs == []
    verdict = trials[0].result.verdict
    assert verdict.verdict == "inconclusive"
    assert "does not suffice: 20 s are needed for it, of 5.0 s left" in verdict.reason


def test_a_recording_that_was_cut_short_is_not_recorded():
    bench = FakeBench(a=[1000.0, 1000.0, KeyboardInterrupt()])
    session = session_on(bench)
    trials = enroll(session, A)
    with pytest.raises(KeyboardInterrupt):
        measure(session, trials)
    verdict = session.interrupt(trials)[0].verdict
    assert (verdict.verdict, verdict.repetitions) == ("inconclusive", 2)
    assert {item.metric.name: item.verdict for item in verdict.metrics}[READ] == "inconclusive"


def test_what_cannot_be_recorded_whole_leaves_its_time_to_others():
    bench = FakeBench()
    session = session_on(bench, budget=70)
    trials = enroll(session, reads("long", seconds=20), A, B)
    measure(session, trials)
    assert verdicts(trials) == {"long": "inconclusive", "a": "recorded", "b": "inconclusive"}
    assert bench.runs == [("a", number) for number in range(1, 6)]


def test_device_time_goes_first_to_what_was_never_recorded_and_then_to_the_oldest():
    ages = (("new", "2026-02"), ("old", "2026-01"))
    known = {name: Recorder(A, (READ,), newest=newest) for name, newest in ages}
    bench = FakeBench()
    session = session_on(bench, budget=105, **known)
    trials = enroll(session, reads("new"), reads("old", suite="two"), reads("never", suite="three"))
    measure(session, trials)
    assert verdicts(trials) == {"new": "inconclusive", "old": "recorded", "never": "recorded"}


def test_repetitions_longer_than_expected_keep_others_from_being_begun():
    class Slow(FakeBench):
        def repeat(self, *arguments):
            return replace(super().repeat(*arguments), seconds=15.0)

    bench = Slow()
    session = session_on(bench, budget=110)
    trials = enroll(session, A, reads("b", suite="two"))
    measure(session, trials)
    assert verdicts(trials) == {"a": "recorded", "b": "inconclusive"}
    assert len(bench.labels("a")) == 5
    assert bench.labels("b") == []


def test_device_time_goes_to_what_is_least_certain():
    bench = FakeBench()
    session = session_on(bench, budget=180, quiet=Unsure(1.0), noisy=Unsure(9.0))
    measure(session, enroll(session, reads("quiet"), reads("noisy")))
    assert (len(bench.labels("quiet")), len(bench.labels("noisy"))) == (6, 12)


def test_first_each_workload_gets_what_a_judge_needs_however_uncertain_another_is():
    bench = FakeBench()
    session = session_on(bench, budget=180, quiet=Unsure(1.0), noisy=Unsure(9.0))
    measure(session, enroll(session, reads("quiet"), reads("noisy")))
    assert [name for name, _ in bench.runs[:5]] == ["noisy", "quiet", "noisy", "quiet", "noisy"]


def test_device_time_is_shared_out_among_suites_by_what_they_usually_take():
    bench = FakeBench()
    session = session_on(bench, budget=120, options=GateOptions(tolerance=1e-4), long=QUIET, short=QUIET)
    long = reads("long", suite="one", seconds=20)
    short = reads("short", suite="two", seconds=10)
    trials = enroll(session, long, short)
    measure(session, trials[:1])
    assert len(bench.labels("long")) == 4  # 80 of 120 seconds
    measure(session, trials[1:])
    assert len(bench.labels("short")) == 4


def test_what_one_suite_leaves_goes_to_the_next():
    bench = FakeBench()
    options = GateOptions(tolerance=1e-4)
    session = session_on(bench, budget=120, options=options, second=QUIET, first=Verdict("no_baseline", ""))
    trials = enroll(session, reads("first", suite="one"), reads("second", suite="two"))
    measure(session, trials)
    assert len(bench.labels("second")) == 12


# ------------------------------------------------------------ what need not, or cannot, be measured


def test_a_workload_that_the_target_refuses_is_never_run():
    bench = FakeBench()
    large = reads("large", seconds=77)
    session = session_on(bench)
    trials = enroll(session, large)
    bench.refused[trials[0].needs] = TargetError("too small", rule="space", remedy="free space")
    trials = enroll(session, large, A)
    measure(session, trials)
    assert bench.labels("large") == []
    assert verdicts(trials) == {"large": "invalid", "a": "recorded"}
    assert str(trials[0].result.failure) == "too small\n  free space"


def test_a_workload_without_a_baseline_is_never_run():
    bench = FakeBench()
    session = session_on(bench, a=Verdict("no_baseline", "none"))
    trials = enroll(session, A)
    assert trials[0].result.verdict == Verdict("no_baseline", "none")
    assert measure(session, trials) == ["a"]
    assert bench.runs == []
    assert not bench.taken


def test_a_baseline_of_another_machine_judges_nothing():
    bench, judges = FakeBench(), FakeJudges(GateOptions(), a=QUIET)
    judges.environment = Environment(identity={"machine": "another"})
    session = session_on(bench, judges=judges)
    (trial,) = enroll(session, A)
    assert isinstance(trial.result.failure, MeasurementError)
    assert "machine was another, is fake" in trial.result.verdict.reason
    assert trial.result.differences == ("machine was another, is fake",)
    assert bench.runs == []


def test_a_target_is_taken_when_it_is_first_needed_and_let_go_at_the_end():
    bench, watcher = FakeBench(), FakeWatcher()
    session = session_on(bench, watcher=watcher)
    trials = enroll(session, A)
    assert not bench.taken
    measure(session, trials)
    assert bench.taken
    session.close()
    assert not bench.taken
    assert watcher.over


def test_a_target_that_another_run_has_ends_the_session():
    class Taken(FakeBench):
        def open(self):
            raise TargetError("another run has it", rule="locked")

    bench = Taken()
    session = session_on(bench)
    trials = enroll(session, A)
    with pytest.raises(TargetError, match="another run has it"):
        session.decide(trials)
    assert bench.runs == []


# ------------------------------------------------------------ errors and interruptions


@pytest.mark.parametrize(
    "error", [EngineError("killed"), OutputError("no JSON"), TargetError("x", rule="changed")]
)
def test_an_error_in_the_middle_fails_that_workload_alone(error):
    bench = FakeBench(a=[1000.0, 1001.0, error])
    session = session_on(bench)
    trials = enroll(session, A, B)
    assert measure(session, trials) == ["a", "b"]
    assert verdicts(trials) == {"a": "invalid", "b": "recorded"}
    failed = trials[0].result
    assert failed.failure is error
    assert (len(failed.repetitions), failed.device_seconds) == (2, 20.0)
    assert bench.labels("a") == [1, 2, 3]


def test_a_measurement_that_the_audit_refuses_is_kept_and_not_judged():
    bench = FakeBench()
    bench.findings["a", 3] = Finding("cached", "invalid", "it was the page cache", "say direct: 1")
    session = session_on(bench)
    trials = enroll(session, A, B)
    measure(session, trials)
    failed = trials[0].result
    assert verdicts(trials) == {"a": "invalid", "b": "recorded"}
    assert str(failed.failure) == "it was the page cache\n  say direct: 1"
    assert [item.folder for item in failed.repetitions] == ["results/a/1", "results/a/2"]
    assert [item.folder for item in failed.warmup] == ["results/a/3"]
    assert [item.check for item in failed.verdict.findings] == ["cached"]


def test_a_finding_that_is_not_invalid_changes_no_verdict_and_is_told_once():
    bench = FakeBench()
    for number in (1, 2):
        bench.findings["a", number] = Finding("noisy", "suspect", f"at {number}")
    session = session_on(bench)
    trials = enroll(session, A)
    measure(session, trials)
    assert verdicts(trials) == {"a": "recorded"}
    assert [item.message for item in trials[0].result.verdict.findings] == ["at 1"]


def test_what_was_begun_when_the_session_was_interrupted_is_told():
    bench = FakeBench(b=[1000.0, KeyboardInterrupt()])
    session = session_on(bench, options=GateOptions(tolerance=1e-4), a=QUIET)
    trials = enroll(session, A, B, reads("later", repetitions=5))
    with pytest.raises(KeyboardInterrupt):
        measure(session, trials)
    told = session.interrupt(trials)
    assert [(item.id, item.verdict.verdict) for item in told] == [
        ("demo::a", "inconclusive"),
        ("demo::b", "inconclusive"),
    ]
    assert all("the session was interrupted" in item.verdict.reason for item in told)


def test_who_is_interrupted_within_a_look_takes_nothing_from_the_others():
    class Interrupted(BaselineJudge):
        def look(self, repetitions):
            raise KeyboardInterrupt

    judge = Interrupted(B, Baseline("b", {}, {READ: QUIET}, ("1", "2", "3")), (READ,), GateOptions())
    session = session_on(FakeBench(), b=judge)
    trials = enroll(session, A, B)
    with pytest.raises(KeyboardInterrupt):
        measure(session, trials)
    told = {item.workload.name: item.verdict for item in session.interrupt(trials)}
    assert {name: verdict.verdict for name, verdict in told.items()} == dict.fromkeys("ab", "inconclusive")
    assert "the session was interrupted" in told["b"].reason


def test_what_was_interrupted_becomes_no_baseline_however_often_it_was_measured():
    options = GateOptions(tolerance=0.03, extend=True)
    judges = {"a": Recorder(A, (READ,), enough=Enough.of(A, (READ,), options))}
    bench = FakeBench(a=[1000.0, 1020.0, 980.0, 1015.0, 985.0, 1000.0, KeyboardInterrupt()])
    session = session_on(bench, options=options, **judges)
    trials = enroll(session, A)
    with pytest.raises(KeyboardInterrupt):
        measure(session, trials)
    (told,) = session.interrupt(trials)
    assert told.verdict.repetitions == 6
    assert (told.verdict.verdict, told.verdict.keep) == ("inconclusive", False)
    assert told.verdict.reason == "not recorded: the session was interrupted"
    assert {item.metric.name: item.verdict for item in told.verdict.metrics}[READ] == "inconclusive"


def test_what_is_decided_is_not_told_again_at_an_interruption():
    session = session_on(FakeBench())
    trials = enroll(session, A)
    measure(session, trials)
    assert session.interrupt(trials) == []


# ------------------------------------------------------------ recording


@pytest.mark.parametrize(("asked", "recorded"), [(None, 5), (2, 5), (7, 7)])
def test_a_baseline_is_made_of_at_least_five_repetitions(asked, recorded):
    bench = FakeBench()
    session = session_on(bench)
    trials = enroll(session, reads("a", repetitions=asked))
    measure(session, trials)
    assert trials[0].result.verdict.repetitions == recorded
    assert trials[0].result.verdict.reason == f"{recorded} repetitions recorded as the baseline"


def test_what_lacks_its_gating_metric_is_not_recorded():
    bench = FakeBench()
    bench.metric = {"write.iops"}
    session = session_on(bench)
    trials = enroll(session, A)
    measure(session, trials)
    result = trials[0].result
    assert verdicts(trials) == {"a": "invalid"}
    assert str(result.failure) == "the gating metric read.iops was not measured; measured were: write.iops"


# ------------------------------------------------------------ what is told


def test_a_false_alarm_is_shared_out_among_all_gating_metrics():
    judges = FakeJudges(GateOptions())
    session = session_on(FakeBench(), judges=judges)
    enroll(session, A, reads("two", gate={READ: None, "read.lat.mean": None}))
    assert judges.expected == [3]


def test_what_is_enrolled_later_shares_with_all_before_and_all_to_come():
    judges = FakeJudges(GateOptions())
    session = session_on(FakeBench(), judges=judges)
    session.enroll([("a", A), ("b", B)], coming=40)
    session.enroll([("c", C)], coming=39)
    session.enroll([("d", reads("d"))], coming=39)
    assert judges.expected == [42, 42, 43]


def test_an_engines_version_becomes_part_of_what_is_under_test():
    session = session_on(FakeBench())
    measure(session, enroll(session, A))
    assert session.environment.subject == {"fio": "1.0"}


def test_another_version_of_an_engine_does_not_go_on_with_a_session():
    session = session_on(FakeBench())
    session.know(Environment(subject={"fio": "0.9", "iozone": "3"}))
    assert session.environment.subject == {"fio": "0.9", "iozone": "3"}
    trials = enroll(session, A)
    measure(session, trials)
    assert verdicts(trials) == {"a": "invalid"}
    assert "fio was 0.9 earlier in this session, is 1.0 now" in str(trials[0].result.failure)


def test_what_changed_since_the_baseline_is_told():
    bench, judges = FakeBench(), FakeJudges(GateOptions(), a=QUIET)
    judges.environment = Environment(subject={"kernel": "6.1"})
    bench.environment = Environment(subject={"kernel": "6.2"})
    session = session_on(bench, judges=judges)
    trials = enroll(session, A)
    measure(session, trials)
    assert "kernel was 6.1, is 6.2" in trials[0].result.differences


def test_the_time_left_counts_what_workloads_usually_take():
    watcher = FakeWatcher()
    session = session_on(FakeBench(), watcher=watcher)
    measure(session, enroll(session, A, B))
    assert watcher.told[:3] == [(1, 5, 10.0, 100.0), (1, 5, 10.0, 90.0), (2, 5, 10.0, 80.0)]
    assert watcher.told[-1] == (5, 5, 10.0, 10.0)
