"""What is mounted and swapped on: /proc/self/mountinfo (proc_pid_mountinfo(5)) and /proc/swaps."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from iogate.host import sysfs

PROC = Path("/proc")
IN_MEMORY = frozenset({"tmpfs", "ramfs", "devtmpfs", "hugetlbfs", "rootfs"})
"""File systems that keep files in memory; tmpfs accepts O_DIRECT from Linux 6.6 on, meaning nothing."""
LAYERED = frozenset({"overlay", "aufs"})
"""File systems that keep files in a layer of another one."""
WITHOUT_OWNERS = frozenset({"vfat", "msdos", "exfat"})
"""File systems whose files have no owner, and which have no links."""
IN_PLACE = frozenset({"ext2", "ext3", "ext4", "xfs", "jfs", "ntfs", "ntfs3", *WITHOUT_OWNERS, *IN_MEMORY})
"""File systems that write what is overwritten where it was; of others, and of served ones, nobody knows."""
OF_ONE_MACHINE = frozenset({"bcachefs", "btrfs", "ubifs", "zfs"})
"""File systems whose disks one machine has at a time, although their files bear no block device's number."""
_ESCAPE = re.compile(r"\\([0-7]{3})")
_DEPTH = 8  # overlays on overlays


_OF_EXT4 = frozenset({"ext2", "ext3", "ext4"})
_ALWAYS_OF_OLDER = "nodelalloc"  # of ext2 and ext3, whatever their superblocks say
_DEFAULTS_OF_SUPERBLOCKS = frozenset(
    {
        *("data=journal", "data=writeback", "nobarrier", "journal_async_commit"),
        *("discard", "nodelalloc", "sync", "dirsync", "dax", "dax=always"),
    }
)


@dataclass(frozen=True)
class Mount:
    """One line of mountinfo; `number` is the `major:minor` of its files (major 0: not a block device's).

    `options` are those of the file system, `own_options` those of this mount of it.
    """

    id: int
    number: str
    root: str
    point: str
    file_system: str
    source: str
    options: str
    own_options: str = ""

    @property
    def block_number(self) -> str | None:
        """The `major:minor` of the block device that it is on; None if it is on none, or none that is known.

        btrfs and others number their files by themselves: there the source tells, but for what another user
        mounted, who may call it what he likes.
        """
        if not self.number.startswith("0:"):
            return self.number
        told = self.source.startswith("/") and not self._is_of_another_user
        return block_number(Path(self.source)) if told else None

    @property
    def _is_of_another_user(self) -> bool:
        """Whether another user than root and this one mounted it, as anybody may by FUSE (fusermount)."""
        user = _option(self.options, "user_id") if re.fullmatch(r"fuse(\..*)?", self.file_system) else ""
        return user not in ("", "0", str(os.geteuid()))


