"""Who judges a workload, and what baselines on file can resolve."""

from dataclasses import replace

import pytest

from fake_bench import QUIET, READ, reads
from iogate.errors import BaselineError, MeasurementError
from iogate.judge.appender import Appender
from iogate.judge.appointment import BaselineJudges, gating_metrics
from iogate.judge.baseline import update
from iogate.judge.baseline_judge import BaselineJudge
from iogate.judge.judge import GateOptions
from iogate.judge.recorder import Recorder
from iogate.model import Environment, Output, Repetition, Tolerance, Verdict

A = reads("a")
NOWHERE = Environment()


@pytest.fixture
def folder(tmp_path):
    """The baselines of a device named orin."""
    return tmp_path / "orin"


def store(folder, *workloads, values=QUIET[0], session="2026-01-01T00:00:00Z-aaaa", environment=NOWHERE):
    update(
        folder / "demo.yaml",
        device="orin",
        suite="demo",
        session=session,
        environment=environment,
        reason="",
        measured={item.name: (item.definition, {READ: list(values)}) for item in workloads},
        mode="append",
    )


def judges(folder, **asked):
    return BaselineJudges(folder, GateOptions(), **asked)


def test_a_workload_with_a_baseline_is_held_against_it(folder):
    store(folder, A)
    judge = judges(folder).appoint(A, (READ,))
    assert isinstance(judge, BaselineJudge)
    assert judge.against == "1 session"
    assert judge.expectations()[READ].typical == 1000.0


def test_what_has_no_course_is_measured_as_often_where_another_workload_has_one(folder):
    other = reads("b")
    for session in range(3):
        name = f"2026-01-0{session + 1}T00:00:00Z-aaaa"
        store(folder, A, values=[1000.0 + session, 1001.0, 999.0, 1000.0, 1002.0], session=name)
        if session == 2:
            assert judges(folder).appoint(A, (READ,)).minimum == 2
        store(folder, other, values=[1000.0 + session, 998.0, 805.0, 800.0, 801.0], session=name)
    judge = judges(folder).appoint(A, (READ,))
    assert (judge.minimum, judge.usual) == (5, 5)
    assert "other workloads make this device hot, or fill its cache" in judge.effort


def test_what_is_not_measured_for_want_of_a_baseline_is_left_out_for_what_comes_behind(folder):
    """It heated the device in each session of the baseline."""
    other = reads("b")
    for day in range(1, 4):
        name = f"2026-01-0{day}T00:00:00Z-aaaa"
        store(folder, A, values=[1000.0, 1001.0, 999.0, 1000.0, 1002.0], session=name)
        store(folder, other, values=[1000.0, 998.0, 805.0, 800.0, 801.0], session=name)
    these = judges(folder)
    assert these.appoint(other, (READ,)).unlike == ""
    assert isinstance(these.appoint(reads("a", seconds=60), (READ,)), Verdict)
    assert "leaves out 1 workload" in these.appoint(other, (READ,)).unlike


def test_a_workload_without_a_baseline_has_a_verdict_at_once(folder):
    assert judges(folder).appoint(A, (READ,)) == Verdict(
        "no_baseline",
        "orin has no baseline of this workload; record one with --update-baselines (or see --io-missing)",
    )


def test_a_baseline_of_another_definition_is_none_and_the_reason_says_why(folder):
    store(folder, reads("a", seconds=60))
    verdict = judges(folder).appoint(A, (READ,))
    assert verdict.verdict == "no_baseline"
    assert "runtime was 60" in verdict.reason


@pytest.mark.parametrize("asked", [{"update": "replace"}, {"update": "append"}, {"record_missing": True}])
def test_what_may_be_recorded_is(folder, asked):
    assert isinstance(judges(folder, **asked).appoint(A, (READ,)), Recorder)


def test_an_update_records_even_what_has_a_baseline(folder):
    store(folder, A)
    assert isinstance(judges(folder, record_missing=True).appoint(A, (READ,)), BaselineJudge)
    assert type(judges(folder, update="replace").appoint(A, (READ,))) is Recorder


