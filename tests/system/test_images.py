"""Images in two slots that change places: real file systems, real loop devices and mounts."""

# ruff: noqa: F811 (fixtures are imported, and named by parameters)
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from images import clone, disk_image, format_image, traces, write_table
from iogate.errors import TargetError
from iogate.host import loop
from iogate.host.blockdevice import BlockDevice
from iogate.host.fiemap import unwritten_bytes
from iogate.host.mounts import mount_of
from iogate.measure.bench import Pair
from iogate.measure.local_bench import LocalBench
from iogate.measure.settings import Settings
from iogate.model import Device, Needs
from iogate.target import open_target, refusals, resolve
from iogate.target.images import Image, open_slots, slot_refusals
from iogate.target.images.btrfs import give_own_uuid
from iogate.target.images.contents import FileSystem
from iogate.target.images.copying import Source, copy
from iogate.target.images.image import Stamp
from loops import MIB, Loops, digest, made, need, own_locks, run  # noqa: F401 (fixtures)
from places import PLUGINS
from waiting import eventually
from workloads import declared

pytestmark = pytest.mark.system
READS = declared("reader", rw="read", size="1M", bs="4k", direct=False)
KINDS = ("ext4", "xfs", "btrfs")


@pytest.fixture
def folder(tmp_path, made):
    """The target folder; at the end nothing is left in it, mounted from it, or attached to it."""
    folder = tmp_path / "target"
    folder.mkdir()
    yield folder
    assert traces(folder) == []


@pytest.fixture
def pair(tmp_path, made):
    """Two images of ext4, clones."""
    base = format_image("ext4", tmp_path / "base.img")
    return Image(base), Image(clone(base))


def device_of(point):
    return BlockDevice(mount_of(point).block_number)


def slot_of(point):
    """The slot that is mounted there."""
    return Path(device_of(point).backing_file)


def refused(folder, base, candidate):
    """Why two images are not taken, as a rule and in words: before anything is written, or at the latest when
    they are mounted.
    """
    with pytest.raises(TargetError) as caught, open_slots(folder, base, candidate):
        pass
    return caught.value.rule, str(caught.value)


# ------------------------------------------------------------ what may be done


@pytest.mark.parametrize("kind", KINDS)
def test_clones_change_places_and_stay_what_they_are(kind, folder, tmp_path):
    base = format_image(kind, tmp_path / "base.img")
    candidate = clone(base)
    before = digest(base), digest(candidate)
    with open_slots(folder, Image(base), Image(candidate)) as slots:
        assert [mount_of(point).file_system for point in slots.folders] == [kind, kind]
        assert [slot_of(point).name for point in slots.folders] == ["slot-0", "slot-1"]
        (slots.folders[0] / "one").write_text("1")
        assert not (slots.folders[1] / "one").exists()
        slots.swap()
        assert [slot_of(point).name for point in slots.folders] == ["slot-1", "slot-0"]
        assert not (slots.folders[0] / "one").exists()
        (slots.folders[1] / "two").write_text("2")
        assert not (slots.folders[0] / "two").exists()
    assert (digest(base), digest(candidate)) == before


def test_slots_are_equal_and_hold_nothing_but_data(folder, tmp_path, made):
    base = format_image("ext4", tmp_path / "base.img")
    candidate = format_image("btrfs", tmp_path / "candidate.img")
    with open_slots(folder, Image(base), Image(candidate)) as slots:
        files = [slot_of(point) for point in slots.folders]
        assert {file.stat().st_size for file in files} == {110 * MIB}
        assert slots.space == 220 * MIB
        assert [unwritten_bytes(file) for file in files] == [0, 0]
        for point in slots.folders:
            device = device_of(point)
            assert device.attribute("loop/dio") == device.attribute("loop/autoclear") == "1"
            mount = mount_of(point)
            assert {"nosuid", "nodev", "noexec"} <= set(mount.own_options.split(","))
            assert not [option for option in mount.options.split(",") if option.startswith("discard")]
        private = files[0].parent.parent
        assert private.parent == folder and private.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("start", [0, 3 * MIB, 5 * MIB + 63 * 512])
