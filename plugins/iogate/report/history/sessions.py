"""Which sessions a history is made of: kept results, files that are named, and baselines.

What cannot stand beside the others is left out, and it is said which and why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iogate.errors import IogateError
from iogate.judge.baseline.file import environment_of, read
from iogate.judge.baseline.places import baseline_files
from iogate.model import Direction, is_measured, is_tolerance, metric
from iogate.report.history.values import KnownSession, LeftOut
from iogate.report.results import MetricRecord, Results, WorkloadRecord
from iogate.units import printable

_UNTIMED = "the name of the session does not say its time, as that of an imported one"
_TIMED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ.*")


@dataclass(frozen=True)
class Measured:
    """What a session measured of a workload: values by metric, one a repetition. `gating` are the metrics
    that decide (None: not known, as of a baseline), `tolerances` what each may lose. `runtime` is the seconds
    of a repetition, where `runtime: auto` chose them, and `worked` for how many seconds the session had
    measured before each (empty: not known).
    """

    session: KnownSession
    suite: str
    workload: str
    engine: str
    definition: Mapping[str, Any]
    values: Mapping[str, tuple[float, ...]]
    kinds: Mapping[str, tuple[str, Direction]]
    gating: tuple[str, ...] | None = None
    tolerances: Mapping[str, float] = field(default_factory=dict)
    runtime: float | None = None
    worked: tuple[float, ...] = ()


@dataclass(frozen=True)
class Collection:
    """What was found: measurements of whatever order, and what was left out."""

    measured: tuple[Measured, ...]
    left_out: tuple[LeftOut, ...]
    unreadable: int = 0


def collect(files: Iterable[Path], baselines: Iterable[Path] = (), device: str = "") -> Collection:
    """Return what results files and the folders of devices' baselines hold, of one device if it is named.

    A file that cannot be read is left out, and says why.
    """
    found: list[Measured] = []
    said: list[LeftOut] = []
    unreadable = 0
    for file in files:
        try:
            results = Results.read(file)
            if not device or results.device == device:
                found += _of_results(results, file, said)
        except IogateError as error:
            said.append(LeftOut(printable(str(error)), file=str(file)))
            unreadable += 1
    for folder in baselines:
        for file, suite in baseline_files(folder):
            try:
                found += _of_baseline(file, suite, folder.name, said)
            except IogateError as error:
                said.append(LeftOut(printable(str(error)), file=str(file)))
                unreadable += 1
    return Collection(tuple(found), tuple(dict.fromkeys(said)), unreadable)


def _of_results(results: Results, file: Path, said: list[LeftOut]) -> Iterator[Measured]:
    session = KnownSession(
        results.device,
        results.session,
        str(file),
        results.environment,
        results.versions,
        results.run.options if results.run else {},
    )
    if not _TIMED.fullmatch(results.session):
        said.append(LeftOut(_UNTIMED, file=str(file)))
        return
    unfinished = frozenset(results.run.open) if results.run else frozenset()
    for record in results.workloads:
        why = _refused(record, unfinished)
        if why:
            said.append(LeftOut(printable(why), record.workload, session.date, str(file), session.device))
            continue
        sound = {name: values for name, item in record.metrics.items() if (values := _sound(item))}
        yield Measured(
            session,
            record.suite,
            record.workload,
            record.engine,
            record.definition,
            sound,
            {name: (record.metrics[name].unit, record.metrics[name].direction) for name in sound},
            tuple(record.gating),
            _tolerances(record),
            record.runtime,
            _worked(record),
        )


def _worked(record: WorkloadRecord) -> tuple[float, ...]:
    told = tuple(item.worked for item in record.measured if item.worked is not None)
    return told if len(told) == len(record.measured) else ()


def _tolerances(record: WorkloadRecord) -> dict[str, float]:
    """Return what each gating metric may lose: as it was judged, or else as the suite declares; a figure that
    is no tolerance is none.
    """
    known = {
        name: item.tolerance or record.gate.get(name, (None,))[0] for name, item in record.gating.items()
    }
    return {
        name: tolerance
        for name, tolerance in known.items()
        if tolerance is not None and is_tolerance(tolerance, record.metrics[name].direction)
    }


def _refused(record: WorkloadRecord, unfinished: frozenset[str]) -> str:
    """Return why what was measured of a workload does not count; empty if it does."""
    if record.pair:
        return "measured by turns with another"
    if record.id in unfinished:
        return "the session broke off before it was decided"
    if record.verdict == "invalid":
        return f"invalid: {record.reason.splitlines()[0] if record.reason else ''}"
    return "" if record.repetitions else f"not measured ({record.verdict})"


def _sound(item: MetricRecord) -> tuple[float, ...]:
    """Return the values of a metric if all may have been measured: others have no logarithm."""
    values = tuple(value for value in item.values if value is not None and is_measured(value))
    return values if len(values) == len(item.values) else ()


def _of_baseline(file: Path, suite: str, device: str, said: list[LeftOut]) -> Iterator[Measured]:
    document = read(file, suite)
    data = document.data if document else {"workloads": {}}
    stored = data.get("sessions") or {}
    for name, entry in data["workloads"].items():
        if entry.get("source"):
            said.append(LeftOut("published figures are of no session", name, file=str(file)))
        for index, id in enumerate(entry.get("sessions") or ()):
            if stored[id].get("device"):
                said.append(
                    LeftOut("the baseline of a fleet is no history of a device", name, file=str(file))
                )
                break
            if not _TIMED.fullmatch(id):
                said.append(LeftOut(_UNTIMED, name, file=str(file)))
                continue
            yield Measured(
                KnownSession(device, id, str(file), environment_of(stored[id])),
                suite,
                name,
                str(entry["definition"].get("engine", "")),
                entry["definition"],
                {
                    key: tuple(map(float, rows[index]))
                    for key, rows in entry["metrics"].items()
                    if rows[index]
                },
                {key: (metric(key).unit, metric(key).direction) for key in entry["metrics"]},
                runtime=entry.get("runtime"),
                worked=tuple((entry.get("worked") or {}).get(id, ())),
            )
