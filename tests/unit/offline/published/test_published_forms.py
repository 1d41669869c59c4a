"""Tables are read in the forms, units and words in which people write them."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import places
from iogate.errors import IogateError
from iogate.offline.published import pieces
from iogate.offline.published.columns import column_of
from iogate.offline.published.report import text
from published_tables import COLUMNS, CSV, DEPTH, FORMS, HTML, by_check, only, table


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

    @pytest.mark.parametrize(
        ("label", "is_block"),
        [
            *(("randread bs=4k", True), ("randread, --bs=4k", True), ("bs=4k seq read", True)),
            *(("randread bs=4k-64k", False), ("bs=4k of 64k stripes", False), ("randread bs=4k,8k", False)),
        ],
    )
    def test_a_block_size_in_the_name_of_a_test_holds_for_its_row(self, label, is_block):
        piece = only(table(f"| {label} | 71060 | 150 |", head="| Test | IOPS | MB/s |"))
        assert by_check(piece) == ({"bandwidth_unit": {4}} if is_block else {})

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


BESIDE = "| Block | IOPS | MB/s |\n|---|---|---|\n| 4k | 1000 | 41 |\n"
MLC = """\
Intel(R) Memory Latency Checker - v3.9a
Measuring idle latencies (in ns)...
\t\tNuma node
Numa node\t     0\t     1\t
       0\t  87.0\t 101.0\t
       1\t 101.9\t  86.9\t
"""
IOZONE = """\
Output is in kBytes/sec

                                                              random    random
              kB  reclen    write  rewrite    read    reread    read     write
          102400       4     2738     2762    12852    12789    10197     2776
"""


@pytest.mark.parametrize(
    "text",
    [
        f"# Memory\n\n{BESIDE}\n```\n{MLC}```\n",
        f"# Memory\n\n```\n{MLC}```\n\n{BESIDE}",
        f"{MLC}\n\nBlock | IOPS | MB/s\n---|---|---\n4k | 1000 | 41\n",
        f"# SSD\n\n{IOZONE}\n{BESIDE}",
    ],
    ids=["before mlc", "behind mlc", "without outer bars", "behind iozone"],
)
def test_a_table_beside_an_output_is_read(text):
    """What an engine took for its own was never looked at: the status was 0."""
    assert "bandwidth_unit" in {one.check for piece in pieces(text, "a.md") for one in piece.findings}


def test_the_end_of_a_block_of_code_ends_the_rows_of_mlc():
    """`'```' is not a delay, a latency and a bandwidth` refused the whole document."""
    loaded = (places.DATA / "mlc/v3.5.loaded_latency.txt").read_text().rstrip()
    (piece,) = pieces(f"# Memory\n\n```\n{loaded}\n```\n", "a.md")
    assert piece.what == "output of mlc" and not piece.error


@pytest.mark.parametrize("heading", ["sub_lat(us)", "submit lat", "Subm. latency (us)", "submission latency"])
def test_the_latency_of_submissions_by_its_names(heading):
    assert column_of(heading, {}).kind == "slat"


@pytest.mark.parametrize(
    "label",
    [
        *("DRAM", "Memory", "L1", "L2 cache", "L3 hit", "RAM (DDR5)", "L1 Cache (32KB)", "L1d", "LLC"),
        *("Main memory reference", "L1 cache reference", "Random memory read", "RAM access"),
    ],
)
def test_what_is_called_memory_may_be_faster_than_a_device(label):
    text = f"| Level | Latency (ns) |\n|---|---|\n| {label} | 95 |\n"
    assert not only(text).findings
    for device in ("NVMe", "RAM disk", "L1 of a RAID", "memory-mapped file"):
        assert by_check(only(text.replace(label, device))) == {"tiny_latency": {3}}


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
