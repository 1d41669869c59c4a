"""Headings, titles and labels of tables are read in the words that people use."""

import pytest

from iogate.errors import IogateError
from iogate.offline.published import pieces
from iogate.offline.published.columns import column_of
from iogate.offline.published.report import text
from published_tables import by_check, only, table


class TestWords:
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

    def test_iops_may_say_so(self):
        head = "| bs | IOPS | BW (MiB/s) |"
        for cell in ("71,060 IOPS", "71.06K IOPS", "71.06k iops"):
            assert text("x", [only(table(f"| 4k | {cell} | 277.6 |", head=head))]).endswith("IOPS, bandwidth")

    def test_two_numbers_in_a_cell_are_no_block_size(self):
        """`3 16k`, an index and a size, was 316k, and a true row called wrong."""
        assert by_check(only(table("| 3 16k | 5000 | 81.92 |", head="| bs | IOPS | BW MB/s |"))) == {}

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

    def test_a_table_of_rates_whose_headings_name_no_figure_is_told_beside_others(self):
        """It may be of a network: alone it is refused, as ever."""
        rates = table("| 4k | 291 MB/s | 99 GB/s |", "| 64k | 1 GB/s | 2 GB/s |", head="| Test | A | B |")
        with pytest.raises(IogateError, match="no figures that can be audited"):
            pieces(rates, "report.md")
        first, second = pieces(table("| 4k | 71060 | 291.1 |", head="| bs | IOPS | MB/s |") + rates, "r.md")
        assert first.kinds == {"iops", "bandwidth"} and not first.findings
        assert second.kinds == set() and by_check(second, "note") == {"unreadable": {8}}

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

    @pytest.mark.parametrize("heading", ["lat avg ± stdev (µs)", "Latency (µs) ± SD", "lat +/- std (us)"])
    def test_a_heading_may_say_how_uncertain_a_mean_is(self, heading):
        piece = only(table("| 32 | 303,000 | 105 ± 20 |", head=f"| QD | IOPS | {heading} |"))
        assert piece.kinds == {"iops", "lat"} and not piece.findings

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

    def test_reads_and_writes_in_columns_of_their_own_may_be_a_run_each_or_one(self):
        head = "| bs | qd | Read IOPS | Read lat | Write IOPS | Write lat |"
        for row in ("| 4k | 32 | 100k | 320us | 50k | 640us |", "| 4k | 32 | 70k | 320us | 30k | 320us |"):
            assert only(table(row, head=head)).findings == ()
        ignored = only(table("| 4k | 32 | 1k | 320us | 1k | 320us |", head=head))
        assert set(by_check(ignored, "suspect")) == {"little_law"}

    def test_a_spread_is_no_latency(self):
        head = "| bs | qd | IOPS | lat us | lat stddev us |"
        assert only(table("| 4k | 32 | 100k | 320 | 1 |", head=head)).findings == ()


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
