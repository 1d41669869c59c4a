"""Job files as people have them: phases, shares, variables, places, several files."""

import re
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iogate import engines
from iogate.declare.overrides import Overrides
from iogate.declare.suite import load_suite
from iogate.engines.fio.job_file import job_file
from iogate.engines.fio.job_file_reader import declared_phases, left_out, sections
from iogate.engines.fio.job_file_sections import read_sections
from iogate.engines.fio.jobs import part_name
from iogate.engines.fio.options import normalise_options
from iogate.errors import InputErrors
from iogate.formats.attachment import Attachment
from iogate.model import Place

FIO = engines.load("fio")
MIB = 2**20

FOUR_IN_TURN = """\
; one after another, on a disk of somebody else
[global]
filename=/dev/nvme0n1:/dev/nvme1n1   ; never touched
directory=/mnt
name=other
size=8m
write_bw_log=out
direct=1

[first]
rw=write
[second]
stonewall
rw=randread
[beside second]
rw=randwrite
[third]
wait_for_previous=1
rw=read
"""
TEMPLATE = """\
[job]
rw=${MODE}
blocksize=${BLOCK}
iodepth=${DEPTH}
direct=${DIRECT}
size=${SHARE}
"""


@pytest.fixture
def load(tmp_path):
    """Loads a suite beside a job file `a.fio`."""

    def make(text, content, **more):
        (tmp_path / "a.fio").write_text(content)
        (tmp_path / "demo.yaml").write_text(text)
        return load_suite(tmp_path / "demo.yaml", name="demo.yaml", **more).workloads

    return make


def suite(keys="", variables=""):
    head = f"variables: {variables}\n" if variables else ""
    return f"{head}workloads:\n  w: {{jobfile: a.fio{keys}}}\n"


def refused(load, text, content, words, **more):
    with pytest.raises(InputErrors, match=words) as caught:
        load(text, content, **more)
    return str(caught.value)


