"""When a block device may be written to, told from trees like those of /sys and /proc.

What needs a device mapper, md or a real disk is shown here; tests/system has the rest on loop devices.
"""

import pytest

from iogate.host.blockdevice import BlockDevice
from iogate.model import Device
from iogate.target import destroy
from iogate.target.destroy import exchanged, refusals, stable_ids

ROOT_LINE = "27 1 8:2 / / rw - ext4 /dev/root rw\n"
SERIAL = {"serial": "S4EWNX0R123456"}


class Machine:
    """A machine with a system disk sda (8:0) and a spare disk sdb (8:16)."""

    def __init__(self, root):
        self.sys, self.proc = root / "sys", root / "proc"
        for folder in ("sys/dev/block", "sys/block", "proc/self/fdinfo"):
            (root / folder).mkdir(parents=True)
        for descriptor in range(256):  # whatever is opened is on the mount 27
            (self.proc / f"self/fdinfo/{descriptor}").write_text("mnt_id:\t27\n")
        self.mounts(ROOT_LINE)
        self.add("devices/sda", "8:0", serial="SYSTEM")
        self.add("devices/sda/sda2", "8:2", partition="2")
        self.add("devices/sda/sda3", "8:3", partition="3")
        self.spare = self.add("devices/sdb", "8:16", serial="S4EWNX0R123456")
        self.path = root / "sdb"
        self.path.write_bytes(bytes(2**20))

    def add(self, name, number, **attributes):
        folder = self.sys / name
        for inner in ("holders", "slaves"):
            (folder / inner).mkdir(parents=True)
        for attribute, text in {"dev": f"{number}\n", "size": "2048", "ro": "0\n", **attributes}.items():
            (folder / attribute).write_text(text)
        (self.sys / "dev/block" / number).symlink_to(folder)
        if "partition" not in attributes:
            (self.sys / "block" / folder.name).symlink_to(folder)
        return folder

    def hold(self, lower, upper):
        (lower / "holders" / upper.name).symlink_to(upper)
        (upper / "slaves" / lower.name).symlink_to(lower)

    def mounts(self, text):
        (self.proc / "self/mountinfo").write_text(text)

    def refused(self, number="8:16", target_id=SERIAL, consent="same", target="/dev/sdb"):
        """The rules that refuse, each with its message."""
        profile = Device("d", target, target_id=target_id)
        device = BlockDevice(number, self.sys)
        consent = str(self.path) if consent == "same" else consent
        return {error.rule: str(error) for error in refusals(device, self.path, profile, consent, self.proc)}


@pytest.fixture
def machine(tmp_path, monkeypatch):
    machine = Machine(tmp_path)
    known = {str(machine.path): "8:16", "/dev/sdb": "8:16", "/dev/sdc": "8:32"}
    monkeypatch.setattr(destroy, "block_number", lambda path: known.get(str(path)))
    return machine


def test_a_spare_disk_that_both_name_may_be_written(machine):
    assert machine.refused() == {}


def test_the_consent_must_name_this_very_device(machine):
    assert "--io-destroy=" in machine.refused(consent=None)["no-consent"]
    assert "/dev/sdc, which is 8:32" in machine.refused(consent="/dev/sdc")["no-consent"]
    assert "no block device" in machine.refused(consent="/dev/nothing")["no-consent"]
    assert "no-consent" in machine.refused(consent="")
    assert "no-consent" in machine.refused(consent="sdb")


@pytest.mark.parametrize(
    "target_id",
    [{}, {"serial": "*"}, {"serial": "S4EWNX0R12345?"}, {"serial": "[S]4EWNX0R123456"},
     {"serial": "SYSTEM"}, {"serial": ""}, {"by_id": "ata-none"},
     {"by_id": "S4EWNX0R123456"}],
)  # fmt: skip
def test_the_profile_must_name_it_and_a_pattern_is_no_name(machine, target_id):
    assert "serial: S4EWNX0R123456" in machine.refused(target_id=target_id)["not-named"]


def test_the_profile_names_it_by_its_serial_number_or_world_wide_name(machine):
    assert machine.refused(target_id={"serial": "S4EWNX0R123456"}) == {}


def test_a_serial_number_of_two_disks_names_neither(machine):
    machine.add("devices/sdc", "8:32", serial="S4EWNX0R123456")
    assert set(machine.refused()) == {"not-named"}


def test_a_serial_number_names_a_disk_but_none_of_its_partitions(machine):
    machine.add("devices/sdb/sdb1", "8:17", partition="1")
    assert stable_ids(BlockDevice("8:17", machine.sys)) == {}
    assert "not-named" in machine.refused("8:17")


