"""What a far side that was killed has left, removed by its guard."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

from iogate.errors import TargetError
from iogate.target.leftovers import remove_leftovers

_SECONDS = 20.0


def sweep(folders: Iterable[str]) -> None:
    """Remove the scratch folders of runs that are gone, once their engines are."""
    for folder in folders:
        if os.path.isdir(folder):
            _sweep(Path(folder))


def _sweep(folder: Path) -> None:
    parent = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    deadline = time.monotonic() + _SECONDS
    try:
        while time.monotonic() < deadline:
            try:
                remove_leftovers(parent, folder)
                return
            except TargetError:  # an engine still works there: it is being ended
                time.sleep(0.05)
    finally:
        os.close(parent)
