"""Why a workload cannot run on a target. Nothing is written."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from pathlib import Path

from iogate.errors import TargetError
from iogate.host.blockdevice import BlockDevice
from iogate.host.mounts import IN_MEMORY
from iogate.model import Device, Needs
from iogate.target import destroy
from iogate.target.layout import NO_DIRECT, no_direct_io, refusal
from iogate.target.leftovers import reclaimable
from iogate.target.marker import PREFIX
from iogate.target.resolve import Target, check_unchanged
from iogate.target.scratch import room
from iogate.units import format_quantity


def refusals(target: Target, needs: Needs, *, device: Device, consent: str | None) -> list[TargetError]:
    """Return why a workload cannot run on a target now, one error for each rule; empty if it can.

    Nothing is written. `consent` is what `--io-destroy` names.
    """
    if not needs.target:
        return []
    try:
        check_unchanged(target)
    except TargetError as error:
        return [error]
    if replace(needs, clients=1) == Needs():  # of a target that need only be there
        return []
    found = (
        _directory_refusals(target, needs) if target.kind == "directory" else _device_refusals(target, needs)
    )
    if target.kind == "device" and target.number:
        disk = BlockDevice(target.number)
        writing = destroy.refusals(disk, target.path, device, consent) if needs.writes else []
        found += writing or destroy.exchanged(disk, target.path, device)
    return found


# ------------------------------------------------------------ directories


def _directory_refusals(target: Target, needs: Needs) -> list[TargetError]:
    try:
        if os.statvfs(target.path).f_flag & os.ST_RDONLY:
            return [_read_only(target, "its file system is mounted read-only")]
        if not os.access(target.path, os.W_OK | os.X_OK, effective_ids=True):
            return [_read_only(target, "this user may not write to it")]
        if needs.trims:
            return [_not_a_device(target)]
        found = _space(target, needs)
    except OSError as error:
        return [refusal(error, f"cannot look at {target.path}")]
    return found + (_no_direct(target, needs) if needs.direct else [])


def _astray(target: Target, what: str) -> TargetError:
    message = f"{target.path} is a device, all of which {what} is about, and not the size that the suite says"
    remedy = "say in bytes where it works (offset, and a step such as rw: read:192k), or name a directory"
    return TargetError(message, rule="astray", remedy=remedy)


def _not_a_device(target: Target) -> TargetError:
    remedy = "name one, as the profile's target or by --io-target=DEVICE"
    message = f"the target {target.path} is a directory, and trims are for block devices alone"
    return TargetError(message, rule="not-a-device", remedy=remedy)


def _read_only(target: Target, why: str) -> TargetError:
    remedy = "choose a directory that this user may write to: --io-target=PATH"
    return TargetError(f"the target {target.path} is read-only: {why}", rule="read-only", remedy=remedy)


def _space(target: Target, needs: Needs) -> list[TargetError]:
    left, others = reclaimable(target.path)
    available = room(target.path) + left
    wanted = needs.size * needs.files + needs.space
    if wanted <= available:
        return []
    remedy = "free space, choose another target (--io-target=PATH), or use less (--io-size)"
    if others:
        remedy += f"; {PREFIX}* there is of another user or machine: remove it by hand if nobody works there"
    return [
        TargetError(
            f"the target {target.path} is short of space: {format_quantity(wanted, 'B')} are needed, "
            f"{format_quantity(max(0, available), 'B')} may be used (a reserve stays free)",
            rule="space",
            remedy=remedy,
        )
    ]


def _no_direct(target: Target, needs: Needs) -> list[TargetError]:
    if target.backing in IN_MEMORY:
        return [no_direct_io(f"{target.path} is on {target.backing}, which keeps files in memory")]
    if not _direct_works(target.path):
        return [
            no_direct_io(f"{target.path} is on {target.file_system or 'a file system'}, which refuses it")
        ]
    return _misaligned(target, needs)


def _misaligned(target: Target, needs: Needs) -> list[TargetError]:
    if not needs.direct or not needs.block or needs.block % target.block == 0:
        return []
    message = (
        f"direct I/O on {target.path} takes multiples of {target.block} bytes, not blocks of {needs.block}"
    )
    return [TargetError(message, rule="alignment", remedy=f"choose a block size (bs) of n x {target.block}")]


def _direct_works(folder: Path) -> bool:
    """Return whether a file there can be opened past the page cache, tried with a file that never gets a
    name.

    Where such files cannot be made it is not known yet: laying out will tell.
    """
    flags = os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC
    with contextlib.suppress(OSError):
        os.close(os.open(folder, flags, 0o600))
        try:
            os.close(os.open(folder, flags | os.O_DIRECT, 0o600))
        except OSError as error:
            return error.errno not in NO_DIRECT
    return True


# ------------------------------------------------------------ block devices


def _device_refusals(target: Target, needs: Needs) -> list[TargetError]:
    if not target.size:
        remedy = "attach or insert what it should read"
        return [
            TargetError(f"the device {target.path} is empty: it has no size", rule="no-medium", remedy=remedy)
        ]
    found = _misaligned(target, needs)
    if needs.astray:
        found.append(_astray(target, needs.astray))
    if needs.size > target.size:
        lacking = format_quantity(needs.size - target.size, "B")
        message = (
            f"{target.path} holds {format_quantity(target.size, 'B')}, the workload needs "
            f"{format_quantity(needs.size, 'B')}: {lacking} more"
        )
        found.append(TargetError(message, rule="space", remedy="use less: --io-size"))
    if needs.space or needs.files > 1:
        own = "the engine makes files of its own" if needs.space else "the workload has several files"
        message = f"{target.path} is a block device, and {own}"
        found.append(
            TargetError(message, rule="not-a-directory", remedy="name a directory on it: --io-target=PATH")
        )
    mode = os.R_OK | (os.W_OK if needs.writes else 0)
    if not os.access(target.path, mode, effective_ids=True):
        message = f"this user may not {'write to' if needs.writes else 'read'} {target.path}"
        found.append(
            TargetError(message, rule="unreadable", remedy="run as root, or as a member of its group")
        )
    return found
