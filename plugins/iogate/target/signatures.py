"""What the contents of a block device say that it is: file system, partition table, swap, LVM, md, Ceph...

libblkid knows some 80 kinds; its tool wipefs lists every one on a device, backups at its end included, where
blkid --probe stops at the first. Without wipefs nothing is known, and then only a device whose first and last
MiB are all zeros counts as empty.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from iogate.host.tools import tool_path
from iogate.units import printable

_EDGE = 2**20
_SECONDS = 30.0


def signatures(path: Path) -> list[str]:
    """Return the signatures on a block device, such as `ext4 at 0x438`; empty if there is none.

    Raises OSError if it cannot be read or found out.
    """
    wipefs = shutil.which("wipefs", path=tool_path())
    return _list(wipefs, path) if wipefs else _look_for_data(path)


def _list(wipefs: str, path: Path) -> list[str]:
    argv = [wipefs, "--no-act", "--json", str(path)]
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise OSError(f"wipefs did not answer within {_SECONDS:.0f} s") from error
    said = printable(done.stderr.decode(errors="replace").strip())
    if done.returncode or said:
        raise OSError(said or f"wipefs ended with status {done.returncode}")
    try:
        said = done.stdout.decode(errors="replace") or "{}"  # names are bytes as they lie there
        found = json.loads(said, strict=False).get("signatures", [])
        return [printable(_describe(item)) for item in found]
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise OSError("wipefs said what cannot be understood") from error


def _describe(item: dict[str, str | None]) -> str:
    name = item.get("label") or item.get("uuid")
    return f"{item['type']}{f' {name!r}' if name else ''} at {item['offset']}"


def _look_for_data(path: Path) -> list[str]:
    """Return anything but zeros at the edges, where nothing can say what it is."""
    with path.open("rb", buffering=0) as device:
        size = device.seek(0, os.SEEK_END)
        for start in {0, max(0, size - _EDGE)}:
            device.seek(start)
            if any(device.read(_EDGE)):
                return [f"unknown data in the MiB at {start:#x} (wipefs, of util-linux, is not installed)"]
    return []
