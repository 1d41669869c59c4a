"""What was found of the workloads of a session, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from iogate.report.alike import told_once
from iogate.report.results import WorkloadRecord


def findings_told(workloads: Iterable[WorkloadRecord]) -> Iterator[str]:
    """Yield what was found, notes last; once, if it is the same of several workloads but for the figures."""
    found: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for workload in workloads:
        for item in workload.findings:
            kind = item.severity, item.check, item.waived
            found.setdefault(kind, []).append((workload.workload, item.message))
    for (severity, check, waived), said in sorted(found.items(), key=lambda one: one[0][0] == "note"):
        for who, text in told_once(said):
            yield f"{severity} {check}: {who}: {text}{f' (waived: {waived})' if waived else ''}"


def changes_told(workloads: Iterable[WorkloadRecord]) -> Iterator[str]:
    """Yield what changed since the baselines of workloads that improved: what it gave may hide a loss. (Of
    those that failed it is told as they fail.)
    """
    gained = [workload for workload in workloads if workload.verdict == "improved"]
    said = [(workload.workload, text) for workload in gained for text in workload.differences]
    for who, text in told_once(said):
        yield f"improved, and changed since the baseline: {who}: {text}"
