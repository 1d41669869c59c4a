"""Engine outputs that exist already: the engine that made each, the jobs in it, what is wrong with them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iogate import engines
from iogate.audit import Run, examine
from iogate.engines import _fio_text
from iogate.engines._fio_json import read_report
from iogate.engines._fio_stated import FLAGS, stated, without_effect
from iogate.errors import InputError, OutputError
from iogate.model import Finding, Needs, Output, Workload
from iogate.units import parse_size, printable

LARGEST = 256 * 2**20
_MIX = 5  # per cent by which the share of reads may miss what was asked for


@dataclass(frozen=True)
class Job:
    """One job of an output, its clones together.

    `file` is the output's. `options` are those that it states, in the spelling of a workload; if `whole`,
    others were not given. `beside` names the jobs that ran at the same time. `doubts` are what the text
    says against itself.
    """

    file: str
    name: str
    engine: str
    output: Output
    options: Mapping[str, Any]
    whole: bool = False
    beside: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"{self.file}: {self.name}"


@dataclass(frozen=True)
class OutputFile:
    """An output that was read; `digest` is that of its bytes."""

    name: str
    digest: str
    jobs: tuple[Job, ...] = field(repr=False)


def read_bytes(path: Path) -> bytes:
    """A file's bytes. Raises InputError if it cannot be read, or is larger than any output."""
    try:
        with path.open("rb") as stream:
            data = stream.read(LARGEST + 1)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    if len(data) > LARGEST:
        raise InputError(f"{path} is larger than {LARGEST >> 20} MiB")
    return data


def read_output(path: Path) -> OutputFile:
    """The jobs of an engine's output. Raises InputError if it cannot be read, and OutputError for what no
    engine understands and for runs that must not be judged.
    """
    return parse_output(read_bytes(path), str(path))


def parse_output(data: bytes, name: str) -> OutputFile:
    """The jobs in these bytes; `name` is what messages call them. Raises OutputError."""
    text = data.decode("utf-8-sig", errors="replace")
    jobs = _text_jobs(text, name) if _fio_text.is_text(text) else _engine_jobs(text, name)
    return OutputFile(name, hashlib.sha256(data).hexdigest(), tuple(jobs))


def refuse_twice(known: Iterable[tuple[str, str]]) -> None:
    """Raise InputError if two of these, given with their names, are the same: they would count twice."""
    seen: dict[str, str] = {}
    for identity, name in known:
        if identity in seen:
            raise InputError(
                f"{name} holds the same measurement as {seen[identity]}",
                remedy="give each measurement once: what counts twice looks more certain than it is",
            )
        seen[identity] = name


def contradictions(job: Job, workload: Workload) -> list[str]:
    """How the options that an output states contradict those of a workload; empty if they fit.

    What the output does not state contradicts nothing.
    """
    declared, said = _flat(workload.options), _flat(job.options)
    found = [
        f"{key} is {_shown(said[key])}, and {_shown(declared[key]) if key in declared else 'not given'} in "
        f"{workload.name}"
        for key in said
        if (key in declared or job.whole) and not _same(said[key], declared.get(key))
    ]
    found += [
        f"{key} is not given, and {_shown(declared[key])} in {workload.name}"
        for key in declared
        if job.whole and key not in said and key not in ("size", *FLAGS) and declared[key] not in ("", False)
    ]
    return [printable(text) for text in (*found, *_done_otherwise(job, workload))]


def _done_otherwise(job: Job, workload: Workload) -> Iterator[str]:
    """How what was done contradicts a workload, whatever the output states."""
    declared, done = _flat(workload.options), job.output.traffic
    limit, share = declared.get("runtime"), declared.get("rwmixread")
    longest = max((traffic.seconds for traffic in done.values()), default=0.0)
    if isinstance(limit, (int, float)) and longest > 1.1 * limit + 1:
        yield f"runtime was {longest:.0f} s, and is {limit} s in {workload.name}"
    needs = engines.load(workload.engine).needs(workload)
    if "read" in done and not needs.reads and "verify" not in declared:
        yield f"it read, and {workload.name} does not"
    if not {"write", "trim"}.isdisjoint(done) and not needs.writes:
        yield f"it wrote, and {workload.name} does not"
    if isinstance(share, int) and {"read", "write"} <= set(done):
        reads, writes = done["read"].operations, done["write"].operations
        found = 100 * reads / (reads + writes)
        if abs(found - share) > _MIX:
            yield f"{found:.0f}% of it were reads, and rwmixread is {share} in {workload.name}"


def unstated(job: Job, workload: Workload) -> list[str]:
    """The options of a workload of which an output says nothing."""
    said = _flat(job.options)
    return [key for key in _flat(workload.options) if key not in said and (not job.whole or key == "size")]


