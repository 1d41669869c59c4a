"""The summary as Markdown in a file, or appended to the page of a job on GitHub."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from iogate.errors import IogateError
from iogate.formats.held import held_file
from iogate.formats.reading import read_at_once
from iogate.formats.streams import Stream, is_stream, own_descriptor
from iogate.report.markdown import is_markdown, markdown
from iogate.report.places import replace_place, require_place
from iogate.report.protocol import Reporter
from iogate.report.results import Results
from iogate.units import printable

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""Names the file of a step's summary in the environment of a job on GitHub."""

STEP_LIMIT = 2**20
"""The most bytes of a step's summary: one that is larger is not shown at all."""

_LEAST = 256  # bytes of a summary that says anything
_HEAD = 1024  # bytes of a file that are looked at
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC


class MarkdownFile:
    """Writes the summary once, at the end: into a file that is replaced whole, or into what is no file."""

    def __init__(self, path: Path) -> None:
        """Open what is no file. Raises InputError for what must not be replaced, or cannot be written to."""
        self._path = path
        self._stream = Stream(path) if is_stream(path) else None
        if self._stream is None:
            require_place(path, _is_own, "summary")
        self._results: Results | None = None

    def write(self, results: Results) -> None:
        """Keep them for the end."""
        self._results = results

    def close(self) -> None:
        """Write the summary of the last ones. Raises IogateError; a file is then as it was."""
        text = markdown(self._results) if self._results else ""
        if self._stream:
            self._stream.finish(text)
        elif text:
            replace_place(self._path, text, _is_own, "summary")


class StepSummary:
    """Appends the summary to a file of others, which has room for so much."""

    def __init__(self, path: Path, limit: int = STEP_LIMIT) -> None:
        self._path = path
        self._limit = limit
        self._results: Results | None = None

    def write(self, results: Results) -> None:
        """Keep them for the end."""
        self._results = results

    def close(self) -> None:
        """Append the summary of the last ones. Raises IogateError."""
        if self._results is None:
            return
        try:
            descriptor = _opened(self._path)
            with os.fdopen(descriptor, "ab", buffering=0) as stream:
                status = os.fstat(descriptor)
                if stat.S_ISREG(status.st_mode):
                    text = "\n" + markdown(self._results, self._limit - status.st_size - 1)
                    stream.write(text.encode(errors="replace") if text.strip() else b"")
        except OSError as error:
            raise IogateError(f"cannot append to ${STEP_SUMMARY}, {self._path}: {error.strerror}") from error


def step_summary() -> Reporter | None:
    """Return what appends to the summary of the step that this process is a part of, if it is one."""
    path = _step()
    return None if step_trouble() or not path.is_file() else StepSummary(path)


def step_trouble() -> str:
    """Return why nothing can be appended to the summary of the step; empty if it can, or nobody asks."""
    path = _step()
    try:
        descriptor = _opened(path)
        size = os.fstat(descriptor).st_size
        os.close(descriptor)
        why = "it is full" if size > STEP_LIMIT - _LEAST else ""
    except OSError as error:
        why = str(error.strerror)
    return printable(f"warning: nothing is appended to ${STEP_SUMMARY}, {path}: {why}") if why else ""


def _opened(path: Path) -> int:
    """Return a file that is open for appending; through no other user's link. Raises OSError."""
    if (own := own_descriptor(path)) is not None:
        return os.dup(own)
    with held_file(path) as (folder, name):
        return os.open(name, _APPEND | os.O_NOFOLLOW, dir_fd=folder)


def _step() -> Path:
    return Path(os.environ.get(STEP_SUMMARY) or os.devnull)


def _is_own(path: Path) -> bool:
    try:
        head = read_at_once(path, _HEAD)  # another user may have put a pipe there just now
    except OSError:
        return False
    return is_markdown(head.decode(errors="replace"))
