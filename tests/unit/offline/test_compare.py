"""`iogate compare`: the gate's verdict on measurements that exist already."""

import json
import random
import re
import shutil
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iogate.cli import main
from iogate.errors import IogateError, Position
from iogate.judge.judge import GateOptions
from iogate.judge.metrics import note_metrics
from iogate.model import (
    Environment,
    Output,
    PairFacts,
    Repetition,
    Tolerance,
    Verdict,
    Workload,
    WorkloadResult,
)
from iogate.report.recording import record_workload, results_of
from iogate.report.results import Results, RunRecord
from places import DATA

MIXED = DATA / "fio" / "fio-3.33.randrw70.json"
GROUPED = DATA / "fio" / "fio-3.33.randread_grouped.json"
TEXT = DATA / "fio_text" / "fio-3.33.randrw_grouped.txt"
OPTIONS = {"rw": "read", "size": "1G", "bs": "1M"}
GATE = "read.bandwidth"
MACHINE = {"disk_serial": "A1"}
PASS, REGRESSED, WRONG, INCONCLUSIVE = 0, 1, 2, 3


@pytest.fixture
def compare(capsys):
    """Runs the command; gives the exit status and what it said."""

    def run(*arguments):
        try:
            status = main(["compare", *map(str, arguments)])
        except SystemExit as end:
            status = end.code
        said = capsys.readouterr()
        return status, re.sub(r"\n {4}(?! )", " ", said.out + said.err)

    return run


FALLS = (1.0, 0.95, 0.9, 0.85, 0.8)  # as a device gets hot


def noisy(level, count=5, seed=0, noise=0.003):
    draw = random.Random(seed)
    return [level * (1 + draw.gauss(0, noise)) for _ in range(count)]


def record(values, name="seq", metric=GATE, options=None, declared=None, behind=None, **verdict):
    gate = {metric: Tolerance(declared)} if declared else {}
    place = Position("suites/acceptance.yaml")
    workload = Workload(name, "acceptance", "fio", options or OPTIONS, place, gate=gate)
    repetitions = tuple(
        Repetition(
            Output({metric: value}, {}), 10.0, "", worked=None if behind is None else behind + 10.0 * place
        )
        for place, value in enumerate(values)
    )
    verdict = {"verdict": "recorded", "reason": "", **verdict}
    metrics = note_metrics(repetitions, {}, gating=(metric,))
    return WorkloadResult(
        f"suites/acceptance.yaml::{name}",
        workload,
        Verdict(metrics=metrics, repetitions=len(values), **verdict),
        repetitions,
        device_seconds=10.0 * len(values),
    )


def results(path, *records, device="orin", session=None, identity=MACHINE, subject=None, run=None):
    """A results file as a pytest run writes it."""
    environment, options = Environment(identity, subject or {}, {}), GateOptions()
    workloads = [record_workload(one, options) for one in records]
    document = results_of(device, session or path.stem, environment, workloads, options, {})
    replace(document, run=run).write(path)
    return path


@pytest.fixture
def old(tmp_path):
    """Three quiet sessions at 2 GB/s."""
    levels = enumerate((2.0e9, 2.01e9, 1.99e9))
    return [results(tmp_path / f"old{i}.json", record(noisy(level, seed=i))) for i, level in levels]


def scaled(path, factor, to):
    """A real fio output, all of whose figures are those of a device that is slower by a factor."""
    text = path.read_text()
    document = json.loads(text[text.index("{") :])
    for job in document["jobs"]:
        for side in (job["read"], job["write"]):
            for key in ("bw_bytes", "bw", "iops", "bw_min", "bw_max", "bw_mean", "iops_min", "iops_max"):
                side[key] *= factor
            side["runtime"] = round(side["runtime"] / factor)
            for kind in ("slat_ns", "clat_ns", "lat_ns"):
                for key in ("min", "max", "mean", "stddev"):
                    side[kind][key] /= factor
                found = side[kind].get("percentile", {})
                found.update({level: value / factor for level, value in found.items()})
    to.parent.mkdir(exist_ok=True)
    to.write_text(json.dumps(document))
    return to


