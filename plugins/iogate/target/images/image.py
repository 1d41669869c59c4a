"""An image as a user names it: `IMAGE`, `IMAGE#2` (a partition's number) or `IMAGE#LABEL`."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import signal
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from iogate.errors import TargetError
from iogate.formats.held import path_of
from iogate.host.loop import attached_to
from iogate.units import printable

_NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True)
class Image:
    """A file with a file system in it, or a disk with partitions: then `partition` is the number or the
    label of one.
    """

    path: Path
    partition: int | str | None = None

    @classmethod
    def parse(cls, text: str) -> Image:
        """Return the image that a text names, relative to the working directory. A file whose own name has a
        `#` in it is found, too. Raises TargetError: `missing` or `partition`.
        """
        name, sign, partition = text.rpartition("#")
        if not sign or os.path.exists(os.path.expanduser(text)):
            return cls(_find(text))
        path = _find(name)
        if not partition:
            raise TargetError(
                printable(f"{text} names no partition"),
                rule="partition",
                remedy="say which: IMAGE#2 (its number) or IMAGE#LABEL",
            )
        return cls(path, int(partition) if _NUMBER.fullmatch(partition) else partition)

    def __str__(self) -> str:
        sign = "" if self.partition is None else f"#{self.partition}"
        return printable(f"{self.path}{sign}")


def is_image(text: str) -> bool:
    """Return whether a text names a regular file, or a partition in one: not a directory, nor a device."""
    try:
        return stat.S_ISREG(Image.parse(text).path.stat().st_mode)
    except (TargetError, OSError, ValueError):
        return False


@dataclass(frozen=True)
class Stamp:
    """What tells whether a file is still what it was."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int
    """When the kernel last saw it change, which nobody can put back."""

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """Return that of a file now. Raises OSError."""
        status = path.stat()
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)

    def __str__(self) -> str:
        return f"{self.size} bytes of {self.modified / 1e9:.9f} s, inode {self.inode} on {self.device}"


@contextlib.contextmanager
def opened(image: Image, file: Path) -> Iterator[Path]:
    """Hold the file of an image open for reading, and yield a path that leads to it, whatever becomes of its
    name. Whoever may write to its folder could put a pipe there, which would be waited for without end, or
    lead to a device, to which it means something to be opened: so it is looked at first.

    Raises OSError, and TargetError (`not-an-image`) for what is no file.
    """
    place = os.open(file, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(place).st_mode):
            raise TargetError(f"{image} is no image: it is not a file", rule="not-an-image")
        held = os.open(f"/proc/self/fd/{place}", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(place)
    try:
        yield path_of(held)
    finally:
        os.close(held)


def check_idle(image: Image) -> None:
    """Refuse an image that somebody may write to while it is copied. Nothing is written.

    Raises TargetError: `not-an-image`, `unreadable` or `image-in-use`.
    """
    try:
        with opened(image, image.path) as file:
            _check_idle(image, file)
    except OSError as error:
        raise unreadable(image, error) from error


def check_different(base: Image, candidate: Image) -> None:
    """Refuse two images that are one. Raises TargetError (`same-image`)."""
    if base.partition == candidate.partition and base.path.samefile(candidate.path):
        raise TargetError(
            f"{base} and {candidate} are the same image",
            rule="same-image",
            remedy="name another one; for a copy of the same data, to see what this machine resolves, "
            "say --io-against=same",
        )


def unreadable(image: Image, error: OSError) -> TargetError:
    """Return the refusal of an image that cannot be read."""
    reason = error.strerror or str(error)
    return TargetError(f"cannot read the image {image}: {reason}", rule="unreadable")


def _check_idle(image: Image, file: Path) -> None:
    if not file.stat().st_size:
        raise TargetError(f"the image {image} is empty", rule="not-an-image")
    loops = [device for device in attached_to(file) if not device.read_only]
    if loops:
        names = ", ".join(f"/dev/{device.name}" for device in loops)
        raise _in_use(image, f"it is attached as {names}", f"unmount and detach it: losetup -d {names}")
    if _is_written(file):
        raise _in_use(image, "a program has it open for writing", "end that first, such as a virtual machine")


def _in_use(image: Image, why: str, remedy: str) -> TargetError:
    message = f"the image {image} is in use: {why}, and may change while it is copied"
    return TargetError(message, rule="image-in-use", remedy=remedy)


def _is_written(path: Path) -> bool:
    """Return whether anybody has a file open for writing: then it cannot be leased (fcntl(2), F_SETLEASE).

    Where there are no leases, as on network file systems, the answer is no.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)  # for who opens it now; SIGIO would end us
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    else:
        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        return False
    finally:
        os.close(descriptor)


def _find(path: str) -> Path:
    try:
        return Path(path).expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise TargetError(
            printable(f"cannot find the image {path}: {reason}"),
            rule="missing",
            remedy="name a file that exists",
        ) from error
