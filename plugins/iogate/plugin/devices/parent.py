"""A device's run ends with the one that began it, however that goes."""

from __future__ import annotations

import os
import signal

PARENT = "IOGATE_DEVICES_OF"
"""Names in the environment of a device's run the process that began it."""


def end_with_parent() -> None:
    """In a device's run: be told to end as soon as the process that began it is gone."""
    parent = os.environ.pop(PARENT, "")
    if not parent.isdecimal():
        return
    from iogate.host.parent import end_with

    end_with(int(parent), signal.SIGTERM)
