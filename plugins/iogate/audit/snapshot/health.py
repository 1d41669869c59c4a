"""What a disk says of its own health: NVMe's SMART log, or the sensors and wear counters of /sys."""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from iogate.host import sysfs

_ADMIN_COMMAND = 0xC0484E41  # _IOWR('N', 0x41, struct nvme_passthru_cmd), linux/nvme_ioctl.h
_COMMAND = struct.Struct("=BBHIIIQQIIIIIIIIII")
_GET_LOG_PAGE = 0x02
_SMART_LOG = 0x02
_LOG_BYTES = 512
_TIMEOUT_MS = 1000
_WARNINGS = (
    "spare blocks below the threshold",
    "temperature beyond its limits",
    "reliability degraded by media errors",
    "read-only",
    "the backup of volatile memory failed",
    "the persistent memory region is unreliable",
)
_PRE_END_OF_LIFE = {2: "80% of the spare blocks are used", 3: "90% of the spare blocks are used"}


@dataclass(frozen=True)
class Health:
    """A disk's health: standing `warnings`, `worn` as a fraction of its rated life, °C and their limit.

    `throttled` counts the seconds and the times that heat slowed it down, since it was made.
    """

    warnings: tuple[str, ...] = ()
    worn: float | None = None
    temperature: float | None = None
    limit: float | None = None
    throttled: int | None = None


def health_of(disk: Path, root: Path) -> Health | None:
    """Return the health of a disk given its folder in /sys; None if it says nothing (or not to this user)."""
    controller = controller_of(disk)
    if controller is not None:
        log = _smart_log(root / "dev" / controller.name)
        if log is not None:
            return smart(log)
        return _sensors(controller)
    return _wear(disk) or _sensors(disk / "device")


def controller_of(disk: Path) -> Path | None:
    """Return the folder of the NVMe controller (or of the first path to it) that a disk hangs on."""
    if re.fullmatch(r"nvme\d+", disk.parent.name):
        return disk.parent
    if "nvme-subsystem" in str(disk):
        return next((disk.parent / name for name in sysfs.names(disk.parent) if _is_controller(name)), None)
    return None


def _is_controller(name: str) -> bool:
    return re.fullmatch(r"nvme\d+", name) is not None


def _smart_log(node: Path) -> bytes | None:
    """Return the SMART log page of an NVMe controller, which only root may read; a command that changes
    nothing.
    """
    try:
        descriptor = os.open(node, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    log = ctypes.create_string_buffer(_LOG_BYTES)
    words = (_LOG_BYTES // 4 - 1) << 16 | _SMART_LOG
    address = ctypes.addressof(log)
    every_namespace = 0xFFFFFFFF
    command = bytearray(
        _COMMAND.pack(
            _GET_LOG_PAGE,
            0,
            0,
            every_namespace,
            0,
            0,
            0,
            address,
            0,
            _LOG_BYTES,
            words,
            *[0] * 5,
            _TIMEOUT_MS,
            0,
        )
    )
    try:
        return log.raw if fcntl.ioctl(descriptor, _ADMIN_COMMAND, command) == 0 else None
    except OSError:
        return None
    finally:
        os.close(descriptor)


def smart(log: bytes) -> Health:
    """Return the SMART / Health Information log: NVM Express Base Specification 1.4, figure 194."""
    kelvin = int.from_bytes(log[1:3], "little")
    throttled = sum(struct.unpack_from("<4I", log, 216))  # transitions and seconds in both managed states
    minutes = sum(struct.unpack_from("<2I", log, 192))  # above the warning and the critical temperature
    return Health(
        warnings=tuple(name for bit, name in enumerate(_WARNINGS) if log[0] >> bit & 1),
        worn=log[5] / 100,
        temperature=kelvin - 273 if kelvin else None,
        throttled=throttled + 60 * minutes,
    )


def _sensors(folder: Path) -> Health | None:
    """Return the first hardware monitor below a folder (drivers nvme and drivetemp)."""
    for monitor in _monitors(folder):
        now = sysfs.number(monitor / "temp1_input")
        if now is None:
            continue
        limit = sysfs.number(monitor / "temp1_max")
        alarm = sysfs.number(monitor / "temp1_alarm")
        return Health(
            warnings=(_WARNINGS[1],) if alarm else (),
            temperature=now / 1000,
            limit=limit / 1000 if limit else None,
        )
    return None


def _monitors(folder: Path) -> Iterator[Path]:
    for parent in (folder, folder / "hwmon"):
        yield from (parent / name for name in sysfs.names(parent) if re.fullmatch(r"hwmon\d+", name))


def _wear(disk: Path) -> Health | None:
    """Return eMMC's life time estimates, in steps of 10% (JESD84-B51, EXT_CSD 267 to 269)."""
    steps = re.findall(r"0x[0-9a-f]{2}", sysfs.text(disk / "device/life_time"))
    spare = re.fullmatch(r"0x0([123])", sysfs.text(disk / "device/pre_eol_info"))
    if not steps and not spare:
        return None
    warning = _PRE_END_OF_LIFE.get(int(spare[1])) if spare else None
    worn = max((int(step, 16) for step in steps), default=0) / 10
    return Health(warnings=(warning,) if warning else (), worn=worn or None)
