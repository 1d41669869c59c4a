"""A device that learns adds sessions to a baseline until that can judge."""

import math
import re
from dataclasses import replace

import pytest

from fake_bench import READ, reads
from iogate.errors import MeasurementError
from iogate.judge.appointment import BaselineJudges
from iogate.judge.baseline import update
from iogate.judge.baseline_judge import BaselineJudge
from iogate.judge.judge import GateOptions
from iogate.judge.learner import Learner
from iogate.model import Baseline, Environment, Output, Repetition, Tolerance
from iogate.units import ordinal

NOISY = [100.0, 85.0, 120.0, 90.0, 130.0]
QUIET = [1000.0, 1002.0, 998.0, 1001.0, 999.0]
SESSION = "2026-01-01T00:00:00Z-aaaa"
A = reads("a")


@pytest.fixture
def appoint(tmp_path):
    def appointed(values, **asked):
        folder = tmp_path / "orin"
        environment = Environment(identity={"cpu": "old"})
        measured = {"a": (A.definition, {READ: values})}
        update(folder / "demo.yaml", "orin", "demo", SESSION, environment, "", measured, "append")
        return BaselineJudges(folder, GateOptions(), **asked).appoint(A, (READ,))

    return appointed


def measured(values):
    return [Repetition(Output({READ: value}, {}), 3.0, "folder") for value in values]


def judged(judge, values):
    for count in range(1, len(values) + 1):
        if judge.look(measured(values[:count])):
            break
    return judge.verdict(measured(values[:count])), count


def test_a_second_session_is_recorded_and_says_how_far_it_is(appoint):
    verdict, count = judged(appoint(NOISY, learn=True), [95.0, 120.0, 88.0, 110.0, 99.0])
    assert (verdict.verdict, count) == ("recorded", 5)
    assert verdict.reason.startswith("recorded, 2nd session: resolves ")
    assert "20% is needed" in verdict.reason and verdict.reason.endswith("--io-against")


def test_a_workload_of_one_session_is_judged_although_others_are_noisy(tmp_path):
    """Two workloads in two sessions do not tell how much workloads differ; it was judged the day before, and
    then a loss of half its speed was inconclusive.
    """
    folder, other = tmp_path / "orin", reads("c")
    others = {
        "c": [[335.0, 334.0, 332.0, 339.0, 368.0], [372.0, 334.0, 334.0, 334.0, 337.0]],
        "d": [[2840.0, 2549.0, 3399.0, 1948.0, 1844.0], [3096.0, 2621.0, 2946.0, 2026.0, 1881.0]],
    }
    for number, session in enumerate((SESSION, SESSION.replace("01-01", "01-02"))):
        kept = {name: (other.definition, {READ: values[number]}) for name, values in others.items()}
        if not number:
            kept["a"] = A.definition, {READ: QUIET}
        update(folder / "demo.yaml", "orin", "demo", session, Environment(), "", kept, "append")
    judges = BaselineJudges(folder, GateOptions(metrics=4), learn=True)
    lost, _ = judged(judges.appoint(A, (READ,)), [560.0, 562.0, 558.0, 561.0, 559.0, 563.0] * 2)
    assert lost.verdict == "regressed"
    same, _ = judged(judges.appoint(A, (READ,)), QUIET)
    assert same.verdict == "pass"


@pytest.fixture
def learning(tmp_path):
    """Judges of four workloads, tolerance 5%, in whose two sessions nothing is beyond doubt, to be asked for
    the first of them.
    """
    folder, workload = tmp_path / "orin", reads("a", gate={READ: Tolerance(0.05)})
    sessions = [
        [934.0, 952.0, 984.0, 994.0, 993.0],
        [1004.0, 1001.0, 953.0, 1089.0, 1038.0],
    ]
    for number, values in enumerate(sessions, 1):
        kept = {"a": (workload.definition, {READ: values})}
        for other, shift in (("b", 0), ("c", 1), ("d", 2)):
            steady = [value * (1 + 0.02 * (-1) ** (number + shift)) for value in values]
            kept[other] = (reads(other).definition, {READ: steady})
        session = SESSION.replace("01-01", f"01-0{number}")
        update(folder / "demo.yaml", "orin", "demo", session, Environment(), "", kept, "append")

    def verdict(values, metrics=4):
        judge = BaselineJudges(folder, GateOptions(metrics=metrics), learn=True).appoint(workload, (READ,))
        assert isinstance(judge, Learner)
        return judged(judge, values)[0]

    return verdict