def test_a_slot_holds_the_file_system_in_its_place_and_zeros(tmp_path, start):
    image, slot = tmp_path / "image", tmp_path / "slot"
    data = os.urandom(2 * MIB + 512)
    image.write_bytes(os.urandom(start) + data + os.urandom(MIB))
    slot.write_bytes(os.urandom(MIB))
    opened = os.open(slot, os.O_RDWR | os.O_DIRECT)
    contents = FileSystem("ext4", "", start, len(data), 512)
    source = Source(Image(image), image, Stamp.of(image), contents)
    assert source.lead == start % MIB and source.room == 3 * MIB
    copy(source, opened, 7 * MIB)
    os.close(opened)
    assert slot.read_bytes() == bytes(source.lead) + data + bytes(7 * MIB - source.lead - len(data))
    assert not unwritten_bytes(slot)


def test_file_systems_are_targets_as_any_directory(folder, pair):
    with open_slots(folder, *pair) as slots:
        for point in slots.folders:
            profile = Device("slot", str(point))
            target = resolve(profile, Path("/"))
            needs = Needs(size=MIB, reads=True, direct=True, block=4096)
            assert refusals(target, needs, device=profile, consent=None) == []
            with open_target(target, device=profile) as place:
                assert place.data(needs).stat().st_size == MIB
            large = Needs(size=MIB * 64)
            assert [item.rule for item in refusals(target, large, device=profile, consent=None)] == ["space"]


def test_partitions_by_number_name_and_label(folder, tmp_path):
    one = format_image("ext4", tmp_path / "one.img", "-L", "old root")
    two = format_image("ext4", tmp_path / "two.img")
    disk = disk_image(tmp_path / "disk.img", one, two)
    for base, candidate in (("1", "two"), ("old root", "2")):
        with open_slots(folder, Image.parse(f"{disk}#{base}"), Image.parse(f"{disk}#{candidate}")) as slots:
            labels = [
                run("blkid", "-p", "-o", "value", "-s", "LABEL", f"/dev/{device_of(p).name}")
                for p in slots.folders
            ]
            assert labels == ["old root", ""]


def test_a_disk_of_4k_sectors_and_a_partition_that_is_badly_aligned(folder, tmp_path, made):
    with Loops(tmp_path) as loops:
        disk = loops.file(40 * MIB)
        device = loops.attach(disk, "--sector-size", "4096")
        write_table(device, "label: gpt", "start=263, size=6144, name=odd")
    run("mkfs.ext4", "-q", "-b", "4096", "-E", f"offset={263 * 4096}", disk, "24M")
    base = Image(disk, "odd")
    with open_slots(folder, base, Image(format_image("ext4", tmp_path / "raw.img"))) as slots:
        device = device_of(slots.folders[0])
        assert (device.logical_block, device.size) == (4096, 24 * MIB)
        assert device.attribute("loop/offset") == str(7 * 4096)
        assert device_of(slots.folders[1]).attribute("loop/offset") == "0"


def test_more_partitions_than_a_disk_has_are_not_all_looked_at(folder, tmp_path, pair):
    """Each took 20 ms, and all of them stood in one message."""
    disk = tmp_path / "disk.img"
    disk.touch()
    os.truncate(disk, 8 * MIB)
    lines = [f"start={2048 + number}, size=1" for number in range(150)]
    write_table(disk, "label: gpt", "table-length: 256", *lines)
    with pytest.raises(TargetError, match="has 150 partitions, and more than 128"):
        open_slots(folder, Image(disk, 1), pair[1]).__enter__()


def test_qcow2_is_made_raw(folder, tmp_path, pair):
    need("qemu-img")
    disk = disk_image(tmp_path / "disk.img", pair[0].path)
    packed = tmp_path / "disk.qcow2"
    run("qemu-img", "convert", "-c", "-O", "qcow2", disk, packed)
    before = digest(packed)
    with open_slots(folder, Image(packed, 1), pair[1]) as slots:
        assert [mount_of(point).file_system for point in slots.folders] == ["ext4", "ext4"]
        slots.swap()
        (slots.folders[0] / "file").write_text("1")
    assert digest(packed) == before
    assert refused(folder, Image(packed, 2), pair[1])[0] == "partition"
    assert "such as" in refused(folder, Image(packed), pair[1])[1]
    layer = tmp_path / "layer.qcow2"
    run("qemu-img", "create", "-f", "qcow2", "-b", disk, "-F", "raw", layer)
    assert refused(folder, Image(layer, 1), pair[1])[0] == "image-format"
    with packed.open("r+b") as stream:
        stream.truncate(100000)
    assert refused(folder, Image(packed, 1), pair[1])[0] in ("image-format", "partition")


