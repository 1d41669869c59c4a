"""Figures of tables are read in the units, and as many, as people write them."""

import pytest

from iogate.offline.published import pieces
from iogate.offline.published.report import text
from published_tables import by_check, only, table


class TestUnits:
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

    def test_thousands_that_depth_and_bandwidth_prove_are_the_iops(self):
        row, head = "| 4k | 32 | 100 | 409.6 | 320 |", "| bs | QD | IOPS | BW (MB/s) | lat (us) |"
        said = text("x", [only(table(row, head=head))])
        assert "stands: bandwidth, latency\n    doubtful: IOPS\n" in said

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

    def test_the_bandwidth_of_a_program_of_ones_own_is_not_in_the_unit_of_fios_json(self):
        piece = only("bs,read_iops,read_bw\n4k,100000,409.6\n")
        assert not by_check(piece) and "'409.6' has no unit" in text("x", [piece])

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

    def test_iops_that_are_called_thousands_and_fit_as_they_stand_are_doubtful(self):
        piece = only(table("| 4k | 71060 | 277.6 |", head="| bs | kIOPS | BW (MiB/s) |"))
        (finding,) = piece.findings
        assert finding.severity == "suspect" and "fits if the IOPS are no thousands" in finding.message

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
