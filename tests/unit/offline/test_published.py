"""`iogate audit` finds what is wrong in published reports, and leaves alone what stands."""

import contextlib
from collections.abc import Callable

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tabulate import tabulate, tabulate_formats

from growth import LINEAR, growth
from iogate.cli import main
from iogate.errors import IogateError
from iogate.offline.published import Machine, audit_files, pieces
from iogate.offline.published.html_tables import read_html
from iogate.offline.published.report import text
from places import DATA


def report(name):
    return pieces((DATA / "published" / name).read_text(), name)


def by_check(piece, severity="invalid"):
    """The lines of each rule that fired with a severity."""
    found = {}
    for finding in piece.findings:
        if finding.severity == severity:
            found.setdefault(finding.check, set()).add(finding.line)
    return found


def table(*rows, head="| Block size | Depth | IOPS | Bandwidth | Latency |", above=""):
    columns = head.count("|") - 1
    return "\n".join([above, head, "|" + "---|" * columns, *rows]) + "\n"


def only(text, link=None):
    (piece,) = pieces(text, "report.md", Machine(link))
    return piece


SOUND = "| 4k | {depth} | 100k | 409.6 MB/s | 320 us |"
DEPTH = "| Block size | IO Depth | IOPS | Bandwidth | Latency |"


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


CSV = 'bs,iodepth,iops,bw (MB/s),lat_us\n4k,32,"100,000",409.6,320\n8k,32,50k,500,640\n'
HTML = """\
<!DOCTYPE html><html><head><style>td { color: red }</style></head><body><h2>Fast &amp; slow</h2>
<table><thead><tr><th rowspan=2>Block size</th><th rowspan="2">QD<th colspan=2>Read<th colspan=2>Write</tr>
<tr><th>IOPS<th>BW (MB/s)<th>IOPS<th>BW (MB/s)</tr></thead>
<tr><td>4k</td><td>32</td>
    <td>100k</td><td>409.6</td><td>50k</td><td>204.8</td></tr>
<tr><td>8k<td>32<td>100k<td>819.2<td>50k<td>500</tr>
</table><script>var x = "<table><tr><td>iops<tr><td>1</table>";</script></body></html>
"""
COLUMNS = """\
Results of the run:

block size   qd    IOPS     BW MB/s   latency us
----------   --    ------   -------   ----------
4k           32    100k     409.6     320
8k           32    50k      500       640
"""