class TestDefaults:
    """A log that is synced through the page cache was measured as asynchronous direct I/O."""

    LOG = "[wal]\nrw=write\nblocksize=8k\nioengine=sync\nbuffered=1\nfdatasync=1\nsize=8m\n"
    DEFAULTS = (
        "defaults: {bs: 4k, ioengine: libaio, direct: true, iodepth: 4, runtime: 2, "
        "fio: {fdatasync: 0, thinktime: 1}}\n"
    )

    def options(self, load, keys="", **more):
        (found,) = load(self.DEFAULTS + suite(keys), self.LOG, **more)
        return found.options["jobs"]["wal"]

    def test_what_a_job_file_says_holds_and_the_rest_is_as_the_suite_has_it(self, load):
        found = self.options(load)
        assert (found["bs"], found["ioengine"], found["direct"]) == ("8k", "sync", False)
        assert (found["iodepth"], found["runtime"]) == (4, 2)
        assert (found["fio"]["fdatasync"], found["fio"]["thinktime"]) == ("1", "1")

    @pytest.mark.parametrize(
        "keys",
        [
            ", bs: 16k, fio: {fdatasync: 8}",
            ", matrix: {bs: [16k], fio: [{fdatasync: 8}]}",
        ],
    )
    def test_what_stands_beside_it_replaces_what_it_says(self, load, keys):
        found = self.options(load, keys)
        assert (found["bs"], found["ioengine"]) == ("16k", "sync")
        assert (found["fio"]["fdatasync"], found["fio"]["thinktime"]) == ("8", "1")

    @pytest.mark.parametrize("split", ["bssplit=4k/50:8k/50", "bsrange=4k-8k"])
    def test_one_size_of_blocks_beside_it_replaces_several(self, load, split):
        """Two points of a matrix of sizes were the same measurement."""
        content = f"[a]\nrw=randread\nsize=8m\n{split}\n"
        (found,) = load(suite(", bs: 32k"), content)
        assert found.options["jobs"]["a"]["bs"] == "32k" and "fio" not in found.options["jobs"]["a"]
        (found,) = load("defaults: {bs: 32k}\n" + suite(), content)
        assert found.options["jobs"]["a"]["fio"] == dict([split.split("=", 1)])

    def test_so_does_a_profile_or_the_command_line_though_the_defaults_say_it_too(self, load):
        given = Overrides({"bs": "4k", "fio": {"fdatasync": "0"}})
        found = self.options(load, overrides=given, cli_overrides={"size": "16M"})
        assert (found["bs"], found["size"], found["fio"]["fdatasync"]) == ("4k", "16M", "0")

    def test_so_does_what_it_is_held_against(self, load):
        (found,) = load(self.DEFAULTS + suite(", against: {ioengine: libaio}"), self.LOG)
        assert found.options["jobs"]["wal"]["ioengine"] == "sync"
        assert found.against["jobs"]["wal"]["ioengine"] == "libaio"

    @pytest.mark.parametrize(
        "change", ["iodepth: ~", "fio: {fdatasync: ~}", "ioengine: psync, fio: {fdatasync: ~}"]
    )
    def test_nothing_is_taken_away_from_it(self, load, change):
        """Both arms of a pair were the same: a flag without its value is as good as with it."""
        words = "nothing is taken away from what a job file says"
        refused(load, suite(f", against: {{{change}}}"), self.LOG, words)
        refused(load, self.DEFAULTS + suite(f", against: {{{change}}}"), self.LOG + "iodepth=1\n", words)

    @pytest.mark.parametrize(
        ("default", "option"),
        [
            ("fio: {bssplit: 4k/70:8k/30}", "bs=256k"),
            ("fio: {bsrange: 4k-4k}", "blocksize_range=16k-16k"),
            ("fio: {io_size: 2m}", "io_limit=8m"),
            ("fio: {offset: 1m}", "fileoffset=2m"),
        ],
    )
    def test_defaults_that_say_the_same_thing_in_another_way_yield(self, load, default, option):
        """A split of the defaults made a scan of 256k one of 4k and 8k: 12% lost passed."""
        content = f"[a]\nrw=read\nsize=8m\n{option}\n"
        (alone,) = load(suite(), content)
        (beside,) = load(f"defaults: {{{default}}}\n" + suite(), content)
        assert beside.options == alone.options

    def test_keys_beside_a_job_file_among_the_defaults_replace_what_it_says(self, load):
        text = "defaults: {jobfile: a.fio, bs: 4k}\nworkloads:\n  w: {iodepth: 2}\n"
        (found,) = load(text, self.LOG)
        assert found.options["jobs"]["wal"]["bs"] == "4k"

    def test_a_share_of_the_data_is_one_of_what_the_defaults_say(self, load):
        text = "defaults: {size: 64M}\n" + suite()
        (found,) = load(text, "[a]\nrw=read\nsize=50%\n")
        assert found.options["jobs"]["a"]["size"] == "32M"


