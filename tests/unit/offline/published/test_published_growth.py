"""No table takes `iogate audit` more time, or memory, than one of its length may."""

import contextlib

import pytest

from growth import LINEAR, growth
from iogate.errors import IogateError
from iogate.offline.published import pieces
from iogate.offline.published.html_tables import read_html
from places import DATA
from published_tables import COLUMNS, CSV, DEPTH, HTML, SOUND, only, table


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
