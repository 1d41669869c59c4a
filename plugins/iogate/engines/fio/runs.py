"""Where the runs of fio in a text begin and end: JSON and text, one after another, or amid prose.

A run may print both (`--output-format=normal,json`), or report again and again (`--status-interval`); then it
is one all the same. Only lines with marks of fio are looked at, so that the time is that of finding them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import merge
from typing import TypeAlias

from iogate.engines.fio import json_reader
from iogate.engines.fio.json_reader import FioDocument
from iogate.engines.fio.text_lines import HEAD, JOB, STATUS, TERSE, content, of_report
from iogate.engines.fio.text_reports import BEHIND, JobReport, report_of

_MARKS = (": (g=", ": (groupid=", "Run status group ", ";fio-")
_NOTE = re.compile(r"(?:fio|note): |<")


@dataclass(frozen=True)
class _Line:
    """A line of fio's text with a mark, from `start` to `stop`; `kind` is the pattern that it matches. That
    of a job that reports has a `report`.
    """

    start: int
    stop: int
    kind: re.Pattern[str]
    match: re.Match[str]
    report: JobReport | None = None


_Mark: TypeAlias = "FioDocument | _Line"


@dataclass
class _Run:
    """A run while its marks are read, from `start` to `stop`; `jobs` are the last reports of those in its
    text.
    """

    start: int
    stop: int
    document: FioDocument | None = None
    names: set[str] = field(default_factory=set)
    jobs: dict[tuple[str, str, str], JobReport] = field(default_factory=dict)
    heads: bool = False
    client: bool = False
    ended: bool = False
    terse: bool = False

    @property
    def reported(self) -> bool:
        return bool(self.document or self.jobs or self.terse)


def recognises(text: str) -> bool:
    """Return whether a text has any line that only fio prints: a job that is announced or reports, a run
    status.
    """
    return any(True for _ in _lines(text, 0, len(text)))


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield the runs in a text that may hold several, each with the number of its first line (from 1)."""
    line, place = 1, 0
    for run in _runs(text):
        line += text.count("\n", place, run.start)
        place = run.start
        yield line, text[run.start : run.stop]


def _runs(text: str) -> Iterator[_Run]:
    current: _Run | None = None
    for mark in _marks(text):
        if current and not _is_apart(current, mark, text) and _take(current, mark):
            current.stop = mark.stop
            continue
        if isinstance(mark, _Line) and mark.kind is STATUS:
            continue  # of a run whose jobs are not here
        floor = current.stop if current else 0
        begun = _Run(_beginning(text, mark, floor), mark.stop)
        _take(begun, mark)
        if current:
            yield _with_end(current, text, begun.start)
        current = begun
    if current:
        yield _with_end(current, text, len(text))


def _marks(text: str) -> Iterator[_Mark]:
    """Yield the documents of a text, and the marked lines between them."""
    place = 0
    for document in json_reader.documents(text):
        yield from _between(text, place, document.start)
        yield document
        place = document.stop
    yield from _between(text, place, len(text))


def _between(text: str, start: int, stop: int) -> Iterator[_Mark]:
    """Yield the marks of a part of a text without documents, but for those whose beginning is missing."""
    while (headless := json_reader.entry(text, start, stop)) >= 0:
        yield from _lines(text, start, headless)
        start = json_reader.end_of_damage(text, headless, stop)
        yield FioDocument(headless, start, None)
    yield from _lines(text, start, stop)


def _lines(text: str, start: int, stop: int) -> Iterator[_Line]:
    """Yield the lines in a part of a text that have a mark, each once."""
    last = -1
    for place in merge(*(_places(text, mark, start, stop) for mark in _MARKS)):
        if place < last:
            continue
        first = text.rfind("\n", start, place) + 1 or start
        last = (text.find("\n", place, stop) + 1 or stop + 1) - 1
        line = content(text[first:last])
        for kind in (JOB, HEAD, STATUS, TERSE):
            if match := kind.match(line):
                report = report_of(match, text[last : last + BEHIND]) if kind is JOB else None
                yield _Line(first, last, kind, match, report)
                break


def _places(text: str, mark: str, start: int, stop: int) -> Iterator[int]:
    place = text.find(mark, start, stop)
    while place >= 0:
        yield place
        place = text.find(mark, place + 1, stop)


def _take(run: _Run, mark: _Mark) -> bool:
    """Add a mark to a run, if it is of it; a run without any takes what it begins with."""
    if isinstance(mark, FioDocument):
        return _take_document(run, mark)
    if mark.kind is HEAD:
        if run.reported:
            return False
        run.heads = True
        run.client = run.client or mark.match["name"].startswith("<")
    elif mark.report:
        return _take_job(run, mark.match, mark.report)
    elif mark.kind is STATUS:
        run.ended = bool(run.jobs)
        return run.ended
    else:
        if run.reported and not run.terse and mark.match["name"] not in run.names:
            return False
        run.terse = run.terse or not run.reported
        run.names.add(mark.match["name"])
    return True


def _take_document(run: _Run, document: FioDocument) -> bool:
    """Add a document that is the first of a run, or the next with counters that grew."""
    names = {str(job.get("jobname")) for job in json_reader.jobs(document.data or {})}
    if run.document:
        of_it = json_reader.continues(run.document.data, document.data)
    else:
        of_it = not run.jobs and (not run.terse or run.names <= names)
    if of_it:
        run.document, run.terse = document, False
        run.names |= names
    return of_it


def _take_job(run: _Run, job: re.Match[str], report: JobReport) -> bool:
    """Add a job that reports: in the first report of a run, or in one more of it."""
    name, group = job["name"], job["group"]
    if run.document and not run.jobs:
        of_it = run.heads  # its JSON came between: the same figures in text
    elif run.ended:
        alike = (known for key, known in run.jobs.items() if key[:2] == (name, group))
        of_it = run.client or any(
            known.is_of_process(report) and (run.heads or known.allows(report)) for known in alike
        )
    else:
        of_it = not run.terse
    if of_it:
        run.jobs[name, group, report.process] = report
        run.names.add(name)
        run.ended = False
    return of_it


def _is_apart(run: _Run, mark: _Mark, text: str) -> bool:
    """Return whether others' words stand between the report of a job and a run that has no beginning, and so
    is one of several that somebody quotes.
    """
    if run.heads or not run.ended or not isinstance(mark, _Line) or not mark.report:
        return False
    lines = map(content, text[run.stop : mark.start].splitlines())
    return any(line and not (_NOTE.match(line) or of_report(line)) for line in lines)


def _beginning(text: str, mark: _Mark, floor: int) -> int:
    """Return where a run begins: with the words of fio before its first mark."""
    place = text.rfind("\n", floor, mark.start) + 1 or floor
    found = min(place, mark.start)
    adjacent = isinstance(mark, FioDocument)
    while place > floor:
        first = text.rfind("\n", floor, place - 1) + 1 or floor
        line = content(text[first : place - 1])
        adjacent = adjacent and bool(line) and not line.startswith(("`", "~", "#", "|"))
        if not (adjacent or not line or _NOTE.match(line) or of_report(line)):
            break
        place = first
        found = first if line else found
    return found


def _with_end(run: _Run, text: str, limit: int) -> _Run:
    """Return a run with the lines of its report after its last mark."""
    place = run.stop
    while place < limit:
        after = text.find("\n", place + 1, limit)
        after = limit if after < 0 else after
        line = content(text[place:after])
        if line and not (line.startswith("fio: ") or (run.jobs and of_report(line))):
            break
        place = after
        run.stop = place if line else run.stop
    return run
