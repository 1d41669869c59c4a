"""Forms that people publish: one figure of each is wrong, or none."""

import pytest
import yaml
from tabulate import tabulate, tabulate_formats

from iogate.offline.published import pieces
from iogate.offline.published.report import text
from places import DATA
from published_tables import FORMS, by_check, only, table

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

    @pytest.mark.parametrize("heading", ["Write size", "Read size", "Write size (bytes)", "write_size"])
    def test_a_size_of_reads_or_writes_is_no_figure_of_them(self, heading):
        """A public table of durable writes, of 512 B to 64 KiB: all its rows were doubtful."""
        head = f"| {heading} | MB/s | IOPS | Avg latency |"
        piece = only(table("| 512 B | 0.112 | 218 | 4.6 ms |", "| 4 KiB | 0.449 | 110 | 9.1 ms |", head=head))
        assert not piece.findings and piece.kinds == {"bandwidth", "iops", "lat"}

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
        "text",
        [
            "| Test | Read | Write |\n|-|-|-|\n| Memory | 40 GB/s | 38 GB/s |\n| SSD | 3 GB/s | 2 GB/s |",
            "| Test | Threads | Throughput |\n|---|---|---|\n| Memory write | 4 | 88,925.30 MiB/s |",
            "| Test | PC |\n|---|---|\n| Memory read | 40.5 GB/s |\n| Memory write | 45.5 GB/s |\n"
            "| 4K IOPS | 300000 |\n| 4K IOPS write | 300000 |",
        ],
        ids=["rows", "one row", "turned"],
    )
    def test_no_link_limits_what_is_called_memory(self, text):
        assert [one for piece in pieces(text, "a.md") for one in piece.findings] == []
        assert [one for piece in pieces(text.replace("Memory", "Disk"), "a.md") for one in piece.findings]

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
