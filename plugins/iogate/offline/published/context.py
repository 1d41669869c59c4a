"""What a check of a table's row gets to see beside the row, and how it tells what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from iogate.engines.sections import DescribedJob, Description
from iogate.model import Severity
from iogate.offline.published.findings import FigureFinding, FigureFindings
from iogate.offline.published.tables import Row

LATENCY = frozenset({"lat", "clat", "slat"})
BOTH_RATES = frozenset({"iops", "bandwidth"})
ALL = BOTH_RATES | LATENCY


@dataclass(frozen=True)
class Context:
    """What a text says beside a row: the jobs it describes, the limit of the link in B/s, and the units of
    bandwidths that the other rows of its table bear out.
    """

    described: tuple[Description, ...] = ()
    link: float | None = None
    units: frozenset[str] = frozenset()

    @cached_property
    def job(self) -> DescribedJob | None:
        """The one job that the text describes with its queue depth, if it is one only."""
        jobs = [job for description in self.described for job in description.jobs if job.in_flight]
        return jobs[0] if len(jobs) == 1 else None

    @cached_property
    def size(self) -> int | None:
        """The bytes of a run, if all descriptions that end by size agree."""
        return _common_value(description.size for description in self.described)


RowCheck: TypeAlias = "Callable[[Row, Context], FigureFindings]"


def finding_of(
    row: Row, check: str, severity: Severity, kinds: frozenset[str], message: str
) -> FigureFinding:
    """Make the finding of a check about the figures of `kinds` in a row, whose label is said first."""
    label = f"{row.label}: " if row.label else ""
    return FigureFinding(row.line, check, severity, kinds, label + message)


def _common_value(values: Iterable[int | None]) -> int | None:
    """Return the value that all who say one agree on."""
    known = {value for value in values if value is not None}
    return known.pop() if len(known) == 1 else None
