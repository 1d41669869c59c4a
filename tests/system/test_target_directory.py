"""A run in a directory, on real file systems: data that are really there, refusals in time, nothing left."""

# ruff: noqa: F811 (fixtures are imported, and named by parameters)
import contextlib
import mmap
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

import loops
from iogate.audit import Evidence, audit, snapshot
from iogate.errors import TargetError
from iogate.host import fiemap
from iogate.host.environment import observe
from iogate.host.mounts import block_number, real_file
from iogate.model import Device, Needs, Output, Traffic
from iogate.target import layout, leftovers, marker, open_target, refusals, resolve, scratch
from iogate.target.resolve import check_unchanged
from iogate.target.scratch import room
from loops import MIB, Loops, holder, made, need, own_locks, run  # noqa: F401 (fixtures)
from projects import Project
from workloads import declared

pytestmark = pytest.mark.system
DIRECT = Needs(size=8 * MIB, reads=True, direct=True, block=4096)
BUFFERED = Needs(size=8 * MIB, reads=True)
KINDS = ["ext4", "xfs", "btrfs", "f2fs"]


def use(path):
    device = Device("d", str(path))
    return open_target(resolve(device, path), device=device)


def rules(path, needs=DIRECT):
    device = Device("d", str(path))
    return [error.rule for error in refusals(resolve(device, path), needs, device=device, consent=None)]


def own(path):
    """What is in a directory, besides what its file system made."""
    return sorted(entry.name for entry in path.iterdir() if entry.name != "lost+found")


def cached(file):
    """The pages of a file that are in the page cache (fincore(1))."""
    return int(run("fincore", "--noheadings", "--bytes", "--output", "RES", file))


# ------------------------------------------------------------ file systems


def test_a_file_system_that_has_shut_itself_down_is_not_said_to_be_unmounted(made):
    need("mkfs.xfs", "xfs_io")
    _, point = made.formatted("xfs", 400 * MIB)
    target = resolve(Device("d", str(point)), point)
    check_unchanged(target)
    run("xfs_io", "-x", "-c", "shutdown", point)
    with pytest.raises(TargetError, match="cannot be looked at any more: Input/output error") as caught:
        check_unchanged(target)
    assert caught.value.rule == "changed"


@pytest.mark.parametrize("kind", KINDS)
def test_data_are_on_the_device_and_not_in_the_page_cache(made, kind):
    need(f"mkfs.{kind}", "fincore")
    device, point = made.formatted(kind, 400 * MIB)
    number = block_number(device)
    target = resolve(Device("d", str(point)), point)
    assert (target.kind, target.number, target.file_system) == ("directory", number, kind)
    before = sectors_written(number)
    with use(point) as place:
        for needs in (DIRECT, Needs(size=9 * MIB, reads=True)):
            file = place.data(needs)
            assert fiemap.unwritten_bytes(file) == 0
            assert cached(file) == 0
    assert sectors_written(number) - before >= 17 * MIB / 512
    assert own(point) == []


def sectors_written(number):
    with open(f"/sys/dev/block/{number}/stat") as stream:
        return int(stream.read().split()[6])


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs"])
def test_a_read_only_mount_is_refused(made, kind):
    need(f"mkfs.{kind}")
    device = made.device(400 * MIB)
    loops.format_device(kind, device)
    point = made.mount(device, "-o", "ro")
    assert rules(point) == ["read-only"]
    with pytest.raises(TargetError) as caught, use(point):
        pass
    assert caught.value.rule == "read-only"


@pytest.mark.parametrize("kind", ["tmpfs", "ramfs"])
def test_memory_is_no_target_for_direct_io(made, kind):
    """tmpfs accepts O_DIRECT from Linux 6.6 on, and still is no device."""
    point = made.mount("none", "-t", kind)
    assert rules(point) == ["no-direct-io"]
    assert resolve(Device("d", str(point)), point).number is None
    assert rules(point, BUFFERED) == []
    with use(point) as place:
        assert place.data(BUFFERED).stat().st_size == 8 * MIB
        with pytest.raises(TargetError):
            place.data(DIRECT)
    assert own(point) == []


