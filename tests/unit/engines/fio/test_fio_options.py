"""fio's options in a suite: one spelling for one meaning, and nothing that leaves the target."""

import shutil
import subprocess
import time
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

import workloads
from iogate.declare.workload import declare_workload
from iogate.engines.fio.engine import engine
from iogate.engines.fio.job_file import job_file, section_name
from iogate.errors import EngineError, InputErrors, Position
from iogate.model import Place, Reads, Region, Steps
from iogate.units import parse_size
from workloads import declared

LEAST = {"rw": "randread", "size": "1G"}


workload = partial(declared, "fio", **LEAST)


def place(path, data="data"):
    return Place(path / data, path, path)


refused = partial(workloads.refused, "fio", **LEAST)


def test_defaults_are_filled_in():
    assert engine.options(LEAST) == {
        "rw": "randread", "size": "1G", "bs": "4k", "iodepth": 1, "numjobs": 1, "ioengine": "libaio",
        "direct": True, "ramp_time": 0, "startdelay": 0, "time_based": False, "group_reporting": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"size": "16Gb"}, {"size": 16 * 2**30}),
        ({"bs": 8192}, {"bs": "8K"}),
        ({"bs": "4096,65536"}, {"bs": "4k,64k"}),
        ({"rw": "readwrite"}, {"rw": "rw", "rwmixread": 50}),
        ({"runtime": "1m"}, {"runtime": 60.0}),
        ({"direct": 1}, {"direct": True}),
        ({"rwmixread": 70}, {}),
        ({"fio": {"randrepeat": False}}, {"fio": {"randrepeat": 0}}),
        ({"fio": {"randrepeat": "0"}}, {"fio": {"randrepeat": 0}}),
        ({"fio": {}}, {}),
    ],
)
def test_one_meaning_has_one_spelling(one, other):
    assert engine.options({**LEAST, **one}) == engine.options({**LEAST, **other})
    assert workload(**one).definition_hash == workload(**other).definition_hash


@pytest.mark.parametrize("name", ["randseed", "randrepeat", "allrandrepeat"])
def test_where_a_workload_trims_is_nobody_s_to_choose(name):
    """What a mix reads would be just what was trimmed."""
    engine.options({**LEAST, "rw": "randrw", "fio": {name: 1}})
    with pytest.raises(InputErrors, match="drawn anew each time"):
        engine.options({**LEAST, "rw": "randtrim", "fio": {name: 1}})


def test_normalising_twice_changes_nothing():
    given = {"rw": "randrw", "size": "1G", "runtime": "90s", "fio": {"norandommap": None, "randseed": 7}}
    once = engine.options(given)
    assert engine.options(once) == once


@pytest.mark.parametrize(
    ("given", "path", "reason"),
    [
        ({"rw": "reed"}, ("rw",), "not one of read, write"),
        ({"bs": "4q"}, ("bs",), "not a size"),
        ({"bs": 0}, ("bs",), "not a block size"),
        ({"ioengine": []}, ("ioengine",), "a list does no I/O on the target"),
        ({"size": "1k"}, ("size",), "less than one block"),
        ({"iodepth": 0}, ("iodepth",), "at least 1"),
        ({"numjobs": -1}, ("numjobs",), "at least 1"),
        ({"rw": "randrw", "rwmixread": 101}, ("rwmixread",), "at most 100"),
        ({"runtime": "soon"}, ("runtime",), "not a duration"),
        ({"runtime": 0}, ("runtime",), "greater than 0"),
        ({"time_based": True}, ("time_based",), "needs runtime"),
        ({"ioengine": "sg"}, ("ioengine",), "to the whole disk"),
        ({"ioengine": "net"}, ("ioengine",), "does no I/O on the target"),
        ({"ioengine": "nbd"}, ("ioengine",), "needs its uri"),
        ({"fio": {"rate_iops": 100}}, ("fio", "rate_iops"), "add runtime"),
        ({"fio": "randrepeat=0"}, ("fio",), "a mapping of keys"),
        ({"fio": {"loops": "0x10"}}, ("fio", "loops"), "loops: 0x10 is not a number"),
        ({"fio": {"loops": [1, 16]}}, ("fio", "loops"), "is not a number"),
        ({"fio": {"io_size": "0x10000000"}}, ("fio", "io_size"), "is not a size such as 16M, or 10%"),
        ({"fio": {"io_size": "16m,256m"}}, ("fio", "io_size"), "is not a size"),
        ({"fio": {"io_size": "16m", "io_limit": "1G"}}, ("fio", "io_limit"), "says the same as io_size"),
        ({"fio": {"offset": "64k", "fileoffset": "1M"}}, ("fio", "fileoffset"), "says the same as offset"),
        ({"blocksize": "4k"}, ("blocksize",), "said by 'bs'"),
        ({"io_depth": 4}, ("io_depth",), "did you mean 'iodepth'"),
    ],
)
def test_mistakes_are_told_with_their_place(given, path, reason):
    errors = refused(**given)
    assert [where for where, _ in errors] == [path]
    assert reason in errors[0][1]