def test_logical_partitions_of_mbr(folder, tmp_path, pair):
    disk = tmp_path / "disk.img"
    with disk.open("wb") as stream:
        stream.seek(2 * MIB)
        stream.write(pair[0].path.read_bytes())
        stream.truncate(30 * MIB)
    write_table(disk, "label: dos", "start=2048, type=5", "start=4096, size=49152, type=83")
    with open_slots(folder, Image(disk, 5), pair[1]) as slots:
        assert device_of(slots.folders[0]).size == 24 * MIB
    rule, text = refused(folder, Image(disk, 1), pair[1])
    assert rule == "partition" and "there are #5 (ext4, 24.00 MiB)" in text


def test_a_btrfs_whose_twin_is_mounted(folder, tmp_path, made, pair):
    base = format_image("btrfs", tmp_path / "btrfs.img")
    twin = made.mount(clone(base), "-o", "loop")
    with open_slots(folder, Image(base), pair[0]) as slots:
        (slots.folders[0] / "file").write_text("1")
        assert not (twin / "file").exists()


def test_a_disk_of_this_machine_is_no_part_of_a_copied_btrfs(folder, tmp_path, made, pair):
    """The kernel mounts all devices of one UUID together, and writes to each."""
    need("mkfs.btrfs")
    one, image = made.device(110 * MIB), made.file(110 * MIB)
    with Loops(tmp_path) as loops:
        other = loops.attach(image)
        run("mkfs.btrfs", "-q", "-d", "single", one, other)
        run("blockdev", "--flushbufs", other)
    run("btrfs", "device", "scan", one)
    before = digest(one)
    rule, text = refused(folder, Image(image), pair[0])
    assert rule == "file-system" and str(image) in text
    run("blockdev", "--flushbufs", one)
    assert digest(one) == before


@pytest.mark.parametrize("checksum", ["crc32c", "xxhash", "sha256", "blake2"])
def test_copies_of_a_btrfs_have_uuids_of_their_own(folder, tmp_path, checksum):
    base = format_image("btrfs", tmp_path / "base.img", "--csum", checksum)
    with open_slots(folder, Image(base), Image(clone(base))) as slots:
        tell = ("findmnt", "--noheadings", "--output", "UUID")
        before = {run(*tell, point) for point in slots.folders}
        slots.swap()
        after = {run(*tell, point) for point in slots.folders}
    assert (
        len(before | after) == 4
        and run("blkid", "-p", "-o", "value", "-s", "UUID", base) not in before | after
    )


def test_the_damaged_superblock_of_a_btrfs_is_not_made_right(folder, tmp_path, pair):
    base = format_image("btrfs", tmp_path / "btrfs.img")
    slot = os.open(base, os.O_RDWR)
    os.pwrite(slot, b"label", 65536 + 299)
    with pytest.raises(TargetError, match="superblock of the btrfs is damaged"):
        give_own_uuid(f"/proc/self/fd/{slot}", 0)
    os.close(slot)
    assert refused(folder, Image(base), pair[0])[0] in ("file-system", "not-an-image")


def test_the_log_of_a_btrfs_is_replayed_in_its_copies(folder, tmp_path, made):
    device, point = made.formatted("btrfs", 110 * MIB)
    os.sync()
    (point / "file").write_text("1")
    with (point / "file").open() as stream:
        os.fsync(stream.fileno())
    dirty = tmp_path / "dirty.img"
    dirty.write_bytes(device.read_bytes())
    with open_slots(folder, Image(dirty), Image(clone(dirty))) as slots:
        assert [(point / "file").read_text() for point in slots.folders] == ["1", "1"]


def test_the_journal_of_an_image_is_replayed_in_its_copy(folder, tmp_path, made, pair):
    device, point = made.formatted("ext4", 24 * MIB)
    (point / "file").write_text("1")
    with (point / "file").open() as stream:
        os.fsync(stream.fileno())
    dirty = tmp_path / "dirty.img"
    dirty.write_bytes(device.read_bytes())
    assert "needs_recovery" in run("dumpe2fs", "-h", dirty)
    before = digest(dirty)
    with open_slots(folder, Image(dirty), pair[0]) as slots:
        assert (slots.folders[0] / "file").read_text() == "1"
    assert digest(dirty) == before


