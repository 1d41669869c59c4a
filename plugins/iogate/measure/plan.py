"""What would run: the workloads, commands, device time, space and bytes written; nothing is run."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from iogate import engines
from iogate.errors import EngineError, TargetError
from iogate.measure.bench import Arm
from iogate.measure.budget import admitted
from iogate.measure.trial import LONGEST, SHORTEST, Trial
from iogate.model import Place, Workload, metric
from iogate.target.resolve import Target
from iogate.units import (
    format_duration,
    format_quantity,
    format_share,
    no_commands,
    one_line,
    plural,
    printable,
    size_text,
    unbroken,
)

if TYPE_CHECKING:
    from iogate.judge.gate import Sensitivity
    from iogate.judge.judge import Expectation

_FEW_POINTS = 8  # of a matrix: more are told together
_FEW = 4  # names in one line
_WIDE = 0.2  # what resolves no less than this misses most of what people care about


def plan_text(
    target: Target,
    trials: Sequence[Trial],
    budget: float | None = None,
    *,
    wear: str = "",
    verbose: bool = False,
) -> str:
    """Return the plan as a table, with what would be refused below it, and the commands; `budget` is the
    device time in seconds that there is, and `wear` what was written before of what may be (empty: no limit).

    The many points of a matrix are told together, unless `verbose`, which also shows the job files.
    """
    from tabulate import tabulate

    undecided = [trial for trial in trials if trial.result is None]
    measured = undecided if budget is None else admitted(undecided, budget)
    ids = {trial.id for trial in measured}
    names = _names(trials, math.inf if verbose else _FEW_POINTS)
    rows = _together(
        (names[trial.id], *_row(trial, beyond=trial.result is None and trial.id not in ids))
        for trial in trials
    )
    headers = ("workload", "runs", "each", "data", "written by each", "against")
    known = expectations(trials, names)
    refused = _together((names[trial.id], str(error)) for trial in trials for error in _refusals(trial))
    first = {names[trial.id]: trial for trial in reversed(trials)}
    commands = [text for trial in reversed(first.values()) for text in _commands(trial, target, verbose)]
    lines = [
        f"target: {one_line(str(target.path))} ({target.file_system or target.kind}), "
        + format_quantity(target.size, "B")
        + (" free" if target.kind == "directory" else ""),
        "",
        tabulate(rows, headers=headers, tablefmt="simple", disable_numparse=True),
        "",
        *_totals(measured, budget, target),
        *([f"written before: {wear}"] if wear else []),
        *_beyond(len(undecided) - len(measured), len(undecided)),
        *(["", known] if known else []),
        *(f"refused: {name}: {error}" for name, error in refused),
        "",
        *commands,
        *([] if verbose else ["", "-v shows all commands, and job files"]),
    ]
    return no_commands("\n".join(lines))


def _names(trials: Sequence[Trial], most: float) -> dict[str, str]:
    """Return the name that each workload is shown by, by id: its own, or that of all points of a matrix that
    has more than `most`.
    """
    points = Counter(_declared(trial) for trial in trials)
    return {
        trial.id: trial.workload.name if points[_declared(trial)] <= most else f"{_declared(trial)[1]}[...]"
        for trial in trials
    }


def _declared(trial: Trial) -> tuple[str, str]:
    """Return the suite of a workload, and its name without the point of a matrix."""
    return trial.workload.suite, trial.workload.name.partition("[")[0]


def _together(rows: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return rows that begin with a name, equal ones as one."""
    return [row if count == 1 else (f"{row[0]} x {count}", *row[1:]) for row, count in Counter(rows).items()]


def _row(trial: Trial, *, beyond: bool) -> tuple[str, ...]:
    return (
        "0" if beyond else _repetitions(trial),
        format_duration(trial.seconds),
        *_bytes(trial.arms),
        "beyond --io-budget" if beyond else _what(trial),
    )


def _beyond(count: int, total: int) -> list[str]:
    """Return how many workloads the device time does not suffice for."""
    rule = "those without a baseline come first, then those with the oldest"
    return [f"not measured for want of device time: {count} of {total} workloads ({rule})"] if count else []