def test_an_option_in_the_wrong_place_is_led_to_the_right_one():
    with pytest.raises(InputErrors, match="go under `fio:`"):
        engine.options({**LEAST, "norandommap": True})


class TestPageCache:
    @pytest.mark.parametrize("rw", ["write", "randwrite", "rw", "randrw", "trimwrite"])
    @pytest.mark.parametrize("ioengine", ["libaio", "io_uring", "psync", "mmap"])
    def test_buffered_writes_count_their_flush(self, tmp_path, rw, ioengine):
        found = workload(rw=rw, direct=False, ioengine=ioengine)
        assert "end_fsync=1" in job_file(found, place(tmp_path)).splitlines()
        assert (
            found.definition_hash
            == workload(rw=rw, direct=False, ioengine=ioengine, fio={"end_fsync": 1}).definition_hash
        )
        assert engine.options(found.options) == found.options

    @pytest.mark.parametrize(
        "given",
        [
            {"rw": "randwrite"},
            {"rw": "randread", "direct": False},
            {"rw": "randwrite", "direct": False, "cached": True},
            {"rw": "randwrite", "direct": False, "ioengine": "null"},
        ],
    )
    def test_others_do_not_and_their_definition_is_as_it_was(self, given):
        options = engine.options({**LEAST, **given})
        assert "fio" not in options
        assert ("cached" in options) == given.get("cached", False)

    def test_what_is_meant_to_be_read_from_the_cache_is_brought_there(self, tmp_path):
        found = workload(rw="randread", direct=False, cached=True)
        lines = job_file(found, place(tmp_path)).splitlines()
        assert "pre_read=1" in lines and not any(line.startswith("cached") for line in lines)
        assert engine.needs(found).cached and engine.options(found.options) == found.options

    def test_it_is_said_in_one_way(self):
        assert refused(cached=True) == [
            (("cached",), "cached: true is the page cache, direct: true goes past it")
        ]
        [(path, message)] = refused(rw="write", direct=False, fio={"end_fsync": 0})
        assert path == ("fio", "end_fsync") and "say cached: true" in message

    def test_a_mix_flushes_too(self, tmp_path):
        found = workload(rw="randrw", direct=False, mix={"readers": 1, "writers": 1})
        assert job_file(found, place(tmp_path)).splitlines().count("end_fsync=1") == 2

    def test_the_flush_of_all_data_on_a_slow_device_does_not_time_out(self, tmp_path):
        given = {"rw": "write", "size": "10G", "runtime": 5, "time_based": True}
        buffered = engine.command(workload(direct=False, **given), place(tmp_path)).timeout
        assert buffered - engine.command(workload(**given), place(tmp_path)).timeout == 1024


class TestHowLongItMayTake:
    """etcd's own test of a disk: 10,030 writes, which a disk that syncs 50 times a second takes 200 s for."""

    def test_what_ends_by_size_may_take_far_longer_as_long_as_the_device_moves_data(self, tmp_path):
        etcd = workload(rw="write", bs=2300, size="22m", ioengine="sync", direct=False, fio={"fdatasync": 1})
        found = engine.command(etcd, place(tmp_path))
        assert found.timeout < 100 and found.longest > 10_030 / 50

    def test_what_ends_by_time_may_not(self, tmp_path):
        timed = workload(rw="randread", size="4G", runtime=10, time_based=True)
        found = engine.command(timed, place(tmp_path))
        assert found.longest == found.timeout


