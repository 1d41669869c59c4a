"""The engine iozone: options as a suite says them, the command, and outputs of both modes as metrics."""

import contextlib
import json
import math
import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iogate import engines
from iogate.audit import Evidence, Snapshot, audit
from iogate.audit.snapshot.system import System
from iogate.errors import EngineError, InputErrors, OutputError
from iogate.host.process import Completed
from iogate.model import Needs, Place, metric
from iogate.offline.outputs import findings, parse_output
from iogate.offline.show import show
from places import DATA
from workloads import declared

IOZONE = engines.load("iozone")
KIB, MIB, GIB = 2**10, 2**20, 2**30
PUBLISHED = (DATA / "published/strong_scaling_and_iozone.md").read_text()
OUTPUTS = sorted((DATA / "iozone").glob("*.txt"))

OLD_TABLE = """\
\tIozone: Performance Test of File I/O
\t        Version $Revision: 3.327 $
\tRecord Size 64 KB
\tFile size set to 409600 KB
\tOutput is in Kbytes/sec
                                                            random  random    bkwd   record   stride                                   
              KB  reclen   write rewrite    read    reread    read   write    read  rewrite     read   fwrite frewrite   fread  freread
          409600      64   31000   22000                    816000   10400                  3779000                                  

iozone test complete.
"""  # noqa: E501, W291 (as iozone prints it)


def text_of(name):
    return (DATA / "iozone" / f"iozone-3.489.{name}.txt").read_text()


def parse(text, completed=None):
    return IOZONE.parse(text, name="out.txt", completed=completed)


workload = partial(declared, "iozone", size="64M")