def overlay(made, upper):
    for name in ("upper,a:b c", "work"):
        (upper / name).mkdir()
    lower = made.folder / "lower"
    lower.mkdir()
    option = str(upper / "upper,a:b c").replace(",", "\\,")
    return made.mount(
        "overlay", "-t", "overlay", "-o", f"lowerdir={lower},upperdir={option},workdir={upper}/work"
    )


def test_an_overlay_is_as_good_as_its_upper_layer(made):
    need("mkfs.ext4")
    device, upper = made.formatted("ext4", 128 * MIB)
    point = overlay(made, upper)
    target = resolve(Device("d", str(point)), point)
    assert (target.file_system, target.backing, target.number) == ("overlay", "ext4", block_number(device))
    assert rules(point) == []
    with use(point) as place:
        assert fiemap.unwritten_bytes(place.data(DIRECT)) in (0, None)
    assert own(point) == []


READS, WRITES = Needs(size=2 * MIB, reads=True), Needs(size=2 * MIB, writes=True, block=4096)
MIX = Needs(size=2 * MIB, reads=True, writes=True, block=4096)


def overwrite(path):
    """Write every other block of 4 KiB past the page cache, each with an fsync."""
    with open(os.open(path, os.O_WRONLY | os.O_DIRECT), "wb", buffering=0) as file:
        with mmap.mmap(-1, 4096) as block:
            for start in range(0, 2 * MIB, 8192):
                os.pwrite(file.fileno(), block, start)
        os.fsync(file.fileno())


def fragments(path):
    with path.open("rb") as file:
        return len(list(fiemap.extents(file.fileno())))


def test_where_writes_fragment_a_file_nobody_else_reads_it(made):
    """Behind random writes to it a sequential read had a fifth of the speed that it has alone."""
    need("mkfs.btrfs")
    _, point = made.formatted("btrfs", 200 * MIB)
    with use(point) as place:
        read, written, mixed = map(place.data, (READS, WRITES, MIX))
        before = fragments(read)
        overwrite(written)
        overwrite(mixed)
        assert fragments(written) > 100 < fragments(mixed)
        assert (fragments(read), place.data(READS)) == (before, read)
        assert place.data(replace(MIX, own="0a1b2c3d")) not in (read, written, mixed)
        assert place.data(replace(WRITES, block=8192)) == written
        assert place.written == 4 * READS.size


def test_a_plan_tells_how_many_files_there_will_be(made, tmp_path):
    need("mkfs.btrfs", "fio")
    _, point = made.formatted("btrfs", 200 * MIB)
    project = Project(tmp_path / "project")
    project.suite(
        "defaults: {engine: fio, bs: 4k, size: 2M, runtime: 1, time_based: true}\n"
        "workloads: {a: {rw: read}, b: {rw: randread}, c: {rw: write}, d: {rw: randrw}}\n"
    )
    result = project.run("suites", "--io-plan", "--update-baselines", f"--io-target={point}")
    assert "space: 6.000 MiB in 3 data files" in result.text


def test_and_where_they_do_not_all_of_one_size_share_one(made):
    need("mkfs.ext4")
    made.into_memory()
    _, point = made.formatted("ext4", 128 * MIB)
    with use(overlay(made, point)) as place:
        (data,) = set(map(place.data, (READS, WRITES, MIX)))
        before = fragments(data)
        overwrite(data)
        assert (fragments(data), place.written) == (before, READS.size)


def test_attributes_that_files_inherit_are_a_part_of_what_is_judged(made):
    """Of `chattr +C` between two runs nobody heard, and a device that had lost 12% was `improved` by 30%."""
    need("mkfs.btrfs", "chattr")
    _, point = made.formatted("btrfs", 128 * MIB)
    told = [observe(None, point).subject["folder_attributes"]]
    run("chattr", "+CS", point)
    told.append(observe(None, point).subject["folder_attributes"])
    assert told == ["none", "sync, no copy-on-write"]