def test_what_is_missing_is_told():
    with pytest.raises(InputErrors, match="'rw' is missing") as caught:
        engine.options({})
    assert len(caught.value.errors) == 2


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("filename", "target"),
        ("directory", "target"),
        ("opendir", "target"),
        ("replay_redirect", "target"),
        ("read_iolog", "trace"),
        ("output", "outside of the results folder"),
        ("output-format", "outside of the results folder"),
        ("include", "another job file"),
        ("profile", "replaces the options"),
        ("allow_mounted_write", "not for a suite to say"),
        ("allow_file_create", "not made anew below a mount that is gone"),
        ("unlink", "shared by workloads"),
        ("cgroup", "changes the system"),
        ("kb_base", "what sizes mean"),
        ("bs", "by 'bs' of the workload"),
        ("blocksize", "by 'bs' of the workload"),
        ("buffered", "by 'direct' of the workload"),
        ("rw", "by 'rw' of the workload"),
    ],
)
def test_options_that_leave_the_target_are_refused_with_the_reason(key, reason):
    [(path, message)] = refused(fio={key: "1"})
    assert path == ("fio", key)
    assert reason in message


COMMANDS = [
    ({"fio": {"exec_prerun": "1"}}, ("fio", "exec_prerun"), "it runs a command"),
    ({"fio": {"exec_postrun": "1"}}, ("fio", "exec_postrun"), "it runs a command"),
    ({"fio": {"write_iolog": "1"}}, ("fio", "write_iolog"), "outside of the results folder"),
    ({"fio": {"write_bw_log": "1"}}, ("fio", "write_bw_log"), "outside of the results folder"),
    ({"fio": {"write_hist_log": "1"}}, ("fio", "write_hist_log"), "outside of the results folder"),
    ({"fio": {"log_avg_msec": "1"}}, ("fio", "log_avg_msec"), "outside of the results folder"),
    ({"fio": {"aux-path": "1"}}, ("fio", "aux-path"), "outside of the results folder"),
    ({"fio": {"verify_state_save": "1"}}, ("fio", "verify_state_save"), "beside the target"),
    ({"fio": {"dp_scheme": "/etc/shadow"}}, ("fio", "dp_scheme"), "beside the target"),
    ({"ioengine": "exec"}, ("ioengine",), "it runs a command"),
    ({"ioengine": "external:/tmp/evil.so"}, ("ioengine",), "it loads code"),
    ({"rw": "randwrite", "ioengine": "nbd", "fio": {"uri": "nbd://disk"}}, ("fio", "uri"), "names what"),
    ({"rw": "rw", "ioengine": "nbd", "fio": {"uri": "nbd://disk"}}, ("fio", "uri"), "names what"),
    ({"rw": "trim", "ioengine": "nbd", "fio": {"uri": "nbd://disk"}}, ("fio", "uri"), "names what"),
    (
        {"ioengine": "nbd", "fio": {"uri": "nbd+ssh://-oProxyCommand=x/y"}},
        ("fio", "uri"),
        "run a program",
    ),
    ({"ioengine": "nbd", "fio": {"uri": ["nbd://disk", "nbds+ssh://x/y"]}}, ("fio", "uri"), "run a program"),
    ({"ioengine": "nbd", "fio": {"uri": "nbd+vsock://1"}}, ("fio", "uri"), "run a program"),
    ({"ioengine": "nbd", "fio": {"uri": None}}, ("fio", "uri"), "run a program"),
]


@pytest.mark.parametrize(("given", "path", "reason"), COMMANDS)
def test_what_runs_commands_or_leaves_the_target_is_told_apart(given, path, reason):
    [error] = engine.commands(engine.options({**LEAST, **given}))
    assert error.path == path
    assert reason in error.message
    assert "--io-allow-exec" in error.remedy


@pytest.mark.parametrize(("given", "path", "reason"), COMMANDS)
def test_it_is_refused_unless_the_user_agrees(given, path, reason):
    data, where = {**LEAST, **given}, Position("quick.yaml")
    with pytest.raises(InputErrors, match=reason) as caught:
        declare_workload("a", "quick", data, where, {})
    assert [error.path for error in caught.value.errors] == [path]
    assert declare_workload("a", "quick", data, where, {}, allow_exec=True).options == engine.options(data)


def test_what_runs_nothing_needs_no_agreement():
    for uri in ("nbd://disk", "nbds://disk:1/x", "nbd+unix:///?socket=/tmp/s", "nbds+unix:///x?socket=/s"):
        assert engine.commands(engine.options({**LEAST, "ioengine": "nbd", "fio": {"uri": uri}})) == []
    assert engine.commands(engine.options({**LEAST, "rw": "randwrite", "fio": {"norandommap": None}})) == []


@pytest.mark.parametrize("value", ["external:/a;b", "external:$HOME/x.so", "external:a\nexec_prerun=b"])
def test_an_ioengine_is_one_value(value):
    assert [path for path, _ in refused(ioengine=value)] == [("ioengine",)]


