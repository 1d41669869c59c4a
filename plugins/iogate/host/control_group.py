"""What the control groups of this process, and so of the engines that it starts, keep it from using.

Both versions are read (Linux: Documentation/admin-guide/cgroup-v1, cgroup-v2.rst; cgroups(7)), from this
process's own group up to the top of what is mounted here: a container sees a part of the tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from iogate.host import sysfs
from iogate.host.mounts import Mount, mounts

_UNLIMITED = 1 << 60
"""Bytes from which on a limit of version 1 is none: it is as large as fits, down to a page."""


@dataclass(frozen=True)
class CpuLimit:
    """How many `cpus` the tightest control group may use, by periods of `period` seconds, and in how many of
    them it was `stopped` so far, as it had used up its share.
    """

    cpus: float
    period: float
    stopped: int = 0


def cpu_limit(root: Path = Path("/")) -> CpuLimit | None:
    """Return the tightest limit of processor time; None if there is none. /proc and what is mounted are
    looked for below `root`.
    """
    return min(_cpu_limits(root), key=lambda limit: limit.cpus, default=None)


def _cpu_limits(root: Path) -> Iterator[CpuLimit]:
    for folder in _folders("cpu", root):
        told = sysfs.text(folder / "cpu.max").split()
        if len(told) != 2:
            told = [sysfs.text(folder / name) for name in ("cpu.cfs_quota_us", "cpu.cfs_period_us")]
        quota, period = told
        if quota.isdecimal() and period.isdecimal() and int(period):
            yield CpuLimit(int(quota) / int(period), int(period) / 1e6, _stopped(folder))


def _stopped(folder: Path) -> int:
    told = dict(line.split()[:2] for line in sysfs.text(folder / "cpu.stat").splitlines() if " " in line)
    count = told.get("nr_throttled", "")
    return int(count) if count.isdecimal() else 0


def memory_limit(root: Path = Path("/")) -> int | None:
    """Return the tightest limit of memory in bytes; None if there is none. `root` is as in `cpu_limit`."""
    texts = (
        sysfs.text(folder / name)
        for folder in _folders("memory", root)
        for name in ("memory.max", "memory.limit_in_bytes")
    )
    return min((int(text) for text in texts if text.isdecimal() and int(text) < _UNLIMITED), default=None)


def _folders(controller: str, root: Path) -> Iterator[Path]:
    """Yield the folders that may limit what a `controller` counts: from this process's groups upwards."""
    known = mounts(root / "proc")
    for line in sysfs.text(root / "proc/self/cgroup", errors="surrogateescape").splitlines():
        controllers, _, own = line.partition(":")[2].partition(":")  # behind the number of the hierarchy
        mount = next((mount for mount in known if _counts(mount, controller, controllers)), None)
        if mount:
            top, group = root / mount.point.lstrip("/"), _within(own, mount.root)
            yield from (top / part for part in (group, *group.parents))


def _counts(mount: Mount, controller: str, controllers: str) -> bool:
    """Return whether a hierarchy with these `controllers` is mounted here, and may count this one: version 2
    names none.
    """
    if not controllers:
        return mount.file_system == "cgroup2"
    each = mount.options.split(",")
    return mount.file_system == "cgroup" and controller in controllers.split(",") and controller in each


def _within(own: str, top: str) -> Path:
    """Return where a group lies below the `top` of what is mounted: it is that one itself where it does not
    seem to lie in it, as in a container with a view of its own, and another one's mount.
    """
    group, above = Path(own), Path(top)
    inside = group.is_relative_to(above) and ".." not in group.parts
    return group.relative_to(above) if inside else Path()
