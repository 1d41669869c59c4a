"""The JSON in a fio output: behind other text, of several documents, with duplicate keys and `nan`.

fio prints notes and progress into the file that `--output` names, one cumulative document after another
with `--status-interval`, and floats by `%f`. A document begins at the brace before its version.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, NoReturn

from iogate.engines.fio.client_reports import last_reports
from iogate.errors import OutputError, Position
from iogate.units import one_line

TWICE = object()
"""Stands for a figure that was stated twice, differently: it is not known which one is true."""

UNKNOWN_TIME_LEFT = 2**31 - 1
"""What `eta` says where fio cannot tell."""

_KEY = '"fio version"'
_NAN = re.compile(r"(?<=:)(\s*)[-+]?(?:nan|inf)(?=\s*[,}\n])", re.IGNORECASE)
_VERSION = re.compile(r"fio-(\d+)\.(\d+)")
_ENTRY = re.compile(r'"jobname"\s*:\s*"[^"\n]*",\s*"groupid"\s*:')
_WORDS = re.compile(r"^fio: (?:terminating on signal \d|pid=\d+, (?:err|got signal))", re.MULTILINE)
_OF_JSON = re.compile(r'\s*(?:["{}\[\],\d-]|$)')
_LATE = 2.0
"""By how many seconds the counters of a document may be older than its time stamp."""
_OTHER = re.compile(r"^\{", re.MULTILINE)


@dataclass(frozen=True)
class FioDocument:
    """One JSON object of fio in a text, from `start` to `stop`; `data` is None if it was cut or damaged."""

    start: int
    stop: int
    data: Mapping[str, Any] | None


@dataclass(frozen=True)
class FioReport:
    """The last document of an output, which begins in `line`: `said` is the text around the documents."""

    name: str
    data: Mapping[str, Any]
    said: str
    line: int = 1

    @property
    def engine(self) -> str:
        """The version as fio states it, such as `fio-3.33`; empty if it does not."""
        return one_line(str(self.data.get("fio version", "")))

    @property
    def version(self) -> tuple[int, int]:
        """The version to compare with; (0, 0) if unknown."""
        match = _VERSION.match(self.engine)
        return (int(match[1]), int(match[2])) if match else (0, 0)


def is_json(text: str) -> bool:
    """Return whether a text has any mark of fio's JSON."""
    return any(True for _ in _keys(text)) or entry(text, 0, len(text)) >= 0


def recognises(text: str) -> bool:
    """Return whether a text has any mark of fio's JSON, or of the words around it."""
    return is_json(text) or ("fio: " in text and _WORDS.search(text) is not None)


def entry(text: str, start: int, stop: int) -> int:
    """Return where the first job of fio's JSON stands between two places of a text; -1 if nowhere."""
    if text.find('"jobname"', start, stop) < 0:
        return -1
    match = _ENTRY.search(text, start, stop)
    return match.start() if match else -1


def documents(text: str) -> Iterator[FioDocument]:
    """Yield the documents of a text, each decoded once: the time is that of reading it."""
    starts = list(_starts(text))
    for start, limit in pairwise([*starts, len(text)]):
        try:
            data, length = _decode(text[start:limit])
        except (ValueError, RecursionError):
            yield FioDocument(start, end_of_damage(text, start, limit), None)
        else:
            yield FioDocument(start, start + length, data)


def end_of_damage(text: str, start: int, limit: int) -> int:
    """Return where JSON that cannot be decoded ends: before the first line that is none of JSON."""
    place = text.find("\n", start, limit)
    while 0 <= place < limit:
        after = text.find("\n", place + 1, limit)
        after = limit if after < 0 else after
        if not _OF_JSON.match(text, place + 1, after):
            return place
        place = after
    return limit


def read_report(text: str, name: str) -> FioReport:
    """Return the last document of the one run in a text, as each repeats what came before it.

    Raises OutputError with file:line:column where the text is not JSON, or ends within it.
    """
    text = text.removeprefix("\ufeff")
    found = list(documents(text))
    for document in found:
        if document.data is None:
            _refuse(text, document, name)
    if not found:
        _refuse_all(text, name)
    if not all(continues(one.data, other.data) for one, other in pairwise(found)):
        raise OutputError(f"{name}: holds several runs of fio", remedy="give each run a file of its own")
    stops = [0, *(document.stop for document in found)]
    gaps = [text[stop : document.start] for stop, document in zip(stops, found, strict=False)]
    said = [*gaps, text[stops[-1] :]]
    if other := next((part for part in said if _OTHER.search(part)), ""):
        where = Position(name, text[: text.index(other)].count("\n") + other.count("\n", 0, _at(other)) + 1)
        raise OutputError("fio's output is not JSON: an object here is none of fio's", position=where)
    words = "\n".join(part.strip() for part in said if part.strip())
    line = text.count("\n", 0, found[-1].start) + 1
    return FioReport(name, last_reports(found[-1].data or {}), words.replace("\r", "\n"), line)


def continues(earlier: Mapping[str, Any] | None, later: Mapping[str, Any] | None) -> bool:
    """Return whether two documents are of one run (`--status-interval`): of the same jobs, whose counters
    only grew, no faster than time passed; and the run was alive when the earlier one was written.
    """
    if earlier is None or later is None or _identity(earlier) != _identity(later):
        return False
    before, after = _counters(earlier), _counters(later)
    if len(before) != len(after) or any(old > new for old, new in zip(before, after, strict=True)):
        return False
    # The runtime is no counter: of jobs that have ended it grows on until the last document (fio 2.16, 3.7).
    unfinished = any(0 < _figure(job.get("eta")) < UNKNOWN_TIME_LEFT for job in jobs(earlier))
    start, end = _stamp(earlier), _stamp(later)
    if start is None or end is None:
        return unfinished
    passed, grown = end - start, _longest(later) - _longest(earlier)
    # `elapsed` is in seconds, rounded up; the jobs may have run in turn.
    lived = max([_figure(job.get("elapsed")) - 1 for job in jobs(later)] + [_longest(later)])
    in_time = passed >= 0 and grown <= passed + _LATE and _grew_slowly(earlier, later, max(passed, grown))
    return in_time and (unfinished or passed < lived)