@pytest.mark.parametrize("key", ["a b", "a=b", "[other]", "x\ny", "include foo", "", "Randrepeat", "#x"])
def test_a_name_that_could_be_another_line_is_refused(key):
    [(path, _)] = refused(fio={key: 1})
    assert path == ("fio", key)


@pytest.mark.parametrize(
    "value",
    [
        *("0\nfilename=/dev/sda", "1 ; x", "#1", "${HOME}", "'/etc/shadow'", "a\x00b", "mmap:/dev/sda", " 1"),
        *("mmapshared:/x", "mmap,:/x", "mmapshared,x:/x", "mmaphuge, :/x", ["malloc", "mmap,:/x"]),
        *([], float("nan"), {"a": 1}, [[1]], [{}]),
        f"{'x' * 8179}exec_prerun=touch it-ran",
        f"1000{' ' * 8200}filename=/etc/shadow",
        "é" * 513,
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_value_that_could_be_something_else_is_refused(value):
    [(path, _)] = refused(fio={"mem": value})
    assert path == ("fio", "mem")


@pytest.mark.parametrize("key", ["verify_backlog", "verify_backlog_batch"])
def test_reading_again_between_the_writes_is_refused_as_fio_tells_no_rate_of_either(key):
    [(path, message)] = refused(fio={"verify": "crc32c", key: "1k"})
    assert path == ("fio", key) and "verify alone reads behind them" in message


_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)


@given(st.dictionaries(st.text(max_size=12), _SCALARS | st.lists(_SCALARS, max_size=3), max_size=4))
def test_no_pass_through_ever_adds_a_line_or_a_section(tmp_path_factory, passed):
    try:
        found = workload(fio=passed)
    except InputErrors:
        return
    lines = job_file(found, place(tmp_path_factory.getbasetemp())).splitlines()
    values = found.options.get("fio", {}).values()
    expected = sum(len(value) if isinstance(value, list) else 1 for value in values)
    plain = job_file(workload(), place(tmp_path_factory.getbasetemp())).splitlines()
    assert len(lines) == len(plain) + expected - ("percentile_list" in passed)
    assert sum(line.startswith("[") for line in lines) == 1
    assert sum(line.startswith("filename=") for line in lines) == 1


@given(st.text(min_size=1, max_size=50))
def test_any_name_makes_one_section(name):
    found = section_name(name)
    assert found and found.isprintable() and not set(found) & set("[];#\n$")


def test_no_name_makes_a_section_that_is_no_job():
    assert section_name("global_read[bs=4k]") == "_global_read_bs=4k_"
    assert len(section_name("global" + "a" * 200)) == 120  # fio keeps 127 of it and a number


def test_no_line_of_a_job_file_is_one_that_fio_cuts(tmp_path):
    long = "x" * 16_000
    text = job_file(workload(name=long), place(tmp_path))
    assert max(map(len, text.splitlines())) < 300
    with pytest.raises(EngineError, match="too long"):
        job_file(workload(), place(tmp_path, "/".join(["y" * 200] * 20)))
    assert refused(rw=f"read:{'0' * 9000}8")[0][0] == ("rw",)


def test_fio_reads_every_line_that_it_is_given_whole(tmp_path):
    """Real fio: what is refused here is an option of its own to fio."""
    program = shutil.which("fio")
    if not program:
        pytest.skip("needs fio")
    cut, whole = (f"[a]\nsize=1M\ndescription={'x' * length}bogus=1\n" for length in (8179, 1018))
    said = []
    for text in (cut, whole):
        (tmp_path / "job.fio").write_text(text)
        argv = [program, "--parse-only", "job.fio"]
        said.append(subprocess.run(argv, cwd=tmp_path, capture_output=True, check=False).returncode)
    assert said == [1, 0]


def test_the_job_file_says_everything_and_how_to_run_it_again(tmp_path):
    found = workload(
        name="randread[bs=8k]", bs="8k", iodepth=32, numjobs=8, runtime="1.5s", ramp_time=2, time_based=True,
        fio={"norandommap": None, "percentile_list": "50:99", "bssplit": ["4k/50:8k/50"]},
    )  # fmt: skip
    lines = job_file(found, place(tmp_path, "a:b")).splitlines()
    assert lines[0] == "# suite: randread[bs=8k]"
    assert "fio --output" in lines[2] and lines[2].startswith("#")
    assert lines[4:6] == ["[randread_bs=8k_]", f"filename={tmp_path}/a\\:b"]
    assert set(lines[6:]) == {
        "allow_file_create=0",
        "rw=randread", "size=1G", "bs=8k", "iodepth=32", "numjobs=8", "ioengine=libaio", "direct=1",
        "runtime=1500ms", "ramp_time=2", "startdelay=0", "time_based=1", "group_reporting=1",
        "norandommap", "percentile_list=50:99", "bssplit=4k/50:8k/50",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["a\nb", "a;b", "a#b", "$HOME", "it's", "back\\slash", "end "])
def test_a_path_that_a_job_file_cannot_hold_is_refused(tmp_path, name):
    with pytest.raises(EngineError, match="cannot be told the path"):
        job_file(workload(), place(tmp_path, name))


def test_switches_that_are_off_are_left_out(tmp_path):
    text = job_file(workload(group_reporting=False), place(tmp_path))
    assert "group_reporting" not in text and "time_based" not in text


@pytest.mark.parametrize(
    ("rw", "rwmixread", "reads", "writes"),
    [
        ("read", None, True, False),
        ("randread:8", None, True, False),
        ("write", None, False, True),
        ("randwrite", None, False, True),
        ("trim", None, False, True),
        ("randtrimwrite", None, False, True),
        ("randrw", 70, True, True),
        ("randrw", 100, True, False),
        ("rw", 0, False, True),
    ],
)
def test_needs_follow_the_pattern(rw, rwmixread, reads, writes):
    needs = engine.needs(workload(rw=rw, **({} if rwmixread is None else {"rwmixread": rwmixread})))
    assert (needs.reads, needs.writes) == (reads, writes)
    assert needs.trims == ("trim" in rw)
    assert (needs.size, needs.direct, needs.block, needs.target) == (2**30, True, 4096, True)


@pytest.mark.parametrize(
    ("rw", "rwmixread", "told"),
    [("randrw", 100, "randread"), ("rw:8", 100, "read:8"), ("randrw", 0, "randwrite"), ("rw", 0, "write")],
)
def test_a_mix_of_one_kind_is_told_as_that(tmp_path, rw, rwmixread, told):
    """Of a mix fio may do the other kind all the same."""
    lines = job_file(workload(rw=rw, rwmixread=rwmixread), place(tmp_path)).splitlines()
    assert f"rw={told}" in lines
    assert not any(line.startswith("rwmixread") for line in lines)


def test_the_time_of_a_run_with_a_runtime_is_the_sum_of_its_phases():
    assert engine.needs(workload(runtime=60, startdelay=60, ramp_time="500ms")).seconds == 120.5


def test_the_time_of_a_run_bound_by_size_is_that_of_a_slow_device():
    assert engine.needs(workload(rw="read", bs="1M")).seconds >= 1024 / 10
    assert engine.needs(workload(rw="randread", bs="4k")).seconds >= 2**18 / 100


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ({"rw": "write", "numjobs": 4}, 4 * 2**30),
        ({"rw": "read"}, 0),
        ({"rw": "write", "fio": {"loops": 2, "io_size": "1M"}}, 2**21),
        ({"rw": "write", "fio": {"io_size": "150%"}}, 3 * 2**29),
        ({"rw": "randrw", "rwmixread": 90, "fio": {"bssplit": "4k/100,1M/100"}}, 2**30),
        ({"rw": "randrw", "rwmixread": 90, "fio": {"bsrange": "4k-4k,4k-1M"}}, 2**30),
        ({"rw": "randrw", "rwmixread": 90, "fio": {"rate_iops": "100"}, "runtime": 5}, 2**30),
        ({"rw": "rw", "rwmixread": 90, "bs": "4k,64k", "fio": {"bs_is_seq_rand": "1"}}, 2**30),
        ({"rw": "write", "bs": "1M", "fio": {"io_size": "100k"}}, 2**20),
        ({"rw": "trimwrite"}, 2**30),
        ({"rw": "write", "runtime": 5}, 2**30),
        ({"rw": "write", "runtime": 5, "time_based": True}, None),
    ],
)
def test_the_bytes_that_a_run_writes_at_most(given, written):
    assert engine.needs(workload(**given)).written == written