class TestResultsFiles:
    def test_an_unchanged_device_passes(self, compare, old, tmp_path):
        new = results(tmp_path / "new.json", record(noisy(2.002e9, seed=9)))
        status, said = compare(*old, new, "--tolerance", "5%")
        assert status == PASS
        row = next(line for line in said.splitlines() if line.startswith("seq"))
        assert row.split()[1] == GATE
        assert row.split()[-1] == "pass"
        assert "5.0%" in row
        assert said.splitlines()[-1] == "1 pass"

    def test_a_slower_device_regressed_and_the_reason_is_told(self, compare, old, tmp_path):
        new = results(tmp_path / "new.json", record(noisy(1.8e9, seed=9)))
        status, said = compare(*old, new, "--tolerance", "5%")
        assert status == REGRESSED
        assert re.search(r"regressed: seq: read.bandwidth is 17\d\d MiB/s against 19\d\d MiB/s, -\d+", said)
        assert "worse beyond doubt" in said

    @pytest.mark.parametrize(
        "run",
        [
            RunRecord({}, open=("suites/acceptance.yaml::rand",), ended=False),
            RunRecord({}, tests={"tests/test_a.py::rand": False}, ended=False),
        ],
    )
    def test_what_the_old_sessions_broke_off_before_as_the_new_one_did_is_not_passed_over(
        self, compare, tmp_path, run
    ):
        old = results(tmp_path / "old.json", record(noisy(2e9)), run=run)
        new = results(tmp_path / "new.json", record(noisy(2e9, seed=9)), run=run)
        status, said = compare(old, new, "--tolerance", "5%", "--json", tmp_path / "verdicts.json")
        assert status == INCONCLUSIVE
        assert "inconclusive: rand: not measured: the session broke off before it" in said
        written = Results.read(tmp_path / "verdicts.json").workloads
        assert {one.workload: one.verdict for one in written} == {"seq": "pass", "rand": "inconclusive"}

    def test_what_another_file_of_the_new_session_measured_was_not_broken_off(self, compare, tmp_path):
        rand, skipped = "suites/acceptance.yaml::rand", "tests/test_a.py::skipped"
        cut = RunRecord({rand: ""}, open=(rand,), ended=False, tests={skipped: False})
        both = [record(noisy(2e9)), record(noisy(1e9), "rand")]
        old, new = results(tmp_path / "old.json", *both), tmp_path / "new"
        new.mkdir()
        results(new / "1.json", record(noisy(2e9, seed=9)), run=cut)
        whole = RunRecord({rand: ""}, tests={skipped: True})
        results(new / "2.json", record(noisy(1e9, seed=8), "rand"), run=whole)
        status, said = compare(old, new, "--tolerance", "5%")
        assert status == PASS, said

    def test_without_a_tolerance_it_comes_from_the_data(self, compare, old, tmp_path):
        new = results(tmp_path / "new.json", record(noisy(2e9, seed=9)))
        status, said = compare(*old, new)
        assert status == PASS
        assert "pass" in said

    def test_the_tolerance_that_the_suite_declared_holds_unless_another_is_given(
        self, compare, old, tmp_path
    ):
        new = results(tmp_path / "new.json", record(noisy(1.7e9, seed=9), declared=0.3))
        assert compare(*old, new)[0] == PASS
        assert compare(*old, new, "--tolerance", "5%")[0] == REGRESSED

    def test_a_latency_may_be_declared_to_bear_more_than_twice_itself(self, compare, tmp_path):
        name = "read.clat.p99"
        old = [results(tmp_path / f"old{i}.json", record(noisy(1e6, seed=i), metric=name)) for i in range(3)]
        new = results(tmp_path / "new.json", record(noisy(1.8e6, seed=9), metric=name, declared=1.5))
        assert compare(*old, new)[0] == PASS

    def test_values_are_told_of_the_sessions_that_have_them(self, compare, old, tmp_path):
        other = results(tmp_path / "other.json", record(noisy(5e4), metric="read.iops"))
        new, out = results(tmp_path / "new.json", record(noisy(2e9, seed=9))), tmp_path / "out.json"
        compare(other, *old, new, "--tolerance", "5%", "--json", out)
        found = Results.read(out).workloads[0].metrics[GATE].sessions
        assert [name.rpartition("/")[2] for name in found] == ["old0.json", "old1.json", "old2.json"]
        assert list(found.values()) == [Results.read(file).workloads[0].metrics[GATE].values for file in old]

    def test_an_old_session_that_was_regressed_itself_is_named(self, compare, old, tmp_path):
        slow = results(tmp_path / "slow.json", record(noisy(1e9), verdict="regressed"))
        new = results(tmp_path / "new.json", record(noisy(1e9, seed=9)))
        status, said = compare(slow, new, "--tolerance", "5%")
        assert status == PASS
        assert "slow.json was itself regressed, by its baseline: what is as fast is, too" in said
        assert "itself" not in compare(*old, slow, "--tolerance", "5%")[1]

    def test_what_comes_behind_other_work_is_not_judged_where_that_makes_a_device_hot(
        self, compare, tmp_path
    ):
        """By itself it is measured cold: it was called faster, whatever it had lost once hot."""

        def session(name, seed, *begin, speed=1.6e9):
            first = [value * fall for value, fall in zip(noisy(2e9, seed=seed), FALLS, strict=True)]
            records = [record(noisy(speed, seed=seed + 9), "b", declared=0.05, behind=begin[-1])]
            if len(begin) > 1:
                records.insert(0, record(first, "a", declared=0.05, behind=begin[0]))
            return results(tmp_path / name, *records)

        old = [session(f"old{number}.json", number, 0.0, 50.0) for number in range(3)]
        status, said = compare(*old, session("whole.json", 3, 0.0, 50.0))
        assert status == PASS, said
        status, said = compare(*old, session("alone.json", 3, 0.0, speed=1.8e9))
        assert status == INCONCLUSIVE
        assert "came behind 0.0 s of measuring, and behind 50 s in the baseline" in said

    def test_noise_that_hides_the_tolerance_is_inconclusive(self, compare, tmp_path):
        old = [results(tmp_path / f"{i}.json", record(noisy(2e9, seed=i, noise=0.3))) for i in range(3)]
        new = results(tmp_path / "new.json", record(noisy(1.9e9, seed=9, noise=0.3)))
        status, said = compare(*old, new, "--tolerance", "5%")
        assert status == INCONCLUSIVE
        assert "cannot tell" in said

    def test_regressed_wins_over_inconclusive_and_over_pass(self, compare, tmp_path):
        good, bad = noisy(2e9, seed=1), noisy(1.5e9, seed=2)
        old = results(tmp_path / "old.json", record(good, "a"), record(good, "b"), record(good, "c"))
        new = results(tmp_path / "new.json", record(good, "a"), record(bad, "b"), record(good, "d"))
        status, said = compare(old, new, "--tolerance", "10%")
        assert status == REGRESSED
        assert said.splitlines()[-1] == "1 pass, 1 regressed, 1 no_baseline, 1 inconclusive"

    def test_a_workload_on_one_side_only_is_listed_and_never_passes(self, compare, old, tmp_path):
        values = noisy(2e9, seed=9)
        more = results(tmp_path / "new.json", record(values), record(values, "added"))
        status, said = compare(*old, more, "--tolerance", "5%")
        assert status == INCONCLUSIVE
        assert "no_baseline: added: it is in NEW only" in said
        status, said = compare(more, old[0], "--tolerance", "5%")
        assert status == INCONCLUSIVE
        assert "inconclusive: added: not measured: it is in OLD only" in said

    @pytest.mark.parametrize("side", ["old", "new"])
    def test_what_was_measured_by_turns_is_not_compared(self, compare, tmp_path, side):
        alone = record(noisy(2e9))
        pair = replace(alone, pair=PairFacts("a second copy of the same data", "copies"))
        files = [
            results(tmp_path / f"{name}.json", pair if name == side else alone, record(noisy(1e9), "other"))
            for name in ("old", "new")
        ]
        status, said = compare(*files, "--tolerance", "5%")
        assert status == INCONCLUSIVE
        assert re.search(r"^seq .*(invalid|no_baseline)$", said, re.MULTILINE), said
        assert re.search(r"^other .*pass$", said, re.MULTILINE), said
        assert "measured by turns with a second copy of the same data" in said

    def test_what_an_engine_measured_that_is_not_installed_is_not_judged(self, compare, tmp_path):
        alone = record(noisy(2e9))
        absent = replace(alone, workload=replace(alone.workload, engine="vdbench"))
        files = [
            results(tmp_path / f"{name}.json", absent, record(noisy(2e9), "other")) for name in ("old", "new")
        ]
        status, said = compare(*files, "--tolerance", "5%")
        assert status == INCONCLUSIVE
        assert "invalid: seq: " in said and "the engine 'vdbench' is not installed here" in said
        assert re.search(r"^other .*pass$", said, re.MULTILINE), said

    def test_another_definition_is_not_compared(self, compare, old, tmp_path):
        changed = record(noisy(2e9), options={**OPTIONS, "size": "2G"})
        status, said = compare(*old, results(tmp_path / "new.json", changed), "--tolerance", "5%")
        assert status == INCONCLUSIVE
        assert "size was 1G, is 2G" in said

    def test_repetitions_of_another_length_are_not_compared_where_it_was_chosen(self, compare, tmp_path):
        def session(name, seconds):
            one = record(noisy(2e9))
            options, chosen = {**OPTIONS, "runtime": seconds}, {"runtime": "auto"}
            return results(
                tmp_path / name,
                replace(one, workload=replace(one.workload, options=options, procedure=chosen)),
            )

        old, same, new = session("old.json", 5.0), session("same.json", 5.0), session("new.json", 20.0)
        assert compare(old, same, "--tolerance", "5%")[0] == PASS
        status, said = compare(old, new, "--tolerance", "5%")
        assert status == INCONCLUSIVE
        assert "runtime was 5.0, is 20.0" in said

    def test_an_old_session_that_does_not_fit_is_left_out_and_named(self, compare, old, tmp_path):
        other = results(tmp_path / "other.json", record(noisy(9e9), options={**OPTIONS, "size": "2G"}))
        new = results(tmp_path / "new.json", record(noisy(2e9, seed=9)))
        status, said = compare(other, *old, new, "--tolerance", "5%")
        assert status == PASS
        assert "other.json does not count: size was 2G, is 1G" in said

    @pytest.mark.parametrize("invalid", ["old", "new"])
    def test_an_invalid_measurement_is_never_judged(self, compare, tmp_path, invalid):
        sound = record(noisy(2e9))
        wrong = record(noisy(2e9, seed=1), verdict="invalid", reason="it came from the page cache")
        old = results(tmp_path / "old.json", wrong if invalid == "old" else sound)
        new = results(tmp_path / "new.json", wrong if invalid == "new" else sound)
        status, said = compare(old, new, "--tolerance", "50%")
        assert status == INCONCLUSIVE
        assert "page cache" in said

    def test_a_gating_metric_that_was_not_measured_is_no_pass(self, compare, old, tmp_path):
        other = record(noisy(5e4), metric="read.iops")
        status, said = compare(*old, results(tmp_path / "new.json", other), "--tolerance", "5%")
        assert status == INCONCLUSIVE
        assert "no read.iops" in said

    def test_zero_is_no_measurement(self, compare, old, tmp_path):
        new = results(tmp_path / "new.json", record([2e9, 0.0, 2e9]))
        status, said = compare(*old, new, "--tolerance", "5%")
        assert status == INCONCLUSIVE
        assert "no measurement" in said

    def test_files_without_workloads_prove_nothing(self, compare, tmp_path):
        empty = [results(tmp_path / f"{name}.json") for name in "ab"]
        for one in empty:
            one.write_text(json.dumps({"schema": 1, "device": "orin", "session": one.stem, "workloads": []}))
        status, said = compare(*empty)
        assert status == INCONCLUSIVE
        assert "nothing to compare" in said

    def test_what_changed_around_it_is_told(self, compare, old, tmp_path):
        new = results(tmp_path / "new.json", record(noisy(2e9)), subject={"kernel": "6.9"})
        _, said = compare(*old, new)
        assert "changed since OLD: kernel was not known, is 6.9" in said

    def test_results_of_another_machine_are_refused_unless_asked_for(self, compare, old, tmp_path):
        new = results(
            tmp_path / "new.json", record(noisy(2e9)), device="xavier", identity={"disk_serial": "B2"}
        )
        status, said = compare(*old, new)
        assert status == WRONG
        assert "device was orin, is xavier" in said and "disk_serial was A1, is B2" in said
        assert "--across-devices" in said
        status, said = compare(*old, new, "--across-devices", "--tolerance", "5%")
        assert status == PASS
        assert all(
            f"{file.name} is of another machine: the device was orin, is xavier" in said for file in old
        )

    def test_the_name_of_another_machine_begins_no_line(self, compare, old, tmp_path):
        new = results(tmp_path / "new.json", record(noisy(2e9)), device="x\n::error::y")
        for options in ((), ("--across-devices",)):
            _, said = compare(*old, new, *options)
            assert "is of another machine: the device was orin, is x?" in said
            assert not [line for line in said.splitlines() if line.startswith("::")]

    def test_a_session_does_not_count_twice(self, compare, old, tmp_path):
        status, said = compare(old[0], old[0], old[1])
        assert status == WRONG
        assert "old0.json is given twice" in said
        assert compare(old[0], old[0])[0] == WRONG

    def test_a_folder_of_sessions_is_these_sessions(self, compare, old, tmp_path):
        for file in old:
            (tmp_path / "sessions" / file.stem / "seq-1").mkdir(parents=True)
            shutil.copy(file, tmp_path / "sessions" / file.stem / "results.json")
        session = tmp_path / "sessions" / old[0].stem
        assert compare(session, session) == compare(session / "results.json", session / "results.json")
        assert compare(tmp_path / "sessions", old[0])[0] == WRONG
        results(tmp_path / "new.json", record(noisy(1e9)))
        assert compare(tmp_path / "sessions", tmp_path / "new.json") == compare(*old, tmp_path / "new.json")

    def test_a_session_of_a_new_folder_is_not_compared_with_itself(self, compare, old, tmp_path):
        folder = tmp_path / "sessions"
        folder.mkdir()
        for file in old:
            shutil.copy(file, folder)
        status, said = compare(old[0], folder)
        assert status == WRONG and "the same measurement" in said

    def test_a_folder_of_results_files_is_several_sessions(self, compare, old, tmp_path):
        folder = tmp_path / "sessions"
        folder.mkdir()
        for file in old:
            shutil.copy(file, folder)
        new = results(tmp_path / "new.json", record(noisy(2e9, seed=9)))
        assert compare(folder, new, "--tolerance", "5%") == compare(*old, new, "--tolerance", "5%")

    def test_a_folder_of_files_and_of_sessions_is_all_of_them(self, compare, old, tmp_path):
        folder = tmp_path / "sessions"
        (folder / "last").mkdir(parents=True)
        shutil.copy(old[-1], folder / "last" / "results.json")
        for file in old[:-1]:
            shutil.copy(file, folder)
        new = results(tmp_path / "new.json", record(noisy(2e9, seed=9)))
        assert compare(folder, new, "--tolerance", "5%") == compare(*old, new, "--tolerance", "5%")

    def test_the_folder_of_a_session_is_that_session(self, compare, old, tmp_path):
        session = tmp_path / "2026-01-01T00:00:00Z-1a2b"
        results(session / "results.json", record(noisy(2e9, seed=9)), session="new")
        (session / "seq-12345678" / "1").mkdir(parents=True)
        (session / "seq-12345678" / "1" / "output.json").write_text("{}")
        status, said = compare(*old, session, "--tolerance", "5%")
        assert status == PASS
        assert said.splitlines()[-1] == "1 pass"

    def test_documents_of_older_versions_are_judged(self, compare, tmp_path):
        older = DATA / "results" / "results_before_repetitions.json"
        data = json.loads(older.read_text())
        data["session"] = "again"
        (tmp_path / "again.json").write_text(json.dumps(data))
        status, said = compare(older, tmp_path / "again.json", "--tolerance", "99%")
        assert status == PASS
        assert said.splitlines()[-1] == "2 pass"

    def test_a_figure_that_is_not_finite_never_passes(self, compare, old, tmp_path):
        new = results(tmp_path / "new.json", record([2e9, float("nan"), 2e9]))
        status, said = compare(*old, new, "--tolerance", "5%")
        assert status == INCONCLUSIVE
        assert f"invalid: seq: the gating metric {GATE} was not measured" in said

    def test_the_verdicts_are_written_as_a_results_file(self, compare, old, tmp_path):
        new = results(tmp_path / "new.json", record(noisy(1.8e9, seed=9)))
        out = tmp_path / "verdicts" / "out.json"
        compare(*old, new, "--tolerance", "5%", "--json", out)
        written = Results.read(out)
        assert written.gate and written.gate.tolerance == 0.05
        (workload,) = written.workloads
        assert workload.verdict == "regressed"
        assert workload.metrics[GATE].tolerance == pytest.approx(0.05)
        assert workload.metrics[GATE].tolerance_from == "command line"
        assert workload.measured == Results.read(new).workloads[0].measured
        assert compare(out, new)[0] == WRONG, "it is the same session"


