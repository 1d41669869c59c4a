"""Writing a baseline file: one style, one writer at a time, whole at every moment."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from iogate.errors import BaselineError, InputError, IogateError
from iogate.formats import yamlio
from iogate.formats.atomic import is_leftover, write_atomically
from iogate.host.flock import lock
from iogate.judge.baseline.file import check_baseline, device_folder
from iogate.judge.baseline.kinds import refuse_fleet

_HEADER = (
    "# Written by iogate: values by session and repetition (or published ones), in B/s, IOPS, ns and s.\n"
)
_POLL_SECONDS = 0.05


def write(path: Path, data: Mapping[str, Any]) -> None:
    """Write a file that reads back as what it should say, or none."""
    text = baseline_text(path, data, device_folder(path, data["suite"]).name)
    _remove_leftovers(path)
    try:
        write_atomically(path, text)
    except IogateError as error:
        raise BaselineError(error.message, remedy=error.remedy) from error


def _remove_leftovers(path: Path) -> None:
    """Remove what a crash left of writing this file; who writes it has its lock."""
    with contextlib.suppress(OSError):  # they are in nobody's way
        for entry in os.scandir(path.parent):
            if is_leftover(entry.name, path.name) and entry.is_file(follow_symlinks=False):
                os.unlink(entry.path)


def require_writable(path: Path, suite: str = "") -> None:
    """Raise BaselineError if the baseline file of a suite, which need not exist, could not be written, or is
    of a fleet. Writes nothing.
    """
    refuse_fleet(path, suite)
    folder = path.parent
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        what = "cannot be written to" if folder.is_dir() else "is no folder"
        raise BaselineError(
            f"{path} could not be recorded: {folder} {what}",
            remedy="make it writable, or name another folder by --io-baselines=DIR; nothing was measured",
        )


def baseline_text(path: Path, data: Mapping[str, Any], device: str) -> str:
    """Return the text of a file that reads back as what it should say. Raises BaselineError."""
    text = _HEADER + yamlio.dumps(data)
    try:
        document = check_baseline(yamlio.loads(text, str(path)), device=device, suite=data["suite"])
    except InputError as error:
        raise BaselineError(f"this would not be a baseline, and is not written: {error}") from error
    if document.data != data:
        raise BaselineError(f"{path} would not read back as what was measured, and is not written")
    return text


def _lock_file(path: Path) -> Path:
    return path.with_name(f".{path.name}.lock")


@contextlib.contextmanager
def hold_lock(path: Path, wait: float) -> Iterator[None]:
    """Hold the lock of a baseline file: flock(2) on a file beside it, which is gone afterwards.

    Raises BaselineError if somebody else holds it for `wait` seconds.
    """
    deadline = time.monotonic() + wait
    while (descriptor := _lock(path)) is None:
        if time.monotonic() > deadline:
            raise BaselineError(
                f"{path} is being updated by another session", remedy="update again when that is done"
            )
        time.sleep(_POLL_SECONDS)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            _lock_file(path).unlink()
        os.close(descriptor)


def _lock(path: Path) -> int | None:
    """Return a descriptor that holds the lock, or None if another process does.

    The one who held it before may have removed the file between our opening and locking it: what we hold then
    locks nothing.
    """
    file = _lock_file(path)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        if lock(descriptor) and os.path.samestat(file.stat(), os.fstat(descriptor)):
            return descriptor
    except FileNotFoundError:
        pass
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None
