"""Mounts that go with the process that made them, also if SIGKILL ends it.

The next run would unmount what is left, too. But where it lies in the workspace of a pipeline, whose runner
cleans that first, no next run begins: nobody can remove what something is mounted on.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from iogate.host.guard import start_guard

# Works in the folder that its first argument has open, whatever its name leads to by now. What it unmounts
# goes as soon as nobody is there: engines end at the same time. No one waits for another's data.
# 10: MNT_DETACH and UMOUNT_NOFOLLOW.
_GUARD = """
import ctypes, os, sys
os.fchdir(int(sys.argv[1]))
os.read(0, 1)
for name in sys.argv[2:]:
    if not os.fork():
        ctypes.CDLL(None).umount2(os.fsencode(name), 10)
        break
"""


@contextlib.contextmanager
def unmounted_with_us(folder: Path, names: Sequence[str]) -> Iterator[None]:
    """Have what is mounted meanwhile at these names in a folder be unmounted if this process is killed."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    guard = None  # without one, the next run unmounts what is left
    try:
        with contextlib.suppress(OSError):
            guard = start_guard(_GUARD, str(descriptor), *names, keeps=(descriptor,))
    finally:
        os.close(descriptor)
    try:
        yield
    finally:
        if guard:
            guard.kill()
            guard.communicate()
