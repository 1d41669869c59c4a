"""Where I/O could go on this machine, and why not. Nothing is written."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from iogate.errors import TargetError
from iogate.host.blockdevice import BlockDevice, whole_disks
from iogate.host.mounts import mounts
from iogate.model import Device, Needs
from iogate.target.destroy import refusals as write_refusals
from iogate.target.destroy import stable_ids
from iogate.target.refusals import refusals
from iogate.target.resolve import Target, resolve
from iogate.units import format_quantity, printable

USUAL = Needs(size=2**30, reads=True, writes=True, direct=True, block=4096)
"""What the suites that ship ask of a target at least: 1 GiB, direct I/O in blocks of 4 KiB."""

_SYSTEM = ("/boot", "/efi", "/snap", "/proc", "/sys", "/dev", "/run")
_NOTHING = ("loop", "ram", "zram", "sr", "fd")  # kernel names of what is no disk of its own


@dataclass(frozen=True)
class TargetPlace:
    """A directory or a block device; `why` it would be refused, empty if it would be allowed. `target_id` is
    what a profile must say to have the device written to.
    """

    path: str
    told: str
    why: str = ""
    target_id: Mapping[str, str] = field(default_factory=dict)


def directories() -> Iterator[TargetPlace]:
    """Yield the mounted file systems that lie on a block device, each once."""
    seen = set()
    for mount in sorted(mounts(), key=lambda one: len(one.point)):
        number, point = mount.block_number, Path(mount.point)
        system = any(point == Path(name) or point.is_relative_to(name) for name in _SYSTEM)
        if not number or number in seen or system or not os.path.isdir(point):
            continue  # a folder that this user may not look into is no place, either
        seen.add(number)
        yield directory(point)


def directory(path: Path) -> TargetPlace:
    """Return what a directory is as a target."""
    profile = Device("new", str(path))
    try:
        target = resolve(profile, path)
    except TargetError as error:
        return TargetPlace(printable(str(path)), "", printable(error.message))
    refused = refusals(target, USUAL, device=profile, consent=None)
    why = "; ".join(error.message for error in refused)
    return TargetPlace(printable(str(target.path)), target_told(target), printable(why))


def target_told(target: Target) -> str:
    """Return what a target is: `ext4 on nvme0n1p1, 120.0 GiB free`."""
    name = f" on {BlockDevice(target.number).name}" if target.number else ""
    free = " free" if target.kind == "directory" else ""
    return printable(f"{target.file_system or target.kind}{name}, {format_quantity(target.size, 'B')}{free}")


def devices() -> Iterator[TargetPlace]:
    """Yield the whole disks, with what a profile must say so that they may be written to."""
    for disk in whole_disks():
        if not disk.size or disk.name.rstrip("0123456789") in _NOTHING:
            continue
        yield block_device(Path("/dev") / disk.name, disk)


def block_device(path: Path, device: BlockDevice) -> TargetPlace:
    """Return what a block device is as a target to be written to, if a profile and a user agree to that."""
    ids = {kind: values[0] for kind, values in stable_ids(device).items()}
    target_id = dict(list(ids.items())[:1])
    refused = write_refusals(device, path, Device("new", str(path), target_id=target_id), consent=str(path))
    why = refused[0].message.partition(": ")[2] or refused[0].message if refused else ""
    return TargetPlace(printable(str(path)), format_quantity(device.size, "B"), printable(why), target_id)
