"""The results document as a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from iogate.report.results import Results

NAME = "results.json"
"""What the document is called beside the raw outputs of its session."""


@dataclass(frozen=True)
class JsonFile:
    """Keeps the results in a file that is whole at every moment."""

    path: Path

    def write(self, results: Results) -> None:
        """Write the file. Raises IogateError; the file is then as it was."""
        results.write(self.path)
