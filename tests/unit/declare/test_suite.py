"""Suites: defaults, matrices and gates, expanded and checked before anything runs."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iogate.declare.overrides import Overrides, overrides_of
from iogate.declare.suite import Suite, load_suite
from iogate.errors import InputError, InputErrors, Position
from iogate.model import Device, Tolerance
from places import ROOT


def load(tmp_path: Path, text: str, **options) -> Suite:
    path = tmp_path / "demo.yaml"
    path.write_text(text)
    return load_suite(path, name="demo.yaml", **options)


def mistakes(tmp_path: Path, text: str, **options) -> list[str]:
    with pytest.raises(InputErrors) as caught:
        load(tmp_path, text, **options)
    return [str(error) for error in caught.value.errors]


def test_of_two_letters_one_may_be_wrong(tmp_path):
    said = mistakes(tmp_path, "workloads:\n  a: {rv: write, size: 1M}\n")
    assert any(one.startswith("demo.yaml:2:7: unknown key 'rv', did you mean 'rw'?") for one in said)


def test_an_option_of_fio_that_is_like_a_key_is_told_where_it_goes(tmp_path):
    (said,) = mistakes(tmp_path, "workloads:\n  a: {rw: read, size: 1M, rate: 1M}\n")
    assert said.endswith("did you mean 'gate'?\n  options of fio that are not named here go under `fio:`")


def test_a_mistake_that_is_made_often_is_told_each_time_and_its_remedy_once(tmp_path):
    workload = "{rw: write, size: 1M, fdatasync: 8}"
    with pytest.raises(InputErrors) as caught:
        load(tmp_path, f"workloads:\n  a: {workload}\n  b: {workload}\n")
    told = str(caught.value)
    assert "demo.yaml:2:28: unknown key 'fdatasync'\ndemo.yaml:3:28: unknown key 'fdatasync'\n" in told
    assert told.count("options of fio that are not named here go under `fio:`") == 1


def test_where_options_of_fio_go_that_are_no_keys_is_told(tmp_path):
    [told] = mistakes(tmp_path, "workloads:\n  a: {rw: write, size: 1M, fdatasync: 8}\n")
    assert (
        "unknown key 'fdatasync'" in told and "options of fio that are not named here go under `fio:`" in told
    )


def test_what_the_name_of_a_point_says_and_the_profile_changes_is_told(tmp_path):
    text = "workloads:\n  a: {rw: read, size: 4M, matrix: {iodepth: [1, 8]}}\n"
    one, eight = load(tmp_path, text, overrides=Overrides({"iodepth": 8})).workloads
    assert one.name == "a[iodepth=1]" and one.options["iodepth"] == 8
    assert one.notes == ("iodepth is 8, as profile or command line say, whatever the name says",)
    assert eight.notes == ()
    text = "workloads:\n  a: {rw: write, size: 4M, matrix: {fio: [{fsync: 1}, {fsync: 8}]}}\n"
    one, eight = load(tmp_path, text, overrides=Overrides({"fio": {"nice": 5, "fsync": 8}})).workloads
    assert one.notes == ("fio is fsync:8, as profile or command line say, whatever the name says",)
    assert eight.notes == ()


def test_a_workload_that_excludes_all_of_itself_is_refused(tmp_path):
    text = "workloads:\n  a: {rw: read, size: 4M, matrix: {bs: [4k, 8k]}, exclude: [{bs: 4k}, {bs: 8k}]}\n"
    assert mistakes(tmp_path, text) == ["demo.yaml:2:60: exclude leaves nothing of this workload"]


def test_a_marker_that_pytest_keeps_to_itself_is_refused(tmp_path):
    [mistake] = mistakes(tmp_path, "workloads:\n  a: {rw: read, size: 4M, markers: [_x]}\n")
    assert "'_x' is not a marker" in mistake


@pytest.mark.parametrize("marker", ["skip", "skipif", "xfail", "usefixtures"])
@pytest.mark.parametrize("where", ["defaults", "a"])
def test_a_marker_that_means_something_to_pytest_is_refused(tmp_path, marker, where):
    """It took a workload that regressed out of a strict run, or let it fail as if that was expected."""
    words = f"{marker!r} means something to pytest"
    said = {"defaults": "", "a": "", where: f", markers: [{marker}]"}
    text = f"defaults: {{rw: read{said['defaults']}}}\nworkloads:\n  a: {{size: 4M{said['a']}}}\n"
    [mistake] = mistakes(tmp_path, text)
    assert words in mistake and mistake.startswith(f"demo.yaml:{1 if where == 'defaults' else 3}:")


def test_defaults_hold_unless_a_workload_says_otherwise(tmp_path):
    suite = load(
        tmp_path,
        """
        defaults: {rw: randread, bs: 4k, size: 1G, gate: {read.iops: 5%}, markers: [a]}
        workloads:
          one:
          two: {bs: 64k, gate: {read.clat.p99: 10%}, markers: [b]}
        """,
    )
    one, two = suite.workloads
    assert (one.options["bs"], two.options["bs"]) == ("4k", "64k")
    assert set(two.gate) == {"read.iops", "read.clat.p99"}
    assert (one.markers, two.markers) == (("a",), ("b",))


SYNCED = """
    defaults: {rw: write, bs: 4k, size: 1G, fio: {norandommap: 1}, gate: [write.iops, write.clat.p99]}
    workloads: {log: {fio: {fsync: 1}, gate: {write.iops: 5%}}}
