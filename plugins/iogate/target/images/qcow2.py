"""Images of qcow2, which qemu-img makes raw ones of.

Such an image can name other files (a backing file, an external data file), which would be read with the
rights of this process: its header is looked at before qemu-img is. The format: qemu's docs/interop/qcow2.
Formats are told by their magic numbers, never by names, and never guessed by qemu-img.
"""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path

from iogate.errors import TargetError
from iogate.host.process import run
from iogate.host.tools import ask, find_tool, last_line
from iogate.target.images.image import Image

_HEADER = struct.Struct(">4sIQIIQI36xQ")
"""Magic, version, backing file's offset and length, cluster bits, virtual size, encryption; features."""
_MAGIC = b"QFI\xfb"
_EXTERNAL_DATA = 1 << 2  # of the incompatible features, which version 3 has
_FOREIGN = (
    (0, b"KDMV", "VMDK"),
    (0, b"# Disk DescriptorFile", "VMDK"),
    (0, b"vhdxfile", "VHDX"),
    (0, b"conectix", "VHD"),
    (0, b"QED\0", "QED"),
    (64, b"\x7f\x10\xda\xbe", "VDI"),
)
_PACKED = ((b"\x1f\x8b", "gzip"), (b"\xfd7zXZ\0", "xz"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"BZh", "bzip2"))
_PACKAGE = "qemu-utils"
_DAY = 86400.0


def is_qcow2(image: Image, head: bytes) -> bool:
    """Return whether the first bytes of an image are those of a qcow2 that holds all of its data itself.

    Raises TargetError: `image-format` if it is of another kind that must be made raw first, or needs other
    files or a password.
    """
    for start, magic, name in _FOREIGN:
        if head[start:].startswith(magic):
            raise _not_raw(image, f"is a {name}", "make it raw: qemu-img convert -O raw IMAGE NEW")
    for magic, name in _PACKED:
        if head.startswith(magic):
            raise _not_raw(image, f"is packed by {name}", "unpack it first")
    if not head.startswith(_MAGIC):
        return False
    if len(head) < _HEADER.size:
        raise _not_raw(image, "is a qcow2 that was cut off", "copy it again")
    _, version, backing, _, _, _, encryption, features = _HEADER.unpack_from(head)
    if version not in (2, 3):
        raise _not_raw(image, f"is a qcow2 of version {version}", "make it raw: qemu-img convert -O raw")
    remedy = "make one file of it: qemu-img convert -O raw IMAGE NEW"
    if backing:
        raise _not_raw(image, "needs the image that it is based on (a backing file)", remedy)
    if version > 2 and features & _EXTERNAL_DATA:
        raise _not_raw(image, "keeps its data in another file", remedy)
    if encryption:
        raise _not_raw(image, "is encrypted", remedy)
    return True


def virtual_size(head: bytes) -> int:
    """Return the bytes of the disk that a qcow2 holds, by its header."""
    return int(_HEADER.unpack_from(head)[5])


def raw_bytes(image: Image, file: Path) -> int:
    """Return the bytes that its raw copy takes, holes left out; `file` leads to it. Raises TargetError."""
    answer = ask("qemu-img", _PACKAGE, "measure", "--output=json", "-O", "raw", _alone(file))
    if answer.status:
        raise _damaged(image, answer.reason.replace(str(file), str(image.path)))
    try:
        return int(json.loads(answer.stdout)["required"])
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(image, "qemu-img said what cannot be understood") from error


def make_raw(image: Image, file: Path, raw: Path) -> None:
    """Write a raw copy of an image, which `file` leads to, with holes. It is on the disk when this returns;
    qemu-img goes with this process.

    Raises TargetError, OSError.
    """
    path = find_tool("qemu-img", _PACKAGE)
    arguments = ("convert", "-O", "raw", _alone(file), str(raw))
    done = run([path, *arguments], folder=raw.parent, timeout=_DAY)
    if done.status:
        said = last_line(done.stderr).replace(str(file), str(image.path))
        raise _damaged(image, said or f"qemu-img ended with status {done.status}")
    with raw.open("rb") as stream:
        os.fsync(stream.fileno())


def _alone(image: Path) -> str:
    """Return what qemu-img is to open: a qcow2 without a backing file, should it have got one meanwhile."""
    file = {"driver": "file", "filename": str(image)}
    return f"json:{json.dumps({'driver': 'qcow2', 'backing': None, 'file': file})}"


def _not_raw(image: Image, what: str, remedy: str) -> TargetError:
    return TargetError(f"{image} {what}", rule="image-format", remedy=remedy)


def _damaged(image: Image, reason: str) -> TargetError:
    remedy = "see what qemu-img check says"
    return TargetError(f"cannot make a raw image of {image}: {reason}", rule="image-format", remedy=remedy)