@pytest.mark.parametrize(
    ("mix", "size", "share", "most"),
    [
        ({"rwmixread": 75}, "1G", 1 / 4, 1.02),
        ({"rwmixread": 90, "bs": "4k,36k"}, "1G", 1 / 2, 1.05),  # a share of I/Os, not of bytes
        ({"rwmixread": 50, "bs": "12k,4k,1M"}, "1G", 1 / 4, 1.02),
        ({"rwmixread": 95}, "4M", 1 / 20, 2.0),  # it is drawn, of few
        ({"rwmixread": 50}, "64k", 1, 1.0),
    ],
)
def test_of_a_mix_no_more_is_written_than_is_planned(mix, size, share, most):
    needs = engine.needs(workload(rw="randrw", size=size, **mix))
    assert share <= needs.written / needs.size <= share * most


def test_the_smallest_block_decides_about_alignment():
    assert engine.needs(workload(bs="8k,4k")).block == 4096
    assert engine.needs(workload(bs="8k", fio={"bssplit": "512/10:64k/90"})).block == 512


def test_data_behind_an_offset_is_laid_out_too():
    needs = engine.needs(workload(numjobs=4, fio={"offset": "1M", "offset_increment": "1G"}))
    assert needs.size == 2**30 + 2**20 + 3 * 2**30


