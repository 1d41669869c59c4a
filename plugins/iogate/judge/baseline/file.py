"""Reading a baseline file; nothing in it is believed unchecked."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from iogate.errors import BaselineError, InputError, InputErrors, OptionError
from iogate.formats import yamlio
from iogate.formats.held import within
from iogate.formats.reading import held_input, hidden_behind_a_link
from iogate.formats.schema import Schema, check_document, locate
from iogate.formats.yamlio import Document
from iogate.host.environment import identity_changes
from iogate.judge.baseline.values import clean_text, flat
from iogate.model import Baseline, Environment, Workload, hash_of, is_measured, metric
from iogate.units import plural, printable

PROFILE = "device.yaml"
"""What describes a device, beside its baselines."""
_NO_VALUE = "must be a positive number, of 1e-9 to 1e18"
_MOST_SESSIONS = 4000  # of all workloads: each has 20 at most, or one a device of a fleet
_KEPT = 2**20  # characters of a text that is kept with what it says
_REMEDY = (
    "restore the file from git, or remove it and measure again with --update-baselines; of an unknown key: "
    "update iogate, if a newer one wrote it"
)

_Word = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f-\x9f]+$")]
_MOST_FACTS = 100  # a machine has some twenty
_Facts = Annotated[dict[str, str], Field(max_length=_MOST_FACTS)]
_Worked = Annotated[float, Field(ge=0, le=1e9)]
_POSITIVE = {"type": "number", "exclusiveMinimum": 0}
_VALUES = WithJsonSchema(
    {
        "description": "values [session][repetition]; of a published baseline a number",
        "anyOf": [
            _POSITIVE,
            {"type": "array", "minItems": 1, "items": {"type": "array", "items": _POSITIVE}},
        ],
    }
)


class _StoredEnvironment(Schema):
    identity: _Facts = Field(default_factory=dict)
    subject: _Facts = Field(default_factory=dict)
    state: _Facts = Field(default_factory=dict)


class _Session(Schema):
    reason: str = ""
    device: str = Field("", description="which device of a fleet the session is of")
    environment: _StoredEnvironment = Field(default_factory=_StoredEnvironment)


class _Entry(Schema):
    definition: dict[str, Any]
    hash: str = ""
    runtime: float | None = Field(
        None, ge=1, le=3600, description="seconds of a repetition, where runtime: auto chose them"
    )
    sessions: tuple[_Word, ...] = ()
    source: str = ""
    worked: dict[_Word, tuple[_Worked, ...]] = Field(
        default_factory=dict,
        description="for how many seconds a session had measured before each repetition",
    )
    metrics: Annotated[dict[str, Annotated[Any, _VALUES]], Field(min_length=1)]


class BaselineFile(Schema):
    """A baseline file as it is written."""

    version: Literal[1] = Field(alias="schema")
    device: str
    suite: str
    sessions: dict[_Word, _Session] = Field(default_factory=dict)
    workloads: dict[_Word, _Entry]


def load_baselines(path: Path, suite: str = "") -> dict[str, Baseline]:
    """Return the baselines in a file, by the name of their workload; none if there is no such file.

    `suite` is what it should be of, if it is not called as the file is: `nightly/quick`. Raises BaselineError
    with file:line:column for a file that is corrupt, or of another device or suite.
    """
    suite = suite or path.stem
    with _open(path, suite) as text:
        if text is None:
            return {}
        taken_apart = _baselines if len(text) <= _KEPT else _baselines.__wrapped__
        return dict(taken_apart(text, str(path), suite))


@lru_cache(maxsize=64)
def _baselines(text: str, shown: str, suite: str) -> Mapping[str, Baseline]:
    """Return the baselines in a text. A run asks several times: for gaps, verdicts, and what they lend."""
    data = _checked(text, Path(shown), suite).data
    sessions = data.get("sessions") or {}
    environments = {name: environment_of(session) for name, session in sessions.items()}

    @cache
    def machine(ids: tuple[str, ...]) -> Environment:
        return _machine([environments[id] for id in ids])

    return {name: _baseline(name, entry, sessions, machine) for name, entry in data["workloads"].items()}


def _checked(text: str, path: Path, suite: str) -> Document:
    document = yamlio.loads(text, str(path))
    return check_baseline(document, device=device_folder(path, suite).name, suite=suite)


def load_sessions(path: Path, suite: str = "") -> dict[str, Environment]:
    """Return where the sessions of a baseline file ran, by their names. Raises BaselineError."""
    document = read(path, suite)
    sessions = document.data.get("sessions") or {} if document else {}
    return {name: environment_of(session) for name, session in sessions.items()}


def environment_of(session: Mapping[str, Any]) -> Environment:
    """Return where a stored session ran."""
    environment = session.get("environment") or {}
    identity, subject, state = (
        {clean_text(key): clean_text(value) for key, value in (environment.get(part) or {}).items()}
        for part in ("identity", "subject", "state")
    )
    return Environment(identity, subject, state)


def find(baselines: Mapping[str, Baseline], workload: Workload) -> tuple[Baseline | None, str]:
    """Return the baseline that fits a workload; otherwise None, and why the one of its name does not fit.

    The reason is empty where there is none of that name.
    """
    baseline = baselines.get(workload.name)
    if baseline is None:
        return None, ""
    if hash_of(baseline.definition) == workload.definition_hash:
        return baseline, ""
    return None, definition_changes(baseline.definition, workload.definition)


def definition_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Return how a workload differs from its baseline: `size was 16G, is 1G; direct was 1, is gone`."""
    before, after = flat(old), flat(new)
    changes = []
    for key in dict.fromkeys((*before, *after)):
        if key not in after:
            changes.append(f"{key} was {before[key]}, is gone")
        elif key not in before:
            changes.append(f"{key} is new, is {after[key]}")
        elif before[key] != after[key]:
            changes.append(f"{key} was {before[key]}, is {after[key]}")
    return printable("; ".join(changes))