class TestForms:
    @pytest.mark.parametrize(
        ("text", "line", "what"),
        [
            (CSV, 3, "table"),
            (CSV.replace(",", ";").replace("100;000", "100,000"), 3, "table"),
            (HTML, 6, "table 'Fast & slow'"),
            ("# Results\n\n" + HTML[HTML.index("<table>") : HTML.index("<script>")], 7, "table '# Results'"),
            (COLUMNS, 6, "table 'Results of the run:'"),
            ("\n".join(" ".join(row.split()) for row in CSV.replace(" (", "_").replace(")", "").replace(
                '"100,000"', "100k").replace(",", " ").splitlines()), 3, "table"),
        ],
        ids=["commas", "semicolons", "page", "html in markdown", "columns", "blanks"],
    )  # fmt: skip
    def test_a_table_is_read_in_any_form(self, text, line, what):
        piece = only(text)
        assert (piece.what, piece.rows, piece.kinds >= {"iops", "bandwidth"}) == (what, 2, True)
        assert by_check(piece) == {"bandwidth_unit": {line}}

    @pytest.mark.parametrize(
        "between",
        [
            "",
            "# second device",
            "8k,,,,",
            "8k,16,50k,409.6,320,",
            "\n# second device",
            "# firmware 4B2, 2 TB, libaio",
            "\n8k,,,,",
        ],
        ids=["blank", "#", "group", ",", "blank #", "# with commas", "blank group"],
    )
    @pytest.mark.parametrize("separator", [",", ";", "\t"], ids=[",", ";", "tab"])
    def test_a_table_goes_on_behind_what_is_none_of_its_rows(self, between, separator):
        """All behind it was left out without a word, and what was left stood."""
        rows = ["bs,qd,IOPS,BW MB/s,latency us", "4k,32,100k,409.6,320", between, "8k,32,100k,81.92,320"]
        piece = only("\n".join(row.replace(",", separator) for row in rows))
        assert by_check(piece) == {"bandwidth_unit": {4 + between.count("\n")}}
        assert piece.rows == 2 + between.startswith("8k,16")

    @pytest.mark.parametrize(
        ("text", "line", "rows"),
        [
            ("bs,qd,IOPS,BW MB/s\n4k,32,100k,409.6\n4k,100k,409.6\n4k,32,100k,409.6\n", 3, 3),
            ("bs,qd,IOPS,BW MB/s\n4k,32,100k,409.6\n4k,32,100k,409.6,7\n", 3, 2),
            ("bs,qd,IOPS,BW MB/s\n4k,32,100k,409.6\n\nWrites after TRIM\n\n4k,32,100k,819.2\n", 6, 2),
            ("bs,qd,IOPS,BW MB/s\n4k,32,100k,409.6\n# bs,qd,p50,p99\n4k,32,100,819.2\n", 4, 2),
            (COLUMNS.replace("8k           32", "/dev/nvme0n1 8k"), 6, 2),
            (COLUMNS.replace("8k           32", "a second one 32"), 6, 2),
        ],
        ids=["fewer cells", "more cells", "a title", "other headings", "one blank", "as many"],
    )
    def test_a_row_that_nobody_can_tell_apart_is_told(self, text, line, rows):
        piece = only(text)
        assert piece.rows == rows
        told = {
            finding.line for finding in piece.findings if finding.check in ("unreadable", "bandwidth_unit")
        }
        assert told == {line}

    @pytest.mark.parametrize(
        ("text", "line", "rows"),
        [
            ("Test\tRead MB/s\tWrite MB/s\nfio\t195\t150\n# IOPS\nfio\t90000\t40000\n", 4, [2]),
            ("Test,Read MB/s,Write MB/s\nfio,195,150\n# IOPS\nfio,90000,40000\n", 4, [2]),
            ("| Test | Read MB/s |\n|---|---|\n| a | 195 |\n\n| IOPS | |\n| fio | 90000 |\n", 6, [2]),
            ("Threads\tread MB/s\twrite MB/s\n1\t500\t400\n\nIOPS\t4k\t64k\nread\t80000\t12000\n", 0, [1]),
            ("# Latency in ms\nJobs\tRead\n1\t0.1\n\n# Bandwidth in MB/s\nJobs\tRead\n4\t700\n", 0, [1, 1]),
            ("jobs,read_iops\n# NVMe, no cache\n1,50000\n4,90000\n", 0, [2]),
            ("Test,IOPS,MB/s\na,50000,204.8\n\nJob   MB/s\nx     900\n", 0, [1, 1]),
        ],
        ids=["tabs", "commas", "pipes", "headings", "titles", "a comment", "another form"],
    )
    def test_figures_below_a_title_of_their_own_are_not_read_in_the_unit_above(self, text, line, rows):
        found = pieces(text, "report.md")
        assert [piece.rows for piece in found] == rows
        told = [(one.check, one.line) for piece in found for one in piece.findings]
        assert told == ([("unreadable", line)] if line else [])

    def test_what_stands_below_a_table_is_none_of_its_rows(self):
        below = "\nIn all, 12 disks were tried.\n\nbs,qd,IOPS,BW MiB/s\n4k,32,100k,390.6\n"
        pipes = "\n| bs, rw | IOPS, k | BW, MiB/s |\n|---|---|---|\n| 4k | 1,000 | 3,906 |\n"
        csv = "bs,qd,IOPS,BW MB/s\n4k,32,100k,409.6\n"
        unmeasured = "\nbs,qd,p50,p99\n4k,32,98,410\n", "\nProcessor\nuser,sys,idle,steal\n12,9,70,9\n"
        for other in (*unmeasured, unmeasured[0].lstrip()):
            (piece,) = pieces(csv + other, "report.md")
            assert piece.rows == 1 and not piece.findings
        for other in (below, pipes):
            first, second = pieces(csv + other, "report.md")
            assert (first.rows, second.rows) == (1, 1)
            assert not first.findings and not by_check(second, "suspect")

    @pytest.mark.parametrize(
        "head",
        [
            "| bs | QD | Read IOPS | BW (MiB/s) | Latency (us) |",
            "| bs | QD | IOPS | Read BW (MiB/s) | Latency (us) |",
            "| bs | QD | Random read IOPS | BW (MiB/s) | Latency (us) |",
            "| bs | QD | IOPS | BW (MiB/s) | Read latency (us) |",
        ],
    )
    def test_a_direction_that_one_heading_names_is_of_the_whole_row(self, head):
        """IOPS of reads and bandwidths of nothing were held against each other by nobody, and stood."""
        assert not by_check(only(table("| 4k | 32 | 71060 | 277.6 | 450.3 |", head=head)))
        wrong = only(table("| 4k | 32 | 71060 | 555.2 | 450300 |", head=head))
        assert by_check(wrong) == {"bandwidth_unit": {4}, "latency_unit": {4}}

    @pytest.mark.parametrize(
        ("head", "row", "said"),
        [
            ("| bs | IOPS |", "| 4k | 71060 |", "nothing to hold against: IOPS"),
            ("| bs | BW (MB/s) |", "| 4k | 3500 |", "nothing to hold against: bandwidth"),
            ("| QD | IOPS | lat (us) |", "| 32 | 71060 | 450.3 |", "stands: IOPS, latency"),
            ("| bs | IOPS | lat (us) |", "| 4k | 71060 | 450.3 |", "nothing to hold against: IOPS, latency"),
            (
                "| bs | Random read IOPS | Read BW (MB/s) |",
                "| 4k | 71060 | 3500 |",
                "nothing to hold against: IOPS, bandwidth",
            ),
            (
                "| bs | QD | IOPS | BW (MiB/s) | p99 lat (us) |",
                "| 4k | 32 | 71060 | 277.6 | 900 |",
                "stands: IOPS, bandwidth\n    nothing to hold against: latency",
            ),
            (
                "| bs | QD | Read IOPS | Write IOPS | BW (MiB/s) |",
                "| 4k | 32 | 50000 | 20000 | 273.4 |",
                "nothing to hold against: IOPS, bandwidth",
            ),
        ],
    )
    def test_what_nothing_is_held_against_does_not_stand_for_that(self, head, row, said):
        assert text("x", [only(table(row, head=head))]).endswith(f"\n    {said}")

    @pytest.mark.parametrize("mark", ["**{}**", "_{}_", "`{}`", "<b>{}</b>", "~~{}~~", "[{}](x.md)", "{}*"])
    def test_emphasis_is_no_part_of_a_figure(self, mark):
        """Rows in bold, as the best of a table are, were passed over without a word."""
        cells = " | ".join(mark.format(cell) for cell in ("4k", "32", "71060", "555.2", "450300"))
        rows = ("| 16k | 8 | 22000 | 343.8 | 363.6 |", f"| {cells} |")
        piece = only(table(*rows, head="| bs | QD | IOPS | BW (MiB/s) | lat (us) |"))
        assert by_check(piece) == {"bandwidth_unit": {5}, "latency_unit": {5}}

    @pytest.mark.parametrize("cell", ["<71060", "+71060", "$71060$"])
    def test_what_has_a_digit_and_is_not_read_is_told(self, cell):
        piece = only(table(f"| 4k | {cell} | 277.6 |", head="| bs | IOPS | BW (MiB/s) |"))
        assert by_check(piece, "suspect") == {"unreadable": {4}}

    @pytest.mark.parametrize("cell", ["~71060", "≈ 71k", "71'060", "71,060 IO/s", "~ 73k", "71060 ± 120"])
    def test_figures_as_people_write_them(self, cell):
        """About right ones may be off by a twentieth."""
        head = "| bs | QD | IOPS | BW (MiB/s) | lat (us) |"
        assert not only(table(f"| 4k | 32 | {cell} | 277.6 | 450 us (avg) |", head=head)).findings
        piece = only(table(f"| 4k | 32 | {cell} | 27.76 | 450 us ± 3 us |", head=head))
        assert by_check(piece) == {"bandwidth_unit": {4}}

    @pytest.mark.parametrize(
        ("rate", "time"),
        [
            ("带宽（MB/s）", "延迟（us）"),
            ("Скорость чтения (МБ/с)", "Задержка (мкс)"),
            ("BW (MB/s, QD32)", "Latency (us, QD32)"),
            ("MB/s (QD32)", "Latency/us"),
            ("Bandwidth (MB/s)", "Latency (microseconds)"),
            ("BW MB/s", "Temps de réponse (µsec)"),
        ],
    )
    def test_units_as_people_write_them(self, rate, time):
        """Right figures had no unit, they said, or their columns were passed over."""
        head = f"| bs | QD | IOPS | {rate} | {time} |"
        right = only(table("| 4k | 32 | 71060 | 291.1 | 450 |", head=head))
        assert right.kinds == {"iops", "bandwidth", "lat"} and not right.findings
        wrong = only(table("| 4k | 32 | 71060 | 291.1 | 450000 |", head=head))
        assert "latency_unit" in by_check(wrong)

    @pytest.mark.parametrize(
        "heading",
        ["IOPS (32 QD)", "32 QD IOPS", "IOPS (QD-32)", "IOPS (queue length 32)", "IOPS (high queue depth)"],
    )
    def test_what_names_rates_and_depths_heads_rates(self, heading):
        piece = only(
            table("| 4k | 71060 | 277.6 | 450 |", head=f"| bs | {heading} | BW (MiB/s) | lat (us) |")
        )
        assert piece.kinds == {"iops", "bandwidth", "lat"} and not piece.findings

    @pytest.mark.parametrize(
        "head", ["Completion time (s)", "Runtime (s)", "Duration [s]", "Time to complete (s)"]
    )
    def test_the_time_of_a_run_is_no_latency(self, head):
        row = "| 4k | 32 | 71060 | 277.6 | 60 |"
        piece = only(table(row, head=f"| bs | QD | IOPS | BW (MiB/s) | {head} |"))
        assert piece.kinds == {"iops", "bandwidth"} and not piece.findings

    @pytest.mark.parametrize(
        "head", ["Response time (us)", "Completion latency (us)", "Avg service time (us)"]
    )
    def test_that_of_an_io_is_one(self, head):
        row = "| 4k | 32 | 71060 | 277.6 | 450300 |"
        piece = only(table(row, head=f"| bs | QD | IOPS | BW (MiB/s) | {head} |"))
        assert by_check(piece) == {"latency_unit": {4}}

    MIXED = "fio --name=a --rw=randrw --rwmixread=70 --bs=8k --iodepth=16 --numjobs=8\n\n"

    @pytest.mark.parametrize(
        ("head", "row", "right"),
        [
            ("Read IOPS | Read lat (ms) | Write IOPS | Write lat (ms)", "61234 | 1.44 | 26253 | 1.51", True),
            ("Read IOPS | Read lat (ms)", "61234 | 1.44", True),
            ("Read IOPS | Read lat (ms) | Write IOPS | Write lat (ms)", "61234 | 0.44 | 26253 | 0.51", False),
            ("Read IOPS | Read lat (ms)", "261234 | 1.44", False),
            ("IOPS | lat (ms)", "61234 | 1.44", False),
        ],
    )
    def test_a_row_of_a_mixed_job_has_its_reads_and_writes_in_flight(self, head, row, right):
        """The right one was said to have been made by another command."""
        piece = only(table(f"| a | {row} |", head=f"| Host | {head} |", above=self.MIXED))
        assert by_check(piece, "suspect") == ({} if right else {"description": {6}})

    @pytest.mark.parametrize(
        ("options", "iops", "right"),
        [
            ("--ioengine=libaio --group_reporting", 85_100 * 32, True),
            ("--ioengine=libaio", 85_100 * 4, True),
            ("--ioengine=libaio --group_reporting", 85_100, False),
            ("--ioengine=psync", 85_100, True),
            ("", 85_100, True),
            ("--ioengine=psync --group_reporting", 85_100 * 32, False),
            ("--ioengine=libaio --rate=50m --group_reporting", 85_100, True),
            ("--ioengine=libaio --rate=50m --group_reporting", 85_100 * 99, False),
        ],
    )
    def test_a_row_may_be_of_one_job_or_of_a_synchronous_ioengine(self, options, iops, right):
        """fio's own ioengine is psync, which has one I/O of each job in flight: such rows were doubted."""
        command = f"fio --name=a --rw=randread --bs=4k --iodepth=32 --numjobs=8 {options}\n\n"
        piece = only(table(f"| a | {iops} | 93.5 |", head="| Disk | IOPS | Latency (us) |", above=command))
        assert by_check(piece, "suspect") == ({} if right else {"description": {6}})

    @pytest.mark.parametrize(
        ("head", "row"),
        [
            ("| bs | QD | Total IOPS | Read IOPS | Read BW (MB/s) |", "| 4k | 32 | 100000 | 70000 | 286.7 |"),
            ("| bs | Drive | IOPS | Sequential read (MB/s) |", "| 4k | A | 90000 | 3500 |"),
            ("| bs | QD | IOPS | BW (MB/s) |", "| 4*4k | 32 | 25000 | 409.6 |"),
            (
                "| bs | QD | IOPS | BW (MB/s) | Submission (us) | Completion (us) | Total (us) |",
                "| 4k | 32 | 100000 | 409.6 | 2 | 318 | 320 |",
            ),
            ("| QD | IOPS | I/O time (us) |", "| 32 | 100000 | 320 |"),
            ("| QD | IOPS | lat (us) |", "| n/a (see 2) | 100000 | n/a (see 2) |"),
        ],
    )
    def test_right_figures_are_not_called_wrong(self, head, row):
        piece = only(table(row, head=head))
        assert not piece.findings, text("x", [piece])

    def test_the_time_of_a_run_is_not_what_the_title_names(self):
        piece = only(
            table("| a | 25000 | 3500 |", head="| Size | Time (s) | Speed |", above="Rates (MB/s)\n")
        )
        assert not piece.findings

    @pytest.mark.parametrize(
        ("head", "row"),
        [
            ("| QD | IOPS | clat (ms) |", "| 32 | 3 | 0.0106 |"),  # a part of the whole may be anything less
            (
                "| QD | Read IOPS | Read lat (ms) | Write IOPS | Write lat (ms) |",
                "| 32 | 3000 | 10.6 | 500 | 0.064 |",
            ),
            ("| bs | IOPS | BW (MB/s) |", "| 4k | 1M | 0.004 |"),  # a digit of a million may be half of it
        ],
    )
    def test_what_would_not_be_contradicted_does_not_stand(self, head, row):
        assert "stands" not in text("x", [only(table(row, head=head))])

    def test_thousands_that_depth_and_bandwidth_prove_are_the_iops(self):
        row, head = "| 4k | 32 | 100 | 409.6 | 320 |", "| bs | QD | IOPS | BW (MB/s) | lat (us) |"
        said = text("x", [only(table(row, head=head))])
        assert "stands: bandwidth, latency\n    doubtful: IOPS\n" in said

    def test_a_second_row_of_headings_is_no_row(self):
        rows = ("| | p50 | p99 |", "| A | 318 | 320 |")
        assert not only(table(*rows, head="| Test | clat (us) | lat (us) |")).findings

    def test_iops_may_say_so(self):
        head = "| bs | IOPS | BW (MiB/s) |"
        for cell in ("71,060 IOPS", "71.06K IOPS", "71.06k iops"):
            assert text("x", [only(table(f"| 4k | {cell} | 277.6 |", head=head))]).endswith("IOPS, bandwidth")

    @pytest.mark.parametrize(
        ("iops", "bandwidth", "latency", "verdict"),
        [
            ("71.06", "277.6 MiB/s", "450 us", {}),  # thousands, by the bandwidth and the latency
            ("71.06", "277.6 MiB/s", "450 s", {"latency_unit": {4}}),
            ("71.06", "277.6 MiB/s", "450 ms", {"bandwidth_unit": {4}}),  # of a slow disk: KiB/s are meant
        ],
    )
    def test_latencies_are_held_against_thousands_of_iops_where_bandwidths_say_so(
        self, iops, bandwidth, latency, verdict
    ):
        row = f"| 4k | 32 | {iops} | {bandwidth} | {latency} |"
        assert by_check(only(table(row, head="| bs | QD | IOPS | BW | Latency |"))) == verdict

    def test_rows_of_html_that_are_one_line_are_not_counted(self):
        """Findings know lines: of twenty wrong rows without line breaks, nineteen were said to stand."""
        head = "<table><tr><th>bs</th><th>IOPS</th><th>BW (MiB/s)</th></tr>"
        piece = only(head + "<tr><td>4k</td><td>2000</td><td>39</td></tr>" * 3 + "</table>")
        said = text("x", [piece])
        assert "    stands: IOPS\n    does not stand: bandwidth\n" in said and "3 rows of" in said

    @pytest.mark.parametrize(
        "row",
        [
            "<!-- <tr><td>4k<td>2000<td>39 -->",
            "<!--\n<tr><td>4k<td>2000<td>39</tr>\n-->",
            '<tr style="display: none"><td>4k<td>2000<td>39</tr>',
            '<tr style="display: none !important; display: table-row"><td>4k<td>2000<td>39</tr>',
            "<tr hidden=hidden><td>4k<td>2000<td>39</tr>",
            "<tr style=display:none><td>4k<td>2000<td>39</tr>",
            '<tr style="display&#58;none;display:foo"><td>4k<td>2000<td>39</tr>',
            '<tr title="a"hidden><td>4k<td>2000<td>39</tr>',
            "<tr hidden><td>4k<td>2000<td>39</tr>",
            "<tr><td>4k<td>2000<del>0</del><td><s>39</s> 7.8 MiB/s</tr>",
            "<tr><td>4k<td>2000<td><del>39<td hidden>39</tr>",
            "<tr><td>4k<td>2000<td>39<sup>1</sup></tr>",
            "<tr><td>4k<td>2000<span hidden>9</span><td>7.8 MiB/s</tr>",
            "<tr><td>4k<td>2000<b style='color: red; display:none'>9</b><td>7.8 MiB/s</tr>",
            "<!-->",
            "<tr><td>4k<td>1000<td>3.9</tr><!-- <tr><td>4k<td>2000<td>39 -->",
        ],
    )
    def test_what_no_reader_sees_in_html_is_no_figure(self, row):
        """Rows in comments were called wrong; a struck digit, or a footnote, made a figure longer."""
        head = "<table><tr><th>bs<th>IOPS<th>BW (MiB/s)</tr><tr><td>4k<td>1000<td>3.9</tr>"
        piece = only(f"{head}\n{row}\n</table>")
        assert by_check(piece) == {} and by_check(piece, "suspect").keys() <= {"unreadable"}

    @pytest.mark.parametrize(
        "row",
        [
            '<tr title="the hidden cost"><td>4k<td>2000<td>39</tr>',
            '<tr class="row hidden print"><td>4k<td>2000<td>39</tr>',
            '<tr style="overflow: hidden !important"><td>4k<td>2000<td>39</tr>',
            '<tr data-style="display:none"><td>4k<td>2000<td>39</tr>',
            '<tr style="display:none; display:table-row"><td>4k<td>2000<td>39</tr>',
            '<tr style="--x:display:none"><td>4k<td>2000<td>39</tr>',
            '<tr style="/*;display:none*/"><td>4k<td>2000<td>39</tr>',
            '<tr hidden style="display:table-row"><td>4k<td>2000<td>39</tr>',
            "<tr title=\"see style='display:none'\"><td>4k<td>2000<td>39</tr>",
            "<tr style=\"content:';display:none;'\"><td>4k<td>2000<td>39</tr>",
            "<tr data-x= hidden><td>4k<td>2000<td>39</tr>",
            "<tr class= hidden x><td>4k<td>2000<td>39</tr>",
            "<!-- closed --!><tr><td>4k<td>2000<td>39</tr><!-- x -->",
            "<tr><td>4k<td>2000<td>39</tr></table>\n```\n<!-- not closed\n```\n\n--><table>",
            "</table>\n\nWrite `<!--` before.\n<table><tr><th>bs<th>IOPS<th>BW (MiB/s)</tr>"
            "<tr><td>4k<td>2000<td>39</tr></table>\n-->\n<table>",
        ],
    )
    def test_what_readers_see_in_html_is_read(self, row):
        """A table was passed over for the word `hidden` in a title, or behind `<!--` in code."""
        head = "<table><tr><th>bs<th>IOPS<th>BW (MiB/s)</tr><tr><td>4k<td>1000<td>3.9</tr>"
        found = pieces(f"{head}\n{row}\n</table>", "report.md")
        assert [one for piece in found for one in by_check(piece)] == ["bandwidth_unit"]

    @pytest.mark.parametrize("head", ["<head><title>Disks</title>", "<title>Disks</title>", ""])
    def test_a_page_need_not_close_its_head(self, head):
        """Such a page, as the standard lets it be, had no figures."""
        rows = "<tr><th>bs<th>IOPS<th>BW (MiB/s)</tr><tr><td>4k<td>2000<td>39</tr>"
        (piece,) = pieces(f"<!DOCTYPE html>\n{head}\n<p>All\n<table>{rows}</table>", "page.html")
        assert [*by_check(piece)] == ["bandwidth_unit"] and "DOCTYPE" not in piece.what

    @pytest.mark.parametrize("wrong", [1, 10])
    @pytest.mark.parametrize("above", ["", "| bs | IOPS | MB/s |\n|---|---|---|\n| 4k | 100 | 0.41 |\n\n"])
    @pytest.mark.parametrize("bandwidth", ["bw (MB/s)", "MB/s"])
    def test_a_data_frame_is_read_with_its_index(self, wrong, above, bandwidth):
        """As pandas prints it. The index was the block size, and that the IOPS, or all was left out."""
        rows = [
            ("", "bs", "iops", bandwidth),
            ("0", "4k", "10000", f"{40.96 * wrong:.2f}"),
            ("1", "64k", "2000", "131.07"),
        ]
        frame = "\n".join(f"{a:<2}{b:>5}{c:>7}{d:>11}" for a, b, c, d in rows)
        found = pieces(above + frame, "report.md")
        assert sum(piece.rows for piece in found) == 2 + bool(above)
        assert [one for piece in found for one in by_check(piece)] == ["bandwidth_unit"] * (wrong > 1)

    def test_two_numbers_in_a_cell_are_no_block_size(self):
        """`3 16k`, an index and a size, was 316k, and a true row called wrong."""
        assert by_check(only(table("| 3 16k | 5000 | 81.92 |", head="| bs | IOPS | BW MB/s |"))) == {}

    @pytest.mark.parametrize("words", ["failed", "NaN", "time out", "<1", "out of memory"])
    @pytest.mark.parametrize("gap", ["", "\n"])
    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
    def test_a_row_of_words_hides_none_behind_it(self, words, gap, delimiter):
        """All rows behind one that failed were left out without a word, and the table stood."""
        rows = ("bs,IOPS,BW MB/s", *["-,-,-"] * (delimiter == "|"), "4k,1000,4.096", f"8k,{words},{words}")
        lines = [f"{delimiter if delimiter == '|' else ''}{row.replace(',', delimiter)}" for row in rows]
        lines.append(gap + lines[0][:1].strip("b") + "16k,1000,99.9".replace(",", delimiter))
        piece = only("\n".join(lines))
        assert [*by_check(piece)] == ["bandwidth_unit"]

    @pytest.mark.parametrize("title", ["Throughput in MB/s", "Throughput (MB/s)"])
    def test_columns_of_directions_are_of_the_kind_that_the_title_says(self, title):
        rows = ("| Seq 1M | 3500 | 3000 |", "| Rand 4k | 60 | 70000 |")
        piece = only(table(*rows, head="| Test | Read | Write |", above=title + "\n"))
        assert piece.kinds == {"bandwidth"} and by_check(piece) == {"link_limit": {6}}

    def test_or_that_the_labels_of_their_rows_say(self):
        """Such a table was passed over beside another one, and refused alone."""
        rows = (
            "| Seq 1M (MB/s) | 3500 | 3000 |",
            "| Rnd 4k (MB/s) | 60 | 70000 |",
            "| Rnd 4k (IOPS) | 60k | 9k |",
        )
        for some, found in (
            (rows[:2], {"link_limit": {5}}),
            (rows[1:], {"bandwidth_unit": {4}, "link_limit": {4}}),
        ):
            assert by_check(only(table(*some, head="| Test | Read | Write |"))) == found

    def test_or_that_their_cells_say(self):
        piece = only(table("| A | 3500 MB/s | 99 GB/s |", head="| Drive | Read | Write |"))
        assert by_check(piece) == {"link_limit": {4}}

    @pytest.mark.parametrize(
        ("heading", "cell", "kind"),
        [
            *[
                (heading, "450us", "lat")
                for heading in ("Avg", "Mean", "p99", "99%", "P99.9", "Max", "Result")
            ],
            *[(heading, "291.1 MB/s", "bandwidth") for heading in ("Rate", "Result", "Total", "Disk A", "")],
            ("Result", "71.06k IOPS", "iops"),
        ],
    )
    def test_or_of_the_units_that_cells_bear(self, heading, cell, kind):
        """Such columns were passed over without a word."""
        piece = only(table(f"| 4k | 291.1 MB/s | {cell} |", head=f"| bs | Read | {heading} |"))
        assert piece.kinds == {"bandwidth", kind} and not piece.findings

    @pytest.mark.parametrize("heading", ["p99", "Avg", "Result", "Drive A"])
    def test_units_that_cells_bear_are_used(self, heading):
        row = "| 4k | 32 | 71060 | 450 ms |"
        piece = only(table(row, head=f"| bs | QD | IOPS | {heading} |"))
        assert piece.kinds == {"iops", *(["lat"] if heading != "Drive A" else [])}
        assert by_check(piece) == ({"latency_unit": {4}} if heading in ("Avg", "Result") else {})
        piece = only(table("| 4k | 32 | 71060 | 99 GB/s |", head=f"| bs | QD | IOPS | {heading} |"))
        assert "link_limit" in by_check(piece)

    @pytest.mark.parametrize(
        "cells",
        [("450 us", "291 MB/s", "3 ms"), ("291 MB/s", "71060 IOPS", "450 us"), ("1 MB/s", "2", "3 ms")],
    )
    def test_a_column_of_several_units_is_told(self, cells):
        rows = [f"| 4k | 71060 | {cell} |" for cell in cells]
        piece = only(table(*rows, head="| bs | IOPS | Result |"))
        assert by_check(piece, "note") == {"unreadable": {4}} and not by_check(piece)

    @pytest.mark.parametrize("cell", ["60 s", "400 GB", "12 ms", "3.5"])
    def test_what_bears_another_unit_is_no_figure_of_storage(self, cell):
        piece = only(table(f"| 4k | 71060 | {cell} |", head="| bs | IOPS | Duration |"))
        assert piece.kinds == {"iops"} and not piece.findings

    def test_a_table_of_rates_whose_headings_name_no_figure_is_told_beside_others(self):
        """It may be of a network: alone it is refused, as ever."""
        rates = table("| 4k | 291 MB/s | 99 GB/s |", "| 64k | 1 GB/s | 2 GB/s |", head="| Test | A | B |")
        with pytest.raises(IogateError, match="no figures that can be audited"):
            pieces(rates, "report.md")
        first, second = pieces(table("| 4k | 71060 | 291.1 |", head="| bs | IOPS | MB/s |") + rates, "r.md")
        assert first.kinds == {"iops", "bandwidth"} and not first.findings
        assert second.kinds == set() and by_check(second, "note") == {"unreadable": {8}}

    def test_fields_of_fios_json_are_read_in_their_units(self):
        """Their figures were called none, one by one."""
        fields = "read.iops,read.bw,read.bw_bytes,read.lat_ns.mean,read.clat_ns.percentile.99.000000"
        head = f"jobname,job options.bs,job options.iodepth,{fields}\n"
        right = "a,4k,32,102400,409600,419430400,312500,500000\n"
        piece = only(head + right)
        assert piece.kinds == {"iops", "bandwidth", "lat", "clat"} and not piece.findings
        wrong = only(head + right.replace("409600", "300000").replace("312500", "31250"))
        assert by_check(wrong) == {"bandwidth_unit": {2}} and by_check(wrong, "suspect") == {
            "little_law": {2}
        }

    def test_a_figure_without_a_unit_is_told_as_such(self):
        piece = only(table("| 4k | 71060 | 291 |", head="| bs | IOPS | Bandwidth |"))
        assert "'291' has no unit, nor has its heading" in text("x", [piece])

    @pytest.mark.parametrize(
        ("head", "rows"),
        [
            ("| iodepth | IOPS | Latency (us) |", ("| 1 | 32,000 | 125 |", "| 4 | 80,000 | 200 |")),
            ("| Threads | IOPS | Latency (us) |", ("| 1 | 60,000 | 266 |", "| 8 | 130,000 | 984 |")),
        ],
    )
    @pytest.mark.parametrize(
        "said",
        [
            "fio --rw=randread --bs=4k --iodepth=16 --numjobs=4 --ioengine=libaio --group_reporting",
            "numjobs=4, libaio, reads of 4k:",
            "[global]\nnumjobs=4\nioengine=libaio\n[job]\niodepth=${QD}",
        ],
    )
    def test_a_sweep_has_as_many_jobs_as_the_text_beside_it_says(self, head, rows, said):
        """Its rows were doubted: `were there several jobs?`, and said to be made by another command."""
        piece = only(table(*rows, head=head, above=f"{said}\n\n"))
        assert not piece.findings, text("x", [piece])

    def test_but_no_more_than_it_says(self):
        rows = ("| 1 | 32,000 | 125 |", "| 4 | 200,000 | 200 |")
        piece = only(table(*rows, head="| QD | IOPS | Latency (us) |", above="numjobs=4\n\n"))
        assert by_check(piece, "suspect") == {"little_law": {7}}

    @pytest.mark.parametrize(
        ("heading", "depth", "jobs"),
        [
            ("IOPS (queue depth 32)", True, False),
            ("IOPS (iodepth=32)", True, False),
            ("4K Read IOPS (QD=32)", True, False),
            ("IOPS at queue depth 32", True, False),
            ("IOPS, 4 threads", False, True),
            ("IOPS (4 jobs)", False, True),
            ("IOPS (bs=4k)", False, False),
        ],
    )
    def test_a_heading_may_name_its_condition(self, heading, depth, jobs):
        """Its figures were taken for the depth, and right rows doubted: `not 300000`."""
        latency = "Read lat" if "Read" in heading else "lat"
        for time, fits in ((106 * (4 if jobs else 1), True), (10600, False)):
            head = f"| bs | {'QD | ' if jobs else ''}{heading} | {latency} (us) |"
            row = f"| 4k | {'32 | ' if jobs else ''}300000 | {time} |"
            piece = only(table(row, head=head))
            assert piece.kinds == {"iops", "lat"}
            assert bool(piece.findings) == (not fits and (depth or jobs)), text("x", [piece])

    def test_a_heading_that_is_a_condition_alone_heads_figures(self):
        rows = ("| A | 12.1k IOPS | 301k IOPS |", "| B | 12.2k IOPS | 302k IOPS |")
        assert only(table(*rows, head="| Drive | QD=1 | QD=8 |", above="(IOPS)\n")).kinds == {"iops"}

    def test_a_percentile_of_no_direction_unties_no_mean(self):
        head = "bs,iodepth,read_iops,read_lat_avg_us,p99_us"
        assert not only(f"{head}\n4k,32,71060,450.3,900\n").findings
        assert "latency_unit" in by_check(only(f"{head}\n4k,32,71060,450300,900\n"))

    @pytest.mark.parametrize("name", ["mean_us", "avg_us", "lat_avg_us"])
    @pytest.mark.parametrize("rank", ["p99_us", "lat_99_us", "lat99_us"])
    def test_statistics_of_csv(self, name, rank):
        """`p99_us` was passed over without a word, and `lat_99_us` taken for a mean."""
        right = only(f"bs,iodepth,iops,{name},{rank}\n4k,32,100000,320,900\n")
        assert right.kinds == {"iops", "lat"} and not right.findings
        wrong = only(f"bs,iodepth,iops,{name},{rank}\n4k,32,100000,320000,90\n")
        assert "latency_unit" in by_check(wrong)

    @pytest.mark.parametrize(
        "heading", ["延迟 (us)", "平均延迟(μs)", "レイテンシ (us)", "지연 (us)", "Задержка (us)"]
    )
    def test_latencies_in_other_languages(self, heading):
        """They were taken for the time of a run."""
        head = f"| bs | QD | IOPS | {heading} |"
        assert not only(table("| 4k | 32 | 100000 | 320 |", head=head)).findings
        assert "latency_unit" in by_check(only(table("| 4k | 32 | 100000 | 320000 |", head=head)))

    def test_the_bandwidth_of_a_program_of_ones_own_is_not_in_the_unit_of_fios_json(self):
        piece = only("bs,read_iops,read_bw\n4k,100000,409.6\n")
        assert not by_check(piece) and "'409.6' has no unit" in text("x", [piece])

    def test_rows_say_what_figures_are_below_headings_of_directions(self):
        """One cell with a unit gave it to its whole column: right cells were no figures."""
        rows = ("| IOPS | 95.2k | 71.3k |", "| BW | 372MiB/s | 279MiB/s |", "| Latency | 2.69ms | 3.59ms |")
        piece = only(table(*rows, head="| Metric | Read | Write |"))
        assert piece.kinds == {"iops", "bandwidth", "lat"} and not piece.findings
        rows = ("| Seq 1M | 7068 MB/s | 5109 MB/s |", "| Rnd 4K QD1 | 15k IOPS | 60k IOPS |")
        piece = only(table(*rows, head="| Test | Read | Write |"))
        assert piece.kinds == {"iops", "bandwidth"} and not piece.findings

    @pytest.mark.parametrize("heading", ["Cores/Threads", "System (threads)", "Physical cores (threads)"])
    def test_threads_of_the_machine_are_no_jobs(self, heading):
        row = "| 16 | 4k | 32 | 100000 | 320 |"
        assert not only(table(row, head=f"| {heading} | bs | QD | IOPS | lat (us) |")).findings

    @pytest.mark.parametrize("heading", ["99th (ms)", "95th", "99.9% lat (us)", "2nd run IOPS", "4k IOPS"])
    @pytest.mark.parametrize("form", [",", "\t", "  ", "<td>"])
    def test_a_heading_may_begin_with_a_digit(self, heading, form):
        """Such a table was none, and passed over beside others."""
        rows = [["Test", "bs", "IOPS", "MB/s", heading], ["x", "4k", "452311", "185.27", "620"]]
        if form == "<td>":
            cells = ("".join(f"<td>{cell}" for cell in row) for row in rows)
            page = f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
        else:
            page = "\n".join(form.join(row) for row in rows)
        assert "bandwidth_unit" in by_check(only(page + "\n"))

    @pytest.mark.parametrize(
        "cell",
        ["105 ± 20 us", "(105 ± 20) µs", "105 (± 20) us", "105 us (±2%)", "105 (±20 us)", "105us +/- 20us"],
    )
    def test_the_unit_of_a_figure_may_stand_behind_its_uncertainty(self, cell):
        """It was taken away with it, so that figures were read in the unit of the heading."""
        for heading in ("Latency (ms)", "Latency", "Latency (us)"):
            head = f"| QD | IOPS | {heading} |"
            assert not only(table(f"| 32 | 303,000 | {cell} |", head=head)).findings
            wrong = cell.replace("us", "ms").replace("µs", "ms")
            assert by_check(only(table(f"| 32 | 303,000 | {wrong} |", head=head))) == {"latency_unit": {4}}

    @pytest.mark.parametrize("heading", ["lat avg ± stdev (µs)", "Latency (µs) ± SD", "lat +/- std (us)"])
    def test_a_heading_may_say_how_uncertain_a_mean_is(self, heading):
        piece = only(table("| 32 | 303,000 | 105 ± 20 |", head=f"| QD | IOPS | {heading} |"))
        assert piece.kinds == {"iops", "lat"} and not piece.findings

    @pytest.mark.parametrize(
        ("rate", "time"),
        [
            (r"[MiB/s]", r"[\si{\micro\second}]"),
            (r"(\si{\mebi\byte\per\second})", r"(\si{\us})"),
            (r"/ \unit{MiB/s}", r"/ \unit{\micro\second}"),
            (r"[$\mathrm{MiB/s}$]", r"[$\mu\mathrm{s}$]"),
        ],
    )
    def test_units_of_latex(self, rate, time):
        rows = r"4k & 1 & 17100 & 66.8 & 58 \\" "\n" r"4k & 32 & 303000 & 183 & 105 \\"
        head = rf"bs & QD & IOPS & BW {rate} & Latency {time} \\ \hline"
        piece = only("\\begin{tabular}{lrrrr}\n" + f"{head}\n{rows}\n" + "\\end{tabular}\n")
        assert piece.kinds == {"iops", "bandwidth", "lat"} and by_check(piece) == {"bandwidth_unit": {4}}
        assert not by_check(piece, "suspect")

    def test_latencies_of_diskspd_are_in_ms_and_its_settings_no_table(self):
        head = "thread |  bytes  |  I/Os  |  MiB/s  |  I/O per s |  AvgLat  | LatStdDev |  file"
        row = "     0 | 6144000 | 150000 |  195.25 |   49983.34 |    0.640 |     0.120 | testfile.dat (10GiB)"
        settings_ = (
            "Input parameters:\n\n\tmeasuring latency\nthread count:\t\t4\nactual test time:\t30.01s\n\n"
        )
        (piece,) = pieces(f"{settings_}Total IO\n{head}\n{'-' * 90}\n{row}\n", "out.txt")
        assert piece.kinds == {"bandwidth", "iops", "lat"} and not piece.findings

    @pytest.mark.parametrize(
        "title",
        [
            "4k randread",
            "## 4k randread",
            "**4k randread**",
            "## randread bs=4k",
            "Random read (4k, QD32)",
            "### 3.2. Random read, 4 KiB, 4 jobs",
            "Table 3: randread 4k QD32",
            "`fio --rw=randread --bs=4k`",
        ],
    )
    def test_a_block_size_that_the_title_says_holds_for_the_rows_below(self, title):
        """But for the first of these, nothing was held against bandwidths."""
        rows = ("| A | 71060 | 291.1 |", "| B | 71060 | 150 |")
        piece = only(table(*rows, head="| Drive | IOPS | MB/s |", above=title + "\n"))
        assert by_check(piece) == {"bandwidth_unit": {6}}

    @pytest.mark.parametrize(
        "title",
        [
            "4k and 8k randread",
            "bs=4k-64k",
            "bs=4k,8k",
            "reads of 4k files",
            "4k stripes",
            "64k stripe, randread",
        ],
    )
    def test_a_size_in_a_title_that_may_be_another_holds_for_none(self, title):
        piece = only(table("| A | 71060 | 150 |", head="| Drive | IOPS | MB/s |", above=title + "\n"))
        assert not piece.findings

    @pytest.mark.parametrize("heading", ["Read [MB/s]", "read_mb_s", "bw_mb", "Bandwidth [MB/s]", "BW_MBps"])
    def test_units_in_brackets_and_in_names_of_variables(self, heading):
        """The column was passed over beside one of IOPS, or its figures were called no figures."""
        iops = "Read IOPS" if heading.lower().startswith("read") else "IOPS"
        piece = only(table("| 4k | 400 | 12000 |", head=f"| bs | {heading} | {iops} |"))
        assert by_check(piece) == {"bandwidth_unit": {4}}

    @pytest.mark.parametrize(
        "iops",
        [
            "kIOPS",
            "IOPS (k)",
            "KIOPS",
            "iops [K]",
            "IOPS (thousands)",
            "IOPS (x1000)",
            "IOPS ('000)",
            "IOPS (000s)",
            "Kilo-IOPS",
            "IOPS in thousands",
            "IOPS (in K)",
            "K IOPS",
            "IOPS k",
            "IOPS [thousand]",
            "thousand IOPS",
            "IOPS (Kops)",
            "IOPS (k IO/s)",
            "IOPS ×1000",
            "IOPS (×10³)",
            "IOPS (1e3)",
            "IOPS (x10^3)",
        ],
    )
    @pytest.mark.parametrize("size", ["bs", "Block size (KB)", "bs [KiB]", "bs_kb", "Block size KB"])
    def test_a_heading_says_of_how_many_its_numbers_are(self, iops, size):
        """Such IOPS were passed over, and such blocks taken for bytes: a right bandwidth did not stand."""
        block = "4k" if size == "bs" else "4"
        rows = f"| {block} | 100 | 390.6 |", f"| {block} | 100 | 39.06 |"
        piece = only(table(*rows, head=f"| {size} | {iops} | BW (MiB/s) |"))
        assert by_check(piece) == {"bandwidth_unit": {5}}
        assert piece.kinds == {"iops", "bandwidth"}

    @pytest.mark.parametrize(
        "iops",
        [
            "IOPS (4 KB)",
            "Read IOPS (4 KiB)",
            "IOPS 4 KB",
            "read_iops_4_kb",
            "IOPS (16 GB)",
            "4 K IOPS",
            "IOPS (4 K)",
        ],
    )
    def test_a_block_size_in_the_heading_of_iops_is_not_their_unit(self, iops):
        piece = only(
            table("| 1 | 10000 | 100 |", "| 32 | 100000 | 320 |", head=f"| QD | {iops} | Latency (us) |")
        )
        assert by_check(piece) == {} and piece.kinds == {"iops", "lat"}

    @pytest.mark.parametrize(
        "iops", ["IOPS (millions)", "IOPS (10000)", "IOPS (x10^4)", "IOPS/1000", "IOPS (1e6)"]
    )
    def test_iops_of_which_it_is_not_clear_how_many_they_are_do_not_stand(self, iops):
        piece = only(table("| 4k | 100 | 390.6 |", head=f"| bs | {iops} | BW (MiB/s) |"))
        assert {finding.check for finding in piece.findings} == {"unreadable"}
        assert piece.kinds == {"bandwidth"}

    def test_where_iops_may_be_thousands_it_is_not_said_which_of_both_is_wrong(self):
        piece = only(table("| 4k | 71.06 | 277.6 |", head="| bs | IOPS, by the vendor | BW (MiB/s) |"))
        (finding,) = piece.findings
        assert (finding.check, finding.severity) == ("bandwidth_unit", "suspect")
        assert "it fits if the IOPS are thousands" in finding.message
        assert finding.kinds == {"iops", "bandwidth"}

    @pytest.mark.parametrize("unit", ["Mb/s", "Mbps"])
    def test_what_is_bits_by_its_name_and_by_its_iops_is_bits(self, unit):
        """Of both that is written, of bytes and of bits."""
        head = f"| bs | IOPS | BW ({unit}) |"
        rows = "| 128k | 50000 | 52428.8 |", "| 128k | 20000 | 20971.5 |"
        assert only(table(*rows, head=head)).findings == (), "6.55 GB/s, which the fastest link can"
        assert only(table("| 4k | 100000 | 409.6 |", head=head)).findings == ()
        assert by_check(only(table("| 4k | 100000 | 1000 |", head=head))) == {"bandwidth_unit": {4}}
        beside = only(table("| 4k | 100000 | 3276.8 | 100000 |", head=f"{head} max BW (MB/s) |"))
        assert by_check(beside) == {"link_limit": {4}}, "bytes beside them stay bytes"

    def test_a_unit_that_other_rows_bear_out_is_not_the_wrong_one(self):
        """Means that fio sampled differ from what was done by some percent, and 2.4% by chance."""
        head = "| bs | IOPS | BW (KiB/s) |"
        sound = [f"| 4k | {rate} | {rate * 4} |" for rate in (10_000, 20_000, 30_000)]
        piece = only(table(*sound, "| 4k | 40000 | 163840 |", head=head))
        (found,) = piece.findings
        assert (found.check, found.severity) == ("bandwidth_unit", "suspect") and "fits" not in found.message
        (found,) = only(table("| 4k | 40000 | 163840 |", head=head)).findings
        assert found.severity == "invalid" and "it fits if the unit is" in found.message

    def test_figures_as_programs_print_large_ones(self):
        head = "| bs | IOPS | BW (KiB/s) |"
        assert only(table("| 4k | 2.862005389121e+06 | 1.1448021556484e+07 |", head=head)).findings == ()
        assert by_check(only(table("| 4k | 2.862005389121e+06 | 1.3448021556484e+07 |", head=head))) == {
            "bandwidth_unit": {4}
        }

    def test_what_may_be_bits_is_held_against_the_link_as_bits(self):
        """Published rows of `7992.600 MB/s | 63.941 Gbps` were called faster than any link."""
        head = "| files | MB/s | Gbps |"
        assert only(table("| 100 | 7992.600 | 63.941 |", head=head)).findings == ()
        assert by_check(only(table("| 100 | 2292 | 28.3 |", head=head))) == {"two_units": {4}}
        assert by_check(only(table("| 100 | 1000 |", head="| files | Gbps |"))) == {"link_limit": {4}}
        assert only(table("| 100 | 63.941 |", head="| files | bw_gbps |")).findings == ()
        assert by_check(
            only(table("| 4k | 100000 | 409.6 | 819 |", head="| bs | iops | bw_mbps | bw_MBps |"))
        )

    @pytest.mark.parametrize(
        "clat", ["clat (us)", "clat mean (us)", "clat_us", "Avg clat (us)", "Completion latency (us)"]
    )
    def test_completion_latencies_are_asked_whether_they_are_too_long(self, clat):
        """They are a part of the whole: too short they may be, if submission took the rest."""
        head = f"| bs | QD | IOPS | {clat} |"
        assert by_check(only(table("| 16k | 32 | 80408 | 394484 |", head=head))) == {"latency_unit": {4}}
        many = only(table("| 16k | 32 | 80408 | 900 |", head=head))
        assert by_check(many) == {} and set(by_check(many, "suspect")) == {"little_law"}
        for fine in ("394", "10"):
            assert only(table(f"| 16k | 32 | 80408 | {fine} |", head=head)).findings == ()

    @pytest.mark.parametrize(
        "words", ["median", "worst", "(50% full)", "at 95% fill", "90% full drive", "50%/50% mix", "(95% CI)"]
    )
    def test_which_of_several_runs_iops_and_bandwidths_are_of_is_no_part_of_one(self, words):
        head = f"| bs | QD | {words} IOPS | {words} BW (MiB/s) |"
        assert by_check(only(table("| 4k | 32 | 71060 | 555.2 |", head=head))) == {"bandwidth_unit": {4}}

    @pytest.mark.parametrize(
        "words",
        [
            *("Median lat (us)", "avg lat (us), median of 3", "avg lat (us) 95% CI"),
            *("Latency (us) 95% busy", "worst disk latency (us)", "Latency (us) 90% R"),
        ],
    )
    def test_a_mean_or_a_median_of_latencies_is_asked_whether_it_is_too_long(self, words):
        head = f"| bs | QD | IOPS | {words} |"
        assert by_check(only(table("| 16k | 32 | 80408 | 394484 |", head=head))) == {"latency_unit": {4}}

    def test_iops_that_are_called_thousands_and_fit_as_they_stand_are_doubtful(self):
        piece = only(table("| 4k | 71060 | 277.6 |", head="| bs | kIOPS | BW (MiB/s) |"))
        (finding,) = piece.findings
        assert finding.severity == "suspect" and "fits if the IOPS are no thousands" in finding.message

    @pytest.mark.parametrize(
        "part",
        ["99% clat (us)", "clat (99.9%) us", "clat99 (us)", "99.00th clat (us)", "lat 95% us", "tail lat us"],
    )
    def test_a_percentile_is_no_mean(self, part):
        head = f"| bs | QD | IOPS | {part} |"
        assert only(table("| 16k | 32 | 80408 | 900 |", head=head)).findings == ()

    def test_iops_are_in_order_too(self):
        piece = only(table("| 4k | 12000 | 10000 | 11000 |", head="| bs | IOPS min | IOPS | IOPS max |"))
        assert by_check(piece) == {"order": {4}}

    @pytest.mark.parametrize("heading", ["read_mb", "size_mb", "Write (GB)"])
    def test_sizes_are_no_rates(self, heading):
        piece = only(table("| 4k | 400 | 12000 |", head=f"| bs | {heading} | IOPS |"))
        assert piece.kinds == {"iops"} and by_check(piece) == {}

    @pytest.mark.parametrize("unit", ["MB/s", "MiB/s", "MBps", "GB/sec"])
    def test_a_heading_that_is_nothing_but_the_unit_of_a_rate_is_one_of_bandwidths(self, unit):
        head = f"| Block size | IOPS | {unit} | ms |"
        piece = only(table("| 4k | 100k | 30 | 320 |", head=head))
        assert piece.kinds == {"iops", "bandwidth"}, "of a time nobody knows what it is of"
        assert "bandwidth_unit" in by_check(piece)

    def test_reads_and_writes_in_columns_of_their_own_may_be_a_run_each_or_one(self):
        head = "| bs | qd | Read IOPS | Read lat | Write IOPS | Write lat |"
        for row in ("| 4k | 32 | 100k | 320us | 50k | 640us |", "| 4k | 32 | 70k | 320us | 30k | 320us |"):
            assert only(table(row, head=head)).findings == ()
        ignored = only(table("| 4k | 32 | 1k | 320us | 1k | 320us |", head=head))
        assert set(by_check(ignored, "suspect")) == {"little_law"}

    def test_a_spread_is_no_latency(self):
        head = "| bs | qd | IOPS | lat us | lat stddev us |"
        assert only(table("| 4k | 32 | 100k | 320 | 1 |", head=head)).findings == ()

    def test_words_about_html_hide_no_table(self):
        text = "Write `<table>` or <head> or <td>.\n\n" + COLUMNS
        assert only(text).line == 5

    @pytest.mark.parametrize(
        "text",
        [
            "workloads:\n  random_read: {rw: read,\n    size: 256M}\n",
            "We read the bandwidth, the latency\nof 4 disks, and found nothing\n",
            "<p>read, write</p>\n<p>1, 2</p>\n",
        ],
    )
    def test_prose_is_no_table(self, text):
        with pytest.raises(IogateError, match="no figures that can be audited"):
            pieces(text, "report.md")