def test_what_is_to_be_appended_is_judged_by_what_is_known(folder):
    store(folder, A)
    judge = judges(folder, update="append").appoint(A, (READ,))
    assert isinstance(judge, Appender)
    assert judge.baseline.sessions == ("2026-01-01T00:00:00Z-aaaa",)


@pytest.mark.parametrize("workload", [A, reads("new")])
def test_a_session_of_another_machine_is_refused_before_it_is_measured(folder, workload):
    store(folder, A, environment=Environment({"disk": "A"}))
    other = Environment({"disk": "B"})
    with pytest.raises(MeasurementError, match=r"not appended: the session .* disk was A, is B") as told:
        judges(folder, update="append").appoint(workload, (READ,)).check(other)
    assert "--update-baselines=force" in told.value.remedy
    judges(folder, update="force").appoint(workload, (READ,)).check(other)
    judges(folder, update="replace").appoint(workload, (READ,)).check(other)


def test_a_corrupt_file_is_an_error(folder):
    folder.mkdir()
    (folder / "demo.yaml").write_text("workloads: [")
    with pytest.raises(BaselineError):
        judges(folder).appoint(A, (READ,))


def test_a_false_alarm_is_shared_out_among_all_that_were_ever_expected(folder):
    store(folder, A)
    one = judges(folder)
    one.expect(7)
    one.expect(1)
    judge = one.appoint(A, (READ,))
    assert isinstance(judge, BaselineJudge)
    assert judge.gate_options.metrics == 7


def test_what_baselines_resolve_is_read_anew(folder):
    one = judges(folder)
    assert one.sensitivities([A]) == {}
    store(folder, A)
    store(folder, A, values=QUIET[1], session="2026-01-02T00:00:00Z-bbbb")
    judged_with = one.options
    assert set(one.sensitivities([A, reads("unknown")])) == {("a", READ)}
    assert one.options is judged_with


def test_what_a_workload_names_gates_it_and_otherwise_what_its_engine_says():
    assert gating_metrics(reads("a", gate={"read.clat.p99": Tolerance()})) == ("read.clat.p99",)
    assert gating_metrics(A) == (READ,)


LAB_7, LAB_8 = (Environment(identity={"machine": name}, subject={"kernel": "6.1"}) for name in ("7", "8"))


def test_an_imported_session_does_not_hide_which_machine_a_baseline_is_of(folder):
    store(folder, A, environment=LAB_7)
    store(folder, A, session="imported-0123456789ab", environment=Environment(subject={"fio": "3.36"}))
    judge = judges(folder).appoint(A, (READ,))
    judge.check(LAB_7)
    with pytest.raises(MeasurementError, match="another machine"):
        judge.check(LAB_8)
    changed = replace(LAB_7, subject={"kernel": "6.12"})
    assert any("6.12" in text for text in judge.differences(changed))


def test_of_the_versions_of_engines_its_own_alone_may_have_changed_a_workload(folder):
    store(folder, A, environment=Environment(subject={"fio": "3.36", "iozone": "3.489"}))
    judge = judges(folder).appoint(A, (READ,))
    assert judge.differences(Environment(subject={"fio": "3.36", "reader": "1"})) == []
    assert judge.differences(Environment(subject={"fio": "3.37"})) == ["fio was 3.36, is 3.37"]


def test_what_one_session_knows_of_the_machine_holds_for_the_next(folder):
    known = {**LAB_7.identity, "disk_serial": "A1"}
    store(folder, A, environment=Environment(identity=known))
    store(folder, A, session="2026-01-02T00:00:00Z-aaaa", environment=LAB_7)
    judge = judges(folder).appoint(A, (READ,))
    judge.check(LAB_7)
    with pytest.raises(MeasurementError, match="another machine"):
        judge.check(Environment(identity={**known, "disk_serial": "B2"}))


