"""File systems in files: loop devices (loop(4)) and their mounts (mount(2)).

Whatever is made of files in a folder is known by that folder, and released by it: no list is kept that could
be lost. A loop device is told to detach itself as soon as nothing uses it, which its mount does.

Whoever may rename such a folder can lead its name elsewhere: so folders and files are given by what a process
holds open (/proc/PID/fd), and loop devices are known by the number of the file below them. losetup(8) is no
help there, since it opens a file by the name that it found for it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from iogate.errors import TargetError
from iogate.host import sysfs
from iogate.host.backing_file import INFO, Identity, backing_file_below
from iogate.host.blockdevice import BlockDevice, whole_disks
from iogate.host.mounts import mount_of, number_text
from iogate.units import printable

_LOOP_CLR_FD, _LOOP_SET_DIRECT_IO, _LOOP_CONFIGURE = 0x4C01, 0x4C08, 0x4C0A
_LOOP_CTL_GET_FREE = 0x4C82
_CONFIG = struct.Struct(f"=2I{INFO.size}s64x")
"""loop_config: the open file, bytes of a sector, loop_info64."""
_ATTEMPTS = 100  # at a free loop device, which another may take first
_NOSUID, _NODEV, _NOEXEC = 0x2, 0x4, 0x8
_DETACH, _NOFOLLOW = 0x2, 0x8
_PATIENCE = 2.0  # seconds: others (udev, desktops) look at what is mounted for a moment
_KERNEL_LOG = "/dev/kmsg"


def attach(file: Path, start: int, length: int, sector: int) -> BlockDevice:
    """Return a new loop device on so many bytes of a file from `start` on, with direct I/O below it.

    Raises TargetError: `loop` if there is none to be had, `no-direct-io` if the file can be had through the
    page cache alone.
    """
    try:
        device = _configure(file, start, length, sector)
    except OSError as error:
        message = f"cannot attach {os.path.realpath(file)}: {error.strerror}"
        remedy = (
            "see that there are loop devices (/dev/loop-control, /dev/loop*); it takes Linux 5.8 or later"
        )
        raise TargetError(message, rule="loop", remedy=remedy) from error
    refused = 0
    with _opened(device) as descriptor:
        try:
            fcntl.ioctl(descriptor, _LOOP_SET_DIRECT_IO, 1)
        except OSError as error:
            refused = error.errno or 0
    if device.attribute("loop/dio") != "1":
        message = f"a loop device on {os.path.realpath(file)} can be had through the page cache only"
        remedy = "choose a target folder on a file system and disk with direct I/O (--io-target=PATH)"
        if refused in (errno.EPERM, errno.EACCES):
            message += ", as this user may not change it"
            remedy = "be root outside of any user namespace (CAP_SYS_ADMIN)"
        raise TargetError(message, rule="no-direct-io", remedy=remedy)
    return device


def _configure(file: Path, start: int, length: int, sector: int) -> BlockDevice:
    """Attach a free loop device to a file. Raises OSError."""
    info = INFO.pack(0, 0, 0, start, length, 0, 0, 0, 0, b"", b"", b"", 0, 0)
    with _open(file) as backing, _open("/dev/loop-control") as control:
        config = _CONFIG.pack(backing, sector, info)
        for _ in range(_ATTEMPTS):
            free = fcntl.ioctl(control, _LOOP_CTL_GET_FREE)
            with _open(f"/dev/loop{free}") as node:
                try:
                    fcntl.ioctl(node, _LOOP_CONFIGURE, config)
                    return BlockDevice(number_text(os.fstat(node).st_rdev))
                except OSError as error:
                    if error.errno != errno.EBUSY:
                        raise
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))


def mount(device: BlockDevice, point: Path, file_system: str, options: str) -> None:
    """Mount a device without device nodes, set-user-id and programs. From then on, its mount keeps the loop
    device alive, and nothing else.

    Raises TargetError (`file-system`) with what the kernel says.
    """
    import ctypes  # here: each start would pay for it

    libc = ctypes.CDLL(None, use_errno=True)
    arguments = (os.fsencode(f"/dev/{device.name}"), os.fsencode(point), file_system.encode())
    with _kernel_log(device.name) as said:
        if libc.mount(*arguments, ctypes.c_ulong(_NOSUID | _NODEV | _NOEXEC), options.encode()):
            raise _mount_error(file_system, ctypes.get_errno(), said())
    with _opened(device) as descriptor:
        fcntl.ioctl(descriptor, _LOOP_CLR_FD)


def release_in(folder: Path) -> list[BlockDevice]:
    """Release whatever is made of files in a folder, and mounted in it or not at all, as `release` does.

    Raises OSError if the folder cannot be read.
    """
    with os.scandir(folder) as entries:
        names = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
    files = {name: identity(folder / name) for name, is_folder in names.items() if not is_folder}
    return release(files, [folder / name for name, is_folder in names.items() if is_folder])


def release(files: Mapping[str, Identity], points: Sequence[Path]) -> list[BlockDevice]:
    """Detach every loop device on these files, each given by its name and by what it is known by, after
    what is mounted of it at these points is unmounted.

    Return those that are still in use after a moment: they go as soon as they are not.
    """
    loops = _loops_on(files)
    numbers = {device.number for device in loops}
    for point in points if loops else ():
        mounted = mount_of(point)
        if mounted and mounted.block_number in numbers:
            _unmount(point)
    for device in loops:
        with contextlib.suppress(OSError), _opened(device) as descriptor:
            # Open, it stays what it is: another may have got that number meanwhile.
            if backing_file_below(descriptor).identity in files.values():
                fcntl.ioctl(descriptor, _LOOP_CLR_FD)
    deadline = time.monotonic() + _PATIENCE
    while loops and (loops := _loops_on(files)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return loops


def identity(file: int | Path) -> Identity:
    """Return what a file is known by, whatever its name. Raises OSError."""
    status = os.stat(file) if isinstance(file, int) else file.lstat()
    return status.st_dev, status.st_ino


def _loops_on(files: Mapping[str, Identity]) -> list[BlockDevice]:
    found = []
    for device in whole_disks():
        file = files.get(os.path.basename(device.backing_file))  # its folder may be called otherwise by now
        if file:
            with contextlib.suppress(OSError), _opened(device) as descriptor:
                found += [device] if backing_file_below(descriptor).identity == file else []
    return found


def attached_to(file: Path) -> list[BlockDevice]:
    """Return the loop devices on a file, whatever its name."""
    status = file.stat()
    return [device for device in whole_disks() if device.backing_file and _is_on(device, status)]


def _is_on(device: BlockDevice, status: os.stat_result) -> bool:
    """Return whether a loop device is on a file; one that may not be opened is known by the file's name."""
    with contextlib.suppress(OSError), _opened(device) as descriptor:
        return backing_file_below(descriptor).identity == (status.st_dev, status.st_ino)
    with contextlib.suppress(OSError):
        return os.path.samestat(os.stat(device.backing_file), status)
    return False


