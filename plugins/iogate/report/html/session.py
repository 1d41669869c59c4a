"""What the page says of a session: its headline, a row for each workload, and what unfolds below it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from iogate.model import VerdictName
from iogate.report.headline import WORST_FIRST
from iogate.report.html.band import Band, band_of
from iogate.report.html.curve_plots import curve_plots
from iogate.report.html.pair_plots import pair_plots
from iogate.report.html.plot import Plot
from iogate.report.html.sweeps import matrices, sweep_plots
from iogate.report.html.workload_plots import common_plots
from iogate.report.results import MetricRecord, Results, WorkloadRecord
from iogate.report.together import moved_together
from iogate.units import format_change, format_duration, format_quantity, format_share, plural, printable

_HEADLINES: Mapping[VerdictName, str] = {
    "regressed": "{} regressed",
    "invalid": "{} not to be believed",
    "inconclusive": "{} inconclusive",
    "no_baseline": "{} without a baseline",
}


@dataclass(frozen=True)
class MetricView:
    """A gating metric in the words of the table."""

    name: str
    measured: str
    baseline: str
    change: str
    interval: str
    tolerance: str
    verdict: str
    band: Band | None


@dataclass(frozen=True)
class WorkloadView:
    """A workload in the table; `details` are what unfolds, in the types of JSON."""

    id: str
    suite: str
    name: str
    verdict: VerdictName
    rank: int
    metrics: Sequence[MetricView]
    runs: str
    silence: str
    seconds: float
    worse: float
    findings: str
    severity: str
    search: str
    details: Mapping[str, Any]


@dataclass(frozen=True)
class Sweep:
    """The plots of a matrix."""

    id: str
    title: str
    plots: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class SessionView:
    """A session in the words of the page."""

    id: str
    device: str
    session: str
    when: str
    headline: str
    verdict: str
    counts: Sequence[tuple[VerdictName, int]]
    cost: str
    broken_off: str
    remarks: Sequence[str]
    rows: Sequence[WorkloadView]
    environment: Mapping[str, Mapping[str, str]]
    versions: Mapping[str, str]
    sweeps: Sequence[Sweep] = field(default=())


def session_view(results: Results, prefix: str) -> SessionView:
    """Return what the page says of a session; `prefix` tells its places from those of others."""
    counts = Counter(item.verdict for item in results.workloads)
    ids = _ids(results.workloads, prefix)
    rows = [_row(item, id) for item, id in zip(results.workloads, ids, strict=True)]
    noise = results.gate.noise.text if results.gate and results.gate.noise else ""
    return SessionView(
        id=f"{prefix}session",
        device=printable(results.device),
        session=printable(results.session),
        when=session_label(printable(results.session)),
        headline=_headline(results, counts),
        verdict=next((name for name in WORST_FIRST if counts[name]), "inconclusive"),
        counts=[(name, counts[name]) for name in WORST_FIRST if counts[name]],
        cost=_cost(results.workloads),
        broken_off=_broken_off(results),
        remarks=[printable(text) for text in (moved_together(results), noise) if text],
        rows=sorted(rows, key=lambda row: row.rank),
        environment={
            "machine": _facts(results.environment.identity),
            "software": _facts(results.environment.subject),
            "state": _facts(results.environment.state),
        },
        versions=_facts(results.versions),
        sweeps=list(_sweeps(results, prefix)),
    )


def _sweeps(results: Results, prefix: str) -> Iterator[Sweep]:
    for number, matrix in enumerate(matrices(results), 1):
        plots = [plot.plain() for plot in sweep_plots(matrix)]
        if plots:
            left_out = f" (without {matrix.invalid} that are invalid)" if matrix.invalid else ""
            title = printable(f"Sweep: {matrix.suite}/{matrix.name}{left_out}")
            yield Sweep(f"{prefix}sweep-{number}", title, plots)


def session_label(session: str) -> str:
    """Return `2026-11-21 22:19:12` of `2026-11-21T22:19:12Z-1f0b`, whole if it is called otherwise."""
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)Z(-[0-9a-f]+)?", session)
    return f"{match[1]} {match[2]} UTC" if match else session


def _headline(results: Results, counts: Mapping[VerdictName, int]) -> str:
    """Return the verdict on the whole session, in words."""
    whole = plural(len(results.workloads), "workload")
    bad = [text.format(counts[name]) for name, text in _HEADLINES.items() if counts.get(name)]
    if bad:
        return f"{', '.join(bad)}, of {whole}"
    if not results.workloads:
        return "nothing was measured"
    recorded = counts["recorded"]
    if recorded == len(results.workloads):
        return f"{whole} recorded: no verdict"
    passed = len(results.workloads) - recorded
    drift = f" ({counts['drift']} with a drift)" if counts.get("drift") else ""
    return f"{plural(passed, 'workload')} passed{drift}" + (f", {recorded} recorded" if recorded else "")


def _broken_off(results: Results) -> str:
    """Return that a session did not come to its end; empty if it did."""
    if not (results.run and results.run.open):
        return ""
    known, left = len(results.run.selection), len(results.run.open)
    return (
        f"This session was broken off: {left} of {plural(known, 'workload')} "
        f"{'is' if left == 1 else 'are'} not decided. What it found until then is "
        "shown. --io-resume goes on with it."
    )


def _cost(workloads: Sequence[WorkloadRecord]) -> str:
    runs = sum(item.repetitions for item in workloads if not item.pair)
    blocks = sum(item.repetitions for item in workloads if item.pair)
    said = [plural(runs, "repetition")] if runs or not blocks else []
    said += [plural(blocks, "block")] if blocks else []
    seconds = sum(item.device_seconds for item in workloads)
    return f"{', '.join(said)}, {format_duration(seconds)} of device time"


def _facts(facts: Mapping[str, str]) -> dict[str, str]:
    return {printable(name): printable(text) for name, text in facts.items()}


def _ids(workloads: Sequence[WorkloadRecord], prefix: str) -> Iterator[str]:
    """Yield a place in the page for each workload: readable, and unlike any other."""
    seen: Counter[str] = Counter()
    for item in workloads:
        plain = re.sub(r"[^A-Za-z0-9_.=-]+", "-", f"{prefix}{item.suite}-{item.workload}").strip("-")
        id = f"w-{plain}"
        seen[id] += 1
        yield id if seen[id] == 1 else f"{id}--{seen[id]}"


def _row(item: WorkloadRecord, id: str) -> WorkloadView:
    name, suite = printable(item.workload), printable(item.suite)
    worst = [finding for finding in item.findings if not finding.waived and finding.severity != "note"]
    severities = [finding.severity for finding in worst]
    return WorkloadView(
        id=id,
        suite=suite,
        name=name,
        verdict=item.verdict,
        rank=WORST_FIRST.index(item.verdict),
        metrics=[_metric(key, one, pair=item.pair is not None) for key, one in item.gating.items()]
        or [_NOTHING],
        runs=plural(item.repetitions, "block" if item.pair else "repetition"),
        silence="no metric was judged" if item.repetitions else "nothing was measured",
        seconds=round(item.device_seconds, 3),
        worse=max((_worse(one) for one in item.gating.values()), default=0.0),
        findings=", ".join(dict.fromkeys(printable(finding.check) for finding in worst)),
        severity="invalid" if "invalid" in severities else "suspect" if severities else "",
        search=printable(" ".join((suite, name, item.engine, item.verdict, *item.gating))).lower(),
        details=_details(item),
    )


_NOTHING = MetricView("", "", "", "", "", "", "", None)


def _worse(item: MetricRecord) -> float:
    """Return by how much a metric is worse, as a fraction."""
    change = item.change or 0.0
    return round(-change if item.direction == "higher" else change, 5)


def _metric(name: str, item: MetricRecord, *, pair: bool) -> MetricView:
    interval = f"[{', '.join(format_change(end) for end in item.interval)}]" if item.interval else ""
    return MetricView(
        name=printable(name),
        measured=("B " if pair else "") + (_quantity(item.value, item.unit) or "not finite"),
        baseline=("A " if pair else "") + _quantity(item.baseline, item.unit),
        change="" if item.change is None else format_change(item.change),
        interval=interval,
        tolerance="" if item.tolerance is None else format_share(item.tolerance),
        verdict=item.verdict,
        band=band_of(item),
    )


def _quantity(value: float | None, unit: str) -> str:
    return "" if value is None else format_quantity(value, unit)


def _details(item: WorkloadRecord) -> dict[str, Any]:
    """Return what unfolds below a workload; what is empty is left out."""
    found = {
        "about": printable(item.description),
        "where": printable(item.where),
        "reason": printable(item.reason),
        "findings": [
            [found.severity, *map(printable, (found.check, found.message, found.remedy, found.waived))]
            for found in item.findings
        ],
        "plots": [plot.plain() for plot in _plots(item)],
        "metrics": [_figures(name, one) for name, one in item.metrics.items()],
        "changed": [printable(text) for text in item.differences],
        "pair": _pair(item),
        "command": printable(item.command),
        "files": {printable(name): printable(text) for name, text in item.files.items()},
        "definition": {
            printable(str(key)): printable(_text(value)) for key, value in item.definition.items()
        },
        "folders": [printable(folder) for folder in item.folders],
    }
    return {key: value for key, value in found.items() if value}


def _plots(item: WorkloadRecord) -> Iterator[Plot]:
    yield from pair_plots(item) if item.pair else common_plots(item)
    yield from curve_plots(item)


def _pair(item: WorkloadRecord) -> list[str]:
    if item.pair is None:
        return []
    known = f"A is {item.pair.base}" in item.reason
    said = [
        "" if known else f"A is {item.pair.base}",
        f"B is {item.pair.candidate}" if item.pair.candidate else "",
    ]
    said += [": ".join(item.pair.way) if any(item.pair.way) else ""]
    return [printable(text) for text in said if text]


def _figures(name: str, item: MetricRecord) -> list[str]:
    row = [printable(name), _quantity(item.value, item.unit)]
    if item.baseline is not None:
        row += [
            _quantity(item.baseline, item.unit),
            "" if item.change is None else format_change(item.change),
        ]
    return row


def _text(value: Any) -> str:
    return value if isinstance(value, str) else re.sub(r"[{}\"]", "", str(value).replace("'", ""))
