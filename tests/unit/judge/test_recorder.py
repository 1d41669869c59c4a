"""Recording: how often is enough, and what is no baseline."""

import math

import pytest

from fake_bench import READ, reads
from iogate.judge.recorder import Recorder
from iogate.model import Environment, Output, Repetition


def repetitions(count, name=READ):
    return [Repetition(Output({name: 1000.0 + number}, {}), 1.0, "folder") for number in range(count)]


@pytest.mark.parametrize(("asked", "enough"), [(None, 5), (1, 5), (9, 9)])
def test_five_repetitions_are_enough_or_as_many_as_a_protocol_asks(asked, enough):
    one = Recorder(reads("a", repetitions=asked), (READ,))
    looks = [one.look(repetitions(count)) for count in range(1, enough + 1)]
    assert looks == [False] * (enough - 1) + [True]


def test_what_lacks_most_repetitions_comes_first():
    one, other = (Recorder(reads(name), (READ,)) for name in "ab")
    one.look(repetitions(1))
    other.look(repetitions(3))
    assert one.uncertainty > other.uncertainty


def test_all_that_was_measured_is_recorded_with_what_gates():
    verdict = Recorder(reads("a"), (READ,)).verdict(repetitions(5))
    assert verdict.verdict == "recorded"
    assert [(item.metric.name, item.gating, item.value) for item in verdict.metrics] == [(READ, True, 1002.0)]


def test_without_its_gating_metric_nothing_is_recorded():
    verdict = Recorder(reads("a"), (READ,)).verdict(repetitions(5, "write.iops"))
    assert (verdict.verdict, verdict.reason) == (
        "invalid",
        "the gating metric read.iops was not measured; measured were: write.iops",
    )


def test_what_was_cut_short_is_undecided():
    verdict = Recorder(reads("a"), (READ,)).verdict(repetitions(2), "no time was left")
    assert (verdict.verdict, verdict.reason) == ("inconclusive", "no time was left")
    assert verdict.metrics[0].verdict == "inconclusive"


def test_it_holds_against_nothing():
    one = Recorder(reads("a"), (READ,))
    one.check(Environment(identity={"machine": "any"}))
    assert (one.expectations(), one.differences(Environment()), one.against) == ({}, (), "to be recorded")


def test_a_gating_metric_that_one_repetition_lacks_is_not_recorded():
    measured = repetitions(5)
    measured[1:2] = repetitions(1, "write.iops")
    one = Recorder(reads("a"), (READ,))
    verdict = one.verdict(measured)
    assert (verdict.verdict, verdict.keep) == ("invalid", False)
    assert (
        verdict.reason
        == "the gating metric read.iops was not measured in repetition 2; measured were: write.iops"
    )
    assert [one.look(measured[:count]) for count in (1, 2)] == [False, True]


@pytest.mark.parametrize("figure", [0.0, -1.0, math.nan, math.inf])
def test_a_gating_metric_that_no_baseline_can_hold_is_not_recorded(figure):
    measured = repetitions(5)
    measured[3] = Repetition(Output({READ: figure}, {}), 1.0, "folder")
    verdict = Recorder(reads("a"), (READ,)).verdict(measured)
    assert (verdict.verdict, verdict.keep) == ("invalid", False)
    assert verdict.reason.startswith(f"the gating metric read.iops is {figure:g} in repetition 4")


def test_what_the_gate_could_not_judge_by_is_not_recorded():
    """A repetition that stood still for most of its time, on a machine that was busy."""
    measured = repetitions(5)
    measured[1] = Repetition(Output({READ: 8.8}, {}), 1.0, "folder")
    one = Recorder(reads("a"), (READ,))
    assert not one.look(measured[:1]) and one.look(measured[:2])
    verdict = one.verdict(measured)
    assert verdict.verdict == "invalid" and "goes from 8.8 to 1004" in verdict.reason
