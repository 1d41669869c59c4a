"""What the gate decided about a metric, in a sentence."""

from __future__ import annotations

from iogate.model import MetricVerdict
from iogate.units import format_change, format_quantity, format_share


def sentence(item: MetricVerdict) -> str:
    """Measured against baseline, the change with its interval, and the bound in absolute numbers."""
    unit, name = item.metric.unit, item.metric.name
    if item.baseline is None:
        return f"{name} is {format_quantity(item.value, unit)}"
    text = f"{name} is {format_quantity(item.value, unit)} against {format_quantity(item.baseline, unit)}"
    if item.change is not None:
        text += f", {format_change(item.change)}"
    if item.interval:
        text += f" [{format_change(item.interval[0])}, {format_change(item.interval[1])}]"
    if item.tolerance is not None:
        text += f"; {_bounds(item)} (tolerance {format_share(item.tolerance)})"
    return text


def _bounds(item: MetricVerdict) -> str:
    """Return the bounds that decide after these many repetitions."""
    worse, better = ("below", "above") if item.metric.direction == "higher" else ("above", "below")
    said = []
    if item.passes is not None and item.verdict != "regressed":
        said.append(_bound("passes", better, item.passes, item))
    fails = item.bound if item.passes is None else item.fails
    if fails is not None and item.verdict in ("regressed", "inconclusive"):
        said.append(_bound("fails", worse, fails, item))
    return ", ".join(said)


def _bound(what: str, side: str, bound: float, item: MetricVerdict) -> str:
    """Return a bound in words; one that is more than tenfold off the baseline is no device's."""
    if item.baseline and not 0.1 <= bound / item.baseline <= 10:
        return f"nothing plausible {what}"
    return f"{what} {side} {format_quantity(bound, item.metric.unit)}"