# ------------------------------------------------------------ every kind of end


def test_an_end_in_the_middle_of_copying(folder, pair):
    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), open_slots(folder, *pair, interrupt):
        pass
    with pytest.raises(KeyboardInterrupt), open_slots(folder, *pair) as slots:
        slots.swap(interrupt)


def test_an_end_while_something_is_open_there(folder, pair, monkeypatch):
    monkeypatch.setattr(loop, "_PATIENCE", 0.2)
    told = []
    with open_slots(folder, *pair, notice=told.append) as slots:
        stream = (slots.folders[0] / "file").open("w")
        with pytest.raises(TargetError, match="still in use"):
            slots.swap()
    assert len(traces(folder)) == 1, "the loop device, until the file is closed"
    assert ["still in use; until then it stays" in line for line in told] == [True]
    stream.close()
    assert eventually(lambda: not traces(folder))


@pytest.mark.parametrize("kind", ["ext4", "btrfs"])
def test_who_keeps_what_was_mounted_in_a_namespace_is_named(folder, tmp_path, made, monkeypatch, kind):
    need("unshare", f"mkfs.{kind}")
    monkeypatch.setattr(loop, "_PATIENCE", 0.2)
    base = format_image(kind, tmp_path / "base.img")
    with open_slots(folder, Image(base), Image(format_image(kind, tmp_path / "other.img"))) as slots:
        argv = ["unshare", "--mount", "sh", "-c", "echo begun; exec cat"]
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as keeper:
            keeper.stdout.readline()
            with pytest.raises(TargetError, match=rf"are still in use: pid {keeper.pid} \(cat\)"):
                slots.swap()
        slots.swap()


KILLED = """
import os, signal, sys
from pathlib import Path
from iogate.host import unmounting
from iogate.target.images import Image, open_slots
folder, base, candidate = map(Path, sys.argv[2:])
if sys.argv[1] == "with its guard":
    unmounting._start = lambda *_: None
with open_slots(folder, Image(base), Image(candidate)) as slots:
    (slots.folders[0] / "file").write_text("1")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_run_left_is_removed_by_the_next_of_any_kind(folder, pair):
    argv = [sys.executable, "-c", KILLED, "with its guard", folder, *(image.path for image in pair)]
    for kind in ("slots", "directory"):
        done = subprocess.run(argv, env={**os.environ, "PYTHONPATH": PLUGINS}, check=False)
        assert done.returncode == -signal.SIGKILL
        assert len(traces(folder)) == 5, "two mounts, two loop devices, the folder"
        if kind == "slots":
            with open_slots(folder, *pair) as slots:
                assert not (slots.folders[0] / "file").exists()
                assert len(traces(folder)) == 5
        else:
            profile = Device("d", str(folder))
            with open_target(resolve(profile, Path("/")), device=profile):
                assert len(traces(folder)) == 1
        assert traces(folder) == []


def test_nothing_stays_mounted_when_a_run_is_killed(folder, pair):
    """A job's runner cleans the workspace before the next run, and cannot remove what is mounted there."""
    argv = [sys.executable, "-c", KILLED, "alone", folder, *(image.path for image in pair)]
    done = subprocess.run(argv, env={**os.environ, "PYTHONPATH": PLUGINS}, check=False)
    assert done.returncode == -signal.SIGKILL
    assert eventually(lambda: len(traces(folder)) == 1), traces(folder)
    (left,) = folder.iterdir()
    shutil.rmtree(left)


def test_what_others_mounted_stays(folder, pair, made, tmp_path):
    other = made.attach(pair[0].path, "--read-only")
    point = made.mount(other, "-o", "ro,noload")
    with open_slots(folder, *pair):
        pass
    assert mount_of(point).block_number == device_of(point).number
    assert BlockDevice(device_of(point).number).backing_file == str(pair[0].path)


# ------------------------------------------------------------ what is refused


def test_images_that_are_none(folder, pair, tmp_path):
    good = pair[0]
    empty, noise, zeros = (tmp_path / name for name in ("empty", "noise", "zeros"))
    empty.touch()
    noise.write_bytes(os.urandom(MIB))
    zeros.write_bytes(bytes(MIB))
    for bad in (empty, noise, zeros, tmp_path):
        for order in ((good, Image(bad)), (Image(bad), good)):
            assert [error.rule for error in slot_refusals(folder, *order)] == ["not-an-image"]
            assert refused(folder, *order)[0] == "not-an-image"


