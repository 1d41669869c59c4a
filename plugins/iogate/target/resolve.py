"""Finding the target: the directory or block device that the I/O goes to. Nothing is written."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from iogate.errors import TargetError
from iogate.formats.held import LinkOfAnotherUserError, held_file, held_folder, name_of
from iogate.host.blockdevice import BlockDevice
from iogate.host.layers import writes_in_place
from iogate.host.mounts import backing, mount_of, number_text
from iogate.model import Device
from iogate.units import printable


@dataclass(frozen=True)
class Target:
    """Where the I/O goes, as it was found.

    `path` is without symbolic links. `number` is the `major:minor` of the block device, or of that under the
    directory; None for tmpfs, network file systems and others without one. `file_system` is the type of the
    mount, `backing` that of the file system which really holds the files: the upper layer's for an overlay
    (None if that cannot be seen). `size` is the bytes free in a directory, or a device's capacity; `block`
    the least that direct I/O takes. `identity` tells whether the path still leads to the same thing, and
    `named` is what people call it, which may be a link. A directory's files are written `in_place` where what
    is overwritten is written where it was.
    """

    path: Path
    kind: Literal["directory", "device"]
    number: str | None
    file_system: str | None
    size: int
    block: int
    backing: str | None = None
    identity: tuple[int, int] = field(default=(0, 0), repr=False)
    named: str = field(default="", repr=False)
    in_place: bool = True


def resolve(device: Device, root: Path, override: str | None = None) -> Target:
    """Find the target of a device's profile, a path relative to `root`, or of `--io-target` instead, relative
    to the working directory. Raises TargetError: `missing`, `symlink` (a loop, or a link of another user, who
    could let it lead elsewhere), `unreadable` or `not-a-directory`.
    """
    said = override or device.target
    try:
        named = Path(said).expanduser()
    except RuntimeError as error:  # ~nobody/x, or there is no home
        raise TargetError(
            printable(f"the target {said} has a home that nobody has"), rule="missing"
        ) from error
    named = named if override else root / named
    try:
        path, status = _found(named)
    except (OSError, ValueError) as error:
        raise _not_found(named, error) from error
    if stat.S_ISBLK(status.st_mode):
        return replace(_device_target(path, status), named=str(named.absolute()))
    if stat.S_ISDIR(status.st_mode):
        return replace(_directory_target(path, status), named=str(named.absolute()))
    what = "a file" if stat.S_ISREG(status.st_mode) else "neither a directory nor a block device"
    remedy = f"name its directory: {path.parent}" if stat.S_ISREG(status.st_mode) else ""
    raise TargetError(
        printable(f"the target {named} is {what}"), rule="not-a-directory", remedy=printable(remedy)
    )


def check_unchanged(target: Target) -> None:
    """Raise TargetError (`changed`) if the path does not lead to what it led to any more, or fails."""
    try:
        found = _identity(target.path)
    except OSError as error:  # a file system that has shut itself down
        message = f"{target.path} cannot be looked at any more: {os.strerror(error.errno or errno.EIO)}"
        raise TargetError(message, rule="changed", remedy="see what the kernel says: dmesg") from error
    if found != target.identity:
        raise changed_error(target.path)


def leads_elsewhere(target: Target) -> bool:
    """Return whether a link by which the target is named leads to another place by now."""
    try:
        return bool(target.named) and Path(target.named).resolve() != target.path
    except (OSError, RuntimeError):
        return False


def _found(named: Path) -> tuple[Path, os.stat_result]:
    """Return where a path leads, links of other users not followed, and what is there. Raises OSError."""
    try:
        with held_folder(named) as folder:
            return name_of(folder), os.fstat(folder)
    except NotADirectoryError:
        with held_file(named) as (folder, name):
            return name_of(folder) / name, os.stat(name, dir_fd=folder, follow_symlinks=False)


def _not_found(named: Path, error: OSError | ValueError) -> TargetError:
    number = getattr(error, "errno", errno.EINVAL)
    if number in (errno.ENOENT, errno.ENOTDIR):
        parts = [parent for parent in named.parents if os.path.isdir(parent)]
        remedy = f"it would be in {parts[0]}, which exists: make it, or mount it" if parts else ""
        return TargetError(
            printable(f"the target {named} does not exist"), rule="missing", remedy=printable(remedy)
        )
    if number == errno.ELOOP:
        return TargetError(printable(f"the target {named} is a loop of symbolic links"), rule="symlink")
    if isinstance(error, LinkOfAnotherUserError):
        remedy = f"name what it leads to, if that is meant: {os.path.realpath(named)}"
        return TargetError(
            printable(f"the target {named}: {error.strerror}"), rule="symlink", remedy=printable(remedy)
        )
    reason = os.strerror(number or errno.EIO)
    return TargetError(printable(f"cannot look at the target {named}: {reason}"), rule="unreadable")


def _device_target(path: Path, status: os.stat_result) -> Target:
    number = number_text(status.st_rdev)
    device = BlockDevice(number)
    return Target(
        path, "device", number, None, device.size, device.logical_block, identity=(status.st_rdev, 0)
    )


def _directory_target(path: Path, status: os.stat_result) -> Target:
    mount = mount_of(path)
    held = backing(mount) if mount else None
    number = held.block_number if held else None
    try:
        size = os.statvfs(path).f_bavail * os.statvfs(path).f_frsize
    except OSError as error:
        raise _not_found(path, error) from error
    return Target(
        path,
        "directory",
        number,
        mount.file_system if mount else None,
        size,
        BlockDevice(number).logical_block if number else 512,
        backing=held.file_system if held else None,
        in_place=writes_in_place(held.file_system if held else None, number),
        identity=(status.st_dev, status.st_ino),
    )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.lstat()
    except OSError as error:
        if error.errno == errno.EIO:
            raise
        return None
    return (status.st_rdev, 0) if stat.S_ISBLK(status.st_mode) else (status.st_dev, status.st_ino)


LEADS_ELSEWHERE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}
"""The errors of opening what was there a moment ago, if somebody has put something else in its place."""


def changed_error(path: Path) -> TargetError:
    message = f"{path} is not what it was when the run began: unmounted, replaced or removed"
    return TargetError(message, rule="changed", remedy="mount it again and start over")
