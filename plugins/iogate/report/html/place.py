"""Where the report is written: into a file that is a report already or not there yet, or into a stream."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from iogate.formats.reading import read_at_once
from iogate.formats.streams import Stream, is_stream
from iogate.report.history import LeftOut, MetricHistory
from iogate.report.html.page import MARK, page
from iogate.report.places import replace_place, require_place
from iogate.report.results import Results

_HEAD = 4096


class HtmlFile:
    """Writes the report at the end of a run; it is long, and made once."""

    def __init__(self, path: Path) -> None:
        """Take a place. Raises InputError for one that must not be replaced, or cannot be written to."""
        self.path = path
        self._stream = Stream(path) if is_stream(path) else None
        self._results: Results | None = None
        if self._stream is None:
            require_place(path, is_report, "report")

    def write(self, results: Results) -> None:
        """Keep them for the end."""
        self._results = results

    def close(self) -> None:
        """Write the report. Raises IogateError."""
        if self._results is not None:
            self.finish([self._results])

    def finish(
        self,
        sessions: Sequence[Results],
        histories: Sequence[MetricHistory] = (),
        left_out: Sequence[LeftOut] = (),
    ) -> int:
        """Write the report of these sessions, and of metrics over many; return its bytes. Raises
        IogateError.
        """
        text = page(sessions, histories, left_out)
        if self._stream:
            self._stream.finish(text)
        else:
            replace_place(self.path, text, is_report, "report")
        return len(text.encode())


def is_report(path: Path) -> bool:
    """Return whether a file is a report of ours, or empty as mktemp(1) makes it."""
    try:
        head = read_at_once(path, _HEAD)  # another user may have put a pipe there just now
    except OSError:
        return False
    return not head or MARK.encode() in head