def test_by_id_names_what_the_link_leads_to(machine, tmp_path, monkeypatch):
    links = tmp_path / "by-id"
    links.mkdir()
    for name in ("ata-SPARE", "ata-SYSTEM"):
        (links / name).write_text("")
    monkeypatch.setattr(destroy, "BY_ID", links)
    known = {str(links / "ata-SPARE"): "8:16", str(links / "ata-SYSTEM"): "8:0", str(machine.path): "8:16"}
    monkeypatch.setattr(destroy, "block_number", lambda path: known.get(str(path)))
    assert machine.refused(target_id={"by_id": "ata-SPARE"}) == {}
    assert machine.refused(target_id={"by_id": f"{links}/ata-SPARE"}) == {}
    assert machine.refused(target_id={}, target=f"{links}/ata-SPARE") == {}
    assert (
        "another device: by_id ata-SYSTEM" in machine.refused(target_id={"by_id": "ata-SYSTEM"})["not-named"]
    )
    assert stable_ids(BlockDevice("8:16", machine.sys), links)["by_id"] == ["ata-SPARE"]


@pytest.fixture
def dock(machine, tmp_path, monkeypatch):
    """The disk sdb, with its partition sdb1, is in a dock whose id is the same whatever disk is in it."""
    machine.add("devices/sdb/sdb1", "8:17", partition="1")
    monkeypatch.setattr(destroy, "BY_ID", tmp_path / "by-id")
    dock = tmp_path / "by-id/usb-Dock_0123-0:0"
    known = {str(dock): "8:16", f"{dock}-part1": "8:17", str(machine.path): "8:16"}
    monkeypatch.setattr(destroy, "block_number", lambda path: known.get(str(path)))
    return dock


@pytest.mark.parametrize("by", ["target_id", "target"])
def test_all_that_the_profile_says_must_lead_to_the_device(machine, dock, by):
    """Somebody has changed the disk in the dock."""
    target, by_id = (str(dock), {}) if by == "target" else ("/dev/sdb", {"by_id": dock.name})
    assert "not-named" not in machine.refused(target=target, target_id={**by_id, **SERIAL})
    for serial in ("ANOTHER", "S4EW*"):
        why = machine.refused(target=target, target_id={**by_id, "serial": serial})["not-named"]
        assert f"but by serial {serial} it names another device" in why
        assert "serial: S4EWNX0R123456" in why


def test_a_disk_that_was_changed_is_not_read_either(machine, dock):
    def why(number="8:16", target=str(dock), **ids):
        profile = Device("d", target, target_id=ids)
        found = exchanged(BlockDevice(number, machine.sys), machine.path, profile)
        return [(error.rule, str(error)) for error in found]

    assert why(**SERIAL) == why(by_id=dock.name, **SERIAL) == why() == []
    ((rule, text),) = why(by_id=dock.name, serial="ANOTHER")
    assert rule == "exchanged" and "serial ANOTHER" in text and "S4EWNX0R123456" in text
    assert why("8:17", f"{dock}-part1", **SERIAL) == []
    assert why("8:17", f"{dock}-part1", serial="ANOTHER") != []
    assert why(target="/dev/sdz", serial="ANOTHER") == []  # --io-target names another one


def test_a_partition_is_named_by_its_link_and_may_be_by_the_serial_number_of_its_disk(machine, dock):
    link = f"{dock}-part1"
    ids = {"serial": "S4EWNX0R123456"}
    assert "not-named" not in machine.refused("8:17", target=link, target_id=ids)
    assert "not-named" in machine.refused("8:17", target=link, target_id={"serial": "ANOTHER"})
    assert "not-named" in machine.refused("8:17", target_id=ids)


def test_the_root_disk_and_all_on_it_are_refused(machine):
    assert "/ of the running system" in machine.refused("8:0")["root-disk"]
    assert "root-disk" in machine.refused("8:3")
    volume = machine.add("devices/dm-3", "252:3")
    machine.hold(machine.sys / "devices/sda/sda3", volume)
    assert "root-disk" in machine.refused("252:3")


def test_a_root_on_a_logical_volume_protects_every_disk_under_it(machine):
    volume = machine.add("devices/dm-0", "252:0")
    machine.hold(machine.spare, volume)
    machine.mounts("27 1 252:0 / / rw - ext4 /dev/mapper/vg-root rw\n")
    assert "root-disk" in machine.refused()
    assert "root-disk" not in machine.refused("8:0")


def test_a_root_on_btrfs_protects_all_of_its_disks(machine):
    folder = machine.sys / "fs/btrfs/0f-aa/devices"
    folder.mkdir(parents=True)
    (folder / "sda2").symlink_to(machine.sys / "devices/sda/sda2")
    (folder / "sdb").symlink_to(machine.spare)
    found = machine.refused()
    assert "root-disk" in found and "part of the btrfs 0f-aa" in found["member"]


