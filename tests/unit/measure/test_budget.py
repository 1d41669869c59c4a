"""Device time that is short: what gets any."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_bench import QUIET, READ, FakeBench, enroll, measure, reads, session_on
from iogate.judge.recorder import Recorder
from iogate.measure.budget import Budget, admitted, whole
from iogate.measure.plan import plan_text
from workloads import declared as workload


def trials(*seconds, newest=()):
    """Trials to be recorded, whose repetitions take so long, with the session that is known of each."""
    workloads = [reads(f"w{number}", seconds=each) for number, each in enumerate(seconds)]
    ages = [*newest, *[""] * (len(seconds) - len(newest))]
    known = {one.name: Recorder(one, (READ,), newest=age) for one, age in zip(workloads, ages, strict=True)}
    return enroll(session_on(FakeBench(), **known), *workloads)


def names(chosen):
    return [trial.workload.name for trial in chosen]


def test_what_fits_is_begun_and_no_more():
    assert names(admitted(trials(10, 10, 10), 100)) == ["w0", "w1"]
    assert names(admitted(trials(30, 10, 10), 100)) == ["w1", "w2"]
    assert admitted(trials(30), 149) == []


def test_the_never_recorded_come_first_then_the_oldest():
    several = trials(10, 10, 10, newest=("2026-03", "2026-01", ""))
    assert names(admitted(several, 150)) == ["w2", "w1", "w0"]
    assert names(admitted(several, 100)) == ["w2", "w1"]


def test_a_judged_workload_needs_two_repetitions():
    (trial,) = enroll(session_on(FakeBench(), a=QUIET), reads("a"))
    assert whole(trial) == 20


@given(st.lists(st.integers(1, 60), min_size=1, max_size=12), st.integers(1, 2000))
def test_the_budget_is_kept_and_whatever_fits_alone_leaves_something_whole(seconds, budget):
    several = trials(*seconds)
    session = session_on(FakeBench(), budget=budget)
    enrolled = enroll(session, *(trial.workload for trial in several))
    measure(session, enrolled)
    assert sum(trial.spent for trial in enrolled) <= budget
    verdicts = [trial.result.verdict.verdict for trial in enrolled]
    assert ("recorded" in verdicts) == (min(seconds) * 5 <= budget)
    assert all(trial.spent in (0, 5 * each) for trial, each in zip(enrolled, seconds, strict=True))


def test_runs_that_are_too_short_for_all_get_round_to_each():
    ages = {f"w{number}": "" for number in range(7)}
    for number in range(4):
        known = {name: Recorder(reads(name), (READ,), newest=age) for name, age in ages.items()}
        session = session_on(FakeBench(), budget=100, **known)
        enrolled = enroll(session, *(reads(name) for name in ages))
        measure(session, enrolled)
        for trial in enrolled:
            if trial.result.verdict.verdict == "recorded":
                ages[trial.workload.name] = f"2026-0{number + 1}"
    assert all(ages.values())


class SlowBench(FakeBench):
    """Its repetitions take longer than they should, as with an engine that lays out, or a slow start."""

    def repeat(self, *arguments):
        taken = super().repeat(*arguments)
        return replace(taken, seconds=1.4 * taken.seconds)


def test_the_oldest_begin_first_as_repetitions_may_take_longer_than_planned():
    """The first of the suite began, as three seemed to fit, and one of the oldest had no time left, each
    night.
    """
    ages = {"w0": "2026-02", "w1": "2026-02", "w2": "2026-01", "w3": "2026-01"}
    known = {name: Recorder(reads(name), (READ,), newest=age) for name, age in ages.items()}
    session = session_on(SlowBench(), budget=16, **known)
    enrolled = enroll(session, *(reads(name, seconds=1) for name in ages))
    measure(session, enrolled)
    verdicts = {trial.workload.name: trial.result.verdict.verdict for trial in enrolled}
    assert [name for name, verdict in verdicts.items() if verdict == "recorded"] == ["w2", "w3"]


@pytest.mark.parametrize(("budget", "runs", "time"), [(None, "5 5", "1 min 40 s"), (60, "5 0", "50 s")])
def test_a_plan_knows_what_is_not_measured(budget, runs, time):
    text = plan_text(FakeBench.target, trials(10, 10), budget)
    rows = [line.split() for line in text.splitlines() if line.startswith(("w0 ", "w1 "))]
    assert [row[1] for row in rows] == runs.split()
    assert f"device time: about {time}, " in text
    assert ("beyond --io-budget" in text) == (
        "not measured for want of device time: 1 of 2 workloads" in text
    )
    assert ("beyond --io-budget" in text) == (budget is not None)


@pytest.mark.parametrize(("places", "files"), [("one", "1 data file"), ("copies", "2 data files")])
def test_a_plan_of_a_pair_counts_the_data_of_both_arms(places, files):
    bench = FakeBench()
    bench.places = places
    against = None if places == "copies" else reads("w", seconds=5.0).options
    text = plan_text(bench.target, enroll(session_on(bench), reads("w", against=against)))
    assert f" in {files}\n" in text


@pytest.mark.parametrize(
    ("options", "written"),
    [
        ([{"rw": "randread"}], "nothing"),
        ([{"rw": "randread"}, {"rw": "randwrite"}], "what 1 workload may write in their time"),
        ([{"rw": "randread"}, {"rw": "write", "time_based": False}], "about 5.000 MiB"),
    ],
)
def test_a_plan_of_a_block_device_lays_nothing_out(options, written):
    target = replace(FakeBench.target, kind="device")
    timed = {"size": "1M", "runtime": 1, "time_based": True}
    planned = [workload("fio", name=f"w{number}", **timed | each) for number, each in enumerate(options)]
    text = plan_text(target, enroll(session_on(FakeBench()), *planned))
    assert f"\nspace: the first 1.000 MiB of the device\nwritten: {written}\n" in text


def test_what_is_left_for_a_workload_is_without_what_comes_first():
    several = trials(10, 10, 10, newest=("2026-01", "", ""))
    refusal = Budget(100).refusal(several[0], several)
    assert refusal.endswith("50 s are needed for it, of 0.0 s left")
