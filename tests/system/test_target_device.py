"""Writing to block devices: only where two agree, never where something lives. On real loop devices.

After every refusal the device is byte for byte what it was.
"""

# ruff: noqa: F811 (fixtures are imported, and named by parameters)
import os
import random
import stat
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import loops
from iogate.errors import TargetError
from iogate.host.blockdevice import BlockDevice
from iogate.host.mounts import block_number, mount_of
from iogate.model import Device, Needs, Reads, Region
from iogate.target import open_target, refusals, resolve, signatures
from loops import MIB, digest, holder, made, need, own_locks, partition, run  # noqa: F401 (fixtures)

pytestmark = pytest.mark.system
READ = Needs(size=MIB, reads=True, direct=True, block=4096)
WRITE = Needs(size=MIB, reads=True, writes=True, direct=True, block=4096)


def profile(path):
    """A profile that names the loop device by its backing file."""
    number = block_number(Path(path))
    file = BlockDevice(number).backing_file if number else ""
    return Device("d", str(path), target_id={"backing_file": file} if file else {})


def refused(path, device=None, consent="same", needs=WRITE, size=None):
    """The rules that refuse to write, each with its message; the device is proved unchanged, or the first
    bytes of one that others write to.
    """
    device = device or profile(path)
    target = resolve(device, Path("/"))
    before = digest(target.path, size)
    consent = str(path) if consent == "same" else consent
    found = {error.rule: str(error) for error in refusals(target, needs, device=device, consent=consent)}
    if found:
        with (
            pytest.raises(TargetError) as caught,
            open_target(target, device=device, consent=consent) as place,
        ):
            place.data(needs)
        assert caught.value.rule in found
    assert digest(target.path, size) == before
    return found


def use(path, consent=None):
    device = profile(path)
    return open_target(resolve(device, Path("/")), device=device, consent=consent and str(consent))


def write(path, text):
    """Write as an engine does: another process, without a claim of its own."""
    script = "import os, sys; os.pwrite(os.open(sys.argv[1], os.O_RDWR | os.O_SYNC), sys.argv[2].encode(), 0)"
    subprocess.run([sys.executable, "-c", script, str(path), text], check=True)


# ------------------------------------------------------------ what may be done


def test_a_spare_device_that_both_name_may_be_written(made):
    device = made.device()
    assert refused(device) == {}
    with use(device, consent=device) as place:
        assert os.path.realpath(place.data(WRITE)) == str(device) and place.folder is None
        write(device, "iogate was here")
        assert os.path.realpath(place.data(READ)) == str(device)
        assert os.path.realpath(place.data(WRITE)) == str(device)
    assert device.read_bytes()[:15] == b"iogate was here"
    assert refused(device) == {}


def test_what_an_earlier_run_wrote_is_no_signature(made):
    device = made.device(16 * MIB)
    with use(device, consent=device) as place, place.data(WRITE).open("r+b") as stream:
        stream.write(random.Random(1).randbytes(16 * MIB))
    assert refused(device) == {}


