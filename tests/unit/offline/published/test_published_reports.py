"""`iogate audit` finds what is wrong in published reports, and leaves alone what stands."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iogate.cli import main
from iogate.errors import IogateError
from iogate.offline.published import Machine, audit_files, pieces
from places import DATA
from published_tables import DEPTH, SOUND, by_check, only, report, table


class TestReports:
    def test_kxg60_milliseconds_are_microseconds_and_megabytes_are_neither(self):
        (sweep,) = report("nvme_kxg60_fio_sweep.md")
        found = by_check(sweep)
        assert sweep.rows == 20
        assert len(found["latency_unit"]) == 20, "every latency is a thousand times too long"
        assert len(found["bandwidth_unit"]) == 20, "every bandwidth is in units of 1000 KiB/s"
        assert set(found) == {"latency_unit", "bandwidth_unit"}
        assert len(by_check(sweep, "suspect")["short_run"]) == 18, "512 MiB are read in less than a second"

    def test_memory_and_ssd_the_queue_depth_was_ignored_and_no_link_is_that_fast(self):
        (jobs,) = report("memory_and_ssd_profiling.md")
        assert len(by_check(jobs, "suspect")["little_law"]) == 18
        assert len(by_check(jobs)["link_limit"]) == 2
        assert len(by_check(jobs, "suspect")["link_limit"]) == 4, "above PCIe 5.0, and below 6.0"
        assert by_check(jobs)["bandwidth_unit"] == {10}, "9.83 GB/s of job 8 are GiB/s"
        assert "it fits if the unit is GiB/s" in str([finding.message for finding in jobs.findings])

    def test_memory_and_ssd_with_the_link_of_that_ssd(self):
        text = (DATA / "published/memory_and_ssd_profiling.md").read_text()
        (jobs,) = pieces(text, "report.md", Machine(3.94e9))
        assert len(by_check(jobs)["link_limit"]) == 12

    def test_jetson_stands_but_not_by_the_command_that_is_printed(self):
        (results,) = report("jetson_agx_orin_fio.md")
        assert by_check(results) == {}
        suspects = by_check(results, "suspect")
        first = results.line + 2
        assert suspects["description"] == {first, first + 1, first + 2, first + 3}
        assert suspects["few_operations"] == {first, first + 1}
        notes = by_check(results, "note")
        assert notes["decimal_comma"] == {first + 4}
        assert notes["ceiling"] == {first + 3}

    def test_gluster_three_of_four_stand(self):
        reads, throughput, writes, slow = report("glusterfs_fio_report.md")
        assert [by_check(piece) for piece in (reads, throughput, writes)] == [{}, {}, {}]
        assert set(by_check(slow)) == {"two_units"}
        (units,) = [finding for finding in slow.findings if finding.check == "two_units"]
        assert units.kinds == {"bandwidth in MiB/s"}, "74.4 MB/s are what was moved in the time"
        assert set(by_check(slow, "suspect")) == {"short_run"}
        assert set(by_check(throughput, "note")) == {"bandwidth", "few_operations", "engine_remarks"}

    def test_strong_scaling_counts_whole_seconds_and_iozone_stands(self):
        tables_, iozone = (
            report("strong_scaling_and_iozone.md")[:5],
            report("strong_scaling_and_iozone.md")[5:],
        )
        tiny, *throughputs, comparison = tables_
        assert len(by_check(tiny)["tiny_latency"]) == 4
        assert len(by_check(tiny, "suspect")["below_sector"]) == 4
        for piece in throughputs:
            concerned = [finding for finding in piece.findings if finding.check == "whole_seconds"]
            assert len(concerned) == 12, "every cell is the size over whole seconds"
        assert len(by_check(comparison)["unit_clash"]) == 3, "kB/s are shown as Mb/s"
        assert len(iozone) == 6
        assert {finding.severity for piece in iozone for finding in piece.findings} == {"note"}
        assert all(piece.findings[0].line == piece.line for piece in iozone)

    def test_all_of_them_as_text(self):
        paths = sorted((DATA / "published").glob("[!R]*.md"))
        text, status = audit_files(paths)
        assert status == 1
        assert f"{paths[0]}:24: fio text, read_iops (1 job): read 4.829 k IOPS, 18.88 MiB/s, 13.25 ms" in text
        assert "does not stand: bandwidth (20 of 20 rows), latency (20 of 20 rows)" in text

    def test_the_unit_that_is_wrong_is_blamed(self):
        text = (DATA / "published/glusterfs_fio_report.md").read_text()
        *_, slow = pieces(text.replace("70.0MiB/s (74.4MB/s)", "70.9MiB/s (79.4MB/s)"), "report.md")
        (units,) = [finding for finding in slow.findings if finding.check == "two_units"]
        assert units.kinds == {"bandwidth in MB/s"} and "79.4MB/s is wrong" in units.message


class TestRows:
    def test_a_sound_row_stands(self):
        assert only(table(SOUND.format(depth=32), head=DEPTH)).findings == ()

    @pytest.mark.parametrize(
        ("row", "rule", "severity"),
        [
            ("| 4k | 32 | 100k | 409.6 MB/s | 320 ms |", "latency_unit", "invalid"),
            ("| 4k | 32 | 100k | 390.6 MB/s | 320 us |", "bandwidth_unit", "invalid"),
            ("| 4k | 32 | 100k | 438 MB/s | 320 us |", "bandwidth_unit", "suspect"),
            ("| 4k | 32 | 100k | 409.6 MB/s | 10 us |", "little_law", "suspect"),
            ("| 4k | 32 | 100k | 409.6 MB/s | 500 us |", "little_law", "suspect"),
            ("| 4M | 1 | 5k | 20.97 GB/s | 200 us |", "link_limit", "suspect"),
            ("| 4M | 1 | 10k | 41.94 GB/s | 100 us |", "link_limit", "invalid"),
            ("| 4k | 1 | 2M | 8.19 GB/s | 0.5 us |", "tiny_latency", "invalid"),
            ("| 8B | 1 | 100k | 800 kB/s | 10 us |", "below_sector", "suspect"),
            ("| 4k | 32 | 100k | 409,6 MB/s | 320 us |", "decimal_comma", "note"),
            ("| 4k | 32 | 100k | 409.6 312 | 320 us |", "unreadable", "suspect"),
        ],
    )
    def test_each_fault_is_told(self, row, rule, severity):
        found = [(finding.check, finding.severity) for finding in only(table(row, head=DEPTH)).findings]
        assert found == [(rule, severity)]

    def test_the_rounding_of_what_is_printed_is_no_fault(self):
        assert only(table("| 4k | 32 | 0.1M | 0.4 GB/s | 0.3 ms |", head=DEPTH)).findings == ()

    def test_reads_and_writes_of_one_cell_share_the_depth(self):
        row = "| 4k | 8 | r:30k, w:10k | r:122.9MB/s, w:40.96MB/s | r:200us, w:avg= 200us |"
        assert only(table(row, head=DEPTH)).findings == ()

    def test_percentiles_and_extremes_in_order(self):
        head = "| Min CLAT (us) | Avg CLAT (us) | Max CLAT (us) | 99th percentile of CLAT (us) |"
        assert only(table("| 10 | 20 | 90 | 80 |", head=head)).findings == ()
        (wrong,) = only(table("| 10 | 20 | 15 | 12 |", head=head)).findings
        assert wrong.check == "order"

    def test_submission_and_completion_make_the_total(self):
        head = "| Avg SLAT (us) | Avg CLAT (us) | Avg TLAT (us) |"
        assert only(table("| 10 | 90 | 100 |", head=head)).findings == ()
        (wrong,) = only(table("| 10 | 90 | 140 |", head=head)).findings
        assert wrong.check == "latency_sum"

    def test_speeds_that_vary_freely_are_no_clock_of_whole_seconds(self):
        rows = [
            f"| {block} | {value} |"
            for block, value in zip("abcdefgh", (91, 87.3, 402.7, 399, 12.9, 55, 700.3, 812.9), strict=True)
        ]
        piece = only(table(*rows, head="| Run | Throughput (MB/s) |", above="on a file of 10 GB"))
        assert piece.findings == ()


class TestFiles:
    def test_fio_json_is_audited(self):
        text, status = audit_files([DATA / "fio/fio-3.33.randread_grouped.json"])
        assert status == 0
        assert "fio JSON, randread-4k: read" in text and "stands: IOPS, bandwidth" in text

    def test_groups_that_ran_one_after_another_are_audited_one_by_one(self, tmp_path):
        text = (DATA / "fio/fio-3.33.jobfile_75_25.json").read_text()
        path = tmp_path / "out.json"
        path.write_text(text.replace('"groupid" : 0', '"groupid" : 1', 1))
        shown, status = audit_files([path])
        assert status == 0 and shown.count("fio JSON,") >= 3

    def test_what_is_refused_is_said_and_the_others_are_shown(self, tmp_path):
        prose = tmp_path / "prose.md"
        prose.write_text("# Nothing\nto see | here\n")
        text, status = audit_files(
            [
                tmp_path / "missing",
                prose,
                DATA / "fio/fio-3.33.sigint.json",
                DATA / "fio_text/fio-3.33.fsync.txt",
            ]
        )
        assert status == 1
        assert "missing: No such file or directory" in text
        assert "prose.md: has no figures that can be audited" in text
        assert "aborted by signal 2" in text
        assert "fio text, sy (1 job)" in text

    def test_small_iozone_runs_did_not_run_together(self):
        text, status = audit_files([DATA / "iozone/iozone-3.489.throughput_2_small.txt"])
        assert status == 1
        assert "they did not run at the same time" in text

    @pytest.mark.parametrize(
        ("figure", "check"),
        [("=  947178.63", "sums"), ("=  538047.56", "latency_order")],
        ids=["sum", "order"],
    )
    def test_what_is_wrong_of_iozones_bandwidths_is_told_of_bandwidth(self, figure, check):
        text = (DATA / "iozone/iozone-3.489.throughput_2_direct.txt").read_text()
        text = "\n".join(line for line in text.split("\n") if "Child[" not in line)
        first = pieces(text.replace(figure, "= 9471786.30"), "out.txt")[0]
        assert {one.kinds for one in first.findings if one.check == check} == {frozenset({"bandwidth"})}

    def test_a_table_of_iozone_is_audited_row_by_row(self):
        text = (DATA / "iozone/iozone-3.489.auto_buffered.txt").read_text()
        (table,) = pieces(text, "out.txt")
        rows = {31, 32, 33, 34, 35, 36}
        assert (table.line, table.rows, table.kinds) == (1, 6, {"bandwidth"})
        assert text.split("\n")[30].split()[:3] == ["2048", "256", "6321679"]
        suspected = by_check(table, "suspect")
        assert suspected == {"fits_in_memory": rows, "short_run": rows, "link_limit": rows}
        assert by_check(table, "note") == {"cached": rows} and not by_check(table)

    def test_a_table_of_iozone_past_the_cache_is_too_short_and_nothing_else(self):
        (table,) = pieces((DATA / "iozone/iozone-3.489.auto_direct.txt").read_text(), "out.txt")
        assert [list(by_check(table, severity)) for severity in ("invalid", "suspect", "note")] == [
            *([], ["short_run"], []),
        ]  # fmt: skip

    def test_what_is_known_of_the_machine_decides(self):
        text = (DATA / "iozone/iozone-3.489.auto_buffered.txt").read_text()
        (table,) = pieces(text, "out.txt", Machine(link=3.94e9, memory=2**20))
        assert len(by_check(table)["link_limit"]) == 6, "no device of that link read 24 GB/s"
        assert "fits_in_memory" not in by_check(table, "suspect")

    def test_the_command_takes_what_is_known_of_the_machine(self, capsys):
        path = str(DATA / "iozone/iozone-3.489.auto_buffered.txt")
        assert main(["audit", "--memory=16G", path]) == 0
        assert "fit in 16.00 GiB of memory" in capsys.readouterr().out
        assert main(["audit", "--link=1GB/s", path]) == 1
        with pytest.raises(SystemExit, match="2"):
            main(["audit", "--memory=much", path])

    def test_a_table_amid_prose_and_one_that_was_cut(self):
        text = (DATA / "iozone/iozone-3.489.auto_direct.txt").read_text()
        first, second = pieces(
            f"# Our disk\n\n{text}\nand again\n\n{text.partition('iozone test')[0]}", "r.md"
        )
        assert (first.line, first.rows, second.rows) == (3, 4, 4)
        assert "unreadable" not in by_check(first, "note") and "unreadable" in by_check(second, "note")

    def test_a_table_without_its_preamble_is_refused(self):
        text = (DATA / "iozone/iozone-3.489.auto_direct.txt").read_text()
        with pytest.raises(IogateError, match="the preamble does not say the unit"):
            pieces(text.partition("Time Resolution")[2], "out.txt")

    def test_outputs_of_the_other_engines_are_audited_too(self):
        text, status = audit_files([DATA / "native/reader.json", DATA / "mlc/v3.9a.latency_matrix.txt"])
        assert status == 0
        assert "suspect short_run: the run took" in text and "mlc says: Unable to modify prefetchers" in text

    def test_a_buffered_json_is_labelled(self, tmp_path):
        text = (DATA / "fio/fio-3.33.randread_grouped.json").read_text()
        path = tmp_path / "out.json"
        path.write_text(text.replace('"direct" : "1"', '"direct" : "0"'))
        assert "cached: buffered I/O" in audit_files([path])[0]

    def test_a_terminal_is_not_steered(self, tmp_path):
        path = tmp_path / "evil.md"
        path.write_text(
            table("| 4k\x1b]0;x\x07 | 32 | 100k | 409.6 MB/s | 320 ms |", head=DEPTH, above="t\x1b[2J")
        )
        assert "\x1b" not in audit_files([path])[0]


@settings(deadline=None)
@given(
    st.sampled_from(sorted((DATA / "published").glob("[!R]*.md"))),
    st.integers(0, 10**6),
    st.text(alphabet="0123456789.,=()[]|k:% \nMxGB/s\t-_e", max_size=6),
    st.integers(0, 40),
)
def test_no_damage_to_a_report_ends_in_a_traceback(path, place, junk, lost):
    text = path.read_text()
    place %= len(text)
    with contextlib.suppress(IogateError):
        pieces(text[:place] + junk + text[place + lost :], "report.md")
