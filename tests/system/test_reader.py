"""The reader with a real compiler, on real files: what it reads, what it says, and how it fails."""

import dataclasses
import hashlib
import itertools
import json
import math
import mmap
import os
import shutil
import subprocess
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from iogate.audit import Evidence, audit, snapshot
from iogate.engines import reader
from iogate.engines.common.scaling import serial_fraction
from iogate.engines.reader.engine import engine
from iogate.errors import OutputError
from iogate.host.native import FLAGS, compile_program
from iogate.host.process import run
from iogate.model import Place
from loops import Loops, need
from workloads import declared

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(not COMPILERS, reason="needs a C compiler"),
]
SOURCE = Path(reader.__file__).with_name("reader.c")
TRACED = Path(__file__).with_name("reader_traced.c")
MIB = 2**20
RING = {"ioengine": "io_uring", "iodepth": 7}


workload = partial(declared, "reader", size="4M", rw="read", direct=False)


@pytest.fixture(scope="session")
def traced(tmp_path_factory):
    """The reader that lets its system calls be seen."""
    program = tmp_path_factory.mktemp("traced") / "reader"
    argv = [COMPILERS[0], *FLAGS, f'-DREADER="{SOURCE}"', str(TRACED), "-o", str(program)]
    subprocess.run(argv, check=True)
    return program


@pytest.fixture
def place(tmp_path):
    """Data of 4 MiB and a bit."""
    data = tmp_path / "data"
    data.write_bytes(os.urandom(4 * MIB + 1234))
    (tmp_path / "results").mkdir()
    return Place(data, tmp_path, tmp_path / "results")


@pytest.fixture
def measure(place, monkeypatch):
    """One repetition, as a session makes it; with `program`, by another build of the reader."""

    def measured(program=None, data=None, **options):
        engine.prepare()
        command = engine.command(workload(**options), dataclasses.replace(place, data=data or place.data))
        argv = (str(program), *command.argv[1:]) if program else command.argv
        completed = run(argv, folder=place.folder, timeout=command.timeout)
        return engine.parse(completed.stdout, name="stdout", completed=completed)

    return measured


@pytest.fixture
def trace(measure, traced, monkeypatch, tmp_path):
    """The calls of a repetition: (letter, offset, length, result), in the order in which they returned."""

    def calls(**options):
        monkeypatch.setenv("TRACE", str(tmp_path / "trace"))
        output = measure(traced, **options)
        lines = (tmp_path / "trace").read_text().splitlines()
        (tmp_path / "trace").unlink()
        return output, [(line[0], *map(int, line.split()[1:])) for line in lines]

    return calls


@pytest.fixture
def loops(tmp_path):
    """A place to make loop devices."""
    need()
    with Loops(tmp_path) as stack:
        yield stack


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