"""


def test_what_one_place_adds_takes_nothing_away_that_another_says(tmp_path):
    (log,) = load(tmp_path, SYNCED).workloads
    assert log.options["fio"] == {"norandommap": "1", "fsync": "1"}
    assert log.gate == {"write.iops": Tolerance(0.05), "write.clat.p99": Tolerance()}
    text = SYNCED.replace("gate: {write", "matrix: {fio: [{thread: 1}, {fsync: 8}]}, gate: {write")
    assert [one.options["fio"] for one in load(tmp_path, text).workloads] == [
        {"norandommap": "1", "fsync": "1", "thread": "1"},
        {"norandommap": "1", "fsync": "8"},
    ]


def test_what_a_profile_adds_takes_nothing_away_that_a_suite_says(tmp_path):
    own = {"*": {"fio": {"nice": -5}, "waive": {"short_run": "so it is"}}, "demo": {"fio": {"thread": 1}}}
    gated = {**own, "demo": {**own["demo"], "gate": {"write.iops": "20%"}}}
    overrides = overrides_of(Device("lab", target="/data", overrides=gated), "demo")
    (log,) = load(tmp_path, SYNCED, overrides=overrides).workloads
    assert log.options["fio"] == {"norandommap": "1", "fsync": "1", "nice": "-5", "thread": "1"}
    assert log.gate == {"write.iops": Tolerance(0.2), "write.clat.p99": Tolerance()}
    assert log.waive == {"short_run": "so it is"}


@pytest.mark.parametrize("key, value", [("matrix", {"bs": ["4k", "8k"]}), ("exclude", [{"bs": "4k"}])])
def test_a_profile_makes_no_workloads(tmp_path, key, value):
    overrides = Overrides({key: value}, {(key,): Position("device.yaml", 3, 10)})
    text = "workloads:\n  a: {rw: read, size: 1G, matrix: {bs: [4k]}}\n"
    (message,) = mistakes(tmp_path, text, overrides=overrides)
    assert message.startswith(f"device.yaml:3:10: {key} makes workloads in a suite, and does nothing in")


def test_a_mistake_beside_what_a_profile_adds_is_told_where_it_stands(tmp_path):
    overrides = Overrides({"fio": {"nice": -5}}, {("fio",): Position("device.yaml", 3, 10)})
    text = "workloads:\n  a: {rw: read, bs: 4k, size: 1G, fio: {filename: /x}}\n"
    (message,) = mistakes(tmp_path, text, overrides=overrides)
    assert message.startswith("demo.yaml:2:")


def test_a_reason_why_a_finding_does_not_count_is_one_line(tmp_path):
    text = 'workloads: {w: {rw: read, size: 1M, waive: {hot: "a\\n::error::b\\n"}}}'
    assert load(tmp_path, text.replace("hot", "blank_blocks")).workloads[0].waive == {
        "blank_blocks": "a ?:error::b"
    }


def test_a_matrix_is_the_product_of_its_values_less_what_is_excluded(tmp_path):
    suite = load(
        tmp_path,
        """
        workloads:
          randread:
            rw: randread
            size: 1G
            matrix: {bs: [4k, 16k], iodepth: [1, 32]}
            exclude: [{bs: 16k, iodepth: 1}]
        """,
    )
    names = [workload.name for workload in suite.workloads]
    assert names == [
        "randread[bs=4k,iodepth=1]",
        "randread[bs=4k,iodepth=32]",
        "randread[bs=16k,iodepth=32]",
    ]
    assert suite.workloads[2].options["iodepth"] == 32


@pytest.mark.parametrize(
    ("written", "metric", "expected"),
    [
        ("5%", "read.iops", Tolerance(0.05)),
        ("0.05", "read.iops", Tolerance(0.05)),
        ("~", "read.iops", Tolerance()),
        ("[-5%, 10%]", "read.iops", Tolerance(0.05, 0.10)),
        ("[-5%, 10%]", "read.clat.p99", Tolerance(0.10, 0.05)),
        ("[-5%, ~]", "read.iops", Tolerance(0.05, None)),
        ("150%", "read.clat.p99", Tolerance(1.5)),
    ],
)
def test_a_tolerance_is_one_bound_or_two(tmp_path, written, metric, expected):
    text = f"workloads: {{a: {{rw: read, bs: 1M, size: 1G, gate: {{{metric}: {written}}}}}}}"
    assert load(tmp_path, text).workloads[0].gate == {metric: expected}


ONE_TOLERANCE = """
    defaults: {size: 1G, gate: 5%}
    workloads:
      reads: {rw: randread, bs: 4k}
      writes: {rw: write, bs: 1M, gate: {write.clat.p99: 25%}}
      mixed: {rw: randrw, bs: 4k, gate: {read.iops: 3%}}
      paced: {rw: read, bs: 4k, runtime: 5, fio: {rate: 1M}}
