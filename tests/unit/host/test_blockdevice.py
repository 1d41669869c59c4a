"""How block devices lie on each other, told from a tree like that of /sys."""

import pytest

from iogate.host.blockdevice import BlockDevice, btrfs_members, whole_disks


class FakeSys:
    """A /sys with block devices, as the kernel lays it out."""

    def __init__(self, root):
        self.root = root
        for folder in ("dev/block", "block"):
            (root / folder).mkdir(parents=True)

    def disk(self, name, number, **attributes):
        return self._add(self.root / "devices" / name, number, attributes, whole=True)

    def partition(self, disk, name, number, start=0):
        return self._add(disk / name, number, {"partition": "1", "start": f"{start}\n"}, whole=False)

    def _add(self, folder, number, attributes, whole):
        folder.mkdir(parents=True)
        for inner in ("holders", "slaves"):
            (folder / inner).mkdir()
        for attribute, text in {"dev": f"{number}\n", "size": "2048", "ro": "0", **attributes}.items():
            file = folder / attribute.replace("__", "/")
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
        (self.root / "dev/block" / number).symlink_to(folder)
        if whole:
            (self.root / "block" / folder.name).symlink_to(folder)
        return folder

    def stack(self, upper, lower):
        """Make `upper` a holder of `lower`."""
        (lower / "holders" / upper.name).symlink_to(upper)
        (upper / "slaves" / lower.name).symlink_to(lower)

    def device(self, number):
        return BlockDevice(number, self.root)


@pytest.fixture
def sys(tmp_path):
    return FakeSys(tmp_path / "sys")


def names(devices):
    return [device.name for device in devices]


def test_a_partition_knows_its_disk_and_the_disk_its_partitions(sys):
    disk = sys.disk("nvme0n1", "259:0", size="1000", queue__logical_block_size="4096")
    sys.partition(disk, "nvme0n1p1", "259:1")
    part, whole = sys.device("259:1"), sys.device("259:0")
    assert part.is_partition and not whole.is_partition
    assert part.whole == whole and whole.whole == whole
    assert names(whole.partitions) == ["nvme0n1p1"]
    assert whole.size == 512_000  # sectors of 512 bytes, whatever the device's own are
    assert part.logical_block == 4096
    assert names(part.disks()) == ["nvme0n1"]


def test_a_logical_volume_lies_on_every_disk_of_its_group(sys):
    sda, sdb = sys.disk("sda", "8:0"), sys.disk("sdb", "8:16")
    sda2 = sys.partition(sda, "sda2", "8:2")
    md, volume = sys.disk("md0", "9:0"), sys.disk("dm-0", "252:0")
    sys.stack(md, sda2)
    sys.stack(md, sdb)
    sys.stack(volume, md)
    assert sorted(names(sys.device("252:0").disks())) == ["sda", "sdb"]


def test_writing_to_a_disk_damages_all_that_is_made_of_it_and_nothing_beside(sys):
    sda = sys.disk("sda", "8:0")
    sda1, _ = sys.partition(sda, "sda1", "8:1"), sys.partition(sda, "sda2", "8:2", start=2048)
    volume = sys.disk("dm-0", "252:0")
    sys.stack(volume, sda1)
    assert names(sys.device("8:0").damaged()) == ["sda", "sda1", "sda2", "dm-0"]
    assert names(sys.device("8:2").damaged()) == ["sda2"]
    assert names(sys.device("252:0").damaged()) == ["dm-0"]


def test_partitions_that_share_blocks_damage_each_other(sys):
    sdb = sys.disk("sdb", "8:16")
    sys.partition(sdb, "sdb1", "8:17", start=2048)  # 2048 sectors each
    sys.partition(sdb, "sdb2", "8:18", start=4095)
    sys.partition(sdb, "sdb3", "8:19", start=6143)
    assert names(sys.device("8:17").damaged()) == ["sdb1", "sdb2"]
    assert names(sys.device("8:18").damaged()) == ["sdb2", "sdb1"]
    assert names(sys.device("8:19").damaged()) == ["sdb3"]


