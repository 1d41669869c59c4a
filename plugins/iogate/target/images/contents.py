"""What is in a raw image: a file system, or partitions with one each.

libblkid tells, by its tools `partx` (partition tables: GPT, MBR with logical partitions, and others) and
`blkid --probe`; both read the image alone.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from iogate.errors import TargetError
from iogate.host.tools import ask
from iogate.target.images.image import Image
from iogate.units import format_quantity, printable

MOUNTABLE = ("btrfs", "ext2", "ext3", "ext4", "xfs")
_SECTORS = (512, 4096)
_TABLE_UNIT = 512  # bytes: libblkid's, whatever the sectors of the table
_EXTENDED = {"0x5", "0xf", "0x85"}  # partitions of MBR that hold others
_MOST = 128  # partitions
_AMBIGUOUS = 8  # exit status of blkid: signs of several things that exclude one another
_ESCAPE = re.compile(rb"\\x([0-9a-fA-F]{2})")
_CONTAINERS = {
    "LVM2_member": "is part of LVM",
    "crypto_LUKS": "is encrypted (LUKS)",
    "BitLocker": "is encrypted (BitLocker)",
    "linux_raid_member": "is part of an md array",
    "zfs_member": "is part of a ZFS pool",
    "swap": "is swap space",
}


@dataclass(frozen=True)
class FileSystem:
    """A file system and where it lies in its raw image, in bytes; `sector` is that of the disk around it."""

    kind: str
    uuid: str
    start: int
    length: int
    sector: int


@dataclass(frozen=True)
class Partition:
    """A line of a partition table, with `name` of GPT."""

    number: int
    name: str
    start: int
    length: int


def file_system_in(image: Image, raw: Path) -> FileSystem:
    """Return the file system that an image names, in its raw file (the image itself, or made of it).

    Raises TargetError: `not-an-image`, `partition` with those that are there, or `file-system`.
    """
    size = raw.stat().st_size
    if image.partition is None:
        found = _probe(raw, 0, size)
        if not found.get("ID_FS_TYPE"):
            _refuse_disk(image, raw)
        return FileSystem(*_mountable(image, found), 0, size, _SECTORS[0])
    sector, partitions = _partitions(image, raw)
    chosen = _choose(image, raw, partitions)
    if chosen.start + chosen.length > size:
        message = f"{image} ends behind the image's end: it was cut off"
        raise TargetError(message, rule="partition", remedy="copy the image again")
    found = _probe(raw, chosen.start, chosen.length)
    return FileSystem(*_mountable(image, found), chosen.start, chosen.length, sector)


def _partitions(image: Image, raw: Path) -> tuple[int, list[Partition]]:
    """Return what `read_table` does. Raises TargetError for more partitions than a table of GPT has as a
    rule, each of which takes a while to look at.
    """
    sector, partitions = read_table(raw)
    if len(partitions) > _MOST:
        message = f"{image.path} has {len(partitions)} partitions, and more than {_MOST} are none of a disk"
        raise TargetError(printable(message), rule="partition")
    return sector, partitions


def read_table(raw: Path) -> tuple[int, list[Partition]]:
    """Return the sector size of a raw disk image and its partitions; none without a partition table."""
    for sector in _SECTORS:
        columns = "NR,START,SECTORS,NAME,TYPE"
        arguments = ("--pairs", "--output", columns, "--sector-size", str(sector), "--", str(raw))
        partitions = parse_table(ask("partx", "util-linux", *arguments).stdout)
        if partitions:
            return sector, partitions
    return _SECTORS[0], []


def parse_table(text: str) -> list[Partition]:
    """Return the partitions in an output of `partx --pairs`; what is no such line is left out, as are the
    partitions that only hold others.
    """
    found = []
    for line in text.split("\n"):
        try:
            fields = dict(word.split("=", 1) for word in shlex.split(line))
            if fields["TYPE"] not in _EXTENDED:
                start, sectors = int(fields["START"]), int(fields["SECTORS"])
                name = unescape(fields["NAME"])
                found.append(Partition(int(fields["NR"]), name, start * _TABLE_UNIT, sectors * _TABLE_UNIT))
        except (ValueError, KeyError):
            continue
    return found


def unescape(text: str) -> str:
    r"""Return a name of util-linux's tools with its `\xHH` undone."""
    raw = _ESCAPE.sub(lambda match: bytes([int(match[1], 16)]), text.encode(errors="replace"))
    return raw.decode(errors="replace")