"""


def test_a_gate_may_be_one_tolerance_of_what_the_engine_chooses(tmp_path):
    reads, writes, mixed, paced = load(tmp_path, ONE_TOLERANCE).workloads
    assert reads.gate == {"read.iops": Tolerance(0.05)}
    assert writes.gate == {"write.bandwidth": Tolerance(0.05), "write.clat.p99": Tolerance(0.25)}
    assert mixed.gate == {"read.iops": Tolerance(0.03), "write.iops": Tolerance(0.05)}
    assert paced.gate == {"read.lat.mean": Tolerance(0.05)}


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("120%", "a tolerance is above 0% and below 100%"),
        ("read.iops", r"a list of metrics is written \[read.iops\]"),
        ("{default: [-5%, 10%]}", "a pair needs the name of its metric"),
        ("true", "gate is one tolerance, a mapping of metrics to tolerances, or a list of metrics"),
    ],
)
def test_what_is_no_tolerance_of_all_is_refused(tmp_path, written, why):
    with pytest.raises(InputErrors, match=why):
        load(tmp_path, f"workloads: {{a: {{rw: read, bs: 1M, size: 1G, gate: {written}}}}}")


def test_a_gate_may_be_a_list_of_metrics(tmp_path):
    text = "workloads: {a: {rw: read, bs: 1M, size: 1G, gate: [read.iops]}}"
    assert load(tmp_path, text).workloads[0].gate == {"read.iops": Tolerance()}


@pytest.mark.parametrize(
    "written", ["5", "0%", "100%", "-5%", "[1%]", "[5%, 10%]", "[-5%, -1%]", "fast", "true"]
)
def test_a_tolerance_that_says_nothing_is_refused(tmp_path, written):
    text = f"workloads: {{a: {{rw: read, bs: 1M, size: 1G, gate: {{read.iops: {written}}}}}}}"
    (message,) = mistakes(tmp_path, text)
    assert message.startswith("demo.yaml:1:")
    assert "read.iops" in message


@pytest.mark.parametrize("written", ["25", "1.5", "-150%", "0%"])
def test_a_tolerance_of_a_latency_may_be_more_than_all_and_is_in_per_cent_then(tmp_path, written):
    """A plain 25 is rather meant as 25%."""
    text = f"workloads: {{a: {{rw: read, bs: 1M, size: 1G, gate: {{read.clat.p99: {written}}}}}}}"
    (message,) = mistakes(tmp_path, text)
    assert "could mean a percentage or a multiple" in message or "above 0%" in message


@pytest.mark.parametrize(
    ("metric", "written", "side"),
    [
        ("read.iops", "[0, 10%]", "lower"),
        ("read.iops", "[-0%, ~]", "lower"),
        ("read.lat.mean", "[-10%, 0]", "upper"),
    ],
)
def test_a_pair_that_tolerates_no_loss_is_refused_where_it_stands(tmp_path, metric, written, side):
    text = f"workloads:\n  a:\n    rw: read\n    bs: 1M\n    size: 1G\n    gate: {{{metric}: {written}}}\n"
    (message,) = mistakes(tmp_path, text)
    assert message.startswith("demo.yaml:6:11: gate: ")
    assert f"{metric}: 0 as the {side} bound" in message


def test_the_better_side_of_a_pair_may_be_nothing(tmp_path):
    text = "workloads: {a: {rw: read, bs: 1M, size: 1G, gate: {read.iops: [-5%, 0]}}}"
    assert load(tmp_path, text).workloads[0].gate == {"read.iops": Tolerance(0.05, 0.0)}


@pytest.mark.parametrize("name", ["read.lat", "write.clat", "lat", "threads_4.read.lat"])
def test_a_latency_is_many_figures(tmp_path, name):
    """It was measured, and found to be missing then."""
    text = f"workloads: {{a: {{rw: randread, bs: 4k, size: 1G, gate: {{{name}: 10%}}}}}}"
    (message,) = mistakes(tmp_path, text)
    assert f"{name} is many figures: say which, such as {name}.mean or {name}.p99" in message


def test_what_is_nothing_where_all_is_well_is_no_gate(tmp_path):
    text = "workloads: {a: {engine: reader, rw: read, bs: 1M, size: 1G, gate: [serial_fraction]}}"
    (message,) = mistakes(tmp_path, text)
    assert message.startswith("demo.yaml:1:")
    assert "serial_fraction is 0 where scaling is perfect" in message and "threads_8.efficiency" in message


@pytest.mark.parametrize(
    ("rw", "gate"), [("randwrite", "read.iops"), ("read", "write.lat.p99"), ("read", "trim.iops")]
)
def test_figures_of_what_a_workload_does_not_do_do_not_decide(tmp_path, rw, gate):
    """Found only once it had measured, and written, and `defaults` make it of all workloads of a suite."""
    text = f"defaults: {{engine: fio, bs: 4k, size: 1G, gate: [{gate}]}}\nworkloads: {{a: {{rw: {rw}}}}}"
    (message,) = mistakes(tmp_path, text)
    assert f"1:49: {gate} cannot decide on a, which only {'writes' if 'write' in rw else 'reads'}" in message
    assert load(tmp_path, text.replace(f"rw: {rw}", "rw: trimwrite" if "trim" in gate else "rw: randrw"))


def test_a_mistake_in_a_matrix_points_at_its_value(tmp_path):
    text = "workloads:\n  a:\n    rw: read\n    size: 1G\n    matrix:\n      bs: [4k, 5z]\n"
    (message,) = mistakes(tmp_path, text)
    assert message.startswith("demo.yaml:6:16: bs: '5z'")


def test_defaults_that_do_not_suit_the_engine_of_a_workload_name_it(tmp_path):
    """Else it reads as if fio, for which the defaults are meant, did not know its own options."""
    text = (
        "defaults: {rw: read, bs: 4k, size: 1G, ioengine: libaio, runtime: 10}\n"
        "workloads:\n  a: {}\n  b: {engine: reader}\n"
    )
    said = "\n".join(mistakes(tmp_path, text))
    where = "(defaults, as they stand for 'b' with engine: reader)"
    assert f"1:50: ioengine: must be 'pread' or 'io_uring', not 'libaio' {where}" in said
    assert f"1:58: unknown key 'runtime' {where}" in said


def test_a_mistake_in_the_defaults_is_told_once(tmp_path):
    text = "defaults: {bs: 4q}\nworkloads:\n  a: {rw: read, size: 1G}\n  b: {rw: read, size: 1G}\n"
    (message,) = mistakes(tmp_path, text)
    assert message.startswith("demo.yaml:1:16")


def test_points_and_exclusions_that_would_take_minutes_are_refused(tmp_path, monkeypatch):
    """In one workload, or in many that have them from the defaults."""
    # a tenth takes a tenth of the time
    monkeypatch.setattr("iogate.declare.suite._MOST_COMPARISONS", 2_000_000)
    matrix = ", ".join(f"k{key}: [{', '.join(map(str, range(6)))}]" for key in range(5))
    exclude = ", ".join(f"{{k0: {number}}}" for number in range(100, 130))
    for count, refused in ((1, False), (9, True)):
        names = "".join(f"  a{number}:\n" for number in range(count))
        text = f"defaults: {{rw: read, matrix: {{{matrix}}}, exclude: [{exclude}]}}\nworkloads:\n{names}"
        found = mistakes(tmp_path, text)
        assert ("more points and exclusions than can be meant" in found[-1]) is refused


@pytest.mark.parametrize("many", ["list", "job file"])
def test_options_that_would_take_all_memory_are_refused(tmp_path, monkeypatch, many):
    """Each workload has a copy of what the defaults and job files say: 200 KB took 12 GB."""
    # a fortieth takes a fortieth of the time
    monkeypatch.setattr("iogate.declare.suite._MOST_VALUES", 100_000)
    listed = f"fio: {{zz: [{','.join(['1'] * 5_000)}]}}"
    job = "".join(f"zz{number}=1\n" for number in range(225))
    job += "".join(f"[a{number}]\n" for number in range(25))
    (tmp_path / "j.fio").write_text(f"[global]\nrw=read\nsize=1M\n{job}")
    defaults = f"rw: read, size: 1G, {listed}" if many == "list" else "jobfile: j.fio"
    for count, refused in ((1, False), (25, True)):
        names = "".join(f"  a{number}:\n" for number in range(count))
        text = f"defaults: {{{defaults}}}\nworkloads:\n{names}"
        said = mistakes(tmp_path, text)[-1] if refused else str(load(tmp_path, text) and "")
        assert ("more options, with defaults and job files, than can be meant" in said) is refused


def test_a_value_of_a_matrix_that_is_too_long_for_a_name_is_refused(tmp_path):
    """Each point has it in its name: of 1 MB 50,000 took the machine's memory."""
    text = "workloads:\n  a: {{rw: read, size: 1G, matrix: {{waive: [{{others_io: {}}}]}}}}\n".format
    assert load(tmp_path, text("x" * 250)).workloads
    (said,) = mistakes(tmp_path, text("x" * 300))
    assert ":2:44: matrix: this value of waive is too long for a name" in said


