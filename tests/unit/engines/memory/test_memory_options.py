"""The engine memory: its options, what it asks of the machine, and what it refuses."""

import os
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iogate.declare.suite import load_suite
from iogate.declare.workload import declare_workload
from iogate.engines.common.loaded_latency import Point, figures, knee, ratio
from iogate.engines.memory import engine as module
from iogate.engines.memory import machine
from iogate.engines.memory.engine import engine
from iogate.errors import EngineError, InputErrors, Position
from iogate.model import Place, metric
from workloads import declared

MIB = 2**20
HERE = Position("suite.yaml", 3)


workload = partial(declared, "memory")


def files(root, **contents):
    """Files below `root`: names with `__` for `/`."""
    for name, text in contents.items():
        path = root.joinpath(*name.split("__"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class TestOptions:
    def test_defaults_are_those_of_intels_tool(self):
        options = engine.options({})
        assert options["delays"][0] == 0 and options["delays"][-1] == 20000 and len(options["delays"]) == 19
        assert (options["stride"], options["mix"], options["buffer_size"]) == ("64", "1:0", "auto")

    def test_spellings(self):
        written = {
            "stride": "256B",
            "mix": " 75:25 ",
            "delays": 100,
            "buffer_size": "64MiB",
            "runtime": "500ms",
        }
        options = engine.options({**written, "pin": [2, 0, 1]})
        assert options["stride"] == "256" and options["mix"] == "3:1" and options["delays"] == [100]
        assert options["buffer_size"] == "64M" and options["runtime"] == 0.5 and options["pin"] == "0,1,2"

    @pytest.mark.parametrize(
        ("written", "message"),
        [
            ({"stride": 100}, "multiple of 64"),
            ({"stride": "1M"}, "up to 64k"),
            ({"mix": "1:2"}, "more writes than reads: a line must be read before"),
            ({"mix": "0:0"}, "is not a mix"),
            ({"mix": 75}, "is not a mix"),
            ({"delays": [0, 0]}, "different numbers"),
            ({"delays": [-1]}, "0 to 1000000"),
            ({"delays": [True]}, "is not a delay"),
            ({"delays": "0,100"}, "is not a delay"),
            ({"buffer_size": "4k"}, "less than 16k"),
            ({"buffer_size": "much"}, "'much' is not a size"),
            ({"runtime": 0}, "runtime"),
            ({"threads": 0}, "threads"),
            ({"pin": "0,1", "threads": 2}, "more than the CPUs of pin"),
            ({"pin": "0-"}, "not a list"),
            ({"huge_pages": "maybe"}, "huge_pages"),
            ({"file": "/dev/sda"}, "unknown key"),
        ],
    )
    def test_what_is_wrong_is_refused(self, written, message):
        with pytest.raises(InputErrors, match=message):
            engine.options(written)

    @given(st.integers(0, 999), st.integers(0, 999))
    def test_a_mix_is_in_lowest_terms(self, reads, writes):
        if not reads or writes > reads:
            with pytest.raises(ValueError):
                ratio(f"{reads}:{writes}")
            return
        left, right = map(int, ratio(f"{reads}:{writes}").split(":"))
        assert left * writes == right * reads
        assert ratio(f"{left}:{right}") == f"{left}:{right}"

    def test_options_are_their_own_normal_form(self):
        for written in (
            {},
            {"mix": "50:50", "delays": 5, "pin": "1,0"},
            {"buffer_size": "1G", "huge_pages": True},
        ):
            options = engine.options(written)
            assert engine.options(options) == options

    def test_the_command_lines_runtime_holds_and_its_size_is_that_of_storage(self):
        found = declare_workload("w", "s", {"engine": "memory"}, HERE, {"size": "16M", "runtime": 0.25})
        assert (found.options["buffer_size"], found.options["runtime"]) == ("auto", 0.25)

    def test_a_suite_declares_curves(self, tmp_path):
        suite = tmp_path / "memory.yaml"
        suite.write_text(
            "workloads:\n  curve:\n    engine: memory\n    gate: {latency.delay_100: 10%, bandwidth.knee: }\n"
            "    matrix:\n      mix: [1:0, 3:1]\n      stride: [64, 256]\n"
        )
        workloads = load_suite(suite).workloads
        assert [item.name for item in workloads][:2] == [
            "curve[mix=1:0,stride=64]",
            "curve[mix=1:0,stride=256]",
        ]
        assert {item.options["mix"] for item in workloads} == {"1:0", "3:1"}

    def test_nothing_is_asked_of_a_target(self):
        needs = engine.needs(workload(runtime=2, delays=[0, 100], buffer_size="512M"))
        assert (needs.target, needs.size, needs.written) == (False, 0, 0)
        assert 3 * 2.2 < needs.seconds < 3 * 2.2 + 10


class TestMachine:
    @pytest.fixture
    def caches(self, tmp_path):
        """Two cores of their own second level each, and a third level that they share."""
        for cpu in (0, 1):
            kinds = {0: ("1", "Data", f"{cpu}", "32K"), 1: ("1", "Instruction", f"{cpu}", "32K")}
            kinds |= {2: ("2", "Unified", f"{cpu}", "512K"), 3: ("3", "Unified", "0-1", "16M")}
            for index, (level, kind, shared, size) in kinds.items():
                base = f"sys__devices__system__cpu__cpu{cpu}__cache__index{index}__"
                names = {"level": level, "type": kind, "shared_cpu_list": shared, "size": size}
                files(tmp_path, **{base + name: text + "\n" for name, text in names.items()})
        files(tmp_path, sys__devices__system__cpu__cpu0__cache__index0__coherency_line_size="128\n")
        return tmp_path

    def test_each_cache_counts_once(self, caches):
        assert machine.cache_size(caches) == 17 * MIB
        assert machine.cache_line(caches) == 128

    def test_a_machine_that_does_not_say(self, tmp_path):
        assert machine.cache_size(tmp_path) == 0
        assert machine.cache_line(tmp_path) == 64
        assert machine.free_memory(tmp_path) is None
        assert not machine.has_huge_pages(MIB, tmp_path)

    def test_what_is_free_is_within_a_containers_limit(self, tmp_path):
        files(tmp_path, proc__meminfo="MemTotal: 9 kB\nMemAvailable:    2048 kB\n")
        assert machine.free_memory(tmp_path) == 2 * MIB
        mounted = "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
        files(tmp_path, proc__self__mountinfo=mounted, proc__self__cgroup="0::/\n")
        files(tmp_path, **{"sys__fs__cgroup__memory.max": "1048576\n"})
        assert machine.free_memory(tmp_path) == MIB
        files(tmp_path, **{"sys__fs__cgroup__memory.max": "max\n"})
        assert machine.free_memory(tmp_path) == 2 * MIB

    def test_huge_pages_are_transparent_or_reserved(self, tmp_path):
        enabled = "sys__kernel__mm__transparent_hugepage__enabled"
        files(tmp_path, proc__meminfo="HugePages_Free:  2\nHugepagesize:    2048 kB\n")
        for text, size, there in (
            ("always [madvise] never", 8, True),
            ("always madvise [never]", 4, True),
            ("always madvise [never]", 5, False),
        ):
            files(tmp_path, **{enabled: text})
            assert machine.has_huge_pages(size * MIB, tmp_path) is there

    @pytest.fixture
    def four(self, tmp_path, monkeypatch):
        """Two cores of two hardware threads each: 0 and 2, 1 and 3."""
        monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1, 2, 3})
        for cpu in range(4):
            name = f"sys__devices__system__cpu__cpu{cpu}__topology__thread_siblings_list"
            files(tmp_path, **{name: f"{cpu % 2},{cpu % 2 + 2}\n"})
        return tmp_path

    def test_the_load_keeps_off_the_core_that_measures(self, four):
        assert machine.choose_cpus(None, None, four) == [0, 1, 3]
        assert machine.choose_cpus(None, 1, four) == [0, 1]
        assert machine.choose_cpus("1,2", None, four) == [1, 2]

    def test_too_few_cpus_are_refused(self, four):
        with pytest.raises(EngineError, match="and 3 for the load; there are 3"):
            machine.choose_cpus(None, 3, four)
        with pytest.raises(EngineError, match="no CPU 9"):
            machine.choose_cpus("0,9", None, four)
        with pytest.raises(EngineError, match="one CPU for the latency"):
            machine.choose_cpus("0", None, four)


