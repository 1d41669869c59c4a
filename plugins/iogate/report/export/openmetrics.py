"""OpenMetrics text 1.0: https://prometheus.io/docs/specs/om/open_metrics_spec.

Gauges only, which Prometheus' older text format has too, so that node_exporter's textfile collector and the
Pushgateway take them. They refuse timestamps, and a series can have many points only with them: those of
several sessions have the sessions' times, for `promtool tsdb create-blocks-from openmetrics`.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from iogate.errors import InputError
from iogate.report.results import MetricRecord, Results, WorkloadRecord
from iogate.units import printable

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_KINDS: Mapping[str, tuple[str, str, float]] = {
    "IOPS": ("rate", "operations_per_second", 1.0),
    "B/s": ("bandwidth", "bytes_per_second", 1.0),
    "ns": ("time", "seconds", 1e-9),
    "s": ("time", "seconds", 1.0),
    "": ("figure", "ratio", 1.0),
}
"""Of each unit: what the family is called, its unit there, and what a figure is multiplied by."""


@dataclass(frozen=True)
class _Sample:
    family: str
    unit: str
    help: str
    labels: Mapping[str, str]
    value: float


def export(sessions: Sequence[Results]) -> str:
    """Return sessions as gauges. Raises InputError for several sessions, one of which has no time, or that
    are of one device and time.
    """
    several = len(sessions) > 1
    timed = [(_known_time(session) if several else None, session) for session in sessions]
    timed.sort(key=lambda item: item[0] or 0.0)
    places = [(time, session.device) for time, session in timed]
    if several and len(set(places)) < len(places):
        raise InputError("two sessions of one device began in the same second: export one of them alone")
    families: dict[str, list[tuple[_Sample, float | None]]] = {}
    for time, session in timed:
        for sample in _samples(session):
            families.setdefault(sample.family, []).append((sample, time))
    lines = [line for samples in families.values() for line in _family(samples)]
    return "\n".join([*lines, "# EOF"]) + "\n"


def _family(samples: Sequence[tuple[_Sample, float | None]]) -> Iterator[str]:
    """Yield the lines of a family; the points of one series are together, in the order of time."""
    first = samples[0][0]
    yield f"# TYPE {first.family} gauge"
    if first.unit:
        yield f"# UNIT {first.family} {first.unit}"
    yield f"# HELP {first.family} {_escaped(first.help)}"
    series: dict[str, list[str]] = {}
    for sample, time in samples:
        labels = ",".join(f'{name}="{_escaped(value)}"' for name, value in sample.labels.items())
        moment = "" if time is None else f" {time:.0f}"
        series.setdefault(labels, []).append(f"{sample.family}{{{labels}}} {sample.value!r}{moment}")
    for points in series.values():
        yield from points


def _samples(session: Results) -> Iterator[_Sample]:
    device = {"device": session.device}
    time = _time(session)
    if time is not None:
        text = "When the session began."
        yield _Sample("iogate_session_start_seconds", "seconds", text, device, time)
    for workload in session.workloads:
        labels = {**device, "suite": workload.suite, "workload": workload.workload}
        text = "1, and the verdict on the workload as a label."
        yield _Sample("iogate_verdict", "", text, {**labels, "verdict": workload.verdict}, 1.0)
        text = "Wall time of all runs of the engine."
        yield _Sample("iogate_device_time_seconds", "seconds", text, labels, workload.device_seconds)
        text = "Findings of the audit."
        for severity in ("note", "suspect", "invalid"):
            count = sum(item.severity == severity for item in workload.findings)
            yield _Sample("iogate_findings", "", text, {**labels, "severity": severity}, float(count))
        yield from _metrics(workload, labels)


def _metrics(workload: WorkloadRecord, labels: Mapping[str, str]) -> Iterator[_Sample]:
    for name, item in workload.metrics.items():
        own = {**labels, "metric": name, "gating": str(item.gating).lower()}
        kind, unit, scale = _KINDS.get(item.unit, _KINDS[""])
        for part, value, text in (
            ("measured", item.value, "What was measured"),
            ("baseline", item.baseline, "The baseline (of a pair: arm A)"),
            ("bound", item.bound, "Where the tolerance is used up"),
        ):
            if value is not None:
                yield _Sample(f"iogate_{part}_{kind}_{unit}", unit, f"{text}.", own, value * scale)
        yield from _changes(item, own)


def _changes(item: MetricRecord, labels: Mapping[str, str]) -> Iterator[_Sample]:
    low, high = item.interval or (None, None)
    for part, value, text in (
        ("change", item.change, "Relative change against the baseline."),
        ("change_low", low, "Lower end of the interval of the change."),
        ("change_high", high, "Upper end of the interval of the change."),
        ("tolerance", item.tolerance, "The smallest change that matters."),
    ):
        if value is not None:
            yield _Sample(f"iogate_{part}_ratio", "ratio", text, labels, value)


def _time(session: Results) -> float | None:
    """Return when a session began, by its name; None if that says nothing of it."""
    match = _TIME.match(session.session)
    try:
        moment = datetime.datetime.strptime(match[0] if match else "", "%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        return None
    return moment.replace(tzinfo=datetime.timezone.utc).timestamp()


def _known_time(session: Results) -> float:
    time = _time(session)
    if time is None:
        text = f"the session {session.session[:80]} has no time in its name, as points of a series need"
        raise InputError(printable(text), remedy="export it alone")
    return time


def _escaped(text: str) -> str:
    return printable(text).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
