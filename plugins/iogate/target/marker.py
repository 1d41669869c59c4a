"""The marker of a scratch folder: it tells whose the folder is, and is locked while its run lives."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from iogate.errors import TargetError
from iogate.formats.held import name_of
from iogate.host import sysfs
from iogate.host.flock import lock
from iogate.host.mounts import OF_ONE_MACHINE, WITHOUT_OWNERS, backing, mount_of
from iogate.target.layout import refusal

PREFIX = ".iogate-scratch-"
"""What the name of every scratch folder begins with."""
MARKER = "iogate"
"""The name of the marker."""
MAGIC = b"A folder of iogate: removed by the run that made it, or by the next one.\n"
"""What it begins with."""
_DATA = r"data-\d+(-written|-mixed|-mixed-[0-9a-f]+)?(-\d+)?"
_OWN = re.compile(rf"{MARKER}|engine|{_DATA}|slot-\d+|(base|candidate)\.raw")


@contextlib.contextmanager
def marked(folder: int, path: Path) -> Iterator[None]:
    """Mark a new folder as iogate's; the marker is locked as long as this process lives in the folder."""
    try:
        marker = os.open(MARKER, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
    except FileNotFoundError as error:  # it was empty, so that who owns the directory could remove it
        raise replaced(path) from error
    except OSError as error:
        raise refusal(error, f"cannot make files in {path}") from error
    try:
        try:
            os.mkdir("engine", 0o700, dir_fd=folder)
            lock(marker)
            os.write(marker, MAGIC + f"{_machine()} {_boot()}\n".encode())
            os.fsync(marker)  # a power cut must not leave a folder that nobody knows
        except OSError as error:
            raise refusal(error, f"cannot write in {path}") from error
        yield
    finally:
        with contextlib.suppress(OSError):  # what was written is known, or gone with its file system
            os.close(marker)


def replaced(path: Path) -> TargetError:
    """Return what is said of a folder that was exchanged before it was marked."""
    message = f"{path} was renamed, replaced or removed in the moment in which it was made"
    remedy = "find out who did it, or choose another target"
    return TargetError(message, rule="changed", remedy=remedy)


def is_abandoned(parent: int, folder: int) -> bool:
    """Return whether an open folder is one of iogate, of this user, whose run is gone. Raises OSError."""
    if not is_own(parent, folder):
        return False
    text = marker_text(folder)
    if text is None or is_elsewhere(folder, text):
        return False
    if not os.listdir(folder):
        return True  # killed before it could mark it
    marker = _open_marker(folder)
    try:
        return lock(marker)
    finally:
        os.close(marker)


def is_own(parent: int, folder: int) -> bool:
    """Return whether a folder in an open directory is this user's, and others cannot have put anything into
    it: whoever may write to the directory can give another folder of this user's, such as one for the
    temporary files of all, the name of a scratch folder, and a marker. Where files have no owners, it is of
    the one whom all of them are said to be of. Raises OSError.
    """
    status = os.fstat(folder)
    if status.st_uid == os.geteuid() and not status.st_mode & 0o022:
        return True
    mount = mount_of(name_of(parent))
    without = mount is not None and mount.file_system in WITHOUT_OWNERS
    return without and status.st_uid == os.fstat(parent).st_uid


def marker_text(folder: int) -> bytes | None:
    """Return what the marker of an open folder says; nothing if it was lost in a power cut, or is still to be
    made, and None if this is no folder of iogate. Raises OSError.
    """
    names = set(os.listdir(folder))
    if not names:
        return b""
    marker = _open_marker(folder)
    try:
        known = os.fstat(marker).st_uid == os.fstat(folder).st_uid
        text = os.read(marker, 1000) if known else None
    finally:
        os.close(marker)
    if text is not None and not text.strip(b"\0") and all(_OWN.fullmatch(name) for name in names):
        return b""
    return text if text is not None and text.startswith(MAGIC) else None


def _open_marker(folder: int) -> int:
    """Open the marker of an open folder. Raises OSError, also for what is no plain file: a device that a
    stranger's disk names so may act by being opened.
    """
    place = os.open(MARKER, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(place).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        return os.open(f"/proc/self/fd/{place}", os.O_RDWR | os.O_CLOEXEC)
    finally:
        os.close(place)


def is_elsewhere(folder: int, text: bytes) -> bool:
    """Return whether another machine may be at work in a folder whose marker says `text`: its locks may hold
    there alone, as on NFS with `nolock`, 9p and virtiofs.
    """
    machine, _, boot = text.removeprefix(MAGIC).decode(errors="replace").strip().rpartition(" ")
    return bool(machine) and boot != _boot() and machine != _machine() and _is_shared(folder)


def _is_shared(folder: int) -> bool:
    """Return whether several machines may see a folder. What lies on a disk has one machine at a time, also
    one that is called otherwise by now: a new image, or a read-only one at each start, gives it another id.
    """
    if os.major(os.fstat(folder).st_dev):
        return False
    mount = mount_of(Path(f"/proc/self/fd/{folder}"))
    held = backing(mount) if mount else None
    return held is None or (held.number.startswith("0:") and held.file_system not in OF_ONE_MACHINE)


def _machine() -> str:
    """Return what this machine is called, with what tells boards of one image apart."""
    serial = sysfs.text("/proc/device-tree/serial-number")
    return " ".join(filter(None, (sysfs.text("/etc/machine-id"), serial, os.uname().nodename)))


def _boot() -> str:
    return sysfs.text("/proc/sys/kernel/random/boot_id") or "-"
