"""The fio engine with the real fio: on a file, and on network block devices of known speed and faults."""

import contextlib
import dataclasses
import os
import shutil
import subprocess
from functools import partial

import pytest

from iogate.engines.fio.engine import engine
from iogate.errors import OutputError
from iogate.host.process import run
from iogate.model import Place
from nbd import nbdkit, need_fio_with_nbd
from workloads import declared

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed"),
]
MIB = 2**20


workload = partial(declared, "fio", size="8M")


def measure(workload, place, **changes):
    """One repetition, as a session makes it."""
    command = dataclasses.replace(engine.command(workload, place), **changes)
    for name, text in command.files.items():
        (place.folder / name).write_text(text)
    completed = run(command.argv, folder=place.folder, timeout=command.timeout)
    path = place.folder / command.output
    text = path.read_text() if path.exists() else ""
    return engine.parse(text, name=str(path), completed=completed)


@pytest.fixture
def place(tmp_path):
    """A laid-out file of 8 MiB, on a file system that takes direct I/O."""
    data = tmp_path / "data"
    data.write_bytes(os.urandom(8 * MIB))
    try:
        os.close(os.open(data, os.O_RDWR | os.O_DIRECT))
    except OSError:
        pytest.skip(f"{tmp_path} is on a file system without direct I/O")
    (tmp_path / "results").mkdir()
    return Place(data, tmp_path, tmp_path / "results")


@pytest.mark.parametrize(
    ("rw", "split", "apart"),
    [
        ("randread", {}, True),
        ("randtrim", {}, True),
        ("randrw", {}, False),
        ("randread", {"bssplit": "4k/100"}, False),
        ("randtrim", {"bssplit": "4k/100"}, True),
    ],
)
def test_on_a_device_each_repetition_works_on_other_blocks(tmp_path, rw, split, apart):
    """By fio's default they are the same, and a `randtrim` of that size empties just those: 0.4% hid 12%.
    Of a mix the share of reads would be another each time, too, and of a split that of each size.
    """

    def worked_on(*, device, number):
        folder = tmp_path / str(number)
        folder.mkdir(exist_ok=True)
        log = folder / "log"
        log.unlink(missing_ok=True)  # fio appends to it
        place = Place(tmp_path / "data", None if device else tmp_path, folder)
        passed = {"number_ios": 20, "write_iolog": str(log), **split}
        item = workload(rw=rw, bs="4k", ioengine="null", fio=passed)
        (folder / "job.fio").write_text(engine.command(item, place).files["job.fio"])
        run(("fio", "--output=out", "job.fio"), folder=folder, timeout=60)
        return [line.split()[-2] for line in log.read_text().splitlines() if " 4096" in line]

    (tmp_path / "data").write_bytes(bytes(8 * MIB))
    first, other = (worked_on(device=True, number=number) for number in (1, 2))
    assert len({*first}) == len({*other}) == 20
    assert (len({*first} & {*other}) < 5) is apart  # of 2048
    assert worked_on(device=True, number=1) == first  # again by hand
    assert worked_on(device=False, number=1) == worked_on(device=False, number=2)


@pytest.fixture
def nbd(tmp_path):
    """Starts nbdkit with the given arguments, and tells its URI."""
    need_fio_with_nbd()
    with contextlib.ExitStack() as stack:
        yield lambda *arguments: stack.enter_context(nbdkit(tmp_path / "nbd", *arguments))


def test_a_run_bound_by_size_reads_exactly_that(place):
    output = measure(workload(rw="read", bs="64k", iodepth=4), place)
    assert output.traffic["read"].bytes == 8 * MIB
    assert output.traffic["read"].operations == 128
    assert set(output.traffic) == {"read"}
    assert output.engine_version.startswith("fio-3")
    assert output.metrics["read.lat.min"] > 0
    expected = {f"read.clat.p{p}" for p in ("50", "90", "95", "99", "99.5", "99.9", "99.95", "99.99")}
    assert {name for name in output.metrics if ".clat.p" in name} == expected


