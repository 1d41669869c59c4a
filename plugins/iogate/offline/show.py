"""`iogate show FILE...`: the metrics of any engine's output and of sessions, in units that people read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from iogate.errors import InputError, IogateError
from iogate.model import Output, metric
from iogate.offline.folders import files_of, is_results
from iogate.offline.outputs import Understood, read_bytes, runs, text_of
from iogate.offline.show_tables import FileRow, figures_table, files_table
from iogate.units import harmless_json, no_commands, plural, printable

_SEVERAL = 4
"""Files that are shown whole; of more there is a row each."""
_TOTAL = "all jobs"


@dataclass(frozen=True)
class _ShownFile:
    """What is known of a run in a file: its `parts` by name (jobs, and all jobs together), and why it was
    `refused`, or some of its jobs were. `line` is where it begins, 0 if the engine has no other there.
    A `session` of iogate is told by its table, and in short by what is `said`.
    """

    file: str
    engine: str = ""
    parts: Mapping[str, Output] = field(default_factory=dict)
    note: str = ""
    refused: str = ""
    line: int = 0
    session: str = ""
    said: str = ""


def show(paths: Sequence[Path], as_json: bool) -> tuple[str, int]:
    """Return the metrics of engine outputs as text, or as JSON in bytes/s, IOPS, ns and s; of results files
    the table of their session. A folder stands for the files in it.

    Returns the text and an exit status: 1 if a file was refused, whose reason is in the text then.
    """
    files: list[Path | _ShownFile] = []
    for path in paths:
        try:
            files += files_of(path)
        except InputError as error:
            files.append(_ShownFile(str(path), refused=str(error)))
    found = (item for file in files for item in ([file] if isinstance(file, _ShownFile) else _read(file)))
    status, texts, plain = 0, [], []
    rows: list[FileRow] = []
    for item in found:
        status |= bool(item.refused)
        if as_json:
            plain.append(_plain(item))
        elif len(files) > _SEVERAL:
            rows += _rows(item)
        else:
            texts.append(_text(item))
    if as_json:
        return harmless_json(json.dumps(plain, indent=2)), status
    return no_commands(files_table(rows) if rows else "\n\n".join(texts)), status


def _read(path: Path) -> Iterator[_ShownFile]:
    """Yield what the engines whose output a file is, or holds, make of it, run by run; of a results file its
    session.
    """
    name = str(path)
    try:
        data = read_bytes(path)
        if is_results(data):
            yield _session(data, name)
            return
        found = runs(text_of(data), name)
        for _, group in groupby(found, key=lambda run: run.engine):
            yield from _describe_all(name, group)
    except IogateError as error:
        yield _ShownFile(name, refused=str(error))


def _session(data: bytes, file: str) -> _ShownFile:
    """Return the session of a results file. Raises InputError."""
    from iogate.report.headline import undecided
    from iogate.report.names import names_told_apart
    from iogate.report.results import Results
    from iogate.report.terminal import results_table, summary_lines

    results = Results.parse(data, file)
    parts = {
        workload.id: Output(
            {
                name: item.value
                for name, item in workload.metrics.items()
                if item.value is not None and _is_known(name)
            },
            {},
            engine_version=results.versions.get(workload.engine, workload.engine),
            options=workload.definition,
        )
        for workload in results.workloads
    }
    told = names_told_apart(results)
    counts = Counter(workload.verdict for workload in results.workloads)
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts.items()) or "nothing measured"
    broke_off = undecided(results)
    return _ShownFile(
        file,
        "iogate",
        parts,
        session="\n".join([results_table(told), "", *summary_lines(told)]),
        said=f"session {results.session} of {results.device}: {verdicts}"
        + (f"; {broke_off}" if broke_off else ""),
    )


def _is_known(name: str) -> bool:
    """Return whether this version knows a metric."""
    try:
        return bool(metric(name))
    except KeyError:
        return False


def _describe_all(file: str, found: Iterator[Understood]) -> Iterator[_ShownFile]:
    """Yield the runs of one engine in a file; where there are several, each with its line."""
    first = next(found)
    second = next(found, None)
    if second is None:
        yield _describe(file, first, several=False)
        return
    for item in chain((first, second), found):
        yield _describe(file, item, several=True)


def _describe(file: str, found: Understood, *, several: bool) -> _ShownFile:
    parts = {part.name: part.output for part in found.parts}
    shown = _ShownFile(file, found.engine, parts, line=found.line if several else 0)
    if found.refused:
        return replace(shown, refused=str(found.refused))
    if found.whole is None:
        return replace(shown, note=found.apart)
    if several and len(parts) == 1:
        return shown
    return replace(shown, parts={**(parts if len(parts) > 1 else {}), _TOTAL: found.whole})


def _plain(item: _ShownFile) -> dict[str, Any]:
    where: dict[str, Any] = {"file": item.file, **({"line": item.line} if item.line else {})}
    refused = {"refused": printable(item.refused)} if item.refused else {}
    if refused and not item.parts:
        return where | refused
    parts = [{"name": name, **_plain_output(output)} for name, output in item.parts.items()]
    note = {"note": item.note} if item.note else {}
    return where | {"engine": item.engine, "parts": parts} | note | refused


def _plain_output(output: Output) -> dict[str, Any]:
    return {
        "version": output.engine_version,
        "jobs": output.jobs,
        "options": dict(output.options),
        "metrics": {
            name: {"value": value, "unit": metric(name).unit} for name, value in output.metrics.items()
        },
        "remarks": [*output.contradictions, *output.remarks],
    }


def _rows(item: _ShownFile) -> Iterator[FileRow]:
    """Yield the row of a file; of parts that do not add up one each."""
    place = f"{item.file}:{item.line}" if item.line else item.file
    refused = (
        f"refused: {item.refused.splitlines()[0].removeprefix(f'{item.file}: ')}" if item.refused else ""
    )
    if item.session or not item.parts:
        yield place, item.engine, {}, item.said or refused
    elif _TOTAL in item.parts or len(item.parts) == 1:
        yield place, item.engine, item.parts.get(_TOTAL, next(iter(item.parts.values()))).metrics, refused
    else:
        for name, output in item.parts.items():
            yield f"{place}: {name}", item.engine, output.metrics, refused


def _text(item: _ShownFile) -> str:
    if item.session:
        return f"{item.file}: {item.said}\n{item.session}"
    if not item.parts:
        return f"refused: {item.refused}"
    version = next(iter(item.parts.values())).engine_version
    known = version.startswith(item.engine)
    place = f"{item.file}:{item.line}" if item.line else item.file
    blocks = [f"{place}: {version if known else f'{item.engine} {version}'.rstrip()}"]
    for name, output in item.parts.items():
        made_by = f", {output.engine_version}" if output.engine_version != version else ""
        blocks += [_heading(name, output) + made_by, figures_table(output.metrics)]
        if name != _TOTAL or len(item.parts) == 1:  # together they have no others
            blocks += [f"remark: {remark}" for remark in (*output.contradictions, *output.remarks)]
    if item.note:
        blocks.append(f"not added up: {item.note}")
    if item.refused:
        blocks.append(f"refused: {item.refused}")
    return "\n".join(blocks)


def _heading(name: str, output: Output) -> str:
    keys = ("rw", "bs", "iodepth", "numjobs", "ioengine")
    stated = [f"{key}={output.options[key]}" for key in keys if key in output.options]
    counted = plural(max(1, output.jobs), "job")
    return f"{name} ({', '.join([counted, *stated] if name == _TOTAL else stated or [counted])})"