def test_partitions_that_are_not_there(folder, pair, tmp_path):
    other = format_image("ext4", tmp_path / "other.img", "-L", "one")
    disk = disk_image(tmp_path / "disk.img", *(image.path for image in pair), other)
    rule, text = refused(folder, Image(disk_image(tmp_path / "twice.img", other, other), "other"), pair[0])
    assert rule == "partition" and "2 partitions" in text
    boot, root = clone(pair[0].path), other.rename(tmp_path / "rootfs.img")
    run("tune2fs", "-L", "rootfs", boot)
    rule, text = refused(folder, Image(disk_image(tmp_path / "both.img", boot, root), "rootfs"), pair[0])
    assert rule == "partition" and "2 partitions" in text
    assert "#1 (ext4 'rootfs', partition 'clone-base', 24.00 MiB), " in text
    assert "#2 (ext4 'one', partition 'rootfs', 24.00 MiB)" in text
    for partition in (4, "four"):
        rule, text = refused(folder, Image(disk, partition), pair[0])
        assert rule == "partition" and f"no partitions of {disk} are called {partition}" in text
        assert "#1 (ext4 'base', 24.00 MiB), #2 (ext4 'clone-base', 24.00 MiB), #3" in text
    assert refused(folder, Image(disk), pair[0])[0] == "partition"
    rule, text = refused(folder, Image(pair[1].path, 1), pair[0])
    assert rule == "partition" and "has no partitions" in text
    with disk.open("r+b") as stream:
        stream.truncate(30 * MIB)
    assert refused(folder, Image(disk, 2), pair[0])[0] == "partition"


def test_one_image_twice(folder, pair, tmp_path):
    link = tmp_path / "link.img"
    link.hardlink_to(pair[0].path)
    rule, text = refused(folder, pair[0], Image(link))
    assert rule == "same-image" and "--io-against=same" in text
    disk = disk_image(tmp_path / "disk.img", pair[0].path)
    assert refused(folder, Image(disk, 1), Image(disk, "base"))[0] == "same-image"


def test_images_in_use(folder, pair, made):
    with pair[0].path.open("r+b"):
        rule, text = refused(folder, *pair)
        assert rule == "image-in-use" and "open for writing" in text
    device = made.attach(pair[1].path)
    rule, text = refused(folder, *pair)
    assert rule == "image-in-use" and f"losetup -d {device}" in text


def test_an_image_that_changes(folder, pair):
    with open_slots(folder, *pair) as slots:
        with pair[0].path.open("r+b") as stream:
            stream.write(b"x")
        with pytest.raises(TargetError) as caught:
            slots.swap()
    assert caught.value.rule == "changed"