class TestPhases:
    def test_what_waits_for_others_is_a_workload_of_its_own(self, load):
        found = load(suite(), FOUR_IN_TURN)
        assert {item.name: list(item.options["jobs"]) for item in found} == {
            "w[first]": ["first"],
            "w[second+beside_second]": ["second", "beside second"],
            "w[third]": ["third"],
        }
        assert [FIO.gating(item) for item in found] == [
            ("write.iops",), ("read.iops", "write.iops"), ("read.iops",),
        ]  # fmt: skip

    def test_unlike_jobs_in_one_direction_are_gated_each_by_itself(self, load):
        content = "[global]\nsize=8m\nruntime=9\nrw=randread\n[small]\nbs=4k\n"
        each = ("small.read.iops",)
        for large, gating in (
            ("bs=4k", ("read.iops",)),
            ("bs=4k\noffset=1m", ("read.iops",)),
            ("bs=4k\nnorandommap", ("read.iops",)),  # fio's output does not say it
            ("bs=4k\nfilename=a:b", ("read.iops",)),
            ("bs=4k\niodepth=8\nioengine=libaio", ("read.iops", *each, "the_large.read.iops")),
            ("bs=1m", ("read.iops", *each, "the_large.read.bandwidth")),
            ("bs=1m\nrw=write", ("read.iops", "write.bandwidth")),
            ("bs=1m\nrate=1m", ("read.iops", *each, "the_large.read.lat.mean")),
            ("bs=1m\nrate=1m\nrw=write", ("read.iops", "write.lat.mean")),
            ("bs=4k\nrw=randrw", ("read.iops", *each, "the_large.read.iops", "write.iops")),
        ):
            (item,) = load(suite(), f"{content}[the large]\n{large}\n")
            assert FIO.gating(item) == gating
            assert FIO.indivisible(item.options, gating)  # buffered, as it is fio's default
        (limited,) = load(suite(), f"{content}rate=1m\n[large]\nbs=4k\nrate=1m\n")
        assert FIO.gating(limited) == ("read.lat.mean",)
        (limited,) = load(suite(), f"{content}rate=1m\n[large]\nbs=1m\nrate=1m\n")
        assert FIO.gating(limited) == ("small.read.lat.mean", "large.read.lat.mean")

    def test_names_that_look_alike_in_metrics_are_kept_apart(self, load, tmp_path):
        content = "[global]\nsize=8m\nrw=write\n"
        for names, parts in (
            (("日志", "数据"), ("__", "___2")),
            (("log 1", "log.1", "log_1_2"), ("log_1", "log_1_2", "log_1_2_2")),
            (("x" * 140, "x" * 139), ("x" * 120, "x" * 120 + "_2")),
        ):
            sections = (f"[{name}]\nbs={4 << number}k\n" for number, name in enumerate(names))
            (item,) = load(suite(), content + "".join(sections))
            assert FIO.gating(item)[1:] == tuple(f"{part}.write.iops" for part in parts)
            made = re.findall(
                r"^\[(.+)\]$", job_file(item, Place(tmp_path / "data", None, tmp_path)), re.MULTILINE
            )
            assert tuple(map(part_name, made)) == parts

    def test_a_pair_cannot_stop_what_is_told_of_one_job(self, load):
        (item,) = load(suite(), "[global]\nsize=8m\ndirect=1\nruntime=9\n[a]\nbs=4k\n[b]\nbs=8k\n")
        assert (
            FIO.indivisible(item.options, FIO.gating(item))
            == "the kernel does not tell a from the other jobs"
        )

    def test_a_file_that_nothing_parts_is_one_workload_of_the_same_name(self, load):
        for content in ("[x]\nstonewall\nsize=1m\n", "[x]\nsize=1m\n[y]\nstonewall=0\nsize=1m\n"):
            assert [item.name for item in load(suite(), content)] == ["w"]

    def test_a_wall_for_all_parts_all(self, load):
        content = "[global]\nstonewall\nsize=1m\n[x]\n[y]\n"
        assert [item.name for item in load(suite(), content)] == ["w[x]", "w[y]"]

    def test_the_matrix_comes_first(self, load):
        found = load(suite(", matrix: {bs: [4k, 64k]}"), FOUR_IN_TURN)
        assert [item.name for item in found[:2]] == ["w[bs=4k,first]", "w[bs=4k,second+beside_second]"]
        assert len({item.name for item in found}) == 6

    def test_a_phase_is_the_same_workload_however_it_is_chosen(self, load):
        (chosen,) = load(suite(", section: third"), FOUR_IN_TURN)
        assert chosen.name == "w"
        assert chosen.definition_hash == load(suite(), FOUR_IN_TURN)[2].definition_hash


