"""What a process of tests has for itself: its mounts, and a file system in memory for temporary files."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from uuid import UUID

_CLONE_NEWNS, _MS_REC, _MS_SLAVE = 0x20000, 0x4000, 0x80000
_SIZE = 8 * 2**30
"""Bytes of the file system in memory; what of it is never written takes none."""
_SPARE = 2
"""Times that size has to be free: the tests want memory, too."""


def mounts_of_its_own() -> bool:
    """Let this process, and all that it starts, mount for itself alone (mount_namespaces(7)): hosts and
    clients of tests beside it have mount namespaces, which keep what was mounted when they were made.

    False for who may not do that, and mounts nothing.
    """
    libc = ctypes.CDLL(None)
    return not libc.unshare(_CLONE_NEWNS) and not libc.mount(
        b"none", b"/", None, ctypes.c_ulong(_MS_REC | _MS_SLAVE), None
    )


def in_memory() -> Path | None:
    """Mount ext4 on a file in memory, where no other process of this machine makes the disk stand still.

    It is there for this process alone and what that starts, which have `mounts_of_its_own`, and is gone with
    them. The tmpfs below is unmounted at once: what is measured there stands for a disk. None where memory
    is scarce, or takes no direct I/O (before Linux 6.6).
    """
    if _available() < _SPARE * _SIZE:
        return None
    folder = Path(tempfile.mkdtemp(prefix="iogate-tests-"))
    try:
        _run("mount", "-t", "tmpfs", "-o", f"size={_SIZE}", "tmpfs", folder)
        try:
            device = _formatted(folder / "disk.img")
        finally:
            _run("umount", "--lazy", folder)
        try:
            _run("mount", "-o", "discard", device, folder)
        finally:
            _run("losetup", "--detach", device)  # as soon as nobody has it mounted
    except (OSError, subprocess.CalledProcessError):
        with suppress(OSError):
            folder.rmdir()
        return None
    folder.chmod(0o1777)
    return folder


def leave(folder: Path) -> None:
    """Unmount what `in_memory` returned; the last process that has it open ends it."""
    with suppress(OSError, subprocess.CalledProcessError):
        _run("umount", "--lazy", folder)
        folder.rmdir()


def _available() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def _formatted(file: Path) -> str:
    with file.open("wb") as stream:
        stream.truncate(_SIZE)
    os.close(os.open(file, os.O_RDONLY | os.O_DIRECT))
    device = _run("losetup", "--find", "--show", "--direct-io=on", file)
    try:
        # The seed is that of the order in which a folder lists its files.
        extended = f"lazy_itable_init=0,lazy_journal_init=0,hash_seed={UUID(int=1)}"
        _run("mkfs.ext4", "-q", "-F", "-m", "0", "-E", extended, device)
    except (OSError, subprocess.CalledProcessError):
        _run("losetup", "--detach", device)
        raise
    return device


def _run(program: str, *arguments: str | Path) -> str:
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    command = [shutil.which(program, path=path) or program, *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
