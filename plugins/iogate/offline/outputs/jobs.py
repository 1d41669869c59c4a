"""The jobs in outputs: what ran alone, what ran beside what, and the options that are stated."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from iogate import engines
from iogate.errors import InputError
from iogate.model import Output
from iogate.offline.outputs.text import Understood, text_of, understood

_TELLING = 8  # figures that are not the same in two runs by chance


@dataclass(frozen=True)
class OutputJob:
    """One job of an output, its clones together.

    `file` is the output's. `options` are those that it states, in the spelling of a workload; if `whole`,
    others were not given. `beside` names the jobs that ran at the same time.
    """

    file: str
    name: str
    engine: str
    output: Output
    options: Mapping[str, Any]
    whole: bool = False
    beside: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"{self.file}: {self.name}"


@dataclass(frozen=True)
class OutputFile:
    """An output that was read; `digest` is that of its bytes."""

    name: str
    digest: str
    jobs: tuple[OutputJob, ...] = field(repr=False)

    @property
    def identity(self) -> str:
        """What is the same for copies of one output, also in other bytes: its figures and options, where they
        are many enough to tell; few may be those of another run by chance.
        """
        if min((len(job.output.metrics) for job in self.jobs), default=0) < _TELLING:
            return self.digest
        said = [
            (sorted(job.output.metrics.items()), sorted(map(str, job.options.items()))) for job in self.jobs
        ]
        return hashlib.sha256(repr(said).encode()).hexdigest()


def parse_output(data: bytes, name: str) -> OutputFile:
    """Return the jobs of an engine's output; `name` is what messages call it. Raises OutputError for what no
    engine understands and for runs that must not be judged.
    """
    found = understood(text_of(data), name)
    jobs = [job for item in found for job in _jobs(item, name)]
    return OutputFile(name, hashlib.sha256(data).hexdigest(), tuple(_with_names(jobs)))


def _with_names(jobs: Sequence[OutputJob]) -> list[OutputJob]:
    """Return the jobs of several runs, numbered where one name stands for different options."""
    known: dict[str, Mapping[str, Any]] = {}
    found = []
    for job in jobs:
        name, count = job.name, 2
        while name in known and known[name] != job.options:
            name, count = f"{job.name} #{count}", count + 1
        known[name] = job.options
        found.append(replace(job, name=name))
    return found


def _jobs(found: Understood, file: str) -> list[OutputJob]:
    """Return the jobs apart, unless they are clones of one."""
    kinds = {re.sub(r" #\d+$", "", part.name) for part in found.parts}
    alike = all(part.output.options == found.parts[0].output.options for part in found.parts)
    if found.whole is not None and len(kinds) <= 1 and alike:
        return [job_of(found.engine, file, kinds.pop() if kinds else found.engine, found.whole)]
    return [
        job_of(
            found.engine,
            file,
            part.name,
            part.output,
            [other.name for other in found.parts if other is not part and other.group == part.group],
        )
        for part in found.parts
    ]


def job_of(engine: str, file: str, name: str, output: Output, beside: Sequence[str] = ()) -> OutputJob:
    """Return an output of an engine as a job of that name."""
    options = dict(output.options)
    if isinstance(known := engines.load(engine), engines.StatesOptions):
        options = known.stated_options(output)
    return OutputJob(file, name, engine, output, options, output.complete, tuple(beside))


def refuse_twice(known: Iterable[tuple[str, str]]) -> None:
    """Raise InputError if two of these, given with their names, are the same: they would count twice."""
    seen: dict[str, str] = {}
    for identity, name in known:
        if identity in seen:
            first = seen[identity]
            raise InputError(
                f"{name} is given twice"
                if name == first
                else f"{name} holds the same measurement as {first}",
                remedy="give each measurement once: what counts twice looks more certain than it is",
            )
        seen[identity] = name
