"""fio on several clients: what it is told, and what becomes of what it says of all and of each."""

import contextlib
import copy
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import places
from iogate.engines.common.scaling import curve
from iogate.engines.fio.engine import engine
from iogate.errors import IogateError, OutputError
from iogate.host.process import Completed
from iogate.model import Command
from workloads import declared, refused

TEXT = (places.DATA / "fio" / "fio-3.33.jsonplus.json").read_text()
WHOLE = engine.parse(TEXT, name="output.json")
DONE = json.loads(TEXT[TEXT.index("{") :])["jobs"]
DIRECTION = next(iter(WHOLE.traffic))
SECONDS = WHOLE.traffic[DIRECTION].seconds
CODE = {"read": 0, "write": 1, "trim": 2}[DIRECTION]
NOW = 1_795_332_696_000


def said(*names, **changes):
    """What fio prints for clients that all did the same."""
    entries = []
    for name in names:
        for job in copy.deepcopy(DONE):
            entries.append({**job, "hostname": name, "port": 8765, **changes.get(name, {})})
    return json.dumps({"fio version": "fio-3.33", "client_stats": entries})


def log(start=0.0, seconds=SECONDS, rate=1000, step=0.1):
    """A log of one job that began so many seconds after the others."""
    count = round(seconds / step)
    return "".join(
        f"{NOW + round(1000 * (start + step * (number + 1)))}, {rate}, {CODE}, 0, 0\n"
        for number in range(count)
    )


def outputs(text, logs, **offsets):
    offsets = offsets or dict.fromkeys(("client_1", "client_2"), 0.0)
    files = {f"log_bw.1.log.{name}": text for name, text in logs.items()}
    return engine.outputs(text, files, offsets, name="output.json", completed=Completed(0, "", "", 12.0))


BOTH = said("client_1", "client_2")


def test_figures_are_summed_and_each_client_has_its_own():
    found = outputs(BOTH, {"client_1": log(), "client_2": log()})
    for figure in ("iops", "bandwidth"):
        name = f"{DIRECTION}.{figure}"
        assert found.whole.metrics[name] == pytest.approx(2 * WHOLE.metrics[name])
        assert found.whole.metrics[f"client_2.{name}"] == pytest.approx(WHOLE.metrics[name])
    assert found.each["client_1"].metrics == WHOLE.metrics
    assert found.whole.jobs == 2 * WHOLE.jobs


def test_unlike_jobs_are_told_each_of_all_clients_together():
    entries = json.loads(said("client_1", "client_2"))["client_stats"]
    other = [
        {**one, "jobname": "log", "job options": {**one["job options"], "iodepth": "9"}} for one in entries
    ]
    idle = {**entries[0][DIRECTION], "total_ios": 0, "io_bytes": 0}
    other[0][DIRECTION] = idle  # this client's does nothing: what is left is of its other job alone
    text = json.dumps({"fio version": "fio-3.33", "client_stats": [*entries, *other]})
    metrics = outputs(text, {"client_1": log(), "client_2": log()}).whole.metrics
    own, (name,) = WHOLE.metrics[f"{DIRECTION}.iops"], {one["jobname"] for one in entries}
    assert metrics[f"{DIRECTION}.iops"] == pytest.approx(3 * own)
    assert metrics[f"{name}.{DIRECTION}.iops"] == pytest.approx(2 * own)
    assert metrics[f"log.{DIRECTION}.iops"] == pytest.approx(own)
    renamed = outputs(text.replace('"log"', '"client_2"'), {"client_1": log(), "client_2": log()}).whole
    assert renamed.metrics[f"client_2.{DIRECTION}.iops"] == pytest.approx(own)  # the section's


def test_latencies_are_merged_by_bins():
    found = outputs(BOTH, {"client_1": log(), "client_2": log()}).whole
    for part in ("mean", "p50", "p99", "max"):
        name = f"{DIRECTION}.clat.{part}"
        assert found.metrics[name] == pytest.approx(WHOLE.metrics[name], rel=0.02)
    (kind,) = [name for name in found.histograms if name.endswith("clat")]
    assert sum(found.histograms[kind].bins.values()) == 2 * sum(WHOLE.histograms[kind].bins.values())


def test_rates_are_those_of_the_time_when_all_ran():
    half = SECONDS / 2
    late = log(start=half, rate=3000, seconds=half) + log(start=SECONDS, rate=1000, seconds=half)
    found = outputs(BOTH, {"client_1": log(), "client_2": late})
    own = WHOLE.metrics[f"{DIRECTION}.bandwidth"]
    # of the second client, whose mean is 2000, all ran together while it did 3000
    assert found.whole.metrics[f"{DIRECTION}.bandwidth"] == pytest.approx(own + 1.5 * own, rel=0.1)
    assert found.spans["client_2"].start - found.spans["client_1"].start == pytest.approx(half, abs=0.01)


def test_the_clock_of_a_client_is_taken_into_account():
    logs = {"client_1": log(), "client_2": log(start=3600.0)}
    found = outputs(BOTH, logs, client_1=0.0, client_2=3600.0)
    assert found.spans["client_2"].start == pytest.approx(found.spans["client_1"].start, abs=0.001)


@pytest.mark.parametrize(
    "names", [("client_1",), ("client_1", "client_2", "client_3"), ("client_1", "other")]
)
def test_a_client_that_is_missing_or_unknown_is_refused(names):
    with pytest.raises(OutputError, match="not just the clients asked for"):
        outputs(said(*names), {"client_1": log(), "client_2": log()})


def test_a_client_that_failed_is_named():
    text = said("client_1", "client_2", client_2={"error": 5})
    with pytest.raises(OutputError, match="on client_2 failed: Input/output error"):
        outputs(text, {"client_1": log(), "client_2": log()})


