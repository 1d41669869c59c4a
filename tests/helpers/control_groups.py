"""Control groups of either version that limit what a test puts into them."""

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from loops import need
from waiting import eventually

_TREES = Path("/sys/fs/cgroup")


@contextlib.contextmanager
def limited(ways: Iterable[tuple[str, str, str]]) -> Iterator[Path]:
    """A group with a limit, in the first of these ways that this machine has: its tree, the file of the
    limit, and what is written there. Skips the test where it has none.
    """
    need()
    group = next(filter(None, (_made(*way) for way in ways)), None)
    if group is None:
        pytest.skip("no such control group can be made")
    try:
        yield group
    finally:
        eventually(lambda: not (group / "cgroup.procs").read_text())
        group.rmdir()


def _made(tree: str, limit: str, text: str) -> Path | None:
    group = _TREES / tree / f"iogate-test-{os.getpid()}"
    with contextlib.suppress(OSError):
        group.mkdir()
        try:
            (group / limit).write_text(text)
        except OSError:
            group.rmdir()
        else:
            return group
    return None