class TestEngineOutputs:
    def test_one_value_each_and_no_tolerance_is_no_verdict(self, compare, tmp_path):
        status, said = compare(MIXED, scaled(MIXED, 0.999, tmp_path / "new.json"))
        assert status == INCONCLUSIVE
        assert "1 value against one: the noise is not known" in said
        assert "--tolerance" in said
        assert "recorded" not in said

    def test_one_value_each_is_judged_by_the_tolerance_alone_which_is_said(self, compare, tmp_path):
        status, said = compare(MIXED, scaled(MIXED, 0.98, tmp_path / "near.json"), "--tolerance", "5%")
        assert status == PASS
        assert "the tolerance alone decides" in said
        status, said = compare(MIXED, scaled(MIXED, 0.9, tmp_path / "far.json"), "--tolerance", "5%")
        assert status == REGRESSED
        assert "the tolerance alone decides" in said
        assert "read.iops is 4.130 k IOPS against 4.589 k IOPS, -10.0%" in said

    def test_two_values_do_not_know_the_noise_either(self, compare, tmp_path):
        again = scaled(MIXED, 1.001, tmp_path / "again.json")
        new = scaled(MIXED, 0.9, tmp_path / "new.json")
        assert "2 values against one" in compare(MIXED, again, new)[1]
        assert compare(MIXED, again, new)[0] == INCONCLUSIVE
        assert compare(MIXED, again, new, "--tolerance", "5%")[0] == REGRESSED

    def test_one_repetition_against_many_is_judged_and_doubted(self, compare, tmp_path):
        old = [scaled(MIXED, 1 + index / 1000, tmp_path / f"{index}.json") for index in range(6)]
        assert compare(*old, scaled(MIXED, 1.0025, tmp_path / "same.json"), "--tolerance", "5%")[0] == PASS
        status, said = compare(*old, scaled(MIXED, 0.7, tmp_path / "new.json"), "--tolerance", "5%")
        assert status == REGRESSED
        assert "a stall looks the same" in said

    def test_an_output_does_not_count_again_in_a_folder(self, compare, tmp_path):
        for index in range(3):
            scaled(MIXED, 1 + index / 1000, tmp_path / "old" / f"{index}.json")
        one = tmp_path / "old" / "1.json"
        new = scaled(MIXED, 1.0005, tmp_path / "new.json")
        assert compare(tmp_path / "old", new)[0] != WRONG
        for paths in ((tmp_path / "old", one, new), (new, tmp_path / "old", one), (one, tmp_path / "old")):
            status, said = compare(*paths)
            assert status == WRONG and "the same measurement" in said

    def test_nor_does_a_copy_of_it_in_other_bytes(self, compare, tmp_path):
        """Two runs, each beside itself as another program formats it, were a regression of twice as many."""
        for folder, factor in (("old", 1.0), ("new", 0.95)):
            one = scaled(MIXED, factor, tmp_path / folder / "one.json")
            (one.parent / "pretty.json").write_text(json.dumps(json.loads(one.read_text()), indent=1))
        status, said = compare(tmp_path / "old", tmp_path / "new")
        assert status == WRONG and "the same measurement" in said

    def test_a_folder_holds_the_repetitions_of_one_session(self, compare, tmp_path):
        for index, factor in enumerate((1.0, 1.002, 0.998, 1.001, 0.999)):
            scaled(MIXED, factor, tmp_path / "old" / f"{index}.json")
            scaled(MIXED, factor * 0.75, tmp_path / "bad" / f"{index}.json")
            scaled(MIXED, factor * 1.0005, tmp_path / "good" / f"{index}.json")
        (tmp_path / "old" / "job.fio").write_text("[global]")
        assert compare(tmp_path / "old", tmp_path / "good", "--tolerance", "10%")[0] == PASS
        status, said = compare(tmp_path / "old", tmp_path / "bad", "--tolerance", "10%")
        assert status == REGRESSED
        row = next(line for line in said.splitlines() if line.startswith("mix70"))
        assert row.split()[-2:] == ["5", "regressed"]

    def test_jobs_of_another_name_are_paired_by_their_options(self, compare, tmp_path):
        new = scaled(MIXED, 0.99, tmp_path / "new.json")
        new.write_text(new.read_text().replace('"mix70"', '"database"'))
        status, said = compare(MIXED, new, "--tolerance", "5%")
        assert status == PASS
        assert "it is mix70" in said

    def test_other_options_are_not_compared(self, compare, tmp_path):
        new = scaled(MIXED, 0.99, tmp_path / "new.json")
        new.write_text(new.read_text().replace('"iodepth": "8"', '"iodepth": "16"'))
        status, said = compare(MIXED, new, "--tolerance", "50%")
        assert status == INCONCLUSIVE
        assert "iodepth was 8, is 16" in said

    def test_a_place_or_a_spelling_is_no_difference(self, compare, tmp_path):
        new = scaled(MIXED, 0.99, tmp_path / "new.json")
        text = new.read_text().replace('"/data/f"', '"/other"').replace('"8k"', '"8192"')
        new.write_text(text.replace('"64m"', '"65536k"'))
        assert compare(MIXED, new, "--tolerance", "5%")[0] == PASS

    def test_a_job_that_ran_beside_others_is_no_job_alone(self, compare, tmp_path):
        jobs = DATA / "fio" / "fio-3.33.jobfile_75_25.json"
        document = json.loads(jobs.read_text())
        document["jobs"] = document["jobs"][:1]
        alone = tmp_path / "alone.json"
        alone.write_text(json.dumps(document))
        status, said = compare(jobs, alone, "--tolerance", "50%")
        assert status == INCONCLUSIVE
        assert "beside was j2, j3, j4, is gone" in said

    def test_text_and_json_are_compared_as_far_as_the_text_goes(self, compare, tmp_path):
        other = tmp_path / "new.txt"
        other.write_text(re.sub(r"stdev= *\d", "stdev=9", TEXT.read_text(), count=1))
        status, said = compare(TEXT, other, "--tolerance", "5%")
        assert status == PASS
        assert {"read.iops", "write.iops"} <= set(said.split())
        other.write_text(other.read_text().replace("iodepth=8", "iodepth=9"))
        assert "iodepth was 8, is 9" in compare(TEXT, other, "--tolerance", "5%")[1]

    def test_an_output_that_contradicts_itself_is_never_judged(self, compare, tmp_path):
        document = json.loads(scaled(GROUPED, 0.99, tmp_path / "new.json").read_text())
        document["jobs"][0]["read"]["short_ios"] = 10**4
        (tmp_path / "new.json").write_text(json.dumps(document))
        status, said = compare(GROUPED, tmp_path / "new.json", "--tolerance", "50%")
        assert status == INCONCLUSIVE
        assert "invalid" in said and "were short" in said

    def test_outputs_and_results_are_not_mixed(self, compare, old, tmp_path):
        status, said = compare(old[0], MIXED)
        assert status == WRONG
        assert "like with like" in said
        shutil.copy(MIXED, tmp_path)
        assert compare(tmp_path, MIXED)[0] == WRONG