# ------------------------------------------------------------ what is there


def _probe(raw: Path, start: int, length: int) -> dict[str, str]:
    place = ("--offset", str(start), "--size", str(length))
    answer = ask("blkid", "util-linux", "--probe", "--output", "udev", *place, "--", str(raw))
    if answer.status == _AMBIGUOUS:
        return {"ID_FS_TYPE": "ambiguous"}
    lines = (line.partition("=") for line in answer.stdout.split("\n"))
    return {key: value for key, _, value in lines if value}


def _mountable(image: Image, found: dict[str, str]) -> tuple[str, str]:
    """Return kind and UUID of a file system that may be mounted. Raises TargetError."""
    kind = found.get("ID_FS_TYPE", "")
    journal_elsewhere = "ID_FS_EXT_JOURNAL" in found
    if kind in MOUNTABLE and not journal_elsewhere:
        return kind, found.get("ID_FS_UUID", "")
    remedy = f"name an image of one of these file systems: {', '.join(MOUNTABLE)}"
    if kind in _CONTAINERS:
        raise TargetError(f"what is in {image} {_CONTAINERS[kind]}", rule="file-system", remedy=remedy)
    if journal_elsewhere:
        message = f"the journal of the {kind} in {image} is on another device"
        raise TargetError(message, rule="file-system", remedy="give it an internal one: tune2fs -j")
    if kind == "ambiguous":
        message = f"{image} holds signs of several file systems"
        raise TargetError(message, rule="file-system", remedy="see which is right: wipefs --no-act IMAGE")
    what = f"{printable(kind)}, which is not measured" if kind else "no file system"
    raise TargetError(f"there is {what} in {image}", rule="file-system", remedy=remedy)


def _refuse_disk(image: Image, raw: Path) -> None:
    """Refuse a disk image without the name of a partition; return if it is none."""
    _, partitions = _partitions(image, raw)
    if partitions:
        first = partitions[0].number
        raise TargetError(
            f"{image} is a disk image: say which of its partitions",
            rule="partition",
            remedy=f"{_listed(raw, partitions)}; such as {image}#{first}",
        )
    if not _probe(raw, 0, raw.stat().st_size):
        message = f"{image} is no image: it holds neither a file system nor partitions that can be read"
        raise TargetError(message, rule="not-an-image", remedy="name a raw image, a disk image or a qcow2")


def _choose(image: Image, raw: Path, partitions: list[Partition]) -> Partition:
    if not partitions:
        message = f"{image.path} has no partitions that can be read"
        raise TargetError(printable(message), rule="partition", remedy=printable(f"say {image.path}"))
    named = [
        item
        for item in partitions
        if image.partition in (item.number, item.name)
        or (isinstance(image.partition, str) and _label(raw, item) == image.partition)
    ]
    if len(named) == 1:
        return named[0]
    message = f"{len(named) or 'no'} partitions of {image.path} are called {image.partition}"
    raise TargetError(printable(message), rule="partition", remedy=_listed(raw, partitions))


def _label(raw: Path, partition: Partition) -> str:
    return unescape(_probe(raw, partition.start, partition.length).get("ID_FS_LABEL_ENC", ""))


def _listed(raw: Path, partitions: list[Partition]) -> str:
    """Return the partitions in words, with all by which one may be called: `#1 (ext4 'root', 10 GiB)`, and
    where label and name differ `#2 (ext4 'rootfs', partition 'system', 10 GiB)`.
    """
    found = []
    for item in partitions:
        kind = _probe(raw, item.start, item.length).get("ID_FS_TYPE", "no file system")
        label = _label(raw, item)
        name = f"{kind} {label or item.name!r}" if label or item.name else kind
        name += f", partition {item.name!r}" if item.name not in ("", label or item.name) else ""
        found.append(f"#{item.number} ({name}, {format_quantity(item.length, 'B')})")
    return printable(f"there are {', '.join(found)}")
