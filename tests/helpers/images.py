"""Images of file systems and disks, and what is left of slots."""

import os
import shutil
from pathlib import Path

import pytest

from iogate.host.mounts import mounts
from loops import MIB, need, run, status

SIZES = {"ext4": 24, "xfs": 24, "btrfs": 110}
"""In MiB, the least that each kind takes."""
_TINY_XFS = ("env", "TEST_DIR=none", "TEST_DEV=none", "QA_CHECK_FS=none")
"""What the tests of XFS say to mkfs.xfs, which else wants 300 MiB."""


def format_image(kind, file, *options):
    """Make a file system in a new file, of a kind that this kernel can mount."""
    need(f"mkfs.{kind}")
    if shutil.which("modprobe"):
        run("modprobe", "--quiet", kind, check=False)
    if kind not in Path("/proc/filesystems").read_text().split():
        pytest.skip(f"this kernel does not mount {kind}")
    with file.open("wb") as stream:
        stream.truncate(SIZES[kind] * MIB)
    run(*(_TINY_XFS if kind == "xfs" else ()), f"mkfs.{kind}", "-q", *options, file)
    return file


def disk_image(file, *partitions, label="gpt"):
    """Make a disk image of files with file systems, each a partition (its name: the file's stem), from 1 MiB
    on.
    """
    need("sfdisk")
    start, lines = MIB, [f"label: {label}"]
    with file.open("wb") as disk:
        for partition in partitions:
            size = partition.stat().st_size
            name = f", name={partition.stem}" if label == "gpt" else ""
            lines.append(f"start={start // 512}, size={size // 512}{name}")
            disk.seek(start)
            disk.write(partition.read_bytes())
            start += size
        disk.truncate(start + MIB)
    write_table(file, *lines)
    return file


def write_table(disk, *lines):
    """Write a partition table, given as sfdisk wants it."""
    assert not status("sfdisk", "--quiet", disk, text="\n".join(lines) + "\n")


def clone(image):
    """A copy of an image, UUID and all."""
    copy = image.with_name(f"clone-{image.name}")
    shutil.copyfile(image, copy)
    return copy


def traces(folder):
    """What there is of slots in a folder: mounts, loop devices, files."""
    points = [item.point for item in mounts() if item.point.startswith(f"{folder}/")]
    attached = run("losetup", "--list", "--noheadings", "--output", "BACK-FILE").splitlines()
    return points + [file for file in attached if file.startswith(f"{folder}/")] + os.listdir(folder)
