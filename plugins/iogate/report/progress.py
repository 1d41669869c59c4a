"""What is going on now: one living line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import shutil
from collections.abc import Callable

from iogate.model import Repetition, Workload, metric
from iogate.units import format_duration, format_quantity, printable


class Progress:
    """Shows repetitions as they run: workload, repetition, bandwidth of the device now, time left.

    `write` puts text on the screen as it is; `living` says whether that is a terminal whose line can be
    rewritten. `number` (`8:1`) is the block device whose counters tell the bandwidth, or None.
    """

    def __init__(self, write: Callable[[str], None], *, living: bool, quiet: bool) -> None:
        self._write = write
        self._living = living and not quiet
        self._plain = not living and not quiet
        self._head = ""
        self._left = 0.0
        self._seconds = 0.0
        self._shown = False

    def repetition(
        self, workload: Workload, label: int | str, limit: int, seconds: float, left: float
    ) -> None:
        step = f"{label}/{limit}" if isinstance(label, int) else label
        self._head = f"{workload.suite}: {workload.name} {step}"
        self._left, self._seconds = left, seconds
        self._show(f"{self._head}, {format_duration(left)} left")

    def tick(self, elapsed: float, bandwidth: float | None) -> None:
        left = max(0.0, self._left - min(elapsed, self._seconds))
        now = "" if bandwidth is None else f", {format_quantity(bandwidth, 'B/s')}"
        self._show(f"{self._head}{now}, {format_duration(elapsed)}, {format_duration(left)} left")

    def repeated(self, workload: Workload, label: int | str, repetition: Repetition) -> None:
        self.clear()
        if self._plain:
            arms = [("A ", repetition.base), ("B ", repetition)] if repetition.base else [("", repetition)]
            figures = ", ".join(
                f"{name} " + ", ".join(f"{arm}{_figure(name, each)}" for arm, each in arms)
                for name in ("read.bandwidth", "read.iops", "write.bandwidth", "write.iops")
                if name in repetition.metrics
            )
            self._write(printable(f"{self._head}: {figures or 'done'}\n"))

    def laying_out(self, done: int, total: int) -> None:
        self._show(f"laying out {format_quantity(total, 'B')} of data, {done / max(total, 1):.0%}")

    def notice(self, text: str) -> None:
        self.clear()
        if self._living or self._plain:
            self._write(printable(f"{text}\n"))

    def ended(self) -> None:
        self.clear()

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


def _figure(name: str, repetition: Repetition) -> str:
    value = repetition.metrics.get(name)
    return "?" if value is None else format_quantity(value, metric(name).unit)
