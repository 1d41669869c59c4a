"""What the audit of an existing output says: a finding about some of its figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from iogate.model import Severity


@dataclass(frozen=True, slots=True)
class FigureFinding:
    """A finding of a `check` about the figures of `kinds` in a `line` (from 1) of a file.

    `invalid`: they do not stand; `suspect`: they may mean something else; `note`: worth knowing.
    """

    line: int
    check: str
    severity: Severity
    kinds: frozenset[str]
    message: str


FigureFindings: TypeAlias = Iterator[FigureFinding]
