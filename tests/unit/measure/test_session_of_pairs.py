"""A session of pairs: what makes one, how its blocks are measured, and what is known in the end."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from fake_bench import (
    QUIET,
    READ,
    FakeBench,
    FakeJudges,
    FakeWatcher,
    enroll,
    figures,
    measure,
    reads,
    session_on,
)
from iogate import engines
from iogate.errors import EngineError, TargetError
from iogate.judge.judge import GateOptions
from iogate.model import Finding, PairFacts, Slice
from iogate.report.recording import record_workload
from iogate.report.resuming import declaration_hash, restored

DECLARED = {"rw": "randread", "bs": "4k", "size": "1M", "runtime": 10.0, "time_based": True}
PSYNC = engines.load("fio").options({**DECLARED, "ioengine": "psync"})
STEADY = {"steady_state": {"rounds": 5, "range": 0.2, "slope": 0.1, "max_rounds": 8}}


def against(name="a", **declared):
    return reads(name, against=PSYNC, **declared)


UNLIKE = "what unlike settings have in flight where they are stopped is not alike"


def elsewhere(places="copies", **says):
    bench = FakeBench(**says)
    bench.places = places
    return bench


def decided(bench, *workloads, **more):
    session = session_on(bench, **more)
    trials = enroll(session, *workloads)
    measure(session, trials)
    return trials


def verdicts(trials):
    return {trial.workload.name: trial.result.verdict.verdict for trial in trials}


# ------------------------------------------------------------ what makes a pair


def test_other_options_make_a_pair_that_needs_no_baseline():
    bench = FakeBench()
    (trial,) = decided(bench, against())
    assert verdicts([trial]) == {"a": "pass"}
    assert trial.result.pair == PairFacts("the same data with ioengine: psync", "one", UNLIKE)
    first, second = bench.pairs[0].workloads
    assert (first.options["ioengine"], second.options["ioengine"]) == ("psync", "libaio")
    assert bench.pairs[0].places == "one"


def test_options_that_the_base_lacks_are_told():
    base = {key: value for key, value in PSYNC.items() if key != "time_based"}
    (trial,) = decided(FakeBench(), reads("a", against=base))
    assert trial.result.pair.base == "the same data with ioengine: psync, no time_based"


@pytest.mark.parametrize(
    ("own", "base", "told"),
    [
        ({}, {"fio": {"norandommap": "1"}}, "fio.norandommap: 1"),
        ({"fio": {"norandommap": "1"}}, {}, "no fio.norandommap"),
        ({"fio": {"a": "1", "b": "2"}}, {"fio": {"a": "3", "b": "2"}}, "fio.a: 3"),
    ],
)
def test_options_of_the_engine_itself_are_told_one_by_one(own, base, told):
    workload = reads("a")
    workload = replace(workload, options={**workload.options, **own}, against={**workload.options, **base})
    (trial,) = decided(FakeBench(), workload)
    assert trial.result.pair.base == f"the same data with {told}"


def test_another_place_makes_a_pair_of_every_workload():
    bench = elsewhere()
    trials = decided(bench, reads("a"), reads("b"), a=QUIET, b=QUIET)
    assert verdicts(trials) == {"a": "pass", "b": "pass"}
    assert {trial.result.pair for trial in trials} == {PairFacts("another place", "copies")}
    assert all(pair.workloads[0].options["rw"] == "randread" for pair in bench.pairs)


def test_other_options_are_held_against_on_the_same_data_wherever_the_others_are():
    bench = elsewhere()
    decided(bench, against())
    assert {pair.places for pair in bench.pairs} == {"one"}


def test_pairs_and_others_share_the_rounds():
    bench = FakeBench()
    trials = decided(bench, against("a"), reads("b"), b=QUIET)
    assert verdicts(trials) == {"a": "pass", "b": "pass"}
    assert [name for name, _ in bench.runs[:6]] == ["a-A", "a", "b", "a-A", "a", "b"]


def test_the_judges_know_the_metrics_of_pairs_and_of_others():
    judges = FakeJudges(GateOptions())
    session = session_on(FakeBench(), judges=judges)
    enroll(session, against("a"), reads("b"))
    assert judges.expected == [2]


# ------------------------------------------------------------ verdicts


@pytest.mark.parametrize(("level", "verdict"), [(900, "regressed"), (975, "drift"), (1100, "improved")])
def test_b_is_judged_against_a(level, verdict):
    bench = FakeBench(a=figures(level))
    (trial,) = decided(bench, against())
    assert verdicts([trial]) == {"a": verdict}
    assert trial.result.verdict.metrics[0].change == pytest.approx(level / 1000 - 1, abs=0.005)


@pytest.mark.parametrize("place", [0.8, 1.25])
def test_what_places_differ_by_is_removed_and_told(place):
    bench = elsewhere()
    bench.place = place
    (trial,) = decided(bench, reads("a"))
    item = next(item for item in trial.result.verdict.metrics if item.gating)
    assert item.verdict == "pass"
    assert item.place_effect == pytest.approx(place - 1, abs=0.02)
    assert len({pair.swapped for pair in bench.pairs}) == 2


def test_the_places_of_two_targets_are_part_of_what_is_compared():
    bench = elsewhere("targets")
    bench.place = 0.8
    (trial,) = decided(bench, reads("a"))
    assert verdicts([trial]) == {"a": "regressed"}
    assert not any(pair.swapped for pair in bench.pairs)


def test_images_get_the_blocks_that_a_change_of_slots_takes():
    bench = elsewhere("images")
    bench.place = 1.2
    (trial,) = decided(bench, reads("a"))
    assert verdicts([trial]) == {"a": "pass"}
    assert [pair.swapped for pair in bench.pairs[:12]] == [False] * 6 + [True] * 6


def test_each_block_has_a_seed_of_its_own_that_is_kept():
    bench = FakeBench()
    (trial,) = decided(bench, against())
    seeds = [block.seed for block in trial.result.repetitions]
    assert seeds == [pair.seed for pair in bench.pairs]
    assert len(set(seeds)) == len(seeds)


def test_who_is_never_sure_stops_at_the_most_blocks():
    bench = FakeBench(a=figures(970, noise=0.2))
    (trial,) = decided(bench, against(), options=GateOptions(max_blocks=14, tolerance=0.01))
    assert verdicts([trial]) == {"a": "inconclusive"}
    assert bench.labels("a") == list(range(1, 15))


# ------------------------------------------------------------ procedures


def test_a_pair_waits_for_no_steady_state_and_needs_no_pilot():
    bench = FakeBench(a=itertools.chain((100.0, 200.0, 400.0), figures(1000)))
    (trial,) = decided(bench, against(procedure={**STEADY, "runtime": "auto"}))
    assert bench.labels("a")[0] == 1
    assert not trial.result.warmup


def test_a_fixed_number_of_repetitions_is_no_number_of_blocks():
    bench = FakeBench()
    trials = decided(bench, against("a", repetitions=2), reads("b"), b=QUIET)
    assert verdicts(trials)["a"] == "pass"
    assert [name for name, _ in bench.runs[:3]] == ["a-A", "a", "b"]


@pytest.mark.parametrize(
    ("places", "labels"),
    [
        ("one", ["fill-1", "fill-2"]),
        ("copies", ["A-fill-1", "A-fill-2", "B-fill-1", "B-fill-2"]),
        ("targets", ["A-fill-1", "A-fill-2", "B-fill-1", "B-fill-2"]),
    ],
)
def test_both_places_are_brought_to_rest(places, labels):
    bench = elsewhere(places)
    procedure = {"precondition": {"fill": 2, "random": False}}
    workload = against(procedure=procedure) if places == "one" else reads("a", procedure=procedure)
    (trial,) = decided(bench, workload)
    assert bench.labels("a")[: len(labels) + 1] == [*labels, 1]
    assert trial.result.device_seconds > 2.5 * len(trial.result.repetitions)


def moved(*megabytes):
    return tuple(Slice("AB"[n // 2 % 2], 0.1 * n, 0.064, each << 20, 0) for n, each in enumerate(megabytes))


BURSTS = moved(*[0, 9, 9, 0, 9, 9, 9] * 4)


@pytest.mark.parametrize("burst", [2, 3, 4])
def test_where_data_move_in_bursts_that_slices_cut_a_pair_begins_anew_with_longer_ones(burst):
    bench = elsewhere("copies", a=itertools.chain(itertools.repeat(700.0, burst), figures()))
    bench.slices = {burst - 1: BURSTS, burst: BURSTS}
    (trial,) = decided(bench, reads("a"))
    assert verdicts([trial]) == {"a": "pass"}
    assert trial.result.pair.slice == 0.2
    assert [pair.slice for pair in bench.pairs] == [0.064] * burst + [0.2] * (len(bench.pairs) - burst)
    assert bench.labels("a") == list(range(1, len(bench.pairs) + 1))
    assert len(trial.result.warmup) == burst
    assert len(trial.result.repetitions) == len(bench.pairs) - burst


@pytest.mark.parametrize("bursts", [{4, 5}, {6, 7}, {1}, {2, 4}])
def test_blocks_that_a_verdict_was_asked_of_count_and_so_do_single_ones(bursts):
    """What they showed would be why they are left out; or something else stalled in one."""
    bench = elsewhere("copies")
    bench.slices = dict.fromkeys(bursts, BURSTS)
    (trial,) = decided(bench, reads("a"))
    assert trial.result.pair.slice == 0
    assert not trial.result.warmup


def test_slices_that_the_user_chose_stay():
    bench = elsewhere("copies")
    bench.slice, bench.slices = 0.1, {1: BURSTS, 2: BURSTS}
    (trial,) = decided(bench, reads("a"))
    assert {pair.slice for pair in bench.pairs} == {0.1}
    assert (trial.result.pair.slice, trial.result.warmup) == (0, ())


def test_longer_slices_take_no_blocks_away():
    bench = elsewhere("copies", a=figures(970, noise=0.2))
    bench.slices = {1: BURSTS, 2: BURSTS}
    watcher = FakeWatcher()
    options = GateOptions(max_blocks=14, tolerance=0.01)
    (trial,) = decided(bench, reads("a"), options=options, watcher=watcher)
    assert len(trial.result.repetitions) == 14
    assert [told[:2] for told in watcher.told[-2:]] == [(15, 16), (16, 16)]


# ------------------------------------------------------------ what goes wrong


def test_device_time_that_is_used_up_leaves_a_pair_undecided():
    bench = FakeBench(a=figures(970, noise=0.2))
    (trial,) = decided(bench, against(), budget=45, options=GateOptions(tolerance=0.01))
    assert verdicts([trial]) == {"a": "inconclusive"}
    assert "the device time of --io-budget is used up" in trial.result.verdict.reason
    assert trial.result.device_seconds <= 45


def test_a_pair_that_cannot_become_whole_is_not_begun():
    bench = FakeBench()
    (trial,) = decided(bench, against(), budget=5)
    assert verdicts([trial]) == {"a": "inconclusive"}
    assert not bench.runs


def test_an_interrupted_pair_is_kept_and_not_decided():
    bench = FakeBench(a=itertools.chain(itertools.islice(figures(), 3), [KeyboardInterrupt()]))
    session = session_on(bench)
    trials = enroll(session, against())
    with pytest.raises(KeyboardInterrupt):
        measure(session, trials)
    (result,) = session.interrupt(trials)
    assert result.verdict.verdict == "inconclusive"
    assert "not decided after 3 blocks: the session was interrupted" in result.verdict.reason
    assert result.pair and len(result.repetitions) == 3


@pytest.mark.parametrize("arm", ["a", "a-A"])
def test_an_engine_that_fails_in_one_arm_leaves_no_verdict(arm):
    failing = itertools.chain(itertools.islice(figures(), 2), [EngineError("it died")])
    bench = FakeBench(**{arm: failing, "b": figures()})
    trials = decided(bench, against("a"), reads("b"), b=QUIET)
    assert verdicts(trials) == {"a": "invalid", "b": "pass"}
    assert trials[0].result.failure.message == "it died"


def test_an_invalid_finding_ends_a_pair():
    bench = FakeBench()
    bench.findings["a", 2] = Finding("traffic", "invalid", "B: it did not do it")
    (trial,) = decided(bench, against())
    assert verdicts([trial]) == {"a": "invalid"}


def test_what_the_target_refuses_to_either_arm_is_not_measured():
    bench = FakeBench()
    larger = engines.load("fio").options({**DECLARED, "size": "8M"})
    session = session_on(bench)
    workload = reads("a", against=larger)
    needs = engines.load("fio").needs(replace(workload, options=larger))
    bench.refused[needs] = TargetError("no room", rule="space")
    (trial,) = enroll(session, workload)
    assert verdicts([trial]) == {"a": "invalid"}
    assert trial.result.failure.message == "no room"


def test_a_metric_that_blocks_lack_is_invalid():
    bench = FakeBench()
    bench.metric = {"write.iops"}
    (trial,) = decided(bench, against())
    assert verdicts([trial]) == {"a": "invalid"}
    assert READ in trial.result.verdict.reason


# ------------------------------------------------------------ going on with it


def test_a_pair_is_taken_over_as_it_was():
    (trial,) = decided(elsewhere(), reads("a"))
    record = record_workload(trial.result, GateOptions())
    again = restored(record, trial.workload, "1.0")
    assert record_workload(again, GateOptions()) == record
    assert again.pair == trial.result.pair


def test_another_base_is_another_declaration():
    hashes = {declaration_hash(workload) for workload in (reads("a"), against("a"))}
    hashes.add(declaration_hash(reads("a", against={**PSYNC, "bs": "8k"})))
    assert len(hashes) == 3