def test_nor_where_those_below_do(made):
    """As an image of a disk that lies on a btrfs."""
    need("mkfs.btrfs")
    _, below = made.formatted("btrfs", 300 * MIB)
    with Loops(below) as loops:
        _, point = loops.formatted("ext4", 64 * MIB)
        with use(point) as place:
            assert len(set(map(place.data, (READS, WRITES, MIX)))) == 3


def test_of_two_files_that_do_not_fit_together_one_makes_room(made):
    need("mkfs.btrfs")
    _, point = made.formatted("btrfs", 200 * MIB)
    with use(point) as place:
        size = room(point) * 2 // 3 // MIB * MIB
        read = place.data(replace(READS, size=size))
        written = place.data(replace(WRITES, size=size))
        assert written.exists() and not read.exists()
        assert place.missing(replace(READS, size=size)) == size


@pytest.mark.parametrize("needs", [READS, WRITES, MIX, replace(MIX, own="0a1b2c3d")])
def test_what_a_killed_run_left_of_any_kind_is_its_own(needs):
    assert marker._OWN.fullmatch(scratch._File(needs.size, needs.kind, 0).name)
    assert marker._OWN.fullmatch(scratch._File(needs.size, needs.kind, 3).name)


def test_a_file_of_an_overlay_lies_in_its_upper_layer(made):
    """Its own has no pages in the page cache: what was read ahead of it was not waited for."""
    need("mkfs.ext4")
    made.into_memory()
    _, upper = made.formatted("ext4", 128 * MIB)
    file = overlay(made, upper) / "data"
    file.write_bytes(bytes(MIB))
    assert real_file(file) == upper / "upper,a:b c" / "data"
    assert real_file(upper / "upper,a:b c" / "data") == upper / "upper,a:b c" / "data"


def test_an_overlay_over_memory_is_memory(made):
    point = overlay(made, made.mount("none", "-t", "tmpfs"))
    target = resolve(Device("d", str(point)), point)
    assert (target.file_system, target.backing, target.number) == ("overlay", "tmpfs", None)
    assert rules(point) == ["no-direct-io"]


def test_an_overlay_over_memory_that_cannot_be_seen_is_no_storage(made):
    """As a live system, an initramfs and a container have it: the audit tells what a refusal cannot."""
    memory = made.mount("none", "-t", "tmpfs")
    point = overlay(made, memory)
    run("umount", memory)  # the overlay keeps it
    for unseen in ("no such folder", "a namesake of it on a disk"):
        target = resolve(Device("d", str(point)), point)
        assert (target.file_system, target.backing, target.number) == ("overlay", None, None), unseen
        (memory / "upper,a:b c").mkdir(exist_ok=True)
    with use(point) as place:
        if rules(point):
            pytest.skip("this tmpfs takes no direct I/O")
        data = place.data(DIRECT)
        before = snapshot(None, data)
        read = Output({"read.bandwidth": 8e12}, {"read": Traffic(2**40, 2**28, 1.0)})
        evidence = Evidence.of(
            declared("fio", rw="read", size="8M"), read, DIRECT, before=before, after=snapshot(None, data)
        )
        assert "no_device" in {item.check for item in audit(evidence) if item.severity == "invalid"}


def test_a_bind_mount_is_what_it_shows(made, tmp_path):
    need("mkfs.ext4")
    device, point = made.formatted("ext4", 64 * MIB)
    (point / "below").mkdir()
    bound = made.mount(point / "below", "--bind")
    target = resolve(Device("d", str(bound)), bound)
    assert (target.number, target.file_system) == (block_number(device), "ext4")


def test_another_user_may_not_write(made, tmp_path):
    point = tmp_path / "target"
    point.mkdir(mode=0o755)
    for parent in point.parents:  # pytest's own folders are for their owner only
        mode = parent.stat().st_mode & 0o7777
        if mode & 0o011 != 0o011:
            parent.chmod(mode | 0o011)
            made.callback(parent.chmod, mode)
    os.seteuid(65534)
    try:
        assert rules(point) == ["read-only"]
        with pytest.raises(TargetError) as caught, use(point):
            pass
        assert caught.value.rule == "read-only"
    finally:
        os.seteuid(0)