LOST = [783.0, 804.0, 762.0, 796.0, 806.0, 791.0, 770.0, 799.0, 785.0, 801.0, 777.0, 790.0]
"""20% less than the sessions of `learning`: each lies far below all that these have seen."""


@pytest.mark.parametrize("metrics", [1, 4, 8, 40])
def test_a_loss_of_four_times_the_tolerance_is_no_lesson_however_much_is_measured(learning, metrics):
    """Alpha was shared with all that is measured, and 37 to 41% of such losses were learnt, in green."""
    lost = learning(LOST, metrics)
    assert lost.verdict in {"inconclusive", "regressed"} and not lost.keep
    if lost.verdict == "inconclusive":
        assert "not recorded: read.iops has lost more than the noise that is usual here" in lost.reason
        assert re.search(r"\(-2[01]\.\d%, tolerance 5\.0%\)", lost.reason)
        assert lost.reason.endswith("; measure again; --update-baselines=force appends it all the same")


def test_what_is_as_slow_as_a_session_was_is_a_lesson(learning):
    slow = learning([934.0, 952.0, 984.0, 994.0, 993.0, 941.0, 978.0, 960.0, 989.0, 949.0, 971.0, 966.0])
    assert (slow.verdict, slow.keep) == ("recorded", True)
    assert "more than the tolerance" not in slow.reason


def test_a_loss_that_is_learnt_is_named(learning):
    """Noise explains it, and then it is part of what later sessions are held against."""
    lost = learning([value * 0.925 for value in (934.0, 1004.0, 984.0, 1040.0, 993.0, 953.0) * 2])
    assert (lost.verdict, lost.keep) == ("recorded", True)
    assert "; lost more than the tolerance, which may be noise: read.iops (-9.8%)" in lost.reason
    assert lost.reason.endswith("; if that stays so, take it out: iogate baseline drop")


@pytest.mark.parametrize("loss", [0.25, 0.3, 0.5, 0.6, 0.7])
def test_a_loss_of_all_repetitions_is_no_lesson_because_some_stalled_before(tmp_path, loss):
    """Two degrees of freedom explain anything: a device at 30% of its speed was learnt, day by day."""
    folder = tmp_path / "orin"
    stalled = [[1045.0, 1493.0, 1035.0, 1050.0, 1493.0], [1484.0, 1490.0, 1505.0, 1488.0, 1491.0]]
    for number, values in enumerate([*stalled, [1473.0, 1490.0, 1496.0, 1480.0, 1491.0]], 1):
        session = SESSION.replace("01-01", f"01-0{number}")
        kept = {"a": (A.definition, {READ: values})}
        update(folder / "demo.yaml", "orin", "demo", session, Environment(), "", kept, "append")
    judge = BaselineJudges(folder, GateOptions(metrics=2), learn=True).appoint(A, (READ,))
    assert isinstance(judge, Learner)
    values = [value * (1 - loss) for value in (1490.0, 1486.0, 1493.0, 1484.0, 1491.0, 1488.0)]
    lost, _ = judged(judge, values * 2)
    assert lost.verdict in {"inconclusive", "regressed"} and not lost.keep
    stalls = BaselineJudges(folder, GateOptions(metrics=2), learn=True).appoint(A, (READ,))
    assert judged(stalls, [1050.0, 1493.0, 1041.0, 1490.0, 1036.0] * 2)[0].keep


def test_a_collapse_is_no_lesson(appoint):
    verdict, _ = judged(appoint(NOISY, learn=True), [2.0] * 12)
    assert verdict.verdict == "regressed"


@pytest.mark.parametrize("factor", [8, 1 / 8])
def test_figures_that_cannot_be_believed_are_not_learnt(appoint, factor):
    verdict, _ = judged(appoint(NOISY, learn=True), [value * factor for value in NOISY * 2])
    assert verdict.verdict in {"inconclusive", "regressed"}


