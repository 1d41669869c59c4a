"""What the reader prints, checked: figures that are whole and agree, or an error that says what is wrong."""

import copy
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import documents
from iogate.engines.common.scaling import scaling, serial_fraction
from iogate.engines.reader.engine import engine
from iogate.engines.reader.output import ReaderLatency
from iogate.errors import OutputError
from iogate.host.process import Completed
from iogate.model import Histogram

SIDE = {
    "bytes": 40960, "operations": 10, "short": 0,
    "latency": {
        "per": "operation", "batch": 1, "operations": 10, "sum_ns": 100_000, "min_ns": 5000, "max_ns": 20_000,
        "bins": [[4992, 4], [9984, 5], [19968, 1]],
    },
}  # fmt: skip
THREAD = {
    "after_ns": 0,
    "ns": 100_000,
    "bytes": 40960,
    "operations": 10,
    "user_ns": 10_000,
    "system_ns": 40_000,
}
PASS = {
    "threads": 1, "resident_before": 0, "wall_ns": 100_000, "flush_ns": 0, "read": SIDE,
    "per_thread": [{**THREAD, "registered": False}],
}  # fmt: skip
REPORT = {
    "reader": 1, "compiler": "12.2.0", "rw": "read", "bs": 4096, "size": 40960, "ioengine": "pread",
    "iodepth": 1, "direct": True, "cached": False, "seed": 1, "passes": [PASS],
}  # fmt: skip


def changed(path, value):
    """The report with another value at a path of keys."""
    return documents.changed(REPORT, path, value)


def parse(text, **completed):
    how = {"status": 0, "stdout": text, "stderr": "", "seconds": 0.1, **completed}
    return engine.parse(text, name="out", completed=Completed(**how))


def test_the_metrics_of_a_pass():
    output = parse(json.dumps(REPORT))
    assert output.metrics == {
        "wall_time": pytest.approx(1e-4), "read.bandwidth": pytest.approx(40960e4),
        "read.iops": pytest.approx(1e5),
        "read.lat.mean": 10_000.0, "read.lat.min": 5000.0, "read.lat.max": 20_000.0,
        "read.lat.p50": pytest.approx(9984, rel=1 / 64), "read.lat.p90": pytest.approx(9984, rel=1 / 64),
    }  # fmt: skip
    assert (output.user, output.system, output.jobs) == (0.1, 0.4, 1)
    assert output.engine_version == "1 (12.2.0)"
    assert output.traffic["read"].seconds == pytest.approx(1e-4)


def test_a_known_end_is_not_needed_to_read_an_output():
    assert engine.parse(json.dumps(REPORT), name="out").metrics["wall_time"] == pytest.approx(1e-4)


def test_batches_give_a_mean_and_no_percentiles():
    text = changed(("passes", 0, "read", "latency"), {**SIDE["latency"], "per": "batch", "batch": 5})
    assert [name for name in parse(text).metrics if "lat" in name] == ["read.lat.mean"]
    assert parse(text).histograms == {}


def test_the_latencies_are_kept_as_a_histogram():
    assert parse(json.dumps(REPORT)).histograms == {
        "read.lat": Histogram(8, {4608: 4, 9216: 5, 18432: 1}),
    }


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("reader",), 2, "out: reader:"),
        (("size",), -1, "out: size:"),
        (("size",), 40960.0, "out: size:"),
        (("size",), 81920, "the bytes are not those of all blocks"),
        (("bs",), 8192, "the operations are not one for each block"),
        (("rw",), "rw", "the writes are missing"),
        (("passes",), [], "out: passes:"),
        (("passes", 0, "wall_ns"), 99_999, "the wall time ends before the threads do"),
        (("passes", 0, "wall_ns"), 0, "the wall time ends before the threads do"),
        (("passes", 0, "threads"), 2, "the threads are not all there"),
        (("passes", 0, "per_thread", 0, "bytes"), 4096, "the threads' bytes"),
        (("passes", 0, "per_thread", 0, "operations"), 9, "the threads' operations"),
        (("passes", 0, "read", "latency"), None, "no latencies"),
        (("passes", 0, "read", "latency", "bins"), [[4992, 4]], "does not count each block once"),
        (("passes", 0, "read", "latency", "bins"), [[9984, 5], [4992, 4], [19968, 1]], "does not count"),
        (("passes", 0, "read", "latency", "min_ns"), 4000, "does not count"),
        (("passes", 0, "read", "latency", "sum_ns"), 10**9, "does not count"),
        (("passes", 0, "other"), 1, "out: passes.0.other"),
        (("cached",), True, "0 B of 40.00 KiB are in the page cache"),
    ],
)
def test_figures_that_cannot_be_are_refused(path, value, said):
    with pytest.raises(OutputError, match=said.replace(".", r"\.")):
        parse(changed(path, value))