class TestWrongUse:
    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            ("", "empty"),
            ("hello", "no output of an engine"),
            ('{"schema": 1, "workloads": [', ":1:"),
            ('{"schema": 2, "workloads": []}', "schema 2"),
            ('{"schema": 1,\n "workloads": [{}]}', ":2:16: not results of iogate: workloads.0:"),
            (None, "No such file"),
        ],
    )
    def test_a_file_that_cannot_be_read_is_named(self, compare, tmp_path, content, reason):
        path = tmp_path / "file.json"
        if content is not None:
            path.write_text(content)
        status, said = compare(path, MIXED)
        assert status == WRONG
        assert reason in said and "file.json" in said and "Traceback" not in said

    def test_an_aborted_run_is_refused(self, compare):
        status, said = compare(MIXED, DATA / "fio" / "fio-3.33.sigint.json")
        assert status == WRONG
        assert "aborted by signal 2" in said

    @pytest.mark.parametrize("option", [("--tolerance", "5"), ("--alpha", "0.7"), ("--beta", "x")])
    def test_options_that_say_nothing_are_refused(self, compare, old, tmp_path, option):
        assert compare(*old, *option)[0] == WRONG

    def test_one_file_is_nothing_to_compare(self, compare):
        assert compare(MIXED)[0] == WRONG

    def test_an_empty_folder_is_told(self, compare, tmp_path):
        status, said = compare(tmp_path, MIXED)
        assert (status, "holds no file" in said) == (WRONG, True)

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"unit": "IOPS"}, "is in IOPS"),
            ({"direction": "lower"}, "lower is better"),
            ({"values": ["fast"] * 5}, "values"),
        ],
    )
    def test_a_metric_of_another_unit_is_refused(self, compare, old, tmp_path, change, reason):
        data = json.loads(old[0].read_text())
        data["session"] = "new"
        data["workloads"][0]["metrics"][GATE].update(change)
        new = tmp_path / "new.json"
        new.write_text(json.dumps(data))
        status, said = compare(*old, new)
        assert status == WRONG
        assert reason in said

    def test_text_of_a_file_does_not_steer_the_terminal(self, compare, old, tmp_path):
        new = results(
            tmp_path / "new.json", record(noisy(2e9), "\x1b]0;owned\x07"), subject={"\x1b": "\x1b[2J"}
        )
        _, said = compare(*old, new)
        assert "\x1b" not in said and "\x07" not in said


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(where=st.data(), value=JSON_VALUES)
def test_a_damaged_results_file_is_refused_or_judged_and_never_crashes(tmp_path, where, value):
    """Any value in the place of any other gives a status, or an error that says what is wrong."""
    from iogate.offline.compare import compare

    old = results(tmp_path / "old.json", record(noisy(2e9)))
    data = json.loads(results(tmp_path / "new.json", record(noisy(2e9, seed=1))).read_text())
    place = data
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = where.draw(st.sampled_from(keys))
        if not isinstance(place[key], (dict, list)) or not place[key] or where.draw(st.booleans()):
            break
        place = place[key]
    place[key] = value
    new = tmp_path / "new.json"
    new.write_text(json.dumps(data))
    try:
        _, status = compare([old], new, GateOptions(tolerance=0.05))
    except IogateError as error:
        assert str(error)
    else:
        assert status in (PASS, REGRESSED, INCONCLUSIVE)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(level=st.floats(0.05, 4.9), seed=st.integers(0, 10**6))
