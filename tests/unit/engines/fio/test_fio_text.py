"""fio's text output becomes the same metrics as its JSON, or is refused with the line."""

import contextlib
import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iogate.engines.fio.runs import blocks, recognises
from iogate.engines.fio.text import parse
from iogate.errors import OutputError
from places import DATA

GROUPED = (DATA / "fio_text/fio-3.33.randrw_grouped.txt").read_text()
TWO = (DATA / "fio_text/fio-3.33.two_groups.txt").read_text()
GLUSTER = (DATA / "published/glusterfs_fio_report.md").read_text()


def only(text):
    (job,) = parse(text, name="out.txt")
    return job


def test_all_metrics_of_a_group():
    job = only(GROUPED)
    metrics = job.output.metrics
    assert (job.name, job.line, job.output.jobs, job.output.engine_version) == ("mix", 6, 2, "fio-3.33")
    assert metrics["read.iops"] == pytest.approx(59094 / 2.004)
    assert metrics["write.iops"] == pytest.approx(59363 / 2.004)
    assert metrics["read.bandwidth"] == pytest.approx(115.2 * 2**20, rel=0.003)
    assert metrics["read.slat.mean"] == 5310
    assert metrics["read.clat.min"] == 21_000
    assert metrics["read.lat.max"] == 5_434_000
    assert metrics["read.clat.stddev"] == 260_640
    assert metrics["read.clat.p99.99"] == 5_211_000
    assert metrics["write.clat.p50"] == 243_000
    assert metrics["write.iops.min"] == 28318
    assert metrics["write.bandwidth.max"] == 130224 * 1024
    assert (job.output.user, job.output.system) == (0.0674, 0.1870)
    options = {"rw": "randrw", "ioengine": "libaio", "iodepth": "8", "bs": "4096B", "numjobs": "2"}
    assert job.output.options == options
    assert job.output.remarks == () and job.output.contradictions == ()
    assert job.output.latency_step == 1000, "least and largest are whole microseconds"


def test_percentiles_without_fractions():
    """As fio prints `percentile_list=50:99`."""
    whole = re.sub(r"(\d+)\.00th=", r"\1th=", GROUPED)
    assert "99th=[" in whole and only(whole).output.metrics == only(GROUPED).output.metrics


def test_each_job_of_each_group():
    first, second, third = parse(TWO, name="out.txt")
    assert [job.name for job in (first, second, third)] == ["a", "a", "b"]
    assert first.output.options["ioengine"] == "psync" and third.output.options["iodepth"] == "4"
    assert "read.slat.mean" not in first.output.metrics
    assert third.output.metrics["read.clat.max"] == 4_565_100, "a suffix for thousands"
    assert "bs" not in third.output.options, "several block sizes are none"


def test_nanoseconds_thousands_of_iops_and_gibibytes():
    metrics = only((DATA / "fio_text/fio-3.33.nanoseconds.txt").read_text()).output.metrics
    assert metrics["read.iops"] == pytest.approx(2621440 / 1.665)
    assert metrics["read.bandwidth"] == pytest.approx(6449e6, rel=1e-3)
    assert metrics["read.clat.p99.99"] == 716


def test_latencies_of_fsync_are_of_their_own():
    metrics = only((DATA / "fio_text/fio-3.33.fsync.txt").read_text()).output.metrics
    assert metrics["sync.lat.mean"] == 3_457_480
    assert metrics["sync.lat.p99"] == 7_963_000
    assert metrics["write.clat.p99"] == 29_056


@pytest.mark.parametrize("before", [False, True])
def test_percentiles_of_a_priority_are_not_those_of_all(before):
    """Those that came last were taken, here of a fifth of the reads."""
    text = (DATA / "fio_text/fio-3.33.priorities.txt").read_text()
    if before:  # as fio printed it from 3.17 to 3.30
        text = text.replace("clat prio 0/0 (79.54% of IOs)", "low prio (79.54%) clat")
        text = text.replace("clat prio 1/0 (20.46% of IOs)", "high prio (20.46%) clat")
    metrics = only(text).output.metrics
    found = [metrics[f"read.clat.{part}"] for part in ("min", "p1", "p50", "p99.99", "max")]
    assert found == [11_000, 32_000, 80_000, 7_767_000, 7_812_000]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    clat percentiles (usec):\n", ""),
        ("clat prio 1/0 (20.46% of IOs) percentiles", "clat of some reads, percentiles"),
    ],
)
def test_percentiles_without_a_heading_that_is_understood_are_refused(old, new):
    text = (DATA / "fio_text/fio-3.33.priorities.txt").read_text()
    if not new:
        text = re.sub(r"(?s)    clat prio [01]/0 \(\d.*?(?=   bw)", "", text)
    else:
        text = re.sub(r"(?s)    clat prio 0/0 \(\d.*?(?=    clat prio 1/0 \(\d)", "", text)
    assert old in text
    with pytest.raises(OutputError, match="cannot be read"):
        parse(text.replace(old, new), name="out.txt")


