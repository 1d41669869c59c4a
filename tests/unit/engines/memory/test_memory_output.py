"""What memory.c prints, checked: figures that agree and can be believed, or an error that says why not."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import documents
from iogate.audit import Evidence, audit
from iogate.engines.memory.engine import engine
from iogate.errors import OutputError
from iogate.host.process import Completed
from iogate.model import Needs

REPORT = {
    "memory": 1, "compiler": "12.2.0", "size": 2**28, "load": 2**28, "line": 64, "stride": 256, "reads": 3,
    "writes": 1, "threads": 2, "runtime_ns": 10**9, "huge_pages": True, "allocated": 2**29,
    "in_huge_pages": 2**29, "cycle_ns": 0.33, "burst_read": 384, "burst_written": 128,
    "idle": {"ns": 10**9, "elapsed": 11 * 10**8, "hops": 10**7},
    "points": [
        {"delay": 0, "ns": 10**9, "elapsed": 10**9, "hops": 4 * 10**6, "bursts": [20_000_000, 19_000_000]},
        {"delay": 500, "ns": 5 * 10**8, "elapsed": 2 * 10**9, "hops": 4 * 10**6, "bursts": [10**6, 10**6]},
        {"delay": 20000, "ns": 10**9, "elapsed": 10**9, "hops": 99 * 10**5, "bursts": [50_000, 50_001]},
    ],
}  # fmt: skip


def changed(*path, to):
    """The report with another value at a path of keys."""
    return documents.changed(REPORT, path, to)


def parse(text, **completed):
    how = {"status": 0, "stdout": text, "stderr": "", "seconds": 5.0, **completed}
    return engine.parse(text, name="out", completed=Completed(**how))


def test_latency_is_the_time_of_a_dependent_read():
    metrics = parse(json.dumps(REPORT)).metrics
    assert metrics["latency.idle"] == 100.0
    assert metrics["latency.delay_0"] == 250.0
    assert metrics["latency.delay_500"] == 125.0


def test_bandwidth_is_what_the_load_reads_and_writes_and_the_latency_reads():
    metrics = parse(json.dumps(REPORT)).metrics
    assert metrics["bandwidth.delay_0"] == pytest.approx(39_000_000 * (384 + 128) + 4e6 * 64)
    assert metrics["bandwidth.delay_500"] == pytest.approx((2e6 * 512 + 4e6 * 64) / 0.5)
    assert metrics["bandwidth.peak"] == metrics["bandwidth.delay_0"]
    assert metrics["latency.knee"] == 250.0


def test_what_it_states():
    output = parse(json.dumps(REPORT))
    assert output.engine_version == "1 (12.2.0)"
    assert output.jobs == 2
    assert output.options == {
        "stride": "256", "mix": "3:1", "delays": [0, 500, 20000], "runtime": 1.0, "threads": 2,
    }  # fmt: skip
    assert not output.traffic, "nothing wears a device"
    assert not output.remarks


def test_the_audit_has_nothing_against_a_sound_run():
    output = parse(json.dumps(REPORT))
    assert not audit(Evidence(output, engine.options({}), Needs(target=False), "memory", seconds=5.0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (changed("points", 0, "bursts", to=[1, 0]), "delay 0: a thread of the load did nothing"),
        (changed("points", 0, "bursts", to=[1]), "threads are not all there"),
        (changed("points", 0, "hops", to=0), "delay 0: the threads had their processors"),
        (changed("points", 1, "ns", to=9 * 10**6), "only 9.0 ms of 2000 ms, 1000 ms were asked for"),
        (changed("points", 1, "elapsed", to=1), "faster than it can"),
        (changed("points", 1, "delay", to=0), "a delay is there twice"),
        (changed("points", to=[]), "points"),
        (changed("points", 0, "bursts", to=[10**13, 10**13]), "more than processors can ask"),
        (changed("idle", "ns", to=10**6), "idle: the threads had"),
        (changed("idle", "hops", to=10**3), "idle latency of 1000000.00 ns"),
        (changed("idle", "hops", to=10**11), "idle latency of 0.01 ns"),
        (changed("idle", "hops", to=4 * 10**6), "was not idle"),
        (changed("in_huge_pages", to=2**28), "only 50% of the memory is in huge pages"),
        (changed("burst_written", to=0), "not in the ratio"),
        (changed("writes", to=-1), "writes"),
        (changed("cycle_ns", to=0), "cycle_ns"),
        (changed("memory", to=2), "memory: "),
        (changed("more", to=1), "more: "),
        ("", r"out:1:1: this is not the JSON of memory"),
        ("[]", "out: the output: "),
        (json.dumps(REPORT)[:-5], "out:1:"),
        (json.dumps(REPORT).replace("0.33", "NaN"), "cycle_ns"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(text, message):
    with pytest.raises(OutputError, match=message):
        parse(text)


def test_small_pages_are_said():
    report = json.loads(changed("huge_pages", to=False))
    assert "TLB" in parse(json.dumps(report | {"in_huge_pages": 0})).remarks[0]


def test_how_it_ended_is_told():
    with pytest.raises(OutputError, match="out: memory failed: cannot run on CPU 7"):
        parse("", status=1, stderr="memory: cannot run on CPU 7\n")
    with pytest.raises(OutputError, match="it was killed, as happens when memory runs out"):
        parse("", status=-9)
    with pytest.raises(OutputError, match="without an end in sight"):
        parse("", status=-15, timed_out=True)
    with pytest.raises(OutputError, match="ended with status 3"):
        parse(json.dumps(REPORT), status=3)


@given(st.integers(0, len(json.dumps(REPORT)) - 1))
def test_an_output_that_is_cut_short_is_refused(length):
    with pytest.raises(OutputError):
        parse(json.dumps(REPORT)[:length])


PLACES = st.sampled_from(
    [(key,) for key in REPORT] + [("idle", key) for key in REPORT["idle"]]
    + [("points", 1, key) for key in REPORT["points"][1]] + [("points", 0, "bursts", 1)]
)  # fmt: skip
VALUES = st.one_of(st.integers(), st.floats(), st.text(), st.none(), st.booleans(), st.lists(st.integers()))


@given(PLACES, VALUES)
def test_any_value_in_any_place_is_refused_or_leaves_figures_that_can_be(path, value):
    try:
        output = parse(changed(*path, to=value))
    except OutputError:
        return
    assert all(0 < figure < math.inf for figure in output.metrics.values())
