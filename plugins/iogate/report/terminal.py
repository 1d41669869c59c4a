"""The results of a session as a table for people."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from iogate.report.alike import told_once
from iogate.report.results import MetricRecord, Results, WorkloadRecord
from iogate.report.together import moved_together
from iogate.units import format_change, format_duration, format_quantity, format_share, plural, printable

_HEADERS = ("workload", "metric", "measured", "baseline", "change", "tolerance", "runs", "verdict")
_OF_PAIRS = ("workload", "metric", "B", "A", "change", "tolerance", "blocks", "verdict")


@dataclass(frozen=True)
class TerminalSummary:
    """Shows the results at the end of a run: `section` begins a part with a title, `line` writes a line."""

    section: Callable[[str], None]
    line: Callable[[str], None]

    def write(self, results: Results) -> None:
        """Write the table, and what it does not say."""
        self.section(printable(f"storage performance of {results.device}"))
        self.line(results_table(results))
        self.line("")
        for line in summary_lines(results):
            self.line(line)


def results_table(results: Results) -> str:
    """Return one row for each gating metric; a workload without measurements has a row that says why. Pairs
    have a table of their own.
    """
    pairs = [workload for workload in results.workloads if workload.pair]
    others = [workload for workload in results.workloads if not workload.pair]
    tables = [_table(_HEADERS, others)] if others else []
    if pairs:
        tables += [_table(_OF_PAIRS, pairs), "\n".join(_ways(pairs))]
    return "\n\n".join(tables)


def _table(headers: tuple[str, ...], workloads: Sequence[WorkloadRecord]) -> str:
    from tabulate import tabulate

    rows = [row for workload in workloads for row in _rows(workload)]
    alignment = ("left", "left", "right", "right", "left", "right", "right", "left")
    return printable(
        tabulate(rows, headers=headers, tablefmt="simple", colalign=alignment, disable_numparse=True)
    )


def _ways(pairs: Sequence[WorkloadRecord]) -> Iterable[str]:
    """Yield what A and B are, and how they were measured, each thing once."""
    of_base: dict[str, list[str]] = {}
    for workload in pairs:
        assert workload.pair
        other = f", B is {workload.pair.candidate}" if workload.pair.candidate else ""
        of_base.setdefault(workload.pair.base + other, []).append(workload.workload)
    for base, names in of_base.items():
        which = "" if len(of_base) == 1 else f" ({', '.join(names)})"
        yield printable(f"A is {base}{which}")
    if any(workload.pair and workload.pair.places == "targets" for workload in pairs):
        yield "their places are a part of what is compared"
    whole: dict[str, list[str]] = {}
    for workload in pairs:
        if workload.pair and workload.pair.why:
            whole.setdefault(workload.pair.why, []).append(workload.workload)
    for why, names in whole.items():
        yield printable(f"by whole runs, not slices: {', '.join(names)}: {why}")


def summary_lines(results: Results, width: int = 100) -> list[str]:
    """Return what the table does not say: findings, and the device time."""
    lines: list[str] = []
    for text in _findings(results.workloads):
        lines += textwrap.wrap(printable(text), width, subsequent_indent="    ") or [""]
    together = moved_together(results)
    lines += [together] if together else []
    if results.gate and results.gate.noise:
        lines.append(printable(results.gate.noise.text))
    seconds = sum(workload.device_seconds for workload in results.workloads)
    runs = sum(workload.repetitions for workload in results.workloads if not workload.pair)
    blocks = sum(workload.repetitions for workload in results.workloads if workload.pair)
    counts = [plural(runs, "repetition")] if runs or not blocks else []
    counts += [plural(blocks, "block")] if blocks else []
    lines.append(f"{', '.join(counts)}, {format_duration(seconds)} of device time")
    return lines


def _findings(workloads: Iterable[WorkloadRecord]) -> Iterator[str]:
    """Yield what was found that is more than a note: once, if it says the same of several workloads but for
    the figures.
    """
    found: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for workload in workloads:
        for item in workload.findings:
            if item.severity != "note" or item.waived:
                kind = item.severity, item.check, item.waived
                found.setdefault(kind, []).append((workload.workload, item.message))
    for (severity, check, waived), said in found.items():
        for who, text in told_once(said):
            yield f"{severity} {check}: {who}: {text}{f' (waived: {waived})' if waived else ''}"


def _rows(workload: WorkloadRecord) -> Iterable[tuple[str, ...]]:
    runs = str(workload.repetitions)
    if not workload.gating:
        yield (workload.workload, "", "", "", "", "", runs, workload.verdict)
        return
    for index, (name, item) in enumerate(workload.gating.items()):
        yield (
            workload.workload if index == 0 else "",
            name,
            "not finite" if item.value is None else format_quantity(item.value, item.unit),
            "" if item.baseline is None else format_quantity(item.baseline, item.unit),
            _change_text(item),
            "" if item.tolerance is None else format_share(item.tolerance),
            runs if index == 0 else "",
            item.verdict,
        )


def _change_text(item: MetricRecord) -> str:
    """Return `-7.1% [-8.3%, -5.9%]`, or as much of it as is known."""
    if item.change is None:
        return ""
    text = format_change(item.change)
    if item.interval:
        low, high = item.interval
        text += f" [{format_change(low)}, {format_change(high)}]"
    return text
