"""`iogate compare OLD... NEW`: the gate's verdict on measurements that exist already.

Results files of iogate and outputs of engines are judged by the code that judges a pytest run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from iogate.host.environment import differences
from iogate.judge.judge import GateOptions
from iogate.offline.compare.loading import load_candidate, load_old
from iogate.offline.compare.report import status, text
from iogate.offline.compare.verdicts import check_comparable, judge_workloads
from iogate.report.json_file import json_at
from iogate.report.recording import record_workload, results_of

__all__ = ["compare"]


def compare(
    old: Sequence[Path],
    new: Path,
    gate_options: GateOptions,
    *,
    across_devices: bool = False,
    json_path: Path | None = None,
) -> tuple[str, int]:
    """Return what the gate says of `new` against `old`, as text, with an exit status.

    Each path is a results file, an engine's output, or a folder of either: of results files each is a
    session; outputs are the repetitions of one session. The status is 0 if all passed, 1 if anything
    regressed, else 3. The verdicts are also written to `json_path`, as a results file. Raises IogateError
    for input that cannot be read or must not be compared, such as that of two machines (unless
    `across_devices`).
    """
    reporter = json_at(json_path) if json_path else None
    sessions, candidate = load_old(old), load_candidate(new)
    others = check_comparable(sessions, candidate, across_devices=across_devices)
    changed = differences(sessions[-1].environment, candidate.environment)
    results = results_of(
        candidate.device,
        candidate.id,
        candidate.environment,
        [
            record_workload(result, gate_options)
            for result in judge_workloads(sessions, candidate, gate_options, changed)
        ],
        gate_options,
        {},
    )
    if reporter:
        reporter.write(results)
        reporter.close()
    return text(results, changed, others), status(results)