def test_what_a_suite_wrote_by_a_pattern_of_its_own_is_told_as_what_it_looks_like(made):
    """LUKS, whose UUID is no text then, as wipefs tells it."""
    need("wipefs")
    device = made.device(16 * MIB)
    device.write_bytes(bytes.fromhex("4c554b53babe0001") * (MIB // 8))
    assert "crypto_LUKS" in refused(device)["signature"]


def test_reading_is_free_even_when_mounted(made):
    need("mkfs.ext4")
    device, _ = made.formatted("ext4", 64 * MIB)
    named = Device("d", str(device))
    assert refusals(resolve(named, Path("/")), READ, device=named, consent=None) == []
    with use(device) as place:
        assert os.path.realpath(place.data(READ)) == str(device)


def test_target_tells_what_it_is(made):
    device = made.device(48 * MIB, "--sector-size", "4096")
    target = resolve(profile(device), Path("/"))
    assert (target.kind, target.size, target.block) == ("device", 48 * MIB, 4096)
    assert target.number == block_number(device) and target.file_system is None


def test_blocks_that_direct_io_does_not_take(made):
    device = made.device(48 * MIB, "--sector-size", "4096")
    needs = Needs(size=MIB, reads=True, direct=True, block=512)
    assert "multiples of 4096 bytes" in refused(device, needs=needs)["alignment"]


def test_a_device_too_small(made):
    assert "space" in refused(made.device(), needs=Needs(size=65 * MIB, writes=True))


def test_a_device_without_a_medium(made):
    assert set(refused(made.empty())) >= {"no-medium"}


def share(place, size):
    """The share without data of the beginning of a device."""
    return place.blank({"": (Region(0, size),)})[""]


def test_what_was_never_written_is_seen_as_it_is_in_each_repetition(made):
    device = made.device(16 * MIB)  # a sparse file
    with use(device, consent=device) as place:
        data = place.data(READ)
        assert share(place, MIB) == 1
        with data.open("r+b") as stream:
            stream.write(random.Random(1).randbytes(2 * MIB))
        assert share(place, MIB) == 1  # each block is looked at once
        place.data(READ)  # of the next repetition: a fixture may have flashed it
        assert share(place, MIB) == 0
        assert share(place, 16 * MIB) > 0.8
        place.data(Needs(size=2 * MIB, reads=True, writes=True))
        place.look_ahead([Reads((Region(0, 2 * MIB),))])
        with data.open("r+b") as stream:
            stream.write(bytes(MIB))
        assert share(place, 2 * MIB) == 0  # as it was before the workload
        place.data(READ)
        assert share(place, 2 * MIB) == 0.5


def test_zeros_on_the_disk_of_a_loop_device_are_told_from_holes(made):
    """The same image, unpacked so or so: 12% lost passed where the baseline had read its zeros."""
    device = made.device(16 * MIB)
    with use(device, consent=device) as place:
        place.data(WRITE)
        for written, holes in ((random.Random(1).randbytes(8 * MIB), 0.5), (bytes(8 * MIB), 0.0)):
            with device.open("r+b") as stream:
                stream.seek(0 if holes else 8 * MIB)
                stream.write(written)
                os.fsync(stream.fileno())
            place.data(WRITE)
            found = place.blank({"": (Region(0, 16 * MIB),)})
            assert found[""] == pytest.approx(0.5, abs=0.02)
            assert found["backing"] == pytest.approx(holes, abs=0.02)


def test_what_leads_the_engine_astray_on_a_device_is_refused(made):
    told = refused(made.device(), needs=Needs(size=MIB, reads=True, astray="an offset in per cent"))
    assert "all of which an offset in per cent is about" in told["astray"]


# ------------------------------------------------------------ the two who agree


def test_without_consent_nothing_is_written(made):
    device, other = made.device(), made.device()
    assert set(refused(device, consent=None)) == {"no-consent"}
    assert str(other) in refused(device, consent=str(other))["no-consent"]
    assert set(refused(device, consent="/dev/null")) == {"no-consent"}


def test_consent_holds_through_a_symbolic_link(made, tmp_path):
    device = made.device()
    (tmp_path / "link").symlink_to(device)
    assert refused(device, consent=str(tmp_path / "link")) == {}
    assert refused(tmp_path / "link", consent=str(device)) == {}


def test_a_profile_that_does_not_name_it(made):
    device, other = made.device(), made.device()
    assert set(refused(device, Device("d", str(device)))) == {"not-named"}
    assert set(refused(device, Device("d", str(device), target_id={"backing_file": "*"}))) == {"not-named"}
    found = refused(device, Device("d", str(device), target_id=profile(other).target_id))
    assert BlockDevice(block_number(other)).backing_file in found["not-named"]


def test_a_loop_device_that_was_attached_to_another_file_is_neither_written_nor_read(made):
    """The name /dev/loopN stays, and leads to other data, as that of a card reader does."""
    device = made.empty()
    run("losetup", device, made.file())
    named = profile(device)
    target = resolve(named, Path("/"))
    run("losetup", "--detach", device)
    run("losetup", device, made.file())
    assert [error.rule for error in refusals(target, WRITE, device=named, consent=str(device))] == [
        "not-named"
    ]
    (told,) = refusals(target, READ, device=named, consent=None)
    assert told.rule == "exchanged"
    assert named.target_id["backing_file"] in str(told)


def test_what_the_command_line_names_may_be_read_whatever_the_profile_names(made):
    device, other = made.device(), made.device()
    named = profile(device)
    assert refusals(resolve(named, Path("/"), str(other)), READ, device=named, consent=None) == []


@pytest.mark.parametrize("ids", [{}, {"serial": "*"}, {"by_id": "usb-Dock*"}])
def test_what_a_profile_does_not_name_may_be_read(made, ids):
    named = Device("d", str(made.device()), target_id=ids)
    assert refusals(resolve(named, Path("/")), READ, device=named, consent=None) == []


# ------------------------------------------------------------ refused in any case


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs"])
def test_a_mounted_file_system(made, kind):
    need(f"mkfs.{kind}")
    device, point = made.formatted(kind, 320 * MIB)
    made.frozen(point)
    found = refused(device)
    assert str(point) in found["mounted"]
    assert kind in found["signature"]


def test_mounted_seen_through_a_symbolic_link_and_another_node(made, tmp_path):
    need("mkfs.ext4")
    device, point = made.formatted("ext4", 64 * MIB)
    made.frozen(point)
    (tmp_path / "link").symlink_to(device)
    os.mknod(tmp_path / "node", 0o600 | 0o060000, os.stat(device).st_rdev)
    assert "mounted" in refused(tmp_path / "link")
    assert "mounted" in refused(tmp_path / "node")


def test_a_mounted_partition_protects_the_disk_and_not_its_neighbour(made):
    need("mkfs.ext4")
    disk = made.device(128 * MIB)
    first, second = partition(disk, 1, 2048, 65536), partition(disk, 2, 67584, 65536)
    loops.format_device("ext4", first)
    made.frozen(made.mount(first))
    found = refused(disk)
    assert first.name in found["mounted"] and first.name in found["partitioned"]
    assert "mounted" in refused(first)
    assert set(refused(second)) == {"not-named"}  # a backing file names the whole device only


def test_a_file_system_that_is_not_mounted(made):
    need("mkfs.ext4")
    device = made.device()
    loops.format_device("ext4", device)
    assert "ext4" in refused(device)["signature"]


@pytest.mark.parametrize("label", ["gpt", "dos"])
def test_a_partition_table(made, label):
    need("sfdisk")
    device = made.device()
    loops.status("sfdisk", "--quiet", device, text=f"label: {label}\n,32M\n")
    assert label in refused(device)["signature"].lower()


def test_a_backup_partition_table_at_the_end(made):
    need("sfdisk")
    device = made.device()
    loops.status("sfdisk", "--quiet", device, text="label: gpt\n,32M\n")
    with device.open("r+b") as stream:
        stream.write(bytes(MIB))
    assert "gpt" in refused(device)["signature"]


def raid_superblock():
    """md's version 1.2 superblock, 4 KiB from the start (linux/raid/md_p.h)."""
    block = bytearray(256)
    struct.pack_into("<II", block, 0, 0xA92B4EFC, 1)
    block[16:32] = bytes(range(16))
    struct.pack_into("<Q", block, 144, 8)
    struct.pack_into("<I", block, 220, 0)
    total = sum(struct.unpack("<64I", bytes(block)))
    struct.pack_into("<I", block, 216, ((total & 0xFFFFFFFF) + (total >> 32)) & 0xFFFFFFFF)
    return bytes(block)


def test_data_below_a_loop_device_is_seen_through_it(made):
    """It begins behind the signature of what it is made of: the file system there was written over."""
    lower = made.device()
    run("mkfs.ext4", "-q", lower)
    upper = made.attach(lower, "--offset", str(MIB))
    told = refused(upper)["signature"]
    assert "ext4" in told and str(lower) in told and "wipefs" not in told  # of what others may need
    third = made.attach(upper, "--offset", str(MIB))
    assert "ext4" in refused(third)["signature"]
    run("wipefs", "--all", lower)
    assert "signature" not in refused(upper)


@pytest.mark.parametrize(
    ("name", "offset", "data"),
    [
        ("linux_raid_member", 4096, raid_superblock()),
        ("ceph_bluestore", 0, b"bluestore block device\n"),
        ("crypto_LUKS", 0, b"LUKS\xba\xbe\x00\x01" + bytes(504)),
        ("zfs_member", 128 * 1024, (struct.pack("<QQQ", 0x00BAB10C, 5000, 1) + bytes(1000)) * 32),
    ],
)
def test_members_of_sets_are_known_by_their_signature(made, name, offset, data):
    device = made.device()
    with device.open("r+b") as stream:
        stream.seek(offset)
        stream.write(data)
    assert name in refused(device)["signature"]


def test_a_physical_volume_of_lvm(made):
    need("pvcreate")
    device = made.device()
    run("pvcreate", "--yes", "--quiet", device)
    assert "LVM2_member" in refused(device)["signature"]


def test_a_loop_device_whose_file_was_removed_has_lost_its_name(made):
    file = made.file()
    device = made.attach(file)
    named = profile(device)
    file.unlink()
    made.file().rename(file)
    assert set(refused(device, named)) == {"not-named"}


def test_swap_in_use(made):
    need("mkswap", "swapon")
    device = made.device()
    run("mkswap", device)
    assert "swap" in refused(device)["signature"]
    run("swapon", device)
    made.callback(run, "swapoff", device)
    assert "swap space in use" in refused(device, size=4096)["swap"]  # the kernel may write behind its header


def test_a_write_protected_device(made):
    assert set(refused(made.device(64 * MIB, "--read-only"))) == {"read-only"}


def test_the_second_device_of_a_mounted_btrfs(made):
    need("mkfs.btrfs")
    first, second = made.device(160 * MIB), made.device(160 * MIB)
    run("mkfs.btrfs", "-q", "-f", first, second)
    run("btrfs", "device", "scan", first, second, check=False)
    made.frozen(made.mount(first, "-t", "btrfs"))
    found = refused(second)
    assert "btrfs" in found["member"] and "btrfs" in found["signature"]


def test_two_loop_devices_on_one_file(made):
    need("mkfs.ext4")
    file = made.file(128 * MIB)
    whole, inner = made.attach(file), made.attach(file, "--offset", str(64 * MIB))
    loops.format_device("ext4", inner)
    point = made.frozen(made.mount(inner))
    found = refused(whole)
    assert f"{inner.name} is mounted at {point}" in found["mounted"]
    assert "signature" not in found  # its own edges are empty: the twin alone tells


@pytest.mark.parametrize("way", ["hard link", "bind mount"])
def test_two_loop_devices_on_one_file_by_two_names(made, way):
    """As a container, a chroot, or a second path to a disk has it."""
    need("mkfs.ext4")
    file = made.file(128 * MIB)
    if way == "hard link":
        other = file.with_name("another.img")
        other.hardlink_to(file)
    else:
        other = made.mount(file.parent, "--bind") / file.name
    whole, inner = made.attach(file), made.attach(other, "--offset", str(64 * MIB))
    loops.format_device("ext4", inner)
    point = made.frozen(made.mount(inner))
    found = refused(whole)
    assert f"{inner.name} is mounted at {point}" in found["mounted"] and "not-named" in found


def test_a_loop_device_on_a_block_device_whose_node_is_gone(made, tmp_path):
    need("mkfs.ext4")
    whole, node = made.device(128 * MIB), tmp_path / "node"
    os.mknod(node, stat.S_IFBLK | 0o600, whole.stat().st_rdev)
    inner = made.attach(node, "--offset", str(64 * MIB))
    node.unlink()
    loops.format_device("ext4", inner)
    point = made.frozen(made.mount(inner))
    assert f"{inner.name} is mounted at {point}" in refused(whole)["mounted"]


def test_a_partition_below_a_loop_device_on_its_disk(made):
    """As whoever mounts a file system by its offset on the disk has it: nothing holds the partition."""
    need("mkfs.ext4")
    disk = made.device(128 * MIB)
    inner = made.attach(disk, "--offset", str(4 * MIB))
    first = partition(disk, 1, 2048, 200_000)
    loops.format_device("ext4", inner)
    point = made.frozen(made.mount(inner))
    assert f"{inner.name} is mounted at {point}" in refused(first)["mounted"]


def test_a_loop_device_on_a_mounted_block_device(made):
    need("mkfs.ext4")
    device, point = made.formatted("ext4", 64 * MIB)
    made.frozen(point)
    assert str(point) in refused(made.attach(device, "--offset", str(MIB)))["mounted"]


def test_opened_exclusively_by_another(made):
    device = made.device()
    descriptor = os.open(device, os.O_RDONLY | os.O_EXCL)
    try:
        assert set(refused(device)) == {"busy"}
    finally:
        os.close(descriptor)


@pytest.mark.parametrize(
    "has",
    ["f = open(sys.argv[1], 'rb')", "m = mmap.mmap(os.open(sys.argv[1], 2), 4096); os.closerange(3, 99)"],
    ids=["open", "mapped"],
)
def test_open_in_another_program(made, has):
    """As a virtual machine has it: without any claim. What is mapped stays so when it is closed."""
    device = made.device()
    script = f"import mmap, os, sys; {has}; print('open', flush=True); sys.stdin.read()"
    argv = [sys.executable, "-c", script, str(device)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        assert f"pid {other.pid}" in refused(device)["open"]
        other.stdin.close()
    assert refused(device) == {}


def test_a_disk_of_which_it_is_a_partition_open_in_another_program(made, tmp_path, monkeypatch):
    """As a virtual machine has it that was given all of the disk."""
    disk = made.device()
    part = partition(disk)
    (tmp_path / "disk-part1").symlink_to(part)
    monkeypatch.setattr("iogate.target.destroy.BY_ID", tmp_path)
    named = Device("d", str(part), target_id={"by_id": "disk-part1"})
    assert refused(part, named) == {}
    with disk.open("rb") as stream, subprocess.Popen(["sleep", "100"], stdin=stream) as other:
        assert f"pid {other.pid}" in refused(part, named)["open"]
        other.kill()


def test_the_node_of_a_chroot_open_in_another_program(made, tmp_path):
    device = made.device()
    (tmp_path / "dev").mkdir()
    made.mount("/dev", "--bind", point=tmp_path / "dev")
    with (
        (tmp_path / "dev" / device.name).open("rb") as stream,
        subprocess.Popen(["sleep", "100"], stdin=stream) as other,
    ):
        assert f"pid {other.pid}" in refused(device)["open"]
        other.kill()


def test_the_file_of_a_loop_device_open_in_another_program(made):
    """As a virtual machine has it that was given the file."""
    device = made.device()
    script = "import sys; f = open(sys.argv[1], 'r+b'); print('open', flush=True); sys.stdin.read()"
    file = BlockDevice(block_number(device)).backing_file
    with subprocess.Popen(
        [sys.executable, "-c", script, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        other.stdout.readline()
        assert f"its file {file} is open in pid {other.pid}" in refused(device)["open"]
        other.stdin.close()
    with open(file, "r+b"):  # this process has made the device: one that it begins may write to it
        assert refused(device) == {}
        own = (
            "import sys; from pathlib import Path; from iogate.target.destroy import _openers_of_file\n"
            "print(_openers_of_file(sys.argv[1], Path('/proc')))"
        )
        assert run(sys.executable, "-c", own, file) == "[]"


def test_what_lies_on_it_is_mounted_in_a_container(made):
    """A loop device does not claim what it is made of, and a mount elsewhere is not seen from here."""
    need("mkfs.ext4", "unshare")
    device = made.device(128 * MIB)
    inner = made.attach(device, "--offset", str(64 * MIB))
    loops.format_device("ext4", inner)
    point = made.folder / "within"
    point.mkdir()
    mount = f"mount {inner} {point} && echo mounted && read _"
    argv = ["unshare", "--mount", "--propagation", "private", "sh", "-c", mount]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as container:
        assert container.stdout.readline() == b"mounted\n"
        assert f"{inner.name}, which would be damaged" in refused(device)["busy"]
        container.stdin.close()


def test_a_container_that_sees_no_programs_of_others_says_so(made):
    need("unshare")
    device = made.device()
    script = f"""
import sys
sys.path[:0] = {[*sys.path, str(Path(__file__).parent)]!r}
from test_target_device import WRITE, use
with use({str(device)!r}, {str(device)!r}) as place:
    place.data(WRITE)
"""
    inside = run("unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", script)
    assert f"{device} is written to, and what programs outside of this container have open" in inside


def test_the_disk_of_the_running_system_is_never_written():
    mount = mount_of(Path("/"))
    if not mount or not mount.block_number:
        pytest.skip("the root file system is on no block device that can be seen")
    [disk, *_] = BlockDevice(mount.block_number).disks()
    path = Path("/dev") / disk.name
    if not path.exists():
        pytest.skip(f"{path} does not exist here")
    named = Device("d", str(path), target_id={"serial": (disk.serials or ["x"])[0]})
    found = {e.rule for e in refusals(resolve(named, Path("/")), WRITE, device=named, consent=str(path))}
    assert {"root-disk", "mounted"} <= found


# ------------------------------------------------------------ without wipefs


@pytest.mark.parametrize("where", [0, 64 * MIB - 512])
def test_without_wipefs_only_zeros_count_as_empty(made, monkeypatch, where):
    device = made.device()
    monkeypatch.setattr(signatures.shutil, "which", lambda *given, **more: None)
    assert refused(device) == {}
    with device.open("r+b") as stream:
        stream.seek(where)
        stream.write(b"x")
    assert "unknown data" in refused(device)["signature"]


# ------------------------------------------------------------ until the last moment


def test_while_it_is_claimed_nobody_can_mount_it(made):
    need("mkfs.ext4")
    device = made.device()
    with use(device, consent=device) as place:
        place.data(WRITE)
        copy = made.file()
        run("mkfs.ext4", "-q", "-F", copy)
        with device.open("r+b", buffering=0) as stream:
            stream.write(copy.read_bytes())
        mounted = subprocess.run(["mount", device, made.folder], capture_output=True, text=True, check=False)
        assert mounted.returncode and "busy" in mounted.stderr
        swapped = subprocess.run(["swapon", device], capture_output=True, text=True, check=False)
        assert swapped.returncode
        with pytest.raises(TargetError) as caught:  # now that it holds a file system
            place.data(WRITE)
        assert caught.value.rule == "signature"


def test_what_came_to_be_since_the_plan_is_found(made):
    need("mkfs.ext4")
    device = made.device()
    assert refused(device) == {}
    with use(device, consent=device) as place:
        assert os.path.realpath(place.data(READ)) == str(device)
        loops.format_device("ext4", device)
        made.frozen(made.mount(device))
        before = digest(device)
        with pytest.raises(TargetError) as caught:
            place.data(WRITE)
        assert caught.value.rule == "mounted" and digest(device) == before


def test_the_claim_ends_with_the_run(made):
    device = made.device()
    with use(device, consent=device) as place:
        place.data(WRITE)
    os.close(os.open(device, os.O_RDONLY | os.O_EXCL))


# ------------------------------------------------------------ one run at a time


def locked(path, process):
    with pytest.raises(TargetError) as caught, use(path):
        pass
    assert caught.value.rule == "locked"
    assert f"pid {process.pid}" in str(caught.value)


def test_a_device_and_its_partition_at_once(made, holder):
    disk = made.device()
    part = partition(disk)
    process = holder(disk)
    locked(part, process)
    locked(disk, process)


def test_a_device_and_a_directory_on_it_at_once(made, holder):
    need("mkfs.ext4")
    device, point = made.formatted("ext4", 64 * MIB)
    locked(device, holder(point))


def test_two_directories_of_one_file_system_at_once(made, holder):
    need("mkfs.ext4")
    _, point = made.formatted("ext4", 64 * MIB)
    for name in ("a", "b"):
        (point / name).mkdir()
    locked(point / "b", holder(point / "a"))


def test_two_devices_at_once_are_no_conflict(made, holder):
    holder(made.device())
    with use(made.device()):
        pass


def test_a_node_that_is_replaced_leads_no_write_elsewhere(made, tmp_path):
    """Whoever may write to the directory of a node can put a link to another device in its place."""
    device, other = made.device(), made.device()
    node, untouched = tmp_path / "node", digest(other)
    os.mknod(node, 0o600 | stat.S_IFBLK, os.stat(device).st_rdev)
    with use(node, consent=node) as place:
        data = place.data(WRITE)
        node.unlink()
        node.symlink_to(other)
        write(data, "of an engine")
        assert place.readable(f"filename={data}") == f"filename={node}"
        with pytest.raises(TargetError, match="is not what it was when the run began"):
            place.data(WRITE)
    assert digest(other) == untouched
    assert device.read_bytes().startswith(b"of an engine")