FORMS: dict[str, Callable[[str], str]] = {
    "commas": lambda row: row,
    "semicolons": lambda row: row.replace(",", ";"),
    "tabs": lambda row: row.replace(",", "\t"),
    "pipes": lambda row: f"| {row.replace(',', ' | ')} |",
    "columns": lambda row: "   ".join(cell.ljust(8) for cell in row.split(",")),
    "blanks": lambda row: " ".join(cell.replace(" ", "_") for cell in row.split(",")),
}
BETWEEN = [
    *(
        "",
        "# another",
        "<!-- x -->",
        "---",
        "```",
        "Words",
        "Words\nand more\nof them\nand on",
        "Then, it ran, too",
    ),
    *("> a quote", "IOPS", "# IOPS", "# a,b,c,d,e", "Random writes (MiB/s):", "Total: 5", "x | y"),
    *(
        "| x | IOPS |\n|---|---|\n| a | 5k |",
        "| x | y |\n|---|---|\n| a | 5 |",
        "x,IOPS\na,5k",
        "x;IOPS;w\na;5k;8",
    ),
    *("a  IOPS\nb  5k", "Job\tIOPS\n1\t2", "Job\tWords\n1\t2"),
]
OF_ITS_FORM = ["8k,,,,", "8k,n/a,n/a,~,-", "8k,100k,1", "8k,x,failed,failed,out of space", "8k,<1,<1,<1,~9"]


