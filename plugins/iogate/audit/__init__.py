"""The audit: is a measurement what it says it is?

Published storage numbers are often page cache, holes, a synchronous engine that ignored its queue depth, or a
wrong unit. Each check is a small function from the evidence to findings; its name is what a suite waives.
Its docstring has three parts, of which docs/audit.md is made: what it sees, what that means, what to do.
`invalid` means that the number cannot be believed: it is an error, never a verdict and never a baseline.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType, ModuleType

from iogate.audit.evidence import Check, Evidence
from iogate.audit.rules import (
    clients,
    completeness,
    device,
    figures,
    machine,
    pairs,
    processes,
    rates,
    storage,
)
from iogate.audit.snapshot import Snapshot, snapshot
from iogate.model import Finding

__all__ = ["CHECKS", "RULES", "Evidence", "Snapshot", "audit", "snapshot"]

RULES: tuple[ModuleType, ...] = (
    completeness,
    figures,
    rates,
    processes,
    device,
    storage,
    machine,
    pairs,
    clients,
)
"""The modules of the checks, each with its own in CHECKS."""
CHECKS: Mapping[str, Check] = MappingProxyType(
    {check.__name__: check for rules in RULES for check in rules.CHECKS}
)
"""All checks by their names, which are what a workload may waive."""


def audit(evidence: Evidence, waive: Mapping[str, str] = MappingProxyType({})) -> tuple[Finding, ...]:
    """Return the findings of all checks on the evidence, the worst first.

    What the workload waives stays as a note, with the reason that `waive` has by the name of the check.
    """
    found = []
    for name, check in CHECKS.items():
        for item in check(evidence):
            waived = waive.get(name, "")
            found.append(
                replace(item, check=name, severity="note" if waived else item.severity, waived=waived)
            )
    return tuple(sorted(found, key=lambda finding: _ORDER.index(finding.severity)))


_ORDER = ("invalid", "suspect", "note")