class TestSection:
    def test_sections_are_chosen_by_name(self, load):
        (one,) = load(suite(", section: first"), FOUR_IN_TURN)
        assert list(one.options["jobs"]) == ["first"]
        two = load(suite(", section: [third, first]"), FOUR_IN_TURN)
        assert [item.name for item in two] == ["w[first]", "w[third]"]

    def test_they_can_be_in_a_matrix(self, load):
        found = load(suite(", matrix: {section: [third, first]}"), FOUR_IN_TURN)
        assert [item.name for item in found] == ["w[section=third]", "w[section=first]"]

    @pytest.mark.parametrize(
        ("keys", "words"),
        [
            (", section: fist", r"2:\d+: a\.fio has no section 'fist', did you mean 'first'"),
            (", section: zzz", "there are first, second, beside second, third"),
            (", section: []", "a list of such names"),
            (", section: [3]", "a list of such names"),
            (", section: {a: b}", "a list of such names"),
        ],
    )
    def test_one_that_is_not_there_is_told(self, load, keys, words):
        refused(load, suite(keys), FOUR_IN_TURN, words)

    def test_a_mistake_in_another_section_does_not_matter(self, load):
        content = "[x]\nsize=1m\n[y]\nioengine=exec\n"
        assert load(suite(", section: x"), content)
        refused(load, suite(), content, "has no size")

    def test_without_a_job_file_there_is_none(self, load):
        refused(
            load, "workloads:\n  w: {rw: read, size: 1M, section: x}\n", "", "section is one of a jobfile"
        )

    def test_who_reads_and_who_writes_is_said_by_the_file(self, load):
        """A `mix` beside it was a traceback."""
        keys = ", rw: randrw, mix: {readers: 1, writers: 1}"
        refused(load, suite(keys), "[x]\nsize=1m\n", r"2:\d+: mix: a job file says itself who reads")

    def test_all_mistakes_are_told_at_once(self, load):
        said = refused(load, suite(), "[x]\nsize=1m\niodepth=a\n[y]\nsize=1m\nopendir=/x\n", r"a\.fio:3")
        assert "a.fio:6" in said


class TestLeftOut:
    def test_places_and_reports_are_left_out_and_told_with_their_lines(self, load, tmp_path):
        first = load(suite(), FOUR_IN_TURN)[0]
        assert [note.partition(" has no effect")[0] for note in first.notes] == [
            "a.fio:3: filename=/dev/nvme0n1:/dev/nvme1n1", "a.fio:4: directory=/mnt", "a.fio:5: name=other",
            "a.fio:7: write_bw_log=out",
        ]  # fmt: skip
        text = job_file(first, Place(tmp_path / "data", None, tmp_path, (tmp_path / "more",)))
        assert "/dev" not in text and "/mnt" not in text and "log" not in text and "other" not in text

    def test_of_hundreds_the_first_are_told(self, load, tmp_path):
        """Each of 20,000 workloads of a matrix had all of them, which took the machine's memory."""
        (item,) = load(suite(), "[x]\nrw=read\nsize=1m\n" + "".join(f"log_{n}=1\n" for n in range(900)))
        assert len(item.notes) == 21
        assert item.notes[-1].endswith("and 880 more like these")

    def test_groups_are_left_out_of_what_runs_at_once(self, load, tmp_path):
        """fio may report groups of jobs that ran one after another; these did not."""
        content = "[x]\nsize=1m\nnew_group\nzero_buffers\n[y]\nsize=1m\nnew_group=1\n"
        (item,) = load(suite(), content)
        text = job_file(item, Place(tmp_path / "data", None, tmp_path))
        assert "new_group" not in text and "zero_buffers" in text

    def test_they_are_no_part_of_the_definition(self, load):
        (plain,) = load(suite(), "[x]\nsize=1m\n")
        (more,) = load(suite(), "[x]\nsize=1m\nfilename=$HOME\ndescription=about\nunlink=1\n")
        assert plain.definition == more.definition
        assert plain.notes == () and len(more.notes) == 2

    def test_a_suite_may_not_say_them_itself(self, load):
        text = "workloads:\n  w: {rw: read, size: 1M, fio: {filename: /dev/sda}}\n"
        refused(load, text, "", "'filename' is refused")

    @pytest.mark.parametrize(
        "line", ["exec_prerun=reboot", "write_iolog=/x", "replay_redirect=/dev/sda", "verify_state_save=1"]
    )
    def test_what_is_dangerous_stays_refused(self, load, line):
        refused(load, suite(), f"[x]\nsize=1m\n{line}\n", "is refused")


