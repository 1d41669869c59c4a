"""A fleet in words: a table of how metrics spread, and what is to be known of the slowest device."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence

from iogate.judge.fleet.spread import Interval
from iogate.offline.fleet.values import DeviceEvidence, DeviceStanding, Fleet, FleetMetric
from iogate.report.history.words import left_out_lines
from iogate.units import format_change, format_quantity, format_share, no_commands, plural

_LINE = 118
_WORDS = {
    "": "",
    "slower": "slower",
    "within tolerance": "slower, within the tolerance",
    "may be chance": "may be chance",
    "beyond tolerance": "beyond the tolerance",
}
_MODEL = ("machine", "board", "cpu", "disk", "disk_capacity")


def fleet_text(fleet: Fleet, *, by_device: bool = False) -> str:
    """Return a fleet for people; with `by_device` each metric device by device, too."""
    parts = [f"{_head(fleet)}\n\n{_table(fleet.metrics)}"]
    parts += [_devices_table(item) for item in fleet.metrics] if by_device else []
    parts += ["\n".join(_said(one, fleet)) for one in fleet.evidence]
    notes = [line for text in (*fleet.notes, *left_out_lines(fleet.left_out)) for line in _wrap(text, "")]
    parts += ["\n".join(notes)] if notes else []
    return no_commands("\n\n".join(parts))


def _head(fleet: Fleet) -> str:
    known = ", ".join(fleet.model[key] for key in _MODEL if key in fleet.model)
    first, last = fleet.period
    period = first if first == last else f"{first} to {last}"
    text = f"{plural(len(fleet.devices), 'device')}, {plural(fleet.sessions, 'session')}, {period}"
    return f"{text}: {known}" if known else text


def _table(metrics: Sequence[FleetMetric]) -> str:
    from tabulate import tabulate

    rows, before = [], None
    for item in metrics:
        name = (item.suite, item.workload)
        worst = item.slowest
        rows.append(
            (
                "" if name == before else item.workload,
                item.metric,
                str(len(item.devices)),
                str(item.spread.sessions),
                format_quantity(_typical(item), item.unit),
                *_spreads(item),
                worst.device,
                format_change(worst.change),
                _WORDS[worst.word],
            )
        )
        before = name
    headers = (
        *("workload", "metric", "devices", "sessions", "mean", "between devices", "within one"),
        *("slowest", "by", ""),
    )
    align = (*("left",) * 2, *("right",) * 5, "left", "right", "left")
    return str(tabulate(rows, headers, tablefmt="simple", disable_numparse=True, colalign=align))


def _typical(item: FleetMetric) -> float:
    """Return the mean of the devices, which is that of logarithms."""
    return math.exp(math.fsum(math.log(one.value) for one in item.devices) / len(item.devices))


def _spreads(item: FleetMetric) -> tuple[str, str]:
    known = item.spread
    if known.between is None or known.within is None:
        return f"{_spread(known.together, known.together_interval)} both", "not known"
    return _spread(known.between, known.between_interval), _spread(known.within, known.within_interval)


def _spread(value: float, interval: Interval | None) -> str:
    low, high = interval or (value, value)
    return f"{format_share(value)} [{format_share(low)}, {format_share(high)}]"


def _devices_table(item: FleetMetric) -> str:
    from tabulate import tabulate

    rows = [
        (
            one.device,
            str(len(one.sessions)),
            format_quantity(one.value, item.unit),
            format_change(one.change),
            _expected(one),
            _WORDS[one.word],
        )
        for one in sorted(item.devices, key=lambda one: one.change, reverse=item.direction == "lower")
    ]
    headers = (f"{item.workload} {item.metric}", "sessions", "value", "against others", "error of that", "")
    align = ("left", "right", "right", "right", "right", "left")
    return str(tabulate(rows, headers, tablefmt="simple", disable_numparse=True, colalign=align))


def _expected(one: DeviceStanding) -> str:
    return f"±{format_share(one.error)}" if one.degrees else ""


def _said(one: DeviceEvidence, fleet: Fleet) -> Iterator[str]:
    """Yield how a device stands, in which metrics it stands out, and what is different about it."""
    loss = format_share(abs(math.expm1(-one.loss)))
    much = f"{loss} {'worse' if one.loss > 0 else 'better'} than the others"
    head = "the slowest is " if one is fleet.evidence[0] else ""
    yield f"{head}{one.device}: {much} in the mean of {plural(one.metrics, 'metric')}"
    for item in fleet.metrics:
        for device in item.devices:
            if device.device == one.device and device.word:
                yield from _wrap(_metric_text(item, device), "  ")
    for fact in one.facts:
        yield from _wrap(fact, "  ")


def _metric_text(item: FleetMetric, one: DeviceStanding) -> str:
    value, others = (format_quantity(figure, item.unit) for figure in (one.value, one.others))
    text = f"{item.workload} {item.metric} is {value}, the others' mean {others}, {format_change(one.change)}"
    if one.degrees:
        distance = abs(math.log(one.value / one.others)) / one.error
        text += f" (t = {distance:.1f}, {one.degrees:.0f} degrees of freedom)"
    return f"{text}: {_WORDS[one.word]} (tolerance {format_share(item.tolerance)})"


def _wrap(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        _LINE,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_on_hyphens=False,
        break_long_words=False,
    )
