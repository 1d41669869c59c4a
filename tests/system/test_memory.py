"""The engine memory with a real compiler on this machine: what it measures can be, and follows the load.

The sizes are small, so that this is fast: most of it measures caches, and says so (cached: true).
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from iogate.engines import memory
from iogate.engines.common.cpus import allowed_cpus
from iogate.engines.memory.engine import engine
from iogate.errors import EngineError, OutputError
from iogate.host.native import FLAGS, compile_program
from iogate.host.process import run
from iogate.model import Place
from workloads import declared

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
    item = declared("memory", **QUICK | options)
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
            assert re.search(r"processors|not idle|huge pages|latency of \d{4,}\.", str(error)), error
    raise AssertionError


def curve(folder):
    """Idle latency, latencies and bandwidths of the memory itself, with less and less load."""
    delays = [0, 500, 20000]
    metrics = measure(folder, buffer_size="auto", cached=False, delays=delays, runtime=0.02)
    latencies = [metrics[f"latency.delay_{delay}"] for delay in delays]
    bandwidths = [metrics[f"bandwidth.delay_{delay}"] for delay in delays]
    assert metrics["bandwidth.peak"] == max(bandwidths)
    assert metrics["latency.knee"] in latencies
    return metrics["latency.idle"], latencies, bandwidths


def test_the_curve_of_the_memory_itself(tmp_path):
    """Whatever else runs makes a point slower, never faster: the best of three curves has the shape."""
    curves = [curve(tmp_path) for _ in range(3)]
    idle = min(one for one, _, _ in curves)
    latencies = [min(points) for points in zip(*(one for _, one, _ in curves), strict=True)]
    bandwidths = [max(points) for points in zip(*(one for _, _, one in curves), strict=True)]
    assert idle > 10, "no memory answers in less than 10 ns: this was a cache"
    assert all(latency > 0.5 * idle for latency in latencies)
    assert bandwidths[0] > 2 * bandwidths[-1]
    assert bandwidths[1] > 0.5 * bandwidths[-1]


def test_a_delay_takes_its_cycles(tmp_path):
    """At 20,000 cycles for four lines the load is what the cycles allow: they are those of a core's clock."""
    item = declared("memory", **QUICK, delays=[20000])
    engine.prepare()
    command = engine.command(item, Place(tmp_path, None, tmp_path))
    cycles, delays = [], []
    for _ in range(TRIALS):
        done = run(command.argv, folder=tmp_path, timeout=command.timeout)
        report = json.loads(done.stdout)
        [point] = report["points"]
        if point["ns"] > report["runtime_ns"] / 2:
            cycles.append(report["cycle_ns"])
            delays.append(point["ns"] / point["bursts"][0] / report["cycle_ns"])
    if not delays:
        pytest.skip("the machine is too busy")
    assert 0.1 < min(cycles) < 2, "between 500 MHz and 10 GHz"
    assert min(delays, key=lambda delay: abs(delay - 20000)) == pytest.approx(20000, rel=0.3)


def test_a_cache_is_faster_than_the_memory(tmp_path):
    near = measure(tmp_path, buffer_size="16k", delays=[20000], stride=64)["latency.idle"]
    far = measure(tmp_path, buffer_size="auto", cached=False, delays=[20000])["latency.idle"]
    assert 3 * near < far


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
def test_what_it_is_told_wrongly_is_refused(arguments, message):
    program = compile_program(SOURCE)
    given = {"size": 1 << 20, "load": 1 << 20, "delays": 0, "runtime_ns": 1000, "warmup_ns": 0}
    argv = [str(program), *(f"{name}={value}" for name, value in given.items()), *arguments]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert message in done.stderr and done.stderr.startswith("memory: ")