@pytest.mark.parametrize(
    ("numjobs", "passed", "size"),
    [
        (1, {"offset": "50%"}, 2 * 2**30),
        (1, {"fileoffset": "75%"}, 4 * 2**30),
        (4, {"offset_increment": "25%"}, 4 * 2**30),
        (2, {"offset": "25%", "offset_increment": "25%"}, 2 * 2**30),
        (2, {"offset": "1G", "offset_increment": "50%"}, 4 * 2**30),
        (1, {"offset_increment": "100%"}, 2**30),
        (3, {"offset_increment": "33%"}, 3158064 * 1000),
    ],
)
def test_data_behind_an_offset_in_per_cent_are_laid_out_too(numjobs, passed, size):
    """fio would lengthen a file that is too short, which it may not."""
    assert engine.needs(workload(numjobs=numjobs, fio=passed)).size == pytest.approx(size, rel=1e-3)


@given(
    share=st.integers(1, 90),
    block=st.sampled_from(["4k", "12k", "128k", "1M"]),
    align=st.sampled_from([0, 1, 4]),
)
def test_data_behind_an_offset_in_per_cent_begin_at_a_block(share, block, align):
    """fio begins at the next one (get_start_offset), and may not lengthen the file by as much."""
    passed = {"offset": f"{share}%", **({"offset_align": f"{align}M"} if align else {})}
    whole = engine.needs(workload(size="32M", bs=block, fio=passed)).size
    step = align * 2**20 or parse_size(block)
    assert -(-(whole * share // 100) // step) * step + 32 * 2**20 <= whole


@pytest.mark.parametrize(
    ("numjobs", "passed", "key"),
    [(1, {"offset": "100%"}, "offset"), (3, {"offset_increment": "50%"}, "offset_increment")],
)
def test_an_offset_behind_the_data_is_refused(numjobs, passed, key):
    with pytest.raises(InputErrors, match=f"{key}: the last job would begin where the data end"):
        workload(numjobs=numjobs, fio=passed)


def test_who_reads_and_writes_has_data_of_its_own():
    """64k of data that another workload writes by 4k were read ten times more slowly beside it than alone,
    and what another compresses is read faster.
    """
    first, other = (engine.needs(declared("fio", name=name, rw="randrw", size="16M")).own for name in "ab")
    assert first and other and first != other


MIB = 2**20


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"rw": "randread"}, Reads((Region(0, 64 * MIB),))),
        ({"rw": "randread", "runtime": 1}, Reads((Region(0, 64 * MIB),))),
        ({"rw": "read"}, Reads((Region(0, 64 * MIB),))),
        ({"rw": "read", "runtime": 1}, Reads((Region(0, 64 * MIB),), in_order=True, longest=1)),
        ({"rw": "randread", "fio": {"offset": "448M"}}, Reads((Region(448 * MIB, 64 * MIB),))),
        (
            {"rw": "randread", "numjobs": 2, "fio": {"offset_increment": "64M"}},
            Reads((Region(0, 64 * MIB), Region(64 * MIB, 64 * MIB)), clones=2),
        ),
        ({"rw": "randread", "numjobs": 2}, Reads((Region(0, 64 * MIB),), clones=2)),
        (
            {"rw": "read", "fio": {"io_size": "4M"}},
            Reads((Region(0, 64 * MIB),), in_order=True, most=4 * MIB),
        ),
        (
            {"rw": "read", "fio": {"io_size": "25%"}},
            Reads((Region(0, 64 * MIB),), in_order=True, most=16 * MIB),
        ),
        (
            {"rw": "read", "bs": "4k", "fio": {"number_ios": "512"}},
            Reads((Region(0, 64 * MIB),), in_order=True, most=2 * MIB),
        ),
        (
            {"rw": "read:8k", "bs": "4k", "runtime": 1, "ramp_time": 2},
            Reads(
                (Region(0, 64 * MIB, steps=Steps(0, 12288, 4096)),),
                in_order=True,
                stride=3.0,
                ramp=2.0,
                longest=1,
            ),
        ),
        (
            {"rw": "randread", "fio": {"random_distribution": "zoned:90/25:10/75"}},
            Reads((Region(0, 16 * MIB, 90.0), Region(16 * MIB, 48 * MIB, 10.0))),
        ),
        ({"rw": "randread", "fio": {"random_distribution": "zipf:1.2"}}, Reads((Region(0, 64 * MIB),))),
        (
            {"rw": "randread", "fio": {"random_distribution": "zoned:90/25:10/"}},
            Reads((Region(0, 16 * MIB, 90.0), Region(16 * MIB, 48 * MIB, 10.0))),
        ),
        (
            {"rw": "randread", "fio": {"random_distribution": "zoned_abs:90/16m:10/48m"}},
            Reads((Region(0, 16 * MIB, 90.0), Region(16 * MIB, 48 * MIB, 10.0))),
        ),
        (
            {"rw": "randread", "runtime": 1, "fio": {"percentage_random": "0"}},
            Reads((Region(0, 64 * MIB),), in_order=True, longest=1),
        ),
        (
            {"rw": "read:-12k", "bs": "4k", "runtime": 1},
            Reads(
                (Region(0, 64 * MIB, steps=Steps(64 * MIB - 12288, 8192, 4096)),),
                in_order=True,
                stride=2.0,
                backwards=True,
                longest=1,
            ),
        ),
        (
            {"rw": "read:-8k", "bs": "4k", "runtime": 1},
            Reads((Region(0, 64 * MIB),), in_order=True, backwards=True, longest=1),
        ),
        (
            {"rw": "read:192k", "bs": "64k,4k", "runtime": 1},
            Reads(
                (Region(0, 64 * MIB, steps=Steps(0, 262144, 65536)),), in_order=True, stride=4.0, longest=1
            ),
        ),
        (
            {"rw": "randread", "bs": "4k", "fio": {"blockalign": "64k", "offset": "1M"}},
            Reads((Region(MIB, 64 * MIB, steps=Steps(MIB, 65536, 4096)),)),
        ),
        (
            {"rw": "randread", "fio": {"blockalign": "64k", "bssplit": "8k/50:4k/50"}},
            Reads((Region(0, 64 * MIB, steps=Steps(0, 65536, 4096)),)),
        ),
        (
            {"rw": "read:60k", "bs": "16k", "runtime": 1, "fio": {"bsrange": "4k-4k"}},
            Reads((Region(0, 64 * MIB, steps=Steps(0, 65536, 4096)),), in_order=True, stride=16.0, longest=1),
        ),
        (
            {"rw": "randread", "runtime": 1, "fio": {"percentage_random": "00", "blockalign": "64k"}},
            Reads((Region(0, 64 * MIB),), in_order=True, longest=1),
        ),
    ],
    ids=str,
)
def test_where_a_job_reads(options, expected):
    assert engine.reads(declared("fio", size="64M", **options)) == (expected,)