def test_a_long_axis_of_a_matrix_is_no_mass_of_options(tmp_path):
    axis = ", ".join(map(str, range(1, 2001)))
    text = f"workloads:\n  a: {{rw: read, size: 1G, matrix: {{iodepth: [{axis}]}}}}\n"
    assert len(load(tmp_path, text).workloads) == 2000


def test_of_many_mistakes_so_many_are_told_as_a_person_reads(tmp_path):
    keys = ", ".join(f"k{number}: 1" for number in range(150))
    found = mistakes(tmp_path, f"workloads:\n  a: {{rw: read, size: 1M, {keys}}}\n")
    assert len(found) <= 102 and "50 more mistakes are not shown" in found[-1]
    keys = ", ".join(f"k{number}: 1" for number in range(20_000))
    (only,) = mistakes(tmp_path, f"workloads:\n  a: {{rw: read, size: 1M, {keys}}}\n")
    assert "20000 mistakes: this is something else" in only
    text = "workloads:\n" + "".join(f"  a{number}: {{rw: read}}\n" for number in range(2000))
    found = mistakes(tmp_path, text)
    assert len(found) <= 102 and "what else is wrong is not shown" in found[-1]
    keys = ", ".join(f"include{number}: 1" for number in range(500))
    found = mistakes(tmp_path, f"workloads:\n  a: {{rw: read, size: 1M, fio: {{{keys}, filename: /x}}}}\n")
    assert len(found) == 100


