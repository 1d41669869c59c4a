"""Mounts that go with the process that made them, also if SIGKILL ends it.

The next run would unmount what is left, too. But where it lies in the workspace of a pipeline, whose runner
cleans that first, no next run begins: nobody can remove what something is mounted on.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

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
_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def unmounted_with_us(folder: Path, names: Sequence[str]) -> Iterator[None]:
    """Have what is mounted meanwhile at these names in a folder be unmounted if this process is killed."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        guard = _start(descriptor, names)
    finally:
        os.close(descriptor)
    try:
        yield
    finally:
        if guard:
            guard.kill()
            guard.communicate()


def _start(folder: int, names: Sequence[str]) -> subprocess.Popen[bytes] | None:
    """Start the guard; without one, the next run unmounts what is left."""
    python = sys.executable or os.path.realpath("/proc/self/exe")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _IGNORED)  # it keeps them blocked
    try:
        return subprocess.Popen(
            [python, "-I", "-S", "-c", _GUARD, str(folder), *names],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(folder,),
            start_new_session=True,
        )
    except OSError:
        return None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