def device_folder(path: Path, suite: str) -> Path:
    """Return the folder of the device whose baseline of `suite` a file is."""
    return path.parents[suite.count("/")]


def read(path: Path, suite: str = "", folder: int | None = None) -> Document | None:
    """Return the document of a baseline file, all of it checked; None if there is no file. `folder` is what
    is held open of the one that it lies in.
    """
    suite = suite or path.stem
    with _open(path, suite, folder) as text:
        return _checked(text, path, suite) if text is not None else None


@contextmanager
def _open(path: Path, suite: str, folder: int | None = None) -> Iterator[str | None]:
    """Give what is in a baseline file, None if there is no file; what is wrong with it is a BaselineError."""
    if path.name == PROFILE:
        raise BaselineError(
            f"{printable(str(path))} is the profile of a device, not a baseline",
            remedy="name the files beside it; iogate device list tells of profiles",
        )
    refuse_links(path, suite)
    place = path if folder is None else within(folder, path.name)
    if not os.path.lexists(place):
        yield None
        return
    try:
        with hidden_behind_a_link(device_folder(path, suite).parent, path):
            yield _plain_text(place, str(path))
    except InputError as error:
        raise BaselineError(error.message, position=error.position, remedy=error.remedy or _REMEDY) from None


def load_plain(file: Path, shown: str) -> Document:
    """Return the YAML of a file, which messages call `shown`. Raises InputError if it is a link by now: what
    that leads to would be shown with its mistakes.
    """
    return yamlio.loads(_plain_text(file, shown), shown)


def _plain_text(file: Path, shown: str) -> str:
    with held_input(file, shown) as opened:
        if opened.real != opened.folder / file.name:
            raise InputError(
                f"{shown} is a symbolic link", remedy="baselines are plain files: put the file itself there"
            )
        return yamlio.text_of(opened.path, shown)


def check_baseline(document: Document, device: str = "", suite: str = "") -> Document:
    """Return the document, if it is a baseline, of that device and suite if they are given. Raises
    InputError.
    """
    if isinstance(document.data, dict) and document.data.get("schema", 1) != 1:
        raise InputError(
            "this baseline has another schema than 1, the only one that is known here",
            position=document.position(("schema",)),
            remedy="update iogate, or remove the file and measure again with --update-baselines",
        )
    file = check_document(BaselineFile, document)
    problems = []
    for key, expected in (("device", device), ("suite", suite)):
        found = getattr(file, key)
        if expected and found != expected:
            message = f"a baseline of the {key} {printable(found)!r} in the place of {expected!r}"
            problems.append(OptionError(message, (key,)))
    moved = bool(problems)
    if len(file.sessions) > _MOST_SESSIONS:
        message = (
            f"{len(file.sessions)} sessions: a baseline file has {_MOST_SESSIONS} at most; record its "
            "workloads together, so that they share sessions"
        )
        problems.append(OptionError(message, ("sessions",)))
    for name, entry in file.workloads.items():
        problems += _entry_problems(("workloads", name), entry, file)
    if problems:
        located = locate(InputErrors(problems), document)
        if moved:
            command = shlex.join(("iogate", "baseline", "rename", document.file))
            located.remedy = f"if it was moved here on purpose: {printable(command)}"
        raise located
    return document


