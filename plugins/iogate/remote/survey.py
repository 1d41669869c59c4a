"""What a machine is and where I/O could go there, for a profile to be begun of; here, or at a host."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from iogate.audit.snapshot.link import Link, link_of
from iogate.host.blockdevice import BlockDevice
from iogate.host.environment import observe
from iogate.host.environment.disk import whole_disks
from iogate.model import Device, Environment
from iogate.target.places import TargetPlace, block_device, devices, directories
from iogate.target.resolve import Target, resolve


@dataclass(frozen=True)
class Survey:
    """A machine with a target; `itself` is that of a block device as a place, `link` the slowest of the disks
    behind it (None: not known).
    """

    target: Target
    environment: Environment
    link: Link | None
    itself: TargetPlace | None
    directories: tuple[TargetPlace, ...]
    devices: tuple[TargetPlace, ...]


def survey(named: str, root: Path) -> Survey:
    """Look at this machine; nothing is written. `named` is the target, against `root`. Raises TargetError."""
    target = resolve(Device("new", named), root)
    device = target.kind == "device" and target.number
    return Survey(
        target,
        observe(target.number, target.path, in_place=target.in_place),
        link_now(target),
        block_device(target.path, BlockDevice(device)) if device else None,
        tuple(directories()),
        tuple(devices()),
    )


def link_now(target: Target) -> Link | None:
    """Return the slowest link of the disks behind a target; None if that of any of them is not known."""
    links = [link_of(disk) for disk in whole_disks(target.number or "", "", Path("/"))]
    known = [link for link in links if link]
    return min(known, key=lambda link: link.limit) if known and len(known) == len(links) else None