class TestShares:
    def test_a_share_is_of_the_data_that_the_suite_names(self, load):
        content = "[x]\nsize=100%\n[y]\nsize=50%\noffset=50%\n[z]\nsize=8m\n"
        x, y, z = load(suite(", size: 64M"), content)[0].options["jobs"].values()
        assert [job["size"] for job in (x, y, z)] == ["64M", "32M", "64M"]
        assert y["fio"] == {"offset": str(32 * MIB)}
        assert FIO.needs(load(suite(", size: 64M"), content)[0]).size == 64 * MIB

    def test_the_command_line_can_name_it(self, load):
        (item,) = load(suite(), "[x]\nsize=50%\n[y]\n", cli_overrides={"size": "64M"})
        assert [job["size"] for job in item.options["jobs"].values()] == ["32M", "64M"]

    def test_of_nothing_it_is_told(self, load):
        said = refused(
            load, suite(), "[x]\nsize=100%\n", r"a\.fio:2: size: 100% of the data, but nobody says"
        )
        assert "size: 4G" in said and "--io-size" in said

    def test_parts_end_on_whole_pages(self, load):
        (item,) = load(suite(), "[x]\nsize=10000k\nio_size=33%\n")
        assert int(item.options["jobs"]["x"]["fio"]["io_size"]) % 4096 == 0


class TestVariables:
    VALUES = "{MODE: randwrite, BLOCK: 8k, DEPTH: 4, DIRECT: true, SHARE: 100%}"

    def test_the_suite_says_what_they_stand_for(self, load):
        (item,) = load(suite(", size: 1M", self.VALUES), TEMPLATE)
        job = item.options["jobs"]["job"]
        assert [job[key] for key in ("rw", "bs", "iodepth", "direct", "size")] == [
            "randwrite", "8k", 4, True, "1M",
        ]  # fmt: skip

    def test_the_environment_is_never_asked(self, load, monkeypatch):
        for name in ("MODE", "BLOCK", "DEPTH", "DIRECT", "SHARE"):
            monkeypatch.setenv(name, "1")
        said = refused(
            load, suite(", size: 1M"), TEMPLATE, r"a\.fio:2: the variable '\$\{MODE\}' has no value"
        )
        assert "the environment is not asked" in said
        refused(load, suite(variables="{MODES: read}"), TEMPLATE, "did you mean 'MODES'")

    def test_what_the_suite_says_itself_needs_none(self, load):
        keys = ", rw: read, bs: 4k, iodepth: 1, direct: true, size: 1M"
        assert load(suite(keys), TEMPLATE)[0].options["jobs"]["job"]["rw"] == "read"

    @pytest.mark.parametrize(
        "value", ["'read\\n[global]'", "[a]", "{a: b}", "null", '"a\\nexec_prerun=x"', '"a\\e[2J"']
    )
    def test_a_value_is_one_line_of_plain_text(self, load, value):
        try:
            (item,) = load(
                suite(", size: 1M", f"{{MODE: {value}}}"), "[x]\ndescription=${MODE}\nmem=${MODE}\n"
            )
        except InputErrors as error:
            assert "\x1b" not in str(error)
        else:
            assert "\n" not in item.options["jobs"]["x"]["fio"]["mem"]

    def test_what_it_stands_for_is_checked_like_the_file(self, load):
        refused(
            load, suite(", size: 1M", "{E: exec}"), "[x]\nioengine=${E}\n", "is refused: it runs a command"
        )
        refused(load, suite(", size: 1M", "{E: 'a;b'}"), "[x]\nmem=${E}\n", "to fio it begins")
        refused(load, suite(variables="{'a b': 1}"), "[x]\nsize=1m\n", "not the name of a variable")

    def test_a_value_that_no_line_can_hold_is_refused(self, load):
        """A line may have it a thousand times: 15 MB took the machine's memory."""
        refused(load, suite(variables=f"{{a: {'x' * 4001}}}"), "[x]\nsize=1m\n", "a is longer than a line")
        load(suite(variables=f"{{a: {'x' * 4000}}}"), "[x]\nrw=read\nsize=1m\n")

    def test_a_line_that_its_variables_make_too_long_is_refused_before_it_is_made(self, load):
        """990 times 4,000 characters in each of 255 lines took 4 GB."""
        text = suite(", size: 1M", f"{{a: {'x' * 100}}}")
        words = r"a\.fio:2: with its variables this line is longer than 4000 characters"
        refused(load, text, f"[x]\nmem={'${a}' * 40}\n", words)

    def test_there_are_no_more_variables_than_can_be_meant(self, load):
        """Each that has no value was looked for among them: lines times variables, for a day."""
        many = ", ".join(f"v{number}: 1" for number in range(256))
        said = refused(load, suite(variables=f"{{{many}}}"), "[x]\nsize=1m\nmem=${w}\n", "has no value")
        assert "which has v0, v1, v10" in said and said.endswith("and 246 more; the environment is not asked")
        refused(load, suite(variables=f"{{{many}, w: 1}}"), "[x]\nsize=1m\n", "257 variables: at most 256")

    def test_mistakes_have_an_end(self, load):
        lines = "".join(f"a{number}=${{v}}\n" for number in range(900))
        said = refused(load, suite(", size: 1M"), "".join(f"[{each}]\n{lines}" for each in "xyz"), "no value")
        assert 100 <= said.count("has no value") <= 102
        said = refused(load, suite(), "a=1\n" * 5000 + "[x]\nsize=1m\n", "stands before the first")
        assert 100 <= said.count("stands before") <= 102


