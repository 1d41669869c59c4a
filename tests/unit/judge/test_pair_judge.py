"""The judge of a pair: B against A, block by block, in words and figures."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fake_bench import READ, reads
from iogate.judge.judge import GateOptions
from iogate.judge.pair_judge import TOLERANCE, PairJudge
from iogate.model import Environment, Output, Repetition, Tolerance

LATENCY = "read.clat.p99"
NOISE = (0.004, -0.006, 0.001, -0.002, 0.007, -0.003, 0.002, -0.005, 0.006, -0.001)
MIRRORED = {"pass": "pass", "drift": "drift", "improved": "regressed", "regressed": "improved"}


def judge(*gating, crossover=True, declared=None, **options):
    workload = declared or reads("a")
    options = {"alpha": 0.01, "beta": 0.05, **options}
    return PairJudge(workload, gating or (READ,), GateOptions(**options), "old", crossover=crossover)


def block(candidate, base, swapped=False, seconds=2.5):
    first, second = (
        Repetition(Output(values if isinstance(values, dict) else {READ: values}, {}), seconds, "folder")
        for values in (base, candidate)
    )
    return Repetition(second.output, seconds, "folder", base=first, swapped=swapped)


def blocks(factor=1.0, count=60, place=1.0, scale=1000.0, name=READ):
    """Blocks in which B is `factor` times as much as A, and one place `place` times as good as the other."""
    found = []
    for number in range(count):
        noise = 1 + NOISE[number % len(NOISE)] * (1 + number / 300)
        effect = place ** (-1 if number % 2 else 1)
        value = scale * factor * noise * effect
        found.append(block({name: value}, {name: scale}, swapped=bool(number % 2)))
    return found


def judged(judge, blocks, cut_short=""):
    """The verdict once the judge is sure, as a session asks it."""
    for count in range(1, len(blocks) + 1):
        if judge.look(blocks[:count]):
            break
    return judge.verdict(blocks[:count], cut_short)


def mirrored(blocks):
    return [block(one.base.metrics, one.metrics, one.swapped) for one in blocks]


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [(1.0, "pass"), (0.97, "drift"), (0.9, "regressed"), (1.1, "improved")],
)
def test_verdicts_on_a_rate(factor, verdict):
    found = judged(judge(), blocks(factor))
    assert found.verdict == verdict
    assert found.metrics[0].verdict == verdict
    assert found.metrics[0].change == pytest.approx(factor - 1, abs=0.005)
    assert not found.keep


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [(1.0, "pass"), (1.03, "drift"), (1.1, "regressed"), (0.9, "improved")],
)
def test_more_latency_is_worse(factor, verdict):
    assert judged(judge(LATENCY), blocks(factor, name=LATENCY)).verdict == verdict


def test_what_a_place_does_is_told_and_is_no_change():
    (item,) = judged(judge(), blocks(place=1.2)).metrics
    assert item.verdict == "pass"
    assert item.change == pytest.approx(0, abs=0.01)
    assert item.place_effect == pytest.approx(0.2, abs=0.03)


def test_where_arms_keep_their_places_the_place_is_part_of_the_change():
    fixed = [block(one.metrics[READ] * 0.9, 1000.0) for one in blocks()]
    (item,) = judged(judge(crossover=False), fixed).metrics
    assert item.verdict == "regressed"
    assert item.place_effect is None


def test_a_message_has_both_arms_the_interval_the_noise_and_the_cost():
    found = judged(judge(), blocks(0.9, place=1.1))
    sentence, cost = found.reason.splitlines()
    assert re.match(r"read\.iops: B is 900\.0 IOPS against 1\.000 k IOPS of A, ", sentence), sentence
    assert re.search(
        r", 10\.\d% lower than the base \(tolerance 5\.0%\): worse beyond doubt, between ", sentence
    )
    assert re.search(r"; a place effect of 1\d\.\d% is removed; ", sentence), sentence
    assert re.search(r"; blocks scatter by \d\.\d%$", sentence)
    assert cost == f"A is old; {found.repetitions} blocks in {2.5 * found.repetitions:g} s"


def test_every_metric_must_hold_and_the_guilty_one_is_named():
    both = [
        block(
            {READ: one.metrics[READ], LATENCY: 100.0 * two.metrics[READ]},
            {READ: 1000.0, LATENCY: 1e5},
            one.swapped,
        )
        for one, two in zip(blocks(), blocks(1.2), strict=True)
    ]
    found = judged(judge(READ, LATENCY), both)
    assert found.verdict == "regressed"
    assert [item.verdict for item in found.metrics] == ["pass", "regressed"]
    assert found.reason.startswith(LATENCY)
    assert READ not in found.reason


def test_what_does_not_gate_is_noted():
    extra = [block({READ: 1.0, "write.iops": 5.0}, {READ: 1.0}, one.swapped) for one in blocks(count=12)]
    found = judged(judge(), extra)
    assert [(item.metric.name, item.gating) for item in found.metrics] == [
        (READ, True),
        ("write.iops", False),
    ]


# ------------------------------------------------------------ what is no pass


@pytest.mark.parametrize("lacking", ["A", "B"])
def test_a_metric_that_one_arm_lacks_is_no_pass(lacking):
    known, other = {READ: 1.0}, {"write.iops": 1.0}
    pair = block(other, known) if lacking == "B" else block(known, other)
    one = judge()
    assert one.look([pair])
    found = one.verdict([pair])
    assert found.verdict == "invalid"
    assert "the gating metric read.iops was not measured in both arms" in found.reason


@pytest.mark.parametrize(
    ("candidate", "base"),
    [(1000.0, 0.0), (0.0, 1000.0), (0.0, 0.0), (math.nan, 1.0), (1.0, math.inf), (-1.0, 1.0)],
)
def test_a_figure_that_is_no_measurement_is_no_pass(candidate, base):
    found = judged(judge(), [*blocks(count=5), block(candidate, base, swapped=True)])
    assert found.verdict in ("inconclusive", "regressed", "invalid")
    assert not found.passed


def test_a_metric_that_was_decided_must_still_be_measured():
    wild = [1e5 * (1.03 + 0.06 * (-1) ** (number // 2)) for number in range(20)]
    done = [
        block({READ: one.metrics[READ], LATENCY: value}, {READ: 1000.0, LATENCY: 1e5}, one.swapped)
        for one, value in zip(blocks(count=20), wild, strict=True)
    ]
    one = judge(READ, LATENCY)
    assert not any(one.look(done[:count]) for count in range(1, 21))
    assert [item.verdict for item in one.verdict(done).metrics] == ["pass", "inconclusive"]
    done.append(block({LATENCY: 1e5}, {LATENCY: 1e5}))
    assert one.look(done)
    assert one.verdict(done).verdict == "invalid"


def test_a_zero_base_from_the_first_block_is_told():
    found = judged(judge(), [block(1000.0, 0.0)])
    assert found.verdict == "inconclusive"
    assert "cannot be judged: block 1" in found.reason


def test_device_time_that_is_used_up_is_no_verdict():
    one, few = judge(), blocks(count=3)
    assert not one.look(few)
    found = one.verdict(few, "the device time of --io-budget is used up")
    assert found.verdict == "inconclusive"
    assert "not decided after 3 blocks: the device time of --io-budget is used up" in found.reason


def test_a_metric_that_was_decided_stays_so_when_the_time_is_used_up():
    one = judge()
    while_sure = blocks()
    count = next(n for n in range(1, 61) if one.look(while_sure[:n]))
    assert one.verdict(while_sure[:count], "the time is over").verdict == "pass"


def test_nothing_measured_is_inconclusive():
    found = judge().verdict([], "no time")
    assert (found.verdict, found.reason) == ("inconclusive", "no time")


def test_arms_that_never_changed_places_are_not_judged_where_they_should_have():
    unmoved = [block(one.metrics[READ], 1000.0) for one in blocks(place=1.0, count=12)]
    one = judge(max_blocks=12)
    assert judged(one, unmoved).verdict == "inconclusive"


@pytest.mark.parametrize(
    ("name", "factor", "verdict"),
    [
        (READ, 1.05, "improved"),
        (READ, 1.2, "invalid"),
        (LATENCY, 0.95, "improved"),
        (LATENCY, 0.8, "invalid"),
    ],
)
def test_what_is_better_than_the_suite_holds_possible_is_not_believed(name, factor, verdict):
    workload = reads("a", gate={name: Tolerance(0.05, 0.1)})
    found = judged(judge(name, declared=workload), blocks(factor, name=name))
    assert found.verdict == verdict
    assert ("better than the suite holds possible (at most 10.0%)" in found.reason) is (verdict == "invalid")


# ------------------------------------------------------------ tolerance and limits


@pytest.mark.parametrize(
    ("option", "suite", "tolerance"),
    [(None, None, TOLERANCE), (None, 0.1, 0.1), (0.02, 0.1, 0.02), (0.02, None, 0.02)],
)
def test_the_tolerance_is_the_command_lines_the_suites_or_the_usual_one(option, suite, tolerance):
    workload = reads("a", gate={READ: Tolerance(suite)})
    (item,) = judged(judge(declared=workload, tolerance=option), blocks()).metrics
    assert item.tolerance == pytest.approx(tolerance)


def test_limits_are_those_of_blocks_not_of_repetitions():
    one = judge(max_blocks=30, max_repetitions=4)
    assert (one.maximum, one.usual) == (30, 12)
    assert 2 <= one.minimum <= 12
    assert judge(max_blocks=8).usual == 8


def test_fewer_blocks_than_any_verdict_needs_ask_for_all_of_them():
    assert judge(max_blocks=2).minimum == 2


def test_what_is_furthest_from_its_verdict_is_the_most_uncertain():
    wide, close = judge(), judge()
    assert wide.uncertainty == math.inf
    wide.look([block(1000.0 * (1 + 20 * noise), 1000.0, bool(i % 2)) for i, noise in enumerate(NOISE[:6])])
    close.look(blocks(count=6))
    assert wide.uncertainty > close.uncertainty or close.uncertainty == math.inf


def test_it_asks_for_no_baseline_and_no_environment():
    one = judge()
    one.check(Environment({"machine": "any"}))
    assert (one.differences(Environment()), one.expectations(), one.newest) == ((), {}, "")


# ------------------------------------------------------------ invariants

factors = st.sampled_from([0.8, 0.9, 0.96, 0.985, 1.0, 1.015, 1.04, 1.1, 1.3])
places = st.sampled_from([0.8, 1.0, 1.3])


@settings(max_examples=20, deadline=None)
@given(factors, places)
def test_swapping_the_arms_mirrors_what_is_beyond_doubt(factor, place):
    """A loss and a gain of the same size are judged by different error rates, so only what is far from the
    bounds must be mirrored; what changed is mirrored always.
    """
    both = blocks(factor, place=place)
    one, other = judged(judge(), both), judged(judge(), mirrored(both))
    if abs(math.log(factor)) > 0.05:
        assert other.verdict == MIRRORED[one.verdict]
    assert {one.verdict, other.verdict} != {"regressed"}
    assert {one.verdict, other.verdict} != {"improved"}
    changes = 1 + one.metrics[0].change, 1 + other.metrics[0].change
    assert math.prod(changes) == pytest.approx(1, abs=0.01)


@settings(max_examples=20, deadline=None)
@given(factors, st.floats(1e-3, 1e9))
def test_what_both_arms_share_changes_nothing(factor, scale):
    one, other = judged(judge(), blocks(factor)), judged(judge(), blocks(factor, scale=scale))
    assert (one.verdict, one.repetitions) == (other.verdict, other.repetitions)
    assert one.metrics[0].change == pytest.approx(other.metrics[0].change, abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(1e-3, 1e3), min_size=60, max_size=60))
def test_what_befalls_both_arms_of_a_block_changes_nothing(weathers):
    usual = blocks()
    stormy = [
        block(one.metrics[READ] * weather, 1000.0 * weather, one.swapped)
        for one, weather in zip(usual, weathers, strict=True)
    ]
    one, other = judged(judge(), usual), judged(judge(), stormy)
    assert (one.verdict, one.repetitions) == (other.verdict, other.repetitions)


def test_who_is_interrupted_between_two_metrics_of_the_first_look_is_undecided():
    name = "write.iops"
    one = judge(READ, name)
    both = [block({READ: 1000.0, name: 1000.0}, {READ: 1000.0, name: 1000.0})]
    one.look(both)
    del one._decisions[name]  # as an interruption leaves it
    verdict = one.verdict(both, "the session was interrupted")
    assert (verdict.verdict, verdict.reason) == ("inconclusive", "the session was interrupted")


def test_a_block_that_nobody_looked_at_may_lack_the_metric():
    one = judge()
    one.look(blocks(count=2))
    verdict = one.verdict([*blocks(count=2), block({LATENCY: 1.0}, {READ: 1000.0})], "interrupted")
    assert verdict.verdict == "inconclusive"
