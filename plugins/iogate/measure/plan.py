"""What would run: the workloads, commands, device time, space and bytes written; nothing is run."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from iogate import engines
from iogate.errors import EngineError
from iogate.measure.budget import admitted
from iogate.measure.trial import Trial
from iogate.model import Needs, Place, Workload, metric
from iogate.target.resolve import Target
from iogate.units import format_duration, format_quantity, printable, size_text

_WIDE = 0.2  # a tolerance beyond this misses most of what people care about


def plan_text(target: Target, trials: Sequence[Trial], budget: float | None = None) -> str:
    """Return the plan as a table, with what would be refused below it, and the commands; `budget` is the
    device time in seconds that there is.
    """
    from tabulate import tabulate

    undecided = [trial for trial in trials if trial.result is None]
    measured = undecided if budget is None else admitted(undecided, budget)
    ids = {trial.id for trial in measured}
    rows = [_row(trial, beyond=trial.result is None and trial.id not in ids) for trial in trials]
    headers = ("workload", "runs", "each", "data", "written by each", "against")
    known = expectations(trials)
    refused = [
        f"refused: {trial.workload.name}: {error}"
        for trial in trials
        for error in trial.arm.bench.refusals(trial.needs)
    ]
    lines = [
        f"target: {target.path} ({target.file_system or target.kind}), {format_quantity(target.size, 'B')}"
        + (" free" if target.kind == "directory" else ""),
        "",
        tabulate(rows, headers=headers, tablefmt="simple", disable_numparse=True),
        "",
        *_totals(measured, budget),
        *_beyond(len(undecided) - len(measured), len(undecided)),
        *(["", known] if known else []),
        *refused,
        "",
        *(_command(trial.workload, target) for trial in trials),
    ]
    return printable("\n".join(lines))


def _row(trial: Trial, *, beyond: bool) -> tuple[str, ...]:
    needs = trial.needs
    return (
        trial.workload.name,
        "0" if beyond else _repetitions(trial),
        format_duration(needs.seconds),
        *_bytes(needs),
        "beyond --io-budget" if beyond else _what(trial),
    )


def _beyond(count: int, total: int) -> list[str]:
    """Return how many workloads the device time does not suffice for."""
    rule = "those without a baseline come first, then those with the oldest"
    return [f"not measured for want of device time: {count} of {total} workloads ({rule})"] if count else []


def _totals(wanted: Sequence[Trial], budget: float | None) -> list[str]:
    """Return device time, space, and bytes written, of what would be measured."""
    usual = sum(trial.usual * trial.needs.seconds for trial in wanted)
    most = sum(trial.limit * trial.needs.seconds for trial in wanted)
    if budget is not None:
        usual, most = min(usual, budget), min(most, budget)
    files = {trial.needs.size for trial in wanted} - {0}
    own = max((trial.needs.space for trial in wanted), default=0)
    written = sum(files) + sum(trial.usual * (trial.needs.written or 0) for trial in wanted)
    unbounded = sum(trial.needs.writes and trial.needs.written is None for trial in wanted)
    warmup = [trial for trial in wanted if trial.workload.procedure]
    lines = [
        f"device time: about {format_duration(usual)}, at most {format_duration(most)}",
        f"space: {format_quantity(sum(files), 'B')} in {len(files)} data files"
        + (f", {format_quantity(own, 'B')} for files of the engine" if own else ""),
        f"written: about {format_quantity(written, 'B')}"
        + (f", and what {unbounded} workloads write in their time" if unbounded else ""),
    ]
    if warmup:
        lines.append(f"not counted: what {len(warmup)} workloads take to bring the device to rest")
    return lines


def expectations(trials: Sequence[Trial]) -> str:
    """Return what the gate will do with each gating metric: tolerance, bound, and what the baseline can
    resolve.

    Warnings come below: tolerances that the baseline cannot resolve, with what would help.
    """
    from tabulate import tabulate

    rows, warnings, wide = [], [], False
    for trial in trials:
        for name, expected in trial.judge.expectations().items():
            what, workload = metric(name), trial.workload.name
            typical, tolerance, known = expected.typical, expected.tolerance, expected.sensitivity
            shown = format_quantity(typical, what.unit) if typical else "?"
            if known is None:
                rows.append((workload, name, shown, f"{tolerance:.1%}" if tolerance else "", "not known", ""))
                continue
            rows.append(
                (
                    workload,
                    name,
                    shown,
                    f"{known.tolerance:.1%}",
                    f"{known.minimum_detectable:.1%}",
                    f"{known.repetitions:.0f}",
                )
            )
            wide = wide or known.tolerance > _WIDE
            if not known.resolves:
                warnings.append(
                    f"warning: {workload}: {name}: a tolerance of {known.tolerance:.1%} is less than the "
                    f"{known.minimum_detectable:.1%} that this baseline can resolve: {known.advice}"
                )
    if not rows:
        return ""
    headers = ("workload", "metric", "baseline", "tolerance", "can resolve", "runs")
    table = tabulate(rows, headers=headers, tablefmt="simple", disable_numparse=True)
    if wide:
        warnings.append(
            "the tolerances are wide, as the baseline is noisy or young: add sessions with "
            "--update-baselines=append, when nothing else uses the machine"
        )
    return printable("\n".join([table, *warnings]))


def _repetitions(trial: Trial) -> str:
    if trial.result:
        return "0"
    return str(trial.limit) if trial.usual == trial.limit else f"{trial.usual} to {trial.limit}"


def _bytes(needs: Needs) -> tuple[str, str]:
    if not needs.writes:
        return size_text(needs.size), "nothing"
    return size_text(
        needs.size
    ), "no limit but time" if needs.written is None else f"at most {size_text(needs.written)}"


def _what(trial: Trial) -> str:
    """Return what the workload would be judged against, or why it would not be measured."""
    return trial.result.verdict.verdict if trial.result else trial.judge.against


def _command(workload: Workload, target: Target) -> str:
    folder = Path("results") / workload.name / "1"
    data = target.path / "data" if target.kind == "directory" else target.path
    try:
        command = engines.load(workload.engine).command(workload, Place(data, target.path, folder))
    except EngineError as error:
        return f"{workload.name}: {error}"
    text = "".join(f"\n--- {name}\n{content.rstrip()}" for name, content in command.files.items())
    return f"{workload.name}: {shlex.join(command.argv)}{text}\n"