def test_a_client_without_a_log_is_refused():
    with pytest.raises(OutputError, match="client_2 has no log"):
        outputs(BOTH, {"client_1": log()})


def test_of_one_client_alone_nobody_asks_when_it_ran():
    name = f"{DIRECTION}.iops"
    found = outputs(said("client_1"), {}, client_1=0.0)
    assert found.whole.metrics[name] == found.each["client_1"].metrics[name] == WHOLE.metrics[name]


def test_a_client_that_did_nothing_is_refused():
    idle = {**DONE[0][DIRECTION], "total_ios": 0, "io_bytes": 0}
    text = said("client_1", "client_2", client_2={DIRECTION: idle})
    with pytest.raises(OutputError, match="client_2 did no I/O"):
        outputs(text, {"client_1": log(), "client_2": log()})


@pytest.mark.parametrize("line", ["", "x", "1, 2", "1795332696203, -5, 0, 0, 0", "1e400, 1, 0, 0, 0"])
def test_a_log_that_cannot_be_read_is_refused_with_its_line(line):
    with pytest.raises(OutputError, match=r"log_bw.1.log.client_2:2: is no line"):
        outputs(BOTH, {"client_1": log(), "client_2": f"{NOW}, 1, {CODE}, 0, 0\n{line}\n"})


def test_a_clock_that_goes_back_in_a_run_is_refused():
    with pytest.raises(OutputError, match="went back"):
        outputs(BOTH, {"client_1": log(), "client_2": log() + log()})


@given(st.text(max_size=300), st.text(max_size=100))
def test_whatever_clients_say_is_an_error_in_words(text, lines):
    with pytest.raises(IogateError):
        outputs(text, {"client_1": lines, "client_2": log()})


LEAVES = [
    (*before, key) for before, part in [((), DONE[0]), ((DIRECTION,), DONE[0][DIRECTION])] for key in part
]
STRANGE = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.just([]), st.just({})
)


@given(st.sampled_from(LEAVES), STRANGE)
def test_whatever_one_client_says_of_itself_is_believed_or_refused(path, value):
    document = json.loads(BOTH)
    part = document["client_stats"][1]
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    logs = {"client_1": log(), "client_2": log()}
    with contextlib.suppress(OutputError):
        found = outputs(json.dumps(document), logs)
        assert set(found.each) == {"client_1", "client_2"}
        assert all(math.isfinite(value) for value in found.whole.metrics.values())


@given(st.lists(st.tuples(st.integers(0, 10**16 - 1), st.integers(0, 10**12), st.integers(0, 2)), max_size=5))
def test_whatever_a_log_says_is_believed_or_refused(entries):
    text = "".join(f"{time}, {rate}, {direction}, 0, 0\n" for time, rate, direction in entries)
    with contextlib.suppress(OutputError):
        found = outputs(BOTH, {"client_1": log(), "client_2": text})
        assert all(math.isfinite(value) and value >= 0 for value in found.whole.metrics.values())


def test_the_conductor_is_told_each_client_and_no_address_of_a_network():
    commands = {
        f"client_{number}": Command(("fio",), 9.0 + number, {"job.fio": f"[{number}]"}) for number in (1, 2)
    }
    command = engine.conductor(commands)
    assert command.argv[-4:] == (
        "--client=sock:client_1", "client_1.fio", "--client=sock:client_2", "client_2.fio",
    )  # fmt: skip
    assert command.files == {"client_1.fio": "[1]", "client_2.fio": "[2]"}
    assert command.timeout == 11.0
    assert engine.server("server")[1:] == ("--server=sock:server",)


def test_what_one_client_does_is_the_workload_with_a_log():
    options = declared("fio", rw="read", size="1M", runtime=10, time_based=True, clients=4).options
    alone = engine.alone(options)
    assert "clients" not in alone
    assert alone["fio"] == {"write_bw_log": "log", "log_avg_msec": "100", "log_unix_epoch": "1"}
    assert {key: alone[key] for key in alone if key != "fio"} == {
        key: options[key] for key in options if key not in ("fio", "clients")
    }


@pytest.mark.parametrize(
    "asked, counts", [("all", "all"), (3, (3,)), ([4, 1, 2], (1, 2, 4)), ([2], (2,)), (None, None)]
)
def test_how_many_clients(asked, counts):
    given = {} if asked is None else {"clients": asked}
    assert engine.clients(declared("fio", rw="read", size="1M", **given).options) == counts


@pytest.mark.parametrize("asked", [0, -1, "some", 1.5, True, [], [1, 1], ["all"], {"a": 1}, 10**6])
def test_what_is_no_number_of_clients_is_refused(asked):
    (((path, _message)),) = refused("fio", rw="read", size="1M", clients=asked)
    assert path[0] == "clients"


def test_a_list_makes_a_curve_whose_points_gate():
    workload = declared("fio", rw="randread", size="1M", runtime=10, time_based=True, clients=[1, 2, 4])
    assert engine.gating(workload) == ("clients_1.read.iops", "clients_2.read.iops", "clients_4.read.iops")
    needs = engine.needs(workload)
    assert (needs.clients, needs.seconds) == (4, 30.0)


def test_a_curve_over_clients_is_one_over_threads():
    two = outputs(BOTH, {"client_1": log(), "client_2": log()}).whole
    metrics = curve({1: WHOLE, 2: two}, "clients").metrics
    assert metrics["clients_2.speedup"] == pytest.approx(2.0)
    assert metrics["clients_2.efficiency"] == pytest.approx(1.0)
    assert metrics["serial_fraction"] == pytest.approx(0.0, abs=1e-9)
    assert metrics[f"clients_1.{DIRECTION}.iops"] == WHOLE.metrics[f"{DIRECTION}.iops"]