def test_four_thousand_clones_are_told_apart_in_no_time():
    """Thousands of such workloads took minutes to collect, as each clone's place was read from texts."""
    many = declared("fio", rw="randread", size="64M", numjobs=4096, fio={"offset_increment": "4k"})
    begun = time.process_time()
    needed = engine.needs(many)
    first = time.process_time() - begun
    begun = time.process_time()
    one = declared("fio", rw="randread", size="64M")
    for _ in range(100):
        engine.needs(one)
    assert needed.size == 64 * MIB + 4095 * 4096
    assert first < time.process_time() - begun + 0.01  # no more than a hundred of one
    regions = engine.reads(many)[0].regions
    assert len(regions) == 1025  # as many as can be looked at
    assert regions[-1].begin + regions[-1].length == needed.size


@pytest.mark.parametrize(
    ("options", "size", "offset"),
    [
        ({}, "64M", None),
        ({"fio": {"offset": "448M"}}, "64M", "448M"),
        ({"numjobs": 2, "fio": {"offset": "1M", "offset_increment": "64M"}}, "128M", "1M"),
        ({"fio": {"random_distribution": "zoned:90/25:10/75"}}, "64M", None),
    ],
    ids=str,
)
def test_what_is_brought_to_rest_is_where_the_workload_works(options, size, offset):
    """Behind an offset of 448M it was the first 64M, and the reads beyond stayed empty."""
    given = engine.options({"rw": "randread", "bs": "4k", "size": "64M", **options})
    for found in (engine.fill(given), engine.overwrite(given)):
        assert (found["size"], found.get("fio", {}).get("offset")) == (size, offset)