def test_another_machine_is_refused(appoint):
    with pytest.raises(MeasurementError, match="another machine"):
        appoint(NOISY, learn=True).check(Environment(identity={"cpu": "new"}))


def test_a_session_that_was_cut_short_is_not_recorded(appoint):
    judge = appoint(NOISY, learn=True)
    judge.look(measured(NOISY[:2]))
    assert judge.verdict(measured(NOISY[:2]), "interrupted").verdict == "inconclusive"


def test_a_baseline_that_can_judge_does(appoint):
    assert isinstance(appoint(QUIET, learn=True), BaselineJudge)


def test_only_devices_that_say_so_learn(appoint):
    assert isinstance(appoint(NOISY), BaselineJudge)
    assert isinstance(appoint(NOISY, learn=True), Learner)


def test_ordinals():
    assert [ordinal(n) for n in (1, 2, 3, 11, 21)] == ["1st", "2nd", "3rd", "11th", "21st"]


@pytest.mark.parametrize("figure", [0.0, math.nan])
def test_what_cannot_be_judged_is_not_learnt(appoint, figure):
    verdict, _ = judged(appoint(NOISY, learn=True), [95.0, figure, 88.0, 110.0, 99.0] + [100.0] * 15)
    assert (verdict.verdict, verdict.keep) == ("inconclusive", False)
    assert "which is no measurement" in verdict.reason


def test_what_cannot_be_judged_is_not_learnt_beside_what_can(tmp_path):
    folder, least = tmp_path / "orin", "read.iops.min"
    both = reads("a", gate={READ: Tolerance(0.05), least: Tolerance(0.2)})
    known = {"a": (both.definition, {READ: NOISY, least: [value / 3 for value in NOISY]})}
    update(folder / "demo.yaml", "orin", "demo", SESSION, Environment(), "", known, "append")
    judge = BaselineJudges(folder, GateOptions(), learn=True).appoint(both, (READ, least))
    assert isinstance(judge, Learner)
    rows = [Repetition(Output({READ: value, least: 0.0}, {}), 3.0, "folder") for value in NOISY]
    judge.look(rows)
    verdict = judge.verdict(rows)
    assert (verdict.verdict, verdict.keep) == ("inconclusive", False)


def test_what_the_gate_passed_after_two_repetitions_is_learnt_only_if_all_pass():
    """Half of the speed from the third repetition on was recorded, and called +0.0%."""
    known = Baseline("a", {}, {READ: (tuple(QUIET),)}, sessions=("s1",))
    judge = Learner(BaselineJudge(reads("a", gate={READ: Tolerance(0.2)}), known, (READ,), GateOptions()), {})
    verdict, count = judged(judge, [1000.0, 1001.0, 500.0, 501.0, 500.0])
    assert (verdict.verdict, verdict.keep, count) == ("inconclusive", False, 5)
    assert [item.verdict for item in verdict.metrics] == ["inconclusive"]
    assert "-49." in verdict.reason and "not recorded: read.iops has lost more" in verdict.reason


def test_beside_a_session_of_another_machine_that_was_forced_nothing_is_measured(tmp_path):
    """It was, and then nothing could be added."""
    folder = tmp_path / "orin"
    kept = {"a": (A.definition, {READ: NOISY})}
    for cpu, session, mode in (
        ("old", SESSION, "append"),
        ("new", SESSION.replace("01-01", "01-02"), "force"),
    ):
        update(folder / "demo.yaml", "orin", "demo", session, Environment({"cpu": cpu}), "", kept, mode)
    judge = BaselineJudges(folder, GateOptions(), learn=True).appoint(A, (READ,))
    assert isinstance(judge, Learner)
    for cpu in ("new", "old"):
        with pytest.raises(MeasurementError):
            judge.check(Environment({"cpu": cpu}))