@settings(deadline=None)
@given(
    st.sampled_from(sorted(FORMS)),
    st.lists(
        st.lists(st.sampled_from(BETWEEN) | st.sampled_from(OF_ITS_FORM), max_size=3), min_size=3, max_size=3
    ),
    st.booleans(),
)
def test_no_row_is_lost_without_a_word_whatever_is_between(form, between, quoted):
    """And none is read below headings that are not its own."""
    formed = FORMS[form]
    lines = [formed("bs,iodepth,iops,bw MB/s,lat us"), *["|---|---|---|---|---|"] * (form == "pipes")]
    rows = ["4k,32,100k,409.6,320", "8k,32,50k,409.6,640", "16k,32,25k,409.6,1280", "64k,32,6250,409.6,5120"]
    numbers = []
    for row, texts in zip(rows, [[], *between], strict=True):
        for words in texts:
            lines += (formed(words) if words in OF_ITS_FORM else words).split("\n")
        lines.append(formed(row))
        numbers.append(len(lines))
    found = pieces("\n".join(f"> {line}" if quoted else line for line in lines), "report.md")
    assert {number for piece in found for number in piece.unheld} >= {*numbers}
    assert not [one for piece in found for one in piece.findings if one.severity == "invalid"]


@settings(deadline=None)
@given(
    st.sampled_from([CSV, HTML, COLUMNS]),
    st.integers(0, 10**6),
    st.text(alphabet="0123456789.,;\"'<>/=&# \n\tkMBstdhrcolspan", max_size=12),
    st.integers(0, 40),
)
def test_no_damage_to_a_table_ends_in_a_traceback(text, place, junk, lost):
    place %= len(text)
    with contextlib.suppress(IogateError):
        pieces(text[:place] + junk + text[place + lost :], "report.html")


