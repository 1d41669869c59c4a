"""`iogate baseline`: looks at stored baselines, renames, drops and merges them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from iogate.declare.device import check_name
from iogate.declare.project import require_within
from iogate.errors import BaselineError, InputError, InputErrors, IogateError
from iogate.formats.atomic import write_atomically
from iogate.formats.held import held_folder, within
from iogate.formats.words import nearest
from iogate.judge.baseline.file import (
    PROFILE,
    check_baseline,
    device_folder,
    load_plain,
    read,
    refuse_links,
)
from iogate.judge.baseline.merging import merge
from iogate.judge.baseline.places import baseline_files, suite_of
from iogate.judge.baseline.storage import baseline_text, hold_lock, write
from iogate.judge.baseline.table import Change
from iogate.judge.baseline.update import worked_of
from iogate.judge.metrics import typical_value
from iogate.model import metric
from iogate.units import format_quantity, no_commands, one_line, plural, printable

_WAIT = 10.0  # seconds for a session that is writing the file


def show(files: Sequence[Path]) -> str:
    """Return what the baselines in files, or in the folders of devices, know: their sessions, and the
    headline metrics of their workloads. A profile among them, as of a pattern that takes in all of a device's
    folder, is passed over. Raises IogateError.
    """
    named = [path for file in files for path in (_within(file) if file.is_dir() else [file])]
    baselines = [file for file in named if file.name != PROFILE] or named
    return no_commands("\n\n".join(map(_shown, baselines)))


def _within(folder: Path) -> list[Path]:
    files = [path for path, _ in baseline_files(folder)]
    if not files:
        raise InputError(f"{folder} has no baselines", remedy="name the folder of a device, or its files")
    return files


def _shown(file: Path) -> str:
    from tabulate import tabulate

    data = _data(file)
    sessions = data.get("sessions") or {}
    rows = [row for name, entry in data["workloads"].items() for row in _rows(name, entry)]
    headers = ("workload", "metric", "baseline", "least", "most", "sessions", "")
    align = ("left", "left", "right", "right", "right", "right", "left")
    table = tabulate(rows, headers, tablefmt="simple", disable_numparse=True, colalign=align) if rows else ""
    lines = [f"{file}: {data['device']}, suite {data['suite']}"]
    for name, session in sessions.items():
        subject = ((session.get("environment") or {}).get("subject") or {}).values()
        told = [name, session.get("reason") or "", ", ".join(map(str, subject))]
        lines.append("  " + "  ".join(part for part in told if part))
    return "\n".join([*lines, "", table])


def _rows(name: str, entry: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each headline metric of a workload, of all metrics if it has none."""
    found = [Change(name, key, None, None, 0, 0) for key in entry["metrics"]]
    shown = [item for item in found if item.headline] or found
    for index, item in enumerate(shown):
        value = entry["metrics"][item.metric]
        sessions = [row for row in value if row] if isinstance(value, list) else []
        typical = typical_value(tuple(map(tuple, sessions)) if sessions else value) or 0.0
        values = [number for row in sessions for number in row] or [value]
        unit = metric(item.metric).unit
        figures = [format_quantity(figure, unit) for figure in (typical, min(values), max(values))]
        source = f"published: {entry['source']}" if entry.get("source") else ""
        head, tail = (name, source) if index == 0 else ("", "")
        yield (head, item.metric, *figures, str(len(sessions) or ""), tail)


def rename_workload(file: Path, old: str, new: str) -> str:
    """Give the baseline of a workload to another name, and say so. Raises IogateError."""
    file = _absolute(file)
    with _locked(file) as folder:
        data = _data(file, folder)
        _require(old, data["workloads"], "workload", file)
        if new in data["workloads"]:
            remedy = "drop it first: iogate baseline drop FILE --workload NAME"
            raise InputError(f"{file} has a baseline of {printable(new)!r} already", remedy=remedy)
        data["workloads"] = {new if name == old else name: entry for name, entry in data["workloads"].items()}
        write(file, data, folder)
    return one_line(f"{file}: {old} is {new} now")


