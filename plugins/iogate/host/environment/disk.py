"""The disk behind a target, and its file system."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from iogate.host import sysfs
from iogate.host.environment.files import hottest
from iogate.host.mounts import Mount, mounts, with_all_options


def mount(path: Path, root: Path) -> Mount | None:
    """Return the mount that `path` is in: the last one of the longest mount point; None if none is known."""
    target = Path(os.path.abspath(path))
    with contextlib.suppress(OSError, RuntimeError):
        target = target.resolve()
    best: Mount | None = None
    for found in mounts(root / "proc"):
        if target.is_relative_to(found.point) and (best is None or len(found.point) >= len(best.point)):
            best = found
    return with_all_options(best, root / "proc") if best else None


def file_system(mount: Mount | None) -> dict[str, str]:
    """Return type and options of a mount."""
    if mount is None:
        return {}
    options = dict.fromkeys((*mount.own_options.split(","), *mount.options.split(",")))
    return {"file_system": mount.file_system, "mount_options": ",".join(options)}


_GET_FLAGS = 0x80086601  # FS_IOC_GETFLAGS of 64 bit: ioctl_iflags(2)
_ATTRIBUTES = {
    0x4: "compressed",
    0x8: "sync",
    0x800: "encrypted",
    0x4000: "data journalled",
    0x10000: "dirsync",
    0x800000: "no copy-on-write",
    0x2000000: "dax",
}


def attributes(folder: Path) -> str:
    """Return what files inherit that are made in a folder, as far as it changes their speed (chattr(1)):
    `none`, or all of it; empty where nobody tells.
    """
    flags = bytearray(8)
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.ioctl(descriptor, _GET_FLAGS, flags)
        finally:
            os.close(descriptor)
    except OSError:
        return ""
    found = int.from_bytes(flags[:4], sys.byteorder)  # whatever the number says, the kernel writes 32 bits
    return ", ".join(name for flag, name in _ATTRIBUTES.items() if found & flag) or "none"


def free_space(path: Path) -> str:
    """Return the share of the file system that is free; a full one is slow."""
    try:
        space = os.statvfs(path)
    except OSError:
        return ""
    return f"{space.f_bavail / space.f_blocks:.0%}" if space.f_blocks else ""


def whole_disks(number: str, source: str, root: Path) -> list[Path]:
    """Return the /sys folders of the whole disks behind a block device: through partitions, device mapper and
    md.

    A file system such as btrfs has a number that is no block device: its source is one.
    """
    node = root / "sys/dev/block" / number
    if not number or not node.exists():
        if not source.startswith("/"):
            return []
        node = root / "sys/class/block" / Path(os.path.realpath(root / source.lstrip("/"))).name
        if not node.exists():
            return []
    return _below(Path(os.path.realpath(node)), 0)


def _below(node: Path, depth: int) -> list[Path]:
    if (node / "partition").exists():
        node = node.parent
    slaves = sysfs.paths(node / "slaves", "*") if depth < 8 else []
    found = [disk for slave in slaves for disk in _below(Path(os.path.realpath(slave)), depth + 1)]
    return list(dict.fromkeys(found)) or [node]


def _each(disks: Iterable[Path], *names: str) -> str:
    """Return the first of the named files that each disk has, or all of them where there are several
    disks.
    """
    values = [next(filter(None, (sysfs.text(disk / name) for name in names)), "") for disk in disks]
    return ", ".join(filter(None, values))


def identity(disks: list[Path]) -> dict[str, str]:
    """Return model, serial number, world-wide identifier and capacity."""
    models = [
        " ".join(filter(None, (sysfs.text(disk / "device/vendor"), sysfs.text(disk / "device/model"))))
        if sysfs.text(disk / "device/model")
        else sysfs.text(disk / "device/name")
        for disk in disks
    ]
    return {
        "disk": ", ".join(filter(None, models)),
        "disk_serial": ", ".join(filter(None, map(_serial, disks))),
        "disk_wwid": _each(disks, "wwid", "device/wwid", "device/cid"),
        "disk_capacity": ", ".join(filter(None, (_capacity(sysfs.text(disk / "size")) for disk in disks))),
    }


def _serial(disk: Path) -> str:
    """Return the serial number of a disk; that of a USB disk is its USB device's."""
    usb = next((above for above in disk.parents if (above / "idVendor").exists()), None)
    return _each([disk], "device/serial", "serial") or (sysfs.text(usb / "serial") if usb else "")


def _capacity(sectors: str) -> str:
    """Return sectors of 512 bytes (whatever the disk's own are) in decimal units, as disks are sold."""
    size = int(sectors) * 512 if sectors.isdecimal() else 0
    if not size:
        return ""
    return f"{size / 1e9:.0f} GB" if size >= 10e9 else f"{size / 1e6:.0f} MB"


def subject(disks: list[Path]) -> dict[str, str]:
    """Return firmware, driver, and how the kernel is set to use them."""
    drivers = [_driver(disk) for disk in disks]
    schedulers = [sysfs.text(disk / "queue/scheduler") for disk in disks]
    chosen = [re.search(r"\[(\S+)\]", text) for text in schedulers]
    read_ahead = _each(disks, "queue/read_ahead_kb")
    return {
        "disk_firmware": _each(disks, "device/firmware_rev", "device/fwrev", "device/rev"),
        "driver": ", ".join(filter(None, drivers)),
        "scheduler": ", ".join(match[1] for match in chosen if match),
        "write_cache": _each(disks, "queue/write_cache"),
        "read_ahead": f"{read_ahead} KiB" if read_ahead else "",
    }


def _driver(disk: Path) -> str:
    """Return the kernel driver of a disk; an NVMe namespace's is that of its controller's PCI function."""
    for link in (disk / "device/driver", disk / "device/device/driver"):
        if link.exists():
            return Path(os.path.realpath(link)).name
    return ""


def state(disks: list[Path]) -> dict[str, str]:
    """Return the link as negotiated (a lost lane halves it), and the temperature."""
    speeds = [_each([disk], "device/device/current_link_speed") for disk in disks]
    widths = [_each([disk], "device/device/current_link_width") for disk in disks]
    links = [f"{speed} x{width}" for speed, width in zip(speeds, widths, strict=True) if speed and width]
    sensors = [
        file
        for disk in disks
        for pattern in ("device/hwmon*/temp1_input", "device/hwmon/hwmon*/temp1_input")
        for file in sysfs.paths(disk, pattern)
    ]
    return {"disk_link": ", ".join(links), "disk_temperature": hottest(sensors)}