def _totals(wanted: Sequence[Trial], budget: float | None, target: Target) -> list[str]:
    """Return device time, space, and bytes written, of what would be measured."""
    usual = sum(trial.usual * trial.seconds for trial in wanted)
    most = sum(trial.limit * trial.seconds for trial in wanted)
    if budget is not None:
        usual, most = min(usual, budget), min(most, budget)
    most_files: dict[tuple[int, str], int] = {}
    for trial in wanted:
        for arm in trial.arms:
            count = arm.needs.files * _copies(trial, target) * arm.needs.clients
            alike = (arm.needs.size, "" if target.in_place else arm.needs.kind)
            if arm.needs.size:
                most_files[alike] = max(count, most_files.get(alike, 1))
    files = [size for (size, _), count in most_files.items() for _ in range(count)]
    own = max((trial.needs.space for trial in wanted), default=0)
    space = f"{format_quantity(sum(files), 'B')} in {plural(len(files), 'data file')}"
    if target.kind == "device":  # is used as it is
        space = f"the first {format_quantity(max(files), 'B')} of the device" if files else "none"
        files = []
    written = sum(files) + sum(trial.usual * (_written(trial.arms) or 0) for trial in wanted)
    unbounded = sum(_written(trial.arms) is None for trial in wanted)
    amounts = [f"about {format_quantity(written, 'B')}"] if written else []
    amounts += [f"what {plural(unbounded, 'workload')} may write in their time"] if unbounded else []
    pilots = sum(trial.needs_pilot for trial in wanted)
    resting = sum(bool(trial.workload.procedure.keys() - {"runtime"}) for trial in wanted)
    lines = [
        f"device time: about {format_duration(usual)}, at most {format_duration(most)}",
        f"space: {space}" + (f", {format_quantity(own, 'B')} for files of the engine" if own else ""),
        f"written: {', and '.join(amounts) or 'nothing'}",
    ]
    if len(most_files) > 1 and sum(files) > target.size:
        lines.append("not counted: files that do not fit together are laid out by turns, each time anew")
    if pilots:
        lines.append(f"not counted: the first run of {plural(pilots, 'workload')}")
    if resting:
        lines.append(f"not counted: what brings the device to rest before {plural(resting, 'workload')}")
    if any(trial.pairing and trial.pairing.places == "images" for trial in wanted):
        lines.append("not counted: two slots for the images, written first, and when these change places")
    return lines


def expectations(
    trials: Sequence[Trial], names: Mapping[str, str] | None = None, *, brief: bool = False
) -> str:
    """Return what the gate will do with each gating metric: tolerance, bound, and what the baseline can
    resolve; if `brief`, with all metrics in a line.

    Warnings come below: tolerances that the baseline cannot resolve, with what would help; one line for all
    where it resolves next to nothing. `names` are those that workloads are shown by (None: as in a plan);
    those of one name are told together.
    """
    from tabulate import tabulate

    names = _names(trials, _FEW_POINTS) if names is None else names
    found: dict[tuple[str, str], list[Expectation]] = {}
    judged: dict[tuple[str, str], list[tuple[Sensitivity, float]]] = {}
    for trial in trials:
        for name, expected in trial.judge.expectations().items():
            found.setdefault((names[trial.id], name), []).append(expected)
            if expected.sensitivity:
                known = (expected.sensitivity, trial.seconds)
                judged.setdefault((names[trial.id], name), []).append(known)
    lengths = [*_lengths(trials, names), *_efforts(trials, names)]
    if not found:
        return printable("\n".join(lengths))
    rows = [_expected_row(workload, name, items) for (workload, name), items in found.items()]
    headers = ("workload", "metric", "baseline", "tolerance", "can resolve", "runs")
    table = tabulate(rows, headers=headers, tablefmt="simple", disable_numparse=True)
    if brief:
        table = _in_a_line([item for items in found.values() for item in items])
    warnings = [
        text for (workload, name), items in judged.items() for text in _warnings(workload, name, items)
    ]
    resolved = [known.minimum_detectable for items in judged.values() for known, _ in items]
    warnings += _blunt(resolved)
    return printable("\n".join([table, *lengths, *warnings]))