SCRAPS = [
    *("<table>", "</table>", "<tr>", "<td colspan=999>", "<th rowspan=99>", "<pre>", "<script>", "</script>"),
    *("4k", "iops", "read,write,bw\n", "1,2,3\n", "&lt;", "<", "\n", "  "),
]


@settings(deadline=None)
@given(st.lists(st.sampled_from(SCRAPS), max_size=40))
def test_no_html_ends_in_a_traceback(parts):
    with contextlib.suppress(IogateError):
        pieces("".join(parts), "report.html")


@settings(deadline=None)
@given(st.text(alphabet="|\t\n 0123456789.,kMGiB/sIOPSLatencyBandwidthusmQD-:", max_size=400))
def test_no_table_ends_in_a_traceback(text):
    with contextlib.suppress(IogateError):
        pieces(DEPTH + "\n|---|---|---|---|---|\n" + text, "report.md")


def large(unit, size):
    return unit * (size // len(unit) + 1)


ROWS = "".join(
    f"| {4 + 4 * (number % 16)}k | 32 | {100 + number}k | {400 + number % 7}.125 MB/s | 320 us |\n"
    for number in range(64)
)
IOZONE = (DATA / "iozone/iozone-3.489.throughput_2_direct.txt").read_text()
LATEX = "\\begin{tabular}{lr}\nbs & IOPS \\\\\n"
END_OF_LATEX = "\\end{tabular}\n"
LIST_TABLE = ".. list-table::\n\n  * - bs\n    - IOPS\n"
GROWING = {
    "one table": lambda size: table(large(ROWS, size).rstrip("\n"), head=DEPTH),
    "many tables": lambda size: large(table(ROWS, head=DEPTH, above="10 GB were read"), size),
    "runs of iozone": lambda size: large(IOZONE, size),
    "pieces of iozone": lambda size: large(
        (DATA / "iozone_excerpts/table_without_banner.txt").read_text() + "and\n", size
    ),
    "job files": lambda size: large("[global]\nrw=read\n[one]\niodepth=4\nsize=1g\n\nwords\n", size // 4)
    + table(large(ROWS, size // 4), head=DEPTH),
    "options of many sections": lambda size: "[global]\n"
    + "".join(f"a{number}=\n" for number in range(size // 12))
    + large("[a]\n", size // 2)
    + COLUMNS,
    "blank lines": lambda size: "\n" * size + table(SOUND.format(depth=32), head=DEPTH),
    "a line of blanks": lambda size: " " * size + "\n" + table(SOUND.format(depth=32), head=DEPTH),
    "a line within which are blanks": lambda size: "a" + " " * size + "12\n" + COLUMNS,
    "a line of dashes": lambda size: table(f"| {'-' * size} x | 4k |", SOUND.format(depth=32), head=DEPTH),
    "unclosed tags": lambda size: large('<a href="x', size) + HTML,
    "comments": lambda size: large("<!-- >", size) + HTML,
    "spans of html": lambda size: large(
        "<table><tr><th colspan=999>iops<tr><td colspan=999>5k</table>", size
    ) + HTML,
    "rows of html": lambda size: f"<table>{large('<tr><td>iops<td>4k<td colspan=9>5k', size)}</table>" + HTML,
    "nothing but cells": lambda size: f"<table><tr><th>{large('<td rowspan=99>1k', size)}</table>" + HTML,
    "commas": lambda size: CSV + large("4k,32,100k,409.6,320\n", size),
    "headings of columns": lambda size: COLUMNS + large("bs  iops  lat\n", size),
    "headings without rows": lambda size: CSV + large("read,-\n", size),
    "headings of tabs": lambda size: CSV + large("read\t-\n", size),
    "columns": lambda size: table(
        "| 4k" + " | 71k" * (size // 12) + " |", head="| bs" + " | IOPS" * (size // 12) + " |"
    ),
    "a line of crosses": lambda size: "--" + "+" * size + "x\n" + COLUMNS,
    "frames": lambda size: large("┌──┬──┐\n│bs│IOPS│\n", size) + COLUMNS,
    "comments behind headings": lambda size: large("bs,IOPS,lat\n# one, two\n# a, b, c\n", size) + CSV,
    "titles behind headings": lambda size: CSV + large("Title\n4k,32,100k,409.6,320\n", size),
    "names of tests": lambda size: table(
        *[f"| {'rand_' * 30}4k | 71k |"] * (size // 170), head="| Test | IOPS |"
    ),
    "blanks of iozone": lambda size: IOZONE.partition("\tMin throughput")[0]
    + f"\tMin throughput per process{' ' * size}x\n",
    "headings over headings": lambda size: f"<table>{large('<tr><th>iops ' + '/' * 90, size)}"
    "<tr><td>5<td>6</table>" + HTML,
    "a comment of digits": lambda size: CSV + f"# iops {'1' * size}a\n5,6,7,8,9\n",
    "a title of slashes": lambda size: f"iops {'/' * size}\n" + table(SOUND.format(depth=32), head=DEPTH),
    "tabs and blank lines": lambda size: "bs\tIOPS\tlat\n" + large("\n4k\t71k\t1 ms\n", size),
    "a wide row with tabs": lambda size: "bs\tIOPS\tlat\n4k\t71k\t1 ms" + "\ta" * (size // 4)
    + large("\n4k\t71k\t1 ms", size // 2),
    "rows of latex": lambda size: LATEX + large("4k & \\num{71k} \\\\\n", size) + END_OF_LATEX,
    "a row of latex": lambda size: LATEX + large("4k &\n", size) + "\\\\\n" + END_OF_LATEX + CSV,
    "braces of latex": lambda size: LATEX + large("\\SI{[\\a", size) + "\n" + END_OF_LATEX + CSV,
    "rows of a list-table": lambda size: LIST_TABLE + large("  * - 4k\n    - 71k\n", size),
    "a cell of a list-table": lambda size: LIST_TABLE + large("    a\n", size) + "\n" + CSV,
    "names of figures": lambda size: table(
        *(f"| {number} IOPS | 71k |" for number in range(size // 20)), head="| Metric | Value |"
    ),
    "a cell of blanks": lambda size: table(f"| 4k | 1{' ' * size}! |", SOUND.format(depth=32), head=DEPTH),
}  # fmt: skip


@pytest.mark.parametrize("kind", GROWING)
def test_the_time_grows_with_the_text_and_no_faster(kind):
    small, four = (GROWING[kind](size) for size in (15_000, 60_000))
    assert growth(lambda: pieces(small, "report.md"), lambda: pieces(four, "report.md")) < LINEAR


def test_a_character_of_thousands_of_digits_is_none():
    assert only(HTML.replace("Fast", f"Fast &#{'1' * 5000};")).rows == 2


@pytest.mark.parametrize("below", ["|||\n", "|  |  |\n|---|---|\n| bs | IOPS |\n| 4k | 5k |\n"])
def test_a_title_in_pipes_with_nothing_below_ends_in_no_traceback(below):
    with contextlib.suppress(IogateError):
        pieces(f"|Results|\n\n{below}", "report.md")


def test_spans_make_no_more_cells_than_a_text_could_hold():
    """300 KB of them took minutes, and a gigabyte."""
    table = "<table><tr><th colspan=999 rowspan=999>IOPS" + "<tr><td colspan=99>5k" * 50 + "</table>"
    text = table * 100
    _, found = read_html(text)
    cells = sum(len(cells) for raw in found for _, cells in raw.rows)
    assert len(found) == 100 and cells < len(text) / 4
    (narrow,) = read_html("<table><tr><th colspan=9>IOPS<tr><td>1<td>2</table>")[1]
    assert narrow.header == [["IOPS"] * 9]


OTHER_LANGUAGES = {"mediawiki", "moinmoin", "textile"}

TABLES = yaml.safe_load((DATA / "audit_tables.yaml").read_text())


class TestTablesOfOthers:
    """Forms that people publish: one figure of each is wrong, or none."""

    @pytest.mark.parametrize("name", TABLES["right"])
    def test_what_is_right_is_neither_wrong_nor_doubtful(self, name):
        found = pieces(TABLES["right"][name], name)
        assert not [one for piece in found for one in piece.findings if one.severity != "note"]

    @pytest.mark.parametrize("name", TABLES["wrong"])
    def test_what_is_wrong_does_not_stand(self, name):
        found = pieces(TABLES["wrong"][name], name)
        assert [one for piece in found for one in piece.findings if one.severity != "note"]

    @pytest.mark.parametrize(
        ("head", "row"),
        [
            ("| bs | IOPS before | IOPS after | BW (MiB/s) |", "| 4k | 71060 | 80000 | 277.6 |"),
            ("| bs | IOPS | IOPS | BW (MiB/s) |", "| 4k | 71060 | 80000 | 277.6 |"),
            ("| XFS block size | IOPS | BW (MiB/s) |", "| 4k | 71060 | 555.2 |"),
            ("| bs | Random IOPS | Seq BW (MiB/s) |", "| 4k | 71060 | 555.2 |"),
            ("| bs | QD | IOPS | Median latency (us) |", "| 4k | 32 | 71060 | 60 |"),
            ("| bs | QD | IOPS | lat (ms) |", "| 4k | 1 | 28500 | 0.0 |"),
            ("| nodes | bs | QD | IOPS | lat (us) |", "| 4 | 4k | 32 | 71060 | 450.3 |"),
        ],
    )
    def test_nothing_is_held_against_what_may_be_of_something_else(self, head, row):
        piece = only(table(row, head=head))
        assert not piece.findings
        assert {kind for kinds in piece.unheld.values() for kind in kinds} >= {"iops"}
        assert "    stands" not in text("report.md", [piece])

    @pytest.mark.parametrize(
        "heading",
        [
            *(
                "MBs",
                "tput",
                "rMB/s",
                "ext4 MB/s",
                "MB/s before",
                "Old MB/s",
                "MB s-1",
            ),
            *(
                "TPS",
                "OPS",
                "req/s",
                "requests/s",
                "r/s",
                "operations per second",
                "IO rate",
                "ms/op",
                "r_await",
            ),
        ],
    )
    def test_a_column_of_figures_whose_heading_is_not_understood_is_told_once(self, heading):
        rows = "\n".join(["| 4k | 71060 | 1.5 |"] * 3)
        piece = only(table(rows, head=f"| bs | IOPS | {heading} |"))
        (told,) = piece.findings
        assert (told.check, told.severity) == ("unreadable", "note")
        assert told.message == f"'{heading}' is not understood: this column was not audited"

    @pytest.mark.parametrize(
        ("heading", "cell"),
        [
            *(("IOPS change (%)", "1.5"), ("Latency stddev (us)", "1.5"), ("Latency", "good"), ("CV", "1.5")),
            *(("Runtime (s)", "60"), ("Test", "1.5"), ("Throughput bound", "CPU"), ("MB", "256")),
        ],
    )
    def test_what_names_no_figure_or_has_none_is_not_told(self, heading, cell):
        assert not only(table(f"| 4k | 71060 | {cell} |", head=f"| bs | IOPS | {heading} |")).findings

    @pytest.mark.parametrize(
        "heading",
        [
            *("recordsize", "ZFS record size", "volblocksize", "db_block_size", "Logical block size"),
            *("LBA format block size", "VMFS block size", "image block size", "squashfs blocksize"),
            *(
                "Object block size",
                "Filesystem bs",
                "Block size of the file system",
                "Compression block size",
            ),
            *("block size (fs)", "Block size (XFS)", "Blocksize xfs", "bs ext4", "bs (zvol)", "bs fs"),
            *("Disk block size", "Device block size", "IOR block size", "Record size (ZFS)", "bs [LBA]"),
        ],
    )
    def test_the_size_of_something_else_is_no_block_of_the_io(self, heading):
        piece = only(table("| 16k | 20000 | 81.9 |", head=f"| {heading} | IOPS | MB/s |"))
        assert not piece.findings
        assert [*piece.unheld.values()] == [{"iops", "bandwidth"}]

    @pytest.mark.parametrize(
        "heading",
        [
            *("bs", "Block size", "block_size", "I/O size", "IO block size", "ioblocksize", "Record size"),
            *("Random read block size", "randread bs", "Avg block size", "Request block size", "fio bs"),
            *("R/W block size", "Block size of I/O", "fio block size, ext4", "1. Block size", "bs on xfs"),
            *(
                "IO size",
                "Iosize",
                "Transfer size",
                "Request size",
                "xfersize",
                "IOR transfer size",
                "bs [B]",
            ),
            *("param: bs", "config bs", "cold block size", "Buffered block size", "elbencho block size"),
            *("Block size (random)", "Block size in bytes", "bs of reads", "Block size Block size"),
        ],
    )
    def test_the_size_of_the_io_is(self, heading):
        piece = only(table("| 16k | 20000 | 81.9 |", head=f"| {heading} | IOPS | MB/s |"))
        assert set(by_check(piece)) == {"bandwidth_unit"}

    @pytest.mark.parametrize(
        ("row", "check", "severity"),
        [
            *(("read;4k;31.000;127", "", ""), ("read;4k;31.000;270", "bandwidth_unit", "invalid")),
            *(("read;4k;310.000;1.269,8", "", ""), ("read;4k;31.000;1.270", "bandwidth_unit", "suspect")),
            *(("read;4k;31000;126.976", "", ""), ("read;4k;31000;126.98", "", "")),
            ("read;4k;31000;1269.76", "bandwidth_unit", "invalid"),
        ],
    )
    def test_points_between_semicolons_part_thousands_where_the_table_shows_it(self, row, check, severity):
        """As German programs export it; `126.976` beside `1.311` may be either."""
        piece = only(f"Test;Block size;IOPS;MB/s\n{row}\nwrite;64k;20.000;1.311\n")
        found = [
            (one.check, one.severity)
            for one in piece.findings
            if one.line == 2 and one.check != "decimal_comma"
        ]
        assert found == [(check, severity)] * bool(check)

    @pytest.mark.parametrize("rate", ["127", "127.000", "1.270"])
    def test_where_the_table_does_not_show_it_nothing_is_called_wrong(self, rate):
        piece = only(f"Test;Block size;IOPS;MB/s\nread;4k;31.000;{rate}\n")
        assert not by_check(piece) and set(by_check(piece, "suspect")) == {"bandwidth_unit"}
        (finding,) = piece.findings
        assert finding.message.endswith("; or its points part thousands")

    def test_headings_of_a_table_in_rest_are_read(self):
        text_ = '.. csv-table::\n   :header: "bs", "IOPS", "MB/s"\n\n   16k, 20000, 81.9\n'
        assert set(by_check(only(text_))) == {"bandwidth_unit"}

    @pytest.mark.parametrize("heading", ["NIC (Gbps)", "Link (GB/s)", "Net (Gb/s)", "LAN [MB/s]"])
    def test_a_bandwidth_of_the_network_is_none_of_these_iops(self, heading):
        row = "| 4k | 310000 | {} | 25 |"
        head = f"| bs | IOPS | MB/s | {heading} |"
        assert not only(table(row.format(1270), head=head)).findings
        assert set(by_check(only(table(row.format(2540), head=head)))) == {"bandwidth_unit"}

    @pytest.mark.parametrize("bound", ["typ. 409 MB/s", "over 390 MB/s", "nearly 410 MB/s"])
    def test_a_row_of_bounds_is_told(self, bound):
        """It was left out without a word, as headings are that stand amid a table."""
        text_ = f"| bs | read bandwidth |\n|---|---|\n| 4k | {bound} |\n| 4k | 409.6 MB/s |\n"
        (found,) = only(text_).findings
        assert found.severity == "suspect" and bound in found.message

    @pytest.mark.parametrize("cell", ["over 491", "nearly 410"])
    def test_a_column_of_drives_side_by_side_is_not_left_out_for_a_word(self, cell):
        text_ = f"| | A | B |\n|---|---|---|\n| Read (MB/s) | 409 | {cell} |\n| Write (MB/s) | 9 | 9 |\n"
        (found,) = only(text_).findings
        assert found.severity == "suspect" and cell in found.message

    @pytest.mark.parametrize(
        "text",
        [
            "jobname,bs,read.iops,read.bw_bytes,read.bw_mean\na,4k,100000.5,409602048,389000.5",
            "IOPS,bs,BW\n500k,4k,1953MiB/s (2000MB/s)",
            "rw,bs,iodepth,numjobs,iops_mean,bw_mean_KiB/s\nrandread,4M,4,8,16.379167,74022.295833",
        ],
    )
    def test_a_mean_of_samples_and_a_rounded_rate_are_no_more_than_doubtful(self, text):
        """fio has both a rate of the whole run and one of samples of it: as two units they were `invalid`."""
        piece = only(text)
        assert set(by_check(piece, "suspect")) == {"bandwidth_unit"} and not by_check(piece)

    @pytest.mark.parametrize("name", TABLES["doubtful"])
    def test_what_may_be_several_disks_is_doubtful(self, name):
        for piece in pieces(TABLES["doubtful"][name], name):
            assert set(by_check(piece, "suspect")) == {"link_limit"} and not by_check(piece)

    @pytest.mark.parametrize(
        ("heading", "severity"),
        [
            *(("Clients", "suspect"), ("VMs", "suspect"), ("GPUs", "suspect"), ("Client count", "suspect")),
            *(("Drives", ""), ("Drive count", ""), ("NVMes", ""), ("num_disks", "")),
            *(("Jobs", "invalid"), ("nfsd threads", "invalid")),
        ],
    )
    def test_the_limit_of_one_disk_holds_for_one_alone(self, heading, severity):
        piece = only(table("| 16 | 4M | 15000 | 62.9 |", head=f"| {heading} | bs | IOPS | GB/s |"))
        assert [one.severity for one in piece.findings] == [severity] * bool(severity)

    def test_several_times_the_links_are_the_limit_where_a_column_counts_disks(self):
        piece = only(table("| 2 | 4M | 15000 | 62.9 |", head="| Drives | bs | IOPS | GB/s |"))
        (finding,) = piece.findings
        assert "faster than 2 times PCIe 6.0 x4" in finding.message
        assert (finding.severity, finding.message[-26:]) == ("suspect", ": memory, or several disks")

    @pytest.mark.parametrize(
        "words",
        [
            *(
                "RAID0 of 8 NVMe drives",
                "md0",
                "An array",
                "16 clients",
                "DGX, 8 GPUs",
                "our SSDs",
                "8x PM1743",
                "8x 3.84TB NVMe",
            ),
            *("LVM stripe over 8 NVMe", "dual SSD", "quad M.2 card", "24-bay server", "Eight CM7s", "Ceph"),
            *(
                "BeeGFS",
                "Lustre",
                "GPFS",
                "vSAN",
                "HDFS",
                "8 PM1743",
                "ZFS mirror of 8",
                "8 NVMe SSD",
                "raidz2",
            ),
        ],
    )
    @pytest.mark.parametrize("where", ["{0}\n\n{1}\n", "# {0}\n\n## Reads\n\nWith fio:\n\n{1}", "{1}\n\n{0}"])
    def test_words_of_several_disks_anywhere_make_doubtful_what_no_link_alone_has(self, words, where):
        """Of whichever table they are: neither does it stand without a word, nor is a true one refused."""
        text_ = where.format(words, "| bs | IOPS | GB/s |\n|---|---|---|\n| 4M | 15000 | 62.9 |")
        assert [one.severity for one in only(text_).findings] == ["suspect"]
        assert [one.severity for one in only(text_, link=31e9).findings] == ["invalid"], "a link that is said"

    @pytest.mark.parametrize(
        "words",
        [
            "1x CM7",
            "QD32, one NVMe drive",
            "PCIe 4.0 x4",
            "PCIe 4 NVMe",
            "2 TB SSD",
            "32 jobs on 1 drive",
            "randread, ext4",
        ],
    )
    def test_without_them_it_does_not_stand(self, words):
        text_ = f"{words}\n\n| bs | IOPS | GB/s |\n|---|---|---|\n| 4M | 15000 | 62.9 |"
        assert [one.severity for one in only(text_).findings] == ["invalid"]

    @pytest.mark.parametrize("row", ["| fio | x | 4k | 71060 | 291.1 |", "| `a|b` | 4k | 71060 | 291.1 |"])
    @pytest.mark.parametrize("more", [[], ["| b | 4k | 71060 | 291.1 |"]])
    def test_a_row_between_pipes_with_more_cells_than_headings_is_told_and_not_read(self, row, more):
        piece = only(table("\n".join([row, *more]), head="| test | bs | IOPS | MB/s |"))
        assert by_check(piece, "suspect") == {"unreadable": {piece.line + 2}}
        assert dict(piece.rows_of) == ({"iops": 1, "bandwidth": 1} if more else {})

    @pytest.mark.parametrize("form", ["commas", "semicolons", "tabs", "pipes", "html"])
    @pytest.mark.parametrize(
        "row", ["64k,20000,131100", "64k,20000", "rr,64k,32,20000,1311", "rr,64k,32,2,1,5"]
    )
    def test_a_row_with_cells_too_few_or_too_many_is_told_and_not_read(self, form, row):
        """It may be any of them that is missing."""
        lines = ["bs,QD,IOPS,MB/s", "4k,32,310000,1270", row, "8k,32,155000,1270"]
        if form == "html":
            rows = [f"<tr><td>{line.replace(',', '</td><td>')}</td></tr>" for line in lines]
            (piece,) = pieces("\n".join(["<table>", *rows, "</table>"]), "report.html")
        else:
            (piece,) = pieces("\n".join(map(FORMS[form], lines)), "report.md")
        assert by_check(piece, "suspect") == {"unreadable": {piece.line + 2 + (form == "html")}}
        assert piece.rows_of["iops"] == 2

    def test_a_row_with_cells_too_few_is_told_where_it_is_the_only_one(self):
        piece = only(table("| 64k | 20000 | 131100 |", head="| bs | QD | IOPS | MB/s |"))
        assert by_check(piece, "suspect") == {"unreadable": {4}} and not piece.kinds

    def test_what_is_missing_and_not_understood_or_empty_leaves_a_row_as_it_is(self):
        head = "| bs | IOPS | MB/s | Notes |"
        assert not only(table("| 4k | 310000 | 1270 |", head=head)).findings
        assert not only(
            " bs | IOPS | MB/s | lat us\n----+------+------+----\n 4k | 310000 | 1270 |\n"
        ).findings
        assert not only("bs\tIOPS\tMB/s\tlat us\n4k\t310000\t1270\t\n").findings
        assert not only(table("| 4k | 310000 | 1270 | |", "| reads |", head=head)).findings

    @pytest.mark.parametrize("quote", ["", '"'])
    def test_an_index_without_heading_between_tabs_is_none_of_the_figures(self, quote):
        """As `write.table` of R has it."""
        rows = ["bs,IOPS,MB/s", "1,4k,310000,1270", "2,64k,20000,2622"]
        text_ = "\n".join("\t".join(f"{quote}{cell}{quote}" for cell in row.split(",")) for row in rows)
        assert by_check(only(text_)) == {"bandwidth_unit": {3}}

    @pytest.mark.parametrize("form", sorted({*tabulate_formats} - OTHER_LANGUAGES))
    def test_frames_and_forms_of_tables(self, form):
        rows = [["randread", "4k", 1, 9800, 38.3], ["randread", "4k", 4, 38000, 1480]]
        shown = tabulate(rows, ["rw", "bs", "iodepth", "iops", "bw MiB/s"], tablefmt=form)
        for times in (1, 2):
            found = pieces("\n".join([shown] * times), form)
            assert sum(piece.rows for piece in found) == 2 * times
            checks = [finding.check for piece in found for finding in piece.findings]
            assert checks == ["bandwidth_unit"] * times

    @pytest.mark.parametrize("delimiter", ["|", "\t", ",", ";", "  "])
    @pytest.mark.parametrize(("rate", "checks"), [("38.3", []), ("40.4", ["bandwidth_unit"])])
    def test_a_table_whose_rows_say_what_figures_are_is_read(self, delimiter, rate, checks):
        lines = ["Metric|Value", "Engine|libaio", "IOPS|9800", f"BW (MiB/s)|{rate}", "Block size|4k"]
        piece = only(
            "\n".join(f"|{line}|" if delimiter == "|" else line.replace("|", delimiter) for line in lines)
        )
        assert piece.kinds == {"iops", "bandwidth"}
        assert [finding.check for finding in piece.findings] == checks

    def test_prose_that_begins_like_one_hides_no_table_below_it(self):
        text_ = "Parameters, as in the paper\nbs,IOPS,MB/s\n4k,9800,99\n"
        assert by_check(only(text_)) == {"bandwidth_unit": {3}}
        assert only("Parameters, as in the paper\nbs,IOPS\n4k,9800\n").kinds == {"iops"}

    def test_each_of_its_columns_is_a_row_and_groups_and_units_say_what_it_is_of(self):
        head = "| Metric | Unit | A | B |"
        rows = [
            "| bs | | 4k | 4k |",
            "| **Reads** | | | |",
            "| IOPS | | 9800 | 9800 |",
            "| BW | MiB/s | 38.3 | 76.6 |",
        ]
        rows += ["| **Writes** | | | |", "| IOPS | | 5000 | 5000 |", "| BW | MiB/s | 19.5 | 19.5 |"]
        (finding,) = only(table(*rows, head=head)).findings
        assert finding.message.startswith("B, 4k: 76.6 MiB/s is 100.1% above 9800 IOPS x 4k")

    def test_two_of_its_rows_that_are_called_the_same_are_told_and_not_read(self):
        rows = ["| IOPS | 9800 |", "| BW | 38.3 MiB/s |"]
        piece = only(table(*rows, *rows, head="| Metric | Value |"))
        assert by_check(piece, "suspect") == {"unreadable": {4, 5, 6, 7}} and not piece.kinds

    def test_a_table_of_latex_is_read(self):
        r"""Cells with commands, over several lines, and with blanks between thousands."""
        (piece,) = pieces(
            r"""
\begin{table}
\caption{\textbf{4k} random read}
\begin{tabular}{l|rr}
\toprule
\textbf{Test} & IOPS & Bandwidth (MB/s) \\
\midrule
A & 100{,}000 & 409.6 \\ \hline
B \% & \num{100000} &
  \SI{819}{MB/s} \\[2pt]  % & 4 & 5
\multicolumn{2}{c}{C} & 5 \\
\bottomrule
\end{tabular}
\end{table}
""",
            "paper.tex",
        )
        assert piece.rows_of == {"iops": 2, "bandwidth": 3}
        assert by_check(piece) == {"bandwidth_unit": {9}}
        assert "B %, " not in piece.findings[0].message
        assert piece.findings[0].message.startswith("B %: 819 MB/s is 100.0% above 100000 IOPS x 4k")

    def test_a_list_table_of_rest_is_read(self):
        (piece,) = pieces(
            """
.. list-table:: 4k random read
   :header-rows: 1

   * - Test
     - IOPS
     - Bandwidth (MB/s)
   * - A
     - 100000
     - 409.6

   * - B
     - 100000
     -
       819
   * -
     - 5
     - 0.02

Text
""",
            "page.rst",
        )
        assert piece.rows_of == {"iops": 3, "bandwidth": 3}
        assert by_check(piece) == {"bandwidth_unit": {12}}

    @pytest.mark.parametrize(("rate", "wrong"), [("51.20", False), ("102.40", True)])
    def test_a_total_that_shares_a_cell_with_its_name_is_read_below_its_headings(self, rate, wrong):
        """As DiskSpd prints it: MiB/s were read below the number of I/Os, and IOPS as MiB/s."""
        text_ = (
            "4k read\nthread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  file\n"
            "------------------------------------------------------------------\n"
            "     0 |       536870912 |       131072 |      51.20 |   13107.20 | a.dat\n"
            "------------------------------------------------------------------\n"
            f"total:         536870912 |       131072 |      {rate} |   13107.20\n"
        )
        assert by_check(only(text_)) == ({"bandwidth_unit": {6}} if wrong else {})

    def test_of_two_figures_in_a_cell_each_is_read(self):
        """As YABS prints what fio found, whose MB/s are 1000 KiB/s; headings of others stand among rows."""
        text_ = """fio Disk Speed Tests (Mixed R/W 50/50) (Partition /dev/vda3):
---------------------------------
Block Size | 4k            (IOPS) | 64k           (IOPS)
  ------   | ---            ----  | ----           ----
Read       | 388.78 MB/s  (97.1k) | 1.23 GB/s    (19.2k)
           |                      |
Block Size | 512k          (IOPS) | 1m            (IOPS)
  ------   | ---            ----  | ----           ----
Read       | 409.39 MB/s    (799) | n/a
"""
        small, large = pieces(text_, "yabs.txt")
        (finding,) = small.findings
        assert finding.message == (
            "Read, 4k: 388.78 MB/s is 2.2% below 97.1 k IOPS x 4k = 379.3 MiB/s; "
            "it fits if the unit is 1000 KiB/s"
        )
        (finding,) = large.findings
        assert finding.message.startswith("Read, 512k: 409.39 MB/s is 2.3% below 799 IOPS x 512k")

    @pytest.mark.parametrize(
        "form", ["{rate} ({iops})", "{iops}, {rate}", "{rate} / {iops}", "{iops} @ {rate}", "{iops} - {rate}"]
    )
    @pytest.mark.parametrize("head", ["| Test | Disk A | Disk B |", "| Test | Read | Write |"])
    def test_two_figures_in_a_cell_may_bear_their_units(self, form, head):
        """Such tables had no figures that can be audited, as it said."""
        sound, wrong = (form.format(iops="71.1k IOPS", rate=rate) for rate in ("291 MB/s", "500 MB/s"))
        rows = (
            f"| 4k random | {sound} | {wrong} |",
            f"| 4k rnd | n/a | {sound} |",
            "| 4k | 9 MB/s | 2k IOPS |",
        )
        piece = only(table(*rows, head=head))
        assert by_check(piece) == {"bandwidth_unit": {4}} and not by_check(piece, "suspect")
        assert piece.figures == "3 rows of bandwidth, iops"

    def test_of_iops_at_a_latency_both_are_read(self):
        head = "| Test | QD | Read |"
        piece = only(table("| 4k | 1 | 25339 IOps@0.039ms |", "| 4k | 1 | 25339 IOps@7.6ms |", head=head))
        assert by_check(piece) == {"latency_unit": {5}} or by_check(piece, "suspect") == {"little_law": {5}}

    @pytest.mark.parametrize("rate", ["{} Mio/s", "{} MiB/s"])
    @pytest.mark.parametrize("head", ["Read", "Lecture", "Vitesse"])
    def test_octets_are_bytes(self, rate, head):
        """`278 Mio/s` were millions of I/Os in a second."""
        head = f"| bs | iodepth | {head} | Latency |"
        rows = [f"| 4k | 32 | {rate.format(shown)} | 450 µs |" for shown in ("278", "27.8")]
        piece = only(table(*rows, head=head))
        assert piece.kinds == {"bandwidth", "lat"} and by_check(piece, "suspect") == {"little_law": {5}}

    @pytest.mark.parametrize(
        "rate", ["Débit (Mo/s)", "Скорость, МБ/с", "Скорость чтения, МБ/с", "Bandwidth/MB/s"]
    )
    @pytest.mark.parametrize("many", ["IOPS, тыс.", "IOPS (тыс.)", "тыс. IOPS", "IOPS (in K)"])
    @pytest.mark.parametrize(
        "time", ["Задержка, мкс", "Отклик, мкс", "Время отклика (мкс)", "延迟，us", "Latency/us"]
    )
    def test_headings_of_other_languages(self, rate, many, time):
        """They were left out, or what stood beside them was held against single IOPS."""
        head = f"| bs | QD | {many} | {rate} | {time} |"
        rows = ("| 4k | 32 | 71.1 | 291.2 | 450 |", "| 4k | 32 | 71.1 | 391.2 | 45 |")
        piece = only(table(*rows, head=head))
        assert by_check(piece) == {"bandwidth_unit": {5}} and by_check(piece, "suspect") == {
            "little_law": {5}
        }

    @pytest.mark.parametrize("form", [" | ", ",", "\t", "    "])
    @pytest.mark.parametrize(
        ("head", "rows"),
        [
            ("Test,Drive A,Drive B", "4k random IOPS,71060,30000\n4k random MB/s,291,1229"),
            ("Test,Drive A,Drive B", "4k randread IOPS,71060,30000\n4k randread MiB/s,277.6,1172"),
            ("Test,4k randread,4k randwrite", "IOPS,71060,30000\nBW (MiB/s),277.6,1172"),
        ],
    )
    def test_rows_may_say_what_figures_are_below_any_headings(self, form, head, rows):
        """Beside another table they were left out without a word."""
        text_ = f"{head}\n{rows}\n".replace(",", form)
        text_ = text_.replace("\n", " |\n|").join("||").rstrip("|") if form == " | " else text_
        text_ = text_.replace("|\n", "|\n|---|---|---|\n", 1) if form == " | " else text_
        above = table("| 4k | 71060 | 277.6 |", head="| bs | IOPS | BW (MiB/s) |")
        *_, piece = pieces(f"{above}\nBy drives:\n\n{text_}", "a.md")
        ((message, check),) = {(one.message, one.check) for one in piece.findings}
        assert check == "bandwidth_unit" and "% above 30000 IOPS x 4k" in message

    @pytest.mark.parametrize(
        ("reads", "writes"),
        [
            ("r_{}", "w_{}"),
            ("R {}", "W {}"),
            ("rd_{}", "wr_{}"),
            ("{} (R)", "{} (W)"),
            ("Lesen-{}", "Schreiben-{}"),
            ("读{}", "写{}"),
            ("读取{}", "写入{}"),
            ("讀取 {}", "寫入 {}"),
            ("読み込み{}", "書き込み{}"),
            ("随机读 {}", "随机写 {}"),
            ("Lectura {}", "Escritura {}"),
            ("чтение {}", "запись {}"),
        ],
    )
    def test_reads_and_writes_have_other_names(self, reads, writes):
        """Each was held against the depth of both."""
        head = " | ".join(one.format(name) for name in ("IOPS", "lat (us)") for one in (reads, writes))
        piece = only(table("| 4k | 32 | 40000 | 17143 | 560 | 560 |", head=f"| bs | qd | {head} |"))
        assert piece.kinds == {"iops", "lat"} and not piece.findings
        piece = only(table("| 4k | 32 | 40000 | 17143 | 5600 | 560 |", head=f"| bs | qd | {head} |"))
        assert by_check(piece, "suspect") == {"little_law": {4}}

    @pytest.mark.parametrize(
        "heading",
        [
            "avglat(us)",
            "r-avglat(us)",
            "meanlat (us)",
            "latavg (us)",
            "latmean_us",
            "AVGLAT (us)",
            "latus",
            "clatavg(us)",
            "AvgClat (us)",
            "resptime(us)",
        ],
    )
    def test_latencies_in_one_word(self, heading):
        """They were left out without a word where they bore a unit."""
        piece = only(table("| 4k | 32 | 71060 | 450000 |", head=f"| bs | qd | iops | {heading} |"))
        assert by_check(piece) == {"latency_unit": {4}}

    @pytest.mark.parametrize(
        "heading", ["p99lat(us)", "latp99_us", "maxlat(us)", "latmax (us)", "p999lat(us)"]
    )
    def test_statistics_of_latencies_in_one_word_are_no_means(self, heading):
        piece = only(table("| 4k | 32 | 71060 | 450000 |", head=f"| bs | qd | iops | {heading} |"))
        assert piece.kinds == {"iops", "lat"} and not piece.findings

    @pytest.mark.parametrize(
        ("rate", "severity"), [("2100", "suspect"), ("2101", "invalid"), ("2110", "invalid")]
    )
    def test_what_may_be_rounded_to_two_digits_is_doubtful(self, rate, severity):
        piece = only(table(f"| 32k | 65.9k | {rate} MiB/s |", head="| bs | IOPS | BW |"))
        assert by_check(piece, severity) == {"bandwidth_unit": {4}}

    @pytest.mark.parametrize(
        ("rates", "times"),
        [
            (("R (MB/s)", "W (MB/s)"), ("Latenz R (us)", "Latenz W (us)")),
            (("R MB/s", "W MB/s"), ("r_await (us)", "w_await (us)")),
            (("BW R [MB/s]", "BW W [MB/s]"), ("Latenz (R) [us]", "Latenz (W) [us]")),
        ],
    )
    def test_letters_beside_units_are_of_a_direction(self, rates, times):
        """What was ten times too much of one was held against nothing."""
        head = f"| bs | qd | R IOPS | W IOPS | {' | '.join((*rates, *times))} |"
        assert not only(table("| 4k | 32 | 40000 | 17143 | 163.8 | 70.22 | 560 | 560 |", head=head)).findings
        piece = only(table("| 4k | 32 | 40000 | 17143 | 1638 | 702.2 | 560000 | 560000 |", head=head))
        assert by_check(piece) == {"bandwidth_unit": {4}, "latency_unit": {4}}

    def test_watts_are_no_writes(self):
        head = "| bs | qd | IOPS | lat (us) | Power (W) | IOPS/W | R/W |"
        piece = only(table("| 4k | 32 | 40000 | 800 | 5.5 | 7272 | 70/30 |", head=head))
        assert not piece.findings and "    stands: latency" in text("x", [piece])

    @pytest.mark.parametrize(
        "wiki",
        [
            '{| class=wikitable\n! bs\n! IOPS\n! style="x" | BW (MiB/s)\n|-\n| 4k\n| 71060\n| 2776\n|}',
            "{|\n|+ Results\n|-\n! bs !! IOPS !! BW (MiB/s)\n|-\n| 4k || 71060 || align=right | 2776\n|}",
            "[table]\n[tr][th]bs[/th][th]IOPS[/th][th]BW (MiB/s)[/th][/tr]\n[tr][td]4k[/td][td]71060[/td]"
            "[td]2776[/td][/tr]\n[/table]",
        ],
    )
    def test_wikis_and_forums(self, wiki):
        """Beside another table they were left out without a word."""
        above = table("| 4k | 71060 | 277.6 |", head="| bs | IOPS | BW (MiB/s) |")
        first, second = pieces(f"{above}\n{wiki}\n", "a.txt")
        assert not first.findings
        assert by_check(second) == {"bandwidth_unit": {wiki[: wiki.index("4k")].count("\n") + 6}}

    def test_braces_and_brackets_are_no_tables(self):
        text_ = (
            "a {| b\n{|\n" + table("| 4k | 71060 | 277.6 |", head="| bs | IOPS | BW (MiB/s) |") + "[/table]\n"
        )
        assert only(text_).rows == 1

    @pytest.mark.parametrize("head", ["IOPS (BW)", "Read IOPS (BW)", "BW (IOPS)", "Throughput"])
    def test_a_heading_may_name_one_of_two_figures(self, head):
        """The second one was taken for the first in another unit, and left out without a word."""
        piece = only(table("| 4k | 57739 IOPS (2260 MiB/s) |", head=f"| bs | {head} |"))
        assert by_check(piece) == {"bandwidth_unit": {4}}

    @pytest.mark.parametrize(
        ("said", "findings"),
        [("with 4 clients", 0), ("of 4 nodes", 0), ("with 3 clients", 1), ("at home", 1)],
    )
    def test_clients_that_a_text_names_may_have_as_many_jobs_each(self, said, findings):
        """As in a published table of 4 clients with 128 jobs each, which had 510 I/Os in flight."""
        rows = "| 4k | 128 | 1 | 211K | 823 | 2.42 |"
        head = "| bs | numjobs | iodepth | IOPS | MiB/s | Lat(ms) |"
        piece = only(table(rows, head=head, above=f"Tests {said}, and results."))
        assert len(piece.findings) == findings

    @pytest.mark.parametrize(
        "mixed", ["Mixed", "RW", "70/30", "Mixed 70/30", "R/W 50:50", "Reread", "Overwrite", "Trim"]
    )
    def test_a_mix_beside_reads_is_a_test_of_its_own(self, mixed):
        """Both together had twice as many I/Os in flight as the depth."""
        head = f"| bs | QD | Read IOPS | Read lat (us) | {mixed} IOPS | {mixed} lat (us) |"
        assert not only(table("| 4k | 32 | 57739 | 554 | 30000 | 1067 |", head=head)).findings
        piece = only(table("| 4k | 32 | 57739 | 554 | 30000 | 106.7 |", head=head))
        assert by_check(piece, "suspect") == {"little_law": {4}}

    def test_of_two_systems_in_a_row_each_is_held_against_itself(self):
        head = "| bs | ext4 IOPS | ext4 BW (MiB/s) | xfs IOPS | xfs BW (MiB/s) |"
        piece = only(table("| 4k | 71060 | 277.6 | 80000 | 625.0 |", head=head))
        (finding,) = piece.findings
        assert finding.message.startswith("4k, xfs: 625.0 MiB/s")
        assert "1 row of" in piece.figures

    def test_what_crystal_disk_mark_saves(self):
        """It was no table to audit. The last line was 2233.893 MB/s."""
        text_ = """CrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo
* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]

[Read]
  SEQ    1MiB (Q=  8, T= 1):  3566.222 MB/s [   3401.0 IOPS] <  2350.09 us>
  RND    4KiB (Q=  1, T= 1):    62.327 MB/s [  15216.6 IOPS] <    65.57 us>

[Write]
  SEQ    1MiB (Q=  8, T= 1):  3000.222 MB/s [   2861.2 IOPS] < 27900.90 us>
  RND    4KiB (Q= 32, T=16):  4233.893 MB/s [ 545384.0 IOPS] <   936.66 us>
"""
        reads, writes = pieces(text_, "cdm.txt")
        assert reads.figures == "2 rows of bandwidth, iops, lat" and not reads.findings
        assert by_check(writes) == {"bandwidth_unit": {10}} and by_check(writes, "suspect") == {
            "little_law": {9}
        }

    def test_what_crystal_disk_mark_saved_before_its_seventh_version(self):
        text_ = """    Sequential Read (Q= 32,T= 1) :   471.231 MB/s
      Sequential Write (T= 1)    :   324.382 MB/s
  Random Read 4KiB (Q=  8,T= 8) :   393.900 MB/s [  96167.0 IOPS]
 Random Write 4KB (QD=32) :   421.975 MB/s [  78607.2 IOPS]
"""
        reads, writes = pieces(text_, "cdm.txt")
        assert (reads.rows, writes.rows) == (2, 2) and not reads.findings
        assert by_check(writes) == {"bandwidth_unit": {4}}

    def test_the_megabytes_of_kdiskmark(self):
        """The report in its README (version 3.0.0)."""
        text_ = """[Read]
Sequential   1 MiB (Q=  8, T= 1):   508.897 MB/s [    497.0 IOPS] < 13840.05 us>
    Random   4 KiB (Q= 32, T= 1):   354.657 MB/s [  88664.6 IOPS] <   352.37 us>
"""
        (reads,) = pieces(text_, "README.md")
        assert all("it fits if the unit is 1000 KiB/s" in one.message for one in reads.findings[:2])
        assert by_check(reads) == {"bandwidth_unit": {2, 3}}

    @pytest.mark.parametrize("size", ["--size=1G --loops=100", "--size=1G --io_size=100G"])
    def test_what_a_command_moves_is_more_than_its_size(self, size):
        command = f"fio --name=x --rw=read --bs=1M {size}"
        assert not only(f"{command}\n\n" + table("| A | 3500 |", head="| Disk | BW (MB/s) |")).findings


def test_rows_of_how_much_others_differ_are_told():
    """What stands in a column of notes is none of them."""
    head = "| Test | bs | IOPS | MB/s | Note |"
    measured = "| 4k read | 4k | 20000 | 81.9 | xfs vs ext4 |"
    piece = only(table(measured, "| std dev | 4k | 300 | 1.2 | - |", head=head))
    assert piece.rows == 1 and piece.kinds == {"bandwidth", "iops"}
    assert [(one.check, one.severity) for one in piece.findings] == [("unreadable", "note")]
