"""`iogate import`: engine outputs that exist already become a baseline, if they are what they say."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iogate.cli import main
from iogate.declare.suite import load_suite
from iogate.engines.fio.stated import effective, stated_options
from iogate.judge.baseline import find, load_baselines, update
from iogate.model import Environment
from places import DATA

MIXED = DATA / "fio" / "fio-3.33.randrw70.json"
GROUPED = DATA / "fio" / "fio-3.33.randread_grouped.json"
CLONES = DATA / "fio" / "fio-3.33.write_ungrouped.json"
TEXT = DATA / "fio_text" / "fio-3.33.randrw_grouped.txt"
SUITE = """
defaults: {size: 64M, runtime: 2}
workloads:
  database: {rw: randrw, rwmixread: 70, bs: 8k, iodepth: 8}
  even: {rw: randrw, bs: 8k, iodepth: 8}
  reads: {rw: randread, bs: 4k, iodepth: 16, numjobs: 2}
  backup: {rw: write, bs: 1M, iodepth: 4, numjobs: 2}
"""


class Place:
    """A folder with a suite and a device."""

    def __init__(self, folder, capsys):
        self.folder = folder
        self.capsys = capsys
        (folder / "suites").mkdir()
        (folder / "baselines" / "orin").mkdir(parents=True)
        self.suite(SUITE)
        self.device("")

    def suite(self, text):
        (self.folder / "suites" / "lab.yaml").write_text(text)

    def device(self, text):
        (self.folder / "baselines" / "orin" / "device.yaml").write_text(f"target: /tmp\n{text}")

    def take(self, *arguments):
        """Runs the command; gives the exit status and what it said."""
        common = ["--device", "orin", "--suite", str(self.folder / "suites" / "lab.yaml")]
        common += ["--baselines", str(self.folder / "baselines")]
        status = main(["import", *map(str, arguments), *common])
        said = self.capsys.readouterr()
        return status, said.out + said.err

    def refused(self, *arguments):
        """What is said against files that must not become a baseline; checks that they did not."""
        status, said = self.take(*arguments)
        assert status == 2
        assert not self.file.exists()
        assert "Traceback" not in said
        return said

    @property
    def file(self):
        return self.folder / "baselines" / "orin" / "lab.yaml"

    @property
    def baselines(self):
        return load_baselines(self.file)


@pytest.fixture
def place(tmp_path, capsys):
    return Place(tmp_path, capsys)


def changed(path, to, options=None, **read):
    """A copy of a real output with other options (None: not given) and figures of its reads."""
    document = json.loads(path.read_text())
    for job in document["jobs"]:
        job["job options"].update(options or {})
        job["job options"] = {key: value for key, value in job["job options"].items() if value is not None}
        job["read"].update(read)
    to.write_text(json.dumps(document))
    return to


def tenfold(path, to):
    """A copy of a real output of 2 s as if it were of 20."""
    document = json.loads(path.read_text())
    for job in document["jobs"]:
        job["job options"].update(runtime="20", time_based="1")
        job["job_runtime"] *= 10
        for side in (job["read"], job["write"]):
            for key in ("io_bytes", "io_kbytes", "runtime", "total_ios"):
                side[key] *= 10
            for kind in ("slat_ns", "clat_ns", "lat_ns"):
                side[kind]["N"] *= 10
    to.write_text(json.dumps(document))
    return to


class TestWhatIsStored:
    def test_each_output_becomes_the_workload_that_it_fits(self, place):
        status, said = place.take(MIXED, GROUPED, CLONES)
        assert status == 0
        assert list(place.baselines) == ["database", "reads", "backup"]
        assert f"{MIXED}: mix70 -> database" in said
        assert "imported session written to" in said
        assert "4.589 k IOPS" in said

    def test_figures_are_those_of_the_output_and_its_clones_together(self, place):
        place.take(MIXED, CLONES)
        assert place.baselines["database"].metrics["read.iops"] == ((pytest.approx(4588.705647, rel=1e-5),),)
        jobs = json.loads(CLONES.read_text())["jobs"]
        together = sum(job["write"]["bw_bytes"] for job in jobs)
        assert place.baselines["backup"].metrics["write.bandwidth"] == ((pytest.approx(together, rel=1e-5),),)

    def test_a_pytest_run_of_the_suite_finds_it(self, place):
        place.take(MIXED)
        workload = load_suite(place.folder / "suites" / "lab.yaml").workloads[0]
        baseline, why = find(place.baselines, workload)
        assert (baseline, why) == (place.baselines["database"], "")

    def test_it_is_marked_as_imported_with_files_and_version(self, place):
        place.take(MIXED)
        (session,) = place.baselines["database"].sessions
        assert session.startswith("imported-")
        assert "reason: imported from fio-3.33.randrw70.json" in place.file.read_text()
        assert place.baselines["database"].environment.subject == {"fio": "fio-3.33"}
        assert not place.baselines["database"].published

    def test_with_a_source_it_is_marked_as_published(self, place):
        again = changed(MIXED, place.folder / "again.json", iops=4600.0)
        status, said = place.take(MIXED, again, "--source", "a report of 2026")
        assert status == 0 and "published figures" in said
        baseline = place.baselines["database"]
        assert baseline.published and baseline.source == "a report of 2026"
        assert baseline.metrics["read.iops"] == pytest.approx((4588.705647 + 4600) / 2, rel=1e-5)

    def test_several_outputs_of_a_workload_are_repetitions_of_one_session(self, place):
        again = changed(MIXED, place.folder / "again.json", iops=4600.0)
        place.take(MIXED, again)
        (row,) = place.baselines["database"].metrics["read.iops"]
        assert row == (pytest.approx(4588.71), 4600)

    def test_append_adds_a_session_and_the_same_files_only_once(self, place):
        again = changed(MIXED, place.folder / "again.json", iops=4600.0)
        place.take(MIXED)
        for _ in range(2):
            assert place.take(again, "--append")[0] == 0
        assert place.baselines["database"].metrics["read.iops"] == ((pytest.approx(4588.71),), (4600,))

    def test_figures_of_another_length_are_not_added_to_what_runtime_auto_chose(self, place):
        place.suite(SUITE.replace("runtime: 2", "runtime: auto"))
        output = tenfold(MIXED, place.folder / "long.json")
        assert place.take(output)[0] == 0
        known = place.baselines["database"]
        assert known.runtime == 20.0
        figures = {name: [1.001 * rows[0][0]] for name, rows in known.metrics.items()}
        measured = {"database": (known.definition, figures)}
        update(
            place.file,
            "orin",
            "lab",
            "s",
            Environment(),
            "",
            measured,
            "replace",
            runtimes={"database": 17.0},
        )
        before = place.file.read_bytes()
        status, said = place.take(output, "--append")
        assert status == 2
        assert "database is not appended: its repetitions lasted 20 s, 17 s in the baseline" in said
        assert place.file.read_bytes() == before

    @pytest.mark.parametrize("mode", ["--append", "--force"])
    def test_what_another_session_holds_already_is_not_appended(self, place, mode):
        again = changed(MIXED, place.folder / "again.json", iops=4600.0)
        third = changed(MIXED, place.folder / "third.json", iops=4610.0)
        place.take(MIXED, again)
        before = place.file.read_bytes()
        for files in ((MIXED, again, third), (again,), (third, MIXED)):
            status, said = place.take(*files, mode)
            assert status == 2 and "in imported-" in said and "already" in said
            assert "give each measurement once" in said
            assert place.file.read_bytes() == before
        assert place.take(MIXED, again, mode)[0] == 0  # the same files again: its own place
        assert place.take(third, mode)[0] == 0
        assert len(place.baselines["database"].sessions) == 2

    def test_what_is_appended_is_judged_and_a_regressed_one_needs_force(self, place):
        place.take(MIXED)
        known = place.baselines["database"]
        for factor in (1.001, 2.0):
            figures = {name: [factor * rows[0][0]] * 3 for name, rows in known.metrics.items()}
            for number in range(4):
                mode = "append" if number else "replace"
                measured = {"database": (known.definition, figures)}
                update(place.file, "orin", "lab", f"s{number}", Environment(), "", measured, mode)
            before = place.file.read_bytes()
            status, said = place.take(MIXED, "--append")
            if factor < 2:
                assert status == 0
                assert "database: pass: read.iops is 4.589 k IOPS against 4.593" in said
        assert status == 2
        assert "database: regressed: read.iops is 4.589 k IOPS against 9.177 k IOPS" in said
        assert "not appended: a regressed session would widen the baseline" in said
        assert "--force" in said
        assert place.file.read_bytes() == before
        status, said = place.take(MIXED, "--force")
        assert status == 0
        assert "database: regressed" in said
        assert len(place.baselines["database"].sessions) == 5

    def test_a_gain_beyond_doubt_needs_force(self, place):
        """The baseline would be two levels, with losses between them."""
        place.take(MIXED)
        known = place.baselines["database"]
        figures = {name: [0.8 * rows[0][0]] * 3 for name, rows in known.metrics.items()}
        for number in range(4):
            mode = "append" if number else "replace"
            measured = {"database": (known.definition, figures)}
            update(place.file, "orin", "lab", f"s{number}", Environment(), "", measured, mode)
        before = place.file.read_bytes()
        status, said = place.take(MIXED, "--append")
        assert status == 2
        assert "database: improved: read.iops is 4.589 k IOPS against 3.671 k IOPS, +25.0%" in said
        assert "would hide losses" in said and "begin anew: without --append; --force appends it" in said
        assert place.file.read_bytes() == before
        assert place.take(MIXED, "--force")[0] == 0

    def test_without_append_it_replaces_and_leaves_other_workloads(self, place):
        place.take(MIXED, GROUPED)
        status, said = place.take(changed(MIXED, place.folder / "again.json", iops=4600.0))
        assert status == 0 and "replaced" in said
        assert place.baselines["database"].metrics["read.iops"] == ((4600,),)
        assert "reads" in place.baselines

    def test_overrides_of_the_device_are_part_of_the_definition(self, place):
        place.device("overrides: {lab: {numjobs: 1}}")
        assert "numjobs is 2, and 1 in" in place.refused(CLONES)

    def test_a_suite_is_found_by_its_name(self, place, monkeypatch):
        monkeypatch.chdir(place.folder)
        assert main(["import", str(MIXED), "--device", "orin", "--suite", "lab"]) == 0
        assert "database" in place.baselines

    def test_a_link_of_the_project_to_baselines_of_another_one_is_not_written_through(
        self, place, monkeypatch
    ):
        """A stranger's clone may have it; whoever means it names the folder."""
        monkeypatch.chdir(place.folder)
        (place.folder / "baselines").rename(place.folder / "others")
        (place.folder / "clone/suites").mkdir(parents=True)
        (place.folder / "suites/lab.yaml").rename(place.folder / "clone/suites/lab.yaml")
        (place.folder / "clone/baselines").symlink_to("../others")
        words = ["import", str(MIXED), "--device", "orin", "--suite", "clone/suites/lab.yaml"]
        assert main(words) == 2
        assert "out of the project" in place.capsys.readouterr().err
        assert [path.name for path in (place.folder / "others/orin").iterdir()] == ["device.yaml"]
        assert main([*words, "--baselines", "others"]) == 0

    def test_what_the_output_does_not_say_is_told(self, place):
        place.suite("workloads: {mix: {rw: randrw, bs: 4k, iodepth: 8, numjobs: 2, size: 1G, runtime: 2}}")
        status, said = place.take(TEXT)
        assert status == 0
        assert "does not say size, direct, runtime" in said
        assert place.baselines["mix"].metrics["write.iops"][0][0] == pytest.approx(59363 / 2.004, rel=1e-4)


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("options", "told"),
        [
            ({"bs": "16k"}, "bs is 16k, and 8k in database"),
            ({"bs": None}, "bs is 4k, and 8k in database"),
            ({"iodepth": "4"}, "iodepth is 4, and 8 in database"),
            ({"direct": None}, "direct is 0, and 1 in database"),
            ({"direct": None, "buffered": "1"}, "direct is 0, and 1 in database"),
            ({"size": "1g"}, "size is 1G, and 64M in database"),
            ({"runtime": "60"}, "runtime is 60, and 2 in database"),
            ({"runtime": None}, "runtime is not given, and 2 in database"),
            ({"rw": "randread"}, "rw is randread, and randrw in database"),
            ({"ioengine": None}, "ioengine is psync, and libaio in database"),
            ({"rate": "10m"}, "rate is 10m, and not given in database"),
        ],
    )
    def test_a_contradiction_names_the_key(self, place, options, told):
        output = changed(MIXED, place.folder / "other.json", options)
        assert told in place.refused(output, "--workload", "database")

    @pytest.mark.parametrize(
        "options",
        [
            {"filename": "/dev/other", "description": "x", "write_bw_log": "y"},
            {"size": "65536k", "bs": "8192", "runtime": "2000ms"},
            {"rwmixread": None, "rwmixwrite": "30"},
        ],
    )
    def test_a_place_or_a_spelling_contradicts_nothing(self, place, options):
        assert place.take(changed(MIXED, place.folder / "other.json", options))[0] == 0

    def test_one_refused_file_keeps_all_out_and_all_reasons_are_told(self, place):
        other = changed(MIXED, place.folder / "other.json", {"bs": "16k"})
        more = changed(GROUPED, place.folder / "more.json", {"bs": "16k"})
        said = place.refused(MIXED, other, more)
        assert "other.json" in said and "more.json" in said

    def test_an_output_that_the_parser_refuses(self, place):
        said = place.refused(
            MIXED, DATA / "fio" / "fio-3.33.sigint.json", DATA / "fio" / "fio-3.33.enospc.json"
        )
        assert "aborted by signal 2" in said and "No space left" in said

    def test_a_results_file_is_no_output(self, place):
        said = place.refused(DATA / "results" / "results_before_repetitions.json")
        assert "is a results file of iogate, no output of an engine" in said
        assert "figures of pairs, taken by turns, never are one" in said

    def test_an_engine_that_was_stopped_by_turns_did_another_workload(self, place):
        sliced = {"runtime": "2110ms", "time_based": "1", "randseed": "42"}
        said = place.refused(changed(MIXED, place.folder / "slices.json", sliced), "--workload", "database")
        assert "runtime is 2.11" in said

    def test_figures_that_the_audit_does_not_believe(self, place):
        said = place.refused(changed(MIXED, place.folder / "short.json", short_ios=5000))
        assert "short_io: 5000 of 9182 read operations were short" in said

    def test_figures_faster_than_the_link_of_the_device(self, place):
        place.device("link: 1 MB/s")
        assert "link" in place.refused(MIXED)

    def test_jobs_that_ran_at_the_same_time(self, place):
        said = place.refused(DATA / "fio" / "fio-3.33.jobfile_75_25.json")
        assert "j4 ran beside j1, j2, j3" in said

    def test_jobs_that_were_reported_as_one_under_the_name_of_the_first(self, place):
        place.suite("workloads: {r: {rw: randread, bs: 8k, iodepth: 8, size: 64M, runtime: 2}}")
        output = changed(MIXED, place.folder / "other.json", {"rw": "randread", "rwmixread": None})
        assert "it wrote, and r does not" in place.refused(output)

    @pytest.mark.parametrize("output", [MIXED, TEXT])
    def test_the_section_of_a_job_file_is_a_definition_as_any_other(self, place, output):
        job = "[mix]\nrw=randrw\nrwmixread=70\nbs=8k\niodepth=8\nioengine=libaio\ndirect=1\n"
        (place.folder / "suites" / "their.fio").write_text(
            job + "size=64m\nruntime=2\ntime_based\n[other]\nsize=64m\n"
        )
        place.suite("workloads: {theirs: {jobfile: their.fio, section: mix}}")
        if output == MIXED:
            assert place.take(MIXED)[0] == 0
            assert list(place.baselines) == ["theirs"]
        else:
            assert "bs is 4k, and 8k in theirs" in place.refused(TEXT)
        place.file.unlink(missing_ok=True)
        place.suite("workloads: {theirs: {jobfile: their.fio}}")
        assert "several sections of a job file at once: theirs" in place.refused(output)

    def test_a_share_of_reads_that_is_not_the_declared_one(self, place):
        place.suite("workloads: {mix: {rw: randrw, rwmixread: 70, bs: 4k, iodepth: 8, numjobs: 2, size: 1G}}")
        assert "50% of it were reads, and rwmixread is 70 in mix" in place.refused(TEXT)

    def test_an_output_that_fits_several_workloads_needs_a_name(self, place):
        place.suite(SUITE + "  twin: {rw: randrw, rwmixread: 70, bs: 8k, iodepth: 8}\n")
        said = place.refused(MIXED)
        assert "fits several workloads: database, twin" in said and "--workload" in said
        assert place.take(MIXED, "--workload", "twin")[0] == 0
        assert list(place.baselines) == ["twin"]

    def test_a_gating_metric_that_is_missing(self, place):
        place.suite(SUITE.replace("iodepth: 8}", "iodepth: 8, gate: [read.clat.p99.5]}"))
        document = json.loads(MIXED.read_text())
        del document["jobs"][0]["read"]["clat_ns"]["percentile"]["99.500000"]
        path = place.folder / "other.json"
        path.write_text(json.dumps(document))
        assert "no read.clat.p99.5" in place.refused(path)

    def test_the_same_output_twice(self, place):
        copy = place.folder / "copy.json"
        copy.write_bytes(MIXED.read_bytes())
        assert "the same measurement" in place.refused(MIXED, copy)

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            ((MIXED, "--workload", "databse"), "did you mean"),
            ((MIXED, "--device", "../orin"), "cannot be the name of a device"),
            (("nothing.json",), "No such file"),
            (("/dev/null",), "no plain file"),
        ],
    )
    def test_wrong_use(self, place, arguments, told):
        files, rest = arguments[:1], arguments[1:]
        given = ["--suite", str(place.folder / "suites" / "lab.yaml"), "--device", "orin"]
        status = main(
            ["import", *map(str, files), *given, "--baselines", str(place.folder / "baselines"), *rest]
        )
        assert status == 2
        assert told in place.capsys.readouterr().err
        assert not place.file.exists()

    def test_an_unknown_device_says_how_to_describe_it(self, place):
        given = ["--suite", str(place.folder / "suites" / "lab.yaml"), "--device", "new"]
        assert main(["import", str(MIXED), *given, "--baselines", str(place.folder / "baselines")]) == 2
        assert "device.yaml" in place.capsys.readouterr().err

    def test_a_name_in_a_file_does_not_steer_the_terminal(self, place):
        text = MIXED.read_text().replace('"jobname" : "mix70"', '"jobname" : "\\u001b]0;owned\\u0007"')
        path = place.folder / "evil.json"
        path.write_text(text)
        status, said = place.take(path)
        assert status == 0 and "owned" in said
        assert "\x1b" not in said + place.file.read_text()


