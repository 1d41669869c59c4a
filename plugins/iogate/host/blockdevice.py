"""Block devices as the kernel arranges them: /sys/dev/block (Documentation/ABI/stable/sysfs-block).

A device is known by its number alone: names and symbolic links lie, and change.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from iogate.host import sysfs
from iogate.host.backing_file import BackingFile, backing_file
from iogate.host.mounts import block_number, number_text

SYS = Path("/sys")
_SECTOR = 512  # of /sys, whatever the device's own is


@dataclass(frozen=True)
class BlockDevice:
    """A whole disk, a partition, or what device mapper, md and loop make of them; `number` as in `8:1`."""

    number: str
    sys: Path = field(default=SYS, repr=False)

    @property
    def folder(self) -> Path:
        """Its folder in /sys, symbolic links resolved."""
        return Path(os.path.realpath(self.sys / "dev/block" / self.number))

    @property
    def known(self) -> bool:
        """Whether /sys tells anything of it."""
        return (self.folder / "dev").exists()

    @property
    def name(self) -> str:
        """The kernel's name, such as `nvme0n1p2`; the number where /sys does not tell."""
        return self.folder.name.replace("!", "/")

    @property
    def size(self) -> int:
        """Capacity in bytes."""
        return _integer(self.attribute("size")) * _SECTOR

    @property
    def logical_block(self) -> int:
        """The least that direct I/O takes, in bytes."""
        return _integer(self.whole.attribute("queue/logical_block_size")) or _SECTOR

    @property
    def read_only(self) -> bool:
        return self.attribute("ro") == "1"

    @property
    def is_partition(self) -> bool:
        return (self.folder / "partition").exists()

    @property
    def whole(self) -> BlockDevice:
        """The device that it is a partition of, or itself."""
        number = _read(self.folder.parent / "dev") if self.is_partition else ""
        return BlockDevice(number, self.sys) if number else self

    @property
    def partitions(self) -> list[BlockDevice]:
        folders = sysfs.paths(self.folder)
        return self._devices(folder for folder in folders if (folder / "partition").exists())

    @property
    def holders(self) -> list[BlockDevice]:
        """What is made of it by the kernel: device mapper (LVM, multipath, crypt), md, bcache."""
        return self._devices(sysfs.paths(self.folder / "holders"))

    @property
    def slaves(self) -> list[BlockDevice]:
        """What it is made of."""
        return self._devices(sysfs.paths(self.folder / "slaves"))

    @property
    def backing_file(self) -> str:
        """What a loop device is made of, as an absolute path; empty for any other device."""
        return self.attribute("loop/backing_file").removesuffix(" (deleted)")

    @property
    def loop_target(self) -> BlockDevice | None:
        """The block device that a loop device (or a partition of one) is made of."""
        number = self.whole._block_number_below
        return BlockDevice(number, self.sys) if number else None

    @property
    def _block_number_below(self) -> str | None:
        """The `major:minor` of the block device that a loop device is made of, whose node may be gone."""
        file, below = self.backing_file, self._below
        return (below.block_number if below else None) or (block_number(Path(file)) if file else None)

    @property
    def _below(self) -> BackingFile | None:
        """What a loop device is made of as the kernel itself knows it, if it can be asked."""
        asked = self.sys == SYS and self.backing_file
        return backing_file(self.name, self.number) if asked else None

    def shares_its_file_with(self, loop: BlockDevice) -> bool:
        """Return whether both are loop devices of one file, which may have several names, by hard links,
        mounts and namespaces.
        """
        if not (self.backing_file and loop.backing_file):
            return False
        if self.backing_file == loop.backing_file:
            return True
        mine, other = self._below, loop._below
        return bool(mine and other) and mine == other

    @property
    def serials(self) -> list[str]:
        """Its serial numbers and world-wide names, as far as the kernel knows them."""
        names = ("serial", "device/serial", "wwid", "device/wwid", "device/cid")
        page = sysfs.data(self.folder / "device/vpd_pg80")[
            4:
        ]  # SCSI unit serial number page: 4 bytes of header
        found = [
            *(self.attribute(name) for name in names),
            page.decode("ascii", errors="replace").strip("\0 "),
        ]
        return list(dict.fromkeys(filter(None, found)))

    def attribute(self, name: str) -> str:
        """Return one of its files in /sys, stripped; empty if it has none."""
        return _read(self.folder / name)

    def disks(self) -> list[BlockDevice]:
        """Return the whole disks that it lies on in the end, through partitions, device mapper, md and
        loop.
        """
        reached = closure([self], lambda device: device.carriers())
        return [device for device in reached if not device.carriers()]

    @property
    def file_system_below(self) -> str | None:
        """The `major:minor` of the file system on which the file of a loop device lies, as stat(2) has it;
        None if it is not on a file, or nobody knows.
        """
        if not self.backing_file or self.loop_target:
            return None
        if below := self._below:
            return number_text(below.identity[0])
        try:
            return number_text(os.stat(self.backing_file).st_dev)
        except OSError:
            return None

    def carriers(self) -> list[BlockDevice]:
        """Return the block devices that carry it, as its partition's disk does, and those that it is made
        of.
        """
        if self.slaves:
            return self.slaves
        if self.is_partition and self.whole != self:
            return [self.whole]
        return [self.loop_target] if self.loop_target else []

    def damaged(self) -> list[BlockDevice]:
        """Return every device whose contents change when this one is written: itself first, then partitions
        that share blocks with it, what a loop device is made of (and what shares blocks with that),
        partitions, holders, and loop devices on the same file or on any of these.
        """
        return closure([self, *self._overlapping()], lambda device: device._next_damaged())

    def _overlapping(self) -> list[BlockDevice]:
        """Return the other partitions of its disk that share blocks with this one, as in the tables of hybrid
        images, and in some that were made by hand: the kernel takes them as they are.
        """
        beside = self.whole.partitions if self.is_partition else []
        return [item for item in beside if item != self and self._shares_blocks_with(item)]

    def _shares_blocks_with(self, other: BlockDevice) -> bool:
        begins = [_integer(item.attribute("start")) * _SECTOR for item in (self, other)]
        ends = [begin + item.size for begin, item in zip(begins, (self, other), strict=True)]
        return max(begins) < min(ends)

    def _next_damaged(self) -> list[BlockDevice]:
        found, below = [*self.partitions, *self.holders, *self._loops_on_it()], self.loop_target
        return [*found, below, *below._overlapping()] if below else found

    def _loops_on_it(self) -> list[BlockDevice]:
        """Return loop devices made of this device, of what carries it, or of the file that its whole is made
        of: which of its blocks they use is not asked.
        """
        whole = self.whole
        below = {device.number for device in closure([self], lambda device: device.carriers())}
        return [
            loop
            for loop in whole_disks(self.sys)
            if loop.backing_file
            and loop != whole
            and (loop._block_number_below in below or whole.shares_its_file_with(loop))
        ]

    def _devices(self, folders: Iterable[Path]) -> list[BlockDevice]:
        numbers = (_read(folder / "dev") for folder in folders)
        return [BlockDevice(number, self.sys) for number in numbers if number]


def whole_disks(sys: Path = SYS) -> list[BlockDevice]:
    """Return all block devices that are no partitions."""
    numbers = (_read(folder / "dev") for folder in sysfs.paths(sys / "block"))
    return [BlockDevice(number, sys) for number in numbers if number]


def btrfs_members(sys: Path = SYS) -> Iterator[tuple[str, str]]:
    """Yield the devices of mounted btrfs file systems, each `major:minor` with the file system's UUID;
    mountinfo names only one of several.
    """
    for folder in sysfs.paths(sys / "fs/btrfs"):
        for device in sysfs.paths(folder / "devices"):
            if number := _read(device / "dev"):
                yield number, folder.name


def closure(
    start: list[BlockDevice], step: Callable[[BlockDevice], Iterable[BlockDevice]]
) -> list[BlockDevice]:
    """Return all devices that the steps lead to, in the order of their discovery."""
    found = list(start)
    for device in found:  # grows as it goes
        found.extend(item for item in dict.fromkeys(step(device)) if item not in found)
    return found


def _read(file: Path) -> str:
    return sysfs.text(file, errors="surrogateescape")


def _integer(text: str) -> int:
    return int(text) if text.isdigit() else 0