def _entry_problems(path: tuple[str, ...], entry: _Entry, file: BaselineFile) -> list[OptionError]:
    problems = []
    if bool(entry.sessions) == bool(entry.source):
        problems.append(OptionError("needs either sessions (measured) or a source (published)", path))
    seen = set[str]()
    for index, session in enumerate(entry.sessions):
        if session not in file.sessions or session in seen:
            what = "is here twice" if session in file.sessions else "is not among the file's sessions"
            problems.append(OptionError(f"the session {session} {what}", (*path, "sessions", index)))
        seen.add(session)
    for session in entry.worked:
        if session not in seen:
            message = f"the session {session} is not among the workload's sessions"
            problems.append(OptionError(message, (*path, "worked", session)))
    devices = [file.sessions[name].device for name in entry.sessions if name in file.sessions]
    for device in (name for name, count in Counter(devices).items() if name and count > 1):
        message = (
            f"several sessions are of the device {printable(device)}: each device of a fleet counts once"
        )
        problems.append(OptionError(message, (*path, "sessions")))
    if any(devices) and not all(devices):
        message = "some sessions are of devices of a fleet, and some are not: they cannot stand side by side"
        problems.append(OptionError(message, (*path, "sessions")))
    expected = hash_of(entry.definition)
    if entry.hash != expected and (entry.hash or not entry.source):
        message = f"the hash {printable(entry.hash)!r} does not fit the definition, whose hash is {expected}"
        problems.append(OptionError(message, (*path, "hash")))
    lengths: dict[int, int] = {}
    for name, value in entry.metrics.items():
        problems += _metric_problems((*path, "metrics", name), value, len(entry.sessions), lengths)
    return problems


def _metric_problems(
    path: tuple[str, ...], value: Any, sessions: int, lengths: dict[int, int]
) -> list[OptionError]:
    """Return what is wrong with a metric; `lengths` remembers the repetitions of each session."""
    try:
        metric(path[-1])
    except KeyError:
        return [OptionError(f"{printable(path[-1])!r} is not a metric", path, key=True)]
    if not sessions:
        return [] if is_measured(value) else [OptionError(_NO_VALUE, path)]
    if not isinstance(value, list) or len(value) != sessions:
        return [OptionError(f"must be a list of {sessions} lists, one a session", path)]
    problems = []
    for index, row in enumerate(value):
        if not isinstance(row, list):
            problems.append(OptionError("must be a list of values, one a repetition", (*path, index)))
            continue
        for place, item in enumerate(row):
            if not is_measured(item):
                problems.append(OptionError(_NO_VALUE, (*path, index, place)))
        if row and len(row) != lengths.setdefault(index, len(row)):
            message = f"has {plural(len(row), 'repetition')} where other metrics have {lengths[index]}"
            problems.append(OptionError(message, (*path, index)))
    if not any(value):
        problems.append(OptionError("has no values", path))
    return problems


def _baseline(
    name: str,
    entry: Mapping[str, Any],
    sessions: Mapping[str, Any],
    machine: Callable[[tuple[str, ...]], Environment],
) -> Baseline:
    """Return a checked entry as the gate sees it: sessions in which a metric is missing are not in its
    values.
    """
    ids = tuple(entry.get("sessions") or ())
    return Baseline(
        workload=name,
        definition=entry["definition"],
        metrics={
            key: tuple(tuple(map(float, row)) for row in value if row) if ids else float(value)
            for key, value in entry["metrics"].items()
        },
        sessions=ids,
        source=printable(entry.get("source") or ""),
        environment=machine(ids),
        devices=tuple(filter(None, (sessions[id].get("device") for id in ids))),
        partial={
            key: tuple(id for id, row in zip(ids, value, strict=True) if row)
            for key, value in entry["metrics"].items()
            if ids and not all(value)
        },
        runtime=entry.get("runtime"),
        worked={id: tuple(map(float, row)) for id, row in (entry.get("worked") or {}).items()},
    )


def _machine(environments: Sequence[Environment]) -> Environment:
    """Return the newest of the environments that says on which machine it was, as that of an imported session
    does not, with what those before it tell of the same machine, in as many facts as one may have: there may
    be as many machines as workloads.
    """
    newest = next((one for one in reversed(environments) if one.identity), None)
    if newest is None:
        return environments[-1] if environments else Environment()
    identity = dict(newest.identity)
    for one in reversed(environments):
        if len({**one.identity, **identity}) <= _MOST_FACTS and not identity_changes(one.identity, identity):
            identity = {**one.identity, **identity}
    return replace(newest, identity=identity)


def refuse_links(path: Path, suite: str) -> None:
    """Raise BaselineError if the file, or a folder from its device's on, is a symbolic link, which could lead
    anywhere.
    """
    for place in (path, *path.parents[: suite.count("/") + 1]):
        if place.is_symlink():
            raise BaselineError(
                f"{place} is a symbolic link", remedy="baselines are plain files: put the file itself there"
            )
