"""Who judges a workload, and what baselines on file can resolve."""

import math
from dataclasses import replace
from random import Random

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
from workloads import declared

A = reads("a")
NOWHERE = Environment()


@pytest.fixture
def folder(tmp_path):
    """The baselines of a device named orin."""
    return tmp_path / "orin"


def store(
    folder, *workloads, values=QUIET[0], session="2026-01-01T00:00:00Z-aaaa", environment=NOWHERE, worked=()
):
    update(
        folder / "demo.yaml",
        device=folder.name,
        suite="demo",
        session=session,
        environment=environment,
        reason="",
        measured={item.name: (item.definition, {READ: list(values)}) for item in workloads},
        mode="append",
        worked={item.name: worked for item in workloads},
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
        if session == 1:  # what one session shows may have been something else
            assert judges(folder).appoint(A, (READ,)).minimum == 2
        store(folder, other, values=[1000.0 + session, 998.0, 805.0, 800.0, 801.0], session=name)
    judge = judges(folder).appoint(A, (READ,))
    assert (judge.minimum, judge.usual) == (5, 5)
    assert "other workloads make this device hot, or fill its cache" in judge.effort


ORIN = Environment({"serial": "1", "disk_serial": "2"})


@pytest.mark.parametrize(
    ("beside", "behind", "begun", "hot"),
    [
        (ORIN, 3.0, False, True),  # its baseline was recorded behind the other profile
        (ORIN, 0.0, True, True),  # it is measured behind it
        (ORIN, 0.0, False, False),
        (Environment({"serial": "1", "disk_serial": "3"}), 3.0, True, False),
        (NOWHERE, 3.0, True, False),
    ],
)
def test_another_profile_of_the_same_disk_tells_that_it_gets_hot(tmp_path, beside, behind, begun, hot):
    """An unchanged device was 19% slower behind it, and a loss of 15% hidden by its heat."""
    folder = tmp_path / "baselines/orin"
    for session in range(3):
        name = f"2026-01-0{session + 1}T00:00:00Z-aaaa"
        own = {"values": [800.0 + session, 801.0, 799.0], "worked": [behind, behind + 1, behind + 2]}
        store(folder, A, session=name, environment=ORIN, **own)
        hotter = [1000.0 + session, 998.0, 805.0, 800.0, 801.0]
        store(folder.parent / "other", reads("b"), values=hotter, session=name, environment=beside)
    appointed = judges(folder)
    appointed.begun_behind = begun
    assert bool(appointed.appoint(A, (READ,)).heat.known.surely) == hot
    (folder.parent / "other").rename(folder.parent.parent / "elsewhere")
    (folder.parent / "other").symlink_to(folder.parent.parent / "elsewhere")
    appointed = judges(folder)
    appointed.begun_behind = begun
    assert not appointed.appoint(A, (READ,)).heat.known.surely


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


def test_a_retired_suite_of_a_replaced_disk_refuses_no_new_one(folder):
    store(folder, A, environment=Environment({"disk": "old"}))
    (folder / "demo.yaml").rename(folder / "retired.yaml")
    text = (folder / "retired.yaml").read_text().replace("suite: demo", "suite: retired")
    (folder / "retired.yaml").write_text(text)
    store(folder, A, session="2026-02-01T00:00:00Z-bbbb", environment=Environment({"disk": "new"}))
    recorder = judges(folder, record_missing=True).appoint(reads("new", "another_suite"), (READ,))
    recorder.check(Environment({"disk": "new"}))
    with pytest.raises(MeasurementError, match="disk was new, is old"):
        recorder.check(Environment({"disk": "old"}))


@pytest.mark.parametrize("workload", [A, reads("new"), reads("new", "another_suite")])
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


@pytest.mark.parametrize("known", [{"disk": "WD SN850"}, {"disk_capacity": "1.0 TB"}])
def test_a_target_on_no_known_disk_is_not_the_disk_of_the_baseline(folder, known):
    """As where a volume was not mounted: an overlay passed against an NVMe disk, and was appended."""
    store(folder, A, environment=Environment(identity={**LAB_7.identity, **known}))
    own, appending = judges(folder), judges(folder, update="append")
    for judge in (own.appoint(A, (READ,)), appending.appoint(A, (READ,))):
        judge.check(Environment(identity={**LAB_7.identity, **known, "disk_serial": "1"}))
        with pytest.raises(MeasurementError, match="nothing is known of a disk here"):
            judge.check(LAB_7)


def test_a_baseline_that_knows_no_disk_says_nothing_of_one(folder):
    """One that was recorded on the network, say; and a serial number may be read by root alone."""
    store(folder, A, environment=Environment(identity={**LAB_7.identity, "disk_serial": "1"}))
    judges(folder).appoint(A, (READ,)).check(LAB_7)
    judges(folder).appoint(A, (READ,)).check(Environment(identity={**LAB_7.identity, "disk": "WD SN850"}))
    judges(folder).appoint(A, (READ,)).check(Environment())


def test_a_file_system_of_several_disks_does_not_always_find_them(folder):
    """btrfs on a mapped disk, whose name a container has no node of: the same disk was refused."""
    known = {**LAB_7.identity, "disk_capacity": "1.0 TB"}
    store(folder, A, environment=Environment(known, {"file_system": "btrfs"}))
    judges(folder).appoint(A, (READ,)).check(Environment(LAB_7.identity, {"file_system": "btrfs"}))
    with pytest.raises(MeasurementError, match="nothing is known of a disk here"):
        judges(folder).appoint(A, (READ,)).check(Environment(LAB_7.identity, {"file_system": "zfs"}))


APART = {"data_files": "apart"}


@pytest.mark.parametrize("update", [None, "append"])
def test_a_baseline_of_data_that_others_wrote_to_is_none_of_data_that_are_apart(folder, update):
    """On btrfs they were fragmented: reads that had lost 40% were `improved` by 233% once they were not."""
    btrfs = {"file_system": "btrfs"}
    store(folder, A, environment=Environment(subject=btrfs))
    more = {"update": update} if update else {}
    with pytest.raises(MeasurementError, match="of data that others wrote to"):
        judges(folder, **more).appoint(A, (READ,)).check(Environment(subject={**btrfs, **APART}))
    judges(folder, **more).appoint(A, (READ,)).check(Environment(subject=btrfs))


@pytest.mark.parametrize(
    "known",
    [
        pytest.param({"file_system": "btrfs", **APART}, id="which knows them apart"),
        pytest.param({}, id="imported, or published"),
        pytest.param({"file_system": "ext4"}, id="of another file system, which writes in place"),
    ],
)
def test_any_other_baseline_holds_where_data_are_apart(folder, known):
    store(folder, A, environment=Environment(subject=known))
    judges(folder).appoint(A, (READ,)).check(Environment(subject={"file_system": "btrfs", **APART}))


@pytest.mark.parametrize("kind", ["overlay", "ext4"])
def test_so_it_is_of_a_layer_or_a_loop_device_on_what_nobody_knows(folder, kind):
    """In a container on btrfs, 12% lost was `improved` by 69% behind an upgrade."""
    store(folder, A, environment=Environment(subject={"file_system": kind}))
    with pytest.raises(MeasurementError, match="of data that others wrote to"):
        judges(folder).appoint(A, (READ,)).check(Environment(subject={"file_system": kind, **APART}))


def test_so_it_is_of_what_writes_alone(folder):
    """An unchanged device was `regressed` by 42% behind an upgrade, as its file is another one."""
    writes = replace(declared("fio", rw="randwrite", bs="4k", size="64M"), suite="demo")
    store(folder, writes, environment=Environment(subject={"file_system": "btrfs"}))
    judge = judges(folder).appoint(writes, (READ,))
    with pytest.raises(MeasurementError, match="of data that others wrote to"):
        judge.check(Environment(subject={"file_system": "btrfs", **APART}))


def test_any_machine_of_the_model_is_held_against_a_good_one_where_that_is_said(folder):
    known = {**LAB_7.identity, "serial": "1"}
    store(folder, A, environment=Environment(identity=known))
    judge = judges(folder, of_model={}).appoint(A, (READ,))
    another = Environment(identity={**known, "serial": "2"})
    judge.check(another)
    assert judge.differences(another) == ["serial was 1, is 2"]
    with pytest.raises(MeasurementError, match="another machine"):
        judge.check(LAB_8)
    by_pattern = judges(folder, of_model={"machine": "[78]", "board": "*"}).appoint(A, (READ,))
    by_pattern.check(LAB_8)  # as an image may call a board otherwise
    with pytest.raises(MeasurementError, match="another machine"):
        by_pattern.check(Environment(identity={"machine": "9"}))
    with pytest.raises(MeasurementError, match="another machine") as caught:
        judges(folder).appoint(A, (READ,)).check(another)
    assert "accepts: model" in str(caught.value.remedy)
    with pytest.raises(MeasurementError, match="not appended"):  # it stays that of the good one
        judges(folder, of_model={}, update="append").appoint(A, (READ,)).check(another)


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


def test_a_session_is_appended_in_which_a_metric_is_zero_that_was_not_before(folder):
    """fio's spread of its samples is zero at a steady rate."""
    for day, spread in ((1, 5.0), (2, 0.0)):
        values = {READ: list(QUIET[0]), "read.iops.stddev": [spread] * len(QUIET[0])}
        session = f"2026-01-0{day}T00:00:00Z-aaaa"
        kept = {"a": (A.definition, values)}
        changes = update(folder / "demo.yaml", "orin", "demo", session, NOWHERE, "", kept, "append")
    assert {item.metric: item.session for item in changes} == {READ: 1000.0, "read.iops.stddev": None}
    assert judges(folder).appoint(A, (READ,)).against == "2 sessions"


@pytest.mark.parametrize("workload", [A, reads("b")])
def test_what_is_appended_behind_other_work_is_refused_where_that_makes_a_device_hot(folder, workload):
    """One that gets hot is cold where it is measured alone: what it had lost became its baseline. That holds
    for what has no course of its own, too.
    """
    hot = {"a": (1000.0, 950.0, 910.0, 880.0, 860.0), "b": (800.0, 801.0, 799.0, 802.0, 800.0)}
    for number in range(3):
        session = f"2026-01-0{number + 1}T00:00:00Z-aaaa"
        for name, values in hot.items():
            seconds = [10.0 + 2 * place for place in range(5)]
            store(
                folder,
                reads(name),
                values=[value + number for value in values],
                session=session,
                worked=seconds,
            )
    for mode, begin, kept in (("append", 10.5, True), ("append", 0.0, False), ("force", 0.0, True)):
        judge = judges(folder, update=mode).appoint(workload, (READ,))
        measured = [
            Repetition(Output({READ: value}, {}), 1.0, "folder", worked=begin + 2 * place)
            for place, value in enumerate(hot[workload.name])
        ]
        assert judge.verdict(measured).keep == kept


class TestSuitesOfOneDevice:
    """A suite of forty noisy workloads that a stranger proposed let 12% lost pass in three quiet ones."""

    def record(self, folder, suite, names, noise, *, sessions):
        generator = Random(suite)
        for number in range(sessions):
            levels = {name: 1000 * math.exp(generator.gauss(0, noise)) for name in names}
            update(
                folder / f"{suite}.yaml",
                device=folder.name,
                suite=suite,
                session=f"2026-01-{number + 1:02}T00:00:00Z-aaaa",
                environment=NOWHERE,
                reason="",
                measured={
                    name: (
                        reads(name).definition,
                        {READ: [level * math.exp(generator.gauss(0, 0.002)) for _ in range(5)]},
                    )
                    for name, level in levels.items()
                },
                mode="append",
                worked=dict.fromkeys(names, ()),
            )

    def tolerance(self, folder):
        one = judges(folder)
        one.expect(43)
        return one.appoint(reads("quiet0"), (READ,)).expectations()[READ].sensitivity.tolerance

    def test_noisy_ones_of_another_suite_widen_no_tolerance_of_quiet_ones(self, folder):
        self.record(folder, "demo", ["quiet0", "quiet1", "quiet2"], 0.003, sessions=3)
        alone = self.tolerance(folder)
        self.record(folder, "new", [f"noisy{number}" for number in range(24)], 0.03, sessions=10)
        assert self.tolerance(folder) == pytest.approx(alone) and alone < 0.15

    def test_a_tolerance_that_is_declared_stands_whoever_is_noisy(self, folder):
        self.record(folder, "demo", ["quiet0", "quiet1", "quiet2"], 0.003, sessions=3)
        self.record(folder, "new", [f"noisy{number}" for number in range(24)], 0.03, sessions=10)
        declared = replace(reads("quiet0"), gate={READ: Tolerance(0.05)})
        expected = judges(folder).appoint(declared, (READ,)).expectations()[READ].sensitivity
        assert expected.tolerance == pytest.approx(0.05) and not expected.resolves

    def test_those_that_are_alike_lend(self, folder):
        self.record(folder, "demo", ["quiet0", "quiet1", "quiet2"], 0.003, sessions=3)
        alone = self.tolerance(folder)
        self.record(folder, "new", [f"quiet{number}" for number in range(3, 24)], 0.003, sessions=10)
        assert self.tolerance(folder) < alone / 1.3

    def test_one_alone_learns_from_all(self, folder):
        self.record(folder, "demo", ["quiet0"], 0.003, sessions=3)
        alone = self.tolerance(folder)
        self.record(folder, "new", [f"quiet{number}" for number in range(1, 24)], 0.003, sessions=10)
        assert self.tolerance(folder) < alone / 1.3
