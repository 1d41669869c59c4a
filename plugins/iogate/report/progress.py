"""What is going on now: living lines on a terminal, plain lines elsewhere."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iogate.model import Repetition, Workload, metric
from iogate.units import format_duration, format_quantity, printable

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

_ROWS = 24  # two are used: no terminal has fewer
_LONGEST_BAR = 20
_SHORTEST_BAR = 5
_FIGURE = 12

_Line = tuple[str, float, str]
"""What is going on, how much of it is done, and a figure."""


@dataclass(frozen=True)
class Screen:
    """A terminal whose last lines can be rewritten: how many `columns` it has now, whether in `colour`, and
    in which `encoding` it takes text.
    """

    columns: Callable[[], int]
    colour: bool = False
    encoding: str = "utf-8"


class Progress:
    """Shows repetitions as they run: workload, repetition, bandwidth of the device now, time left.

    `write` puts text on the screen as it is, past pytest's capture; `screen` is None where lines cannot be
    rewritten.
    """

    def __init__(self, write: Callable[[str], None], screen: Screen | None = None, *, quiet: bool) -> None:
        self._write = write
        self._screen = None if quiet else screen
        self._plain = screen is None and not quiet
        self._live: Live | None = None
        self._head = ""
        self._seconds = 0.0
        self._left = 0.0
        self._done = 0.0
        self._elapsed = 0.0

    def repetition(
        self, workload: Workload, label: int | str, limit: int, seconds: float, left: float
    ) -> None:
        step = f"{label}/{limit}" if isinstance(label, int) else label
        self._head = f"{workload.suite}: {workload.name} {step}"
        self._done += self._elapsed
        self._left, self._seconds, self._elapsed = left, seconds, 0.0
        self.tick(0.0, None)

    def tick(self, elapsed: float, bandwidth: float | None) -> None:
        self._elapsed = elapsed
        left = max(0.0, self._left - min(elapsed, self._seconds))
        now = "" if bandwidth is None else format_quantity(bandwidth, "B/s")
        spent = self._done + elapsed
        self._show(
            (self._head, elapsed / max(self._seconds, elapsed, 1e-9), now),
            (f"{format_duration(left)} left", spent / max(spent + left, 1e-9), ""),
        )

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
        share = done / max(total, 1)
        self._show((f"laying out {format_quantity(total, 'B')} of data", share, f"{share:.0%}"))

    def notice(self, text: str) -> None:
        """Tell what a person should know, however quiet the run is to be."""
        self.clear()
        self._write(printable(f"{text}\n"))

    def ended(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Take the living lines away, before anything else is written."""
        if self._live:
            self._live.stop()
            self._live = None

    def _show(self, *lines: _Line) -> None:
        """Show lines instead of those that are shown."""
        if self._screen is None:
            return
        if self._live is None:
            self._live = _live(self._write, self._screen)
            self._live.start()
        columns = self._screen.columns()
        self._live.console.size = (columns, _ROWS)
        self._live.update(_grid(lines, columns), refresh=True)


def _live(write: Callable[[str], None], screen: Screen) -> Live:
    """Return lines that can be rewritten. Nothing is drawn by a thread, and no stream is replaced: pytest's
    capture does that, and time is measured meanwhile.
    """
    from rich.console import Console
    from rich.live import Live

    class _Console(Console):
        def show_cursor(self, show: bool = True) -> bool:
            return False  # a run that is killed must not leave a terminal without its cursor

    console = _Console(
        file=_Written(write, screen.encoding),
        force_terminal=True,
        force_interactive=True,
        color_system="standard" if screen.colour else None,
        no_color=not screen.colour,
        legacy_windows=False,
    )
    return Live(
        console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
    )


def _grid(lines: Sequence[_Line], columns: int) -> RenderableType:
    """Return lines that fit: the bars are shortened first, then the names."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    texts = [Text(printable(text)) for text, _, _ in lines]
    longest = max(text.cell_len for text in texts)
    bar = max(_SHORTEST_BAR, min(_LONGEST_BAR, columns - longest - _FIGURE - 3))
    grid = Table.grid(padding=(0, 1))
    for text, (_, share, figure) in zip(texts, lines, strict=True):
        text.truncate(max(1, columns - bar - _FIGURE - 3), overflow="ellipsis")
        done = ProgressBar(total=1.0, completed=min(max(share, 0.0), 1.0), width=bar)
        grid.add_row(text, done, Text(figure.rjust(_FIGURE)))
    return grid


class _Written(io.StringIO):
    """A stream that hands on what is written into it."""

    def __init__(self, write: Callable[[str], None], encoding: str) -> None:
        super().__init__()
        self._hand_on = write
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]  # typeshed has an attribute; rich only reads it
        return self._encoding

    def write(self, text: str) -> int:
        self._hand_on(text)
        return len(text)


def _figure(name: str, repetition: Repetition) -> str:
    value = repetition.metrics.get(name)
    return "?" if value is None else format_quantity(value, metric(name).unit)
