"""Processes that end with the one that began them, however that goes."""

from __future__ import annotations

import ctypes
import os
import signal

_SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG, prctl(2)


def end_with(parent: int, by: signal.Signals) -> None:
    """Have this process be sent a signal as soon as its parent is gone, or the thread of it that began this
    process.
    """
    ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, by, 0, 0, 0)
    if os.getppid() != parent:  # it went before
        os.kill(os.getpid(), by)
