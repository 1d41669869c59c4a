"""iozone's throughput mode becomes figures in B/s, also where a report damaged its layout."""

import contextlib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iogate.engines.iozone.runs import blocks
from iogate.engines.iozone.text import is_throughput
from iogate.engines.iozone.throughput import read
from iogate.errors import OutputError
from places import DATA

SMALL = (DATA / "iozone/iozone-3.489.throughput_2_small.txt").read_text()
PUBLISHED = (DATA / "published/strong_scaling_and_iozone.md").read_text()
KIB = 1024


def test_a_whole_report():
    report = read(SMALL, name="out.txt")
    assert (report.version, report.file_size, report.record) == ("iozone-3.489", 4 * 2**20, 64 * KIB)
    assert report.processes == 2 and report.complete
    assert [test.name for test in report.tests] == [
        *("initial writers", "rewriters", "readers", "re-readers", "random readers", "random writers"),
    ]
    readers = report.tests[2]
    assert readers.children == 11404840.50 * KIB
    assert readers.parent == 1700487.96 * KIB
    assert (readers.minimum, readers.maximum) == (5397485.00 * KIB, 6007355.50 * KIB)
    assert readers.average == 5702420.25 * KIB
    assert readers.least == 3648 * KIB
    assert all(test.whole and test.processes == 2 for test in report.tests)


def test_a_report_whose_lines_ran_together():
    ((line, text),) = blocks(PUBLISHED)
    report = read("\n" * (line - 1) + text, name="report.md")
    assert (report.version, report.file_size, report.record) == ("iozone-3.471", 5 * 2**30, 8 * KIB)
    writers, *_, random_readers, _ = report.tests
    assert writers.parent == 37945.84 * KIB
    assert random_readers.maximum == 350.96 * KIB
    assert PUBLISHED.split("\n")[random_readers.line - 1].startswith("Children see throughput for 4 random")


def test_the_unit_stands_beside_each_figure_of_the_throughput_mode():
    report = read(SMALL.partition("Command line used")[2].replace("Output is in", ""), name="out.txt")
    assert report.unit == "kB/sec"
    assert report.tests == tuple(
        replace(test, line=test.line - 9) for test in read(SMALL, name="out.txt").tests
    )


def test_a_figure_that_is_lost_is_none_and_the_test_not_whole():
    test = read(SMALL.replace("Max throughput per process", "Mxa", 1), name="out.txt").tests[0]
    assert test.maximum is None and not test.whole


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SMALL.replace("kB/sec", "ops/sec"), "19:1: a figure in ops/sec, where the preamble or another"),
        (SMALL.replace("Output is in", "").replace("kB/sec", "ops/sec", 9), "a figure in kB/sec, where"),
        ("iozone test complete.", "has no figures"),
        (SMALL[: SMALL.index("Children see throughput for 2 random readers") + 50], "was cut off"),
        (SMALL.replace("=    3648.00", "= 11111111111111111111"), "too long"),
    ],
)
def test_what_is_not_throughput_in_kilobytes_is_refused(text, words):
    with pytest.raises(OutputError, match=words):
        read(text, name="out.txt")


@settings(deadline=None)
@given(st.integers(0, len(SMALL)))
def test_an_output_that_was_cut_never_gives_other_figures(length):
    whole = {test.name: test for test in read(SMALL, name="out.txt").tests}
    try:
        report = read(SMALL[:length], name="out.txt")
    except OutputError:
        return
    for test in report.tests:
        if test.whole:
            assert test == whole[test.name]
    assert not report.complete or length > len(SMALL) - 20


@settings(deadline=None)
@given(st.integers(0, len(SMALL) - 1), st.text(max_size=4))
def test_no_damage_ends_in_a_traceback(place, junk):
    text = SMALL[:place] + junk + SMALL[place + 1 :]
    for _, block in blocks(text):
        with contextlib.suppress(OutputError):
            read(block, name="out.txt")
    assert is_throughput(text), "one character of six tests"
