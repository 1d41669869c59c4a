"""The limit of the link between a disk and the machine, read from /sys.

A limit is a ceiling that no honest measurement passes, so each is the raw rate after line coding, never less.
Virtual disks have none: hypervisors report links that mean nothing (a virtual SATA disk says 1.5 Gb/s).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from iogate.host import sysfs

_PCIE_LANE = {
    "2.5": ("1.0", 2.5e9 * 8 / 10 / 8),
    "5.0": ("2.0", 5e9 * 8 / 10 / 8),
    "5": ("2.0", 5e9 * 8 / 10 / 8),
    "8.0": ("3.0", 8e9 * 128 / 130 / 8),
    "16.0": ("4.0", 16e9 * 128 / 130 / 8),
    "32.0": ("5.0", 32e9 * 128 / 130 / 8),
    "64.0": ("6.0", 64e9 * 236 / 256 / 8),
}
"""Generation and bytes/s of a lane by its GT/s: PCI Express Base Specification 6.0, section 4.2. Since 6.0 of
the 256 bytes of a flit 236 are for packets."""
_UFS_LANE = {1: 1457.6e6 / 8, 2: 2915.2e6 / 8, 3: 5830.4e6 / 8, 4: 11660.8e6 / 8, 5: 23321.6e6 / 8}
"""Bytes/s of a lane by its gear at rate B, before 8b/10b: MIPI M-PHY 5.0."""
_MMC = {"MMC": ("eMMC HS400", 400e6), "SD": ("SD UHS-II", 312e6)}
"""JESD84-B51 and the SD Physical Layer Specification 6.0: the fastest mode, for /sys does not tell which."""
_VIRTUAL_VENDORS = {"0x1af4", "0x1b36", "0x15ad", "0x1d0f", "0x1ae0", "0x1414", "0x80ee"}
_VIRTUAL_MODEL = re.compile(r"qemu|vbox|vmware|virtual", re.IGNORECASE)


@dataclass(frozen=True)
class Link:
    """A link's ceiling in B/s, what people call it, and (if it runs below its best) what it could be."""

    limit: float
    name: str
    best: str = ""


FASTEST = Link(4 * _PCIE_LANE["64.0"][1], "PCIe 6.0 x4, the fastest link that a single disk has")
"""What no figure of one disk passes, where nothing is known of the device."""
USUAL = Link(4 * _PCIE_LANE["32.0"][1], "PCIe 5.0 x4, the fastest link that most disks have")
"""What to doubt figures above, where nothing is known of the device."""


def link_of(disk: Path) -> Link | None:
    """Return the link of a disk given its folder in /sys (`/sys/devices/.../block/sda`); None if none is
    known.
    """
    if _VIRTUAL_MODEL.search(sysfs.text(disk / "device/model")) or "/virtio" in str(disk):
        return None
    for folder in [disk, *disk.parents]:
        found = _usb(folder) or _ufs(folder) or _mmc(folder) or _sata(folder)
        if found:
            return found
        if (folder / "current_link_speed").exists():
            return _pcie(folder)
        if folder.name == "devices":
            break
    return None


def _pcie(folder: Path) -> Link | None:
    """Return the link of a PCI function: the endpoint itself, which is where a measurement must fit
    through.
    """
    if sysfs.text(folder / "vendor") in _VIRTUAL_VENDORS:
        return None
    now = _lanes(folder, "current")
    if now is None:
        return None
    limit, name = now
    best = _lanes(folder, "max")
    return Link(limit, name, best[1] if best and best[0] > limit * 1.01 else "")


def _lanes(folder: Path, which: str) -> tuple[float, str] | None:
    speed = sysfs.text(folder / f"{which}_link_speed").split(" ")[0]
    width = sysfs.number(folder / f"{which}_link_width")
    if speed not in _PCIE_LANE or not width or width > 32:
        return None
    generation, lane = _PCIE_LANE[speed]
    return lane * width, f"PCIe {generation} x{width}"


def _sata(folder: Path) -> Link | None:
    if not re.fullmatch(r"ata\d+", folder.name):
        return None
    for link in sysfs.names(folder):
        speed = sysfs.text(folder / link / "ata_link" / link / "sata_spd")
        match = re.fullmatch(r"([\d.]+) Gbps", speed)
        if match:
            return Link(float(match[1]) * 1e9 * 8 / 10 / 8, f"SATA {match[1]} Gb/s")
    return None


def _usb(folder: Path) -> Link | None:
    """Return USB 2.0 and later by `speed` in Mb/s; the coding of 5 Gb/s is 8b/10b, above it 128b/132b."""
    if not (folder / "busnum").exists():
        return None
    speed = sysfs.number(folder / "speed")
    if not speed:
        return None
    coding = 1.0 if speed < 5000 else 8 / 10 if speed == 5000 else 128 / 132
    return Link(speed * 1e6 * coding / 8, f"USB {speed} Mb/s")


def _mmc(folder: Path) -> Link | None:
    kind = sysfs.text(folder / "device/type") if folder.name.startswith("mmcblk") else ""
    return Link(_MMC[kind][1], _MMC[kind][0]) if kind in _MMC else None


def _ufs(folder: Path) -> Link | None:
    gear = re.search(r"\d+", sysfs.text(folder / "power_info/gear"))
    lanes = sysfs.number(folder / "power_info/lane")
    if not gear or not lanes or int(gear[0]) not in _UFS_LANE:
        return None
    return Link(_UFS_LANE[int(gear[0])] * lanes, f"UFS gear {gear[0]} x{lanes}")