def test_a_mistake_of_the_profile_is_told_as_such(tmp_path):
    text = "workloads:\n  a: {rw: read, bs: 4k, size: 1G}\n"
    overrides = Overrides({"bs": "4q"}, {("bs",): Position("device.yaml", 3, 10)})
    (message,) = mistakes(tmp_path, text, overrides=overrides)
    assert message.startswith("device.yaml:3:10: bs: '4q' is not a size")
    assert "device's profile" in message


def test_shared_keys_and_options_of_the_engine_are_told_at_once(tmp_path):
    text = "workloads:\n  a: {rw: reed, size: 1G, gate: true, repetitions: no, iodpeth: 4}\n  b: {rw: read}\n"
    said = "\n".join(mistakes(tmp_path, text))
    for words in (
        "rw: 'reed'",
        "gate is one tolerance",
        "repetitions: must be",
        "'iodepth'?",
        "'size' is missing",
    ):
        assert said.count(words) == 1, said


def test_a_mistake_of_the_command_line_is_told_as_such(tmp_path):
    text = "workloads:\n  a: {rw: read, bs: 4k, size: 1G}\n"
    (message,) = mistakes(tmp_path, text, cli_overrides={"size": "512"})
    assert message.startswith("--io-size=512: does not fit demo.yaml:2: a: ")


