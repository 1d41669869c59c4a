"""Which sessions may be added to a baseline, and what is said of it."""

import math

import pytest

from fake_bench import QUIET, READ, reads
from iogate.judge.addition import admit, judge_session, refusal
from iogate.judge.appender import Appender
from iogate.judge.judge import GateOptions
from iogate.model import Baseline, Output, Repetition, Tolerance

W = reads("a", gate={READ: Tolerance(0.05)}, max_repetitions=40)
KNOWN = Baseline("a", {}, {READ: QUIET}, sessions=("s1", "s2", "s3"))


def measured(*figures):
    return [Repetition(Output({READ: figure}, {}), 1.0, "folder") for figure in figures]


def judged(*figures, workload=W, baseline=KNOWN):
    return judge_session(workload, baseline, (READ,), GateOptions(), measured(*figures))


@pytest.mark.parametrize(
    "figure, verdict, kept",
    [(1000.0, "pass", True), (980.0, "drift", True), (1020.0, "improved", True), (900.0, "regressed", False)],
)
def test_a_session_is_judged_in_one_look_and_a_regressed_one_is_refused(figure, verdict, kept):
    found = judged(figure, figure + 1, figure - 1, figure + 1, figure)
    assert found.verdict == verdict
    admitted = admit(found, 4)
    assert (admitted.verdict, admitted.keep) == (verdict, kept)
    assert (refusal(found) == "") == kept
    assert admitted.reason.splitlines()[-1].startswith(
        "appended as the 4th session" if kept else "not appended: a regressed session would widen"
    )


def test_force_appends_what_regressed_and_never_what_cannot_be_trusted():
    forced = admit(judged(900.0, 901.0, 899.0), 4, force=True)
    assert (forced.verdict, forced.keep) == ("recorded", True)
    assert forced.reason.startswith(
        "appended as the 4th session of the baseline, by force, although regressed"
    )
    possible = reads("a", gate={READ: Tolerance(0.05, 0.1)})
    invalid = admit(judged(2000.0, 2001.0, 2002.0, workload=possible), 4, force=True)
    assert (invalid.verdict, invalid.keep) == ("invalid", False)


@pytest.mark.parametrize(
    ("level", "verdict", "how"), [(1200.0, "improved", "better"), (970.0, "drift", "worse")]
)
def test_a_change_beyond_doubt_is_not_appended_where_it_is_known_how_sessions_differ(level, verdict, how):
    """It was, without a word: behind a gain losses of 17% got in, and behind a loss of 6.3% of 10% those of
    11% were undecided.
    """
    changed = judged(level, level + 1, level - 1, level + 1, level)
    left = admit(changed, 4)
    assert (left.verdict, left.keep) == (verdict, False)
    assert left.reason.splitlines()[-1] == (
        f"not appended: read.iops is {how} than the noise explains that sessions have shown, and would hide "
        "losses; if that stays so, begin anew: --update-baselines; "
        "--update-baselines=force appends it all the same"
    )
    forced = admit(changed, 4, force=True)
    assert (forced.verdict, forced.keep) == (verdict, True)
    assert "appended as the 4th session of the baseline, by force" in forced.reason
    assert ("better beyond doubt: read.iops (+20" in forced.reason) == (verdict == "improved")


def test_a_loss_is_appended_where_it_is_only_assumed_how_sessions_differ():
    young = Baseline("a", {}, {READ: QUIET[:2]}, sessions=("s1", "s2"))
    assert admit(judged(970.0, 971.0, 969.0, 971.0, 970.0, baseline=young), 3).keep


def test_a_gain_is_appended_and_named_where_it_is_only_assumed_how_sessions_differ():
    young = Baseline("a", {}, {READ: QUIET[:2]}, sessions=("s1", "s2"))
    admitted = admit(judged(1200.0, 1201.0, 1199.0, 1201.0, 1200.0, baseline=young), 3)
    assert (admitted.verdict, admitted.keep) == ("improved", True)
    assert admitted.reason.splitlines()[-1].startswith(
        "appended as the 3rd session of the baseline; better beyond doubt: read.iops (+20.0%); if that stays "
    )


def test_a_gain_is_not_appended_either_where_the_baseline_lacks_another_metric():
    repetitions = [Repetition(Output({READ: 1200.0, "log.read.iops": 9.0}, {}), 1.0, "folder")] * 5
    found = judge_session(W, KNOWN, (READ, "log.read.iops"), GateOptions(), repetitions)
    left = admit(found, 4)
    assert (left.verdict, left.keep) == ("improved", False)


@pytest.mark.parametrize(("number", "said"), [(20, "20th session of the baseline"), (21, "20th session")])
def test_a_session_beyond_those_that_are_kept_takes_the_place_of_the_oldest(number, said):
    """Each night a 21st session was told of a baseline of 20."""
    reason = admit(judged(1000.0, 1001.0, 999.0, 1001.0, 1000.0), number).reason.splitlines()[-1]
    assert reason.startswith(f"appended as the {said}")
    assert reason.endswith(", in place of the oldest") == (number > 20)


