"""fio's text output (normal, not terse), of fio 2 and 3, as metrics.

The figures are rounded, and some are wrong: fio 3.25 prints 70.99 MiB/s as `70.0MiB/s`. What is said twice is
compared, and the more precise of what agrees is taken. Fields: fio(1), section INTERPRETING THE OUTPUT.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from iogate.engines.fio.jobs import ALL_CLIENTS, DIRECTIONS, SUMS_GROUPS
from iogate.engines.fio.text_lines import (
    ABORTED,
    CLIENT,
    HEAD,
    JOB,
    STATUS,
    TERSE,
    VERSION,
    Done,
    Draft,
    content,
    has_figures,
    options_of,
    read_line,
)
from iogate.errors import ApartError, OutputError, Position
from iogate.model import Output, Part, Traffic
from iogate.units import printable

_PRINTS_FRACTIONS = (2, 20)
_HEALTHY = 0.005
_FAILED = re.compile(r"error=(.+?)\)?$")


@dataclass(frozen=True)
class TextRun:
    """A run as its text tells it: the jobs that are sound, what fio adds up itself, and why the run as a
    whole must not be judged (None: nothing).
    """

    parts: tuple[Part, ...]
    total: Output | None = None
    failed: OutputError | None = None


def parse(text: str, *, name: str) -> tuple[Part, ...]:
    """Return all jobs of a run, in its order; a group of them that is reported together is one. Raises
    OutputError with the line for what cannot be read, for a job that failed, and for an output that was cut
    off.
    """
    run = read(text, name=name)
    if run.failed:
        raise run.failed
    return run.parts


def whole(text: str, *, name: str) -> Output:
    """Return what all jobs of a run did together. Raises OutputError; ApartError if fio does not say it."""
    found = parse(text, name=name)
    if total := read(text, name=name).total:
        return total
    if len(found) > 1:
        raise ApartError(
            f"{name}: fio's text does not say how its jobs add up",
            remedy="look at the jobs one by one, or let fio write JSON: --output-format=json+",
        )
    return found[0].output


@lru_cache(maxsize=2)
def read(text: str, *, name: str) -> TextRun:
    """Return what the text of one run says. Raises OutputError if no job of it can be used.

    The last ones are kept: they are asked for as jobs, as a whole, and as sections.
    """
    reader = _Reader(name)
    for number, line in enumerate(text.split("\n"), 1):
        reader.read(number, content(line))
    return reader.end()


@dataclass
class _Source:
    """Who reports: fio itself, or one of its clients; each report of a run replaces the one before."""

    host: str
    drafts: list[Draft] = field(default_factory=list)
    ended: set[str] = field(default_factory=set)

    def knows(self, label: str, job: re.Match[str]) -> bool:
        """Return whether this job reported before; one that had not begun has no process yet."""
        return any(
            (draft.name, draft.group) == (label, job["group"])
            and (draft.pid == job["pid"] or "0" in (draft.pid, job["pid"]))
            for draft in self.drafts
        )

    @property
    def whole(self) -> bool:
        return {draft.group for draft in self.drafts} <= self.ended


class _Reader:
    def __init__(self, name: str) -> None:
        self.name = name
        self.version = ""
        self.last = 1
        self.host = ""
        self.hosts: set[str] = set()
        self.heads: dict[tuple[str, str], dict[str, str]] = {}
        self.sources: list[_Source] = []
        self.source: _Source | None = None
        self.draft: Draft | None = None
        self.total: Draft | None = None

    def read(self, number: int, line: str) -> None:
        if not line:
            return
        self.last = number
        if ": (g" in line or not self.draft or not has_figures(line):
            self._follow(number, line)
        elif not self.draft.failed and (wrong := read_line(self.draft, line)):
            raise self._refusal(number, wrong)

    def _follow(self, number: int, line: str) -> None:
        """Take a line that says who reports, or how far the run is."""
        if client := CLIENT.match(line):
            line = self._hear(client, line)
        if VERSION.fullmatch(line):
            self.version = line
        elif stopped := ABORTED.match(line):
            raise self._refusal(
                number, f"the run was aborted by signal {stopped[1]}; its figures are partial"
            )
        elif terse := TERSE.match(line):
            message = f"terse output of {terse['version']} (version {terse['format']}) is not read"
            raise self._refusal(number, message, "let fio write JSON: --output-format=json+")
        elif job := JOB.match(line):
            self._begin(number, job)
        elif head := HEAD.fullmatch(line):
            self.heads[head["name"], head["group"]] = options_of(head["rw"], head["rest"])
        elif status := STATUS.match(line):
            self.draft = None
            if self.source:
                self.source.ended.add(status[1])

    def _hear(self, client: re.Match[str], line: str) -> str:
        """Note which client speaks; return what it says. Not all in angle brackets is a client."""
        rest = client["rest"] or ""
        self.version = client["version"] or self.version
        if client["known"] or HEAD.match(rest) or rest.startswith("Starting "):
            self.hosts.add(client["known"] or client["host"])
        if client["host"] not in self.hosts:
            return line
        self.host = client["host"]
        return rest

    def _begin(self, number: int, job: re.Match[str]) -> None:
        options = self._options(job)
        label = job["name"] + (f" on {self.host}" if self.host else "")
        jobs = max(1, int(job["jobs"]))
        self.draft = Draft(
            label, number, job["group"], job["pid"], jobs, options, _reason(job), self._misprints
        )
        if job["name"] == ALL_CLIENTS and self.host:
            self.total = replace(self.draft, name=ALL_CLIENTS)
            self.draft = self.total
            return
        self.source = self._source(number, job, label)
        self.source.drafts.append(self.draft)

    def _options(self, job: re.Match[str]) -> dict[str, str]:
        """Return the options that a job was announced with; of a group that is reported together those that
        all its jobs share.
        """
        own = dict(self.heads.get((job["name"], job["group"]), {}))
        if self._misprints and "." in own.get("bs", ""):
            del own["bs"]
        if int(job["jobs"]) <= 1:
            return own
        group = [options for (_, group), options in self.heads.items() if group == job["group"]]
        return {key: value for key, value in own.items() if all(other.get(key) == value for other in group)}

    @property
    def _misprints(self) -> bool:
        return (0, 0) < _version(self.version) < _PRINTS_FRACTIONS

    def _source(self, number: int, job: re.Match[str], label: str) -> _Source:
        """Return who reports this job: whoever is reporting, or reported it before, or a new client."""
        mine = [source for source in self.sources if source.host == self.host]
        reporting = next((source for source in mine if not source.ended), None)
        if reporting:
            return reporting
        again = next((source for source in mine if source.knows(label, job)), None)
        if again:
            again.drafts, again.ended = [], set()
            return again
        if mine and not self.host:
            raise self._refusal(number, "a second output begins here")
        self.sources.append(_Source(self.host))
        return self.sources[-1]

    def end(self) -> TextRun:
        drafts = [draft for source in self.sources for draft in source.drafts]
        if not drafts:
            raise self._refusal(self.last, "fio's text output was cut off, or is none: no job reports")
        if not all(source.whole for source in self.sources):
            raise self._refusal(self.last, "fio's output was cut off: the run status of a group is missing")
        failed = [draft for draft in drafts if draft.failed]
        parts = tuple(self._part(draft) for draft in drafts if not draft.failed)
        reasons = [self._refusal(draft.line, f"{draft.name} failed: {draft.failed}") for draft in failed]
        if not parts:
            raise reasons[0]
        return TextRun(parts, self._total(parts), reasons[0] if reasons else None)

    def _total(self, parts: Sequence[Part]) -> Output | None:
        """Return what fio adds up over its clients. Raises OutputError if that is not their sum."""
        if self.total is None or self.total.failed:
            return None
        total = self._part(self.total).output
        for direction, traffic in total.traffic.items():
            single = [part.output.traffic[direction] for part in parts if direction in part.output.traffic]
            if traffic.operations != sum(one.operations for one in single):
                raise self._refusal(self.total.line, "the sum over all clients is not the sum of its jobs")
        shared = dict(parts[0].output.options)
        for part in parts:
            shared = {key: value for key, value in shared.items() if part.output.options.get(key) == value}
        return replace(total, options={**shared, "numjobs": str(total.jobs)})

    def _part(self, draft: Draft) -> Part:
        if not draft.issued:
            raise self._refusal(draft.line, f"{draft.name}: the count of issued I/Os is missing")
        if not draft.done:
            raise self._refusal(draft.line, f"{draft.name} did no I/O")
        traffic = {}
        for direction, done in _apart(draft):
            traffic[direction] = self._traffic(draft, direction, done)
        if draft.jobs > 1 and _version(self.version) < SUMS_GROUPS:
            _drop_samples(draft)
        output = Output(
            metrics=draft.metrics,
            traffic=traffic,
            engine_version=printable(self.version),
            jobs=draft.jobs,
            user=draft.user,
            system=draft.system,
            options={
                key: printable(value) for key, value in {**draft.options, "numjobs": str(draft.jobs)}.items()
            },
            remarks=_remarks(draft.shares),
            contradictions=tuple(map(printable, draft.contradictions)),
            latency_step=draft.step,
        )
        return Part(printable(draft.name), output, draft.line, draft.group)

    def _traffic(self, draft: Draft, direction: str, done: Done) -> Traffic:
        """Return what was done in a direction, and take its exact rate: I/Os issued in the time."""
        index = DIRECTIONS.index(direction) if direction in DIRECTIONS else slice(0, 3)
        counts = draft.issued[:3][index], draft.issued[3:][index]
        operations, short = (count if isinstance(count, int) else sum(count) for count in counts)
        if not operations or not done.seconds:
            raise self._refusal(
                draft.line, f"{draft.name}: {direction} claims I/O without operations or time"
            )
        exact, rate = operations / done.seconds, done.iops
        agrees = rate.agrees(exact)
        if not agrees and abs(exact - rate.value) > rate.step + 0.05 * rate.value:
            raise self._refusal(
                draft.line,
                f"{draft.name}: {direction}: {rate.value:g} IOPS, but {operations} in {done.seconds:g} s are "
                f"{exact:.4g}",
            )
        draft.set(f"{direction}.iops", exact if agrees else rate.value)
        if any(metric.startswith("sync.") for metric in draft.metrics):
            short = 0  # some of them are syncs, as `figures.short` says, and a text does not tell how many
        return Traffic(done.size, operations, done.seconds, short, done.rounding)

    def _refusal(self, number: int, message: str, remedy: str = "") -> OutputError:
        return OutputError(printable(message), position=Position(self.name, number), remedy=remedy)


def _reason(job: re.Match[str]) -> str:
    """Return why a job failed, as fio says it; empty if it did not."""
    if job["error"] == "0":
        return ""
    said = _FAILED.search(job["why"].strip())
    why = said[1] if said else job["why"].strip().strip("()")
    return f"error {job['error']} ({why})" if why else f"error {job['error']}"


def _apart(draft: Draft) -> Iterator[tuple[str, Done]]:
    """Yield what was done by direction; all together only where fio does not say it apart."""
    for direction, done in draft.done.items():
        if direction != "mixed" or len(draft.done) == 1:
            yield direction, done
        else:
            draft.metrics = {
                name: value for name, value in draft.metrics.items() if not name.startswith("mixed.")
            }


def _drop_samples(draft: Draft) -> None:
    """Leave out what fio before 3.13 says of one job of a group, not of all: its sampled rates."""
    for name in list(draft.metrics):
        stem, _, part = name.rpartition(".")
        if part in ("min", "max", "stddev") and stem.endswith((".bandwidth", ".iops")):
            del draft.metrics[name]


def _version(text: str) -> tuple[int, ...]:
    match = re.match(r"fio-(\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _remarks(shares: float | None) -> tuple[str, ...]:
    """Return what the sum of the latency distribution says, which is 1 in a healthy report."""
    if shares is None or abs(shares - 1) <= _HEALTHY:
        return ()
    return (
        f"the latency distribution adds up to {shares:.1%}: I/Os of the ramp are in it, and in the "
        "bandwidth, but not in the IOPS",
    )
