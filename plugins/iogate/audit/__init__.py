"""The audit: is a measurement what it says it is?

Published storage numbers are often page cache, holes, a synchronous engine that ignored its queue depth, or a
wrong unit. Each check is a small function from a run to remarks, with its evidence in numbers; its name is
what a suite waives. `invalid` means that the number cannot be believed: it is an error, never a verdict and
never a baseline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from iogate.audit import device, figures, machine, processes
from iogate.audit.run import Check, Run
from iogate.audit.snapshot import Snapshot, snapshot
from iogate.model import Finding, Needs, Output, Workload

__all__ = ["CHECKS", "Run", "Snapshot", "audit", "examine", "snapshot"]

_CHECKS: tuple[Check, ...] = (*figures.CHECKS, *processes.CHECKS, *device.CHECKS, *machine.CHECKS)

CHECKS: Mapping[str, str] = MappingProxyType({check.__name__: check.__doc__ or "" for check in _CHECKS})
"""The names of all checks, which are what a workload may waive, with what each looks for."""


def audit(
    workload: Workload,
    output: Output,
    *,
    needs: Needs,
    seconds: float,
    before: Snapshot,
    after: Snapshot,
    link: float | None = None,
    gating: Sequence[str] = (),
) -> tuple[Finding, ...]:
    """All that there is to say against one repetition, the worst first.

    `seconds` is the wall time of the engine, `before` and `after` are the readings around it, `link` the
    device profile's limit in B/s (None: what /sys says), `gating` the metrics that will be judged. What the
    workload waives stays as a note with the reason.
    """
    passed = workload.options.get(workload.engine)
    run = Run(
        output=output,
        options={**output.options, **workload.options, **(passed if isinstance(passed, Mapping) else {})},
        needs=needs,
        engine=workload.engine,
        seconds=seconds,
        before=before,
        after=after,
        link=link,
        file_system=after.mount.file_system if after.mount else "",
        gating=tuple(gating),
    )
    return examine(run, workload.waive)


def examine(run: Run, waive: Mapping[str, str] = MappingProxyType({})) -> tuple[Finding, ...]:
    """The findings of all checks on a run, the worst first."""
    found = []
    for check in _CHECKS:
        name = check.__name__
        for severity, message, remedy in check(run):
            waived = waive.get(name, "")
            found.append(Finding(name, "note" if waived else severity, message, remedy, waived))
    return tuple(sorted(found, key=lambda finding: _ORDER.index(finding.severity)))


_ORDER = ("invalid", "suspect", "note")