def _in_a_line(items: Sequence[Expectation]) -> str:
    """Return how many metrics are judged, and what their figures range over."""
    judged = [item.sensitivity for item in items if item.sensitivity]
    bounds = [known.tolerance for known in judged] or [item.tolerance for item in items if item.tolerance]
    told = [f"{plural(len(items), 'metric')} judged by the baseline"]
    told += [f"tolerance {_range(bounds, format_share)}"] if bounds else []
    if judged:
        told.append(f"it can resolve {_range([known.minimum_detectable for known in judged], format_share)}")
        told.append(f"{_range([known.repetitions for known in judged], '{:.0f}'.format)} repetitions each")
    return f"{', '.join(told)} (-v: one by one)"


def _lengths(trials: Sequence[Trial], names: Mapping[str, str]) -> list[str]:
    """Return where a first run is to tell how long the others should be, or is made as one was before."""
    kept = dict.fromkeys((names[t.id], t.lead) for t in trials if t.result is None and t.lead)
    waiting = dict.fromkeys(
        (
            names[trial.id],
            trial.seconds,
            math.isfinite(trial.allowed),
            bool(trial.judge.expectations()),
        )
        for trial in trials
        if trial.result is None and trial.needs_pilot and not trial.chosen
    )
    said = [
        f"{name}: a first run of {format_duration(lead)}, as before those of its baseline"
        for name, lead in kept
    ]
    return said + [
        f"{name}: a first run of {format_duration(seconds)} tells how long the others are, {SHORTEST:.0f} to "
        f"{LONGEST:.0f} s{', by what the tolerance needs' if declared else ''}"
        f"{': its baseline does not tell how long its own were' if judged else ''}"
        for name, seconds, declared, judged in waiting
    ]


def _efforts(trials: Sequence[Trial], names: Mapping[str, str]) -> list[str]:
    """Return where there may be more repetitions than usual, and why, in a line for each reason."""
    found: dict[str, list[str]] = {}
    for trial in trials:
        if trial.result is None and trial.judge.effort:
            found.setdefault(trial.judge.effort, []).append(names[trial.id])
    said = []
    for text, those in found.items():
        few = list(dict.fromkeys(those))
        shown = ", ".join(few[:_FEW]) + (f" and {len(few) - _FEW} more" if len(few) > _FEW else "")
        said.append(f"{shown}: {text}")
    return said


def _blunt(resolved: Sequence[float]) -> list[str]:
    """Return the line about metrics of which the baseline resolves next to nothing, if there are any."""
    blunt = [share for share in resolved if share > _WIDE]
    if not blunt:
        return []
    return [
        f"warning: {len(blunt)} of {plural(len(resolved), 'metric')}: the baseline resolves "
        f"{_range(blunt, format_share)}, worse than {_WIDE:.0%}; side by side does better: "
        "pytest suites/ --io-against=DIR|IMAGE|same"
    ]


def _expected_row(workload: str, name: str, items: Sequence[Expectation]) -> tuple[str, ...]:
    """Return a row of a metric; of several workloads what their figures range over."""
    unit = metric(name).unit
    typical = [item.typical for item in items if item.typical]
    judged = [item.sensitivity for item in items if item.sensitivity]
    bounds = [known.tolerance for known in judged] or [item.tolerance for item in items if item.tolerance]
    return (
        workload if len(items) == 1 else f"{workload} x {len(items)}",
        name,
        _range(typical, lambda value: format_quantity(value, unit)) or "?",
        _range(bounds, format_share),
        _range([known.minimum_detectable for known in judged], format_share) or "not known",
        _range([known.repetitions for known in judged], "{:.0f}".format),
    )


def _range(values: Sequence[float], shown: Callable[[float], str]) -> str:
    """Return the least and the greatest of values; empty if there are none."""
    return " to ".join(dict.fromkeys(map(shown, (min(values), max(values))))) if values else ""


def _warnings(workload: str, name: str, items: Sequence[tuple[Sensitivity, float]]) -> list[str]:
    """Return what is wrong with tolerances that the baseline does not resolve, once for each advice; `items`
    are with the seconds of a repetition. Where it resolves next to nothing a line for all says so.
    """
    by_advice: dict[str, list[Sensitivity]] = {}
    for known, seconds in items:
        if known.remedy and known.minimum_detectable <= _WIDE:
            by_advice.setdefault(known.remedy.text(seconds), []).append(known)
    return [
        f"warning: {workload if len(group) == 1 else f'{workload} x {len(group)}'}: {name}: a tolerance of "
        f"{_range([known.tolerance for known in group], format_share)} is less than the "
        f"{_range([known.minimum_detectable for known in group], format_share)} that this baseline can "
        f"resolve: {advice}"
        for advice, group in by_advice.items()
    ]