# ------------------------------------------------------------ what is read


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize(("size", "bs"), [(4 * MIB, 4096), (1000003, 4097), (999, 8), (5000, 5000 // 8)])
def test_sequential_reads_cover_the_data_exactly_once(trace, threads, size, bs):
    output, calls = trace(size=size, bs=bs, threads=threads)
    assert output.traffic["read"].bytes == size
    assert output.traffic["read"].operations == math.ceil(size / bs) == len(calls)
    expected = [
        ("r", offset, min(bs, size - offset), min(bs, size - offset)) for offset in range(0, size, bs)
    ]
    assert sorted(calls) == expected


def test_each_block_is_written_back_after_it_was_read(trace, place):
    before = digest(place.data)
    output, calls = trace(rw="rw", size=1000003, bs=4097, threads=2)
    assert digest(place.data) == before
    assert output.traffic["read"].bytes == output.traffic["write"].bytes == 1000003
    reads, writes = ([call[1:] for call in calls if call[0] == letter] for letter in "rw")
    assert sorted(reads) == sorted(writes) and sum(length for _, length, _ in reads) == 1000003


@pytest.mark.parametrize("options", [{}, RING], ids=["pread", "io_uring"])
@pytest.mark.parametrize("rw", ["read", "randread", "rw"])
def test_all_patterns_leave_the_data_as_they_were(measure, place, rw, options):
    before = digest(place.data)
    output = measure(rw=rw, size=MIB + 5, bs=1000, threads=3, **options)
    assert digest(place.data) == before
    whole = MIB + 5 if rw != "randread" else (MIB + 5) // 1000 * 1000
    directions = ("read", "write") if rw == "rw" else ("read",)
    assert {name: item.bytes for name, item in output.traffic.items()} == dict.fromkeys(directions, whole)


def xoshiro(seed, thread, bound):
    """xoshiro256** seeded by SplitMix64, and Lemire's method, from the papers."""
    mask, value, state = 2**64 - 1, (seed + (thread << 32)) & (2**64 - 1), []
    for _ in range(4):
        value = (value + 0x9E3779B97F4A7C15) & mask
        mixed = ((value ^ value >> 30) * 0xBF58476D1CE4E5B9) & mask
        mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & mask
        state.append(mixed ^ mixed >> 31)
    while True:
        product = state[1] * 5 & mask
        result = ((product << 7 | product >> 57) & mask) * 9 & mask
        shifted = state[1] << 17 & mask
        state[2] ^= state[0]
        state[3] ^= state[1]
        state[1] ^= state[2]
        state[0] ^= state[3]
        state[2] ^= shifted
        state[3] = (state[3] << 45 | state[3] >> 19) & mask
        if result * bound % 2**64 >= 2**64 % bound:
            yield result * bound >> 64


def test_random_offsets_are_those_of_the_published_generators(trace):
    _, calls = trace(rw="randread", size="1M", bs=1000, threads=3, seed=42)
    expected = Counter()
    for thread, (first, end) in enumerate(((0, 349), (349, 698), (698, 1048))):
        numbers = xoshiro(42, thread, 1048)
        expected.update(next(numbers) * 1000 for _ in range(first, end))
    assert Counter(offset for _, offset, _, _ in calls) == expected


def test_random_offsets_are_uniform(trace):
    from scipy.special import chdtrc

    _, calls = trace(rw="randread", size="4M", bs=96, threads=2)
    blocks = 4 * MIB // 96
    bins = Counter(offset // 96 * 64 // blocks for _, offset, _, _ in calls)
    expected = len(calls) / 64
    statistic = sum((bins[number] - expected) ** 2 / expected for number in range(64))
    assert len(calls) == blocks
    assert 0.001 < chdtrc(63, statistic) < 0.999
    assert all(offset % 96 == 0 and offset + 96 <= 4 * MIB for _, offset, _, _ in calls)


# ------------------------------------------------------------ the page cache


def resident(path):
    """Bytes of a file in the page cache, as util-linux's fincore counts them."""
    return int(subprocess.check_output(["fincore", "--bytes", "--noheadings", "--output=RES", path]))


@pytest.mark.parametrize("options", [{}, RING], ids=["pread", "io_uring"])
def test_data_are_dropped_from_the_cache_and_read_back_into_it(measure, place, options):
    place.data.read_bytes()
    output = measure(size="4M", bs="64k", threads=2, **options)
    assert output.options["cached"] is False and not any("cached" in remark for remark in output.remarks)
    assert resident(place.data) > 3.8 * MIB  # the kernel may take a few pages for others


def test_direct_reads_leave_the_cache_alone(measure, place):
    subprocess.run(
        ["dd", f"of={place.data}", "if=/dev/urandom", "bs=4M", "count=1", "status=none"], check=True
    )
    measure(size="4M", bs="64k", direct=True)
    assert resident(place.data) == 0


def test_cached_data_are_in_the_cache_before(measure):
    output = measure(cached=True, bs="64k")
    assert any("cached" in remark for remark in output.remarks)


def test_a_cache_that_cannot_be_dropped_is_refused(measure, place):
    with place.data.open("rb") as stream, mmap.mmap(stream.fileno(), 4 * MIB, prot=mmap.PROT_READ) as used:
        assert sum(used[offset] for offset in range(0, 4 * MIB, 4096)) > 0
        with pytest.raises(OutputError, match="stayed in the page cache after it was dropped"):
            measure(size="4M")


# ------------------------------------------------------------ what goes wrong


@pytest.mark.parametrize("rw", ["read", "randread", "rw"])
def test_short_operations_are_finished_and_counted(trace, monkeypatch, rw):
    monkeypatch.setenv("DISTURB", "short")
    output, calls = trace(rw=rw, size="1M", bs="4k")
    assert output.traffic["read"].bytes == MIB and output.traffic["read"].operations == 256
    assert sum(item.short for item in output.traffic.values()) > 30
    if rw != "randread":
        moved = sorted((offset, result) for letter, offset, _, result in calls if letter == "r")
        assert moved[0][0] == 0 and sum(result for _, result in moved) == MIB
        assert all(one[0] + one[1] == other[0] for one, other in itertools.pairwise(moved))


def test_interrupted_operations_are_repeated(trace, monkeypatch):
    monkeypatch.setenv("DISTURB", "interrupt")
    output, calls = trace(size="1M", bs="4k", threads=2)
    assert output.traffic["read"] == dataclasses.replace(
        output.traffic["read"], bytes=MIB, operations=256, short=0
    )
    assert len(calls) == 256


def test_an_error_names_errno_and_offset(measure, traced, monkeypatch):
    monkeypatch.setenv("DISTURB", f"fail={3 * MIB + 100}")
    with pytest.raises(OutputError, match=rf"pread: .*\(EIO\) at offset {3 * MIB}, thread 1"):
        measure(traced, size="4M", bs="64k", threads=2)


@pytest.mark.parametrize("options", [{}, RING], ids=["pread", "io_uring"])
def test_data_that_end_too_early_are_an_error(measure, place, options):
    with pytest.raises(OutputError, match=rf"the data end at offset {4 * MIB + 1234}, {8 * MIB} bytes were"):
        measure(size="8M", bs="1M", **options, cached=False)


@pytest.mark.parametrize("options", [{}, RING], ids=["pread", "io_uring"])
@pytest.mark.parametrize("direct", [False, True])
def test_a_device_that_fails_is_an_error(measure, loops, options, direct):
    file = loops.file(8 * MIB)
    device = loops.attach(file)
    os.truncate(file, 4 * MIB)
    with pytest.raises(OutputError, match=r"\(EIO\) at offset \d+, thread \d"):
        measure(data=device, size="8M", bs="64k", threads=2, direct=direct, **options)


@pytest.mark.parametrize(("number", "name"), [(1, "EPERM"), (38, "ENOSYS")])
def test_io_uring_that_is_blocked_is_said(measure, traced, monkeypatch, number, name):
    monkeypatch.setenv("DISTURB", f"blocked={number}")
    with pytest.raises(OutputError, match=rf"(?s)io_uring cannot be used here.*{name}.*use ioengine: pread"):
        measure(traced, threads=2, **RING)


def test_older_kernels_do_without_what_they_lack(measure, traced, monkeypatch):
    monkeypatch.setenv("DISTURB", "old-ring")
    output = measure(traced, threads=2, bs="4k", **RING)
    assert output.traffic["read"].bytes == 4 * MIB
    assert any("could not register the buffers" in remark for remark in output.remarks)


def test_missing_data_are_said(measure, tmp_path):
    with pytest.raises(OutputError, match="cannot open the data: No such file"):
        measure(data=tmp_path / "nothing")


def test_buffers_beyond_the_memory_are_refused(measure):
    with pytest.raises(OutputError, match="take more than half of the memory"):
        measure(size="8T", bs="1G", threads=4096)


# ------------------------------------------------------------ figures


def test_figures_agree_with_each_other(measure):
    output = measure(size="4M", bs="4k", threads=4, direct=True)
    metrics, traffic = output.metrics, output.traffic["read"]
    assert metrics["read.bandwidth"] == pytest.approx(traffic.bytes / metrics["wall_time"])
    assert metrics["read.iops"] == pytest.approx(traffic.operations / metrics["wall_time"])
    assert (
        metrics["read.lat.min"]
        <= metrics["read.lat.p50"]
        <= metrics["read.lat.p99"]
        <= metrics["read.lat.max"]
    )
    in_flight = metrics["read.iops"] * metrics["read.lat.mean"] / 1e9
    assert 0.5 < in_flight <= 4.01
    assert output.jobs == 4 and 0 <= output.user + output.system <= 1.05


def test_the_queue_is_kept_full(measure):
    """Of some runs in one: a processor that others keep busy cannot fill the queue of a disk in memory."""
    found = []
    while len(found) < 8 and max(found, default=0.0) <= 12:
        output = measure(rw="randread", bs="4k", direct=True, ioengine="io_uring", iodepth=16)
        found.append(output.metrics["read.iops"] * output.metrics["read.lat.mean"] / 1e9)
    assert 12 < max(found) <= 16.1, found


def test_a_curve_has_the_metrics_of_each_point(measure):
    output = measure(bs="64k", threads=[1, 2, 4])
    metrics = output.metrics
    assert metrics["threads_4.speedup"] == pytest.approx(
        metrics["threads_1.wall_time"] / metrics["threads_4.wall_time"]
    )
    assert metrics["threads_4.efficiency"] == pytest.approx(metrics["threads_4.speedup"] / 4)
    times = {count: metrics[f"threads_{count}.wall_time"] for count in (1, 2, 4)}
    assert metrics["serial_fraction"] == serial_fraction(times)
    assert output.traffic["read"].bytes == 3 * 4 * MIB


def test_threads_run_where_they_are_bound(measure):
    first = min(os.sched_getaffinity(0))
    output = measure(bs=512, cached=True, threads=2, pin=str(first))
    assert output.user + output.system < 0.7  # two threads share one CPU


def test_the_flush_is_part_of_the_wall_time(place, measure):
    measure(rw="rw", bs="1M")
    said = json.loads((place.folder / "stdout").read_text())["passes"][0]
    assert said["flush_ns"] > 0
    longest = max(thread["after_ns"] + thread["ns"] for thread in said["per_thread"])
    assert said["wall_ns"] == longest + said["flush_ns"]
    measure(rw="rw", bs="1M", end_fsync=False)
    assert json.loads((place.folder / "stdout").read_text())["passes"][0]["flush_ns"] == 0


def audited(measure, place, **options):
    """The findings of the audit on a repetition, by check."""
    number = f"{os.major(place.data.stat().st_dev)}:{os.minor(place.data.stat().st_dev)}"
    before = snapshot(number, place.data.parent)
    output = measure(**options)
    after = snapshot(number, place.data.parent)
    given = workload(**options)
    evidence = Evidence.of(given, output, engine.needs(given), seconds=60.0, before=before, after=after)
    found = audit(evidence)
    return {finding.check: finding for finding in found}


def test_the_audit_finds_direct_reads_sound(measure, place):
    found = audited(measure, place, bs="64k", direct=True, threads=2)
    assert not [finding for finding in found.values() if finding.severity == "invalid"]


def test_the_audit_labels_what_went_through_the_cache(measure, place):
    found = audited(measure, place, bs="64k", cached=True)
    assert found["cached"].message.startswith("buffered I/O: page cache and device together")
    assert not [finding for finding in found.values() if finding.severity == "invalid"]


# ------------------------------------------------------------ builds


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_source_compiles_without_warnings(compiler, tmp_path):
    for flags in (FLAGS, ("-std=gnu11", "-O3", "-Wconversion", "-Wno-sign-conversion", "-pthread")):
        argv = [compiler, *flags, "-Wall", "-Wextra", "-Werror", str(SOURCE), "-o", str(tmp_path / "reader")]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("sanitizer", ["address,undefined", "thread"])
def test_sanitizers_find_nothing(sanitizer, tmp_path, place, monkeypatch):
    """ThreadSanitizer knows one table of files, where each thread of the reader has its own: there, files of
    two threads have one number, and it would call their opening and closing a race now and then."""
    program, known = tmp_path / "reader", tmp_path / "known"
    known.write_text("race_top:open\nrace_top:close\n")
    monkeypatch.setenv("TSAN_OPTIONS", f"suppressions={known}")
    flags = ["-std=gnu11", "-g", "-O1", f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all", "-pthread"]
    if subprocess.run([COMPILERS[-1], *flags, str(SOURCE), "-o", str(program)], check=False).returncode:
        pytest.skip(f"{COMPILERS[-1]} has no {sanitizer} sanitizer here")
    for rw in ("read", "randread", "rw"):
        for options in ({}, RING):
            given = workload(rw=rw, size=MIB + 5, bs=4097, threads=[1, 2, 5], **options)
            command = engine.command(given, place)
            done = run((str(program), *command.argv[1:]), folder=place.folder, timeout=120)
            assert (done.status, done.stderr) == (0, "")
            engine.parse(done.stdout, name="stdout", completed=done)


def test_bins_of_the_histogram_are_a_sixty_fourth_wide(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    harness = tmp_path / "bins.c"
    harness.write_text(
        "#define main reader_main\n#include READER\n#undef main\n"
        "int main(void) { for (uint64_t v = 0, n = 0; n < 3000; n++, v = v < 300 ? v + 1 : v + v / 71)\n"
        '  printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\\n", v, least_of_bin(bin_of(v)),\n'
        "  least_of_bin(bin_of(v) + 1));\n"
        "  return bin_of(UINT64_MAX) + 1 != BINS; }\n"
    )
    program = compile_program(harness, (*FLAGS, f'-DREADER="{SOURCE}"'))
    for line in subprocess.check_output([program], text=True).splitlines():
        value, least, following = map(int, line.split())
        if value < 2**62:
            assert least <= value < following
            assert following - least <= max(1, least / 64)