class TestCheck:
    @pytest.fixture(autouse=True)
    def small(self, monkeypatch):
        """A machine of two CPUs, 16 MiB of caches and 4 GiB of free memory."""
        monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1})
        monkeypatch.setattr(machine, "_core", lambda cpu, root: {cpu})
        monkeypatch.setattr(machine, "cache_size", lambda: 16 * MIB)
        monkeypatch.setattr(machine, "free_memory", lambda: 4096 * MIB)

    def refused(self, **options):
        return [str(error) for error in engine.check([workload(**options)])]

    def test_what_nobody_asked_for_by_name_is_told_when_it_runs(self, monkeypatch, tmp_path):
        monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0})
        assert not self.refused(), "a machine of one CPU collects all suites"
        with pytest.raises(EngineError, match="one CPU for the latency"):
            engine.command(workload(), Place(tmp_path, None, tmp_path))

    def test_what_can_run_is_not_refused(self):
        assert not self.refused()
        assert not self.refused(buffer_size="64M")

    def test_a_size_within_the_caches_must_be_meant(self):
        (told,) = self.refused(buffer_size="16M")
        assert told.startswith("suite.yaml:1:3: w: buffer_size: 16M is not beyond the caches of 16.00 MiB")
        assert not self.refused(buffer_size="16M", cached=True)

    def test_memory_that_is_not_there(self):
        (told,) = self.refused(buffer_size="2G")
        assert "4096 MiB are needed" in told.replace("4.000 GiB", "4096 MiB")

    def test_threads_that_are_not_there(self):
        assert "there are 2" in self.refused(threads=2)[0]

    def test_preconditioning_means_nothing_here(self):
        entry = {"engine": "memory", "precondition": {"fill": 1}}
        with pytest.raises(InputErrors, match="precondition"):
            declare_workload("w", "s", entry, HERE, {})

    def test_auto_is_four_times_the_caches_and_no_less_than_hides_them(self, monkeypatch):
        assert module._words(workload().options)["size"] == 256 * MIB
        monkeypatch.setattr(machine, "cache_size", lambda: 100 * MIB)
        assert module._words(workload().options)["size"] == 400 * MIB


class TestCurve:
    CURVE = (Point(0, 300.0, 30e9), Point(100, 110.0, 22e9), Point(300, 100.0, 10e9), Point(1000, 99.0, 3e9))

    def test_the_knee_has_the_most_bandwidth_for_its_latency(self):
        assert knee(self.CURVE).delay == 100

    def test_figures(self):
        found = figures(self.CURVE)
        assert found["bandwidth.peak"] == 30e9
        assert (found["latency.knee"], found["bandwidth.knee"]) == (110.0, 22e9)
        assert found["latency.delay_1000"] == 99.0 and found["bandwidth.delay_1000"] == 3e9

    def test_two_points_have_no_knee(self):
        assert set(figures(self.CURVE[:1])) == {"latency.delay_0", "bandwidth.delay_0", "bandwidth.peak"}

    def test_every_metric_has_a_kind(self):
        for name in figures(self.CURVE):
            kind = metric(name)
            assert (kind.unit, kind.direction) in {("ns", "lower"), ("B/s", "higher")}

    def test_the_two_ends_of_the_curve_gate(self):
        assert engine.gating(workload()) == ("latency.idle", "bandwidth.peak")
