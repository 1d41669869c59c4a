"""What would run: the workloads, commands, device time, space and bytes written; nothing is run."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from iogate import engines
from iogate.course import Course
from iogate.errors import EngineError
from iogate.model import Device, Needs, Place, Workload, metric
from iogate.target import Target, refusals
from iogate.units import format_duration, format_quantity, printable, size_text

_WIDE = 0.2  # a tolerance beyond this misses most of what people care about


def plan_text(device: Device, target: Target, courses: Sequence[Course], consent: str | None) -> str:
    """The plan as a table, with what would be refused below it, and the commands."""
    from tabulate import tabulate

    rows = [_row(course) for course in courses]
    headers = ("workload", "runs", "each", "data", "written by each", "against")
    known = expectations(courses)
    refused = [
        f"refused: {course.workload.name}: {error}"
        for course in courses
        for error in refusals(target, course.needs, device=device, consent=consent)
    ]
    lines = [
        f"target: {target.path} ({target.file_system or target.kind}), {format_quantity(target.size, 'B')}"
        + (" free" if target.kind == "directory" else ""),
        "",
        tabulate(rows, headers=headers, tablefmt="simple", disable_numparse=True),
        "",
        *_totals(courses),
        *(["", known] if known else []),
        *refused,
        "",
        *(_command(course.workload, target) for course in courses),
    ]
    return printable("\n".join(lines))


def _row(course: Course) -> tuple[str, ...]:
    needs = course.needs
    return (
        course.workload.name,
        _repetitions(course),
        format_duration(needs.seconds),
        *_bytes(needs),
        _what(course),
    )


def _totals(courses: Sequence[Course]) -> list[str]:
    """Device time, space, and bytes written, of what would be measured."""
    wanted = [course for course in courses if course.record is None]
    usual = sum(course.usual * course.needs.seconds for course in wanted)
    most = sum(course.limit * course.needs.seconds for course in wanted)
    files = {course.needs.size for course in wanted} - {0}
    own = max((course.needs.space for course in wanted), default=0)
    written = sum(files) + sum(course.usual * (course.needs.written or 0) for course in wanted)
    unbounded = sum(course.needs.writes and course.needs.written is None for course in wanted)
    settling = [course for course in wanted if course.workload.procedure]
    lines = [
        f"device time: about {format_duration(usual)}, at most {format_duration(most)}",
        f"space: {format_quantity(sum(files), 'B')} in {len(files)} data files"
        + (f", {format_quantity(own, 'B')} for files of the engine" if own else ""),
        f"written: about {format_quantity(written, 'B')}"
        + (f", and what {unbounded} workloads write in their time" if unbounded else ""),
    ]
    if settling:
        lines.append(f"not counted: what {len(settling)} workloads take to bring the device to rest")
    return lines


def expectations(courses: Sequence[Course]) -> str:
    """What the gate will do with each gating metric: tolerance, bound, and what the baseline can resolve.

    Warnings come below: tolerances that the baseline cannot resolve, with what would help.
    """
    from tabulate import tabulate

    rows, warnings, wide = [], [], False
    for course in courses:
        if not course.judge:
            continue
        for name, known in course.judge.strengths().items():
            what, workload = metric(name), course.workload.name
            typical = course.judge.typical(name)
            shown = format_quantity(typical, what.unit) if typical else "?"
            if known is None:
                tolerance = course.judge.tolerance(name).worse
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


def _repetitions(course: Course) -> str:
    if course.record:
        return "0"
    return str(course.limit) if course.usual == course.limit else f"{course.usual} to {course.limit}"


def _bytes(needs: Needs) -> tuple[str, str]:
    if not needs.writes:
        return size_text(needs.size), "nothing"
    return size_text(
        needs.size
    ), "no limit but time" if needs.written is None else f"at most {size_text(needs.written)}"


def _what(course: Course) -> str:
    """What the workload would be judged against, or why it would not be measured."""
    if course.record:
        return course.record.verdict.verdict
    if course.judge is None or course.baseline is None:
        return "to be recorded"
    if course.baseline.published:
        return "a published baseline"
    return f"{len(course.baseline.sessions)} sessions"


def _command(workload: Workload, target: Target) -> str:
    folder = Path("results") / workload.name / "1"
    data = target.path / "data" if target.kind == "directory" else target.path
    try:
        command = engines.load(workload.engine).command(workload, Place(data, target.path, folder))
    except EngineError as error:
        return f"{workload.name}: {error}"
    text = "".join(f"\n--- {name}\n{content.rstrip()}" for name, content in command.files.items())
    return f"{workload.name}: {shlex.join(command.argv)}{text}\n"
