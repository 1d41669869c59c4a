"""What lies below a target, layer by layer: page cache, and memory."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from iogate.host.blockdevice import BlockDevice
from iogate.host.mounts import IN_MEMORY, backing, mounts

MEMORY = re.compile(r"z?ram\d+")
"""Names of block devices that are memory."""
_MOST = 64  # layers: more are a mistake in this


class Layers(NamedTuple):
    """The loop device below a target that goes through the page cache of its backing file (`cached`), and
    what of it is `memory` (empty: none, as far as is known).
    """

    cached: str = ""
    memory: str = ""


def layers(number: str, root: Path) -> Layers:
    """Return what is below the block device of this number, through partitions, device mapper, md and loop
    devices, and the file systems on which their files lie.
    """
    open_ones, seen = [BlockDevice(number, root / "sys")], set[str]()
    cached = memory = ""
    while open_ones and len(seen) < _MOST:
        device = open_ones.pop()
        if device.number in seen:
            continue
        seen.add(device.number)
        if device.attribute("loop/dio") == "0":
            cached = cached or device.name
        if MEMORY.fullmatch(device.name):
            memory = memory or device.name
        open_ones += device.carriers()
        if below := device.file_system_below:
            mount = next((one for one in mounts(root / "proc") if one.number == below), None)
            mount = backing(mount, root / "proc") if mount else None
            if mount and mount.file_system in IN_MEMORY:
                memory = memory or f"{device.name} on a file in {mount.file_system}"
            elif mount and mount.block_number:
                open_ones.append(BlockDevice(mount.block_number, root / "sys"))
    return Layers(cached, memory)