class TestSeveralFiles:
    def files(self, item, tmp_path):
        more = tuple(tmp_path / f"data-{number}" for number in (1, 2, 3))
        text = job_file(item, Place(tmp_path / "data", None, tmp_path, more))
        return [len(line.split(":")) for line in text.splitlines() if line.startswith("filename=")]

    def test_several_files_of_a_job_stay_several(self, load, tmp_path):
        content = "[x]\nfilename=a:b\\:c:d\nsize=9m\nbs=1m\n[y]\nnrfiles=2\nsize=1m\n[z]\nsize=2m\n"
        (item,) = load(suite(), content)
        assert self.files(item, tmp_path) == [3, 2, 1]
        needs = FIO.needs(item)
        assert (needs.files, needs.size) == (3, 3 * MIB)

    def test_each_has_whole_blocks(self, load):
        (item,) = load(suite(), "[x]\nnrfiles=3\nsize=10m\nbs=1m\n")
        assert FIO.needs(item).size == 4 * MIB

    def test_a_suite_can_say_so_without_a_job_file(self, load):
        (item,) = load("workloads:\n  w: {rw: read, size: 8M, nrfiles: 4}\n", "")
        assert (FIO.needs(item).files, FIO.needs(item).size) == (4, 2 * MIB)
        assert item.definition["nrfiles"] == 4 and FIO.options(item.options) == item.options
        (one,) = load("workloads:\n  w: {rw: read, size: 8M, nrfiles: 1}\n", "")
        assert "nrfiles" not in one.definition

    def test_many_files_take_several_lines_that_fio_reads_whole(self, load, tmp_path):
        (item,) = load("workloads:\n  w: {rw: read, size: 8M, nrfiles: 1024}\n", "")
        data, *more = (tmp_path / f"data-8192-{number}" for number in range(1024))
        text = job_file(item, Place(data, None, tmp_path, tuple(more)))
        lines = [line for line in text.splitlines() if line.startswith("filename=")]
        names = [name for line in lines for name in line.removeprefix("filename=").split(":")]
        assert names == [str(data), *map(str, more)]
        assert len(lines) > 1 and max(map(len, lines)) <= 4000

    def test_by_its_other_name_too(self, load):
        (item,) = load(suite(), "[x]\nnr_files=3\nsize=10m\nbs=1m\n")
        assert FIO.needs(item).files == 3
        refused(load, "workloads:\n  w: {rw: read, size: 8M, fio: {nr_files: 2}}\n", "", "said by 'nrfiles'")

    @pytest.mark.parametrize(
        ("keys", "words"),
        [
            ("size: 8k, nrfiles: 3", "less than one block of 4k for each of 3 files"),
            ("size: 8M, nrfiles: 0", "nrfiles"),
            ("size: 8M, nrfiles: 2, mix: {readers: 1}", "mix shares one file out"),
            ("size: 8M, fio: {nrfiles: 2}", "said by 'nrfiles'"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, load, keys, words):
        refused(load, f"workloads:\n  w: {{rw: rw, {keys}}}\n", "", words)


def test_backwards_and_with_holes(load):
    (item,) = load(suite(), "[x]\nsize=1m\nrw=read:-8k\n[y]\nsize=1m\nrw=write:4k\n")
    assert [job["rw"] for job in item.options["jobs"].values()] == ["read:-8k", "write:4k"]


@pytest.mark.parametrize(
    ("piece", "told"),
    [("[global]\nk{0}=\n[a{0}]\n", "a job file has 1 to 256"), ("k{0}=\n", "there are at most 1000")],
)
def test_what_is_no_job_file_is_refused_before_it_takes_the_memory(piece, told):
    """Each section has a copy of what is global: 1 MB took more than 6 GiB."""
    text = "[global]\n" + "".join(piece.format(number) for number in range(5000))
    tracemalloc.start()
    try:
        with pytest.raises(InputErrors, match=told):
            read_sections(Attachment("j.fio", text))
        assert tracemalloc.get_traced_memory()[1] < 32 * MIB
    finally:
        tracemalloc.stop()


def test_a_section_that_begins_like_global_is_one(load):
    (item,) = load(suite(), "[x]\nsize=1m\n[global_b]\nrw=randread\n[y]\nsize=2m\n")
    assert {name: job["rw"] for name, job in item.options["jobs"].items()} == {"x": "read", "y": "randread"}


@pytest.mark.parametrize(
    "line",
    [
        f"description={'x' * 8179}exec_prerun=reboot",
        f"; {'x' * 4000}",
        f"thinktime=1{' ' * 4090}exec_prerun=x",
        "description=a\0b",
    ],
    ids=lambda line: line[:12],
)
def test_a_line_that_fio_would_not_read_whole_is_told(load, line):
    refused(load, suite(), f"[x]\nsize=1m\n{line}\n", r"a\.fio:3: fio does not read this line whole")


_WORDS = st.sampled_from(
    [
        *("[global]", "[x]", "[y]", "stonewall", "size=1m", "size=50%", "rw=${V}", "filename=a:b", "bs=4k"),
        *("nrfiles=2", "exec_prerun=x", "name=${V}", "offset=${P}", "direct=${V}", "=", "rw", "size", ";"),
        *("buffered=0", "\x1b[2J"),
    ]
)


@given(st.lists(_WORDS | st.text(max_size=12), max_size=12).map("\n".join), st.booleans())
def test_any_text_is_a_job_file_or_a_told_mistake(tmp_path_factory, text, sized):
    file = Attachment("a.fio", text, {"V": "randread", "P": "25%"})
    beside = {"size": "1M"} if sized else {}
    try:
        phases = declared_phases(file, beside)
        names = [name for _, keys in phases for name in keys.get("section", [])]
        found = [sections(file, {**beside, **keys}, normalise_options) for _, keys in phases]
    except InputErrors as error:
        assert "\x1b" not in str(error)
        return
    assert len(names) == len(set(names)) and sum(map(len, found)) == len(names or found[0])
    assert "\x1b" not in "".join(left_out(file, beside))
    for jobs in found:
        for job in jobs.values():
            assert not {"filename", "directory", "exec_prerun", "name"} & job.get("fio", {}).keys()
            assert normalise_options(job) == job
