"""What is going on now: one living line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

from iogate.model import Repetition, Workload, metric
from iogate.units import format_duration, format_quantity, printable

_SECTOR = 512  # bytes, whatever the device has (Linux: Documentation/block/stat.rst)


class Progress:
    """Shows repetitions as they run: workload, repetition, bandwidth of the device now, time left.

    `write` puts text on the screen as it is; `living` says whether that is a terminal whose line can be
    rewritten. `number` (`8:1`) is the block device whose counters tell the bandwidth, or None.
    """

    def __init__(
        self, write: Callable[[str], None], *, living: bool, quiet: bool, number: str | None
    ) -> None:
        self._write = write
        self._living = living and not quiet
        self._plain = not living and not quiet
        self._counters = Path(f"/sys/dev/block/{number}/stat") if number else None
        self._head = ""
        self._left = 0.0
        self._seconds = 0.0
        self._moved: tuple[float, int] | None = None
        self._shown = False

    def repetition(self, workload: Workload, number: int, limit: int, seconds: float, left: float) -> None:
        self._head = f"{workload.suite}: {workload.name} {number}/{limit}"
        self._left, self._seconds = left, seconds
        self._moved = None
        self._show(f"{self._head}, {format_duration(left)} left")

    def tick(self, elapsed: float) -> None:
        if not self._living:
            return
        left = max(0.0, self._left - min(elapsed, self._seconds))
        parts = [self._head, self._bandwidth(), f"{format_duration(elapsed)}, {format_duration(left)} left"]
        self._show(", ".join(part for part in parts if part))

    def repeated(self, workload: Workload, number: int, repetition: Repetition) -> None:
        self.clear()
        if self._plain:
            figures = ", ".join(
                f"{name} {format_quantity(repetition.metrics[name], metric(name).unit)}"
                for name in ("read.bandwidth", "read.iops", "write.bandwidth", "write.iops")
                if name in repetition.metrics
            )
            self._write(printable(f"{self._head}: {figures or 'done'}\n"))

    def laying_out(self, done: int, total: int) -> None:
        self._show(f"laying out {format_quantity(total, 'B')} of data, {done / max(total, 1):.0%}")

    def clear(self) -> None:
        """Take the living line away, before anything else is written."""
        if self._shown:
            self._write("\r\x1b[K")
            self._shown = False

    def _show(self, text: str) -> None:
        if self._living:
            columns = shutil.get_terminal_size().columns
            self._write(f"\r\x1b[K{printable(text)[: columns - 1]}")
            self._shown = True

    def _bandwidth(self) -> str:
        """The device's bandwidth since the last look, by its own counters; empty where it has none."""
        try:
            fields = self._counters.read_text().split() if self._counters else []
            moved = (int(fields[2]) + int(fields[6])) * _SECTOR
        except (OSError, ValueError, IndexError):
            return ""
        now, before = time.monotonic(), self._moved
        self._moved = (now, moved)
        if before is None or now <= before[0]:
            return ""
        return format_quantity((moved - before[1]) / (now - before[0]), "B/s")