def _repetitions(trial: Trial) -> str:
    if trial.result:
        return "0"
    return str(trial.limit) if trial.usual == trial.limit else f"{trial.usual} to {trial.limit}"


def _bytes(arms: Sequence[Arm]) -> tuple[str, str]:
    """Return how large the data are, and what one repetition writes, or a block of both arms."""
    size = size_text(max(arm.needs.size * arm.needs.files for arm in arms))
    clients = max(arm.needs.clients for arm in arms)
    if clients > 1:
        size += f" on each of {clients} clients"
    if not any(arm.needs.writes for arm in arms):
        return size, "nothing"
    written = _written(arms)
    if written is None:
        return size, "no limit but time"
    step = 2**20 if written > 2**20 else 1
    return size, f"at most {size_text(math.ceil(written / step) * step)}"


def _written(arms: Sequence[Arm]) -> int | None:
    """Return the most bytes that one repetition writes, or a block; None: bounded by time alone."""
    most = [arm.needs.written if arm.needs.writes else 0 for arm in arms]
    if None in most:
        return None
    return sum((each or 0) * _runs(arm) for each, arm in zip(most, arms, strict=True))


def _runs(arm: Arm) -> int:
    """Return how often a repetition runs the workload: once on each client, of a curve for each count."""
    engine = engines.load(arm.workload.engine)
    counts = engine.clients(arm.workload.options) if isinstance(engine, engines.RunsOnClients) else None
    return sum(counts) if counts and counts != "all" else 1


def _copies(trial: Trial, target: Target) -> int:
    """Return how many copies of its data lie side by side, on one target or on two."""
    own = not target.in_place and any(arm.needs.writes for arm in trial.arms)
    return 2 if trial.pairing and (own or trial.pairing.places != "one") else 1


def _refusals(trial: Trial) -> list[TargetError]:
    """Return why the target would refuse a workload, in whichever arm."""
    found = (error for arm in trial.arms for error in arm.bench.refusals(arm.needs))
    return list({str(error): error for error in found}.values())


def _what(trial: Trial) -> str:
    """Return what the workload would be judged against, or why it would not be measured."""
    if trial.result:
        return trial.result.verdict.verdict
    if trial.pairing is None:
        return trial.judge.against
    return f"A, {trial.base}" + ("" if trial.pairing.slices else f"; by whole runs: {trial.pairing.why}")


def _commands(trial: Trial, target: Target, files: bool) -> Iterator[str]:
    """Yield the command of a workload; of a pair those of both arms in its first block."""
    pairing, workload, count = trial.pairing, trial.workload, trial.needs.files
    folder, own = Path("results") / workload.name / "1", target.path
    if pairing is None:
        place = _place(target, own, folder, range(count))
        yield _command(trial.arm, workload, workload.name, place, files=files)
        return
    paths = Path(trial.base) if pairing.places == "targets" else own, own
    first = count if pairing.places == "copies" else 0
    names = (arm.name for arm in trial.arms)
    for name, each, path, before in zip(names, trial.pair("").workloads, paths, (first, 0), strict=True):
        within = folder / name if pairing.slices else folder / name / "1"
        place = _place(target, path, within, range(before, before + count))
        yield _command(trial.arm, each, f"{workload.name} {name}", place, files=files)


def _place(target: Target, path: Path, folder: Path, numbers: range) -> Place:
    """Return where a command works: on data files of these numbers, or a block device."""
    names = (f"data-{number}" if number else "data" for number in numbers)
    data, *more = (path / name if target.kind == "directory" else path for name in names)
    return Place(data, path, folder, tuple(more))


def _command(arm: Arm, workload: Workload, label: str, place: Place, *, files: bool) -> str:
    """Return a command as a shell takes it, with the `files` that it needs."""
    try:
        command = arm.bench.command(workload, place)
    except EngineError as error:
        return f"{label}: {error}"
    text = "".join(f"\n--- {name}\n{content.rstrip()}" for name, content in command.files.items())
    notes = "".join(f"\nnote: {note}" for note in workload.notes)
    shown = f"{text}\n" if files and text else ""
    return f"{label}: {unbroken(shlex.join(command.argv))}{shown}{notes}"