OPTIONS = st.dictionaries(
    st.sampled_from(["rw", "bs", "iodepth", "numjobs", "runtime", "direct", "rwmixread", "size", "rate"])
    | st.text(max_size=8),
    st.text(max_size=8) | st.integers().map(str),
)


def test_what_iogate_adds_to_a_job_file_contradicts_no_suite():
    assert "fio" not in stated_options({"rw": "read", "allow_file_create": "0"}, whole=True)


@pytest.mark.parametrize(("share", "kind"), [(100, "randread"), (0, "randwrite"), (70, "randrw")])
def test_an_output_of_a_mix_of_one_kind_is_one_of_that_kind(share, kind):
    """fio is told the kind; outputs of an older iogate state the mix."""
    mixed = stated_options({"rw": "randrw", "rwmixread": str(share)}, whole=False)
    assert effective(mixed)["rw"] == kind
    assert effective({"rw": kind, "name": "x"}) == {"rw": kind}


@given(OPTIONS, st.booleans())
def test_any_options_are_read_and_what_was_said_is_kept(options, whole):
    found = stated_options(options, whole=whole)
    for key in ("size", "runtime"):
        assert (key in found) == (key in options or (key == "runtime" and "timeout" in options))
    if whole:
        assert {"rw", "bs", "iodepth", "ioengine", "direct"} <= set(found)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_damage_to_the_figures_is_refused_or_leaves_positive_numbers(place, data):
    """What becomes a baseline is what a gate can divide by, whatever the file says."""
    document = json.loads(MIXED.read_text())
    side = document["jobs"][0][data.draw(st.sampled_from(["read", "write"]))]
    key = data.draw(st.sampled_from(sorted(side)))
    side[key] = data.draw(st.none() | st.integers(-10, 10**12) | st.floats() | st.text(max_size=3))
    path = place.folder / "damaged.json"
    path.write_text(json.dumps(document))
    place.file.unlink(missing_ok=True)
    status, _ = place.take(path)
    assert status in (0, 2)
    assert place.file.exists() == (status == 0)
    for row in place.baselines["database"].metrics.values() if status == 0 else ():
        assert all(value > 0 for session in row for value in session)
