"""Guards: processes that do what is left to do once this one is gone, also if it was killed by SIGKILL.

Each is the Python that runs this, since what else a machine has differs: `grep` of busybox, say, reads no
further than the first NUL.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Collection

_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def start_guard(code: str, *arguments: str, keeps: Collection[int] = ()) -> subprocess.Popen[bytes]:
    """Start Python code that waits for the end of its stdin, which ends with this process; it `keeps` some
    descriptors. Signals that are meant for this process do not end it. Raises OSError.
    """
    python = sys.executable or os.path.realpath("/proc/self/exe")  # unknown to it in an empty environment
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _IGNORED)  # it keeps them blocked
    try:
        return subprocess.Popen(
            [python, "-I", "-S", "-c", code, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=tuple(keeps),
            start_new_session=True,
            bufsize=0,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
