"""A workload as a piece of HTML, for the pages of others: text and tables, no style or script of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape

from iogate.report.junit import findings
from iogate.report.results import MetricRecord, WorkloadRecord
from iogate.units import format_change, format_quantity, format_share, printable

_HEAD = ("metric", "measured", "baseline", "change", "tolerance", "verdict")


def fragment(record: WorkloadRecord) -> str:
    """Return all that there is to show of a workload, as HTML."""
    return "\n".join(part for show in PARTS if (part := show(record)))


def verdict(record: WorkloadRecord) -> str:
    """Return the verdict with its reason, and what the workload is for."""
    lines = [record.description, f"{record.verdict}: {record.reason}"]
    return "".join(f"<p>{_text(line)}</p>" for line in lines if line)


def figures(record: WorkloadRecord) -> str:
    """Return a table of the metrics that decide; empty if there are none."""
    if not record.gating:
        return ""
    rows = [_row("td", _cells(name, item)) for name, item in record.gating.items()]
    return f"<table><thead>{_row('th', _HEAD)}</thead><tbody>{''.join(rows)}</tbody></table>"


def notes(record: WorkloadRecord) -> str:
    """Return a list of what the audit found, and of what changed around it; empty if there is nothing."""
    lines = [*findings(record), *(f"changed since the baseline: {text}" for text in record.differences)]
    items = "".join(f"<li>{_text(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


PARTS: list[Callable[[WorkloadRecord], str]] = [verdict, figures, notes]
"""What a fragment consists of, from the top."""


def _row(tag: str, cells: tuple[str, ...]) -> str:
    return "<tr>" + "".join(f"<{tag}>{_text(cell)}</{tag}>" for cell in cells) + "</tr>"


def _cells(name: str, item: MetricRecord) -> tuple[str, ...]:
    return (
        name,
        "not finite" if item.value is None else format_quantity(item.value, item.unit),
        "" if item.baseline is None else format_quantity(item.baseline, item.unit),
        " ".join(_change(item)),
        "" if item.tolerance is None else format_share(item.tolerance),
        item.verdict,
    )


def _change(item: MetricRecord) -> Iterator[str]:
    if item.change is not None:
        yield format_change(item.change)
        if item.interval is not None:
            yield f"[{', '.join(map(format_change, item.interval))}]"


def _text(text: str) -> str:
    return escape(printable(text))