def test_an_undecided_session_is_appended():
    found = judged(1000.0, 1040.0, 960.0, 1030.0, 940.0)
    admitted = admit(found, 2)
    assert found.verdict == "inconclusive"
    assert (admitted.verdict, admitted.keep) == ("recorded", True)
    assert "undecided" in admitted.reason
    assert admitted.metrics == found.metrics


@pytest.mark.parametrize(
    "figures",
    [
        (1000.0, 1001.0, 751.0, 749.0, 750.0),  # a cache that takes two, or some that stalled
        (1000.0, 1001.0, 500.0, 250.0, 250.0),
    ],
)
def test_a_loss_that_only_its_scatter_makes_undecided_is_refused(figures):
    """It was appended, and the baseline resolved nothing any more."""
    found = judged(*figures)
    assert found.verdict == "inconclusive"
    assert "has lost more than the noise that is usual here explains" in refusal(found)
    assert not admit(found, 4).keep


@pytest.mark.parametrize("figures", [[30_000.0, 30_100.0], [30.0, 900.0]])
def test_what_is_so_far_off_that_it_is_something_else_is_refused(figures):
    found = judged(*figures, figures[0])
    assert found.verdict in ("inconclusive", "regressed")
    assert refusal(found)
    assert not admit(found, 4).keep


def test_a_metric_that_the_baseline_lacks_may_be_added():
    other = Baseline("a", {}, {"write.iops": QUIET}, sessions=("s1",))
    admitted = admit(judged(1000.0, 1000.0, baseline=other), 2)
    assert (admitted.verdict, admitted.keep) == ("recorded", True)


@pytest.mark.parametrize(
    "figure, verdict, said",
    [
        (
            1000.0,
            "recorded",
            "appended as the 4th session of the baseline, undecided: the baseline has no log.",
        ),
        (780.0, "regressed", "read.iops is 780.0 IOPS against 1.000 k IOPS, -22.0%"),
        (30.0, "regressed", "read.iops is 30.00 IOPS against 1.000 k IOPS"),
    ],
)
@pytest.mark.parametrize("gating", [(READ, "log.read.iops"), ("log.read.iops", READ)])
def test_what_a_baseline_has_of_a_session_is_judged_where_it_lacks_another_metric(
    gating, figure, verdict, said
):
    both = {READ: figure, "log.read.iops": figure / 10}
    repetitions = [Repetition(Output(both, {}), 1.0, "folder") for _ in range(5)]
    admitted = admit(judge_session(W, KNOWN, gating, GateOptions(), repetitions), 4)
    assert (admitted.verdict, admitted.keep) == (verdict, verdict == "recorded")
    assert admitted.reason.startswith(said)


def test_an_appender_measures_as_often_as_a_baseline_needs():
    judge = Appender(W, KNOWN, (READ,), GateOptions(), {})
    assert judge.maximum == 5
    assert judge.expectations()[READ].tolerance == 0.05
    few = measured(1000.0, 1000.0, 1001.0)
    assert not judge.look(few)
    assert not judge.verdict(few, "the session was interrupted").keep
    assert judge.verdict(measured(1000.0, 1000.0, 1001.0, 999.0, 1000.0)).keep


def test_an_appender_says_how_old_its_baseline_is():
    """Short nights that append (--io-budget) gave all their time to the first suite, night after night."""
    dated = Baseline(
        "a", {}, {READ: QUIET}, sessions=("2026-01-03T00:00:00Z-a", "2026-01-01T00:00:00Z-b", "s3")
    )
    assert Appender(W, dated, (READ,), GateOptions(), {}).newest == "2026-01-03T00:00:00Z-a"


@pytest.mark.parametrize("figure", [0.0, math.nan, math.inf, -1.0])
def test_what_cannot_be_judged_is_refused(figure):
    found = judged(1000.0, figure, 1001.0)
    assert found.verdict == "inconclusive"
    assert refusal(found) == "read.iops cannot be held against the baseline"
    assert not admit(found, 4).keep


def test_what_a_baseline_that_cannot_judge_says_nothing_of_is_refused():
    mixed = Baseline("a", {}, {READ: ((1.0, 1000.0, 999.0),)}, sessions=("s1",))
    found = judged(1000.0, 1001.0, 999.0, baseline=mixed)
    assert "which is more than noise" in found.reason
    assert not admit(found, 2).keep


def test_a_session_after_which_nothing_could_be_judged_is_refused():
    wide = Baseline("a", {}, {READ: ((10.0, 300.0, 310.0, 900.0, 305.0),)}, sessions=("s1",))
    found = judged(5.0, 300.0, 310.0, 305.0, 900.0, baseline=wide)
    assert found.metrics[0].change is not None
    assert "own values a hundredfold" in refusal(found)


@pytest.mark.parametrize("force", [False, True])
def test_what_no_baseline_can_hold_is_never_appended(force):
    judge = Appender(W, KNOWN, (READ,), GateOptions(), {}, force=force)
    verdict = judge.verdict(measured(1000.0, 0.0, 1001.0, 999.0, 1000.0))
    assert (verdict.verdict, verdict.keep) == ("invalid", False)
    assert verdict.reason.startswith("the gating metric read.iops is 0 in repetition 2")