def test_a_timed_mixed_run_of_several_jobs(place):
    found = workload(rw="randrw", rwmixread=70, bs="4k", iodepth=8, numjobs=2, runtime=1, time_based=True)
    output = measure(found, place)
    assert output.jobs == 2
    assert output.traffic["read"].seconds > 0.9
    operations = {direction: traffic.operations for direction, traffic in output.traffic.items()}
    assert operations["read"] / sum(operations.values()) == pytest.approx(0.7, abs=0.1)
    rate = sum(output.metrics[f"{direction}.iops"] for direction in operations)
    busy = sum(
        output.metrics[f"{direction}.iops"] * output.metrics[f"{direction}.lat.mean"]
        for direction in operations
    )
    assert rate > 0 and 8 < busy / 1e9 < 16.5  # Little's law: 2 jobs at depth 8


@pytest.mark.parametrize("zones", [{}, {"zonemode": "zbd", "zonesize": "1m"}], ids=["plain", "zones"])
@pytest.mark.parametrize("rw", ["rw", "randrw"])
def test_a_mix_that_reads_alone_never_writes(place, rw, zones):
    """In zones fio made the first I/O of each job a write: a file system was gone, and nobody had agreed."""
    before = place.data.read_bytes()
    found = workload(rw=rw, rwmixread=100, bs="4k", numjobs=2, fio=zones)
    assert not engine.needs(found).writes
    with contextlib.suppress(OutputError):  # it may well not read there either
        assert "write" not in measure(found, place).traffic
    assert place.data.read_bytes() == before


def test_jobs_told_apart_are_merged_with_their_percentiles(place):
    found = workload(rw="randread", numjobs=3, iodepth=2, group_reporting=False)
    output = measure(found, place)
    assert output.jobs == 3
    assert output.traffic["read"].bytes == 3 * 8 * MIB
    assert output.metrics["read.clat.min"] <= output.metrics["read.clat.p50"]
    assert output.metrics["read.clat.p50"] <= output.metrics["read.clat.p99.99"]


def test_the_job_file_alone_repeats_the_run(place):
    measure(workload(rw="write", bs="128k"), place)
    done = subprocess.run(["fio", "job.fio"], cwd=place.folder, capture_output=True, text=True, check=True)
    assert "WRITE:" in done.stdout and "io=8192KiB" in done.stdout


def test_a_path_with_a_colon_is_one_file(place):
    odd = place.data.with_name("da:ta, odd")
    place.data.rename(odd)
    output = measure(workload(rw="read", bs="1M"), dataclasses.replace(place, data=odd))
    assert output.traffic["read"].bytes == 8 * MIB
    assert sorted(path.name for path in odd.parent.iterdir()) == [odd.name, "results"]


def test_pass_through_options_reach_fio(place):
    found = workload(
        rw="randread", runtime=1, time_based=True, fio={"rate_iops": 200, "percentile_list": "75:99.9"}
    )
    output = measure(found, place)
    assert 0 < output.metrics["read.iops"] <= 210
    assert {name for name in output.metrics if ".clat.p" in name} == {"read.clat.p75", "read.clat.p99.9"}


def test_no_sync_took_longer_than_its_run(place):
    """fio's own clock is usually that of the processor; where it cannot be, it is the machine's."""
    found = workload(
        rw="randwrite", iodepth=8, ioengine="libaio", fio={"fdatasync": 4, "clocksource": "clock_gettime"}
    )
    output = measure(found, place)
    syncs = [value / 1e9 for name, value in output.metrics.items() if name.startswith("sync.lat.")]
    assert syncs and max(syncs) <= output.traffic["write"].seconds


