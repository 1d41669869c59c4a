"""A block device's own counters over time: its bandwidth now, and second by second.

The unit of /sys/dev/block/*/stat is 512 bytes, whatever the device's own (Linux:
Documentation/block/stat.rst).
"""

from __future__ import annotations

import time
from pathlib import Path

from iogate.host import sysfs

_SECTOR = 512
PATIENCE = 60.0
"""Seconds without any data moved after which a device does not answer."""


def in_flight(number: str | None) -> int:
    """Return how many I/Os a block device (`8:1`; None: no device) has begun and not ended; 0 if unknown."""
    fields = sysfs.text(f"/sys/dev/block/{number}/stat").split() if number else []
    return int(fields[8]) if len(fields) > 8 and fields[8].isascii() and fields[8].isdigit() else 0


class Meter:
    """Reads how much a block device (`8:1`; None: no device, no readings) has moved.

    `series` holds the mean bandwidth (bytes/s) of each second so far, of whatever used the device.
    `moved` is when, in monotonic seconds, it was last seen to have moved anything; at first, now.
    """

    def __init__(self, number: str | None) -> None:
        self._path = Path(f"/sys/dev/block/{number}/stat") if number else None
        self._last = self._read()
        self._second = self._last
        self.series: list[float] = []
        self.moved = time.monotonic()

    def tick(self) -> float | None:
        """Return the bandwidth since the last call in bytes/s, or None where that is not known."""
        now, last = self._read(), self._last
        self._last = now
        if now is None or last is None:
            return None
        if now[1] != last[1]:
            self.moved = now[0]
        if self._second and now[0] - self._second[0] >= 1:
            self.series.append((now[1] - self._second[1]) / (now[0] - self._second[0]))
            self._second = now
        return (now[1] - last[1]) / (now[0] - last[0]) if now[0] > last[0] else None

    def goes_on(self, elapsed: float, longest: float) -> bool:
        """Return whether to wait on for what has taken `elapsed` seconds, longer than it should have: the
        device moves data, as a slow one does, and `longest` has not passed.
        """
        return elapsed < longest and time.monotonic() - self.moved < PATIENCE

    def _read(self) -> tuple[float, int] | None:
        """Return the monotonic time in seconds and the bytes read and written since the start of the
        machine.
        """
        if self._path is None:
            return None
        fields = sysfs.text(self._path).split()
        try:
            return time.monotonic(), (int(fields[2]) + int(fields[6])) * _SECTOR
        except (ValueError, IndexError):
            return None
