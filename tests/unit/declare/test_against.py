"""`against` on a workload: the options of its base, checked where they stand."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from iogate.declare.json_schemas import suite_schema
from iogate.declare.overrides import Overrides
from iogate.declare.suite import load_suite
from iogate.errors import InputErrors

READS = "rw: randread, bs: 4k, size: 1G"


def load(tmp_path: Path, text: str, **options):
    path = tmp_path / "demo.yaml"
    path.write_text(text)
    return load_suite(path, name="demo.yaml", **options).workloads


def only(tmp_path, against, own=READS, **options):
    (workload,) = load(tmp_path, f"workloads:\n  one: {{{own}, against: {against}}}\n", **options)
    return workload


def mistakes(tmp_path, against, own=READS, **options):
    with pytest.raises(InputErrors) as caught:
        only(tmp_path, against, own, **options)
    return [str(error) for error in caught.value.errors]


def test_without_it_there_is_no_base(tmp_path):
    (workload,) = load(tmp_path, f"workloads:\n  one: {{{READS}}}\n")
    assert workload.against is None


def test_the_base_has_the_workloads_options_but_for_those_that_it_names(tmp_path):
    workload = only(tmp_path, "{ioengine: psync, bs: 8k}")
    differing = {key for key in workload.options if workload.options[key] != workload.against[key]}
    assert differing == {"ioengine", "bs"}
    assert (workload.against["ioengine"], workload.against["bs"]) == ("psync", "8k")
    assert workload.options["bs"] == "4k"


def test_nothing_takes_an_option_away(tmp_path):
    workload = only(tmp_path, "{runtime: null, time_based: null}", f"{READS}, runtime: 9, time_based: true")
    assert workload.options["runtime"] == 9
    assert "runtime" not in workload.against


def test_options_of_fio_itself_are_merged_and_taken_away_one_by_one(tmp_path):
    own = f"{READS}, fio: {{norandommap: 1, random_generator: lfsr}}"
    workload = only(tmp_path, "{fio: {norandommap: null, refill_buffers: 1}}", own)
    assert dict(workload.against["fio"]) == {"random_generator": "lfsr", "refill_buffers": "1"}
    assert set(workload.options["fio"]) == {"norandommap", "random_generator"}


def test_it_does_not_change_what_a_baseline_of_the_workload_depends_on(tmp_path):
    (plain,) = load(tmp_path, f"workloads:\n  one: {{{READS}}}\n")
    assert only(tmp_path, "{bs: 8k}").definition_hash == plain.definition_hash


def test_defaults_may_hold_it_and_each_point_of_a_matrix_has_it(tmp_path):
    text = f"defaults: {{{READS}, against: {{ioengine: psync}}}}\nworkloads:\n"
    workloads = load(tmp_path, f"{text}  one:\n  two: {{matrix: {{iodepth: [1, 2]}}}}\n")
    assert [workload.against["iodepth"] for workload in workloads] == [1, 1, 2]
    assert {workload.against["ioengine"] for workload in workloads} == {"psync"}


def test_what_the_command_line_and_the_profile_say_holds_for_both(tmp_path):
    profile = Overrides({"iodepth": 8})
    workload = only(tmp_path, "{bs: 8k}", cli_overrides={"size": "2G"}, overrides=profile)
    assert (workload.options["size"], workload.against["size"]) == ("2G", "2G")
    assert (workload.options["iodepth"], workload.against["iodepth"]) == (8, 8)


def test_the_base_may_do_less_where_that_does_not_decide(tmp_path):
    workload = only(tmp_path, "{rw: randread}", "rw: randrw, bs: 4k, size: 1G, gate: {read.iops: 5%}")
    assert workload.against["rw"] == "randread"


# ------------------------------------------------------------ mistakes


@pytest.mark.parametrize(
    ("against", "told"),
    [
        ("{}", "names no option that differs"),
        ("{bs: 4k}", "these are the workload's own options"),
        ("{bs: 4096}", "these are the workload's own options"),
        ("{engine: iozone}", "engine is no option of an engine"),
        ("{gate: {read.iops: 5%}}", "gate is no option of an engine"),
        ("{repetitions: 3}", "repetitions is no option of an engine"),
        ("{against: {bs: 8k}}", "against is no option of an engine"),
        ("psync", "against"),
        ("[psync]", "against"),
        ("{bs: large}", "bs: 'large' is not a size"),
        ("{ioengin: psync}", "unknown key 'ioengin'"),
        ("{rw: null}", "rw"),
        ("{rw: randwrite}", "the base has figures of write, and none of read"),
        ("{fio: {exec_prerun: reboot}}", "exec_prerun"),
        ("{fio: {filename: /dev/sda}}", "filename"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path, against, told):
    (message, *_) = mistakes(tmp_path, against)
    assert told in message, message
    assert re.match(r"demo\.yaml:2:\d+: ", message), message


def test_a_mistake_is_told_at_the_line_of_its_option(tmp_path):
    against = "    against:\n      bs: 8k\n      iodepht: 3\n"
    text = f"defaults: {{{READS}}}\nworkloads:\n  one:\n{against}"
    with pytest.raises(InputErrors) as caught:
        load(tmp_path, text)
    (error,) = caught.value.errors
    assert str(error).startswith("demo.yaml:6:7: unknown key 'iodepht'"), str(error)


def test_commands_are_refused_there_as_elsewhere_and_can_be_allowed(tmp_path):
    command = "{fio: {exec_prerun: 'sync'}}"
    (message,) = mistakes(tmp_path, command)
    assert "exec_prerun" in message and "--io-allow-exec" in message
    assert only(tmp_path, command, allow_exec=True).against["fio"]["exec_prerun"] == "sync"


@pytest.mark.parametrize(
    ("against", "sound"), [({"bs": "8k"}, True), (None, True), ("psync", False), ([], False)]
)
def test_editors_know_it(against, sound):
    suite = {"workloads": {"one": {"rw": "read", "size": "1G", "against": against}}}
    assert Draft202012Validator(suite_schema()).is_valid(json.loads(json.dumps(suite))) is sound