BOTH = documents.changed(REPORT, ("rw",), "rw")
BOTH = json.loads(documents.changed(json.loads(BOTH), ("passes", 0, "write"), SIDE))
BOTH = json.loads(
    documents.changed(
        BOTH,
        ("passes", 0, "per_thread", 0),
        {**THREAD, "registered": False, "bytes": 2 * 40960, "operations": 20},
    )
)


def test_reads_and_writes_are_timed_each_or_in_pairs():
    assert {"read.lat.p50", "write.lat.p50"} <= parse(json.dumps(BOTH)).metrics.keys()
    pairs = copy.deepcopy(BOTH)
    (item,) = pairs["passes"]
    item["pair"] = copy.deepcopy(SIDE)
    item["read"]["latency"] = item["write"]["latency"] = None
    assert {"lat.p50"} <= parse(json.dumps(pairs)).metrics.keys()


@pytest.mark.parametrize("direction", ["read", "write"])
@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("latency", None, "the latencies of a direction are missing"),
        ("bins", [[4992, 4]], "{direction}: the histogram does not count each block once"),
        ("bins", [[9984, 5], [4992, 4], [19968, 1]], "{direction}: the histogram does not count"),
        ("sum_ns", 10**9, "{direction}: the histogram does not count"),
    ],
)
def test_a_broken_direction_is_refused_whichever_it_is(direction, key, value, said):
    path = ("passes", 0, direction, *(("latency",) if key == "latency" else ("latency", key)))
    with pytest.raises(OutputError, match=said.format(direction=direction)):
        parse(documents.changed(BOTH, path, value))


def test_two_passes_of_as_many_threads_are_refused():
    with pytest.raises(OutputError, match="a number of threads is there twice"):
        parse(changed(("passes",), [PASS, PASS]))


def test_data_that_stayed_in_the_cache_are_refused_unless_it_is_gone_past():
    report = json.loads(changed(("passes", 0, "resident_before"), 4096))
    assert parse(json.dumps(report)).metrics
    report["direct"] = False
    with pytest.raises(OutputError, match=r"4\.000 KiB of 40\.00 KiB stayed in the page cache"):
        parse(json.dumps(report))


@pytest.mark.parametrize(
    ("what", "number", "said"),
    [
        ("pread", 5, r"pread: words \(EIO\) at offset 8192, thread 3\n.*dmesg"),
        ("pread", 22, r"pread: words \(EINVAL\) at offset 8192, .*\n.*multiples of the device's block"),
        ("open", 22, r"direct I/O was asked for, but this file system has none\n.*direct: false"),
        ("open", 13, r"open: words \(EACCES\)"),
        ("end of file", 0, r"the data end at offset 8192, 40960 bytes were to be read"),
        ("io_uring_setup", 1, r"io_uring cannot be used here: words \(EPERM\); nothing was measured"),
        ("io_uring_setup", 12, r"io_uring_setup: words \(ENOMEM\)"),
        ("pread", 99999, r"pread: words \(99999\)"),
    ],
)
def test_an_error_is_told_with_errno_and_offset(what, number, said):
    error = {"what": what, "errno": number, "message": "words", "offset": 8192, "thread": 3}
    with pytest.raises(OutputError, match=said):
        parse(changed(("passes", 0, "error"), error), status=1)


def test_a_status_is_never_ignored():
    with pytest.raises(OutputError, match="status 1: no space"):
        parse(json.dumps(REPORT), status=1, stderr="reader: no space\n")


def test_a_reader_that_hangs_or_dies_is_told():
    with pytest.raises(OutputError, match="ended after 9 s"):
        parse("", timed_out=True, status=-15, seconds=9.0)
    with pytest.raises(OutputError, match="signal 9"):
        parse('{"reader": 1', status=-9)
    with pytest.raises(OutputError, match="cannot open the data"):
        parse("", status=1, stderr="reader: cannot open the data: No such file or directory\n")