@pytest.mark.parametrize(
    ("number", "point"), [("8:16", "/mnt/disk"), ("8:17", "/mnt/part"), ("252:7", "/mnt/vol")]
)
def test_mounted_itself_a_partition_or_a_volume_on_it(machine, number, point):
    part = machine.add("devices/sdb/sdb1", "8:17", partition="1")
    machine.hold(part, machine.add("devices/dm-7", "252:7"))
    machine.mounts(f"{ROOT_LINE}36 27 {number} / {point} rw - ext4 /dev/whatever rw\n")
    assert f"mounted at {point}" in machine.refused()["mounted"]


def test_a_partition_beside_a_mounted_one_is_not_mounted(machine):
    machine.add("devices/sdb/sdb1", "8:17", partition="1", start="2048\n")
    second = machine.add("devices/sdb/sdb2", "8:18", partition="2", start="4096\n")
    machine.mounts(f"{ROOT_LINE}36 27 8:17 / /mnt rw - ext4 /dev/sdb1 rw\n")
    assert "mounted" not in machine.refused("8:18")
    (second / "start").write_text("4095\n")  # within the first one
    assert "sdb1 is mounted at /mnt" in machine.refused("8:18")["mounted"]
    machine.mounts(f"{ROOT_LINE}36 27 8:16 / /mnt rw - ext4 /dev/sdb rw\n")
    assert "mounted" in machine.refused("8:18")


def test_swapped_on(machine, monkeypatch):
    (machine.proc / "swaps").write_text("Filename Type Size Used Priority\n/dev/sdb1 partition 9 0 -2\n")
    machine.add("devices/sdb/sdb1", "8:17", partition="1")
    monkeypatch.setattr("iogate.host.mounts.block_number", lambda path: "8:17")
    assert "sdb1 is swap space in use" in machine.refused()["swap"]


@pytest.mark.parametrize("name", ["dm-4", "md0", "bcache0"])
def test_a_member_of_lvm_md_or_dm(machine, name):
    machine.hold(machine.spare, machine.add(f"devices/{name}", "252:4"))
    assert f"it is part of {name}" in machine.refused()["member"]
    assert "member" not in machine.refused("252:4")


def test_a_member_by_one_of_its_partitions_or_by_its_whole(machine):
    part = machine.add("devices/sdb/sdb1", "8:17", partition="1")
    machine.hold(part, machine.add("devices/dm-4", "252:4"))
    assert "sdb1 is part of dm-4" in machine.refused()["member"]
    other = machine.add("devices/sdc", "8:32")
    machine.add("devices/sdc/sdc1", "8:33", partition="1")
    machine.hold(other, machine.add("devices/dm-5", "252:5"))
    assert "sdc is part of dm-5" in machine.refused("8:33")["member"]


@pytest.mark.parametrize(
    ("attribute", "server"),
    [
        ("nvmet/subsystems/nqn.2026-11.lab:1/namespaces/1/device_path", "NVMe over fabrics"),
        ("target/core/iblock_0/disk/udev_path", "a SCSI target"),
        ("usb_gadget/l4t/functions/mass_storage.0/lun.0/file", "a USB gadget"),
    ],
)
def test_served_by_the_kernel_for_which_no_process_has_it_open(machine, monkeypatch, attribute, server):
    known = {"/dev/sdb": "8:16", "/dev/sdb1": "8:17", "/dev/sdc": "8:32"}
    monkeypatch.setattr("iogate.host.exports.block_number", lambda path: known.get(str(path)))
    machine.add("devices/sdb/sdb1", "8:17", partition="1")
    file = machine.sys / "kernel/config" / attribute
    file.parent.mkdir(parents=True)
    file.write_text("/dev/sdb1\n")
    assert f"sdb1 is served to others by {server}, as " in machine.refused()["served"]
    file.write_text("/dev/sdb\n")
    assert f"sdb is served to others by {server}" in machine.refused("8:17")["served"]
    for other in ("/dev/sdc", "", "/srv/disk.img"):
        file.write_text(f"{other}\n")
        assert "served" not in machine.refused()


def test_write_protected(machine):
    (machine.spare / "ro").write_text("1\n")
    assert "read-only" in machine.refused()


def test_partitioned(machine):
    machine.add("devices/sdb/sdb1", "8:17", partition="1")
    assert "it has partitions: sdb1" in machine.refused()["partitioned"]


def test_what_cannot_be_read_is_not_taken_for_empty(machine):
    machine.path.unlink()
    assert "cannot be found out" in machine.refused()["signature"]