def test_of_sessions_of_two_machines_the_newest_says_which_one_it_is(folder):
    store(folder, A, environment=Environment(identity={"machine": "7", "disk_serial": "A1"}))
    stored = {"a": (A.definition, {READ: list(QUIET[0])})}
    session = "2026-01-02T00:00:00Z-aaaa"
    update(folder / "demo.yaml", "orin", "demo", session, LAB_8, "", stored, "force")
    judges(folder).appoint(A, (READ,)).check(Environment(identity={"machine": "8", "disk_serial": "B2"}))


@pytest.mark.parametrize("update", [None, "replace"])
def test_an_imported_session_is_older_than_all_that_were_measured(folder, update):
    store(folder, A, session="imported-0123456789ab")
    assert judges(folder, update=update).appoint(A, (READ,)).newest == ""
    store(folder, A, session="2026-01-02T00:00:00Z-aaaa")
    assert judges(folder, update=update).appoint(A, (READ,)).newest == "2026-01-02T00:00:00Z-aaaa"


def test_what_a_session_leaves_out_counts_where_most_sessions_of_the_baseline_measured_it(folder):
    for number, also in enumerate([("b",), ("b", "c"), ()]):
        store(folder, A, *map(reads, also), session=f"2026-01-0{number + 1}T00:00:00Z-aaaa")
    assert judges(folder).appoint(A, (READ,)).unlike == ""
    asked = judges(folder, leaves_out=lambda suite, name: (suite, name) in {("demo", "b"), ("demo", "c")})
    assert "leaves out 1 workload that" in asked.appoint(A, (READ,)).unlike


def test_a_session_is_appended_in_which_a_metric_is_zero_that_was_not_before(folder):
    """fio's spread of its samples is zero at a steady rate."""
    for day, spread in ((1, 5.0), (2, 0.0)):
        values = {READ: list(QUIET[0]), "read.iops.stddev": [spread] * len(QUIET[0])}
        session = f"2026-01-0{day}T00:00:00Z-aaaa"
        kept = {"a": (A.definition, values)}
        changes = update(folder / "demo.yaml", "orin", "demo", session, NOWHERE, "", kept, "append")
    assert {item.metric: item.session for item in changes} == {READ: 1000.0, "read.iops.stddev": None}
    assert judges(folder).appoint(A, (READ,)).against == "2 sessions"


def test_what_is_appended_alone_is_refused_where_speed_depends_on_places(folder):
    """A device that gets hot is cold where it is measured alone: what it had lost became its baseline."""
    hot = (1000.0, 950.0, 910.0, 880.0, 860.0)
    for number in range(3):
        session = f"2026-01-0{number + 1}T00:00:00Z-aaaa"
        store(folder, A, reads("b"), values=[value + number for value in hot], session=session)
    lost = [Repetition(Output({READ: value}, {}), 1.0, "folder") for value in hot]
    for mode, leaves_out, kept in (
        ("append", False, True),
        ("append", True, False),
        ("force", True, True),
    ):
        judge = judges(
            folder, update=mode, leaves_out=lambda suite, name, out=leaves_out: out and name == "b"
        )
        asked = judge.appoint(A, (READ,))
        assert asked.verdict(lost).keep == kept
        assert ("this one leaves out 1 workload" in asked.effort) == (not kept)  # before it is measured


def test_what_a_session_measures_beside_counts_where_it_was_never_measured_together(folder):
    """Recorded suite by suite, a device that gets hot is cold where each begins; and it is hotter behind one
    that is new, or was recorded anew without the others.
    """
    for number in range(3):
        store(folder, A, session=f"2026-01-0{number + 1}T00:00:00Z-aaaa")
        store(folder, reads("b"), session=f"2026-01-0{number + 1}T01:00:00Z-bbbb")
        store(folder, A, reads("c"), session=f"2026-02-0{number + 1}T00:00:00Z-cccc")
    store(folder, reads("later"), session="2026-03-01T00:00:00Z-dddd")
    assert judges(folder).appoint(A, (READ,)).unlike == ""
    for records, added in ((False, 2), (True, 3)):
        asked = judges(
            folder,
            record_missing=records,
            beside=lambda workload: [("demo", name) for name in ("a", "b", "c", "later", "new")],
        )
        assert f"measures {added} workloads that" in asked.appoint(A, (READ,)).unlike
