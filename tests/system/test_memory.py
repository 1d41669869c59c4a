"""The engine memory with a real compiler on this machine: what it measures can be, and follows the load.

The sizes are small, so that this is fast: most of it measures caches, and says so (cached: true).
"""

import itertools
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from iogate.engines import memory
from iogate.engines.common.cpus import allowed_cpus
from iogate.engines.memory.engine import engine
from iogate.errors import EngineError, OutputError, Position
from iogate.host.native import FLAGS, compile_program
from iogate.host.process import run
from iogate.model import Place, Workload
from projects import Project

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(not COMPILERS, reason="needs a C compiler"),
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="latency under load needs two CPUs"),
]
SOURCE = Path(memory.__file__).with_name("memory.c")
QUICK = {"runtime": 0.02, "threads": 1, "buffer_size": "32M", "cached": True}
TRIALS = 5


def measure(folder, **options):
    """The metrics of a repetition. Others may run here: what they disturb is refused, and tried again."""
    item = Workload("w", "s", "memory", engine.options({**QUICK, **options}), Position("suite.yaml"))
    try:
        engine.prepare()
        command = engine.command(item, Place(folder, None, folder))
    except EngineError as error:
        pytest.skip(str(error))
    for trial in range(TRIALS):
        done = run(command.argv, folder=folder, timeout=command.timeout)
        try:
            return engine.parse(done.stdout, name="out", completed=done).metrics
        except OutputError as error:
            if trial == TRIALS - 1:
                pytest.skip(f"the machine is too busy: {error}")
            assert "processors" in str(error) or "not idle" in str(error) or "huge pages" in str(error)
    raise AssertionError


def test_the_curve_of_the_memory_itself(tmp_path):
    metrics = measure(
        tmp_path, buffer_size="auto", cached=False, delays=[0, 100, 500, 2000, 20000], runtime=0.05
    )
    idle = metrics["latency.idle"]
    assert 20 < idle < 1000, "no memory answers in less than 20 ns, and none of a socket in more than 1 µs"
    latencies = [metrics[f"latency.delay_{delay}"] for delay in (0, 100, 500, 2000, 20000)]
    assert all(latency >= 0.8 * idle for latency in latencies)
    bandwidths = [metrics[f"bandwidth.delay_{delay}"] for delay in (0, 100, 500, 2000, 20000)]
    assert all(more > 0.95 * less for more, less in itertools.pairwise(bandwidths))
    assert bandwidths[0] > 2 * bandwidths[-1]
    assert 1e8 < metrics["bandwidth.peak"] < 1e12
    assert metrics["bandwidth.peak"] == max(bandwidths)
    assert idle <= metrics["latency.knee"] * 1.25


def test_a_delay_takes_its_cycles(tmp_path):
    """At 20,000 cycles for four lines the load is what the cycles allow: they are those of a core's clock."""
    item = Workload("w", "s", "memory", engine.options({**QUICK, "delays": [20000]}), Position("s"))
    engine.prepare()
    command = engine.command(item, Place(tmp_path, None, tmp_path))
    for _ in range(TRIALS):
        done = run(command.argv, folder=tmp_path, timeout=command.timeout)
        report = json.loads(done.stdout)
        point = report["points"][0]
        if point["ns"] > report["runtime_ns"] / 2:
            break
    else:
        pytest.skip("the machine is too busy")
    assert 0.1 < report["cycle_ns"] < 2, "between 500 MHz and 10 GHz"
    each = point["ns"] / point["bursts"][0]
    assert each == pytest.approx(20000 * report["cycle_ns"], rel=0.3)


def test_a_cache_is_faster_than_the_memory(tmp_path):
    near = measure(tmp_path, buffer_size="16k", delays=[20000], stride=64)["latency.idle"]
    far = measure(tmp_path, buffer_size="auto", cached=False, delays=[20000])["latency.idle"]
    assert near < 10 < far


