"""Which figures of a table's row are held against anything: what is not asked neither stands nor falls."""

from __future__ import annotations

from iogate.offline.published.context import LATENCY, Context
from iogate.offline.published.latencies import depth_of, in_flight
from iogate.offline.published.tables import Row

_RATES = frozenset({"iops", "bandwidth"})


def held_kinds(row: Row, context: Context) -> frozenset[str]:
    """Return the kinds of figures whose means, of all directions, other figures of their row would contradict
    if they were of another unit: bandwidth and IOPS by the block size, rates and latencies by what was in
    flight (Little's law). The order of percentiles, or a link, says nothing of a unit.
    """
    found = set[str]()
    rates = {figure.direction for figure in row.figures if figure.kind in _RATES and not figure.part}
    if rates and all(map(row.pair, rates)):
        found |= _RATES
    asked = depth_of(row) or (context.job.in_flight if context.job else 0)
    timed = next((kind for kind in ("lat", "clat") if in_flight(row, kind) is not None), "") if asked else ""
    if timed:
        found |= {timed, "iops" if row.first("iops") else "bandwidth"}
    if timed == "lat" and all(map(row.first, LATENCY)):
        found |= LATENCY
    return frozenset(found)
