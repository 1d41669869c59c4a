"""What is said of a workload in names and values: the properties of a test in JUnit, and in whatever else
shows pytest's user properties.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from iogate.model import Finding
from iogate.report.results import MetricRecord, WorkloadRecord
from iogate.units import printable

Property: TypeAlias = "tuple[str, str | int | float]"


def properties(record: WorkloadRecord) -> list[Property]:
    """Return what is known of a workload, the verdict first.

    A metric is there under its name, in the unit of the results document; of those that decide there is
    also `<metric>.unit`, `.baseline`, `.change`, `.interval` (`low .. high`), `.tolerance` and `.bound`,
    changes as fractions. Each finding of the audit is a `finding`: severity, check, message.
    """
    return [
        ("verdict", record.verdict),
        ("reason", printable(record.reason)),
        ("engine", printable(record.engine)),
        ("repetitions", record.repetitions),
        ("device_seconds", record.device_seconds),
        *(found for name, item in record.metrics.items() for found in _metric(printable(name), item)),
        *(("finding", text) for text in findings(record)),
        *(("changed", printable(text)) for text in record.differences),
    ]


def findings(record: WorkloadRecord) -> list[str]:
    """Return the findings of the audit, each in a line: `suspect page_cache: ... (waived: ...)`."""
    return [printable(_finding(item)) for item in record.findings]


def _finding(item: Finding) -> str:
    waived = f" (waived: {item.waived})" if item.waived else ""
    return f"{item.severity} {item.check}: {item.message}{waived}"


def _metric(name: str, item: MetricRecord) -> Iterator[Property]:
    yield name, "not finite" if item.value is None else item.value
    if not item.gating:
        return
    yield f"{name}.unit", printable(item.unit)
    for key, value in (("baseline", item.baseline), ("bound", item.bound), ("tolerance", item.tolerance)):
        if value is not None:
            yield f"{name}.{key}", value
    if item.change is not None:
        yield f"{name}.change", round(item.change, 5)
    if item.interval is not None:
        low, high = item.interval
        yield f"{name}.interval", f"{low:.5f} .. {high:.5f}"
