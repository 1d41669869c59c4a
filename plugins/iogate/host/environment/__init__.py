"""Where a session runs: what the machine is, what runs on it, and in which state it is.

Everything is read from small files of the kernel: sysfs (Documentation/ABI in the kernel's sources), proc(5)
and the device tree. What cannot be read is left out. Nothing is started and nothing is written.
"""

from __future__ import annotations

from pathlib import Path

from iogate.host.environment import disk, machine
from iogate.host.environment.compare import (
    IDENTITY,
    INDIVIDUAL,
    differences,
    identity_changes,
    identity_mismatch,
    lost_disk,
    material,
    model_of,
    shared_data,
)
from iogate.host.environment.files import known_facts
from iogate.model import Environment

__all__ = [
    "IDENTITY",
    "INDIVIDUAL",
    "differences",
    "identity_changes",
    "identity_mismatch",
    "lost_disk",
    "material",
    "model_of",
    "observe",
    "shared_data",
]


def observe(
    target_number: str | None, target_path: Path, root: Path = Path("/"), *, in_place: bool = True
) -> Environment:
    """Return the environment of a session whose I/O goes to `target_path`.

    `target_number` is the `major:minor` of its block device; None: that of the file system which
    `target_path` is on. A target that is a block device has no file system. Where files are not written
    `in_place`, `data_files` says that what reads has data of its own, `apart` from what others write to.
    `root` is where /sys, /proc and /etc are looked for.
    """
    mount = None if target_path.is_block_device() else disk.mount(target_path, root)
    number = target_number or (mount.number if mount else "")
    disks = disk.whole_disks(number, mount.source if mount else "", root)
    space = disk.free_space(target_path) if mount else ""
    folder = {
        "folder_attributes": disk.attributes(target_path),
        "data_files": "" if in_place else "apart",
    }
    return Environment(
        identity=known_facts({**machine.identity(root), **disk.identity(disks)}),
        subject=known_facts(
            {
                **machine.subject(root),
                **disk.file_system(mount),
                **(folder if mount else {}),
                **disk.subject(disks),
            }
        ),
        state=known_facts({**machine.state(root), **disk.state(disks), "free_space": space}),
        boot=machine.boot(root),
    )
