"""The target: the directory or block device that the I/O goes to, and whether it may.

`resolve` and `refusals` only look; `opened` takes the target, one run at a time, and leaves it as it was.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from iogate.errors import TargetError
from iogate.model import Device, Needs
from iogate.mounts import IN_MEMORY, backing, mount_of, number_text
from iogate.target import destroy
from iogate.target.blockdevice import BlockDevice
from iogate.target.layout import NO_DIRECT, Tick, no_direct_io, refused
from iogate.target.locks import disks_locked, locked
from iogate.target.scratch import (
    Check,
    FolderScratch,
    Scratch,
    reclaimable,
    remove_leftovers,
    room,
    scratch_folder,
)
from iogate.units import format_quantity, printable


@dataclass(frozen=True)
class Target:
    """Where the I/O goes, as it was found.

    `path` is without symbolic links. `number` is the `major:minor` of the block device, or of that under the
    directory; None for tmpfs, network file systems and others without one. `file_system` is the type of the
    mount, `backing` that of the file system which really holds the files: the upper layer's for an overlay
    (None if that cannot be seen). `size` is the bytes free in a directory, or a device's capacity; `block`
    the least that direct I/O takes. `identity` tells whether the path still leads to the same thing.
    """

    path: Path
    kind: Literal["directory", "device"]
    number: str | None
    file_system: str | None
    size: int
    block: int
    backing: str | None = None
    identity: tuple[int, int] = field(default=(0, 0), repr=False)


def resolve(device: Device, root: Path, override: str | None = None) -> Target:
    """Find the target of a device's profile, a path relative to `root`, or of `--io-target` instead, relative
    to the working directory. Raises TargetError: `missing`, `symlink`, `unreadable` or `not-a-directory`.
    """
    named = Path(override).expanduser() if override else root / Path(device.target).expanduser()
    try:
        path = named.resolve(strict=True)
        status = path.stat()
    except (
        OSError,
        RuntimeError,
        ValueError,
    ) as error:  # Python before 3.13 raises RuntimeError for a symlink loop
        raise _not_found(named, error) from error
    if stat.S_ISBLK(status.st_mode):
        return _device_target(path, status)
    if stat.S_ISDIR(status.st_mode):
        return _directory_target(path, status)
    what = "a file" if stat.S_ISREG(status.st_mode) else "neither a directory nor a block device"
    remedy = f"name its directory: {path.parent}" if stat.S_ISREG(status.st_mode) else ""
    raise TargetError(
        printable(f"the target {named} is {what}"), rule="not-a-directory", remedy=printable(remedy)
    )


def refusals(target: Target, needs: Needs, *, device: Device, consent: str | None) -> list[TargetError]:
    """Why a workload cannot run on a target now, one error for each rule; empty if it can.

    Nothing is written. `consent` is what `--io-destroy` names.
    """
    if not needs.target:
        return []
    try:
        check_unchanged(target)
    except TargetError as error:
        return [error]
    found = (
        _directory_refusals(target, needs) if target.kind == "directory" else _device_refusals(target, needs)
    )
    if target.kind == "device" and needs.writes and target.number:
        found += destroy.refusals(BlockDevice(target.number), target.path, device, consent)
    return found


def check_unchanged(target: Target) -> None:
    """Whether the path still leads to what it led to. Raises TargetError (`changed`)."""
    if _identity(target.path) != target.identity:
        raise _changed(target.path)


@contextlib.contextmanager
def opened(target: Target, *, device: Device, consent: str | None = None) -> Iterator[Scratch]:
    """Take a target for this run: no other may use it, nor the disks under it, and what crashed runs left in
    a directory is removed. At the end, however it comes, the target is as it was (what workloads wrote to a
    block device aside). Raises TargetError.
    """

    def check(needs: Needs) -> None:
        for error in refusals(target, needs, device=device, consent=consent):
            raise error

    with contextlib.ExitStack() as stack:
        stack.enter_context(disks_locked(_disk_numbers(target)))
        if target.kind == "device":
            yield stack.enter_context(_DeviceScratch(target, check))
            return
        parent = stack.enter_context(_directory(target))
        stack.enter_context(locked(parent, str(target.path)))
        remove_leftovers(parent, target.path)
        home = stack.enter_context(scratch_folder(parent, target.path))
        yield FolderScratch(home, check)


class _DeviceScratch(contextlib.ExitStack):
    """A run's place on a block device: the device itself, claimed from the first workload that writes."""

    def __init__(self, target: Target, check: Check) -> None:
        super().__init__()
        self.folder: Path | None = None
        self.written = 0
        self._target = target
        self._check = check
        self._claimed = False

    def data(self, needs: Needs, tick: Tick | None = None) -> Path:
        if needs.writes and not self._claimed and self._target.number:
            self._check(needs)
            self.enter_context(destroy.claimed(BlockDevice(self._target.number), self._target.path))
            self._claimed = True
        self._check(needs)
        return self._target.path


# ------------------------------------------------------------ looking


