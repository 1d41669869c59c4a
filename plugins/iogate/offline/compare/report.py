"""A comparison for people: the table of a pytest run, the reasons, what changed around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from iogate.model import PASSED
from iogate.report.names import names_told_apart
from iogate.report.results import Results
from iogate.report.terminal import results_table, summary_lines
from iogate.units import no_commands


def status(results: Results) -> int:
    """Return 0 if every workload passed, 1 if any regressed, else 3 (also if there is none)."""
    verdicts: list[str] = [workload.verdict for workload in results.workloads]
    if "regressed" in verdicts:
        return 1
    return 0 if verdicts and PASSED.issuperset(verdicts) else 3


def text(results: Results, changed: Sequence[str], others: Sequence[str] = ()) -> str:
    """Return the table, why what did not pass did not, findings, which sessions are of `others`,
    what `changed`, and the count of verdicts.
    """
    results = names_told_apart(results)
    lines = [results_table(results), ""]
    for workload in results.workloads:
        if workload.verdict not in ("pass", "improved"):
            lines.append(f"{workload.verdict}: {workload.workload}: {workload.reason}")
    lines += summary_lines(results)
    lines += others
    if changed:
        lines.append(f"changed since OLD: {'; '.join(changed)}")
    counts = Counter(workload.verdict for workload in results.workloads)
    lines.append(", ".join(f"{count} {verdict}" for verdict, count in counts.items()) or "nothing to compare")
    return no_commands("\n".join(lines))
