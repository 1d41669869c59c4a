"""The reader's options in a suite, and what follows from them."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iogate import engines
from iogate.declare.suite import load_suite
from iogate.engines.common.cpus import numbers_of
from iogate.engines.reader.engine import batch, cpus, engine
from iogate.errors import EngineError, InputErrors
from iogate.model import Output, metric
from workloads import declared, refused

LEAST = {"rw": "read", "size": "1G"}


def options(**given):
    return engine.options({**LEAST, **given})


workload = partial(declared, "reader", **LEAST)


def test_the_engine_is_found_by_name():
    assert "reader" in engines.names()
    assert engines.load("reader") is engine


def test_defaults():
    assert options() == {
        "rw": "read", "size": "1G", "bs": "4k", "threads": 1, "ioengine": "pread", "iodepth": 1,
        "cached": False, "seed": 1, "direct": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"bs": 8192}, {"bs": "8k"}),
        ({"rw": "readwrite"}, {"rw": "rw"}),
        ({"threads": [4]}, {"threads": 4}),
        ({"threads": [8, 1, 2]}, {"threads": [1, 2, 8]}),
        ({"cached": True}, {"cached": True, "direct": False}),
        ({"pin": "0-2"}, {"pin": [0, 1, 2]}),
        ({"numa": 0}, {"numa": "0"}),
        ({"end_fsync": False}, {}),
        ({"size": "1M", "min_size": "1G"}, {"size": "1G"}),
        ({"size": "1G", "min_size": "1M"}, {"size": "1G"}),
    ],
)
def test_one_meaning_has_one_spelling(one, other):
    assert options(**one) == options(**other)
    assert engine.options(options(**one)) == options(**one)


@pytest.mark.parametrize(
    ("given", "key", "said"),
    [
        ({"bs": 8}, "bs", "direct I/O takes multiples of 512 bytes"),
        ({"size": "1000", "direct": False}, "size", "less than one block"),
        ({"size": "10000"}, "size", "direct I/O takes multiples of 512 bytes"),
        ({"bs": "80M", "size": "64M"}, "size", "64M is less than one block of 80M"),
        ({"bs": "80M", "threads": [1, 16]}, "size", "too few blocks of 80M for 16 threads"),
        ({"bs": "3G", "size": "9G"}, "bs", "below 2 GiB"),
        ({"bs": 0}, "bs", "from 1 byte"),
        ({"iodepth": 2}, "iodepth", "ioengine: io_uring"),
        ({"ioengine": "libaio"}, "ioengine", "'pread' or 'io_uring'"),
        ({"rw": "randwrite"}, "rw", "'read', 'randread' or 'rw'"),
        ({"cached": True, "direct": True}, "cached", "goes past it"),
        ({"threads": 0}, "threads", "from 1 to 4096"),
        ({"threads": [1, 1]}, "threads", "different numbers"),
        ({"threads": []}, "threads", "a list of 1 to 64"),
        ({"threads": True}, "threads", "true is not a number of threads"),
        ({"pin": "0-x"}, "pin", "not a list such as 0-3,8"),
        ({"pin": True, "numa": 0}, "pin", "either pin or numa"),
        ({"runtime": 10}, "runtime", "unknown key"),
    ],
)
def test_what_cannot_be_done_is_refused(given, key, said):
    assert any(path[0] == key and said in message for path, message in refused("reader", **LEAST | given))


SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8))
VALUES = st.one_of(SCALARS, st.lists(SCALARS, max_size=3), st.integers(0, 9).map(lambda power: 2**power))


@given(st.dictionaries(st.sampled_from([*engine.schema()["properties"], "other"]), VALUES))
def test_any_options_are_normal_or_refused(given):
    try:
        found = engine.options({**LEAST, **given})
    except InputErrors:
        return
    assert engine.options(found) == found
    needs = engine.needs(workload(**found))
    assert needs.seconds > 0 and needs.size >= needs.block > 0


@given(st.sets(st.integers(0, 1023), min_size=1))
def test_lists_of_numbers(numbers):
    assert numbers_of(",".join(map(str, numbers))) == sorted(numbers)
    assert numbers_of(f"{min(numbers)}-{max(numbers)}") == list(range(min(numbers), max(numbers) + 1))


def test_the_wall_time_gates_at_each_point_of_a_curve():
    assert engine.gating(workload()) == ("wall_time",)
    names = engine.gating(workload(threads=[1, 2, 8]))
    assert names == ("threads_1.wall_time", "threads_2.wall_time", "threads_8.wall_time")
    assert {metric(name).unit for name in names} == {"s"}
    assert metric("threads_2.speedup").direction == "higher"
    assert metric("threads_2.read.lat.p99.9").unit == "ns"


def test_what_a_repetition_needs():
    needs = engine.needs(workload(bs="1M", threads=[1, 2]))
    assert (needs.size, needs.block, needs.direct) == (2**30, 2**20, True)
    assert (needs.reads, needs.writes, needs.written) == (True, False, 0)
    needs = engine.needs(workload(rw="rw", bs=8, direct=False, threads=[1, 2, 4]))
    assert (needs.writes, needs.written, needs.direct) == (True, 3 * 2**30, False)


def test_small_blocks_share_a_reading_of_the_clock():
    assert batch(options(bs=8, direct=False)) == 64
    assert batch(options(bs=4096, cached=True)) == 16
    for each in (options(), options(direct=False), options(bs="8M", cached=True)):
        assert batch(each) == 1
    assert batch(options(cached=True, ioengine="io_uring", iodepth=8, bs=512)) == 1


def test_threads_are_bound_to_cpus(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 1, 5})
    assert cpus(options(), 4) == []
    assert cpus(options(pin=True), 2) == ["0", "1"]
    assert cpus(options(pin="1,5"), 8) == ["1", "5"]
    with pytest.raises(EngineError, match="no CPU 2 for this process; there are 0, 1, 5"):
        cpus(options(pin="0-2"), 1)


def test_threads_are_bound_to_nodes(monkeypatch, tmp_path):
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 1, 5})
    monkeypatch.setattr("iogate.engines.reader.engine._NODES", tmp_path)
    for number, text in ((0, "0-3\n"), (1, "4-7\n"), (2, "8\n"), (3, "\n")):
        (tmp_path / f"node{number}").mkdir()
        (tmp_path / f"node{number}" / "cpulist").write_text(text)
    assert cpus(options(numa="0-1"), 8) == ["0,1", "5"]
    for missing in (2, 3, 9):
        with pytest.raises(EngineError, match=f"node {missing}"):
            cpus(options(numa=missing), 1)


def test_a_cpu_that_is_not_there_is_a_mistake_of_the_suite(monkeypatch):
    def move(pid, cpus):
        if set(cpus) - {0, 1, 7}:
            raise OSError

    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 1})
    monkeypatch.setattr("os.sched_setaffinity", move)  # 7 is set aside for who asks for it
    assert engine.check([workload(pin="1,7")]) == []
    errors = engine.check([workload(), workload(pin="0-7")])
    assert [str(error).split("\n")[0] for error in errors] == [
        "suite.yaml:1:3: w: pin: there is no CPU 2 for this process; there are 0, 1"
    ]


@pytest.mark.parametrize("cli_overrides", [{}, {"size": "16M"}])
def test_the_suite_of_strong_scaling_is_the_published_protocol(request, cli_overrides):
    suite = load_suite(
        request.config.rootpath / "suites" / "strong_scaling.yaml", cli_overrides=cli_overrides
    )
    points = {(item.options["bs"], item.options["rw"]) for item in suite.workloads}
    assert points == {(bs, rw) for bs in ("8", "8k", "8M", "80M") for rw in ("rw", "read", "randread")}
    assert {tuple(item.options["threads"]) for item in suite.workloads} == {(1, 2, 4, 8)}
    sizes = {item.options["size"] for item in suite.workloads}
    assert sizes == ({"16M", "640M"} if cli_overrides else {"10G"})


def test_of_an_output_alone_its_wall_times_gate():
    times = {"wall_time": 1.0, "read.bandwidth": 2.0}
    assert engine.gating_of(Output(times, {})) == ("wall_time",)
    curve = {"threads_1.wall_time": 1.0, "threads_2.wall_time": 0.6, "threads_2.speedup": 1.7}
    assert engine.gating_of(Output(curve, {})) == ("threads_1.wall_time", "threads_2.wall_time")