@pytest.mark.parametrize("mix", ["1:0", "7:3", "3:2", "1:1"])
def test_the_traffic_is_in_the_ratio_that_was_asked_for(tmp_path, mix):
    reads, writes = map(int, mix.split(":"))
    metrics = measure(tmp_path, mix=mix, delays=[0])
    report = json.loads((tmp_path / "stdout").read_text())
    assert report["burst_read"] * writes == report["burst_written"] * reads
    lines = report["burst_read"] / report["line"]
    assert lines % reads == 0 and lines >= 4
    assert metrics["bandwidth.delay_0"] > 0


@pytest.mark.parametrize("compiler", COMPILERS)
def test_it_compiles_without_a_warning(tmp_path, compiler):
    argv = [
        compiler,
        *FLAGS,
        "-Wall",
        "-Wextra",
        "-Wshadow",
        "-Werror",
        str(SOURCE),
        "-o",
        str(tmp_path / "m"),
    ]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("sanitizer", ["address,undefined", "thread"])
@pytest.mark.parametrize("arguments", [("stride=64", "writes=0"), ("stride=256", "reads=3", "writes=2")])
def test_sanitizers_have_nothing_to_say(tmp_path, sanitizer, arguments):
    program = tmp_path / "memory"
    flags = ["-std=gnu11", "-O1", "-g", "-pthread", f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all"]
    built = subprocess.run([COMPILERS[0], *flags, str(SOURCE), "-o", str(program)], check=False)
    if built.returncode:
        pytest.skip(f"{COMPILERS[0]} has no sanitizer {sanitizer}")
    two = ",".join(map(str, allowed_cpus()[:2]))
    argv = [str(program), f"cpus={two}", "size=1048576", "load=1048576", "delays=0,7,20000", "huge_pages=0"]
    argv += ["runtime_ns=5000000", "warmup_ns=1000000", *arguments]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=120)
    if "unexpected memory mapping" in done.stderr:
        pytest.skip("the thread sanitizer does not run on this kernel")
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert [point["delay"] for point in json.loads(done.stdout)["points"]] == [0, 7, 20000]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cpus=0",), "two cpus must be given"),
        (("cpus=0,1023",), "cannot run on CPU 1023"),
        (("cpus=0,1", "load=1000"), "are too few"),
        (("cpus=0,1", "reads=1", "writes=2"), "no less than one read for each write"),
        (("cpus=0,1", "size=1"), "at least two lines"),
        (("cpus=0,1", f"size={2**60}"), "cannot be had"),
        (("cpus=0,1", "stride=12"), "multiple of 8"),
        (("cpus=0,1", "delays=x"), "delays=x is not a number"),
        (("nonsense",), "not NAME=VALUE"),
        (("colour=1",), "unknown: colour"),
    ],
)
def test_what_it_is_told_wrongly_is_refused(tmp_path, arguments, message):
    program = compile_program(SOURCE)
    given = {"size": 1 << 20, "load": 1 << 20, "delays": 0, "runtime_ns": 1000, "warmup_ns": 0}
    argv = [str(program), *(f"{name}={value}" for name, value in given.items()), *arguments]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert message in done.stderr and done.stderr.startswith("memory: ")


def test_a_suite_runs_as_pytest_tests(tmp_path):
    project = Project(tmp_path / "project")
    project.suite(
        "defaults: {engine: memory, delays: [0, 500, 20000], threads: 1, runtime: 0.02, cached: true, "
        "buffer_size: 32M}\n"
        "workloads:\n"
        "  curve:\n"
        "    matrix: {mix: [1:0, 1:1]}\n"
    )
    project.device("here", "target: .\nmissing: record\n")
    result = project.run("suites", "--device=here", "--io-size=1M")
    if "processors for themselves" in result.text or "not idle" in result.text:
        pytest.skip("the machine is too busy")
    assert result.status == 0, result.text
    assert result.verdicts == {"curve[mix=1:0]": "recorded", "curve[mix=1:1]": "recorded"}
    metrics = result.workload("curve[mix=1:0]")["metrics"]
    assert metrics["latency.idle"]["unit"] == "ns" and metrics["latency.idle"]["gating"]
    assert metrics["bandwidth.peak"]["unit"] == "B/s" and metrics["bandwidth.peak"]["gating"]
    assert not project.leftovers
