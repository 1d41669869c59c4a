"""What lies below a target, layer by layer: page cache, memory, and file systems."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from iogate.host.blockdevice import BlockDevice, closure
from iogate.host.mounts import IN_MEMORY, IN_PLACE, Mount, backing, mounts

MEMORY = re.compile(r"z?ram\d+")
"""Names of block devices that are memory."""


class Layers(NamedTuple):
    """The loop device below a target that goes through the page cache of its backing file (`cached`), what of
    it is `memory` (empty: none, as far as is known), and of which types the `file_systems` are that files of
    loop devices lie on (empty: one that nobody can see from here).
    """

    cached: str = ""
    memory: str = ""
    file_systems: frozenset[str] = frozenset()


def layers(number: str, root: Path = Path("/")) -> Layers:
    """Return what is below the block device of this number, through partitions, device mapper, md and loop
    devices, and the file systems on which their files lie.
    """
    below = closure([BlockDevice(number, root / "sys")], lambda device: _below(device, root))
    cached = (device.name for device in below if device.attribute("loop/dio") == "0")
    memory = (found for device in below if (found := _memory(device, root)))
    mounts_below = (_mount_below(device, root) for device in below if device.file_system_below)
    types = frozenset(mount.file_system if mount else "" for mount in mounts_below)
    return Layers(next(cached, ""), next(memory, ""), types)


def writes_in_place(held: str | None, number: str | None, root: Path = Path("/")) -> bool:
    """Return whether what is overwritten in a file is written where it was: by a file system of a type, which
    has it `held` (None: nobody knows), on the block device of this number, and by those below that.
    """
    below = layers(number, root).file_systems if number else ()
    return {held, *below} <= IN_PLACE


def _below(device: BlockDevice, root: Path) -> list[BlockDevice]:
    """Return what a device lies on: the devices that carry it, and that of its file's file system."""
    mount = _mount_below(device, root)
    found = [BlockDevice(mount.block_number, device.sys)] if mount and mount.block_number else []
    return [*device.carriers(), *found]


def _memory(device: BlockDevice, root: Path) -> str:
    """Return what of a device is memory; empty: nothing, as far as is known."""
    if MEMORY.fullmatch(device.name):
        return device.name
    mount = _mount_below(device, root)
    in_memory = mount and mount.file_system in IN_MEMORY
    return f"{device.name} on a file in {mount.file_system}" if mount and in_memory else ""


def _mount_below(device: BlockDevice, root: Path) -> Mount | None:
    """Return the mount of the file system on which the file of a loop device lies."""
    number, proc = device.file_system_below, root / "proc"
    mount = next((one for one in mounts(proc) if one.number == number), None) if number else None
    return backing(mount, proc) if mount else None
