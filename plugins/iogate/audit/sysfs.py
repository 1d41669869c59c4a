"""Reading the small files of /sys and /proc, which may be missing, unreadable or empty."""

from __future__ import annotations

import os
from pathlib import Path


def text(path: Path | str) -> str:
    """The stripped content of a small file; empty if it cannot be read (sensors may answer EIO or EAGAIN)."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.read(descriptor, 65536).decode("ascii", errors="replace").strip()
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def number(path: Path | str) -> int | None:
    """The whole number in a small file; None if there is none."""
    try:
        return int(text(path))
    except ValueError:
        return None


def names(folder: Path | str) -> list[str]:
    """The sorted names in a folder; empty if it cannot be read."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
