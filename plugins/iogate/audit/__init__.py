"""The audit: is a measurement what it says it is?

Published storage numbers are often page cache, holes, a synchronous engine that ignored its queue depth, or a
wrong unit. Each check is a small function from the evidence to findings; its name is what a suite waives.
`invalid` means that the number cannot be believed: it is an error, never a verdict and never a baseline.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from iogate.audit.evidence import Check, Evidence
from iogate.audit.rules import device, figures, machine, processes
from iogate.audit.snapshot import Snapshot, snapshot
from iogate.model import Finding

__all__ = ["CHECKS", "Evidence", "Snapshot", "audit", "snapshot"]

_CHECKS: tuple[Check, ...] = (*figures.CHECKS, *processes.CHECKS, *device.CHECKS, *machine.CHECKS)

CHECKS: Mapping[str, str] = MappingProxyType({check.__name__: check.__doc__ or "" for check in _CHECKS})
"""The names of all checks, which are what a workload may waive, with what each looks for."""


def audit(evidence: Evidence, waive: Mapping[str, str] = MappingProxyType({})) -> tuple[Finding, ...]:
    """Return the findings of all checks on the evidence, the worst first.

    What the workload waives stays as a note, with the reason that `waive` has by the name of the check.
    """
    found = []
    for check in _CHECKS:
        name = check.__name__
        for item in check(evidence):
            waived = waive.get(name, "")
            found.append(
                replace(item, check=name, severity="note" if waived else item.severity, waived=waived)
            )
    return tuple(sorted(found, key=lambda finding: _ORDER.index(finding.severity)))


_ORDER = ("invalid", "suspect", "note")