def test_the_command_line_replaces_size_and_runtime(tmp_path):
    text = "workloads: {a: {rw: read, bs: 4k, size: 16G, runtime: 60}}"
    options = load(tmp_path, text, cli_overrides={"size": "64M", "runtime": 1.0}).workloads[0].options
    assert (options["size"], float(options["runtime"])) == ("64M", 1.0)


def test_a_runtime_of_the_command_line_replaces_the_automatic_one(tmp_path):
    text = "workloads:\n  a: {rw: read, size: 4G, runtime: %s}\n"
    (automatic,) = load(tmp_path, text % "auto", cli_overrides={"runtime": 2.0}).workloads
    (fixed,) = load(tmp_path, text % "5, time_based: true", cli_overrides={"runtime": 2.0}).workloads
    assert automatic.definition == fixed.definition
    assert automatic.procedure == {}


def test_a_shorter_run_rests_no_longer_than_it_runs(tmp_path):
    text = "workloads: {a: {rw: read, bs: 4k, size: 16G, runtime: 60, startdelay: 60}}"
    options = load(tmp_path, text, cli_overrides={"runtime": 2.0}).workloads[0].options
    assert (float(options["runtime"]), float(options["startdelay"])) == (2.0, 2.0)
    longer = load(tmp_path, text, cli_overrides={"runtime": 90.0}).workloads[0].options
    assert float(longer["startdelay"]) == 60.0


def test_the_definition_depends_on_what_is_measured_and_not_on_how_it_is_judged(tmp_path):
    def hashed(declaration: str) -> str:
        return load(tmp_path, f"workloads: {{a: {{{declaration}}}}}").workloads[0].definition_hash

    plain = hashed("rw: read, bs: 4k, size: 1G")
    assert plain == hashed("size: 1G, bs: 4096, rw: read, gate: {read.iops: 5%}, markers: [m]")
    assert plain != hashed("rw: read, bs: 4k, size: 1G, iodepth: 2")