def rename(source: Path, target: Path | None = None) -> str:
    """Move a baseline, or the folder of a device, and have it say where it lies; without a target it was
    moved already. Raises IogateError.
    """
    source = _absolute(source)
    place = _absolute(target) if target else source
    folder = source.is_dir()
    files = [path.relative_to(source) for path, _ in baseline_files(source)] if folder else [Path()]
    if not files:
        raise InputError(f"{source} has no baselines")
    for moved in (source, place):
        _require_here(moved.parent if folder else _home(moved))
    if folder:
        _require_beside(source, place)
    for file in files:
        refuse_links(source / file, file.as_posix() if folder else "")
        check_baseline(load_plain(source / file, str(source / file)))
    if target:
        _move(source, place)
    return "\n".join(
        _settle(place / file, file.with_suffix("").as_posix() if folder else suite_of(place))
        for file in files
    )


def _require_beside(source: Path, place: Path) -> None:
    """Raise InputError for a place where no run would find a device: its folder lies beside the others."""
    check_name(place.name)
    if place.parent != source.parent:
        raise InputError(
            f"{place} cannot be the folder of a device: it is not beside {source}",
            remedy=f"name it so: {source.parent / place.name}",
        )


def _move(source: Path, target: Path) -> None:
    refuse_links(source, "")
    refuse_links(target, "" if source.is_dir() else suite_of(target))
    if os.path.lexists(target):
        raise InputError(
            f"{target} is there already", remedy="drop it first, or merge: iogate baseline merge"
        )
    if not source.is_dir() and target.suffix != ".yaml":
        raise InputError(f"{target} cannot be the baseline of a suite: it must end in .yaml")
    if target.name == PROFILE:
        raise InputError(f"{target} cannot be the baseline of a suite: it is where a device is described")
    try:
        with held_folder(source.parent) as there, held_folder(target.parent, make=True) as here:
            os.rename(source.name, target.name, src_dir_fd=there, dst_dir_fd=here)
    except OSError as error:
        raise BaselineError(f"cannot move {source} to {target}: {error.strerror}") from error


def _settle(file: Path, suite: str) -> str:
    """Have a baseline say of which device and suite it is by its place."""
    with _locked(file) as folder:
        refuse_links(file, suite)
        data = check_baseline(load_plain(within(folder, file.name), str(file))).data
        home = device_folder(file, suite)
        was = f"{data['device']}, suite {data['suite']}"
        write(file, {**data, "device": home.name, "suite": suite}, folder)
    text = one_line(f"{file}: was of {was}; is of {home.name}, suite {suite}")
    return "\n".join([text, *_order_told(home, data["suite"], suite)])


def _order_told(home: Path, before: str, after: str) -> Iterator[str]:
    """Yield that a suite whose name is another now is measured behind others than before, if so: files come
    in the order of their paths.
    """
    old, new = ((*Path(suite).parts[:-1], f"{Path(suite).name}.yaml") for suite in (before, after))
    suites = {suite: path.relative_to(home).parts for path, suite in baseline_files(home)}
    passed = [suite for suite, parts in suites.items() if (parts < old) != (parts < new)]
    passed = [suite for suite in passed if suite not in (before, after)]
    if passed:
        yield one_line(
            f"  files are measured in the order of their paths, and {after} changes places with "
            f"{', '.join(passed)}: on a device that gets hot, or whose cache fills, record them anew"
        )


def drop(file: Path, workloads: Sequence[str], sessions: Sequence[str]) -> str:
    """Forget workloads, or sessions (of these workloads only, if any are given), and say what is left. Raises
    IogateError.
    """
    if not workloads and not sessions:
        raise InputError(
            "what should be dropped?", remedy="name it: --workload NAME, --session NAME, or both"
        )
    file = _absolute(file)
    with _locked(file) as folder:
        data = _data(file, folder)
        for name in workloads:
            _require(name, data["workloads"], "workload", file)
        for name in sessions:
            _require(name, data.get("sessions") or {}, "session", file)
        left = {}
        for name, entry in data["workloads"].items():
            concerned = name in workloads or not workloads
            kept = _without(entry, sessions if sessions else None) if concerned else entry
            if kept:
                left[name] = kept
        used = {session for entry in left.values() for session in entry.get("sessions") or ()}
        known = {name: item for name, item in (data.get("sessions") or {}).items() if name in used}
        if not left:
            os.unlink(file.name, dir_fd=folder)
            return one_line(f"{file} held nothing else, and is removed")
        head = {key: data[key] for key in ("schema", "device", "suite")}
        write(file, {**head, **({"sessions": known} if known else {}), "workloads": left}, folder)
    return one_line(f"{file}: {plural(len(left), 'workload')} and {plural(len(known), 'session')} left")


