"""Buffered I/O on a device of known speed: its figures are the device's, or it is said that they are not."""

import contextlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from faults import FaultyDevice
from iogate.errors import EngineError, TargetError
from iogate.formats.held import path_of
from iogate.host import process
from iogate.host.meter import in_flight
from iogate.host.mounts import mount_of
from iogate.target import ReadAhead, drop, flush, flushing
from loops import MIB, Loops, need
from projects import Project
from waiting import eventually

pytestmark = pytest.mark.system

SPEED = 32 * MIB
SUITE = """\
defaults: {engine: fio, ioengine: psync, direct: false, bs: 1M, size: 32M, repetitions: 2}
workloads:
  flushed: {rw: write}
  meant: {rw: write, cached: true}
  overwritten: {rw: write, size: 2M, runtime: 0.3, time_based: true}
"""


@pytest.fixture(scope="module")
def buffered(throttled, tmp_path_factory):
    """What a run recorded of buffered writes to a throttled disk."""
    disk = throttled("ext4", 128 * MIB)
    project = Project(tmp_path_factory.mktemp("buffered") / "project")
    project.suite(SUITE)
    project.device("lab", f"target: {disk.point}\n")
    disk.throttle.limit_bandwidth(SPEED)
    result = project.run("suites", "--device=lab", "--update-baselines", wrapper=disk.throttle.inside)
    assert set(result.verdicts.values()) == {"recorded"}, result.text
    return result


def bandwidths(result, name):
    return result.workload(name)["metrics"]["write.bandwidth"]["values"]


def severity(result, name):
    (finding,) = (item for item in result.workload(name)["findings"] if item["check"] == "cached")
    return finding["severity"]


def test_a_buffered_write_is_as_fast_as_the_device_in_each_repetition(buffered):
    found = bandwidths(buffered, "flushed")
    assert 0.7 * SPEED < max(found) < 1.1 * SPEED  # a busy machine makes one slower
    assert severity(buffered, "flushed") == "note"


def test_who_means_the_page_cache_gets_its_speed(buffered):
    assert min(bandwidths(buffered, "meant")) > 2 * SPEED
    assert severity(buffered, "meant") == "note"


def test_what_the_device_did_not_move_is_suspect_and_said_where_it_becomes_a_baseline(buffered):
    assert severity(buffered, "overwritten") == "suspect"
    assert "suspect cached: overwritten: buffered I/O" in buffered.text
    assert re.search(r"overwritten.*: recorded although suspect: .*\bcached\b", buffered.text)


def dirty(path, size=8 * MIB):
    with path.open("r+b" if path.exists() else "wb") as stream:
        stream.write(os.urandom(size))
    return path


def written(device):
    return int(Path(f"/sys/class/block/{device.name}/stat").read_text().split()[6]) * 512


@pytest.fixture
def disk(tmp_path):
    need("mkfs.ext4")
    with Loops(tmp_path) as loops:
        yield loops.formatted("ext4", 128 * MIB)


def test_a_flush_writes_what_others_left_in_the_page_cache(disk):
    device, point = disk
    before = written(device)
    dirty(point / "other")
    flush(point)
    assert written(device) - before >= 8 * MIB


def test_a_flush_of_a_device_writes_what_is_dirty_of_it(tmp_path):
    need()
    with Loops(tmp_path) as loops:
        device = loops.device(16 * MIB)
        before = written(device)
        dirty(device)
        flush(device)
        assert written(device) - before >= 8 * MIB


@pytest.fixture(params=[True, False], ids=["of the file", "of the device"])
def what_tells(request, monkeypatch):
    """What tells that something is on its way: Linux since 6.5, and before."""
    if not request.param:
        monkeypatch.setattr(flushing, "_cached_pages", lambda descriptor: None)


def test_what_the_kernel_reads_ahead_is_waited_for_but_not_without_end(tmp_path, monkeypatch, what_tells):
    need("nbdkit", "nbdfuse")
    with FaultyDevice(tmp_path) as faulty:
        point = faulty.mounted()
        number = mount_of(point).number
        data = dirty(point / "data")
        flush(point)
        drop([data])
        with faulty.still(), data.open("rb") as stream:
            os.posix_fadvise(stream.fileno(), 0, MIB, os.POSIX_FADV_WILLNEED)
            eventually(lambda: in_flight(number))
            monkeypatch.setattr(flushing, "SETTLED", 0.05)
            forget([data], number)
            assert in_flight(number)
        monkeypatch.setattr(flushing, "SETTLED", 60.0)
        begun = time.monotonic()
        forget([data], number)
        assert not in_flight(number) and time.monotonic() - begun < 60