def test_a_loop_device_damages_what_shares_blocks_with_what_it_is_made_of(sys, monkeypatch):
    sdb = sys.disk("sdb", "8:16")
    sys.partition(sdb, "sdb1", "8:17", start=2048)
    sys.partition(sdb, "sdb2", "8:18", start=4095)
    sys.disk("loop0", "7:0", loop__backing_file="/dev/sdb1\n")
    below = property(lambda device: "8:17" if device.name == "loop0" else None)
    monkeypatch.setattr(BlockDevice, "_block_number_below", below)
    assert {*names(sys.device("7:0").damaged())} == {"loop0", "sdb1", "sdb2"}


def test_loop_devices_on_one_file_damage_each_other(sys):
    one = sys.disk("loop0", "7:0", loop__backing_file="/images/a.img\n")
    sys.disk("loop1", "7:1", loop__backing_file="/images/a.img\n")
    sys.disk("loop2", "7:2", loop__backing_file="/images/b.img\n")
    sys.partition(one, "loop0p1", "259:0")
    assert "loop1" in names(sys.device("7:0").damaged())
    assert "loop1" in names(sys.device("259:0").damaged())
    assert "loop2" not in names(sys.device("7:0").damaged())


def test_writing_to_a_mapped_device_damages_loop_devices_on_what_carries_it(sys, monkeypatch):
    """As the partition of a multipath device, which is a device of its own on that."""
    whole, part = sys.disk("dm-0", "252:0"), sys.disk("dm-1", "252:1")
    sys.stack(part, whole)
    sys.disk("loop0", "7:0", loop__backing_file="/dev/dm-0\n")
    below = property(lambda device: "252:0" if device.name == "loop0" else None)
    monkeypatch.setattr(BlockDevice, "_block_number_below", below)
    assert {"dm-1", "loop0"} <= {*names(sys.device("252:1").damaged())}


def test_a_loop_of_devices_ends(sys):
    one, two = sys.disk("dm-0", "252:0"), sys.disk("dm-1", "252:1")
    sys.stack(one, two)
    sys.stack(two, one)
    assert names(sys.device("252:0").damaged()) == ["dm-0", "dm-1"]
    assert sys.device("252:0").disks() == []


def test_serials_come_from_wherever_the_kernel_keeps_them(sys):
    sda = sys.disk("sda", "8:0", device__wwid="naa.5000c500")
    (sda / "device/vpd_pg80").write_bytes(b"\x00\x80\x00\x08WX11A2B3\0")
    sys.disk("vda", "254:0", serial="virtual-1\n")
    sys.disk("nvme0n1", "259:0", device__serial="S4EWNX0R123456      \n", wwid="eui.0025385b")
    assert sys.device("8:0").serials == ["naa.5000c500", "WX11A2B3"]
    assert sys.device("254:0").serials == ["virtual-1"]
    assert sys.device("259:0").serials == ["S4EWNX0R123456", "eui.0025385b"]


def test_all_members_of_a_btrfs_are_known(sys):
    sdb, sdc = sys.disk("sdb", "8:16"), sys.disk("sdc", "8:32")
    folder = sys.root / "fs/btrfs/0f-aa/devices"
    folder.mkdir(parents=True)
    (folder / "sdb").symlink_to(sdb)
    (folder / "sdc").symlink_to(sdc)
    (sys.root / "fs/btrfs/features").mkdir()
    assert list(btrfs_members(sys.root)) == [("8:16", "0f-aa"), ("8:32", "0f-aa")]


def test_what_sys_does_not_know_has_no_properties(sys):
    device = sys.device("8:99")
    assert not device.known
    assert (device.size, device.logical_block, device.read_only) == (0, 512, False)
    assert (device.partitions, device.holders, device.serials) == ([], [], [])
    assert device.whole == device
    assert names(whole_disks(sys.root)) == []
