"""A change drawn against its tolerance, which is always as wide: worse to the left, better to the right."""

from __future__ import annotations

from dataclasses import dataclass

from iogate.report.results import MetricRecord

WIDTH = 120.0
_REACH = 2.5  # tolerances from the middle to an end
_USUAL = 0.05


@dataclass(frozen=True)
class Band:
    """Places on a line of `WIDTH`: the tolerance from `bound` to the middle, the interval from `low` to
    `high`, the change `at`; beyond an end it is drawn there, and `beyond` says so. `text` says it in words.
    """

    bound: float
    low: float
    high: float
    at: float
    beyond: str
    text: str


def band_of(item: MetricRecord) -> Band | None:
    """Return the picture of a metric that was held against something."""
    if item.change is None or item.baseline is None:
        return None
    tolerance = item.tolerance or _USUAL
    sign = 1 if item.direction == "higher" else -1
    at = sign * item.change / tolerance
    low, high = sorted(sign * end / tolerance for end in item.interval) if item.interval else (at, at)
    beyond = "left" if at < -_REACH else "right" if at > _REACH else ""
    side = "worse" if at < 0 else "better"
    text = f"{abs(at):.1f} tolerances {side}" if item.tolerance else f"{abs(item.change):.1%} {side}"
    return Band(_place(-1 if item.tolerance else 0), _place(low), _place(high), _place(at), beyond, text)


def _place(tolerances: float) -> float:
    """Return where so many tolerances lie, kept within the picture."""
    kept = max(-_REACH, min(_REACH, tolerances))
    return round(WIDTH / 2 * (1 + kept / _REACH * 0.95), 1)