def findings(job: Job, workload: Workload | None = None, *, link: float | None = None) -> list[Finding]:
    """What the audit says of a job, the worst first; of one that stands for a `workload`, held against it.

    `link` is the limit of the device's link in B/s.
    """
    found: Sequence[Finding]
    if workload is None:
        needs = Needs(
            reads="read" in job.output.traffic,
            writes="write" in job.output.traffic,
            direct=bool(job.options.get("direct", not job.whole)),
        )
        run = Run(job.output, dict(job.output.options), needs, job.engine, link=link, declared=False)
        found = examine(run)
    else:
        engine = engines.load(workload.engine)
        gating = tuple(workload.gate) or engine.gating(workload)
        passed = workload.options.get(workload.engine)
        options = {**job.output.options, **workload.options, **(passed if isinstance(passed, dict) else {})}
        run = Run(job.output, options, engine.needs(workload), job.engine, link=link, gating=gating)
        found = examine(run, workload.waive)
    return [*found, *(Finding("two_units", "suspect", doubt) for doubt in job.doubts)]


def _text_jobs(text: str, name: str) -> list[Job]:
    """The jobs of fio's text output."""
    lines = text.splitlines()
    read = _fio_text.parse(text, name=name)
    labels = _numbered([job.name for job in read])
    groups = [_group(lines[job.line - 1]) for job in read]
    jobs = []
    for index, job in enumerate(read):
        options = {**stated(job.output.options, whole=False), "numjobs": job.output.jobs}
        beside = [label for label, group in zip(labels, groups, strict=True) if group == groups[index]]
        beside.remove(labels[index])
        jobs.append(
            Job(
                file=name,
                name=labels[index],
                engine="fio",
                output=job.output,
                options=options,
                beside=tuple(beside),
                doubts=job.contradictions,
            )
        )
    return jobs


def _group(line: str) -> str:
    match = re.search(r"groupid=(\d+)", line)
    return match[1] if match else ""


def _numbered(names: Sequence[str]) -> list[str]:
    """Names with a number where one comes again."""
    return [
        f"{name} #{names[: index + 1].count(name)}" if name in names[:index] else name
        for index, name in enumerate(names)
    ]


def _engine_jobs(text: str, name: str) -> list[Job]:
    """The jobs as the first engine that understands the text sees them; engines come first that it names."""
    known = sorted(engines.names(), key=lambda engine: engine not in text)
    refused: list[OutputError] = []
    for engine in known:
        try:
            return _jobs(engine, text, name)
        except OutputError as error:
            refused.append(error)
    if known[0] in text or not text.strip():
        raise refused[0]
    raise OutputError(
        f"{name}: is no output of an engine that is known here",
        remedy=f"known are {', '.join(sorted(known))}",
    )


def _jobs(engine: str, text: str, name: str) -> list[Job]:
    reader = engines.load(engine)
    parts_of = getattr(reader, "parts", None)
    parts: dict[str, Output] = parts_of(text, name=name) if parts_of else {}
    whole: Output | None = None
    try:
        whole = reader.parse(text, name=name)
    except OutputError:
        if not parts:
            raise
    kinds = list(dict.fromkeys(_base(label) for label in parts))
    alike = all(part.options == next(iter(parts.values())).options for part in parts.values())
    if whole is not None and len(kinds) <= 1 and alike:
        return [_job(engine, name, kinds[0] if kinds else engine, whole, ())]
    beside = {kind: list(parts) for kind in kinds} if whole is not None else _groups(text, name)
    return [
        _job(engine, name, label, output, [other for other in beside.get(_base(label), []) if other != label])
        for label, output in parts.items()
    ]


def _base(label: str) -> str:
    return re.sub(r" #\d+$", "", label)


def _groups(text: str, name: str) -> dict[str, list[str]]:
    """By job name: the jobs of the same groups of a fio output, itself as well where it has clones there."""
    entries = read_report(text, name).data.get("jobs")
    members: dict[str, list[str]] = {}
    for entry in entries if isinstance(entries, list) else []:
        members.setdefault(str(entry.get("groupid")), []).append(printable(str(entry.get("jobname"))))
    found: dict[str, list[str]] = {}
    for names in members.values():
        for one in dict.fromkeys(names):
            clones = [f"{one} #2"] if names.count(one) > 1 else []
            found.setdefault(one, []).extend([other for other in names if other != one] + clones)
    return {one: list(dict.fromkeys(others)) for one, others in found.items()}


def _job(engine: str, file: str, name: str, output: Output, beside: Sequence[str]) -> Job:
    whole = engine == "fio" and bool(output.options)
    options = stated(output.options, whole=whole) if engine == "fio" else dict(output.options)
    return Job(file, name, engine, output, options, whole, tuple(beside))


def _flat(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options by name, those passed through to the engine beside the others; without those that only say
    what is reported.
    """
    found: dict[str, Any] = {}
    for key, value in options.items():
        found.update(value if isinstance(value, Mapping) else {key: value})
    return {key: value for key, value in found.items() if not without_effect(key)}


def _same(stated: Any, declared: Any) -> bool:
    if declared is None:
        return not stated and isinstance(stated, (bool, int, float))
    return bool(_canonical(stated) == _canonical(declared))


def _canonical(value: Any) -> Any:
    """A value apart from its spelling: sizes in bytes, truths as numbers."""
    try:
        return parse_size(int(value) if isinstance(value, bool) else value)
    except ValueError:
        return str(value).lower()


def _shown(value: Any) -> str:
    return ("1" if value else "0") if isinstance(value, bool) else str(value)
