"""The baselines of a run: writing what was recorded, and saying what that can resolve."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from iogate.errors import IogateError, raise_together
from iogate.model import Baseline, Environment, WorkloadResult
from iogate.plugin.coverage import shown
from iogate.units import format_share, plural, printable

if TYPE_CHECKING:
    from pathlib import Path

    from iogate.judge.appointment import BaselineJudges
    from iogate.judge.gate import Sensitivity
    from iogate.judge.judge import Judge
    from iogate.measure.session import Session
    from iogate.measure.settings import Settings

_WIDTH = 100
_KEPT = ("appended", "recorded anew", "recorded, ")
"""How the lines of a verdict begin that say what becomes of a session."""
_LEFT = ("not recorded: ", "not appended: ")
"""How the line of a verdict begins that says that nothing does; of what failed, the failure tells."""


def write_baselines(
    results: Iterable[WorkloadResult],
    session: Session,
    settings: Settings,
    judges: BaselineJudges,
    device: str,
    *,
    verbosity: int = 0,
) -> Iterator[str]:
    """Write what was recorded into the baseline files, and yield what each of them is now, for people; what
    the session changes in it, too, where it replaces something, or somebody updates, or `verbosity` is above
    0; below 0 only that, and what became of sessions. What passed and is not kept is told in any case.
    What could not be written is raised when all others are. Raises IogateError.
    """
    results = list(results)
    recorded = [result for result in results if result.verdict.keep]
    errors = []
    for suite in dict.fromkeys(result.workload.suite for result in recorded):
        records = [result for result in recorded if result.workload.suite == suite]
        path = settings.baselines / device / f"{suite}.yaml"
        try:
            yield from _write(path, device, suite, records, session, settings, judges, verbosity)
        except IogateError as error:
            errors.append(error)
    passed = [result for result in results if result.verdict.passed]
    left = [(one.workload.name, line) for one in passed for line in _lines(one, *_LEFT)]
    yield _told(left)
    raise_together(errors)


def _write(
    path: Path,
    device: str,
    suite: str,
    records: Sequence[WorkloadResult],
    session: Session,
    settings: Settings,
    judges: BaselineJudges,
    verbosity: int,
) -> Iterator[str]:
    """Write what was recorded of a suite, and yield what its baseline is now."""
    from iogate.judge.baseline import changes_table, load_sessions, not_here, update

    anew = settings.update == "replace"
    replaced = _replaced(path, suite, records) if anew else {}
    before = (replaced or load_sessions(path, suite) or judges.of_device) if anew else {}
    changed = update(
        path,
        device=device,
        suite=suite,
        session=session.id,
        environment=session.environment,
        reason=settings.reason,
        measured={result.workload.name: (result.workload.definition, _values(result)) for result in records},
        mode=settings.update or "append",
        runtimes={one.workload.name: one.workload.chosen_runtime or 0.0 for one in records},
        worked={one.workload.name: _worked(one) for one in records},
    )
    if other := not_here(before, session.environment):
        now = (
            "any machine of its model is held against this one now"
            if judges.of_model is not None
            else "is the right target mounted?"
        )
        yield printable(f"warning: {'replaced' if replaced else 'recorded'}, although {other}; {now}")
    lost = any(change.note.startswith("replaced") for change in changed)
    asked = verbosity > 0 or (settings.update and verbosity == 0)
    if lost or (asked and any(change.old is not None for change in changed)):
        yield changes_table(changed)
    if verbosity < 0:
        yield _told([(result.workload.name, text) for result in records for text in _fate(result)])
        return
    known = judges.sensitivities([result.workload for result in records])
    text = f"{plural(len(records), 'workload')} recorded in {shown(path, settings.root)}"
    yield printable(text) + ", which now resolves\n\n" + strength_table(known)
    yield _told([(result.workload.name, text) for result in records for text in _said(result)])


def _replaced(path: Path, suite: str, records: Sequence[WorkloadResult]) -> Mapping[str, Environment]:
    """Return the sessions of a baseline that the workloads had which are recorded anew."""
    from iogate.judge.baseline import load_baselines, load_sessions

    known = load_baselines(path, suite)
    names = {name for one in records if (old := known.get(one.workload.name)) for name in old.sessions}
    return {name: session for name, session in load_sessions(path, suite).items() if name in names}


def baseline_of(judge: Judge) -> Baseline | None:
    """Return the baseline that a judge holds a workload against, if there is one."""
    from iogate.judge.appender import Appender
    from iogate.judge.baseline_judge import BaselineJudge
    from iogate.judge.learner import Learner

    return judge.baseline if isinstance(judge, BaselineJudge | Appender | Learner) else None


def strength_table(known: Mapping[tuple[str, str], Sensitivity | None]) -> str:
    """Return what a baseline can resolve of each workload and metric as a table."""
    from tabulate import tabulate

    rows = [(printable(workload), metric, *_figures(item)) for (workload, metric), item in known.items()]
    headers = ("workload", "metric", "losses of", "session noise", "repetition noise")
    alignment = ("left", "left", "right", "right", "right")
    return tabulate(rows, headers, tablefmt="simple", colalign=alignment, disable_numparse=True)


def _figures(known: Sensitivity | None) -> tuple[str, str, str]:
    if known is None:
        return "cannot be judged yet", "", ""
    assumed = " (assumed)" if known.assumed else ""
    return (
        format_share(max(known.tolerance, known.minimum_detectable)),
        format_share(known.session_noise) + assumed,
        format_share(known.repetition_noise),
    )


def _told(said: Sequence[tuple[str, str]]) -> str:
    """Return what is said of workloads, each thing once."""
    from iogate.report.alike import told_once

    return printable(
        "\n".join(
            textwrap.fill(f"{who}: {text}", _WIDTH, subsequent_indent="    ", break_on_hyphens=False)
            for who, text in told_once(said)
        )
    )


def _fate(result: WorkloadResult) -> Iterator[str]:
    """Yield what became of the session of a workload."""
    yield from _lines(result, *_KEPT)


def _lines(result: WorkloadResult, *begin: str) -> Iterator[str]:
    """Yield the lines of a verdict's reason that begin so."""
    yield from (line for line in result.verdict.reason.splitlines() if line.startswith(begin))


def _said(result: WorkloadResult) -> Iterator[str]:
    """Yield that, and what should be known of it."""
    yield from _fate(result)
    yield from result.workload.notes
    doubts = {item.check for item in result.verdict.findings if item.severity == "suspect"}
    if doubts:
        yield f"recorded although suspect: {', '.join(sorted(doubts))}"


def _worked(result: WorkloadResult) -> list[float]:
    """Return for how long the session had measured before each repetition; nothing where that is not told."""
    told = [item.worked for item in result.repetitions if item.worked is not None]
    return told if len(told) == len(result.repetitions) else []


def _values(result: WorkloadResult) -> dict[str, list[float]]:
    return {item.metric.name: list(item.values) for item in result.verdict.metrics}