def _not_found(named: Path, error: OSError | RuntimeError | ValueError) -> TargetError:
    number = errno.ELOOP if isinstance(error, RuntimeError) else getattr(error, "errno", errno.EINVAL)
    if number in (errno.ENOENT, errno.ENOTDIR):
        parts = [parent for parent in named.parents if parent.is_dir()]
        remedy = f"it would be in {parts[0]}, which exists: make it, or mount it" if parts else ""
        return TargetError(
            printable(f"the target {named} does not exist"), rule="missing", remedy=printable(remedy)
        )
    if number == errno.ELOOP:
        return TargetError(printable(f"the target {named} is a loop of symbolic links"), rule="symlink")
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
        identity=(status.st_dev, status.st_ino),
    )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return (status.st_rdev, 0) if stat.S_ISBLK(status.st_mode) else (status.st_dev, status.st_ino)


def _changed(path: Path) -> TargetError:
    message = f"{path} is not what it was when the run began: unmounted, replaced or removed"
    return TargetError(message, rule="changed", remedy="mount it again and start over")


def _disk_numbers(target: Target) -> list[str]:
    """The disks under a target; for a file system without any, its own number."""
    if target.number:
        return [disk.number for disk in BlockDevice(target.number).disks()]
    return [number_text(target.identity[0])]


# ------------------------------------------------------------ directories


def _directory_refusals(target: Target, needs: Needs) -> list[TargetError]:
    try:
        if os.statvfs(target.path).f_flag & os.ST_RDONLY:
            return [_read_only(target, "its file system is mounted read-only")]
        if not os.access(target.path, os.W_OK | os.X_OK, effective_ids=True):
            return [_read_only(target, "this user may not write to it")]
        found = _space(target, needs)
    except OSError as error:
        return [refused(error, f"cannot look at {target.path}")]
    return found + (_no_direct(target, needs) if needs.direct else [])


def _read_only(target: Target, why: str) -> TargetError:
    remedy = "choose a directory that this user may write to: --io-target=PATH"
    return TargetError(f"the target {target.path} is read-only: {why}", rule="read-only", remedy=remedy)


def _space(target: Target, needs: Needs) -> list[TargetError]:
    available = room(target.path) + reclaimable(target.path)
    wanted = needs.size + needs.space
    if wanted <= available:
        return []
    return [
        TargetError(
            f"the target {target.path} is short of space: {format_quantity(wanted, 'B')} are needed, "
            f"{format_quantity(max(0, available), 'B')} may be used (a reserve stays free)",
            rule="space",
            remedy="free space, choose another target (--io-target=PATH), or use less (--io-size)",
        )
    ]


def _no_direct(target: Target, needs: Needs) -> list[TargetError]:
    if target.backing in IN_MEMORY:
        return [no_direct_io(f"{target.path} is on {target.backing}, which keeps files in memory")]
    if not _direct_works(target.path):
        return [
            no_direct_io(f"{target.path} is on {target.file_system or 'a file system'}, which refuses it")
        ]
    return _aligned(target, needs)


def _aligned(target: Target, needs: Needs) -> list[TargetError]:
    if not needs.direct or not needs.block or needs.block % target.block == 0:
        return []
    message = (
        f"direct I/O on {target.path} takes multiples of {target.block} bytes, not blocks of {needs.block}"
    )
    return [TargetError(message, rule="alignment", remedy=f"choose a block size (bs) of n x {target.block}")]


def _direct_works(folder: Path) -> bool:
    """Whether a file there can be opened past the page cache, tried with a file that never gets a name.

    Where such files cannot be made nobody knows yet: laying out will tell.
    """
    flags = os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC
    with contextlib.suppress(OSError):
        os.close(os.open(folder, flags, 0o600))
        try:
            os.close(os.open(folder, flags | os.O_DIRECT, 0o600))
        except OSError as error:
            return error.errno not in NO_DIRECT
    return True


@contextlib.contextmanager
def _directory(target: Target) -> Iterator[int]:
    """The open directory. Raises TargetError if it is not the one that was resolved."""
    try:
        descriptor = os.open(target.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise refused(error, f"cannot open {target.path}") from error
    try:
        status = os.fstat(descriptor)
        if (status.st_dev, status.st_ino) != target.identity:
            raise _changed(target.path)
        yield descriptor
    finally:
        os.close(descriptor)


# ------------------------------------------------------------ block devices


def _device_refusals(target: Target, needs: Needs) -> list[TargetError]:
    if not target.size:
        remedy = "attach or insert what it should read"
        return [
            TargetError(f"the device {target.path} is empty: it has no size", rule="no-medium", remedy=remedy)
        ]
    found = _aligned(target, needs)
    if needs.size > target.size:
        message = (
            f"{target.path} holds {format_quantity(target.size, 'B')}, the workload needs "
            f"{format_quantity(needs.size, 'B')}"
        )
        found.append(TargetError(message, rule="space", remedy="use less: --io-size"))
    if needs.space:
        message = f"{target.path} is a block device, and the engine makes files of its own"
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