def test_text_that_does_not_parse_names_the_line():
    with pytest.raises(OutputError, match=r"^out:2:1: this is not the JSON of reader"):
        parse('{"reader": 1,\n')


@given(st.data())
def test_damaged_outputs_never_end_in_anything_but_an_output_error(data):
    text = json.dumps(REPORT)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 20)))
    damaged = text[:start] + data.draw(st.text('0123456789-.eE"[]{},:truefalsn', max_size=10)) + text[end:]
    try:
        output = parse(damaged)
    except OutputError:
        return
    assert all(math.isfinite(value) and value >= 0 for value in output.metrics.values())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
PATHS = [
    (), ("passes",), ("passes", 0), ("passes", 0, "read"), ("passes", 0, "read", "latency"),
    ("passes", 0, "per_thread", 0),
]  # fmt: skip


@given(st.sampled_from(PATHS), st.integers(0, 9), JSON)
def test_any_value_in_any_place_is_read_or_refused(path, number, value):
    place = REPORT
    for key in path:
        place = place[key]
    keys = sorted(place) if isinstance(place, dict) else [0]
    try:
        output = parse(changed((*path, keys[number % len(keys)]), value))
    except OutputError:
        return
    assert output.metrics["wall_time"] > 0


@given(st.lists(st.integers(1, 10**10), min_size=1, max_size=300), st.floats(0.1, 100))
def test_percentiles_are_within_a_bin_of_the_true_ones(values, percent):
    def width(value):
        return 1 << max(0, value.bit_length() - 7)

    bins = {}
    for value in sorted(values):
        least = value // width(value) * width(value)
        bins[least] = bins.get(least, 0) + 1
    latency = ReaderLatency(
        per="operation", batch=1, operations=len(values), sum_ns=sum(values), min_ns=min(values),
        max_ns=max(values), bins=list(bins.items()),
    )  # fmt: skip
    true = sorted(values)[max(0, math.ceil(percent / 100 * len(values) * (1 - 1e-12)) - 1)]
    assert abs(latency.percentile(percent) - true) <= true / 64


@given(
    st.floats(0, 1), st.floats(1e-3, 1e6), st.lists(st.integers(1, 512), min_size=2, max_size=8, unique=True)
)
def test_the_serial_fraction_of_times_that_obey_amdahl_is_found(serial, whole, counts):
    seconds = {count: whole * (serial + (1 - serial) / count) for count in counts}
    assert serial_fraction(seconds) == pytest.approx(serial, abs=1e-6)


@given(st.dictionaries(st.integers(1, 512), st.floats(1e-6, 1e6), min_size=2, max_size=8))
def test_the_serial_fraction_is_a_fraction(seconds):
    assert 0 <= serial_fraction(seconds) <= 1


def test_scaling_by_hand():
    found = scaling({1: 12.0, 2: 8.0, 4: 6.0}, "threads")
    assert found == {
        "threads_2.speedup": 1.5, "threads_2.efficiency": 0.75, "threads_4.speedup": 2.0,
        "threads_4.efficiency": 0.5, "serial_fraction": pytest.approx(1 / 3),
    }  # fmt: skip
    assert scaling({2: 8.0, 4: 4.0}, "threads")["threads_4.efficiency"] == 1.0
    assert serial_fraction({1: 10.0, 2: 4.0, 4: 1.5}) == 0.0  # faster than linear: nothing is serial
    assert serial_fraction({1: 1.0, 2: 1.5, 4: 1.7}) == 1.0  # slower with each thread


def test_a_curve_names_its_points():
    other = copy.deepcopy(PASS)
    other.update(threads=2, wall_ns=50_000)
    other["per_thread"] = [
        {**THREAD, "registered": False, "bytes": 20480, "operations": 5, "ns": 50_000} for _ in range(2)
    ]
    metrics = parse(json.dumps({**REPORT, "passes": [PASS, other]})).metrics
    assert metrics["threads_2.speedup"] == 2.0 and metrics["threads_2.efficiency"] == 1.0
    assert metrics["threads_1.read.lat.mean"] == 10_000.0
    assert "wall_time" not in metrics
