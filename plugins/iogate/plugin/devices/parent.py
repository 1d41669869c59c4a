"""A device's run ends with the one that began it, however that goes."""

from __future__ import annotations

import os
import signal

PARENT = "IOGATE_DEVICES_OF"
"""Names in the environment of a device's run the process that began it."""
_SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG, prctl(2)


def end_with_parent() -> None:
    """In a device's run: be told to end as soon as the process that began it is gone."""
    parent = os.environ.pop(PARENT, "")
    if not parent.isdecimal():
        return
    import ctypes

    ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != int(parent):  # it went before
        os.kill(os.getpid(), signal.SIGTERM)
