"""Reading the small files of /sys and /proc, which may be missing, unreadable or empty."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

_PAGE = 4096


def text(path: Path | str, *, errors: str = "replace") -> str:
    """Return the stripped text of a small file up to its first NUL, with which the device tree ends text.

    It is empty if the file cannot be read (sensors may answer EIO or EAGAIN). `errors` says what becomes of
    bytes that are not UTF-8: `surrogateescape` keeps paths as they are.
    """
    return data(path).partition(b"\0")[0].decode("utf-8", errors=errors).strip()


def data(path: Path | str) -> bytes:
    """Return the bytes of a small file; none if it cannot be read."""
    # No file object: Python tells of one that Ctrl-C has left open (ResourceWarning), where this runs often.
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    try:
        return b"".join(iter(partial(os.read, descriptor, _PAGE), b""))
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def number(path: Path | str) -> int | None:
    """Return the whole number in a small file; None if there is none."""
    try:
        return int(text(path))
    except ValueError:
        return None


def names(folder: Path) -> list[str]:
    """Return the sorted names in a folder; none if it cannot be read."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def paths(folder: Path, pattern: str = "*") -> list[Path]:
    """Return what of a folder matches a pattern, sorted; nothing if it cannot be read."""
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []
