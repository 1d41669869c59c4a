"""What of a session is exported."""

from __future__ import annotations

from dataclasses import replace

from iogate.report.results import Results, WorkloadRecord


def gating_only(session: Results) -> Results:
    """Return a session with the metrics that decide, and no others."""
    workloads = tuple(replace(item, metrics=item.gating) for item in session.workloads)
    return replace(session, workloads=workloads)


def valid(session: Results) -> list[WorkloadRecord]:
    """Return the workloads whose figures can be believed."""
    return [item for item in session.workloads if item.verdict != "invalid"]
