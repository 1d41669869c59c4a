"""`iogate baseline log`: how old a baseline is, how strong, and who changed it and why."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from iogate.declare.device import known_devices, load_device
from iogate.declare.overrides import overrides_of
from iogate.declare.project import Project, find_project
from iogate.declare.suite import load_suite
from iogate.errors import InputError, IogateError, Position, TargetError
from iogate.formats.words import nearest
from iogate.host.environment import differences
from iogate.host.git import history, is_committed, is_shallow
from iogate.judge.appointment import BaselineJudges, gating_metrics
from iogate.judge.baseline import load_baselines, load_sessions
from iogate.judge.baseline.file import device_folder, read
from iogate.judge.baseline.places import baseline_files, near_path, suite_of
from iogate.judge.baseline.table import Change
from iogate.judge.judge import GateOptions
from iogate.model import Baseline, Environment, Tolerance, Workload, hash_of
from iogate.offline.ages import age_text, began, newest
from iogate.units import format_share, no_commands, plural

if TYPE_CHECKING:
    from iogate.judge.gate import Sensitivity

_COMMITS = 20


def log(name: str, baselines: Path | None = None) -> str:
    """Return what is known of the baselines that a name stands for: a file, a device, or DEVICE/SUITE. Raises
    IogateError.
    """
    project = find_project(Path.cwd(), Path.cwd())
    files = _files(name, baselines or project.baselines)
    return no_commands("\n\n".join("\n".join(_lines(file, project)) for file in files))


def _files(name: str, baselines: Path) -> list[Path]:
    """Return the baseline files that a name stands for. Raises InputError if there are none."""
    places = (Path(name), baselines / name, baselines / f"{name}.yaml")
    place = next(
        (one for one in places if one.is_file() or (one.is_dir() and any(baseline_files(one)))), None
    )
    if place is None:
        known = [device for device in known_devices(baselines) if any(baseline_files(baselines / device))]
        raise InputError(
            f"there is no baseline {name!r} in {baselines}{nearest(name, known)}",
            remedy="name a file, a device, or DEVICE/SUITE",
        )
    return [path for path, _ in baseline_files(place)] if place.is_dir() else [place]


def _lines(file: Path, project: Project) -> Iterator[str]:
    suite = suite_of(file)
    known, sessions = load_baselines(file, suite), load_sessions(file, suite)
    folder = device_folder(file.absolute(), suite)
    yield f"{near_path(file)}: {folder.name}, suite {suite}: {_age(known, sessions)}"
    if sessions:
        yield from ("", _sessions(file, suite, known, sessions))
    sources = dict.fromkeys(one.source for one in known.values() if one.source)
    yield from (f"published: {source}" for source in sources)
    yield from ("", strength(folder, suite, known, project), "")
    yield from _changes(file)


def _age(known: Mapping[str, Baseline], sessions: Mapping[str, Environment]) -> str:
    told = [plural(len(known), "workload")]
    published = sum(one.published for one in known.values())
    told += [f"{published} of them published"] if published else []
    if sessions:
        told += [plural(len(sessions), "session"), f"age of the newest: {age_text(newest(sessions))}"]
    return ", ".join(told)


def _sessions(
    file: Path, suite: str, known: Mapping[str, Baseline], sessions: Mapping[str, Environment]
) -> str:
    """Return the sessions as a table: their age, why they were stored, and what changed before each."""
    from tabulate import tabulate

    document = read(file.absolute(), suite)
    stored = document.data.get("sessions") or {} if document else {}
    rows = []
    before: Environment | None = None
    for name in _in_order(sessions):
        environment = sessions[name]
        changed = differences(_lasting(before), _lasting(environment)) if before else []
        count = sum(name in one.sessions for one in known.values())
        reason = (stored.get(name) or {}).get("reason") or ""
        rows.append((name, age_text(began(name)), str(count), reason, "; ".join(changed)))
        before = environment
    headers = ("session", "age", "workloads", "why", "changed since the one before")
    return tabulate(rows, headers, tablefmt="simple", disable_numparse=True)


def _in_order(sessions: Iterable[str]) -> list[str]:
    """Return sessions by their time; one that tells none, as it was imported, behind that which it was stored
    behind.
    """
    behind, last = {}, ""
    for name in sessions:
        last = behind[name] = name if began(name) else last
    return sorted(behind, key=behind.__getitem__)


def _lasting(environment: Environment) -> Environment:
    """Return the environment without its state, which differs at any time."""
    return Environment(environment.identity, environment.subject)


def strength(folder: Path, suite: str, known: Mapping[str, Baseline], project: Project) -> str:
    """Return what the baseline can resolve, as a table; a published one is judged by tolerance alone."""
    from tabulate import tabulate

    declared = {workload.name: workload for workload in _declared(folder, suite, project)}
    workloads = [_workload(one, suite, declared.get(name)) for name, one in known.items()]
    metrics = sum(len(gating_metrics(workload)) for workload in workloads)
    judges = BaselineJudges(folder, GateOptions(metrics=max(1, metrics)))  # as in a run of this suite
    found = judges.sensitivities(workloads)
    rows = [
        (workload, metric, *_counts(known[workload], metric), *_resolves(item, known[workload]))
        for (workload, metric), item in found.items()
    ]
    headers = ("workload", "metric", "sessions", "repetitions", "tolerance", "resolves", "session noise")
    align = ("left", "left", *("right",) * 5)
    return tabulate(rows, headers, tablefmt="simple", disable_numparse=True, colalign=align if rows else None)


def _declared(folder: Path, suite: str, project: Project) -> Sequence[Workload]:
    """Return the workloads of the suite, whose tolerances hold; none if it is not here, or not readable."""
    file = project.suite(suite)
    with contextlib.suppress(IogateError):
        if file:
            device = load_device(folder.name, folder.parent)
            return load_suite(file, suite=suite, overrides=overrides_of(device, suite)).workloads
    return ()


def _workload(baseline: Baseline, suite: str, declared: Workload | None) -> Workload:
    """Return the workload of a baseline: as it is declared, if that is the same; else one that is judged by
    what people look at first, without tolerances of its own.
    """
    if declared and declared.definition_hash == hash_of(baseline.definition):
        return declared
    options = {key: value for key, value in baseline.definition.items() if key != "engine"}
    engine = str(baseline.definition.get("engine"))
    found = [Change(baseline.workload, name, None, None, 0, 0) for name in baseline.metrics]
    gate = {item.metric: Tolerance() for item in found if item.headline}
    gate = gate or {name: Tolerance() for name in baseline.metrics}
    return Workload(baseline.workload, suite, engine, options, Position(suite), gate=gate)


def _counts(baseline: Baseline, metric: str) -> tuple[str, str]:
    values = baseline.metrics.get(metric)
    if not isinstance(values, tuple):
        return "", ""
    return str(len(values)), str(sum(map(len, values)))


def _resolves(known: Sensitivity | None, baseline: Baseline) -> tuple[str, str, str]:
    if known is None:
        return "", "tolerance alone" if baseline.published else "cannot be judged yet", ""
    noise = format_share(known.session_noise) + (" (assumed)" if known.assumed else "")
    return format_share(known.tolerance), format_share(known.minimum_detectable), noise


def _changes(file: Path) -> Iterator[str]:
    """Yield who changed the file, when and why, as far as git knows."""
    from tabulate import tabulate

    try:
        commits, committed = history(file.absolute(), _COMMITS), is_committed(file.absolute())
        shallow = is_shallow(file.absolute().parent)
    except TargetError as error:
        yield f"who changed it is not known: {error.message}"
        return
    if not committed:
        yield "changed and not committed" if commits else "not committed yet"
    if commits:
        rows = [(one.date, one.author, one.hash, one.subject) for one in commits]
        yield tabulate(rows, ("date", "who", "commit", "why"), tablefmt="simple", disable_numparse=True)
    if commits and shallow:
        yield "this checkout lacks older commits: the last of these may have changed something else alone"
