"""A run's folder on its target: made, held open, and removed with all that is in it."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from iogate.errors import TargetError
from iogate.host.patience import StandsStill, patiently
from iogate.target.folders import FOLDER, leads_to, remove_folder
from iogate.target.layout import refusal
from iogate.target.marker import MARKER, PREFIX, marked, replaced
from iogate.target.resolve import LEADS_ELSEWHERE
from iogate.units import format_duration

PATIENCE = 60.0
"""Seconds that it may take to remove a run's folder."""


@dataclass(frozen=True)
class Home:
    """A run's folder, held open as `folder`, in the open directory `parent`, where it was called `path`."""

    parent: int
    folder: int
    path: Path
    process: int

    @property
    def held(self) -> Path:
        """The path that leads to the folder whatever becomes of its name, for processes of this user."""
        return Path(f"/proc/{self.process}/fd/{self.folder}")

    def check(self) -> None:
        """Raise TargetError (`changed`) if its name does not lead to it."""
        try:
            own: os.stat_result | None = os.fstat(self.folder)
        except OSError:  # another machine has removed it, from a network file system
            own = None
        if own is None or not leads_to(self.parent, self.path.name, own):
            message = f"{self.path} was renamed, replaced or removed while the run worked in it"
            remedy = "find out who did it; only those whom you trust should be able to write there"
            raise TargetError(message, rule="changed", remedy=remedy)


@contextlib.contextmanager
def scratch_folder(parent: int, path: Path, *, owners: bool = True) -> Iterator[Home]:
    """Make a folder in the open directory `parent`, which `path` leads to; removed with all that is in it.

    `owners` is False for a file system whose files have none, and no links. Raises TargetError.
    """
    name = PREFIX + secrets.token_hex(4)
    folder = _make_folder(parent, path / name)
    try:
        _check_made(parent, folder, path / name, owners)
        try:
            with marked(folder, path / name):
                yield Home(parent, folder, path / name, os.getpid())
        finally:
            _remove_patiently(parent, folder, path / name)
    finally:
        os.close(folder)


def _remove_patiently(parent: int, folder: int, path: Path) -> None:
    """Remove this run's folder. Raises TargetError (`slow`) if that takes too long: it then goes on alone."""
    try:
        patiently(
            lambda _: remove_folder(parent, folder, path.name, MARKER),
            PATIENCE,
            (parent, folder),
            survives=True,
        )
    except StandsStill:
        raise TargetError(
            f"{path} was not removed within {format_duration(PATIENCE)}: its file system does not answer",
            rule="slow",
            remedy="see what the kernel says of the device: dmesg. A process waits for it to answer, and "
            "removes the folder then; else the next run does",
        ) from None
    except OSError:
        pass  # the device fails: the next run will find it


def _make_folder(parent: int, path: Path) -> int:
    """Make a folder called `path` in the open directory `parent`, and return it open. Raises TargetError."""
    try:
        os.mkdir(path.name, 0o700, dir_fd=parent)
    except OSError as error:
        raise refusal(error, f"cannot make a folder in {path.parent}") from error
    try:
        return os.open(path.name, FOLDER, dir_fd=parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.rmdir(path.name, dir_fd=parent)
        if error.errno in LEADS_ELSEWHERE:
            raise replaced(path) from error
        raise refusal(error, f"cannot open the new folder {path}") from error


def _check_made(parent: int, folder: int, path: Path, owners: bool) -> None:
    """Raise TargetError for a folder that is not the new one, or not this user's alone."""
    status, around = os.fstat(folder), os.fstat(parent)
    if os.listdir(folder) or status.st_dev != around.st_dev:
        raise replaced(path)
    if owners and (status.st_uid != os.geteuid() or status.st_mode & 0o022):
        with contextlib.suppress(OSError):
            os.rmdir(path.name, dir_fd=parent)
        message = f"others may write to what this user (uid {os.geteuid()}) makes in {path.parent}"
        remedy = "mount that file system so that files belong to who makes them, or choose another target"
        raise TargetError(message, rule="foreign", remedy=remedy)