def _unmount(point: Path) -> None:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    deadline = time.monotonic() + _PATIENCE
    while libc.umount2(os.fsencode(point), _NOFOLLOW):
        if ctypes.get_errno() != errno.EBUSY or time.monotonic() > deadline:
            libc.umount2(os.fsencode(point), _NOFOLLOW | _DETACH)
            return
        time.sleep(0.02)


def _opened(device: BlockDevice) -> contextlib.AbstractContextManager[int]:
    return _open(f"/dev/{device.name}", os.O_RDONLY | os.O_NONBLOCK)


@contextlib.contextmanager
def _open(path: str | Path, flags: int = os.O_RDWR) -> Iterator[int]:
    descriptor = os.open(path, flags | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


# ------------------------------------------------------------ what the kernel says


def _mount_error(file_system: str, number: int, said: list[str]) -> TargetError:
    if number == errno.ENODEV:
        known = ", ".join(sorted(_known_file_systems()))
        return TargetError(
            f"this kernel cannot mount {file_system}",
            rule="file-system",
            remedy=f"run where it can (here: {known or 'none'}), or make the image with another file system",
        )
    if number == errno.EPERM:
        return TargetError(
            f"this system does not let us mount {file_system}: {os.strerror(number)}",
            rule="no-root",
            remedy="run as root with CAP_SYS_ADMIN, outside of a container that lacks it",
        )
    reason = "; ".join(dict.fromkeys(said[-3:])) or os.strerror(number)
    return TargetError(
        f"the kernel does not mount this {file_system}: {reason}",
        rule="file-system",
        remedy="see what its own check says (fsck, xfs_repair -n, btrfs check), and dmesg",
    )


def _known_file_systems() -> list[str]:
    lines = sysfs.text("/proc/filesystems").splitlines()
    return [line.strip() for line in lines if not line.startswith("nodev")]


@contextlib.contextmanager
def _kernel_log(name: str) -> Iterator[KernelWords]:
    """Listen to what the kernel says of a device from now on; it says nothing where the log may not be
    read.
    """
    try:
        descriptor = os.open(_KERNEL_LOG, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        yield KernelWords(None, name)
        return
    try:
        os.lseek(descriptor, 0, os.SEEK_END)
        yield KernelWords(descriptor, name)
    finally:
        os.close(descriptor)


class KernelWords:
    """The lines of /dev/kmsg that name a device (Documentation/ABI/testing/dev-kmsg)."""

    def __init__(self, descriptor: int | None, name: str) -> None:
        self._descriptor = descriptor
        self._name = name

    def __call__(self) -> list[str]:
        """Return what has been said since, without time stamps."""
        found = []
        with contextlib.suppress(OSError):  # EAGAIN: nothing more
            while self._descriptor is not None:
                record = os.read(self._descriptor, 8192).decode(errors="replace")
                text = record.partition(";")[2].partition("\n")[0]
                if re.search(rf"\b{re.escape(self._name)}\b", text):
                    found.append(printable(text.strip()))
        return found
