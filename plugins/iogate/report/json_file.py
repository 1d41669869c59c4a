"""The results document as a file, or written into what is no file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from iogate.formats.streams import Stream, is_stream
from iogate.report.places import replace_place, require_place
from iogate.report.protocol import Reporter
from iogate.report.results import Results, is_results
from iogate.report.session_folders import SessionFolder
from iogate.units import harmless_json

NAME = "results.json"
"""What the document is called beside the raw outputs of its session."""


@dataclass(frozen=True)
class SessionFile:
    """Keeps the results in the session's folder, in a file that is whole at every moment."""

    folder: SessionFolder

    def write(self, results: Results) -> None:
        """Write the file. Raises IogateError; the file is then as it was."""
        self.folder.write(NAME, results.text())

    def close(self) -> None:
        """Do nothing: the file is written."""


@dataclass(frozen=True)
class JsonFile:
    """Keeps the results in a file that somebody named, whole at every moment. It is asked each time whether
    what lies there may be replaced: somebody may have put something there meanwhile.
    """

    path: Path

    def write(self, results: Results) -> None:
        """Write the file. Raises IogateError; the file is then as it was."""
        replace_place(self.path, results.text(), is_results, "results document")

    def close(self) -> None:
        """Do nothing: the file is written."""


class JsonStream:
    """Writes the results once, at the end, into a pipe, a terminal or another thing that is no file."""

    def __init__(self, path: Path) -> None:
        """Open it. Raises InputError."""
        self._stream = Stream(path)
        self._results: Results | None = None

    def write(self, results: Results) -> None:
        """Keep them: what is written into a pipe cannot be taken back."""
        self._results = results

    def close(self) -> None:
        """Write the last ones, maybe into the log of a job. Raises IogateError."""
        self._stream.finish(harmless_json(self._results.text()) if self._results else "")


def json_at(path: Path) -> Reporter:
    """Return what writes the results to a place that somebody named.

    Raises InputError for one that must not be replaced, or cannot be written to.
    """
    if is_stream(path):
        return JsonStream(path)
    require_place(path, is_results, "results document")
    return JsonFile(path)