# ------------------------------------------------------------ space


def test_a_full_file_system_is_refused_before_anything_is_written(made):
    need("mkfs.ext4", "fallocate")
    _, point = made.formatted("ext4", 128 * MIB)
    run("fallocate", "--length", 90 * MIB, point / "full")
    free = os.statvfs(point).f_bavail
    assert rules(point) == ["space"]
    with pytest.raises(TargetError, match="short of space") as caught, use(point) as place:
        place.data(DIRECT)
    assert caught.value.rule == "space"
    assert own(point) == ["full"] and os.statvfs(point).f_bavail == free


def test_a_file_system_that_runs_full_while_laying_out(made, monkeypatch):
    """Somebody takes the space once it was found to be enough, before the first bytes are written.

    The progress of laying out is told beside it, and on a busy machine at its end: too late for this.
    """
    need("mkfs.ext4", "fallocate")
    _, point = made.formatted("ext4", 128 * MIB)
    source = layout._source

    def fill(size):
        run("fallocate", "--length", 60 * MIB, point / "full")
        return source(size)

    monkeypatch.setattr(layout, "_source", fill)
    with use(point) as place, pytest.raises(TargetError) as caught:
        place.data(Needs(size=64 * MIB, reads=True, direct=True))
    assert caught.value.rule == "space"
    assert own(point) == ["full"]


def test_without_a_single_free_block(made):
    need("mkfs.ext4")
    _, point = made.formatted("ext4", 64 * MIB)
    with contextlib.suppress(OSError), (point / "full").open("wb", buffering=0) as stream:
        while True:
            stream.write(bytes(MIB))
    with pytest.raises(TargetError) as caught, use(point) as place:
        place.data(DIRECT)
    assert caught.value.rule == "space"
    assert own(point) == ["full"]


# ------------------------------------------------------------ faults


def test_a_device_that_fails_while_laying_out(made):
    """A compressed RAM disk with a limit: data that cannot be compressed are I/O errors beyond it."""
    need("mkfs.ext4")
    device = made.ram_disk(256 * MIB, limit=24 * MIB)
    loops.format_device("ext4", device)
    point = made.mount(device)
    with pytest.raises(TargetError) as caught, use(point) as place:
        place.data(Needs(size=64 * MIB, reads=True, direct=True))
    assert caught.value.rule == "io-error"


def test_a_loop_device_whose_disk_is_full(made):
    """What cannot be written there comes back as an error here, though here there is space."""
    need("mkfs.ext4")
    file = made.mount("none", "-t", "tmpfs", "-o", "size=64M") / "disk.img"
    with file.open("wb") as stream:
        stream.truncate(256 * MIB)
    device = made.attach(file)
    loops.format_device("ext4", device)
    point = made.mount(device)
    with pytest.raises(TargetError) as caught, use(point) as place:
        place.data(Needs(size=128 * MIB, reads=True, direct=True))
    assert caught.value.rule in ("io-error", "space")


def test_a_target_that_is_unmounted_during_the_run(made):
    need("mkfs.ext4")
    device, point = made.formatted("ext4", 64 * MIB)
    with use(point) as place:
        place.data(DIRECT)
        run("umount", "--lazy", point)
        with pytest.raises(TargetError) as caught:
            place.data(DIRECT)
        assert caught.value.rule == "changed"
    assert list(point.iterdir()) == []
    made.mount(device, point=point)
    assert own(point) == []