def test_a_device_of_known_latency_is_measured_right(nbd, place):
    uri = nbd("--filter=delay", "memory", "16M", "rdelay=2ms")
    found = workload(rw="randread", ioengine="nbd", fio={"uri": uri}, runtime=1, time_based=True)
    metrics = measure(found, place).metrics
    assert metrics["read.clat.mean"] >= 2e6
    assert 0.5 < metrics["read.iops"] * metrics["read.lat.mean"] / 1e9 <= 1.01  # one at a time


@pytest.mark.parametrize(
    ("name", "said"), [("EIO", "Input/output error"), ("ENOSPC", "No space left on device")]
)
def test_a_device_with_errors_is_no_measurement(nbd, place, name, said):
    uri = nbd("--filter=error", "memory", "16M", "error-pwrite-rate=10%", f"error={name}")
    found = workload(rw="write", ioengine="nbd", fio={"uri": uri})
    with pytest.raises(OutputError, match=said):
        measure(found, place)


def test_errors_that_fio_was_told_to_pass_over_are_no_measurement_either(nbd, place):
    uri = nbd("--filter=error", "memory", "16M", "error-pread-rate=1%", "error=EIO")
    found = workload(rw="read", ioengine="nbd", fio={"uri": uri, "continue_on_error": "all"})
    with pytest.raises(OutputError, match="Input/output error"):
        measure(found, place)


def test_a_device_that_hangs_is_given_up_and_said_so(nbd, place, monkeypatch):
    monkeypatch.setattr("iogate.host.process._GRACE_SECONDS", 0.5)
    uri = nbd("--filter=delay", "memory", "16M", "rdelay=30")
    found = workload(rw="read", ioengine="nbd", fio={"uri": uri}, runtime=1, time_based=True)
    with pytest.raises(OutputError, match="hung"):
        measure(found, place, timeout=1.5)


def test_a_server_that_is_not_there_is_no_measurement(nbd, place):
    found = workload(rw="read", ioengine="nbd", fio={"uri": f"nbd+unix:///?socket={place.folder}/none"})
    with pytest.raises(OutputError, match="status 1"):
        measure(found, place)


def test_what_fio_accepts_passes_the_check():
    found = [
        workload(rw="randrw", rwmixread=30, bs="4k,8k", iodepth=4, numjobs=2, runtime="1.5s", ramp_time=1),
        workload(rw="randread:8", fio={"norandommap": None, "random_distribution": "zipf:1.2"}),
        workload(rw="write", fio={"fsync": 8, "bssplit": "4k/50:8k/50"}, group_reporting=False),
    ]
    assert engine.check(found) == []


def test_what_fio_refuses_is_told_at_its_workload():
    found = [
        workload(line=1, rw="read", fio={"randrepeat": 0}),
        workload(line=2, rw="read", fio={"no_such_option": 3}),
        workload(line=3, rw="read", fio={"random_distribution": "flat"}),
        workload(line=4, rw="read", fio={"prio": 99}),
        workload(line=5, rw="read", fio={"fixedbufs": 1}),
        workload(line=6, rw="read", iodepth=4, fio={"iodepth_batch": "many"}),
    ]
    errors = engine.check(found)
    assert [error.position.line for error in errors] == [2, 3, 4, 5, 6]
    assert all(str(error).startswith("suite.yaml:") for error in errors)
    assert "'no_such_option=3'" in errors[0].message
    assert "zipf" in errors[1].message
    assert "max value" in errors[2].message


def test_one_mistake_in_a_matrix_of_thousands_is_told_once():
    found = [workload(line=7, rw="randread", iodepth=depth, fio={"bogus": 1}) for depth in range(1, 3000)]
    assert len(engine.check(found)) == 1


def test_nobody_else_asks_fio_for_its_status(place, tmp_path, monkeypatch):
    """fio looks for this file four times a second; that of another user in /tmp stays there for ever."""
    asked = tmp_path / "fio-dump-status"
    asked.touch()
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    output = measure(workload(rw="read", bs="64k", runtime=1, time_based=True), place)
    assert output.traffic["read"].seconds > 0.9
    assert asked.exists()