@pytest.mark.parametrize(
    ("passed", "astray"),
    [
        ({"offset": "50%"}, "an offset in per cent"),
        ({"offset": "32M"}, ""),
        ({"zonesize": "64k", "zoneskip": "192k"}, "a zonesize"),
        ({"zonesize": "64k", "zoneskip": "192k", "zonemode": "strided"}, "a zonesize"),
        ({"zonesize": "64k", "zonemode": "none"}, ""),
    ],
)
def test_what_leads_fio_elsewhere_on_a_device_is_named(passed, astray):
    workload = declared("fio", rw="randread", size="32M", bs="4k", fio=passed)
    assert engine.needs(workload).astray == astray


def test_where_sections_read_by_their_names_and_who_writes_reads_nowhere():
    sections = {
        "hot": {"rw": "randread", "size": "24M", "bs": "4k"},
        "log file": {"rw": "write", "size": "8M", "bs": "4k"},
    }
    options = {"jobs": {name: engine.options(each) for name, each in sections.items()}}
    workload = replace(declared("fio", rw="read", size="1M"), options=options)
    assert engine.reads(workload) == (Reads((Region(0, 24 * MIB),), name="hot"),)
    assert not engine.reads(declared("fio", rw="write", size="1M", fio={"verify": "crc32c"}))


@pytest.mark.parametrize("split", ["\u0663", "9" * 310, "4k/50:" + "1" * 20])
def test_a_split_that_is_no_size_is_no_traceback(split):
    engine.needs(declared("fio", rw="randread", size="64M", fio={"bssplit": split}))


def test_an_ioengine_of_another_place_needs_no_target():
    needs = engine.needs(workload(ioengine="nbd", fio={"uri": "nbd://localhost"}))
    assert (needs.target, needs.size) == (False, 0)


@pytest.mark.parametrize(
    ("given", "gating"),
    [
        ({"rw": "randread"}, ("read.iops",)),
        ({"rw": "write", "bs": "1M"}, ("write.bandwidth",)),
        ({"rw": "randrw", "bs": "64k"}, ("read.bandwidth", "write.bandwidth")),
        ({"rw": "randrw", "rwmixread": 100}, ("read.iops",)),
        ({"rw": "randread", "runtime": 9, "fio": {"rate_iops": 100}}, ("read.lat.mean",)),
    ],
)
def test_throughput_gates_unless_it_is_fixed(given, gating):
    assert engine.gating(workload(**given)) == gating


def fake_fio(folder, says):
    program = folder / "fio"
    program.write_text(f"#!/bin/sh\necho '{says}'\n")
    program.chmod(0o755)


def test_the_command_can_be_run_again_from_its_folder(tmp_path, monkeypatch):
    fake_fio(tmp_path, "fio-3.33")
    monkeypatch.setenv("PATH", str(tmp_path))
    command = engine.command(workload(runtime=60, startdelay=30), place(tmp_path))
    assert command.argv == (
        f"{tmp_path}/fio", "--output=output.json", "--output-format=json+", "--readonly", "job.fio",
    )  # fmt: skip
    writes = engine.command(workload(rw="randrw", rwmixread=70), place(tmp_path))
    assert "--readonly" not in writes.argv, "what reads alone cannot write"
    assert command.output == "output.json"
    assert list(command.files) == ["job.fio"]
    assert command.timeout > 90 + 30


@pytest.mark.parametrize(("says", "reason"), [("fio-2.21", "2.21 is too old"), ("hello", "does not say")])
def test_a_fio_that_does_not_serve_is_refused(tmp_path, monkeypatch, says, reason):
    fake_fio(tmp_path, says)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineError, match=reason):
        engine.prepare()


def test_a_missing_fio_is_told_with_its_package_and_checks_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineError, match="apt-get install fio"):
        engine.command(workload(), place(tmp_path))
    assert engine.check([workload()]) == []


def test_the_schema_for_editors_names_the_options():
    schema = engine.schema()
    assert {"rw", "bs", "size", "fio"} <= set(schema["properties"])
    assert schema["required"] == ["rw", "size"]
