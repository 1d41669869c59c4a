"""A table as it stands in a text, before anything of it is understood."""

from __future__ import annotations

from dataclasses import dataclass, field

from iogate.offline.published.forms import Form

MOST_CELLS = 256


@dataclass
class RawTable:
    """A table as it stands: header lines and rows of cells, each row with its line number, as has each name
    of a group of rows; `form` is None where tags, and no lines, say what its cells are.
    """

    line: int
    title: str
    form: Form | None = None
    header: list[list[str]] = field(default_factory=list)
    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    groups: list[tuple[int, str]] = field(default_factory=list)

    @property
    def width(self) -> int:
        """The cells of its longest header line, or of its first row."""
        return max(map(len, self.header), default=len(self.rows[0][1]) if self.rows else 0)