def test_a_target_that_becomes_read_only_during_the_run(made):
    need("mkfs.ext4")
    device, point = made.formatted("ext4", 64 * MIB, "-o", "errors=remount-ro")
    with use(point) as place:
        place.data(DIRECT)
        run("mount", "-o", "remount,abort", point, check=False)  # as ext4 does of itself after an error
        with pytest.raises(TargetError) as caught:
            place.data(Needs(size=4 * MIB, reads=True, direct=True))
        assert caught.value.rule == "read-only"
    run("umount", point)
    run("fsck.ext4", "-f", "-y", device, check=False)
    made.mount(device, point=point)
    assert len(own(point)) == 1
    with use(point) as place:
        assert own(point) == [place.path.name]
    assert own(point) == []


# ------------------------------------------------------------ runs that are killed, and runs at once


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_what_a_killed_run_left_is_removed_by_the_next(own_locks, holder, tmp_path):
    point = tmp_path / "target"
    point.mkdir()
    (point / "mine").write_text("mine")
    process = holder(point)
    kill(process)
    assert process.data.exists()
    with use(point) as place:
        assert own(point) == sorted([place.path.name, "mine"])
    assert own(point) == ["mine"]


def test_killed_at_any_moment_the_next_run_finds_nothing_in_its_way(own_locks, tmp_path):
    """SIGKILL at 20 moments between the first file and the end of the layout."""
    point = tmp_path / "target"
    point.mkdir()
    for delay in range(20):
        process = subprocess.Popen(
            [sys.executable, "-c", loops.HOLD, str(point), str(64 * MIB)],
            env={**os.environ, "PYTHONPATH": loops.PLUGINS},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 20
        while not own(point) and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(delay * 0.01)
        kill(process)
        process.stdin.close()
        assert len(own(point)) == 1
        with use(point) as place:
            assert own(point) == [place.path.name]
        assert own(point) == []


def test_a_run_that_lives_is_not_disturbed(own_locks, holder, tmp_path):
    point = tmp_path / "target"
    point.mkdir()
    process = holder(point)
    with pytest.raises(TargetError, match=f"pid {process.pid}") as caught, use(point):
        pass
    assert caught.value.rule == "locked"
    assert process.data.stat().st_size == MIB


def test_a_folder_whose_run_lives_stays_even_where_directories_cannot_be_locked(own_locks, holder, tmp_path):
    point = tmp_path / "target"
    point.mkdir()
    process = holder(point)
    parent = os.open(point, os.O_RDONLY)
    try:
        assert leftovers.remove_leftovers(parent, point) == []
    finally:
        os.close(parent)
    assert process.data.exists()


def test_an_engine_that_outlived_its_run_is_named(own_locks, holder, tmp_path):
    point = tmp_path / "target"
    point.mkdir()
    process = holder(point)
    argv = [sys.executable, "-c", "import sys; f = open(sys.argv[1]); print(flush=True); sys.stdin.read()"]
    with subprocess.Popen([*argv, process.data], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as engine:
        engine.stdout.readline()
        kill(process)
        with pytest.raises(TargetError, match=f"pid {engine.pid}") as caught, use(point):
            pass
        assert caught.value.rule == "locked" and process.data.exists()
        engine.stdin.close()
        engine.wait()
    with use(point):
        pass
    assert own(point) == []


def test_sigint_ends_a_run_and_leaves_nothing(own_locks, holder, tmp_path):
    point = tmp_path / "target"
    point.mkdir()
    process = holder(point)
    process.send_signal(signal.SIGINT)
    process.wait()
    assert own(point) == []


def test_the_processes_of_another_namespace_are_none_of_ours(tmp_path):
    """Where /proc is not of this PID namespace, data went into a folder that another process had open."""
    need("unshare")
    project = Project(tmp_path / "project")
    project.suite("workloads: {a: {engine: reader, rw: read, bs: 4k, size: 64M, direct: false}}\n")
    alone = ["unshare", "--pid", "--fork", "--kill-child"]
    result = project.run("suites", wrapper=lambda argv: [*alone, *argv])
    assert result.status == 4 and "/proc is that of another PID namespace" in result.text, result.text
    own = [*alone, "--mount-proc"]
    result = project.run("suites", wrapper=lambda argv: [*own, *argv])
    assert result.verdicts == {"a": "recorded"}, result.text
