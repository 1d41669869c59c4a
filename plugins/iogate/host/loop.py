"""File systems in files: loop devices (loop(4)) and their mounts (mount(2)).

Whatever is made of files below a folder is known by that folder, and released by it: no list is kept that
could be lost. A loop device is told to detach itself as soon as nothing uses it, which its mount does.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

from iogate.errors import TargetError
from iogate.host import sysfs
from iogate.host.blockdevice import BlockDevice, whole_disks
from iogate.host.mounts import block_number, mounts
from iogate.host.tools import ask
from iogate.units import printable

_LOOP_CLR_FD, _LOOP_SET_DIRECT_IO = 0x4C01, 0x4C08
_NOSUID, _NODEV, _NOEXEC = 0x2, 0x4, 0x8
_DETACH, _NOFOLLOW = 0x2, 0x8
_PATIENCE = 2.0  # seconds: others (udev, desktops) look at what is mounted for a moment
_KERNEL_LOG = "/dev/kmsg"


def attach(file: Path, start: int, length: int, sector: int) -> BlockDevice:
    """Return a new loop device on so many bytes of a file from `start` on, with direct I/O below it.

    Raises TargetError: `loop` if there is none to be had, `no-direct-io` if the file can be had through the
    page cache alone.
    """
    options = (f"--offset={start}", f"--sizelimit={length}", f"--sector-size={sector}")
    answer = ask("losetup", "mount", "--find", "--show", *options, "--", str(file))
    number = block_number(Path(answer.stdout.strip())) if not answer.status else None
    if number is None:
        remedy = "see that this machine or container has loop devices: /dev/loop-control, /dev/loop*"
        raise TargetError(f"cannot attach {file}: {answer.reason}", rule="loop", remedy=remedy)
    device = BlockDevice(number)
    with _opened(device) as descriptor, contextlib.suppress(OSError):
        fcntl.ioctl(descriptor, _LOOP_SET_DIRECT_IO, 1)
    if device.attribute("loop/dio") != "1":
        message = f"a loop device on {file.parent} can be had through the page cache only"
        remedy = "choose a target folder on a file system and disk with direct I/O (--io-target=PATH)"
        raise TargetError(message, rule="no-direct-io", remedy=remedy)
    return device


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


def release_below(folder: Path) -> list[BlockDevice]:
    """Unmount and detach every loop device whose file lies below a folder and which is mounted below it or
    not at all. Return those that are still in use after a moment: they go as soon as they are not.
    """
    prefix = f"{folder}/"
    loops = _loops_below(prefix)
    numbers = {device.number for device in loops}
    for item in reversed(mounts()):
        if item.block_number in numbers and item.point.startswith(prefix):
            _unmount(item.point)
    for device in loops:
        with contextlib.suppress(OSError), _opened(device) as descriptor:
            # Open, it stays what it is: another may have got that number meanwhile.
            if device.backing_file.startswith(prefix):
                fcntl.ioctl(descriptor, _LOOP_CLR_FD)
    deadline = time.monotonic() + _PATIENCE
    while loops and (loops := _loops_below(prefix)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return loops


def _loops_below(prefix: str) -> list[BlockDevice]:
    return [device for device in whole_disks() if device.backing_file.startswith(prefix)]


def attached_to(file: Path) -> list[BlockDevice]:
    """Return the loop devices on a file, whatever its name."""
    found = []
    status = file.stat()
    for device in whole_disks():
        with contextlib.suppress(OSError):
            if device.backing_file and os.path.samestat(os.stat(device.backing_file), status):
                found.append(device)
    return found


def _unmount(point: str) -> None:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    deadline = time.monotonic() + _PATIENCE
    while libc.umount2(os.fsencode(point), _NOFOLLOW):
        if ctypes.get_errno() != errno.EBUSY or time.monotonic() > deadline:
            libc.umount2(os.fsencode(point), _NOFOLLOW | _DETACH)
            return
        time.sleep(0.02)


@contextlib.contextmanager
def _opened(device: BlockDevice) -> Iterator[int]:
    descriptor = os.open(f"/dev/{device.name}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
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
