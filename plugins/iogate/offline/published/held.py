"""Which figures of a table's row are held against anything: what is not asked neither stands nor falls."""

from __future__ import annotations

from iogate.offline.published.context import BOTH_RATES, LATENCY, Context
from iogate.offline.published.latencies import as_said, depth_of, in_flight, is_copied, waited
from iogate.offline.published.row import Row
from iogate.offline.published.thousands import tolerated

_TOLD = 0.5  # as far as a bandwidth may be rounded, and be held against anything


def held_kinds(row: Row, context: Context) -> frozenset[str]:
    """Return the kinds of figures whose means, of all directions, other figures of their row would contradict
    if they were of another unit: bandwidth and IOPS by the block size, rates and latencies by what was in
    flight (Little's law). The order of percentiles, or a link, says nothing of a unit.
    """
    found = set[str]()
    rates = {figure.direction for figure in row.figures if figure.kind in BOTH_RATES and not figure.part}
    if rates and all((pair := row.pair(each)) and tolerated(*pair[:2]) < _TOLD for each in rates):
        found |= BOTH_RATES
    timed = _timed(row, context)
    if timed:
        found |= {timed, "iops" if row.first("iops") else "bandwidth"}
    if timed == "lat" and all(map(row.first, LATENCY)):
        found |= LATENCY
    return frozenset(found)


def _is_coarse(row: Row) -> bool:
    """Return whether a latency has so few digits that it may be half as long, or nothing."""
    return any(figure.step >= _TOLD * figure.value for figure in waited(row))


def _timed(row: Row, context: Context) -> str:
    """Return the latency that is held against the rates by what was in flight, if any is: one that another
    unit would bring out of what is possible, of each direction.
    """
    depth = depth_of(row)
    if row.vague or _is_coarse(row):
        return ""
    if (
        not (depth or row.depth or is_copied(row))
        and context.job
        and context.job.in_flight
        and in_flight(row) is not None
    ):
        return "lat"
    if not depth or (row.apart and min(as_said(row), default=0.0) < depth / 3):
        return ""
    if in_flight(row) is not None:
        return "lat"
    completing = in_flight(row, "clat")  # too short, it may be the rest that took the time
    return "clat" if completing is not None and completing >= depth / 3 else ""