def test_what_lost_more_than_the_tolerance_never_passes_and_what_gained_never_fails(tmp_path, level, seed):
    """With little noise a verdict is on the right side of both bounds."""
    from iogate.offline.compare import compare

    old = [results(tmp_path / f"{i}.json", record(noisy(2e9, seed=seed + i, noise=0.001))) for i in range(3)]
    new = results(tmp_path / "new.json", record(noisy(2e9 * level, seed=seed + 9, noise=0.001)))
    _, status = compare(old, new, GateOptions(tolerance=0.05))
    if level < 0.94:
        assert status == REGRESSED
    elif level > 1.01:
        assert status == PASS


def test_a_pair_is_no_session_to_compare(compare, old, tmp_path):
    pair = replace(record(noisy(2e9)), pair=PairFacts("a second copy of the same data", "copies"))
    turns = results(tmp_path / "pair.json", pair)
    status, said = compare(*old, turns)
    assert (status, "measured by turns" in said) == (INCONCLUSIVE, True), said
    status, said = compare(turns, old[0])
    assert (status, "measured by turns" in said) == (INCONCLUSIVE, True), said


def test_outputs_of_iozone_are_judged_by_what_it_gates(tmp_path, capsys):
    text = (DATA / "iozone" / "iozone-3.489.auto_no_retest.txt").read_text()
    (tmp_path / "old").write_text(text)
    (tmp_path / "new").write_text(text.replace("9485232", "9485233"))
    assert main(["compare", *(str(tmp_path / name) for name in ("old", "new")), "--tolerance=20%"]) != WRONG
    assert "no metric of it is known to decide" not in capsys.readouterr().out