def test_slots_that_do_not_fit(folder, pair):
    large = clone(pair[0].path)
    with large.open("r+b") as stream:
        stream.truncate(os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize * 2 // 3)
    rule, text = refused(folder, pair[0], Image(large))
    assert rule == "space" and "two slots for these images take" in text


def test_file_systems_that_are_damaged(folder, pair, tmp_path):
    cut = clone(pair[1].path)
    with cut.open("r+b") as stream:
        stream.truncate(12 * MIB)
    rule, text = refused(folder, pair[0], Image(cut))
    assert rule == "file-system" and str(cut) in text
    assert "bad geometry" in text, "the kernel's reason"
    assert traces(folder) == []


def test_a_file_system_that_this_kernel_does_not_know(folder, pair):
    with open_slots(folder, *pair) as slots, pytest.raises(TargetError) as caught:
        loop.mount(device_of(slots.folders[0]), slots.folders[1], "unheardfs", "")
    assert caught.value.rule == "file-system"
    assert "cannot mount unheardfs" in str(caught.value) and "ext4" in str(caught.value)


def test_an_image_cannot_ask_for_a_panic(folder, pair):
    run("tune2fs", "-e", "panic", "-o", "discard,journal_data", pair[0].path)
    with open_slots(folder, *pair) as slots:
        options, others = (
            Path(f"/proc/fs/ext4/{device_of(point).name}/options").read_text().split()
            for point in slots.folders
        )
        assert {"errors=remount-ro", "nodiscard", "data=journal"} <= set(options), "its other wishes are kept"
        assert "data=ordered" in others


def test_what_is_not_mounted(folder, pair, made, tmp_path):
    need("pvcreate", "mkswap")
    device = made.device(40 * MIB)
    volume = Path(BlockDevice(f"7:{device.name[4:]}").backing_file)
    run(
        "pvcreate",
        "--quiet",
        "--yes",
        "--config",
        'devices{filter=["a|/dev/loop|"] use_devicesfile=0}',
        device,
    )
    run("losetup", "--detach", device)
    swap = tmp_path / "swap.img"
    swap.write_bytes(bytes(MIB))
    swap.chmod(0o600)
    run("mkswap", swap)
    for file, words in ((volume, "part of LVM"), (swap, "swap space")):
        rule, text = refused(folder, pair[0], Image(file))
        assert rule == "file-system" and words in text and "ext4" in text


def test_a_journal_on_another_device_is_not_opened(folder, pair, made, tmp_path):
    journal = made.device(20 * MIB)
    run("mkfs.ext4", "-q", "-O", "journal_dev", journal)
    external = format_image("ext4", tmp_path / "external.img", "-b", "1024", "-J", f"device={journal}")
    rule, text = refused(folder, pair[0], Image(external))
    assert rule == "file-system" and "on another device" in text


def test_a_device_as_folder_and_no_root(pair, made, monkeypatch):
    device = made.device(MIB)
    assert [error.rule for error in slot_refusals(device, *pair)] == ["not-a-directory"]
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    (error,) = slot_refusals(device.parent, *pair)
    assert error.rule == "no-root" and "two directories" in str(error)


# ------------------------------------------------------------ as a run has them


class Heard:
    """Who is told of a run; `notice` does what it was made with."""

    def __init__(self, notice=lambda: None):
        self.said = []
        self._notice = notice

    def tick(self, elapsed, bandwidth):
        pass

    def laying_out(self, done, total):
        pass

    def notice(self, text):
        self.said.append(text)
        self._notice()


def bench(folder, pair, heard, wait=0.0, **limits):
    """The bench of a run that holds two images against each other."""
    base, candidate = (str(image) for image in pair)
    settings = Settings(root=folder.parent, target=candidate, against=base, wait=wait)
    return LocalBench(settings, Device("d", str(folder), **limits), folder.parent / "raw", heard)


def test_a_folder_that_another_run_has_is_waited_for(folder, pair):
    descriptor = os.open(folder, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    with pytest.raises(TargetError, match="in use by another run"):
        bench(folder, pair, Heard()).open()
    heard = Heard(lambda: fcntl.flock(descriptor, fcntl.LOCK_UN))
    waiting = bench(folder, pair, heard, wait=60.0)
    waiting.open()
    waiting.close()
    assert len(heard.said) == 1 and "waiting for at most" in heard.said[0]
    os.close(descriptor)


def test_slots_count_as_wear(folder, pair):
    with pytest.raises(TargetError, match=r"may be written 24.00 MiB a session") as caught:
        bench(folder, pair, Heard(), wear={"session": 24 * MIB}).open()
    assert caught.value.rule == "wear"
    assert traces(folder) == []
    enough = bench(folder, pair, Heard(), wear={"session": 60 * MIB})
    enough.open()
    with pytest.raises(TargetError, match=r"48.00 MiB are written and 48.00 MiB more would be too much"):
        enough.alternate("id", Pair((READS, READS), "images", 1, True), 1, ())
    enough.close()


def test_a_root_directory_that_is_damaged(folder, pair):
    damaged = clone(pair[1].path)
    block = int(run("debugfs", "-R", "blocks <2>", damaged).split()[0])
    size = int(re.search(r"Block size: +(\d+)", run("dumpe2fs", "-h", damaged))[1])
    with damaged.open("r+b") as stream:
        stream.seek(block * size)
        stream.write(b"\xa5" * size)
    with open_slots(folder, pair[0], Image(damaged)) as slots:
        place = Device("d", str(slots.folders[1]))
        with (
            pytest.raises(TargetError, match=r"cannot list what is in .*/candidate: "),
            open_target(resolve(place, Path("/")), device=place),
        ):
            pass


def test_an_image_that_is_missing_is_told_so(folder, pair):
    with pytest.raises(TargetError, match=r"cannot find the image .*lost.img: No such file") as caught:
        bench(folder, (pair[0], folder.parent / "lost.img"), Heard())
    assert caught.value.rule == "missing"