def unescape(field: str) -> str:
    """Return a field of mountinfo or swaps with its octal escapes (space, tab, newline, backslash) undone."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 8)), field)


def parse_mountinfo(text: str) -> list[Mount]:
    """Return the mounts of a mountinfo file, in its order; lines that are none are left out.

    The optional fields before the lone hyphen vary in number. Names are split at spaces alone: the kernel
    escapes those, but not other white space of Unicode.
    """
    mounts = []
    for line in text.split("\n"):
        left, separator, right = line.partition(" - ")
        before, after = left.split(" "), right.split(" ")
        if not separator or len(before) < 6 or len(after) < 3 or not before[0].isdigit():
            continue
        mounts.append(
            Mount(
                id=int(before[0]),
                number=before[2],
                root=unescape(before[3]),
                point=unescape(before[4]),
                file_system=after[0],
                source=unescape(after[1]),
                options=" ".join(after[2:]),
                own_options=before[5],
            )
        )
    return mounts


def mounts(proc: Path = PROC) -> list[Mount]:
    """Return everything mounted in this mount namespace; empty where /proc does not tell."""
    return parse_mountinfo(sysfs.text(proc / "self/mountinfo", errors="surrogateescape"))


def mount_of(path: Path, proc: Path = PROC) -> Mount | None:
    """Return the mount that holds an existing path, as the kernel itself sees it; None if it does not tell.

    A process in a chroot does not see the mount that its root directory is a part of: there the device
    number of the path's files is all that is known, and the rest is empty.
    """
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        match = re.search(
            r"^mnt_id:\s*(\d+)",
            sysfs.text(proc / f"self/fdinfo/{descriptor}"),
            re.MULTILINE,
        )
        if match is None:
            return None
        number = int(match[1])
        found = next((mount for mount in mounts(proc) if mount.id == number), None)
        if found is None:
            device = number_text(os.fstat(descriptor).st_dev)
            return Mount(number, device, root="", point="", file_system="", source="", options="")
        return with_all_options(found, proc)
    finally:
        os.close(descriptor)


def with_all_options(mount: Mount, proc: Path = PROC) -> Mount:
    """Return a mount with what the superblock of an ext4 makes its default (`tune2fs -o`, `-E mount_opts`),
    which mountinfo leaves out: /proc/fs/ext4 tells, as far as it changes speed or safety.
    """
    if mount.file_system not in _OF_EXT4:
        return mount
    name = os.path.basename(os.path.realpath(proc.parent / "sys/dev/block" / mount.number))
    told = mount.options.split(",")
    held = sysfs.text(proc / "fs/ext4" / name / "options").split()
    if mount.file_system != "ext4":
        told.append(_ALWAYS_OF_OLDER)
    more = [option for option in held if option in _DEFAULTS_OF_SUPERBLOCKS and option not in told]
    return replace(mount, options=",".join([mount.options, *more]))


def backing(mount: Mount, proc: Path = PROC) -> Mount | None:
    """Return the mount that really holds the files: that of the upper layer of an overlay, else the mount
    itself.

    None for an overlay whose upper layer cannot be seen from here, as from within a container or where an
    initramfs mounted it.
    """
    found: Mount | None = mount
    for _ in range(_DEPTH):
        if found is None or found.file_system not in LAYERED:
            return found
        upper = _option(found.options, "upperdir")
        found = mount_of(Path(upper), proc) if _is_upper(upper, found.point) else None
    return None


def real_file(path: Path) -> Path:
    """Return where a file of an overlay really lies, which is in its upper layer once it was written to; the
    path itself for any other, or where that cannot be seen from here.
    """
    found = Path(os.path.realpath(path))
    for _ in range(_DEPTH):
        mount = mount_of(found)
        upper = _option(mount.options, "upperdir") if mount and mount.file_system in LAYERED else ""
        if mount is None or not _is_upper(upper, mount.point) or not found.is_relative_to(mount.point):
            break
        below = Path(upper) / found.relative_to(mount.point)
        if not below.is_file():
            break
        found = below
    return found


def _is_upper(path: str, point: str) -> bool:
    """Return whether a path may be the upper layer of the overlay that is mounted there, or is a namesake.

    An overlay's statfs(2) is that of its upper layer. Some file systems change their size by a little.
    """
    try:
        size, other = (status.f_blocks * status.f_frsize for status in (os.statvfs(path), os.statvfs(point)))
    except (OSError, ValueError):
        return path.startswith("/")
    return path.startswith("/") and abs(size - other) <= 0.01 * size


def parse_swaps(text: str) -> list[str]:
    """Return the files and devices of /proc/swaps, whose first line is a heading."""
    rows = [line.split() for line in text.split("\n")[1:]]
    return [unescape(row[0]) for row in rows if len(row) >= 2]


def swaps(proc: Path = PROC) -> Iterator[tuple[str, str]]:
    """Yield the block devices that are swapped on, each with its name and `major:minor`."""
    for name in parse_swaps(sysfs.text(proc / "swaps", errors="surrogateescape")):
        number = block_number(Path(name))
        if number:
            yield name, number


def block_number(path: Path) -> str | None:
    """Return the `major:minor` of the block device that a path leads to, or None if it leads to none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return number_text(status.st_rdev) if stat.S_ISBLK(status.st_mode) else None


def number_text(number: int) -> str:
    """Return a device number of stat(2) as /sys and /proc write it: `8:1`."""
    return f"{os.major(number)}:{os.minor(number)}"


def _option(options: str, name: str) -> str:
    """Return one of the options after the hyphen, its escapes undone; a comma within a value is written
    `\\,`.
    """
    for option in re.split(r"(?<!\\),", unescape(options)):
        key, _, value = option.partition("=")
        if key == name:
            return value.replace("\\,", ",").replace("\\:", ":")
    return ""
