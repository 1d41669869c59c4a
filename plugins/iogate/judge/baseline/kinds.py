"""Baselines of one device, and those of a fleet, which has one session of each of its devices."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from iogate.errors import BaselineError
from iogate.judge.baseline.file import device_folder, load_baselines
from iogate.judge.baseline.places import baseline_files


def refuse_fleet(path: Path, suite: str = "") -> None:
    """Raise BaselineError if a baseline file, or another one of its device, is of a fleet: what sessions of
    one device do would count as what devices differ by.
    """
    folder = device_folder(path, suite or path.stem)
    for file, count in fleet_files(folder):
        raise BaselineError(
            f"{file} is the baseline of a fleet of {count} devices: no session of a single one is added",
            remedy=f"make it anew: iogate fleet RESULTS... --baseline={folder.name} --replace; or record "
            "this device under a name of its own: --device=NAME",
        )


def fleet_files(folder: Path) -> Iterator[tuple[Path, int]]:
    """Yield the baselines in a device's folder that are of a fleet, each with the number of its devices."""
    for file, suite in baseline_files(folder):
        with contextlib.suppress(BaselineError):  # what cannot be read is told by who needs it
            count = max((len(one.devices) for one in load_baselines(file, suite).values()), default=0)
            if count:
                yield file, count


def single_files(folder: Path) -> Iterator[Path]:
    """Yield the baselines in a device's folder that sessions of one device made. Raises BaselineError."""
    for file, suite in baseline_files(folder):
        known = load_baselines(file, suite).values()
        if any(one.sessions and not one.devices for one in known):
            yield file
