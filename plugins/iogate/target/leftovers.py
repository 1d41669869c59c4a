"""Scratch folders of other runs of this user: of those that live, and what killed ones have left."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Collection
from pathlib import Path

from iogate.errors import TargetError
from iogate.formats.held import name_of
from iogate.host.loop import release_in
from iogate.host.openers import openers_below, process_text
from iogate.target.folders import FOLDER, names_in, open_folder, remove_folder
from iogate.target.layout import refusal
from iogate.target.marker import MARKER, PREFIX, is_abandoned, is_elsewhere, is_own, marker_text
from iogate.units import one_line

_DYING = 2.0  # seconds that what a killed run had begun gets to end with it


def occupants(parent: int) -> set[str]:
    """Return the names of this user's scratch folders in an open directory, but for those of runs that are
    gone.
    """
    found = set()
    with contextlib.suppress(OSError):
        for name in names_in(parent):
            if name.startswith(PREFIX):
                with contextlib.suppress(OSError), open_folder(parent, name) as folder:
                    if is_own(parent, folder) and not is_abandoned(parent, folder):
                        found.add(name)
    return found


def remove_leftovers(parent: int, path: Path, spared: Collection[str] = ()) -> list[str]:
    """Remove the folders of runs that were killed, and return their names.

    Only those that are this user's, bear the marker, whose run is gone, and that are not to be `spared`.
    Raises TargetError: `locked` if an engine of such a run is still at work in its folder, `io-error` if the
    directory cannot be read.
    """
    removed = []
    try:
        names = sorted(names_in(parent))
    except OSError as error:  # a damaged file system
        raise refusal(error, f"cannot list what is in {path}") from error
    for name in names:
        if name.startswith(PREFIX) and name not in spared:
            with contextlib.suppress(OSError), open_folder(parent, name) as folder:
                if is_abandoned(parent, folder):
                    _check_unused(folder, path / name)
                    _release(folder)
                    removed += [name] if _remove_quietly(parent, folder, name) else []
    return removed


def _release(folder: int) -> None:
    """Unmount what a run mounted in an open folder from files in it."""
    with contextlib.suppress(OSError), open_folder(folder, "engine") as inner:
        release_in(Path(f"/proc/self/fd/{inner}"))


def _check_unused(folder: int, path: Path) -> None:
    """Raise TargetError (`locked`) that names who works in a folder, and was not just dying with its run."""
    below = name_of(folder)
    deadline = time.monotonic() + _DYING
    while (users := openers_below(below)) and time.monotonic() < deadline:
        time.sleep(0.02)
    if users:
        raise TargetError(
            f"{one_line(str(path))} of a run that was killed is still in use: "
            f"{', '.join(process_text(pid) for pid in users)}",
            rule="locked",
            remedy="end that process, or wait for it",
        )


def reclaimable(path: Path) -> tuple[int, bool]:
    """Return bytes that this user's scratch folders in a directory take: they do not count as used, since
    each run removes those of its dead predecessors, and its own data when it needs the room. What no run
    would know as such a folder is used, and so is that of another machine or user: also return whether there
    is any.
    """
    total, others = 0, False
    try:
        parent = os.open(path, FOLDER)
    except OSError:
        return total, others
    try:
        for name in os.listdir(parent):
            if name.startswith(PREFIX):
                stays = True
                with contextlib.suppress(OSError), open_folder(parent, name) as folder:
                    text = marker_text(folder) if is_own(parent, folder) else None
                    stays = text is None or is_elsewhere(folder, text)
                    if not stays:
                        total += _allocated_bytes(folder)
                        with open_folder(folder, "engine") as inner:
                            total += _allocated_bytes(inner)
                others = others or stays
    finally:
        os.close(parent)
    return total, others


def _allocated_bytes(folder: int) -> int:
    entries = (os.stat(name, dir_fd=folder, follow_symlinks=False) for name in os.listdir(folder))
    return sum(entry.st_blocks * 512 for entry in entries)


def _remove_quietly(parent: int, folder: int, name: str) -> bool:
    """Remove an open folder, and return whether that was done; what cannot be removed now (the device fails)
    the next run will find.
    """
    try:
        remove_folder(parent, folder, name, MARKER)
    except OSError:
        return False
    return True
