"""IOPS in thousands that are not said to be: bandwidths, and latencies, tell."""

from __future__ import annotations

from collections.abc import Mapping

from iogate.offline.published.cells import Quantity, unit_factor
from iogate.offline.published.row import Row

NO_THOUSANDS = "no thousands, and no millions"


def tolerated(rate: Quantity, shown: Quantity) -> float:
    """Return the share by which a bandwidth may differ from IOPS x block size: 1%, and what rounding does."""
    return 0.01 + rate.step / rate.value + shown.step / shown.value


def meant(row: Row, direction: str) -> tuple[str, float] | None:
    """Return what the IOPS of a direction are by the bandwidth beside them, and are not said to be, with the
    factor of it: thousands or, where a thousand thousands are said and more, none. None if they are as said,
    or do not fit otherwise.
    """
    pair = row.pair(direction)
    if not pair:
        return None
    rate, shown, expected = pair
    ratio, allowed = shown.value / expected, tolerated(rate, shown)
    if abs(ratio - 1) <= allowed:
        return None
    return next((item for item in _choices(rate).items() if abs(ratio / item[1] - 1) <= allowed), None)


def _choices(rate: Quantity) -> Mapping[str, float]:
    unit = unit_factor("iops", rate.unit) or 1.0
    if unit == 1:
        return {"thousands": 1e3, "millions": 1e6}
    return {NO_THOUSANDS: 1 / unit} if rate.number >= 1000 else {}
