"""Tables are read in the forms in which people write them, and no row of any is lost without a word."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import places
from iogate.errors import IogateError
from iogate.offline.published import pieces
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

    def test_a_second_row_of_headings_is_no_row(self):
        rows = ("| | p50 | p99 |", "| A | 318 | 320 |")
        assert not only(table(*rows, head="| Test | clat (us) | lat (us) |")).findings

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
