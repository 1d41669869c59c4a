"""The audit on real runs of fio: what is sound is not called invalid, and what lies is."""

import os
import shutil
from pathlib import Path

import pytest

from control_groups import limited
from iogate import engines
from iogate.audit import Evidence, audit, snapshot
from iogate.host import process
from iogate.model import Place
from loops import MIB, Loops, need
from workloads import declared

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(not shutil.which("fio"), reason="needs fio"),
]
SIZE = 64 * MIB


def findings(data, folder, *, options=None, link=None):
    """Severity and message by check, of one second of fio on a file or device."""
    fio = engines.load("fio")
    asked = {"rw": "randread", "size": "64M", "runtime": 1, "time_based": True, "iodepth": 8}
    workload = declared("fio", **asked | (options or {}))
    needs = fio.needs(workload)
    command = fio.command(workload, Place(data, None, folder))
    for name, text in command.files.items():
        (folder / name).write_text(text)
    before = snapshot(None, data)
    done = process.run(command.argv, folder=folder, timeout=command.timeout)
    after = snapshot(None, data)
    output = fio.parse((folder / command.output).read_text(), name="output", completed=done)
    gating = fio.gating(workload)
    evidence = Evidence.of(
        workload, output, needs, gating=gating, seconds=done.seconds, before=before, after=after, link=link
    )
    found = audit(evidence)
    return {finding.check: (finding.severity, finding.message) for finding in found}


def invalid(found):
    return {check for check, (severity, _) in found.items() if severity == "invalid"}


def written(path):
    with path.open("wb") as stream:
        for _ in range(SIZE // MIB):
            stream.write(os.urandom(MIB))
        os.fsync(stream.fileno())
    return path


@pytest.fixture
def folder(tmp_path):
    found = tmp_path / "run"
    found.mkdir()
    return found


@pytest.fixture
def on_disk(tmp_path):
    """A folder on a device; skips where the tests run in memory."""
    if snapshot(None, tmp_path).disk is None:
        pytest.skip("the folder of the tests is on no device")
    return tmp_path


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"rw": "read", "bs": "1M"},
        {"rw": "randwrite"},
        {"rw": "write", "bs": "1M"},
        {"rw": "randrw", "numjobs": 2},
        {"ioengine": "psync", "iodepth": 1},
        {"ioengine": "io_uring"},
        {"ramp_time": 1},
        {"fio": {"rate_iops": "200"}},
        {"fio": {"fsync": "16"}, "rw": "randwrite"},
        {"bs": "4k,64k", "rw": "randrw"},
        {"iodepth": 256, "numjobs": 4},
    ],
    ids=str,
)
def test_sound_runs_past_the_page_cache_are_never_invalid(on_disk, folder, options):
    assert invalid(findings(written(on_disk / "data"), folder, options=options)) == set()


def test_reading_a_hole_is_invalid_by_counters_and_by_extents(on_disk, folder):
    data = on_disk / "sparse"
    with data.open("wb") as stream:
        stream.truncate(SIZE)
    found = findings(data, folder)
    if snapshot(None, data).unwritten is None:
        assert "page_cache" in invalid(found)
    else:
        assert {"page_cache", "unwritten_extents"} <= invalid(found)


def test_buffered_figures_are_labelled_as_cached_with_what_the_device_moved(on_disk, folder):
    data = written(on_disk / "data")
    data.read_bytes()
    found = findings(data, folder, options={"direct": False})
    assert found["cached"][0] == "note" and "the device moved" in found["cached"][1]
    assert invalid(found) == set()


def test_a_synchronous_ioengine_with_a_depth_is_suspect(on_disk, folder):
    found = findings(written(on_disk / "data"), folder, options={"ioengine": "psync", "iodepth": 32})
    assert found["synchronous_engine"][0] == "suspect"
    assert "not iodepth 32" in found["synchronous_engine"][1]
    assert "little_law" not in found


def test_faster_than_the_link_of_the_profile_is_invalid(on_disk, folder):
    assert "link_limit" in invalid(findings(written(on_disk / "data"), folder, link=1000.0))


def test_memory_is_named(folder):
    shared = Path("/dev/shm")
    if not os.access(shared, os.W_OK) or snapshot(None, shared).mount.file_system != "tmpfs":
        pytest.skip("needs a tmpfs")
    data = shared / f"iogate-audit-{os.getpid()}"
    try:
        found = findings(written(data), folder, options={"direct": False})
        assert found["no_device"][0] == "suspect" and invalid(found) == set()
    finally:
        data.unlink()


@pytest.mark.parametrize(("option", "expected"), [("on", False), ("off", True)])
def test_a_loop_device_is_counted_and_its_cache_is_told(tmp_path, folder, option, expected):
    need()
    with Loops(tmp_path) as loops:
        device = loops.attach(written(tmp_path / "disk.img"), f"--direct-io={option}")
        found = findings(device, folder)
    assert ("loop_cache" in found) == expected
    assert invalid(found) == set()


def test_what_a_loop_device_lies_on_is_told_layer_by_layer(tmp_path, folder):
    """One with direct I/O on a file in a file system of a cached one, and one on a file in memory."""
    need("mkfs.ext4")
    with Loops(tmp_path) as loops:
        cached, point = loops.formatted("ext4", 256 * MIB)
        inner = loops.attach(written(point / "inner.img"), "--direct-io=on")
        found = findings(inner, folder)
        assert cached.name in found["loop_cache"][1] and "no_device" not in found
        loops.into_memory()
        if loops.folder == tmp_path:
            pytest.skip("memory takes no direct I/O here")
        found = findings(loops.attach(written(loops.folder / "disk.img"), "--direct-io=on"), folder)
        assert found["no_device"][0] == "suspect" and "on a file in tmpfs" in found["no_device"][1]


def test_a_file_system_on_a_loop_device_is_counted(tmp_path, folder):
    need("mkfs.ext4")
    with Loops(tmp_path) as loops:
        _, point = loops.formatted("ext4", 256 * MIB)
        data = written(point / "data")
        assert invalid(findings(data, folder)) == set()
        assert invalid(findings(data, folder, options={"rw": "randwrite"})) == set()


@pytest.fixture
def tenth_of_a_cpu():
    """A control group that may use a tenth of a CPU."""
    version_1 = [(tree, "cpu.cfs_quota_us", "10000") for tree in ("cpu", "cpu,cpuacct")]
    with limited([*version_1, (".", "cpu.max", "10000 100000")]) as group:
        yield group


def test_a_control_group_that_keeps_the_engine_from_the_processor_is_told(project, tenth_of_a_cpu):
    """As the limit of a container does: a regression is the limit's, and not the device's."""
    project.record_at_once()
    with (project.path / "conftest.py").open("a") as conftest:
        group = str(tenth_of_a_cpu / "cgroup.procs")
        conftest.write(
            "import os\n"
            "def pytest_collection_finish():\n"
            f"    with open({group!r}, 'w') as group: group.write(str(os.getpid()))\n"
        )
    options = "rw: randread, bs: 4k, size: 4M, runtime: 2, time_based: true, cached: true, repetitions: 1"
    project.suite("workloads:\n  it: {" + options + ", direct: false, gate: {read.iops: 90%}}\n")
    result = project.run("suites", "--update-baselines")
    assert result.results["environment"]["state"]["cpu_limit"] == "0.1 CPUs", result.text
    found = {
        finding["check"]: finding["message"]
        for one in result.workload("it")["measured"]
        for finding in one["findings"]
    }
    assert "may use 0.1 CPUs" in found["cpu_limited"], result.text