def _grew_slowly(earlier: Mapping[str, Any], later: Mapping[str, Any], seconds: float) -> bool:
    """Return whether the bytes of one document can have become those of another in that time: of runs side by
    side on two machines, written at the same time, they cannot.
    """
    before, after = (sum(_figure(side.get("io_bytes")) for side in _sides(one)) for one in (earlier, later))
    rate = after / _longest(later) if _longest(later) else 0.0
    return after - before <= 10 * rate * (seconds + 0.01)


def _identity(document: Mapping[str, Any]) -> list[Any]:
    entries = [
        [job.get(key) for key in ("jobname", "groupid", "hostname", "port", "job options")]
        for job in jobs(document)
    ]
    return [document.get("fio version"), document.get("global options"), entries]


def jobs(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the entries of a document, of jobs or of clients."""
    entries = document.get("jobs", document.get("client_stats"))
    return [job for job in entries if isinstance(job, dict)] if isinstance(entries, list) else []


def _sides(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for job in jobs(document):
        for direction in ("read", "write", "trim", "mixed"):
            if isinstance(side := job.get(direction), dict):
                yield side


def _counters(document: Mapping[str, Any]) -> list[float]:
    keys = ("io_bytes", "total_ios")
    return [_figure(side.get(key)) for side in _sides(document) for key in keys]


def _longest(document: Mapping[str, Any]) -> float:
    """Return the longest that a job ran, in seconds."""
    return max((_figure(side.get("runtime")) / 1000 for side in _sides(document)), default=0.0)


def _stamp(document: Mapping[str, Any]) -> float | None:
    """Return when a document was written, in seconds; None if it does not say."""
    if "timestamp_ms" in document:
        return _figure(document["timestamp_ms"]) / 1000
    return _figure(document["timestamp"]) if "timestamp" in document else None


def _figure(value: Any) -> float:
    try:
        return float(value) if isinstance(value, (int, float)) else 0.0
    except OverflowError:
        return 0.0


def _keys(text: str) -> Iterator[int]:
    """Yield where the key of a version stands."""
    place = text.find(_KEY)
    while place >= 0:
        after = place + len(_KEY)
        if text[after : after + 99].lstrip()[:1] == ":":
            yield place
        place = text.find(_KEY, place + 1)


def _starts(text: str) -> Iterator[int]:
    """Yield where documents begin: at the brace before the version, or, where keys were sorted, at the last
    brace that begins a line.
    """
    last, before = -1, 0
    for place in _keys(text):
        brace = place - 1
        while brace > before and text[brace].isspace():
            brace -= 1
        if brace < 0 or text[brace] != "{":
            found = text.rfind("\n{", before, place)
            brace = found + 1 if found >= 0 else 0 if before == 0 and text[:1] == "{" else -1
        before = place
        if brace > last:
            last = brace
            yield brace


@lru_cache(maxsize=2)
def _decode(text: str) -> tuple[dict[str, Any], int]:
    """Return the object at the beginning of a text, and its length. Raises ValueError and RecursionError.

    The last ones are kept: each is read to find the runs of a file, and again to read the run.
    """
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_pairs)
    try:
        return decoder.raw_decode(text)
    except json.JSONDecodeError:
        patched = _NAN.sub(lambda match: f"{match[1]}NaN".rjust(len(match[0])), text)
        if patched == text:
            raise
        return decoder.raw_decode(patched)


def _refuse(text: str, document: FioDocument, name: str) -> None:
    """Raise the OutputError that says where and why a document cannot be read."""
    part = text[document.start : document.stop]
    try:
        _decode(part)
    except json.JSONDecodeError as error:
        line = text.count("\n", 0, document.start) + error.lineno
        where = Position(name, line, error.colno)
        cut = not part[error.pos :].strip() or "Unterminated" in error.msg
        message = "fio's output ends in the middle: fio did not finish it"
        raise OutputError(
            message if cut else f"fio's output is not JSON: {error.msg}", position=where
        ) from None
    except (ValueError, RecursionError) as error:
        raise OutputError(f"{name}: fio's output cannot be read: {error}") from None


def _refuse_all(text: str, name: str) -> NoReturn:
    """Raise the OutputError that says what a text without a document of fio is."""
    if match := _OTHER.search(text):
        _refuse(text, FioDocument(match.start(), len(text), None), name)
    if match or is_json(text):
        message = "is not fio's output: it does not say its version, or its beginning is missing"
    else:
        message = f"has no output of fio in JSON{': it is empty' if not text.strip() else ''}"
    raise OutputError(f"{name}: {message}")


def _at(text: str) -> int:
    match = _OTHER.search(text)
    return match.start() if match else 0


def _pairs(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; of options given twice the last holds, as in fio; of figures given twice none."""
    listed = list(pairs)
    found = dict(listed)
    if len(found) == len(listed):
        return found
    found = {}
    for key, value in listed:
        known = key in found and not (isinstance(value, str) and isinstance(found[key], str))
        found[key] = TWICE if known and found[key] != value else value
    return found
