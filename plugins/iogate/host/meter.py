"""A block device's own counters over time: its bandwidth now, and second by second.

The unit of /sys/dev/block/*/stat is 512 bytes, whatever the device's own (Linux:
Documentation/block/stat.rst).
"""

from __future__ import annotations

import time
from pathlib import Path

from iogate.host import sysfs

_SECTOR = 512


class Meter:
    """Reads how much a block device (`8:1`; None: no device, no readings) has moved.

    `series` holds the mean bandwidth (bytes/s) of each second so far, of whatever used the device.
    """

    def __init__(self, number: str | None) -> None:
        self._path = Path(f"/sys/dev/block/{number}/stat") if number else None
        self._last = self._read()
        self._second = self._last
        self.series: list[float] = []

    def tick(self) -> float | None:
        """Return the bandwidth since the last call in bytes/s, or None where that is not known."""
        now, last = self._read(), self._last
        self._last = now
        if now is None or last is None:
            return None
        if self._second and now[0] - self._second[0] >= 1:
            self.series.append((now[1] - self._second[1]) / (now[0] - self._second[0]))
            self._second = now
        return (now[1] - last[1]) / (now[0] - last[0]) if now[0] > last[0] else None

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