def forget(files, number):
    ahead = ReadAhead()
    ahead.note(files)
    ahead.forget(number)


READS_AHEAD = """if True:
    import os, sys
    with open(sys.argv[1], "rb") as data:
        os.posix_fadvise(data.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)
"""


def test_also_where_a_control_group_holds_it_back(throttled, tmp_path):
    """The device counts nothing in flight then."""
    disk = throttled("ext4", 64 * MIB)
    data = dirty(disk.point / "data", 2 * MIB)
    with data.open("rb") as stream:
        if flushing._cached_pages(stream.fileno()) is None:
            pytest.skip("needs Linux 6.5")
    flush(disk.point)
    drop([data])
    disk.throttle.limit_bandwidth(4 * MIB)
    subprocess.run(disk.throttle.inside([sys.executable, "-c", READS_AHEAD, str(data)]), check=True)
    begun = time.monotonic()
    forget([tmp_path / "missing", data], None)
    assert 0.2 < time.monotonic() - begun < flushing.SETTLED
    with data.open("rb") as stream:
        assert not flushing._cached_pages(stream.fileno())


def test_what_nobody_reads_ahead_is_not_waited_for(disk, monkeypatch):
    _, point = disk
    data = dirty(point / "data")
    flush(point)
    data.read_bytes()
    monkeypatch.setattr(flushing.time, "sleep", lambda _: pytest.fail("waited"))
    forget([data], None)


def test_pages_that_stay_are_waited_for_once(disk, monkeypatch):
    """Those of a file system that is mounted from the device: each repetition of what reads it waited 2 s."""
    device, point = disk
    looked = []
    monkeypatch.setattr(flushing, "SETTLED", 0.2)
    monkeypatch.setattr(flushing, "_cached_pages", lambda descriptor: looked.append(descriptor) or 7)
    ahead = ReadAhead()
    counts = []
    for _ in range(3):
        ahead.note([device])
        ahead.forget(None)
        counts.append(len(looked))
    assert counts[0] > 2
    assert counts[1:] == [counts[0] + 1, counts[0] + 2]
    ahead.note([dirty(point / "data")])  # of a file what a control group holds back does not stay
    ahead.forget(None)
    ahead.note([point / "data"])
    ahead.forget(None)
    assert len(looked) > counts[-1] + 4


def test_so_are_those_of_a_device_that_is_held_open(tmp_path):
    """What leads to it is a link, of this process: links are not followed, and nothing was dropped."""
    need()
    with Loops(tmp_path) as loops:
        device = loops.device(16 * MIB)
        with device.open("rb") as held:
            held.read(8 * MIB)
            drop([path_of(held.fileno())])
            before = int(Path(f"/sys/class/block/{device.name}/stat").read_text().split()[2])
            device.read_bytes()
            after = int(Path(f"/sys/class/block/{device.name}/stat").read_text().split()[2])
    assert (after - before) * 512 > 12 * MIB  # all but what was still read ahead, and could not be dropped


def test_dropped_data_are_read_from_the_device_again(disk):
    device, point = disk
    data = dirty(point / "data")
    flush(point)
    drop([data, point / "missing"])
    before = int(Path(f"/sys/class/block/{device.name}/stat").read_text().split()[2])
    data.read_bytes()
    after = int(Path(f"/sys/class/block/{device.name}/stat").read_text().split()[2])
    assert (after - before) * 512 >= 8 * MIB


def test_a_flush_that_does_not_end_is_told(tmp_path, monkeypatch):
    """test_faults has a disk that stands still for good; a sound one the kernel may flush by itself."""
    monkeypatch.setattr(flushing, "_sync", lambda descriptor: time.sleep(1))  # in a process of its own
    monkeypatch.setattr(flushing, "PATIENCE", 0.05)
    with pytest.raises(TargetError, match="not flushed within") as caught:
        flush(tmp_path)
    assert caught.value.rule == "flush"
    with pytest.raises(EngineError, match="what was given up does not end"):
        process.require_ended()
    eventually(has_ended)


def has_ended():
    """Return whether nothing that was given up goes on."""
    with contextlib.suppress(EngineError):
        process.require_ended()
        return True
    return False


def test_a_flush_that_fails_is_told(tmp_path, monkeypatch):
    def fail(descriptor):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(flushing, "_sync", fail)
    with pytest.raises(TargetError, match=r"cannot flush .*Input/output error"):
        flush(tmp_path)