@pytest.mark.parametrize(("change", "said"), [(1.18, True), (1.0, False)])
def test_a_gain_beyond_doubt_is_learnt_and_said(change, said):
    """What it hides shows later: of the two levels either may be the usual one."""
    known = Baseline("a", {}, {READ: (tuple(QUIET),)}, sessions=("s1",))
    workload = reads("a", gate={READ: Tolerance(0.05)})
    judge = Learner(BaselineJudge(workload, known, (READ,), GateOptions()), {})
    verdict, _ = judged(judge, [value * change for value in QUIET])
    assert (verdict.verdict, verdict.keep) == ("recorded", True)
    assert ("; better beyond doubt: read.iops (+18." in verdict.reason) == said
    assert verdict.reason.endswith("; if that stays so, begin anew: --update-baselines") == said


def test_a_gain_beyond_doubt_is_no_lesson_where_it_is_known_how_sessions_differ():
    """It hid losses: 15 to 20% at a time were learnt after one session that was 18% faster."""
    sessions = tuple(tuple(value * factor for value in QUIET) for factor in (1.0, 1.04, 0.97, 1.01))
    known = Baseline("a", {}, {READ: sessions}, sessions=("s1", "s2", "s3", "s4"))
    workload = reads("a", gate={READ: Tolerance(0.05)})

    def verdict(change):
        judge = Learner(BaselineJudge(workload, known, (READ,), GateOptions()), {})
        return judged(judge, [value * change for value in QUIET])[0]

    gained = verdict(1.4)
    assert (gained.verdict, gained.keep) == ("improved", False)
    assert "not recorded: read.iops is better than the noise explains" in gained.reason
    assert verdict(1.02).verdict == "recorded"
    assert verdict(0.6).verdict == "regressed"


@pytest.mark.parametrize(("gain", "learns"), [(1.0, True), (1.02, True), (1.045, False), (1.4, False)])
def test_nor_where_another_metric_is_why_it_still_learns(gain, learns):
    """A small gain hides no loss: a device one tail of which is not known yet goes on learning."""
    p99 = "read.clat.p99"
    sessions = tuple(tuple(value * factor for value in QUIET) for factor in (1.0, 1.002, 0.998, 1.001))
    tails = tuple(tuple(value * factor for value in NOISY) for factor in (1.0, 1.3, 0.8, 1.1))
    known = Baseline("a", {}, {READ: sessions, p99: tails}, sessions=("s1", "s2", "s3", "s4"))
    workload = reads("a", gate={READ: Tolerance(0.05), p99: Tolerance(0.05)})
    judge = Learner(BaselineJudge(workload, known, (READ, p99), GateOptions()), {})
    rows = [
        Repetition(Output({READ: value * gain, p99: tail}, {}), 3.0, "folder")
        for value, tail in zip(QUIET, NOISY, strict=True)
    ] * 4
    for count in range(1, len(rows) + 1):
        if judge.look(rows[:count]):
            break
    verdict = judge.verdict(rows[:count])
    assert (verdict.verdict, verdict.keep) == (("recorded", True) if learns else ("inconclusive", False))
    assert ("not recorded: read.iops is better than the noise explains" in verdict.reason) is not learns


def test_a_device_that_loses_in_small_steps_is_not_learnt_from(tmp_path):
    """At -28% after nine sessions of -4% each it was recorded still, and green."""
    folder, one = tmp_path / "orin", replace(A, gate={READ: Tolerance(0.05)})
    verdicts = []
    for day in range(1, 8):
        level = 0.96**day
        values = [level * value for value in QUIET]
        judge = BaselineJudges(folder, GateOptions(), learn=True, record_missing=True).appoint(one, (READ,))
        if day == 1:
            verdict = judge.verdict(measured(values))
        else:
            verdict, _ = judged(judge, values)
        verdicts.append(verdict.verdict)
        if verdict.keep:
            session = f"2026-01-0{day}T00:00:00Z-aaaa"
            found = {"a": (one.definition, {READ: values})}
            update(folder / "demo.yaml", "orin", "demo", session, Environment(), "", found, "append")
    assert verdicts == ["recorded"] * 4 + ["inconclusive"] * 3
    assert "got worse from session to session (-21.7% since the first, tolerance 5.0%)" in verdict.reason
    assert "if that stays so, begin anew: --update-baselines" in verdict.reason
