"""What a reporter is."""

from __future__ import annotations

from typing import Protocol

from iogate.report.results import Results


class Reporter(Protocol):
    """Shows or keeps the results of a session. It reads the results document and nothing else."""

    def write(self, results: Results) -> None:
        """Report all that there is so far; a file is written anew each time. Raises IogateError."""

    def close(self) -> None:
        """Hear that this was all. Raises IogateError."""
