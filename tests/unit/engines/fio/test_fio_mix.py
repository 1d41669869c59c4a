"""Several jobs in one fio workload: readers and writers of a mix, and the sections of a job file."""

import os
import re
from functools import partial
from typing import ClassVar

import pytest

from iogate import engines
from iogate.declare.suite import load_suite
from iogate.errors import InputErrors
from iogate.model import Place
from workloads import declared

FIO = engines.load("fio")
MIB = 2**20

PUBLISHED = """\
[global]                    ; Common params for all jobs
ioengine=libaio
numjobs=1
direct=1
fsync=0

[j1]                        ; Job 1. Performs parallel random reads.
rw=randread
size=128m                   ; 512MB/4 = 128MB.

[j2]
rw=randread
size=128m

# the writer
[j4]
readwrite=randwrite
size=128m
blocksize=16k
offset=384m
"""


workload = partial(declared, "fio")


@pytest.fixture
def job_file(tmp_path, monkeypatch):
    """Makes the job file of a workload, section by section."""
    program = tmp_path / "fio"
    program.write_text("#!/bin/sh\necho fio-3.33\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    def make(item):
        place = Place(tmp_path / "data", tmp_path, tmp_path)
        text = FIO.command(item, place).files["job.fio"]
        heads = re.split(r"^\[(.+)\]$", text, flags=re.MULTILINE)[1:]
        return {
            name: dict(line.partition("=")[::2] for line in body.strip().splitlines())
            for name, body in zip(heads[::2], heads[1::2], strict=True)
        }

    return make


@pytest.fixture
def suite(tmp_path):
    """Loads a suite of one workload beside job files."""

    def make(text, cli_overrides=None, **files):
        for name, content in files.items():
            (tmp_path / f"{name}.fio").write_text(content)
        (tmp_path / "demo.yaml").write_text(f"workloads:\n  w: {text}\n")
        (item,) = load_suite(tmp_path / "demo.yaml", name="demo.yaml", cli_overrides=cli_overrides).workloads
        return item

    return make


class TestMix:
    GIVEN: ClassVar = {
        "rw": "randrw",
        "size": "512M",
        "bs": "16k",
        "iodepth": 8,
        "mix": {"readers": 3, "writers": 1},
    }

    def test_each_job_has_a_region_of_its_own(self, job_file):
        jobs = job_file(workload(**self.GIVEN))
        assert [(name, job["rw"], int(job["offset"]) // MIB, job["size"]) for name, job in jobs.items()] == [
            ("reader1", "randread", 0, "128M"),
            ("reader2", "randread", 128, "128M"),
            ("reader3", "randread", 256, "128M"),
            ("writer1", "randwrite", 384, "128M"),
        ]
        assert all(job["iodepth"] == "8" and job["bs"] == "16k" for job in jobs.values())
        assert not any("group_reporting" in job or "rwmixread" in job for job in jobs.values())

    def test_regions_that_do_not_divide_stay_aligned_and_apart(self, job_file):
        jobs = job_file(workload(**{**self.GIVEN, "size": "100000k", "mix": {"readers": 2, "writers": 1}}))
        offsets = [int(job["offset"]) for job in jobs.values()]
        size = 100000 * 1024 // 3 // 4096 * 4096
        assert offsets == [0, size, 2 * size]
        assert FIO.needs(workload(**self.GIVEN)).size == 512 * MIB

    def test_sequential_mixes_are_sequential(self, job_file):
        jobs = job_file(workload(**{**self.GIVEN, "rw": "rw"}))
        assert [job["rw"] for job in jobs.values()] == ["read", "read", "read", "write"]

    def test_needs_and_gates_are_those_of_all_jobs(self):
        item = workload(**self.GIVEN)
        needs = FIO.needs(item)
        assert (needs.reads, needs.writes, needs.written) == (True, True, 128 * MIB)
        assert FIO.gating(item) == ("read.iops", "write.iops")
        assert FIO.gating(workload(**{**self.GIVEN, "mix": {"writers": 4}})) == ("write.iops",)

    def test_it_is_part_of_the_definition(self):
        item = workload(**self.GIVEN)
        assert item.definition["mix"] == {"readers": 3, "writers": 1}
        assert "rwmixread" not in item.definition
        assert FIO.options(item.options) == item.options

    @pytest.mark.parametrize(
        ("changed", "words"),
        [
            ({"mix": {}}, "no readers and no writers"),
            ({"mix": {"readers": -1, "writers": 2}}, "readers"),
            ({"mix": {"reader": 3}}, "did you mean 'readers'"),
            ({"mix": "3:1"}, "mix"),
            ({"rw": "randread"}, "mix is of a mixed pattern"),
            ({"rwmixread": 70}, "mix says who reads"),
            ({"numjobs": 2}, "mix says how many jobs"),
            ({"fio": {"offset": "1m"}}, "each job has a region"),
            ({"size": "1M", "bs": "512k"}, "leave each less than one block"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, changed, words):
        with pytest.raises(InputErrors, match=words):
            workload(**{**self.GIVEN, **changed})


class TestJobFile:
    def test_each_section_is_a_job_with_what_is_global(self, suite, job_file):
        jobs = job_file(suite("{jobfile: published.fio}", published=PUBLISHED))
        assert list(jobs) == ["j1", "j2", "j4"]
        assert all(job["ioengine"] == "libaio" and job["direct"] == "1" for job in jobs.values())
        assert jobs["j1"]["fsync"] == "0" and jobs["j1"]["bs"] == "4k"
        assert (jobs["j4"]["rw"], jobs["j4"]["bs"], jobs["j4"]["offset"]) == ("randwrite", "16k", "384m")

    def test_fios_own_defaults_hold(self, suite):
        item = suite(
            "{jobfile: a.fio}", a="[one]\nsize=1m\n[two]\nsize=2m\nbuffered=0\nrwmixwrite=30\nrw=rw\n"
        )
        one, two = item.options["jobs"].values()
        assert (one["rw"], one["ioengine"], one["direct"], one["iodepth"]) == ("read", "psync", False, 1)
        assert (two["direct"], two["rwmixread"]) == (True, 70)

    def test_needs_and_gates_are_those_of_all_jobs(self, suite):
        item = suite("{jobfile: published.fio}", published=PUBLISHED)
        needs = FIO.needs(item)
        assert (needs.size, needs.block, needs.written) == (512 * MIB, 4096, 128 * MIB)
        assert (needs.reads, needs.writes, needs.direct) == (True, True, True)
        assert FIO.gating(item) == ("read.iops", "write.iops")

    def test_keys_beside_it_and_the_command_line_replace_those_of_every_section(self, suite):
        item = suite(
            "{jobfile: a.fio, bs: 8k}",
            cli_overrides={"size": "4M", "runtime": 2.0},
            a="[x]\nsize=1g\nbs=4k\n",
        )
        assert {key: item.options["jobs"]["x"][key] for key in ("bs", "size", "runtime")} == {
            "bs": "8k",
            "size": "4M",
            "runtime": 2,
        }

    def test_the_definition_is_what_runs_and_not_how_the_file_is_called(self, suite):
        first = suite("{jobfile: a.fio}", a="[x]\nsize=1m\n")
        second = suite("{jobfile: b.fio}", b="; comment\n[x]\nsize=1024k\n")
        assert first.definition_hash == second.definition_hash
        assert first.definition_hash != suite("{jobfile: a.fio}", a="[x]\nsize=2m\n").definition_hash

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("[x]\nsize=1m\nopendir=/dev\n", r"a\.fio:3: .*'opendir' is refused: .*the target's"),
            ("[global]\nexec_prerun=reboot\n[x]\nsize=1m\n", "exec_prerun"),
            ("[x]\nsize=1m\nioengine=exec\n", "exec"),
            ("[x]\nsize=1m\nwrite_iolog=/tmp/x\n", "writes files outside"),
            ("[x]\nsize=1m\ninclude other.fio\n", "a.fio:3"),
            ("[x]\nsize=${SIZE}\n", r"a\.fio:2"),
            ("[x]\nsize=1m\n[y]\nsize=1m\nwait_for=x\n", "'wait_for' is refused"),
            ("[x]\nbs=4k\n", r"a\.fio: \[x\] has no size\n.*--io-size"),
            ("[x]\nsize=1m\nbs=2m\n", "less than one block"),
            ("[x]\nsize=1m\niodepth=many\n", r"a\.fio:3: iodepth"),
            ("[x]\nsize=1m\ndirect=maybe\n", r"a\.fio:3: direct: 'maybe' is neither 1 nor 0"),
            ("size=1m\n", r"a\.fio:1: .* before the first"),
            ("[x]\nsize=1m\n[x]\nsize=2m\n", "a second section 'x'"),
            ("[global]\nsize=1m\n", "no sections"),
            ("", "no sections"),
        ],
    )
    def test_what_a_workload_may_not_say_a_file_may_not_either(self, suite, text, words):
        with pytest.raises(InputErrors, match=words) as caught:
            suite("{jobfile: a.fio}", a=text)
        assert "demo.yaml:2:" in str(caught.value), "the suite is named as well"
        assert "\x1b" not in str(caught.value)

    def test_all_mistakes_of_a_file_are_told_at_once(self, suite):
        text = "stray\n[global]\nfilename=/dev/sda\niodepth=many\n[x]\nbs=4q\ndirect=maybe\n[y]\nsize=1m\n"
        with pytest.raises(InputErrors) as caught:
            suite("{jobfile: a.fio}", a=text)
        said = str(caught.value)
        for words in ("a.fio:1:", "a.fio:4:", "a.fio:6:", "a.fio:7:", "[x] has no size"):
            assert said.count(words) == 1, (words, said)

    @pytest.mark.parametrize(
        "path", ["../a.fio", "/etc/passwd", "sub/../../a.fio", "gone.fio", "", ".", "link"]
    )
    def test_it_does_not_leave_the_folder_of_the_suite(self, suite, tmp_path, path):
        (tmp_path.parent / "a.fio").write_text("[x]\nsize=1m\n")
        (tmp_path / "sub").mkdir()
        (tmp_path / "link").symlink_to("../a.fio")
        with pytest.raises(InputErrors, match=r"refused|no file below"):
            suite(f"{{jobfile: '{path}'}}")

    def test_only_a_suite_has_a_folder(self):
        with pytest.raises(InputErrors, match="jobfile is for suites"):
            FIO.options({"jobfile": "a.fio", "size": "1m", "rw": "read"})

    def test_an_automatic_runtime_is_for_one_job(self, suite):
        item = suite("{jobfile: a.fio, runtime: 5}", a="[x]\nsize=1m\n")
        assert item.options["jobs"]["x"]["runtime"] == 5
        with pytest.raises(InputErrors, match="auto is for workloads of one runtime"):
            suite("{jobfile: a.fio, runtime: auto}", a="[x]\nsize=1m\n")


@pytest.mark.parametrize("size", ["8", "4096,8", "1000"])
def test_direct_io_of_less_than_a_sector_is_refused_at_collection(size):
    with pytest.raises(InputErrors, match="direct I/O takes multiples of a sector"):
        workload(rw="read", size="1M", bs=size)
    workload(rw="read", size="1M", bs=size, direct=False)
