"""From an image to a slot: every byte of it is written, past the page cache. The image is only read."""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from iogate.errors import TargetError
from iogate.host import fiemap
from iogate.target.images import qcow2
from iogate.target.images.contents import FileSystem, file_system_in
from iogate.target.images.image import Image, Stamp, check_idle, opened, unreadable
from iogate.target.layout import NO_DIRECT, Tick, refusal
from iogate.units import format_quantity

_ALIGNMENT = 2**20
"""A partition keeps its place within a MiB, so that one that is badly aligned stays so."""
_CHUNK = 4 * 2**20
_HEAD = 4096


@dataclass(frozen=True)
class Source:
    """What is copied into a slot: `raw` is the image, or the raw copy made of it."""

    image: Image
    raw: Path
    stamp: Stamp
    contents: FileSystem

    @property
    def lead(self) -> int:
        """Bytes before the file system in its slot."""
        return self.contents.start % _ALIGNMENT

    @property
    def room(self) -> int:
        """Bytes that a slot must have for it."""
        return -(-(self.lead + self.contents.length) // _ALIGNMENT) * _ALIGNMENT


def source_of(image: Image, copy: Path) -> Source:
    """Return what to copy of an image; of a qcow2, a raw copy is made first, at the path `copy`.

    Raises TargetError.
    """
    check_idle(image)
    with _readable(image), opened(image, image.path) as file:
        if not qcow2.is_qcow2(image, _head(file)):
            return _raw_source(image, image.path, file)
        before = Stamp.of(file)
        qcow2.make_raw(image, file, copy)
        _check_same(image, image.path, before)
        return _raw_source(image, copy, copy)


def required_space(base: Image, candidate: Image) -> int:
    """Return the bytes that slots for two images take, and raw copies of images that are not raw: the least,
    as partitions of such an image are known when its copy is made. Nothing is written.

    Raises TargetError if one of them cannot be taken.
    """
    sizes, copies = [], 0
    for image in (base, candidate):
        check_idle(image)
        with _readable(image), opened(image, image.path) as file:
            head = _head(file)
            if not qcow2.is_qcow2(image, head):
                sizes.append(_raw_source(image, image.path, file).room)
                continue
            sizes.append(qcow2.virtual_size(head) if image.partition is None else 0)
            copies += qcow2.raw_bytes(image, file)
    return 2 * max(sizes) + copies


def _raw_source(image: Image, raw: Path, file: Path) -> Source:
    """Return what is in a raw file, which the path `file` leads to for now."""
    return Source(image, raw, Stamp.of(file), file_system_in(image, file))


def _head(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.read(_HEAD)


def open_slot(file: Path) -> int:
    """Make a new file for a slot, and return it open. Raises TargetError."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_DIRECT
    try:
        return os.open(file, flags, 0o600)
    except OSError as error:
        raise _refusal(error, f"cannot make {file.name}", os.path.realpath(file.parent)) from error


def copy(source: Source, slot: int, size: int, tick: Tick | None = None) -> None:
    """Write an open slot whole: the file system in its place, zeros before and behind it.

    Raises TargetError: `changed` if the image is not what it was, `space`, `io-error`, or `holes`.
    """
    file = os.readlink(f"/proc/self/fd/{slot}")
    with _readable(source.image), opened(source.image, source.raw) as raw:
        _check_same(source.image, raw, source.stamp)
        descriptor = os.open(raw, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _write(descriptor, source, slot, size, tick)
        holes = fiemap.unwritten_bytes(slot)
    except OSError as error:
        raise _refusal(error, f"cannot copy {source.image} to {file}", os.path.dirname(file)) from error
    finally:
        os.close(descriptor)
    _check_same(source.image, source.raw, source.stamp)
    if holes:
        message = f"{format_quantity(holes, 'B')} of the slot {file} are not on the device"
        remedy = "choose a target folder whose file system writes what it is given (without compression)"
        raise TargetError(message, rule="holes", remedy=remedy)


def _refusal(error: OSError, action: str, folder: str) -> TargetError:
    if error.errno in NO_DIRECT:
        message = f"slots are written past the page cache, which {folder} refuses"
        return TargetError(message, rule="no-direct-io", remedy="name another target folder")
    return refusal(error, action)


def _write(descriptor: int, source: Source, slot: int, size: int, tick: Tick | None) -> None:
    os.posix_fallocate(slot, 0, size)
    view = memoryview(mmap.mmap(-1, _CHUNK))  # page-aligned, as direct I/O demands
    first = source.contents.start - source.lead
    for offset in range(0, size, _CHUNK):
        length = min(_CHUNK, size - offset)
        _read(descriptor, view[:length], first + offset, source.contents)
        done = 0
        while done < length:
            done += os.pwrite(slot, view[done:length], offset + done)
        if tick:
            tick(offset + length, size)
    os.fsync(slot)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def _read(descriptor: int, view: memoryview, start: int, contents: FileSystem) -> None:
    """Fill a view with the bytes of an image from `start` on: zeros where it is not the file system."""
    view[:] = bytes(len(view))
    low = max(start, contents.start)
    high = min(start + len(view), contents.start + contents.length)
    while low < high:
        read = os.preadv(descriptor, [view[low - start : high - start]], low)
        if not read:
            return  # it became shorter: that it changed is said afterwards
        low += read


def _check_same(image: Image, path: Path, before: Stamp) -> None:
    with _readable(image):
        if Stamp.of(path) != before:
            message = f"the image {image} changed since it was looked at"
            raise TargetError(message, rule="changed", remedy="end what writes to it, and start over")


@contextlib.contextmanager
def _readable(image: Image) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise unreadable(image, error) from error