def _without(entry: dict[str, Any], sessions: Sequence[str] | None) -> dict[str, Any] | None:
    """Return an entry without these sessions (None: all that it knows), None if nothing is left."""
    if sessions is None:
        return None
    known = entry.get("sessions") or []
    kept = [index for index, session in enumerate(known) if session not in sessions]
    if len(kept) == len(known):
        return entry
    metrics = {name: [rows[index] for index in kept] for name, rows in entry["metrics"].items()}
    metrics = {name: rows for name, rows in metrics.items() if any(rows)}
    left = [known[index] for index in kept]
    head = {key: value for key, value in entry.items() if key != "worked"}
    return {**head, "sessions": left, **worked_of(left, entry), "metrics": metrics} if metrics else None


def merge_files(files: Sequence[Path], name: str = "") -> tuple[str, int]:
    """Merge BASE, OURS and THEIRS (or OURS and THEIRS) into OURS; what to say, and the exit status.

    It is 0, or 1 for what people must decide: OURS is then as it was. `name` is what messages call the file.
    """
    *ancestor, ours, theirs = files
    shown = name or str(ours)
    try:
        base = _side(ancestor[0], f"{shown} (base)") if ancestor else {}
        own, other = _side(ours, f"{shown} (ours)"), _side(theirs, f"{shown} (theirs)")
        if not own or not other:
            raise InputError("one side is empty")
        merged = merge(base, own, other)
        refuse_links(ours, "")
        _require_here(_home(_absolute(ours)))
        write_atomically(ours, baseline_text(ours, merged, merged["device"]))
    except InputErrors as error:
        told = [
            f"{one_line(shown)} cannot be merged:",
            *(f"  {no_commands(str(one))}" for one in error.errors),
        ]
        remedy = (
            "take one side, and `iogate baseline drop --session` what the other dropped, or measure again"
        )
        return "\n".join([*told, f"  {remedy} (--update-baselines)"]), 1
    except IogateError as error:
        return no_commands(f"{shown} cannot be merged: {error}"), 1
    return one_line(f"{shown} is merged"), 0


def _side(file: Path, shown: str) -> dict[str, Any]:
    document = load_plain(file, shown)
    data: dict[str, Any] = check_baseline(document).data if document.data is not None else {}
    return data


def _data(file: Path, folder: int | None = None) -> dict[str, Any]:
    document = read(_absolute(file), suite_of(file), folder)
    if document is None:
        raise InputError(f"there is no {file}")
    data: dict[str, Any] = document.data
    return data


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))


def _home(file: Path) -> Path:
    """Return the folder of baselines that a file lies in."""
    return device_folder(file, suite_of(file)).parent


def _require_here(baselines: Path) -> None:
    """Raise InputError if a folder of baselines is a link to those of another project, as a stranger's clone
    may have.
    """
    require_within(baselines, baselines.parent)


@contextlib.contextmanager
def _locked(file: Path) -> Iterator[int]:
    """Keep sessions from writing the file meanwhile, and hold its folder. Raises BaselineError if it cannot
    be written.
    """
    if not file.is_file():
        raise InputError(f"there is no {file}")
    _require_here(_home(file))
    try:
        with hold_lock(file, _WAIT) as folder:
            yield folder
    except OSError as error:
        raise BaselineError(f"cannot write {file}: {error.strerror}", remedy="it is as it was") from error


def _require(name: str, known: Iterable[str], what: str, file: Path) -> None:
    if name not in known:
        raise InputError(f"{file} has no {what} {printable(name)!r}{nearest(name, known)}")
