"""Noisy repetitions: more of them are recorded and judged, where nobody said how many."""

import random

import pytest

from fake_bench import READ, reads
from iogate.judge.appender import Appender
from iogate.judge.baseline_judge import BaselineJudge
from iogate.judge.enough import Enough
from iogate.judge.judge import GateOptions
from iogate.judge.recorder import Recorder
from iogate.model import Baseline, Output, Repetition, Tolerance

GATE = {READ: Tolerance(0.05)}
FREE = GateOptions(extend=True, metrics=4)


def noisy(deviation, count=20, seed=1):
    generator = random.Random(seed)
    return [1000.0 * (1 + generator.gauss(0, deviation)) for _ in range(count)]


def measured(values):
    return [Repetition(Output({READ: value}, {}), 1.0, "folder") for value in values]


def recorded(judge, values):
    return next((n for n in range(1, len(values) + 1) if judge.look(measured(values[:n]))), 0)


def baseline(deviation):
    rows = tuple(tuple(noisy(deviation, 5, seed)) for seed in range(3))
    return Baseline("a", {}, {READ: rows}, sessions=("s1", "s2", "s3"))


@pytest.mark.parametrize(("deviation", "least", "most"), [(0.002, 5, 5), (0.04, 12, 20), (0.3, 5, 5)])
def test_as_many_are_recorded_as_their_noise_asks_for_and_none_in_vain(deviation, least, most):
    workload = reads("a", gate=GATE)
    judge = Recorder(workload, (READ,), enough=Enough.of(workload, (READ,), FREE))
    assert (judge.minimum, judge.usual, judge.maximum) == (5, 5, 20)
    assert least <= recorded(judge, noisy(deviation)) <= most


def test_a_session_that_is_cut_short_beyond_five_is_recorded():
    workload = reads("a", gate=GATE)
    judge = Recorder(workload, (READ,), enough=Enough.of(workload, (READ,), FREE))
    assert judge.verdict(measured(noisy(0.04, 4)), "no time was left").verdict == "inconclusive"
    assert judge.verdict(measured(noisy(0.04, 7)), "no time was left").keep


def test_what_earlier_sessions_know_of_the_noise_counts():
    judge = Appender(reads("a", gate=GATE), baseline(0.04), (READ,), FREE, {})
    assert not judge.look(measured([1000.0] * 5))
    assert recorded(judge, [1000.0] * 20) > 5


@pytest.mark.parametrize(
    ("declared", "options"),
    [
        ({"gate": {READ: Tolerance()}}, FREE),
        ({"gate": GATE, "repetitions": 7}, FREE),
        ({"gate": GATE, "max_repetitions": 8}, FREE),
        ({"gate": GATE, "procedure": {"steady_state": {}}}, FREE),
        ({"gate": GATE}, GateOptions(max_repetitions=6)),
    ],
)
def test_no_number_that_somebody_gave_is_changed_nor_without_a_declared_tolerance(declared, options):
    workload = reads("a", **declared)
    assert Enough.of(workload, (READ,), options).most == max(5, workload.repetitions or 0)
    judge = BaselineJudge(workload, baseline(0.04), (READ,), options)
    wanted = workload.repetitions or workload.max_repetitions or options.max_repetitions
    assert (judge.maximum, judge.effort) == (wanted, "")


@pytest.mark.parametrize(("deviation", "least", "most"), [(0.002, 12, 12), (0.032, 20, 40), (0.3, 12, 12)])
def test_the_gate_may_ask_for_more_of_noisy_repetitions_and_says_so(deviation, least, most):
    judge = BaselineJudge(reads("a", gate=GATE), baseline(deviation), (READ,), FREE)
    assert least <= judge.maximum <= most
    said = f"up to {judge.maximum} of them instead of 12 (--io-max-repetitions)"
    assert judge.effort.endswith(said) if judge.maximum > 12 else judge.effort == ""


def test_a_published_baseline_and_missing_values_ask_for_no_more():
    published = Baseline("a", {}, {READ: 1000.0})
    assert BaselineJudge(reads("a", gate=GATE), published, (READ,), FREE).maximum == 12
    lacking = Baseline("a", {}, {}, sessions=("s1",))
    assert BaselineJudge(reads("a", gate=GATE), lacking, (READ,), FREE).maximum == 12