def test_a_million_workloads_are_not_made_by_mistake(tmp_path):
    axis = ", ".join(str(n) for n in range(1, 101))
    matrix = f"{{iodepth: [{axis}], numjobs: [{axis}], size: [{axis}]}}"
    text = f"workloads: {{a: {{rw: read, bs: 4k, matrix: {matrix}}}}}"
    (message,) = mistakes(tmp_path, text)
    assert "1000000 workloads" in message


def test_names_and_labels_carry_nothing_dangerous(tmp_path):
    text = 'workloads: {a: {rw: read, size: 1G, matrix: {bs: ["4k"], description2: ["a]b::c\\e[0m"]}}}'
    with pytest.raises(InputErrors) as caught:
        load(tmp_path, text)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "suites").glob("*.yaml")))
def test_shipped_suites_load_and_say_what_they_are_for(name):
    suite = load_suite(ROOT / "suites" / name)
    assert suite.description
    assert suite.workloads
    assert all(workload.description for workload in suite.workloads)


def test_acceptance_has_the_jobs_that_littles_law_shows_in_the_published_report():
    workloads = {
        item.name: item.options for item in load_suite(ROOT / "suites" / "acceptance.yaml").workloads
    }
    in_flight = {name: options["iodepth"] * options["numjobs"] for name, options in workloads.items()}
    assert in_flight["sequential_read"] == 64
    assert in_flight["random_read_64k"] == 128
    assert in_flight["random_read_8k"] == in_flight["random_read_4k"] == 256


SHIPPED = (ROOT / "suites" / "quick.yaml").read_text()


@pytest.mark.parametrize("start", ["", "\ufeff"], ids=["", "byte order mark"])
def test_a_suite_cut_anywhere_gives_a_suite_or_a_told_mistake(tmp_path, start):
    for cut in range(0, len(SHIPPED), 3):
        try:
            load(tmp_path, start + SHIPPED[:cut])
        except InputError as error:
            assert "demo.yaml" in str(error)


@given(
    place=st.integers(0, len(SHIPPED) - 1),
    text=st.text("[]{}:-,.&*'\"!|>%@` \n\t0123456789eansx~", max_size=4),
)
@settings(max_examples=200)
def test_a_changed_suite_gives_a_suite_or_a_told_mistake(tmp_path_factory, place, text):
    path = tmp_path_factory.getbasetemp() / "changed.yaml"
    path.write_text(SHIPPED[:place] + text + SHIPPED[place + 1 :])
    try:
        load_suite(path)
    except InputError as error:
        assert str(path) in str(error)


@pytest.mark.parametrize("line", sorted(set(re.findall(r"^ +[a-z_]+: \S.*$", SHIPPED, re.MULTILINE))))
def test_a_key_that_is_given_twice_is_a_mistake(tmp_path, line):
    messages = mistakes_of(tmp_path, SHIPPED.replace(f"{line}\n", f"{line}\n{line}\n", 1))
    assert line.split(":")[0].strip() in messages and "twice" in messages


def mistakes_of(tmp_path: Path, text: str) -> str:
    with pytest.raises(InputError) as caught:
        load(tmp_path, text)
    return str(caught.value)


_junk = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("abk4% {}[]:&*!", max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["rw", "bs", "size", "gate", "matrix", "engine", "fio", "x"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)


@given(workload=_junk, defaults=_junk)
def test_any_shape_gives_a_suite_or_a_told_mistake(tmp_path_factory, workload, defaults):
    import yaml

    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_text(yaml.safe_dump({"defaults": defaults, "workloads": {"a": workload}}))
    try:
        assert load_suite(path).workloads
    except InputError as error:
        assert str(error).startswith(f"{path}:")


def test_two_workloads_of_one_name_are_told(tmp_path):
    text = "workloads:\n  a: {rw: read, size: 1M, matrix: {fio: [{mem: a b}, {mem: a_b}]}}\n"
    with pytest.raises(InputErrors, match=r"2:\d+: two workloads would be called 'a\[fio=mem:a_b\]'"):
        load(tmp_path, text)