def argv(**given):
    place = Place(Path("/t/data"), Path("/t"), Path("/r"))
    return " ".join(IOZONE.command(workload(**given), place).argv[1:])


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A program of that name, so that commands can be made where there is no iozone."""
    program = tmp_path / "iozone"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))


class TestOptions:
    def test_tests_go_by_name_or_by_iozones_number(self):
        assert IOZONE.options({"size": "5g", "tests": [2, "read", 0, 1]})["tests"] == [
            *("write", "read", "random"),
        ]

    def test_one_spelling_for_one_meaning(self):
        one = IOZONE.options({"size": 64 * MIB, "record_size": 8192, "tests": [0, 1]})
        other = IOZONE.options({"size": "64M", "record_size": "8k", "tests": ["read", "write", "write"]})
        assert one == other
        assert IOZONE.options(one) == one

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({"record_size": "128M"}, "at most 16M"),
            ({"size": "4k", "record_size": "8k"}, "less than one record"),
            ({"size": "100k", "record_size": "64k"}, "not a whole number of records"),
            ({"record_size": "512"}, "not a whole number of kB"),
            ({"record_size": 8, "size": 64}, "not a whole number of kB"),
            ({"minimum_size": "128M"}, "more than size"),
            ({"minimum_size": "32M", "processes": 2}, "throughput mode has one size"),
            ({"tests": ["read"]}, "add write"),
            ({"tests": ["write", "fread"], "direct": False}, "add fwrite"),
            ({"tests": ["write", "fwrite"]}, "page cache: say direct: false"),
            ({"tests": ["write", "mixed"]}, "throughput mode .* only"),
            ({"tests": ["write", "record_rewrite"], "processes": 2}, "automatic mode only"),
            ({"tests": ["write", 11]}, "11 is not a test"),
            ({"tests": []}, "tests"),
            ({"threads": True}, "how many processes"),
            ({"report": "latency", "processes": 2}, "automatic mode only"),
            ({"processes": 0}, "processes"),
            ({"records": "4k"}, "unknown key 'records'"),
            ({"cached": True}, "direct: true goes past it"),
            ({"direct": False, "flush": False}, "say cached: true"),
        ],
    )
    def test_what_cannot_run_is_refused_with_the_reason(self, given, words):
        with pytest.raises(InputErrors, match=words):
            workload(**given)

    @pytest.mark.parametrize(
        ("passed", "words"),
        [
            ({"-b": "out.xls"}, "-b is refused: it writes a file"),
            ({"-F": "/etc/passwd"}, "-F is refused: files belong into the scratch folder"),
            ({"-w": True}, "leaves its files behind"),
            ({"-+m": "hosts"}, "runs commands on other hosts"),
            ({"-U": "/mnt"}, "mounts and unmounts"),
            ({"-s": "1g"}, "is said by 'size'"),
            ({"-o": "x"}, "is a switch"),
            ({"-j": -1}, "takes a whole number"),
            ({"-j": True}, "takes a whole number"),
            ({"--exec": "sh"}, "unknown option '--exec'"),
            ({"-o -b x": True}, "unknown option"),
        ],
    )
    def test_dangerous_and_unknown_letters_are_refused(self, passed, words):
        with pytest.raises(InputErrors, match=words):
            workload(iozone=passed)


@pytest.mark.usefixtures("installed")
class TestCommand:
    def test_the_published_protocol(self):
        told = argv(size="5g", record_size="8k", tests=[0, 1, 2], processes=4, direct=False, cached=True)
        files = " ".join(f"/t/iozone-{number}" for number in (1, 2, 3, 4))
        assert told == f"-t 4 -C -s 5242880k -r 8k -i 0 -i 1 -i 2 -F {files}"

    def test_buffered_writes_count_their_flush(self):
        assert "-e" in argv(direct=False).split()
        assert not {"-e", "-I"} & set(argv(direct=False, cached=True).split())
        assert "-e" not in argv().split()
        assert "cached" not in workload().definition and workload().definition["flush"] is False
        for asked in ({"direct": False}, {"direct": False, "cached": True}, {}):
            options = workload(**asked).options
            assert IOZONE.options(options) == options

    def test_automatic_mode_runs_all_points_of_the_table(self):
        told = argv(minimum_size="32M", record_size="128k", minimum_record_size="64k", flush=True)
        assert told == "-a -z -n 32768k -g 65536k -y 64k -q 128k -i 0 -i 1 -I -e -f /t/iozone-1"

    def test_further_letters_are_passed(self):
        assert argv(iozone={"-o": True, "-j": 17}).endswith("-I -o -j 17 -f /t/iozone-1")

    def test_a_hang_is_ended_by_a_time_of_its_own(self):
        place = Place(Path("/t/data"), Path("/t"), Path("/r"))
        assert IOZONE.command(workload(timeout="2m"), place).timeout == 120
        estimated = IOZONE.command(workload(), place)
        assert estimated.longest == estimated.timeout > IOZONE.needs(workload()).seconds

    def test_a_block_device_has_no_place_for_files(self):
        with pytest.raises(EngineError, match="cannot work on a block device"):
            IOZONE.command(workload(), Place(Path("/dev/x"), None, Path("/r")))


def test_a_missing_program_names_its_package(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(EngineError, match="apt-get install iozone3"):
        argv()


def test_needs_are_those_of_all_processes():
    needs = IOZONE.needs(workload(processes=4, record_size="8k", tests=[0, 1, 2]))
    assert (needs.space, needs.size, needs.block, needs.direct) == (256 * MIB, 0, 8 * KIB, True)
    assert (needs.reads, needs.writes, needs.target) == (True, True, True)
    assert needs.written == 3 * 256 * MIB, "write, rewrite, random write"
    assert IOZONE.needs(workload(retest=False)).written == 64 * MIB


class TestThroughputMode:
    def test_children_parent_and_processes(self):
        metrics = parse(text_of("throughput_2_small")).metrics
        assert metrics["rewrite.bandwidth"] == 12520835.00 * KIB
        assert metrics["rewrite.bandwidth.parent"] == 1426956.28 * KIB
        assert metrics["rewrite.bandwidth.min"] == 6257223.50 * KIB
        assert metrics["rewrite.bandwidth.max"] == 6263611.50 * KIB
        assert metrics["rewrite.bandwidth.mean"] == 6260417.50 * KIB
        assert metrics["rewrite.completed.min"] == 3968 / 4096

    def test_the_published_report_in_its_own_unit(self):
        output = parse(PUBLISHED)
        assert output.metrics["read.bandwidth"] == 76022.13 * KIB
        assert output.metrics["write.completed.min"] == 5020048 / 5242880
        assert (output.engine_version, output.jobs) == ("iozone-3.471", 4)
        assert output.options["size"] == "5G" and output.options["record_size"] == "8k"

    def test_operations_per_second_and_threads(self):
        output = parse(text_of("throughput_2_threads_ops"))
        assert {metric(name).unit for name in output.metrics if "completed" not in name} == {"IOPS"}
        assert all(0 <= output.metrics[name] <= 1 for name in output.metrics if "completed" in name)

    def test_rewriters_stop_when_the_first_is_done_and_initial_writers_do_not(self):
        """Counted by strace: a process that was stopped has written a record more than it says."""
        text = text_of("throughput_2_direct")
        end = text.index("readers")
        written = parse(text[: text.rindex("\n", 0, end)] + "\niozone test complete.\n").traffic["write"]
        assert written.bytes == 2 * 32 * MIB + (27264 + 32768) * KIB
        assert written.operations == written.bytes // (64 * KIB)

    def test_every_test_has_a_name(self):
        tests = {name.split(".")[0] for name in parse(text_of("throughput_2_all")).metrics}
        assert tests == {
            *("write", "rewrite", "read", "reread", "backward_read", "stride_read"),
            *("random_read", "random_write", "mixed", "pwrite", "pread", "fwrite", "fread"),
        }

    def test_what_was_moved_is_counted_by_child(self):
        traffic = parse(text_of("throughput_2_direct")).traffic
        assert traffic["read"].bytes <= 3 * 64 * MIB
        assert traffic["read"].bytes > 0.5 * 3 * 64 * MIB
        assert traffic["read"].operations == traffic["read"].bytes // (64 * KIB)
        assert traffic["read"].seconds > 0

    def test_a_process_that_had_done_nothing_is_the_slowest(self):
        """iozone prints the least of the others."""
        pattern = r"(Child\[1\] xfer count =)\s+\S+( kB, Throughput =)\s+\S+"
        text, count = re.subn(pattern, r"\1 0.00\2 0.00", text_of("throughput_2_all"))
        assert count
        metrics = parse(text).metrics
        assert metrics["read.bandwidth.min"] == metrics["read.completed.min"] == 0

    def test_a_run_with_a_figure_lost_is_refused_when_it_was_ours(self):
        text = text_of("throughput_2_small").replace("Min xfer", "Mni xfre", 1)
        assert "write.completed.min" not in parse(text).metrics
        with pytest.raises(OutputError, match="initial writers: some of iozone's figures are missing"):
            parse(text, Completed(0, text, "", 1.0))


class TestAutomaticMode:
    def test_a_table_is_sliced_by_its_columns(self):
        metrics = parse(text_of("auto_direct")).metrics
        assert metrics["write.bandwidth.1M/64k"] == 925877 * KIB
        assert metrics["random_read.bandwidth.2M/128k"] == 1318727 * KIB
        assert {name.split(".")[0] for name in metrics} == {
            *("write", "rewrite", "random_read", "random_write"),
        }

    def test_tests_that_were_not_run_are_no_zeros(self):
        metrics = parse(text_of("auto_no_retest")).metrics
        assert "rewrite.bandwidth" not in metrics and "freread.bandwidth" not in metrics
        assert metrics["fread.bandwidth"] > 0

    @pytest.mark.parametrize("figure", ["2333199", "13305116"])
    def test_a_zero_of_a_test_that_was_run_is_no_figure(self, figure):
        """It was left out without a word, and the other figures stood."""
        text = text_of("auto_no_retest").replace(figure, "0".rjust(len(figure)))
        with pytest.raises(OutputError, match="is 0 in iozone's table"):
            parse(text)

    def test_nor_is_that_of_a_retest_that_was_not_left_out(self):
        text = text_of("auto_no_retest").replace("No retest option selected", "")
        with pytest.raises(OutputError, match="rewrite is 0 in"):
            parse(text)

    def test_microseconds_per_operation(self):
        metrics = parse(text_of("auto_latency")).metrics
        assert metrics["write.latency.mean"] == 11_000
        assert metric("write.latency.mean").direction == "lower"

    def test_the_narrow_table_of_old_versions(self):
        output = parse(OLD_TABLE)
        assert output.engine_version == "iozone-3.327"
        assert output.metrics == {
            "write.bandwidth": 31000 * KIB,
            "rewrite.bandwidth": 22000 * KIB,
            "random_read.bandwidth": 816000 * KIB,
            "random_write.bandwidth": 10400 * KIB,
            "stride_read.bandwidth": 3779000 * KIB,
        }

    @pytest.mark.parametrize(
        ("old", "new", "words"),
        [
            ("Output is in Kbytes/sec", "", "does not say the unit"),
            ("   31000   22000", "        31000     ", "under no column"),
            ("   31000   22000", "   310000022000 ", "run together"),
            ("iozone test complete.", "", "cut off"),
            (" fwrite frewrite", " other frewrite", "other columns"),
            ("          409600      64", "                        ", "without its two sizes"),
        ],
    )
    def test_a_table_that_is_not_understood_is_refused(self, old, new, words):
        assert old in OLD_TABLE
        with pytest.raises(OutputError, match=words):
            parse(OLD_TABLE.replace(old, new))


class TestGating:
    def test_each_test_but_the_retests(self):
        assert IOZONE.gating(workload(processes=2, tests=[0, 1, 2])) == (
            *("write.bandwidth", "read.bandwidth", "random_read.bandwidth", "random_write.bandwidth"),
        )

    def test_the_largest_point_of_a_table(self):
        given = {"minimum_size": "32M", "record_size": "128k", "minimum_record_size": "64k"}
        assert IOZONE.gating(workload(**given)) == ("write.bandwidth.64M/128k", "read.bandwidth.64M/128k")

    @pytest.mark.parametrize(
        ("name", "options"),
        [
            ("throughput_2_direct", {"processes": 2}),
            ("auto_direct", {}),
            ("auto_no_retest", {}),
        ],
    )
    def test_of_an_output_alone_the_same_gates(self, name, options):
        """Two outputs were held against each other, and `no metric of it is known to decide`."""
        found = IOZONE.gating_of(parse(text_of(name)))
        assert found
        tests = {each.partition(".")[0] for each in found}
        assert not tests & {"rewrite", "reread"}
        assert all(".bandwidth" in each and not each.endswith(("parent", "min", "max")) for each in found)
        assert len(found) == len(tests), "one of each test"

    def test_every_gating_metric_is_one_that_the_mode_gives(self):
        for options, name in (
            ({"processes": 2, "tests": [0, 1, 2], "record_size": "64k"}, "throughput_2_direct"),
            ({"processes": 2, "report": "iops", "record_size": "64k"}, "throughput_2_threads_ops"),
            ({"report": "latency", "record_size": "64k"}, "auto_latency"),
        ):
            assert set(IOZONE.gating(workload(**options))) <= parse(text_of(name)).metrics.keys()


class TestEnd:
    @pytest.mark.parametrize(
        ("completed", "words"),
        [
            (Completed(-15, "", "", 9.0, timed_out=True), "iozone hung: it was ended after 9 s"),
            (Completed(74, "write: No space left on device\n", "", 1.0), "status 74: write: No space left"),
            (Completed(-11, "", "", 1.0), "died of signal 11"),
            (Completed(0, "", "", 1.0), "no figures of iozone: it is empty"),
        ],
    )
    def test_a_run_without_its_own_end_is_refused(self, completed, words):
        with pytest.raises(OutputError, match=words):
            parse(completed.stdout, completed)

    @pytest.mark.parametrize("path", OUTPUTS, ids=lambda path: path.stem)
    @settings(deadline=None, max_examples=50)
    @given(data=st.data())
    def test_a_cut_output_is_refused_wherever_it_was_cut(self, path, data):
        text = path.read_text()
        length = data.draw(st.integers(0, text.index("iozone test complete")))
        with pytest.raises(OutputError):
            parse(text[:length])

    @pytest.mark.parametrize("path", OUTPUTS, ids=lambda path: path.stem)
    @settings(deadline=None, max_examples=50)
    @given(data=st.data())
    def test_no_damage_ends_in_a_traceback_or_in_a_figure_that_is_none(self, path, data):
        text = path.read_text()
        place = data.draw(st.integers(0, len(text) - 1))
        damaged = text[:place] + data.draw(st.text(max_size=4)) + text[place + 1 :]
        with contextlib.suppress(OutputError):
            metrics = parse(damaged).metrics
            assert metrics and all(math.isfinite(value) for value in metrics.values())
            assert all(metric(name) for name in metrics)


class TestAudit:
    def findings(self, text, memory=0, **needs):
        output = parse(text)
        needs = Needs(reads=True, writes=True, **{"direct": True, **needs})
        after = Snapshot(0.0, system=System(memory=memory))
        found = audit(Evidence(output, dict(output.options), needs, "iozone", after=after))
        return {(finding.check, finding.severity) for finding in found}

    def test_children_that_did_not_run_together_are_not_believed(self):
        assert ("not_together", "invalid") in self.findings(text_of("throughput_2_small"))

    def test_they_are_noted_where_the_parents_figure_is_judged(self):
        output = parse(text_of("throughput_2_small"))
        run = Evidence(output, {}, Needs(), "iozone", gating=("read.bandwidth.parent",))
        assert {item.severity for item in audit(run) if item.check == "not_together"} == {"note"}

    @pytest.mark.parametrize(
        ("jobs", "words"), [(2, "did not run at the same"), (1, "to start and end it took")]
    )
    def test_of_one_child_it_is_the_time_to_start_and_end(self, jobs, words):
        output = replace(parse(text_of("throughput_2_small")), jobs=jobs)
        found = audit(Evidence(output, {}, Needs(), "iozone", gating=("read.bandwidth",)))
        told = [item.message for item in found if item.check == "not_together"]
        assert told and all(words in message for message in told)

    def test_a_tail_that_was_cut_is_told(self):
        assert ("tail_cut", "suspect") in self.findings(text_of("throughput_2_small"))

    def test_the_published_run_stands_with_its_tail_noted(self):
        found = self.findings(PUBLISHED, direct=False)
        assert ("tail_cut", "note") in found
        assert all(severity == "note" for _, severity in found)

    @pytest.mark.parametrize(
        ("memory", "direct", "told"), [(32, False, True), (16, False, False), (32, True, False)]
    )
    def test_buffered_files_that_memory_holds_are_told(self, memory, direct, told):
        found = self.findings(PUBLISHED, memory=memory * GIB, direct=direct, space=20 * GIB)
        assert (("fits_in_memory", "suspect") in found) == told

    @pytest.mark.parametrize(
        ("memory", "told"),
        [
            (None, "fit in the memory of any machine"),
            (8 * GIB, "fit in 8.000 GiB of memory"),
            (2 * MIB, None),
        ],
    )
    def test_an_existing_output_is_held_against_the_memory_that_is_said_or_that_any_machine_has(
        self, memory, told
    ):
        (job,) = parse_output(text_of("auto_buffered").encode(), "out").jobs
        messages = [item.message for item in findings(job, memory=memory) if item.check == "fits_in_memory"]
        assert ([told in message for message in messages] == [True]) if told else not messages

    def test_files_of_a_size_that_not_every_machine_holds_are_not_suspected_blindly(self):
        (job,) = parse_output(PUBLISHED.encode(), "report").jobs
        assert {item.severity for item in findings(job)} == {"note"}
        assert "fits_in_memory" in {item.check for item in findings(job, memory=32 * GIB)}

    def test_whole_microseconds_are_few_digits(self):
        assert ("whole_microseconds", "suspect") in self.findings(text_of("auto_latency"))
        assert "whole_microseconds" not in dict(self.findings(text_of("auto_direct")))

    def test_what_iozone_says_against_its_figures_is_a_note_and_a_remark(self, tmp_path):
        words = "Timer resolution is poor. Some small transfers may have reported inaccurate results."
        text = text_of("auto_latency").replace("iozone test complete", f"{words}\n\niozone test complete")
        assert ("engine_remarks", "note") in self.findings(text)
        path = tmp_path / "out.txt"
        path.write_text(text)
        assert f"\nremark: {words}\n" in show([path], as_json=False)[0] + "\n"
        assert json.loads(show([path], as_json=True)[0])[0]["parts"][0]["remarks"] == [words]

    def test_a_mean_that_is_not_that_of_the_processes(self):
        text = PUBLISHED.replace("9689.98", "9089.98")
        assert ("sums", "invalid") in self.findings(text, direct=False)

    @pytest.mark.parametrize(
        ("figure", "other"),
        [("=  947178.63", "= 9471786.30"), ("673255.62", "2673255.62"), ("538047.56", "53804.75")],
        ids=["parent above all", "one above all", "one too slow for all"],
    )
    def test_figures_that_cannot_add_up(self, figure, other):
        text = text_of("throughput_2_direct")
        assert figure in text and ("sums", "invalid") not in self.findings(text)
        assert ("sums", "invalid") in self.findings(text.replace(figure, other))


@pytest.mark.parametrize("path", OUTPUTS, ids=lambda path: path.stem)
def test_iogate_show_reads_every_output(path):
    text, status = show([path], as_json=False)
    assert status == 0
    assert "iozone-3.489" in text and ("write." in text or "  write  " in text)