def test_syncs_that_fio_counts_as_short_reads_are_none():
    text = (DATA / "fio_text/fio-3.33.mixed_fdatasync.txt").read_text()
    assert re.search(r"issued rwts: .* short=[1-9]", text)
    assert {side: done.short for side, done in only(text).output.traffic.items()} == {"read": 0, "write": 0}


def test_four_outputs_within_a_report():
    found = list(blocks(GLUSTER))
    assert len(found) == 4
    assert [only(text).output.jobs for _, text in found] == [1, 8, 1, 8]
    first = GLUSTER.split("\n")[found[0][0] - 1]
    assert first.startswith("read_iops: (g=0)")


def test_a_line_that_names_two_speeds_is_told_and_the_one_that_fits_is_taken():
    job = only(list(blocks(GLUSTER))[3][1])
    assert job.output.contradictions == (
        "write BW=70.0MiB/s is not 74.4MB/s; 4277MiB in 60248 ms are 70.99 MiB/s: 70.0MiB/s is wrong",
    )
    assert job.output.metrics["write.bandwidth"] == pytest.approx(70.95 * 2**20, rel=1e-3)
    (remark,) = job.output.remarks
    assert remark.startswith("the latency distribution adds up to 103.7%")


@pytest.mark.parametrize(
    ("printed", "words"),
    [
        ("BW=70.0MiB/s (74.4MB/s)", "70.0MiB/s is wrong"),
        ("BW=70.9MiB/s (77.0MB/s)", "77.0MB/s is wrong"),
        ("BW=70.0MiB/s (77.0MB/s)", "which is wrong cannot be told"),
    ],
)
def test_of_two_speeds_the_one_that_is_not_what_was_moved_is_wrong(printed, words):
    text = list(blocks(GLUSTER))[3][1]
    ((start, end),) = [match.span() for match in re.finditer(r"BW=70.0MiB/s \(74.4MB/s\)(?=\()", text)]
    (told,) = only(text[:start] + printed + text[end:]).output.contradictions
    assert told.endswith(f"70.99 MiB/s: {words}")


def test_a_group_of_several_sections_has_the_options_that_all_share():
    head = GROUPED.partition("\n")[0]
    other = head.replace("mix:", "other:").replace("iodepth=", "iodepth=9")
    first, both = only(GROUPED), only(GROUPED.replace(head, f"{head}\n{other}"))
    assert first.output.jobs > 1
    assert "iodepth" in first.output.options and "iodepth" not in both.output.options
    assert both.output.options["bs"] == first.output.options["bs"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("err= 0", "err= 5 (Input/output error)", "out.txt:6:1: mix failed: error 5"),
        ("IOPS=29.5k", "IOPS=99.5k", "99500 IOPS, but 59094 in 2.004 s"),
        ("slat (usec): min=2", "slat (usec): min=two", "out.txt:8:1: cannot be read"),
        ("99.99th=[ 5211]", "99.99th=[ 52", "out.txt:16:1: cannot be read"),
        ("total=59094,59363", "total=0,59363", "claims I/O without operations"),
        ("Run status group 0", "Run", "was cut off"),
        ("avg= 5.31", "avg= 55555555555555555555.31", "too long"),
    ],
)
def test_what_contradicts_itself_or_cannot_be_read_is_refused_with_its_line(old, new, words):
    assert old in GROUPED
    with pytest.raises(OutputError) as caught:
        parse(GROUPED.replace(old, new, 1), name="out.txt")
    assert words in str(caught.value)


def test_text_that_is_none_is_refused():
    assert not recognises("fio-3.33\nStarting 1 process\n")
    with pytest.raises(OutputError, match="no job reports"):
        parse("fio-3.33\nStarting 1 process\n", name="out.txt")


def test_terminal_control_is_not_carried_along():
    job = only(GROUPED.replace("mix: (", "\x1b[31mmix: ("))
    assert "\x1b" not in job.name


@settings(deadline=None)
@given(st.integers(0, len(TWO)))
def test_an_output_that_was_cut_never_gives_other_figures(length):
    whole = parse(TWO, name="out.txt")
    try:
        found = parse(TWO[:length], name="out.txt")
    except OutputError:
        return
    assert [(job.name, job.output) for job in found] == [(job.name, job.output) for job in whole]


@settings(deadline=None)
@given(st.integers(0, len(GROUPED) - 1), st.text(alphabet="0123456789.,=()[]|k:% \nMx", max_size=3))
def test_a_damaged_output_gives_figures_that_agree_or_none(place, junk):
    try:
        job = only(GROUPED[:place] + junk + GROUPED[place + 1 :])
    except OutputError:
        return
    except ValueError as error:  # the damage made two jobs of one
        assert "unpack" in str(error)
        return
    for direction, traffic in job.output.traffic.items():
        rate = job.output.metrics[f"{direction}.iops"]
        assert rate == pytest.approx(traffic.operations / traffic.seconds, rel=0.06)
    assert all(math.isfinite(value) and value >= 0 for value in job.output.metrics.values())


@settings(deadline=None)
@given(st.text())
def test_no_text_ends_in_a_traceback(text):
    for _, block in blocks(text):
        with contextlib.suppress(OutputError):
            parse(block, name="out.txt")
